//! JSON.md: the output of the command `schema` of each program as a page with tables.

use serde_json::Value;

/// Width of prose, in columns.
const COLUMNS: usize = 100;

/// A field, at its place in the report.
pub struct Row {
    /// Names of the fields that lead to it; `[]` stands for the elements of a list.
    pub path: String,
    kind: String,
    text: String,
    /// Whether every report of this shape has it.
    always: bool,
    /// Values of the tag of the objects that have it.
    tags: Vec<String>,
}

/// Returns the names of all reports with their schemas; `run` runs the program.
pub fn schemas(run: impl Fn(&[&str]) -> String) -> Vec<(String, Value)> {
    let schema = |name: &str| serde_json::from_str(&run(&["schema", name])).unwrap_or_default();
    run(&["schema"]).lines().map(|name| (name.to_owned(), schema(name))).collect()
}

/// Writes the page below the introduction of `page`.
pub fn written(page: &str, schemas: &[(String, Value)]) -> String {
    let introduction = page.find("\n## `").map_or(page, |end| &page[..=end]);
    let sections = schemas.iter().map(|(name, schema)| section(name, schema));
    format!("{}\n{}", introduction.trim_end_matches('\n').to_owned() + "\n", sections.collect::<Vec<_>>().join("\n"))
}

/// Returns the section of a report.
pub fn section(name: &str, schema: &Value) -> String {
    let mut text = format!("## `{name}`\n");
    for shape in shapes(schema) {
        for paragraph in description(shape).split("\n\n").filter(|text| !text.is_empty()) {
            text += &format!("\n{}", wrapped(paragraph));
        }
    }
    text += "\n| field | type, unit | meaning |\n|---|---|---|\n";
    for Row { path, kind, text: meaning, always, tags } in rows(schema) {
        let absent = if always || !tags.is_empty() { "" } else { ", or absent" };
        let tags = if tags.is_empty() { String::new() } else { format!("*{}:* ", tags.join(", ")) };
        text += &format!("| `{path}` | {kind}{absent} | {tags}{meaning} |\n");
    }
    text
}

/// Returns the shapes of a report: itself, or its alternatives.
fn shapes(schema: &Value) -> Vec<&Value> {
    match &schema["oneOf"] {
        Value::Array(shapes) if schema["properties"].is_null() => shapes.iter().collect(),
        _ => vec![schema],
    }
}

/// Returns all fields of a report, in the order in which they are printed.
pub fn rows(schema: &Value) -> Vec<Row> {
    let (mut rows, shapes) = (Vec::new(), shapes(schema));
    for shape in &shapes {
        fields(shape, "", None, &mut rows);
    }
    let in_all = |row: &Row| shapes.iter().all(|shape| !shape["properties"][&row.path].is_null());
    for row in rows.iter_mut().filter(|row| !row.path.contains('.') && row.tags.is_empty()) {
        row.always &= shapes.len() == 1 || in_all(row);
    }
    rows
}

/// Adds the fields of an object.
fn fields(object: &Value, prefix: &str, tag: Option<&str>, rows: &mut Vec<Row>) {
    let required = |name: &str| object["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    for (name, field) in object["properties"].as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        let is_tag = tag.is_some_and(|tag| field["const"] == tag);
        let tags: Vec<String> = tag.filter(|_| !is_tag).map(|tag| format!("`{tag}`")).into_iter().collect();
        let about = |tag: &str| format!("`{tag}`: {}", flat(description(object)));
        let text = tag.filter(|_| is_tag).map_or_else(|| flat(description(field)), about);
        match rows.iter_mut().find(|row| row.path == path) {
            Some(row) if is_tag => {
                row.kind = "string".to_owned();
                row.text = format!("{} {text}", row.text);
            }
            Some(row) => row.tags.extend(tags),
            None => rows.push(Row { kind: kind(field, name), text, always: required(name), tags, path: path.clone() }),
        }
        inner(field, &path, rows);
    }
    for part in parts(object) {
        let tag = part["properties"].as_object().into_iter().flatten().find_map(|(_, field)| field["const"].as_str());
        fields(part, prefix, tag, rows);
    }
}

/// Adds the fields below a field.
fn inner(field: &Value, path: &str, rows: &mut Vec<Row>) {
    if field["properties"].is_object() {
        fields(field, &format!("{path}."), None, rows);
    } else {
        parts(field).iter().for_each(|part| inner(part, path, rows));
    }
    if field["items"].is_object() {
        inner(&field["items"], &format!("{path}[]"), rows);
    }
}

fn parts(schema: &Value) -> Vec<&Value> {
    ["oneOf", "anyOf"].iter().filter_map(|keyword| schema[keyword].as_array()).flatten().collect()
}

/// Names the type of a field, with its unit.
fn kind(field: &Value, name: &str) -> String {
    let units = [
        ("bytes_per_second", "bytes a second"),
        ("per_second", "a second"),
        ("bytes", "bytes"),
        ("ns_per_position", "nanoseconds"),
        ("_s", "seconds"),
        ("_s_ago", "seconds"),
        ("seconds", "seconds"),
    ];
    let kind = typed(field);
    let unit = units.iter().find(|(end, _)| name.ends_with(end) || name.contains("bytes") && *end == "bytes");
    match unit.filter(|_| kind.starts_with("integer") || kind.starts_with("number")) {
        Some((_, unit)) => format!("{kind}, {unit}"),
        None => kind,
    }
}

fn typed(schema: &Value) -> String {
    let mut all = values(schema);
    let null = all.iter().any(|one| one == "null");
    all.retain(|one| one != "null");
    all.dedup();
    if all.is_empty() {
        all.push("any".to_owned());
    }
    all.extend(null.then(|| "null".to_owned()));
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => all.concat(),
    }
}

/// Lists the types of a field, or its values where they are known.
fn values(schema: &Value) -> Vec<String> {
    let coded = |value: &Value| value.as_str().map_or("null".to_owned(), |value| format!("`{value}`"));
    let parts = parts(schema);
    if !parts.is_empty() && !schema["properties"].is_object() {
        return parts.into_iter().flat_map(values).collect();
    }
    if let Some(value) = schema.get("const") {
        return vec![coded(value)];
    }
    if let Value::Array(values) = &schema["enum"] {
        return values.iter().map(coded).collect();
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect::<Vec<_>>(),
    };
    let named = |name| match name {
        "array" => match &schema["items"] {
            items @ Value::Object(_) => format!("list of {}", plural(&typed(items))),
            _ => format!("list of {}", plural(&typed(&schema["prefixItems"][0]))),
        },
        "object" => {
            let below = |keyword: &str| schema[keyword].as_object().filter(|below| !below.is_empty());
            let any = below("patternProperties").and_then(|below| below.values().next());
            match any.or_else(|| schema.get("additionalProperties").filter(|below| below.is_object())) {
                Some(below) if schema["properties"].is_null() => format!("object of {}", plural(&typed(below))),
                _ => "object".to_owned(),
            }
        }
        name => name.to_owned(),
    };
    types.into_iter().map(named).collect()
}

fn plural(kind: &str) -> String {
    match kind.split_once(' ') {
        Some((first, rest)) if !kind.starts_with('`') => format!("{first}s {rest}"),
        None if !kind.starts_with('`') => format!("{kind}s"),
        _ => kind.to_owned(),
    }
}

fn description(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            lines += &(std::mem::take(&mut line) + "\n");
        }
        line += if line.is_empty() { "" } else { " " };
        line += word;
    }
    lines + &line + "\n"
}
