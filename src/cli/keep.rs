//! `--keep`: what a solve keeps.

use crate::job::KeepChoice;

pub fn parse(text: &str) -> Result<KeepChoice, String> {
    let text = text.to_lowercase();
    match text.as_str() {
        "book" => Ok(KeepChoice::Book),
        other => other.parse().map(KeepChoice::Exactly).map_err(|_| {
            format!("unknown value {text:?}: expected database, book, book:PIECES like book:37, or counts")
        }),
    }
}
