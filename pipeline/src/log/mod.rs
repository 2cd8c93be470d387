//! Update logs: entries of frames, the codecs of the frames, and which codec is worth its time.

pub mod choose;
pub mod codec;
pub mod frame;
