//! `trinim-plane claims`: the claims of the paper, with verdicts.

use super::{Exit, Out, json};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use trinim_game::claims::{Claim, Verdict};
use trinim_plane::claims::{self, Effort};

const EXAMPLES: &str = "\
Examples:
  trinim-plane claims
  trinim-plane claims --long --json

Every theorem, table, example and number of [Ver10] that the available text still has, with the printed value, the \
computed one and a verdict: agrees, contradicted, misprint (the paper itself shows what was meant), undecided. The \
exit code is 1 if a claim is contradicted or misprinted, as some are.";

/// Columns of a text beside its label.
const COLUMNS: usize = 68;

/// List every claim of the paper with a verdict; exit code 1 if one does not hold
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ClaimsArgs {
    /// Compute further: larger heaps, more random points, more digits; takes up to a minute
    #[arg(long)]
    long: bool,
}

/// What `trinim-plane claims` prints.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    paper: &'a str,
    /// Whether no claim is contradicted or misprinted: exit code 0.
    agrees: bool,
    verdicts: BTreeMap<&'a str, usize>,
    claims: &'a [Claim],
}

impl ClaimsArgs {
    pub fn run(self, as_json: bool, out: &mut Out) -> anyhow::Result<Exit> {
        let claims = claims::all(if self.long { Effort::LONG } else { Effort::QUICK });
        let count = |verdict: &Verdict| claims.iter().filter(|claim| claim.verdict == *verdict).count();
        let agrees = !claims.iter().any(Claim::is_refuted);
        if as_json {
            let verdicts = Verdict::ALL.iter().map(|verdict| (verdict.name(), count(verdict))).collect();
            let report = Report { ok: agrees, paper: "[Ver10]", agrees, verdicts, claims: &claims };
            json("trinim.plane.claims/1", &report, out)?;
        } else {
            claims.iter().try_for_each(|claim| print(claim, out))?;
            let [agree, contradicted, misprinted, undecided] = Verdict::ALL.each_ref().map(count);
            writeln!(
                out,
                "{} claims of [Ver10]: {agree} agree, {contradicted} contradicted, {misprinted} misprinted, {undecided} \
                 undecided",
                claims.len()
            )?;
        }
        Ok(Exit::from_check(agrees))
    }
}

/// Prints the place and the verdict, then the claim, the printed and the computed value.
fn print(claim: &Claim, out: &mut Out) -> io::Result<()> {
    writeln!(out, "{}: {}", claim.place, claim.verdict.name())?;
    let rows =
        [("claim", &claim.claim), ("printed", &claim.printed), ("computed", &claim.computed), ("why", &claim.reason)];
    for (label, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        let mut label = label;
        for line in wrapped(text) {
            writeln!(out, "  {label:8}  {line}")?;
            label = "";
        }
    }
    writeln!(out)
}

/// Breaks a text at spaces.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().filter(|line| line.chars().count() + word.chars().count() < COLUMNS);
        match line {
            Some(line) if !line.is_empty() => *line += &format!(" {word}"),
            Some(line) => line.push_str(word),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
