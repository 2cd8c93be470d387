//! A position that a request asks about.

use super::app::App;
use super::offer::Offer;
use super::problem::Problem;
use super::query::Query;
use std::sync::Arc;
use trinim::game::{Rule, position};

/// Parameters that name a board.
pub const BOARD: [&str; 2] = ["board", "rule"];

/// Returns the offer that the parameters name; the rule is misère unless it is given.
///
/// # Errors
/// [`Problem`] if the board is missing or not offered.
pub fn offer(app: &App, query: &Query) -> Result<Arc<Offer>, Problem> {
    let rule = query.parsed("rule", "normal or misere")?.unwrap_or(Rule::Misere);
    app.offers.find(query.required("board")?, rule).cloned()
}

/// Returns the offer and the position that the parameters name.
///
/// # Errors
/// [`Problem`] if one is missing, the board is not offered, or the position is not one of it.
pub fn position(app: &App, query: &Query) -> Result<(Arc<Offer>, u64), Problem> {
    let offer = offer(app, query)?;
    let text = query.required("p")?;
    let position = read(&offer, text)?;
    Ok((offer, position))
}

/// Reads a position of a board.
///
/// # Errors
/// [`Problem`] with the reason.
pub fn read(offer: &Offer, text: &str) -> Result<u64, Problem> {
    position::parse(offer.answers.board(), text).map_err(|error| {
        let reason: String = error.to_string().chars().take(200).collect();
        Problem::request(format!("not a position of {}: {reason}", offer.board))
    })
}
