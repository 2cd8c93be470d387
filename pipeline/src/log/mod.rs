//! Update logs: where entries are, their bytes, writing and reading them, and the choice of codec.

pub mod choose;
pub mod entry;
pub mod frame;
pub mod place;
pub(crate) mod reader;
pub(crate) mod writer;
