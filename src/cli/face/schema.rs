//! Reports as JSON: their names, and their schemas, made from the types that are printed.
//!
//! # Invariants
//! 1. An object allows the fields of its type alone, and requires those that are always printed.
//! 2. Fields are in the order in which they are printed.

use schemars::generate::SchemaSettings;
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

/// Returns a report with its fields in the order of their names, at every depth.
///
/// # Errors
/// Those of the serializer.
pub fn sorted(report: &impl Serialize) -> serde_json::Result<Value> {
    let mut value = serde_json::to_value(report)?;
    value.sort_all_objects();
    Ok(value)
}

/// Makes the schema of a type.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// Returns the schema of a report: of its shape, or of one of several.
pub fn of(name: &str, shapes: &[Shape]) -> Value {
    let mut whole = Map::from_iter([
        ("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), json!(name)),
    ]);
    match shapes {
        [shape] => whole.extend(closed(name, *shape)),
        _ => {
            let shapes = shapes.iter().map(|shape| Value::Object(closed(name, *shape)));
            whole.insert("oneOf".to_owned(), shapes.collect());
        }
    }
    Value::Object(whole)
}

/// Returns the schema of a type whose first field names the report, without any other field.
pub fn closed(name: &str, shape: Shape) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    let mut schema = shape(&mut settings.into_generator()).to_value();
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.shift_insert(0, "schema".to_owned(), json!({ "const": name, "description": "Name and version." }));
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.insert(0, json!("schema"));
    }
    close(&mut schema, true);
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// Forbids fields that an object does not list, in all that is below `schema`. The alternatives of
/// an object with fields of its own are parts of it, which cannot forbid the others.
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
