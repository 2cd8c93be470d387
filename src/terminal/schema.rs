//! Reports as JSON: their names, and their schemas, made from the types that are printed.
//!
//! # Invariants
//! 1. In the schema of a report, an object allows only the fields of its type, and requires those
//!    that are always printed.
//! 2. Fields are in the order in which they are printed.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A report with its schema, which JSON.md describes.
#[derive(Serialize)]
pub struct Tagged<'a, T> {
    /// Name and version.
    pub schema: &'a str,
    /// The report.
    #[serde(flatten)]
    pub report: &'a T,
}

/// Returns a value as JSON on one line, after the name and version of its schema.
pub fn tagged(schema: &str, report: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(&Tagged { schema, report })
}

/// Makes the schema of a type.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// Returns the schema of a report: of its shape, or of one of several.
pub fn of(name: &str, shapes: &[Shape]) -> Value {
    let mut whole = Map::from_iter([
        ("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), json!(name)),
    ]);
    let closed = |shape: &Shape| {
        let mut schema = named(name, *shape);
        close(&mut schema, true);
        schema
    };
    match shapes {
        [shape] => whole.extend(closed(shape).as_object().cloned().unwrap_or_default()),
        _ => {
            whole.insert("oneOf".to_owned(), shapes.iter().map(closed).collect());
        }
    }
    Value::Object(whole)
}

/// Returns the schema of a type.
pub fn plain(shape: Shape) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    let mut schema = shape(&mut settings.into_generator());
    // The line breaks of a comment are those of the source.
    RecursiveTransform(|schema: &mut Schema| {
        let text = schema.get("description").and_then(Value::as_str).map(unbroken);
        text.map(|text| schema.insert("description".to_owned(), text.into()));
        // Client generators understand a list of names, but not alternatives of constants.
        if let Some(names) = schema.get("oneOf").and_then(names) {
            schema.remove("oneOf");
            schema.insert("type".to_owned(), "string".into());
            schema.insert("enum".to_owned(), names.into());
        }
        let required = schema.get("required").cloned().unwrap_or_default();
        let always = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|one| one == name));
        if let Some(Value::Object(fields)) = schema.get_mut("properties") {
            fields.iter_mut().filter(|(name, _)| !always(name)).for_each(|(_, field)| forbid_null(field));
        }
    })
    .transform(&mut schema);
    schema.to_value()
}

/// Returns the texts of alternatives that each allow only one.
fn names(choices: &Value) -> Option<Vec<Value>> {
    let of_choice = |choice: &Value| match choice.get("const") {
        Some(name) => Some(vec![name.clone()]),
        None => choice.get("enum")?.as_array().cloned(),
    };
    let names: Vec<Value> = choices.as_array()?.iter().map(of_choice).collect::<Option<Vec<_>>>()?.concat();
    names.iter().all(Value::is_string).then_some(names)
}

/// Forbids null for a field that is left out instead.
fn forbid_null(field: &mut Value) {
    for keyword in ["type", "anyOf", "enum"] {
        if let Some(Value::Array(choices)) = field.get_mut(keyword) {
            choices.retain(|choice| choice != "null" && !choice.is_null() && choice["type"] != "null");
        }
    }
}

/// Returns paragraphs without the line breaks in them.
fn unbroken(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}

/// Returns the schema of a type that is printed after the name of the report.
pub fn named(name: &str, shape: Shape) -> Value {
    let mut schema = plain(shape);
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.shift_insert(0, "schema".to_owned(), json!({ "const": name, "description": "Name and version." }));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, json!("schema"));
    }
    schema
}

/// Forbids fields that an object does not list, everywhere below `schema`. Alternatives of an
/// object with its own fields are parts of it and cannot forbid the others.
fn close(schema: &mut Value, whole: bool) {
    let Value::Object(keywords) = schema else { return };
    let has_fields = keywords.contains_key("properties");
    for (keyword, below) in keywords.iter_mut() {
        match (keyword.as_str(), below) {
            ("properties", Value::Object(fields)) => fields.values_mut().for_each(|field| close(field, true)),
            ("items" | "additionalProperties", below) => close(below, true),
            ("prefixItems", Value::Array(places)) => places.iter_mut().for_each(|place| close(place, true)),
            ("oneOf" | "anyOf", Value::Array(parts)) => parts.iter_mut().for_each(|part| close(part, !has_fields)),
            _ => {}
        }
    }
    let has_parts = keywords.contains_key("oneOf") || keywords.contains_key("anyOf");
    if has_fields && whole {
        let keyword = if has_parts { "unevaluatedProperties" } else { "additionalProperties" };
        keywords.insert(keyword.to_owned(), json!(false));
    }
}
