//! docs/schema.md's tables as JSON Schema.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// Tables by object: path of a key, its type.
type Tables = BTreeMap<String, BTreeMap<String, String>>;

/// A name without what a pointer would have to escape: `replay --stats` is `replay-stats`.
fn name(object: &str) -> String {
    let words = object.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// The schema of all outputs.
pub fn of(tables: &Tables) -> Value {
    let definition = |(title, table): (&String, &BTreeMap<String, String>)| {
        let mut object = object(table, "");
        object["title"] = json!(title);
        if let Some(kind) = title.strip_prefix("jsonl ") {
            object["properties"]["kind"] = json!({ "const": kind });
        }
        (name(title), object)
    };
    let definitions: Map<String, Value> = tables.iter().map(definition).collect();
    let any: Vec<Value> =
        definitions.keys().map(|name| json!({ "$ref": format!("#/$defs/{name}") })).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "JSON that a4emu puts out",
        "anyOf": any,
        "$defs": definitions,
    })
}

/// The schema of `object` alone.
pub fn validator(schema: &Value, object: &str) -> Validator {
    let of_one = json!({ "$ref": format!("#/$defs/{}", name(object)), "$defs": schema["$defs"] });
    jsonschema::validator_for(&of_one).unwrap()
}

/// The object whose keys stand in the table behind `prefix`.
fn object(table: &BTreeMap<String, String>, prefix: &str) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for path in table.keys().filter_map(|path| path.strip_prefix(prefix)) {
        let key = path.split(['.', '[']).next().unwrap();
        if properties.contains_key(key) {
            continue;
        }
        let place = format!("{prefix}{key}");
        let ty = table.get(&place).map_or("object", String::as_str);
        if !ty.ends_with(", optional") {
            required.push(key);
        }
        properties.insert(key.to_owned(), value(table, &place, ty.trim_end_matches(", optional")));
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

/// What stands at `place`, which is of type `ty`.
fn value(table: &BTreeMap<String, String>, place: &str, ty: &str) -> Value {
    if let Some(items) = ty.strip_prefix("array of ") {
        return json!({ "type": "array", "items": value(table, &format!("{place}[]"), items) });
    }
    match ty {
        "object" => object(table, &format!("{place}.")),
        "map" => json!({ "type": "object" }),
        // JSON has no infinities and nothing for what is no number.
        "float" => json!({ "type": ["number", "null"] }),
        one if !one.contains(" or ") => json!({ "type": one }),
        several => {
            let each: Vec<Value> = several.split(" or ").map(|ty| value(table, place, ty)).collect();
            json!({ "anyOf": each })
        }
    }
}
