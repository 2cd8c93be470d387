//! `trinim export`: the positions of a solved board as NumPy, CSV or text, streamed to a file or a
//! pipe. [`file`] writes the files of other commands.

mod format;
mod sink;
mod stream;

use clap::Args;
use format::{Encoder, Format, Selection};
use pipeline::Stopwatch;
use schemars::JsonSchema;
use serde::Serialize;
use sink::SinkWriter;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use stream::Rows;
use terminal::exit::{Exit, Refused, Stopped};
use terminal::file::OutputFile;
use terminal::output::{Out, counted};
use terminal::progress;
use terminal::signals::Signals;
use trinim::cli::args::Size;
use trinim::cli::choice::chosen;
use trinim::cli::solved::SolvedArgs;
use trinim::cli::work::{self, Counter};
use trinim::database::{Database, Keep, Listing};

/// Largest sample: it is held in memory, in 32 bytes a position.
const SAMPLE_MAX: u64 = 10_000_000;

/// Largest number of pieces of positions that a sample solves if their values are not kept: 28 take
/// some milliseconds and 64 MiB.
const SPOT_PIECES: u32 = 28;

const EXAMPLES: &str = "\
Examples:
  trinim export trinim-k7-misere -o losses.npy                        every loss, for numpy.load
  trinim export trinim-k5-misere --what canonical --format csv        one of each class of images
  trinim export trinim-k7-misere --what values --sample 1000 --seed 7 \\
      --format csv -o sample.csv
  trinim export trinim-k5-misere --pieces 1..4 --format rows | head   as probe reads them

losses are the positions that the player to move loses, images included; canonical losses are one of each class of \
images, with the size of the class; values are all positions, with 1 for a win of the player to move and 0 for a \
loss. A position is a mask of cells, cell 0 in the lowest bit. Rows are sorted by position, except in a list of more \
than 2^25 positions, like the values of seven layers, whose order depends on the layout. A sample depends only on \
board, rule, pieces and seed.

npy has one column of 64-bit masks for losses, else the fields position and orbit_size or value. rows are positions \
like 1/11/101, then a tab and the second column.

A book has losses and canonical losses only from some number of pieces on: request them with --pieces, like --pieces \
37.. for nine layers. With a book or counts only, samples of values with up to 28 pieces are solved on the spot.";

/// Write the losses or values of a solved board for other programs
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ExportArgs {
    #[command(flatten)]
    solved: SolvedArgs,

    /// Which positions to write
    #[arg(long, value_name = "WHAT", value_enum, default_value = "losses")]
    what: Selection,

    /// Format of the output [default: by the extension of FILE, else npy]
    #[arg(long, help_heading = "Output", value_name = "FORMAT", value_enum)]
    format: Option<Format>,

    /// Only positions with this many pieces: A..B with both ends, A.., ..B or A
    #[arg(long, value_name = "A..B", value_parser = pieces)]
    pieces: Option<(Option<u32>, Option<u32>)>,

    /// Draw N positions without replacement, up to 10,000,000
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=SAMPLE_MAX))]
    sample: Option<u64>,

    /// Seed of the sample
    #[arg(long, value_parser = terminal::values::seed, value_name = "N", default_value = "1", requires = "sample")]
    seed: u64,

    /// Most positions that are sorted, in memory: 16 bytes each
    #[arg(long, help_heading = "Output", hide = true, value_name = "N", default_value_t = 1 << 25)]
    sorted_max: u64,

    /// File to write; - is standard output, the default unless that is a terminal
    #[arg(long, help_heading = "Output", short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace an existing file
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    work: work::WorkArgs,
}

/// What `trinim export` prints, only with `--out FILE`: without it, the positions go to standard
/// output.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// `losses`, `canonical` or `values`.
    what: String,
    /// `npy`, `csv` or `rows`.
    format: String,
    /// Least and most pieces of a position.
    pieces: [u32; 2],
    /// Requested positions; null for all.
    sample: Option<u64>,
    /// Seed of the sample.
    seed: Option<u64>,
    /// Positions in the file.
    rows: u64,
    /// Length of the file.
    bytes: u64,
    /// The file.
    out: &'a str,
    /// Wall-clock time.
    elapsed_s: f64,
}

/// Parses a range of numbers of pieces.
fn pieces(text: &str) -> Result<(Option<u32>, Option<u32>), String> {
    let expected =
        || format!("{text:?} is not a range of pieces: expected one like 3..9, 3.., ..9 or 9, both ends included");
    let end = |end: &str| match end {
        "" => Ok(None),
        digits if digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            digits.parse().map(Some).map_err(|_| expected())
        }
        _ => Err(expected()),
    };
    match text.split_once("..") {
        Some(("", "")) => Err(expected()),
        Some((least, most)) => match (end(least)?, end(most)?) {
            (Some(least), Some(most)) if least > most => Err(expected()),
            range => Ok(range),
        },
        None if text.is_empty() => Err(expected()),
        None => end(text).map(|number| (number, number)),
    }
}

