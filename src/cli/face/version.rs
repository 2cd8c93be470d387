//! `--version`: the program, and what it was built from and runs on.

use pipeline::checkpoint::FORMAT_VERSION;
use trinim::database::FORMAT_VERSION as DATABASE_VERSION;
use trinim::kernel::{Isa, Kernel};

/// Commit of the sources, if the build named it in `TRINIM_COMMIT`.
const COMMIT: Option<&str> = option_env!("TRINIM_COMMIT");

/// Returns the text of `--version`, without the name of the program.
pub fn long() -> String {
    let names = |names: Vec<String>| names.join(", ");
    let kernels = Isa::available().iter().map(ToString::to_string).collect();
    let codecs = pipeline::codec::all().iter().map(|codec| codec.name().to_owned()).collect();
    let build = if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" };
    format!(
        "{}\n\
         commit   {}\n\
         built    for {} on {}, {build}\n\
         formats  database 1 to {DATABASE_VERSION}, run folder {FORMAT_VERSION}\n\
         kernels  {} on this machine; auto takes {}\n\
         codecs   {}\n\
         stores   {}",
        env!("CARGO_PKG_VERSION"),
        COMMIT.unwrap_or("unknown"),
        std::env::consts::ARCH,
        std::env::consts::OS,
        names(kernels),
        Kernel::detect().isa(),
        names(codecs),
        if cfg!(feature = "s3") { "folder, s3" } else { "folder" },
    )
}
