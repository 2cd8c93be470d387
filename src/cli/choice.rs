//! Flags whose values are a library enum, with the names used in reports.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Returns the name of a value that clap reads by its name.
pub fn chosen(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Returns a parser for one of `values`, each with its name and its text for `--help`.
pub fn named<T>(values: &'static [(T, &'static str, &'static str)]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let shown: Vec<_> = values.iter().map(|(_, name, help)| PossibleValue::new(*name).help(*help)).collect();
    PossibleValuesParser::new(shown).try_map(move |text| {
        let found = values.iter().find(|(_, name, _)| name.eq_ignore_ascii_case(&text));
        found.map(|(value, ..)| *value).ok_or_else(|| format!("unknown value {text:?}"))
    })
}

/// Returns a parser of lower-case texts that suggests `names` but parses with `parse`.
pub fn offered<T>(
    names: impl IntoIterator<Item = impl Into<PossibleValue>>,
    parse: fn(&str) -> Result<T, String>,
) -> impl TypedValueParser<Value = T>
where
    T: Clone + Send + Sync + 'static,
{
    let names: Vec<PossibleValue> = names.into_iter().map(Into::into).collect();
    PossibleValuesParser::new(names).try_map(move |text| parse(&text.to_lowercase()))
}
