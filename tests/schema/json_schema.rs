//! Converts the tables of docs/schema.md to JSON Schema.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// For each object: the paths of its keys, with types.
type Tables = BTreeMap<String, BTreeMap<String, String>>;

/// The name of an object without characters that a JSON pointer escapes: `replay --stats` becomes
/// `replay-stats`.
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

/// The schema of an object with the keys that follow `prefix` in the table.
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

/// The schema of the value at `place`, which has type `ty`.
fn value(table: &BTreeMap<String, String>, place: &str, ty: &str) -> Value {
    if let Some(items) = ty.strip_prefix("array of ") {
        return json!({ "type": "array", "items": value(table, &format!("{place}[]"), items) });
    }
    match ty {
        "object" => object(table, &format!("{place}.")),
        "map" => json!({ "type": "object" }),
        // JSON has no infinities and no NaN; they are null.
        "float" => json!({ "type": ["number", "null"] }),
        one if !one.contains(" or ") => json!({ "type": one }),
        several => {
            let each: Vec<Value> = several.split(" or ").map(|ty| value(table, place, ty)).collect();
            json!({ "anyOf": each })
        }
    }
}
