//! Command line of trinim.
fn main() {}
