//! What a solve can be looked at with: a timeline of its threads, a device that seeks, log writes in order of arrival.

use super::export::{Export, Kind};
use clap::{Args, ValueEnum};
use pipeline::measure::metrics::Metrics;
use pipeline::storage::Storage;
use pipeline::testing::{SeekCounts, SeekModel, SeekStorage};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use trinim::report::timeline;

const TIMELINE: Kind = Kind { flag: "--timeline", what: "timeline", signature: timeline::SIGNATURE };

/// The longest seek that can be asked for.
const SEEK_AT_MOST: Duration = Duration::from_secs(1);

/// `--write-order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WriteOrder {
    /// Entries of many blocks are gathered, sorted by bucket and written in long runs
    Sorted,
    /// Every frame is written as it comes
    Arrival,
}

/// Flags for looking at a run; without influence on the result.
#[derive(Args)]
pub struct InstrumentArgs {
    /// Draw what each thread did when, as SVG; an earlier timeline of that name is replaced
    #[arg(long, value_name = "FILE")]
    timeline: Option<PathBuf>,

    /// Order of the log writes. For measurements
    #[arg(long, hide = true, value_enum, default_value_t = WriteOrder::Sorted)]
    pub write_order: WriteOrder,

    /// Make the device as slow as one with an arm, like 8ms@150MB/s: direct reads and writes, one at a time. For measurements
    #[arg(long, hide = true, value_name = "TIME@BYTES/s", value_parser = seek_cost)]
    seek_cost: Option<SeekModel>,
}

/// Reads a model like `8ms@150MB/s`.
fn seek_cost(text: &str) -> Result<SeekModel, String> {
    let expected = || format!("{text:?}: expected a seek from 0ms to 1s and bytes a second, like 8ms@150MB/s");
    let (time, rate) = text.split_once('@').ok_or_else(expected)?;
    let (number, unit_s) = match time.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (time.strip_suffix('s').ok_or_else(expected)?, 1.0),
    };
    let seconds = number.parse::<f64>().map_err(|_| expected())? * unit_s;
    if !(0.0..=SEEK_AT_MOST.as_secs_f64()).contains(&seconds) {
        return Err(expected());
    }
    let bytes: super::args::Size = rate.strip_suffix("/s").ok_or_else(expected)?.parse().map_err(|_| expected())?;
    Ok(SeekModel { seek: Duration::from_secs_f64(seconds), bytes_per_second: bytes.0 as f64 })
}

/// The instruments of one run.
pub struct Instruments {
    timeline: Option<Export>,
    seek_cost: Option<SeekModel>,
}

/// A device that seeks, when one was asked for.
pub struct Device(Option<Arc<SeekStorage>>);

impl Device {
    /// What it has done.
    pub fn counts(&self) -> Option<SeekCounts> {
        self.0.as_ref().map(|device| device.counts())
    }
}

impl InstrumentArgs {
    /// Checks what is to be written, before anything is.
    ///
    /// # Errors
    /// Those of [`Export::claim`].
    pub fn prepare(&self) -> anyhow::Result<Instruments> {
        let timeline = self.timeline.as_deref().map(|path| Export::claim(path, TIMELINE)).transpose()?;
        Ok(Instruments { timeline, seek_cost: self.seek_cost })
    }
}

impl Instruments {
    /// The counters of the run.
    pub fn metrics(&self) -> Metrics {
        if self.timeline.is_some() { Metrics::with_timeline() } else { Metrics::default() }
    }

    /// The storage, behind the device that was asked for.
    pub fn storage(&self, storage: Arc<dyn Storage>) -> (Arc<dyn Storage>, Device) {
        match self.seek_cost {
            None => (storage, Device(None)),
            Some(model) => {
                let device = Arc::new(SeekStorage::new(storage, model, Box::new(std::thread::sleep)));
                (device.clone(), Device(Some(device)))
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read() {
        let model = |seek: f64, bytes_per_second| SeekModel { seek: Duration::from_secs_f64(seek), bytes_per_second };
        assert_eq!(seek_cost("8ms@150MB/s"), Ok(model(0.008, 150e6)));
        assert_eq!(seek_cost("0.5s@1GiB/s"), Ok(model(0.5, 1_073_741_824.0)));
        assert_eq!(seek_cost("0ms@2MB/s"), Ok(model(0.0, 2e6)));
        for text in ["", "8ms", "8@1MB/s", "8ms@1MB", "-1ms@1MB/s", "2s@1MB/s", "NaNms@1MB/s", "8ms@0/s", "8ms@fast/s"]
        {
            assert!(seek_cost(text).is_err(), "{text}");
        }
    }
}
