//! The results of the parts: counts, failures, and cases that could not run.
//!
//! # Invariants
//! 1. The output, the report and the exit code show a part that could not run, with the reason; it
//!    never counts as passed.
//! 2. A missed bar is a failure.

use anyhow::Result;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// Limit on the failures kept as text; all are counted.
const FAILURES_KEPT: usize = 40;

/// The account of one part, shared by threads.
pub struct Sheet {
    pub name: &'static str,
    pub proves: &'static str,
    begin: Instant,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    counts: Vec<(String, u64)>,
    notes: Vec<String>,
    failures: Vec<String>,
    failed: u64,
    not_run: Vec<String>,
    seconds: f64,
}

impl Sheet {
    pub fn new(name: &'static str, proves: &'static str) -> Sheet {
        Sheet { name, proves, begin: Instant::now(), entries: Mutex::default() }
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn count(&self, what: &str, more: u64) {
        let mut entries = self.entries();
        match entries.counts.iter_mut().find(|(name, _)| name == what) {
            Some((_, count)) => *count += more,
            None => entries.counts.push((what.to_owned(), more)),
        }
    }

    pub fn counted(&self, what: &str) -> u64 {
        self.entries().counts.iter().find(|(name, _)| name == what).map_or(0, |(_, count)| *count)
    }

    /// Adds a measured value or a remark to the report.
    pub fn note(&self, text: impl Into<String>) {
        self.entries().notes.push(text.into());
    }

    pub fn fail(&self, text: impl Into<String>) {
        let text = text.into();
        eprintln!("  FAILED {}: {text}", self.name);
        let mut entries = self.entries();
        entries.failed += 1;
        if entries.failures.len() < FAILURES_KEPT {
            entries.failures.push(text);
        }
    }

    pub fn check(&self, holds: bool, text: impl FnOnce() -> String) -> bool {
        if !holds {
            self.fail(text());
        }
        holds
    }

    /// Records a case that this machine or this user cannot run.
    pub fn not_run(&self, what: &str, reason: impl std::fmt::Display) {
        let text = format!("{what}: {reason}");
        eprintln!("  NOT RUN {}: {text}", self.name);
        self.entries().not_run.push(text);
    }

    /// Fails unless at least `least` of the kind were counted.
    pub fn bar(&self, what: &str, least: u64) {
        let count = self.counted(what);
        self.check(count >= least, || format!("only {count} {what}, the bar is {least}"));
    }

    pub fn finish(&self) {
        let seconds = self.begin.elapsed().as_secs_f64();
        let mut entries = self.entries();
        entries.seconds = seconds;
        let counts: Vec<String> = entries.counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        eprintln!("{}: {}, {} failed, {seconds:.1} s", self.name, counts.join(", "), entries.failed);
    }

    pub fn failed(&self) -> bool {
        self.entries().failed > 0
    }

    pub fn has_gaps(&self) -> bool {
        !self.entries().not_run.is_empty()
    }

    fn json(&self) -> Value {
        let entries = self.entries();
        let counts: serde_json::Map<String, Value> =
            entries.counts.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
        json!({
            "part": self.name, "proves": self.proves, "seconds": entries.seconds, "counts": counts,
            "notes": entries.notes, "failed": entries.failed, "failures": entries.failures, "not_run": entries.not_run,
        })
    }
}

/// The whole run.
pub struct Report<'a> {
    pub date: String,
    pub command: String,
    pub machine: String,
    pub seconds: f64,
    pub sheets: &'a [Sheet],
}

impl Report<'_> {
    pub fn markdown(&self) -> String {
        let mut text = format!("# Faults on the real disk, {}\n\n", self.date);
        let _ = writeln!(text, "`{}`; {}; {:.0} s in all.\n", self.command, self.machine, self.seconds);
        text.push_str("| part | what it proves | counts | failed | s |\n|---|---|---|---|---|\n");
        for sheet in self.sheets {
            let entries = sheet.entries();
            let counts: Vec<String> = entries.counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {:.0} |",
                sheet.name,
                sheet.proves,
                counts.join(", "),
                entries.failed,
                entries.seconds
            );
        }
        type Lines = fn(&Entries) -> &[String];
        let sections: [(&str, Lines); 3] = [
            ("Not run", |entries| &entries.not_run),
            ("Failed", |entries| &entries.failures),
            ("Measured", |entries| &entries.notes),
        ];
        for (title, lines) in sections {
            let mut section = String::new();
            for sheet in self.sheets {
                for line in lines(&sheet.entries()) {
                    let _ = writeln!(section, "- {}: {line}", sheet.name);
                }
            }
            if !section.is_empty() {
                let _ = write!(text, "\n## {title}\n\n{section}");
            }
        }
        text
    }

    /// Writes `stem.md` and `stem.json`.
    pub fn write(&self, stem: &Path) -> Result<()> {
        if let Some(folder) = stem.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let parts: Vec<Value> = self.sheets.iter().map(Sheet::json).collect();
        let record = json!({
            "date": self.date, "command": self.command, "machine": self.machine, "seconds": self.seconds,
            "parts": parts,
        });
        let name = |ending: &str| {
            let mut name = stem.as_os_str().to_owned();
            name.push(ending);
            name
        };
        std::fs::write(name(".json"), serde_json::to_string_pretty(&record)? + "\n")?;
        std::fs::write(name(".md"), self.markdown())?;
        Ok(())
    }
}
