//! Writes run folders of the current format for every later version to open: `golden FOLDER`
//! (`tests/golden/folders` in this repository).
//!
//! Four layers in eight blocks on the simulated disk, so the bytes are the same each time: killed
//! in the second generation with dedicated and with shared logs, and finished; the last two also
//! with the counts alone. Folders of an older version stay as they are; those of a new one get new
//! names.

use pipeline::Placement;
use pipeline::testing::SimulatedStorage;
use simulation::session::{committed, killed_after, run};
use simulation::subject::Subject;
use std::path::Path;
use std::process::ExitCode;
use trinim::game::Rule;

/// Runs until a kill leaves blocks in the manifest, blocks in the journal, and needed logs of both
/// generations.
fn middle(subject: &Subject, placement: Placement, codec: &str) -> Option<SimulatedStorage> {
    let options = || subject.options(1, placement, codec);
    (0..10_000).find_map(|seed| {
        let first = killed_after(subject, &SimulatedStorage::new(1), options(), seed, 2)?;
        let disk = killed_after(subject, &first, options(), seed, 4)?;
        let logs_of = |generation: &str| disk.names().iter().filter(|name| name.ends_with(generation)).count();
        let blocks = committed(&disk).ok()?.len() as u32;
        let journal = disk.contents("m/journal.2.a")?;
        let is_mixed = logs_of(".g1") > 0 && logs_of(".g2") > 0 && !journal.is_empty();
        (is_mixed && blocks + 2 <= subject.blocks()).then_some(disk)
    })
}

fn write(disk: &SimulatedStorage, folder: &Path) -> std::io::Result<()> {
    for name in disk.names() {
        let path = folder.join(&name);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        std::fs::write(&path, disk.contents(&name).unwrap_or_default())?;
    }
    Ok(())
}

fn make(folder: &Path) -> Result<(), String> {
    let (misere, normal) = (Subject::game(4, Rule::Misere, 6), Subject::game(4, Rule::Normal, 6));
    let (counts_misere, counts_normal) = (Subject::counts(4, Rule::Misere, 6), Subject::counts(4, Rule::Normal, 6));
    let [finished, counts_finished] = [&misere, &counts_misere].map(|subject| {
        let disk = SimulatedStorage::new(1);
        run(subject, &disk, subject.options(1, Placement::Dedicated, "raw"), 1);
        disk
    });
    let missing = || "no interleaving commits often enough".to_string();
    for (name, disk) in [
        ("counts-middle", middle(&counts_normal, Placement::Shared, "zstd1").ok_or_else(missing)?),
        ("counts-finished", counts_finished),
        ("rows-middle-dedicated", middle(&misere, Placement::Dedicated, "rows-huffman").ok_or_else(missing)?),
        ("rows-middle-shared", middle(&normal, Placement::Shared, "rows-huffman").ok_or_else(missing)?),
        ("rows-finished", finished),
    ] {
        write(&disk, &folder.join(name)).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: golden FOLDER");
        return ExitCode::FAILURE;
    };
    match make(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(told) => {
            eprintln!("{told}");
            ExitCode::FAILURE
        }
    }
}
