//! Update logs: where entries lie, their bytes, writing and reading them, the codecs of their frames, and which codec is worth
//! its time.

pub mod choose;
pub mod codec;
pub mod entry;
pub mod frame;
pub mod place;
pub(crate) mod reader;
pub(crate) mod writer;
