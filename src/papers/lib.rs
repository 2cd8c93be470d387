//! How the papers on Triangular Nim solved it, and what they published, computed again.
//!
//! References are on the front page of the repository. The program `trinim-papers` is the command
//! `trinim papers`. These modules serve it and the tools of the repository, and can change at any
//! time.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_types))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

#[doc(hidden)]
pub mod baseline;
#[doc(hidden)]
pub mod counts;
#[doc(hidden)]
pub mod layouts;
#[doc(hidden)]
pub mod record;
#[doc(hidden)]
pub mod search;
#[doc(hidden)]
pub mod table;
