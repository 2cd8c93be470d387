//! The sources of `trinim-task` with the constants of `../changes`, copied by the build script of
//! the simulation.

include!(concat!(env!("OUT_DIR"), "/src/lib.rs"));
