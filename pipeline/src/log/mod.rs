//! Update logs: where entries are, their bytes, and how they are written and read.

pub mod entry;
pub mod frame;
pub mod place;
pub(crate) mod reader;
pub(crate) mod writer;
