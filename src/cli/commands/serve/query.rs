//! Parameters of a request.

use super::problem::Problem;
use std::collections::BTreeMap;
use std::str::FromStr;

/// The parameters behind the `?`, each given once.
pub struct Query(BTreeMap<String, String>);

impl Query {
    /// Reads the parameters.
    ///
    /// # Errors
    /// [`Problem`] if one is none of the `known` ones or is given twice.
    pub fn read(text: Option<&str>, known: &[&str]) -> Result<Query, Problem> {
        let mut query = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(text.unwrap_or_default().as_bytes()) {
            if !known.contains(&&*name) {
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

    /// Returns a parameter that has to be given.
    ///
    /// # Errors
    /// [`Problem`] if it is not.
    pub fn required(&self, name: &str) -> Result<&str, Problem> {
        self.optional(name).ok_or_else(|| Problem::request(format!("the parameter {name} is missing")))
    }

    /// Returns a parameter that may be missing.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Parses a parameter that may be missing.
    ///
    /// # Errors
    /// [`Problem`] if it is given and not one of these.
    pub fn parsed<T: FromStr>(&self, name: &str, expected: &str) -> Result<Option<T>, Problem> {
        let wrong = |text: &str| Problem::request(format!("{name} {:?}: expected {expected}", short(text)));
        self.optional(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }
}

/// Returns the first characters of a text, for a message.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
