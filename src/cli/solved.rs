//! The solved board that `probe` and `stats` ask.

use super::args;
use super::exit::Refused;
use clap::Args;
use std::path::PathBuf;
use trinim::database::{Access, BuiltIn, CACHE_BYTES, Database};
use trinim::game::Rule;

/// A finished solve in a folder, or what the program carries, for `probe` and `stats`.
#[derive(Args)]
pub struct SolvedArgs {
    /// Folder of a finished solve, or its db folder
    #[arg(value_name = "DIR", required_unless_present = "layers")]
    pub folder: Option<PathBuf>,

    /// Layers of the triangle; needs no DIR for 9, whose counts and book are built in
    #[arg(long, help_heading = "Game", short = 'k', value_name = "K", value_parser = args::layers)]
    pub layers: Option<u32>,

    /// Whoever takes the last piece loses (misere) or wins (normal); for --layers
    #[arg(long, help_heading = "Game", value_name = "RULE", value_parser = args::rule(), default_value = "misere")]
    pub rule: Rule,
}

impl SolvedArgs {
    /// Opens the database; a folder goes before `--layers`, which a variable may have set.
    ///
    /// # Errors
    /// [`Refused`] if nothing is built in of the board; those of [`Database::open_with`].
    pub fn open(&self, access: Access) -> anyhow::Result<Database> {
        if let Some(folder) = &self.folder {
            return Ok(Database::open_with(folder, access, CACHE_BYTES)?);
        }
        let (layers, rule) = (self.layers.unwrap_or_default(), self.rule);
        let Some(built_in) = BuiltIn::of(layers, rule) else {
            let carried: Vec<String> =
                BuiltIn::all().iter().map(|built_in| format!("{} {}", built_in.layers, built_in.rule)).collect();
            let message = format!("--layers {layers} --rule {rule}: not built in; there is {}", carried.join(" and "));
            let hint = format!("trinim solve --layers {layers} --rule {rule}");
            return Err(Refused::new(message, hint).into());
        };
        Ok(Database::open_built_in(built_in)?)
    }
}
