//! The output of an export: a file that appears only when complete, or standard output.

use super::format::Format;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use terminal::exit::Refused;
use terminal::file::{OpenOutput, OutputFile, is_stdout};
use terminal::output::Out;

/// The requested size of a pipe: the system allows it without privileges.
const PIPE_BYTES: usize = 1 << 20;

pub struct SinkWriter<'a> {
    out: &'a mut Out,
    /// Without a file, rows go to `out`.
    file: Option<OpenOutput<'a>>,
    bytes: u64,
}

/// Chooses the output and checks that it can be written; `None` is standard output.
pub fn claim(path: Option<&Path>, format: Format, replace: bool, json: bool) -> anyhow::Result<Option<OutputFile>> {
    match path {
        Some(path) if path != "-" && !is_stdout(path) => OutputFile::claim_new(path, "--out", replace).map(Some),
        _ if json => {
            let message = "--json: positions and report cannot both go to standard output";
            Err(Refused::new(message, "write the positions to a file with --out FILE").into())
        }
        given if io::stdout().is_terminal() && (given.is_none() || format == Format::Npy) => {
            let message = "standard output is a terminal";
            Err(Refused::new(message, "write to a file with --out FILE, or pipe the output into a command").into())
        }
        _ => Ok(None),
    }
}

impl<'a> SinkWriter<'a> {
    pub fn open(file: Option<&'a OutputFile>, out: &'a mut Out) -> anyhow::Result<SinkWriter<'a>> {
        if file.is_none() {
            // A pipe of the usual 64 KiB would wake its reader sixteen times as often. Errors do
            // not matter: the output may be no pipe, or have a lower limit.
            let _ = rustix::pipe::fcntl_setpipe_size(io::stdout(), PIPE_BYTES);
        }
        let file = file.map(OutputFile::begin).transpose()?;
        Ok(SinkWriter { out, file, bytes: 0 })
    }

    pub fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.bytes += bytes.len() as u64;
        match &mut self.file {
            Some(file) => Ok(file.write(bytes)?),
            None => Ok(self.out.write_all(bytes)?),
        }
    }

    /// Ends the output, gives a file its name and returns the length in bytes.
    pub fn finish(self) -> anyhow::Result<u64> {
        match self.file {
            Some(file) => file.finish()?,
            None => self.out.flush()?,
        }
        Ok(self.bytes)
    }
}
