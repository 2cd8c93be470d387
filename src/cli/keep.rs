//! `--keep` and `--audit`: what a solve keeps, and how it is audited.

use crate::database::Audit;
use crate::job::KeepChoice;

pub fn parse(text: &str) -> Result<KeepChoice, String> {
    let text = text.to_lowercase();
    match text.as_str() {
        "book" => Ok(KeepChoice::Book),
        other => other.parse().map(KeepChoice::Exactly).map_err(|_| {
            format!("{text:?} is nothing to keep: expected database, book, book:PIECES like book:37, or counts")
        }),
    }
}

/// An audit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditChoice(pub Option<Audit>);

pub fn parse_audit(text: &str) -> Result<AuditChoice, String> {
    match text {
        "0" => Ok(AuditChoice(None)),
        other => other.parse().map(|audit| AuditChoice(Some(audit))).map_err(|_| {
            let most = Audit::MOST;
            format!(
                "{text:?} is no audit: expected all, or positions a block, 0 to {most}, and perhaps a seed, like 1000:7"
            )
        }),
    }
}
