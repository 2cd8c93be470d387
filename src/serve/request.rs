//! A request, its parameters, and the answer to it.
//!
//! The parameters are parsed here and not by a derived extractor: each can occur once, and errors
//! name the parameter, its value and what is expected.

use crate::app::App;
use crate::offer::Offer;
use crate::origin::Access;
use crate::reply::{Problem, Tag, json_answer};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;
use terminal::values;
use trinim::game::Rule;
use trinim::game::position::{self, PositionError};
use trinim::play::transcript::board_identity;

/// Parameters that name a board.
pub const BOARD: [&str; 2] = ["board", "rule"];

/// A request without its body, which is all that an answer depends on.
pub struct ApiRequest {
    /// The state of the server.
    pub app: Arc<App>,
    /// The path, with its parameters.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// See [`Access`].
    pub may_solve: bool,
}

impl FromRequestParts<Arc<App>> for ApiRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<ApiRequest, Infallible> {
        let may_solve = parts.extensions.get::<Access>().is_some_and(|access| access.may_solve);
        let headers = std::mem::take(&mut parts.headers);
        Ok(ApiRequest { app: app.clone(), uri: parts.uri.clone(), headers, may_solve })
    }
}

impl ApiRequest {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`Problem`] if one is not in `known` or occurs twice.
    pub fn query(&self, known: &[&str]) -> Result<Query, Problem> {
        Query::read(self.uri.query(), known)
    }

    /// Answers with the result of a job: JSON, and whether the next answer is the same. With
    /// `is_kept`, such an answer has a tag, and a client that already has it gets status 304.
    ///
    /// # Errors
    /// Those of the job and of [`App::work`].
    pub async fn answer(
        &self,
        offer: &Arc<Offer>,
        is_kept: bool,
        job: impl FnOnce(&Offer) -> Result<(String, bool), Problem> + Send + 'static,
    ) -> Result<Response, Problem> {
        let tag = is_kept.then(|| Tag::new([&*offer.identity], &self.uri.to_string()));
        if let Some(response) = tag.as_ref().and_then(|tag| tag.not_modified(&self.headers)) {
            return Ok(response);
        }
        let offer = offer.clone();
        let (body, is_same) = self.app.work(move || job(&offer)).await?;
        let response = json_answer(body);
        Ok(match tag.filter(|_| is_same) {
            Some(tag) => tag.on(response),
            None => response,
        })
    }
}

/// The parameters after the `?`, each at most once.
pub struct Query(BTreeMap<String, String>);

impl Query {
    /// Parses the parameters.
    ///
    /// # Errors
    /// [`Problem`] if one is not in `known` or occurs twice. Where a board can be named, its
    /// identity can be given, too.
    pub fn read(text: Option<&str>, known: &[&str]) -> Result<Query, Problem> {
        let mut query = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(text.unwrap_or_default().as_bytes()) {
            if !(known.contains(&&*name) || name == "identity" && known.contains(&"board")) {
                let name: String = name.chars().take(40).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(Problem::request(format!("unknown parameter {name:?}: expected {known}")));
            }
            if let Some(twice) = query.insert(name.into_owned(), value.into_owned()) {
                return Err(Problem::request(format!("a parameter is given twice, first as {:?}", short(&twice))));
            }
        }
        Ok(Query(query))
    }

    /// Returns a required parameter.
    ///
    /// # Errors
    /// [`Problem`] if it is missing.
    pub fn required(&self, name: &str) -> Result<&str, Problem> {
        self.optional(name).ok_or_else(|| Problem::request(format!("the parameter {name} is missing")))
    }

    /// Returns an optional parameter.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Parses an optional parameter.
    ///
    /// # Errors
    /// [`Problem`] if it is given and not one of the `expected` values.
    pub fn parsed<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, Problem> {
        let wrong = |text: &str| Problem::request(format!("{name} {:?}: expected {expected}", short(text)));
        self.optional(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }

    /// Returns the seed, if given.
    ///
    /// # Errors
    /// [`Problem`] if it is not a number, or larger than every client can represent exactly.
    pub fn seed(&self) -> Result<Option<u64>, Problem> {
        let read = |text: &str| values::seed(text).map_err(|error| Problem::request(format!("seed: {error}")));
        self.optional("seed").map(read).transpose()
    }

    /// Returns the offer that the parameters name; the default rule is misère.
    ///
    /// # Errors
    /// [`Problem`] if the board is missing, not offered, or not the one that the request means.
    pub fn offer(&self, app: &App) -> Result<Arc<Offer>, Problem> {
        let rule = self.parsed("rule", "normal or misere")?.unwrap_or(Rule::Misere);
        let offer = app.offers.find(self.required("board")?, rule)?;
        if self
            .optional("identity")
            .is_some_and(|meant| board_identity(offer.answers.board()).as_deref() != Some(meant))
        {
            return Err(Problem::missing(format!("{} is a different board here: see /v1/boards", offer.board)));
        }
        Ok(offer.clone())
    }

    /// Returns the offer and the position that the parameters name.
    ///
    /// # Errors
    /// [`Problem`] if one is missing, the board is not offered, or the position is not on it.
    pub fn position(&self, app: &App) -> Result<(Arc<Offer>, u64), Problem> {
        let offer = self.offer(app)?;
        let position = read(&offer, self.required("p")?)?;
        Ok((offer, position))
    }
}

/// Reads a position of a board.
///
/// # Errors
/// [`Problem`] with the reason: 400 for text that is not a position of any board, 404 for a
/// position of another board.
pub fn read(offer: &Offer, text: &str) -> Result<u64, Problem> {
    position::parse(offer.answers.board(), text).map_err(|error| {
        let reason: String = error.to_string().chars().take(200).collect();
        let status = match error {
            PositionError::Character { .. } | PositionError::Ambiguous { .. } | PositionError::Number { .. } => {
                StatusCode::BAD_REQUEST
            }
            _ => StatusCode::NOT_FOUND,
        };
        Problem::with(status, format!("not a position of {}: {reason}", offer.board))
    })
}

/// Returns the first characters of a text, for a message.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