pub fn run(args: ExportArgs, out: &mut Out) -> anyhow::Result<Exit> {
    let watch = Stopwatch::start();
    let format = Format::chosen(args.format, args.out.as_deref())?;
    let file = sink::claim(args.out.as_deref(), format, args.force, args.work.json.json)?;
    args.solved.read(out, |database, out| export(&args, &database, (format, file, watch), out))
}

fn export(
    args: &ExportArgs,
    database: &Database,
    (format, file, watch): (Format, Option<OutputFile>, Stopwatch),
    out: &mut Out,
) -> anyhow::Result<Exit> {
    let signals = Signals::register()?;
    let pieces = range(database, args.pieces)?;
    let is_drawn = args.what == Selection::Values && args.sample.is_some();
    let on_the_spot = is_drawn && database.manifest().keep != Keep::Database && *pieces.end() <= SPOT_PIECES;
    let listing = if on_the_spot {
        None
    } else {
        refuse_what_is_not_kept(database, args, &pieces)?;
        Some(Listing::new(database, pieces.clone())?)
    };
    let parts = &Counter::new(if args.sample.is_some() { "sampling" } else { "reading" }, "parts");
    let rows = &Counter::new("exporting", "positions");
    let shown = args.work.progress.on(out)?;
    let export = Rows {
        database,
        what: args.what,
        encoder: Encoder::new(database.board(), format, args.what),
        threads: args.work.threads.count(),
        sorted_max: args.sorted_max,
        stop: &signals.stop,
        parts,
        rows,
    };
    let sample = args.sample.map(|size| (size, args.seed));
    let work = |_: progress::Say<'_>| {
        let mut writer = SinkWriter::open(file.as_ref(), out)?;
        let rows = export.write(listing.as_ref(), &pieces, sample, &mut writer)?;
        Ok::<_, anyhow::Error>((rows, writer.finish()?))
    };
    let status = |elapsed: f64| work::status(&[parts, rows], elapsed);
    let written = progress::during(&status, &signals, &shown, work)?;
    let (rows, bytes) = written.map_err(|error| match error.is::<stream::Stop>() {
        true => anyhow::Error::new(Stopped::from_the_start(signals.exit())).context("export incomplete"),
        false => error,
    })?;
    let (Some(_), Some(path)) = (&file, &args.out) else { return Ok(Exit::Done) };
    let report = Report {
        what: chosen(args.what),
        format: chosen(format),
        pieces: [*pieces.start(), *pieces.end()],
        sample: args.sample,
        seed: args.sample.map(|_| args.seed),
        rows,
        bytes,
        out: &path.to_string_lossy(),
        elapsed_s: watch.elapsed().as_secs_f64(),
    };
    args.work.json.report("trinim.export/1", &report, out, |_, out| {
        Ok(out.line(format_args!("{}, {} in {}", counted(rows, "position"), Size(bytes), path.display()))?)
    })
}

/// Returns the requested range of pieces on this board.
fn range(database: &Database, given: Option<(Option<u32>, Option<u32>)>) -> Result<RangeInclusive<u32>, Refused> {
    let cells = database.board().cells();
    let (least, most) = given.unwrap_or_default();
    let (least, most) = (least.unwrap_or(0), most.unwrap_or(cells));
    match [least, most].into_iter().find(|pieces| *pieces > cells) {
        None => Ok(least..=most),
        Some(pieces) => Err(Refused::new(
            format!("--pieces: no position has {pieces} pieces"),
            format!("the board has {cells} cells"),
        )),
    }
}

/// Refuses positions that a book lacks, and names those that it has. [`Listing::new`] refuses a
/// folder that keeps only counts.
fn refuse_what_is_not_kept(
    database: &Database,
    args: &ExportArgs,
    pieces: &RangeInclusive<u32>,
) -> Result<(), Refused> {
    let Keep::Book { pieces: least } = database.manifest().keep else { return Ok(()) };
    let folder = database.folder().display();
    let limits = database.manifest().keep.limits();
    let spot = format!("--what values --sample N --pieces A..{SPOT_PIECES} to solve positions on the spot");
    let kept = format!("--pieces {least}.., or {spot}");
    if args.what == Selection::Values {
        let message = format!("{folder} keeps {limits}: a book lists losses, not values");
        return Err(Refused::new(message, format!("use --what losses {kept}")));
    }
    if *pieces.start() < least {
        let asked = if args.pieces.is_some() {
            format!("not those with {}", pieces.start())
        } else {
            "not all losses".to_owned()
        };
        return Err(Refused::new(format!("{folder} keeps {limits}, {asked}"), format!("use {kept}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_both_ends() {
        assert_eq!(pieces("3..9"), Ok((Some(3), Some(9))));
        assert_eq!(pieces("3.."), Ok((Some(3), None)));
        assert_eq!(pieces("..9"), Ok((None, Some(9))));
        assert_eq!(pieces("9"), Ok((Some(9), Some(9))));
        for text in ["", "..", "9..3", "a", "1-3", "-1", "1..=3", "3...9", "99999999999", "+1"] {
            assert!(pieces(text).is_err(), "{text}");
        }
    }
}
