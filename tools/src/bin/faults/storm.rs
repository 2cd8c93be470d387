//! All commands at the same time on one folder: solves, second solves, repairs, checks at every
//! depth, verify, status, probe, stats, and signals to the writer. The data are always sound, so
//! any report of damage is a failure.

use crate::errno::behaves;
use crate::kill::complete;
use crate::report::Sheet;
use crate::setup::{Lane, Setup};
use crate::subject::{Launch, Running, Solve};
use crate::system;
use crate::tree::{Goldens, finished};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

const SOLVES: [Solve; 4] = [
    Solve::new(5, 8, "dedicated", 2),
    Solve::new(5, 8, "shared", 2),
    Solve::new(6, 12, "dedicated", 2),
    Solve::new(6, 12, "shared", 2),
];
/// Commands that only read, with the words after the folder; `db` is the folder of the database.
const READERS: [(&str, &str, &[&str]); 10] = [
    ("check", "", &["--depth", "metadata"]),
    ("check", "", &["--depth", "sums"]),
    ("check", "", &["--depth", "full"]),
    ("check", "db", &["--depth", "full"]),
    ("status", "", &[]),
    ("verify", "", &["--checksums-only"]),
    ("verify", "", &[]),
    ("probe", "", &["0x1"]),
    ("stats", "", &[]),
    ("repair", "", &["--dry-run"]),
];
/// Number of commands that run at the same time, in addition to the writer.
const BESIDE: usize = 3;
const SIGNALS: [i32; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGKILL];

pub fn run(setup: &Setup, sheet: &Sheet) -> Result<()> {
    let goldens = Goldens::of(setup, &SOLVES)?;
    let rounds = setup.amount(40, 2);
    let cases: Vec<Solve> = (0..rounds).flat_map(|_| SOLVES).collect();
    setup.each(&cases, |lane, solve| storm(setup, sheet, &goldens, lane, solve))?;
    if !setup.ci {
        sheet.bar("commands beside a writer", 3000);
        sheet.bar("signals to a writer", 300);
    }
    Ok(())
}

/// One folder from its first solve to its last, with a new writer whenever there is none.
fn storm(setup: &Setup, sheet: &Sheet, goldens: &Goldens, lane: &mut Lane, solve: &Solve) -> Result<()> {
    let out = lane.folder.join("run");
    let _ = fs::remove_dir_all(&out);
    let slots: Vec<PathBuf> = (0..=BESIDE).map(|slot| lane.folder.join(format!("slot{slot}"))).collect();
    for slot in &slots {
        fs::create_dir_all(slot)?;
    }
    for gust in 0..10 {
        let repairs = gust > 0 && lane.random.below(3) == 0;
        let launch = match repairs {
            true => Launch::new(setup, &slots[BESIDE], &["repair".as_ref(), out.as_os_str()]),
            false => solve.launch(setup, &slots[BESIDE], &out),
        };
        let writer = launch.start()?;
        for _ in 0..1 + lane.random.below(3) {
            beside(setup, sheet, lane, solve, &out, &slots)?;
        }
        let signal = SIGNALS[lane.random.below(SIGNALS.len() as u64) as usize];
        // A failure means that the writer has ended; its exit code shows how.
        let _ = system::signal(writer.pid, signal);
        sheet.count("signals to a writer", 1);
        let ended = writer.wait()?;
        let killed = signal == libc::SIGKILL && ended.was_killed();
        let text = format!("{solve}: {} after signal {signal}", if repairs { "a repair" } else { "a solve" });
        // 2: killed before it had begun anything, so there is nothing to repair.
        if !killed {
            behaves(
                sheet,
                &text,
                &ended,
                if repairs { &[0, 2, 4, 6, 129, 130, 143] } else { &[0, 4, 6, 129, 130, 143] },
            );
        }
    }
    let safe = finished(&out).unwrap_or_default();
    complete(setup, sheet, &format!("{solve}: after the storm"), solve, goldens.get(solve)?, lane, &out, &safe)
}

/// Starts some commands at once and waits for all.
fn beside(setup: &Setup, sheet: &Sheet, lane: &mut Lane, solve: &Solve, out: &Path, slots: &[PathBuf]) -> Result<()> {
    let mut running: Vec<(String, &[i32], Running)> = Vec::new();
    for slot in &slots[..BESIDE] {
        let choice = lane.random.below(READERS.len() as u64 + 1) as usize;
        let Some((command, inner, more)) = READERS.get(choice) else {
            running.push(("a second solve".to_owned(), &[0, 4, 6], solve.launch(setup, slot, out).start()?));
            continue;
        };
        let folder = if inner.is_empty() { out.to_path_buf() } else { out.join(inner) };
        let folder = folder.to_str().context("plain names")?;
        let args = [&[*command, folder], *more].concat();
        running.push((args.join(" "), &[0, 2], Launch::new(setup, slot, &args).start()?));
    }
    for (text, codes, command) in running {
        let ended = command.wait()?;
        sheet.count("commands beside a writer", 1);
        // A writer was killed before it wrote the lists, and the next has only begun.
        let is_unsealed = text.starts_with("check ") && ended.out.contains("verdict   not finished\n");
        behaves(sheet, &format!("{solve}: {text}"), &ended, if is_unsealed { &[3] } else { codes });
    }
    Ok(())
}
