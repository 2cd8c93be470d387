//! One way to solve, to be compared with its rivals, on the first blocks of a board, on this disk
//! or on a simulated hard disk.
//!
//! ```text
//! cargo run --release -p tools --bin rivals -- WAY FOLDER [--layers K] [--block-bits N] [--blocks N]
//!     [--minutes N] [--memory-mib N] [--disk-gib N] [--arm]
//! ```
//!
//! Solves misère play, only for counts and without an audit, until the blocks are computed, the
//! time is over or the allowed disk is full. Then prints a row of a table and removes the folder.
//! All ways have the same layout, kernel, threads and memory. With `--arm` every read and write
//! waits for a device of 8 ms a seek and 150 MB/s that caches nothing, like a hard disk.

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};
use pipeline::storage::LimitedStorage;
use pipeline::{Error, Metrics, Options, Placement, RealStorage, Stage, Stopwatch, Storage, Thresholds};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testing::{SeekStorage, Speed};
use trinim::database::{Game, Keep, Terms};
use trinim::game::Rule;
use trinim::kernel::Kernel;
use trinim::plan::{default_codec, engine_bytes};
use trinim::solve::solve;
use trinim_papers::baseline::{self, Baseline, Counters, Redundancy};

const ARM: Speed = Speed { seek: Duration::from_millis(8), bytes_per_second: 150_000_000 };
const THREADS: usize = 2;

#[derive(Clone, Copy, ValueEnum)]
enum Way {
    Shared,
    Dedicated,
    BlockPull,
    BlockPush,
    Retrograde,
}

#[derive(Parser)]
struct Args {
    way: Way,
    folder: PathBuf,
    #[arg(long, default_value_t = 9)]
    layers: u32,
    #[arg(long, default_value_t = 30)]
    block_bits: u32,
    #[arg(long, default_value_t = u64::MAX)]
    blocks: u64,
    #[arg(long, default_value_t = 30)]
    minutes: u64,
    #[arg(long, default_value_t = 11 << 10)]
    memory_mib: u64,
    #[arg(long, default_value_t = 50)]
    disk_gib: u64,
    #[arg(long)]
    arm: bool,
}

fn main() -> Result<()> {
    let args = Args::parse();
    if args.folder.exists() {
        bail!("{} exists", args.folder.display());
    }
    let game = Game::triangle(args.layers, Rule::Misere, args.block_bits)?;
    let real: Arc<dyn Storage> = Arc::new(RealStorage::create(&args.folder)?);
    let limited: Arc<dyn Storage> = Arc::new(LimitedStorage::new(real, args.disk_gib << 30)?);
    let device = Arc::new(SeekStorage::new(limited, args.arm.then_some(ARM)));
    let storage: Arc<dyn Storage> = device.clone();
    let (metrics, counters, stop) = (Metrics::default(), Counters::default(), Arc::new(AtomicBool::new(false)));
    let placement = if matches!(args.way, Way::Dedicated) { Placement::Dedicated } else { Placement::Shared };
    let options = Options {
        threads: THREADS,
        memory_bytes: engine_bytes(args.memory_mib << 20),
        placement,
        codec: default_codec(args.layers),
        thresholds: Some(Thresholds::for_process(THREADS)?),
        stop: stop.clone(),
        ..Options::default()
    };
    let (spec, kernel) = (Terms::from(Keep::Counts).spec(&game), Kernel::detect());
    let by = |baseline| baseline::solve(spec, kernel, baseline, &storage, &options, &metrics, &counters);
    let watch = Stopwatch::start();
    let is_over = AtomicBool::new(false);
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let is_late = watch.elapsed() > Duration::from_secs(60 * args.minutes);
                if is_late || metrics.snapshot().blocks_computed >= args.blocks {
                    stop.store(true, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let ended = match args.way {
            Way::Shared | Way::Dedicated => solve(spec, kernel, &storage, &options, &metrics, &|_| {}),
            Way::BlockPull => by(Baseline::BlockPull(Redundancy::Remove)),
            Way::BlockPush => by(Baseline::BlockPush(Redundancy::Remove)),
            Way::Retrograde => by(Baseline::Retrograde),
        };
        is_over.store(true, Ordering::Relaxed);
        ended
    });
    let seconds = watch.elapsed().as_secs_f64();
    let why = match ended {
        Ok(solved) => format!("solved, {} losses", solved.manifest.census.losses()),
        Err(Error::Interrupted) if seconds > 60.0 * args.minutes as f64 => "time".to_owned(),
        Err(Error::Interrupted) => "blocks".to_owned(),
        Err(error) if error.is_full_disk() => "disk full".to_owned(),
        Err(error @ Error::Memory { .. }) => error.to_string(),
        Err(error) => return Err(error.into()),
    };
    let (passed, counts) = (device.passed(), metrics.snapshot());
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let work = [Stage::Decode, Stage::Orient, Stage::Apply, Stage::Settle, Stage::Encode, Stage::Publish];
    let work: f64 = work.iter().map(|stage| metrics.stage(*stage).as_secs_f64()).sum();
    let name = args.way.to_possible_value().context("a way has a name")?.get_name().to_owned();
    println!(
        "| {name} | {} | {} | {} | {seconds:.1} s | {work:.1} s | {:.2} GiB | {:.2} GiB | {} | {:.1} GiB | {why} |",
        if args.arm { "8 ms, 150 MB/s" } else { "this" },
        counts.blocks_computed,
        counts.edges_applied,
        gib(passed.written_bytes),
        gib(passed.read_bytes),
        passed.seeks,
        peak_memory_bytes().map_or(f64::NAN, gib),
    );
    Ok(std::fs::remove_dir_all(&args.folder)?)
}

/// Returns the largest resident memory of this process.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}
