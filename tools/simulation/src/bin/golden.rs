//! Writes run folders of the current format for every later version to open: `golden FOLDER`
//! (`tests/golden/folders` in this repository).
//!
//! The board has four layers in eight blocks on the simulated disk, so the bytes are the same each
//! time. Some folders were killed in the second generation (with dedicated logs, with shared logs,
//! and with published blocks instead); others are finished. Folders of an older version stay
//! unchanged; those of a new one get new names.

use pipeline::Placement;
use simulation::session::{committed, killed_after, run};
use simulation::subject::Subject;
use std::path::Path;
use std::process::ExitCode;
use testing::SimulatedStorage;
use trinim::game::Rule;

/// Runs until a kill leaves blocks in the manifest, blocks in the journal, and needed logs of both
/// generations, if there are logs.
fn middle(subject: &Subject, placement: Placement, codec: &str, has_logs: bool) -> Option<SimulatedStorage> {
    let options = || subject.options(1, placement, codec);
    (0..10_000).find_map(|seed| {
        let first = killed_after(subject, &SimulatedStorage::new(1), options(), seed, 2)?;
        let disk = killed_after(subject, &first, options(), seed, 4)?;
        let logs_of = |generation: &str| disk.names().iter().filter(|name| name.ends_with(generation)).count();
        let blocks = committed(&disk).ok()?.len() as u32;
        let journal = disk.contents("m/journal.2.a")?;
        let is_mixed = (logs_of(".g1") > 0, logs_of(".g2") > 0) == (has_logs, has_logs) && !journal.is_empty();
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
    let (book_misere, book_normal) = (Subject::book(4, Rule::Misere, 6, 5), Subject::book(4, Rule::Normal, 6, 5));
    let (counts_misere, counts_normal) = (Subject::counts(4, Rule::Misere, 6), Subject::counts(4, Rule::Normal, 6));
    let [finished, counts_finished, book_finished] = [&misere, &counts_misere, &book_misere].map(|subject| {
        let disk = SimulatedStorage::new(1);
        run(subject, &disk, subject.options(1, Placement::Dedicated, "raw"), 1);
        disk
    });
    let middle = |name: &str, subject: &Subject, placement, codec| {
        let has_logs = name != "blocks-middle";
        middle(subject, placement, codec, has_logs)
            .ok_or_else(|| format!("{name}: no interleaving commits often enough"))
    };
    for (name, disk) in [
        ("middle-dedicated", middle("middle-dedicated", &misere, Placement::Dedicated, "rows-huffman")?),
        ("blocks-middle", middle("blocks-middle", &normal, Placement::Shared, "rows-huffman")?),
        ("counts-middle", middle("counts-middle", &counts_normal, Placement::Shared, "zstd1")?),
        ("book-middle", middle("book-middle", &book_normal, Placement::Shared, "rows-huffman")?),
        ("finished", finished),
        ("counts-finished", counts_finished),
        ("book-finished", book_finished),
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
        Err(story) => {
            eprintln!("{story}");
            ExitCode::FAILURE
        }
    }
}
