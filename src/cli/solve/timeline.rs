//! `--timeline`: what each thread of a solve did when.

use crate::cli::export::{Export, ExportKind};
use clap::Args;
use pipeline::Metrics;
use std::path::PathBuf;
use trinim::report::timeline;

const KIND: ExportKind = ExportKind { flag: "--timeline", what: "timeline", signature: timeline::SIGNATURE };

/// `--timeline`.
#[derive(Args)]
pub struct TimelineArgs {
    /// Draw what each thread did when, as SVG; an earlier timeline of that name is replaced
    #[arg(long, help_heading = "Output", value_name = "FILE")]
    timeline: Option<PathBuf>,
}

/// The timeline of one run, if it is asked for.
pub struct Timeline {
    timeline: Option<Export>,
}

impl TimelineArgs {
    /// Checks what is to be written, before anything is.
    ///
    /// # Errors
    /// Those of [`Export::claim`].
    pub fn prepare(&self) -> anyhow::Result<Timeline> {
        let timeline = self.timeline.as_deref().map(|path| Export::claim(path, KIND)).transpose()?;
        Ok(Timeline { timeline })
    }
}

impl Timeline {
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
