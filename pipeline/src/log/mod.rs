//! Update logs: where entries are, their bytes, writing and reading them.

pub mod entry;
pub mod frame;
pub mod place;
pub(crate) mod reader;
pub(crate) mod writer;
