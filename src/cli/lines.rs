//! The lines of standard input: positions, or the input of a person in a game.

use crate::game::text::bare;
use pipeline::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use terminal::output::Out;
use terminal::streams::PatientReader;

pub struct Lines {
    input: BufReader<PatientReader>,
    most_bytes: u64,
}

impl Lines {
    /// Reads lines of at most this many bytes; longer ones are cut.
    pub fn new(most_bytes: u64) -> Lines {
        Lines { input: BufReader::new(PatientReader), most_bytes }
    }

    /// Prompts for the next line and trims it; `None` at the end of the input.
    pub fn ask(&mut self, prompt: &str, out: &mut Out) -> anyhow::Result<Option<String>> {
        out.flush()?;
        out.prompt(prompt);
        let failed = |error| Error::io("read", Path::new("standard input"), error);
        let mut line = Vec::new();
        let length = self.input.by_ref().take(self.most_bytes).read_until(b'\n', &mut line).map_err(failed)?;
        if length as u64 == self.most_bytes && !line.ends_with(b"\n") {
            self.input.skip_until(b'\n').map_err(failed)?;
        }
        Ok((length > 0).then(|| bare(&String::from_utf8_lossy(&line)).to_owned()))
    }
}
