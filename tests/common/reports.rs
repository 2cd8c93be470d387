//! The output of `--json`: every output is valid by its schema, every field of a schema is in some
//! output, and JSON.md is made from the schemas.

use super::program::{ends, run};
use super::schemas::{compiled, has_plain_names, paths};
use super::scratch;
use boon::{SchemaIndex, Schemas};
use page::{rows, schemas, section};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[path = "../../tools/src/bin/readme/json.rs"]
mod page;

/// The names of all reports with their schemas, as the program prints them.
pub fn shipped() -> Vec<(String, Value)> {
    let folder = scratch();
    schemas(|args| ends(folder.path(), 0, args).0)
}

/// Reads the objects that a command printed: one, or one on each line.
fn objects(out: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(out).into_iter::<Value>().map(|value| value.unwrap()).collect()
}

/// Fields of valid outputs, by schema.
pub struct ReportFields {
    shipped: Vec<(String, Value)>,
    fields: BTreeMap<String, BTreeSet<String>>,
    schemas: Schemas,
    index: BTreeMap<String, SchemaIndex>,
}

impl ReportFields {
    pub fn new() -> ReportFields {
        let shipped = shipped();
        let odd = shipped.iter().find(|(_, schema)| !has_plain_names(schema));
        assert_eq!(odd.map(|(name, _)| name), None, "alternatives of constants");
        let (schemas, index) = compiled(&shipped);
        ReportFields { shipped, fields: BTreeMap::new(), schemas, index }
    }

    pub fn add(&mut self, out: &str, about: &str) {
        let objects = objects(out);
        assert!(!objects.is_empty(), "{about} printed no JSON");
        for object in objects {
            let (first, name) = object.as_object().and_then(|fields| fields.iter().next()).unwrap();
            assert_eq!(first, "schema", "{about}: {out}");
            let name = name.as_str().unwrap();
            let index = self.index.get(name).unwrap_or_else(|| panic!("{about}: no schema is named {name}"));
            if let Err(error) = self.schemas.validate(&object, *index) {
                panic!("{about}: {error:#}\n{object}");
            }
            paths(&object, "", self.fields.entry(name.to_owned()).or_default());
        }
    }

    pub fn run(&mut self, folder: &Path, code: i32, args: &[&str]) {
        let (found, out, error) = run(folder, args);
        assert_eq!(found, code, "{args:?}\n{out}\n{error}");
        self.add(&out, &args.join(" "));
    }

    /// Compares the printed fields with all fields of the schemas, except for `rare` ones: reports
    /// with a field, or with a field and those below it.
    pub fn assert_all_printed(&self, rare: &[(&str, &str)]) {
        let mut missing = Vec::new();
        for (name, schema) in &self.shipped {
            let seen = self.fields.get(name).cloned().unwrap_or_default();
            let unseen = rows(schema).into_iter().map(|row| row.path).filter(|path| !seen.contains(path));
            missing.extend(unseen.map(|path| (name.clone(), path)));
        }
        let is = |path: &str, rare: &str| path == rare || rare.ends_with('.') && path.starts_with(rare);
        missing.retain(|(name, path)| !rare.iter().any(|(of, rare)| of == name && is(path, rare)));
        assert!(missing.is_empty(), "never printed: {missing:#?}");
    }
}

/// Compares the sections of JSON.md, a page, with the reports of the program.
pub fn assert_page(page: &str, is_ours: impl Fn(&str) -> bool) {
    let shipped = shipped();
    for (name, schema) in &shipped {
        let section = section(name, schema);
        assert!(page.contains(&section), "cargo run -p tools --bin readme -- JSON.md writes it anew: {section}");
    }
    let names = page.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'));
    for name in names.filter(|name| is_ours(name)) {
        assert!(shipped.iter().any(|(known, _)| known == name), "{name} is not a report");
    }
}
