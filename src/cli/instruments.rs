//! `--timeline`: what each thread of a solve did when.

use super::export::{Export, ExportKind};
use clap::Args;
use pipeline::measure::metrics::Metrics;
use std::path::PathBuf;
use trinim::report::timeline;

const TIMELINE: ExportKind = ExportKind { flag: "--timeline", what: "timeline", signature: timeline::SIGNATURE };

/// Flags for looking at a run; without influence on the result.
#[derive(Args)]
pub struct InstrumentArgs {
    /// Draw what each thread did when, as SVG; an earlier timeline of that name is replaced
    #[arg(long, help_heading = "Output", value_name = "FILE")]
    timeline: Option<PathBuf>,
}

/// The instruments of one run.
pub struct Instruments {
    timeline: Option<Export>,
}

impl InstrumentArgs {
    /// Checks what is to be written, before anything is.
    ///
    /// # Errors
    /// Those of [`Export::claim`].
    pub fn prepare(&self) -> anyhow::Result<Instruments> {
        let timeline = self.timeline.as_deref().map(|path| Export::claim(path, TIMELINE)).transpose()?;
        Ok(Instruments { timeline })
    }
}

impl Instruments {
    /// The counters of the run.
    pub fn metrics(&self) -> Metrics {
        if self.timeline.is_some() { Metrics::with_timeline() } else { Metrics::default() }
    }

    /// Draws the timeline, if one was asked for and any thread did anything: not of a solve that was refused.
    ///
    /// # Errors
    /// [`pipeline::Error::Io`].
    pub fn draw(&self, title: &str, elapsed_s: f64, metrics: &Metrics) -> anyhow::Result<()> {
        let (Some(export), Some(timeline)) = (&self.timeline, metrics.timeline()) else { return Ok(()) };
        let recorded = timeline.recorded();
        if !recorded.is_empty() {
            export.write(&timeline::svg(title, elapsed_s, &recorded))?;
        }
        Ok(())
    }
}
