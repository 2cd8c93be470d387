//! What several commands say alike: their arguments, and what is behind these.

pub mod answers;
pub mod args;
pub mod audit;
pub mod board;
pub mod choice;
pub mod claims;
pub mod folders;
pub mod game;
pub mod input;
pub mod keep;
pub mod moves;
pub mod parents;
pub mod seat;
pub mod solved;
pub mod spot;
