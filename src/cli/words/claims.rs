//! A claim of a paper with its verdict, as text.

use crate::cli::face::output::{Out, wrapped};
use std::io::Write;
use trinim::claims::{Claim, Verdict};

/// Width of the text, in columns.
const COLUMNS: usize = 80;

/// Prints one claim: place and verdict, then the claim, the printed and the computed value.
pub fn print(claim: &Claim, out: &mut Out) -> anyhow::Result<()> {
    let verdict = match claim.verdict {
        Verdict::Agrees => out.paint.good(claim.verdict.name()),
        Verdict::Contradicted => out.paint.bad(claim.verdict.name()),
        Verdict::Misprint => out.paint.mark(claim.verdict.name()),
        Verdict::Undecided => out.paint.faint(claim.verdict.name()),
    };
    writeln!(out, "{}: {verdict}", claim.place)?;
    let rows =
        [("claim", &claim.claim), ("printed", &claim.printed), ("computed", &claim.computed), ("why", &claim.reason)];
    for (label, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        let line = format!("  {}{:width$}  {text}", out.paint.faint(label), "", width = 8 - label.len());
        writeln!(out, "{}", wrapped(&line, COLUMNS))?;
    }
    writeln!(out)?;
    Ok(())
}
