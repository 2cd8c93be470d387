//! `--parents`: whether folders above the one of `--out` may be created.

use crate::cli::face::exit::Refused;
use clap::Args;
use std::path::Path;

/// `--parents`.
#[derive(Clone, Copy, Args)]
pub struct ParentsArgs {
    /// Create missing folders above the one of --out
    #[arg(long, help_heading = "Output")]
    parents: bool,
}

impl ParentsArgs {
    /// Refuses a folder whose parent is missing, unless that was asked for: below the place of a
    /// disk that is not mounted, a run would fill another one.
    pub fn check(self, folder: &Path) -> Result<(), Refused> {
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        match parent.filter(|parent| !self.parents && matches!(parent.try_exists(), Ok(false))) {
            None => Ok(()),
            Some(parent) => Err(Refused::new(
                format!("--out {}: there is no folder {}", folder.display(), parent.display()),
                "mount the disk, or create the folder with --parents",
            )),
        }
    }
}
