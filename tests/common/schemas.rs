//! JSON compared with its schemas.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Adds the paths of all fields below `value`; `[]` stands for the elements of a list.
pub fn paths(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                paths(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| paths(value, &format!("{at}[]"), found)),
        _ => {}
    }
}

/// Compiles schemas for the validator.
pub fn compiled(shipped: &[(String, Value)]) -> (Schemas, BTreeMap<String, SchemaIndex>) {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    let place = |name: &str| format!("https://trinim.invalid/{name}");
    for (name, schema) in shipped {
        compiler.add_resource(&place(name), schema.clone()).unwrap();
    }
    let index = shipped.iter().map(|(name, _)| (name.clone(), compiler.compile(&place(name), &mut schemas).unwrap()));
    let index = index.collect();
    (schemas, index)
}

/// Client generators turn alternatives of constants into classes, but a list of names into an enum.
pub fn has_plain_names(schema: &Value) -> bool {
    let is_name = |choice: &Value| choice["const"].is_string();
    match schema {
        Value::Array(parts) => parts.iter().all(has_plain_names),
        Value::Object(parts) => {
            let alternatives =
                ["oneOf", "anyOf"].iter().filter_map(|keyword| parts.get(*keyword)?.as_array()).flatten();
            !alternatives.into_iter().any(is_name) && parts.values().all(has_plain_names)
        }
        _ => true,
    }
}
