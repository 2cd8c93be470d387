use pipeline::{
    CodecChoice,
    engine::{Options, Placement},
    metrics::{Metrics, Stage},
    storage::{RealStorage, Storage},
};
use std::sync::Arc;
use std::time::Duration;
use trinim::{board::Board, kernel::Kernel, layout::Layout, rule::Rule};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let k: u32 = a[1].parse().unwrap();
    let bits: u32 = a[2].parse().unwrap();
    let out = &a[3];
    let placement = if a[4] == "shared" { Placement::Shared } else { Placement::Dedicated };
    let codec = CodecChoice::parse(&a[5]).unwrap();
    let threads: usize = a[6].parse().unwrap();
    let mem: u64 = a[7].parse().unwrap();
    let rule: Rule = a.get(8).map(|s| s.as_str()).unwrap_or("misere").parse().unwrap();
    let start = std::time::Instant::now();
    let board = Board::triangle(k, None).unwrap();
    let layout = Layout::suggested(&board, bits);
    eprintln!("layout {:?} b={} blocks {}", start.elapsed(), layout.bid_bits(), layout.canonical_blocks().len());
    let kernel = Kernel::detect();
    let storage: Arc<dyn Storage> = Arc::new(RealStorage::create(out).unwrap().with_syncs(a.get(9).is_none()));
    let metrics = Metrics::default();
    let options = Options {
        threads,
        memory_bytes: mem << 20,
        placement,
        codec,
        commit_interval: Duration::from_secs(2),
        sorted: true,
        run_id: 1,
        stop: Arc::default(),
    };
    let s = trinim::solve::solve(
        trinim::solve::Problem { board: &board, rule, layout: &layout, kernel },
        &storage,
        &options,
        &metrics,
        &|e| eprintln!("{:?} {:?}", start.elapsed(), e),
    )
    .unwrap();
    eprintln!(
        "{:?} losses {} digest {} db {} MiB",
        start.elapsed(),
        s.manifest.census.losses(),
        s.manifest.digest,
        s.database_bytes >> 20
    );
    eprintln!("codec {:?}", s.codec);
    for st in Stage::ALL {
        eprintln!("{:12} {:?}", st.name(), metrics.stage(st));
    }
    eprintln!(
        "log written {} read {} peak {} writes {} raw enc {} dec {}",
        metrics.log_bytes_written.load(std::sync::atomic::Ordering::Relaxed) >> 20,
        metrics.log_bytes_read.load(std::sync::atomic::Ordering::Relaxed) >> 20,
        metrics.log_bytes_peak.load(std::sync::atomic::Ordering::Relaxed) >> 20,
        metrics.log_writes.load(std::sync::atomic::Ordering::Relaxed),
        metrics.raw_bytes_encoded.load(std::sync::atomic::Ordering::Relaxed) >> 20,
        metrics.raw_bytes_decoded.load(std::sync::atomic::Ordering::Relaxed) >> 20
    );
    for line in std::fs::read_to_string("/proc/self/status").unwrap().lines().filter(|l| l.starts_with("VmHWM")) {
        eprintln!("{line}");
    }
}
