//! The metrics of a long command: the file and the address for them.

use crate::exit::{Exit, Refused};
use crate::file::folder_of;
use crate::output::Out;
use crate::values;
use crate::watch;
use clap::Args;
use pipeline::parallel::check_threads;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// `--metrics` and `--metrics-listen`.
#[derive(Clone, Args)]
pub struct MetricsArgs {
    /// Write figures of the work to FILE every 5 seconds and at the end, as OpenMetrics text for a
    /// node exporter
    #[arg(long, help_heading = "Output", value_name = "FILE")]
    metrics: Option<PathBuf>,

    /// Serve the same figures over HTTP while the command runs, as http://ADDRESS/metrics, to
    /// anyone who can reach that address and port, like 127.0.0.1:9464; port 0 takes any free one
    #[arg(long, help_heading = "Output", value_name = "ADDRESS", value_parser = values::address)]
    metrics_listen: Option<SocketAddr>,
}

impl MetricsArgs {
    /// Checks that the metrics can be written, and serves them from now on.
    ///
    /// # Errors
    /// Returns [`Refused`] for a file that cannot be replaced or an address that cannot be listened
    /// on, and [`pipeline::Error::Thread`] if the system refuses a thread.
    pub fn begin(&self, out: &Out) -> anyhow::Result<()> {
        self.metrics.as_deref().map_or(Ok(()), refuse)?;
        self.metrics_listen.map_or(Ok(()), |address| serve(address, out))
    }
}

/// Refuses a file of metrics that cannot be replaced.
fn refuse(path: &Path) -> Result<(), Refused> {
    let refused = |what: String| Refused::new(format!("--metrics {what}"), "name a file in a folder that exists");
    let folder = folder_of(path);
    match (folder.metadata(), path.metadata()) {
        (Err(error), _) if error.kind() == ErrorKind::NotFound => {
            Err(refused(format!("{}: there is no folder {}", path.display(), folder.display())))
        }
        (Err(error), _) => Err(refused(format!("{}: {error}", path.display()))),
        (_, Ok(found)) if !found.is_file() => Err(refused(format!("{} is not a regular file", path.display()))),
        _ => Ok(()),
    }
}

/// Serves the metrics on an address from now on, and says where.
fn serve(address: SocketAddr, out: &Out) -> anyhow::Result<()> {
    check_threads(1)?;
    let served = watch::listen(address).map_err(|error| {
        let message = format!("--metrics-listen: cannot listen on {address}: {error}");
        match error.kind() {
            ErrorKind::Unsupported => Refused::new(message, "--metrics FILE writes the same figures to a file"),
            _ => Refused::with(Exit::System, message, "choose another address, like 127.0.0.1:0 for any free port"),
        }
    })?;
    // The first event of a stream says where.
    let Some((url, address)) = served.filter(|_| !watch::is_json()) else { return Ok(()) };
    out.remark(format_args!("metrics at {url}"));
    if !address.ip().is_loopback() {
        out.warn("anyone who can reach this address can read the metrics, and nothing is encrypted");
    }
    Ok(())
}
