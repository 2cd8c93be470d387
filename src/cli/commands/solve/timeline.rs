//! `--timeline`: what each thread of a solve did when.

use crate::cli::face::file::{Export, ExportKind};
use crate::cli::words::summary::board_words;
use clap::Args;
use pipeline::Metrics;
use std::path::PathBuf;
use trinim::game::{Board, Rule};
use trinim::report::timeline;
use trinim::solve::Strategy;

const KIND: ExportKind = ExportKind { flag: "--timeline", what: "timeline", signature: timeline::SIGNATURE };

/// `--timeline`.
#[derive(Clone, Args)]
pub struct TimelineArgs {
    /// Draw what each thread did when, as SVG; replaces an earlier timeline
    #[arg(long, help_heading = "Output", value_name = "FILE")]
    timeline: Option<PathBuf>,
}

/// The timeline of one run, if requested.
pub struct Timeline {
    timeline: Option<Export>,
}

impl TimelineArgs {
    /// Checks the target before any work.
    ///
    /// # Errors
    /// Returns the errors of [`Export::claim`].
    pub fn prepare(&self) -> anyhow::Result<Timeline> {
        let timeline = self.timeline.as_deref().map(|path| Export::claim(path, KIND)).transpose()?;
        Ok(Timeline { timeline })
    }
}

impl Timeline {
    /// Returns the counters to run with.
    pub fn metrics(&self) -> Metrics {
        if self.timeline.is_some() { Metrics::with_timeline() } else { Metrics::default() }
    }

    /// Draws the timeline, if requested and if any thread recorded work: a refused solve has no
    /// picture.
    ///
    /// # Errors
    /// Returns [`pipeline::Error::Io`] if the file cannot be written.
    pub fn draw(&self, title: &str, elapsed_s: f64, metrics: &Metrics) -> anyhow::Result<()> {
        let (Some(export), Some(timeline)) = (&self.timeline, metrics.timeline()) else { return Ok(()) };
        let recorded = timeline.recorded();
        if !recorded.is_empty() {
            export.write(&timeline::svg(title, elapsed_s, &recorded))?;
        }
        Ok(())
    }
}

/// Returns the run in words.
pub fn title(board: &Board, rule: Rule, strategy: Strategy) -> String {
    let board = board_words(board.name());
    let play = match rule {
        Rule::Normal => "normal play",
        Rule::Misere => "misère play",
    };
    let way = match strategy {
        Strategy::UpdateLog => String::new(),
        Strategy::Baseline(way) => format!(", strategy {way}"),
    };
    format!("trinim solve, {board}, {play}{way}")
}
