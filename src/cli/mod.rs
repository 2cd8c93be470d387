//! Code that several commands of the programs share: their arguments and their meaning.
#![cfg_attr(
    not(test),
    expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the programs look at folders, and at the machine, where the library has its storage"
    )
)]

pub mod answers;
pub mod args;
pub mod board;
pub mod choice;
pub mod folders;
pub mod hints;
pub mod lines;
pub mod machine;
pub mod owner;
pub mod pace;
pub mod program;
pub mod scenario;
pub mod solved;
pub mod stats;
pub mod summary;
pub mod work;
