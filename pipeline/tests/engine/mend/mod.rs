//! Checks and repairs of a folder of the synthetic workload, and repairs whose source or workload
//! is not the one that was written.

use crate::synthetic::{Careless, Synthetic};
use pipeline::checkpoint::{LockedRun, inspect};
use pipeline::maintenance::check::{CheckRequest, Depth, Report, check};
use pipeline::maintenance::repair::{Plan, carry_out};
use pipeline::{BlockId, Damage, Error, Storage, Thresholds, Workload};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use testing::SimulatedStorage;
use xxhash_rust::xxh3::xxh3_128;

pub fn look(workload: &dyn Workload, storage: &dyn Storage, depth: Depth) -> Result<Report, Error> {
    check(workload, storage, &CheckRequest::new(depth))
}

/// Repairs a folder, from the lock to the end.
pub fn mend(workload: &dyn Workload, storage: &Arc<dyn Storage>, thresholds: &Thresholds) -> Result<Plan, Error> {
    let locked = LockedRun::take(storage.clone())?;
    let plan = Plan::new(workload, &look(workload, &**storage, Depth::Sums)?)?;
    carry_out(&plan, workload, storage, locked, thresholds, &AtomicBool::new(false), &|_| {})?;
    Ok(plan)
}

/// Returns the name of the file that a block published.
pub fn file_of(disk: &SimulatedStorage, block: BlockId) -> String {
    let records = inspect(disk).unwrap().records;
    let record = records.into_iter().find(|record| record.block == block).unwrap();
    record.published.unwrap().name
}

/// Flips every bit of a file.
pub fn flip(disk: &SimulatedStorage, name: &str) {
    let flipped: Vec<u8> = disk.contents(name).unwrap().iter().map(|byte| !byte).collect();
    disk.put(name, &flipped);
}

/// Flips every bit of a published file and changes its hash in the manifest as well: no hash tells
/// that the file is not the one that the block published. All records must be in the manifest.
fn flip_with_its_hash(disk: &SimulatedStorage, block: BlockId) {
    let name = file_of(disk, block);
    let before = xxh3_128(&disk.contents(&name).unwrap()).to_le_bytes();
    flip(disk, &name);
    let after = xxh3_128(&disk.contents(&name).unwrap()).to_le_bytes();
    let manifests: Vec<String> = disk.names().into_iter().filter(|name| name.starts_with("m/manifest")).collect();
    for manifest in manifests {
        let mut bytes = disk.contents(&manifest).unwrap();
        let at = bytes.windows(16).position(|window| window == before).expect("the hash is in the manifest");
        bytes[at..at + 16].copy_from_slice(&after);
        let body = bytes.len() - 16;
        let seal = xxh3_128(&bytes[..body]).to_le_bytes();
        bytes[body..].copy_from_slice(&seal);
        disk.put(&manifest, &bytes);
    }
}

/// Repairs a block of a finished folder, whose records are all in the manifest, in ways that give
/// something else than the block published. Returns the number of ways, all of them refused.
///
/// # Errors
/// Returns the story of a repair that was not refused, or that changed the file.
pub fn wrong_repairs_are_refused(finished: &SimulatedStorage, sound: impl Fn() -> Synthetic) -> Result<u32, String> {
    let source = BlockId(1);
    let target = sound().edges_from(source)[0].target;
    let none = || Careless::new(sound());
    let ways = [
        ("another rule, with equal summaries", Careless { swaps_at: Some(target.0), ..none() }, false),
        ("equal files, another summary", Careless { other_summaries: true, ..none() }, false),
        ("a longer file", Careless { published_bytes: Some(1000), ..none() }, false),
        ("an empty file", Careless { published_bytes: Some(0), ..none() }, false),
        ("another source with a valid hash", none(), true),
    ];
    let count = ways.len() as u32;
    for (story, workload, is_flipped) in ways {
        let disk = finished.kill();
        if is_flipped {
            flip_with_its_hash(&disk, source);
        }
        let name = file_of(&disk, target);
        flip(&disk, &name);
        let before = disk.contents(&name);
        let storage: Arc<dyn Storage> = Arc::new(disk.clone());
        match mend(&workload, &storage, &Thresholds::SMALLEST) {
            // What is found differs from what was expected, and in what a person can look at.
            Err(Error::Corrupt { path, damage, .. }) if path == disk.path(&name) => match damage {
                Damage::Hash { expected, found, .. } if expected != found => {}
                damage if damage.to_string().contains("other counts") && workload.other_summaries => {}
                damage => return Err(format!("{story}: {damage}")),
            },
            other => return Err(format!("{story}: {other:?}")),
        }
        if disk.contents(&name) != before {
            return Err(format!("{story}: the file was changed"));
        }
    }
    Ok(count)
}
