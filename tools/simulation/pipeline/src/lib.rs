//! The engine's sources with the controls of `../changes`; `../copy.rs` makes the copy.
#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/src/lib.rs"));

pub mod omitted;
