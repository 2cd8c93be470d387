//! Says that this is the simulated engine.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=simulated");
}
