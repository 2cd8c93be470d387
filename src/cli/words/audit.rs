//! `--audit`: how a solve is audited.

use trinim::database::Audit;

/// An audit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditChoice(pub Option<Audit>);

/// Reads a choice.
pub fn parse(text: &str) -> Result<AuditChoice, String> {
    match text {
        "0" => Ok(AuditChoice(None)),
        other => other.parse().map(|audit| AuditChoice(Some(audit))).map_err(|_| {
            let most = Audit::MOST;
            format!("{text:?} is no audit: expected positions a block, 0 to {most}, and perhaps a seed, like 1000:7")
        }),
    }
}
