//! What several commands say alike: their arguments, and what is behind these.

pub mod answers;
pub mod args;
pub mod board;
pub mod choice;
pub mod folders;
pub mod hints;
pub mod keep;
pub mod lines;
pub mod machine;
pub mod owner;
pub mod pace;
pub mod scenario;
pub mod solved;
pub mod summary;
pub mod work;
