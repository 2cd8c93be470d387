//! The library's sources with the constants of `../changes`; `copy.rs` of the simulation copies them.

include!(concat!(env!("OUT_DIR"), "/src/lib.rs"));
