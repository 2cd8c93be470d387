//! Lists of a paper's claims, with verdicts: the form that all commands share.

use crate::cli::face::exit::Exit;
use crate::cli::face::output::{Out, counted, wrapped};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use trinim::claims::{Claim, Verdict};

/// Width of the text, in columns.
const COLUMNS: usize = 80;

/// The claims of a paper, with verdicts.
#[derive(Serialize, JsonSchema)]
pub struct Report<'a> {
    /// The same as `agrees`.
    ok: bool,
    /// The paper, like `[Ver10]`.
    paper: &'a str,
    /// Whether no claim is contradicted or misprinted: exit code 0.
    agrees: bool,
    /// Claims by verdict.
    verdicts: BTreeMap<&'static str, usize>,
    /// The claims, in the order of the paper.
    claims: &'a [Claim],
}

/// Prints the claims of a paper, as JSON under this schema or as text, and returns
/// [`Exit::Refuted`] if one of them does not hold.
pub fn report(schema: &str, paper: &str, claims: &[Claim], json: bool, out: &mut Out) -> anyhow::Result<Exit> {
    let agrees = !claims.iter().any(Claim::is_refuted);
    let count = |verdict: &Verdict| claims.iter().filter(|claim| claim.verdict == *verdict).count();
    if json {
        let verdicts = Verdict::ALL.iter().map(|verdict| (verdict.name(), count(verdict))).collect();
        out.json(schema, &Report { ok: agrees, paper, agrees, verdicts, claims })?;
    } else {
        for claim in claims {
            print(claim, out)?;
        }
        let [agree, contradicted, misprinted, undecided] = Verdict::ALL.each_ref().map(count);
        writeln!(
            out,
            "{} of {paper}: {agree} agree, {contradicted} contradicted, {misprinted} misprinted, {undecided} undecided",
            counted(claims.len() as u64, "claim")
        )?;
    }
    Ok(if agrees { Exit::Done } else { Exit::Refuted })
}

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
