//! Lists the differences between the states of two draws, path by path.

use serde_json::{Map, Value};

/// Maximum number of lines of a draw.
const MAX_LINES: usize = 16;

/// Maximum number of characters of a value.
const MAX_TEXT: usize = 60;

/// Keys that differ in each draw, or that repeat another key.
const LEFT_OUT: &[&str] =
    &["draw", "frame_draw", "submit", "packet", "tile", "instructions", "bits", "floats"];

/// Keys that name an element of a list.
const NAMES: [&str; 3] = ["stage", "slot", "index"];

/// The differences between two states, as `path: before -> after`. Addresses are listed only if nothing else
/// differs.
pub fn changed(before: &Value, after: &Value) -> Vec<String> {
    let mut found = Found::default();
    found.compare("", [before, after]);
    let mut lines = if found.lines.is_empty() { found.addresses } else { found.lines };
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("and {more} more"));
    }
    lines
}

#[derive(Default)]
struct Found {
    lines: Vec<String>,
    addresses: Vec<String>,
}

impl Found {
    fn compare(&mut self, path: &str, [before, after]: [&Value; 2]) {
        match (before, after) {
            _ if before == after => {}
            (Value::Object(old), Value::Object(new)) => {
                let mut keys: Vec<&String> = new.keys().chain(old.keys()).collect();
                keys.sort();
                keys.dedup();
                for key in keys.into_iter().filter(|key| !LEFT_OUT.contains(&key.as_str())) {
                    let both = [old, new].map(|map| map.get(key).unwrap_or(&Value::Null));
                    self.compare(&below(path, key), both);
                }
            }
            (Value::Array(old), Value::Array(new)) => {
                for (index, both) in paired(old, new).into_iter().enumerate() {
                    self.compare(&element(path, index, both), both);
                }
            }
            _ if path.ends_with(".address") => self.addresses.push(line(path, before, after)),
            _ => self.lines.push(line(path, before, after)),
        }
    }
}

/// The elements of two lists in pairs: those with one name, such as the stage; without names, those at one place.
fn paired<'v>(old: &'v [Value], new: &'v [Value]) -> Vec<[&'v Value; 2]> {
    let name = |value: &'v Value| NAMES.into_iter().find_map(|key| value.get(key));
    let find = |list: &'v [Value], wanted: &'v Value| list.iter().find(|it| name(it) == name(wanted));
    if !old.iter().chain(new).all(|value| name(value).is_some()) {
        let at = |list: &'v [Value], index: usize| list.get(index).unwrap_or(&Value::Null);
        return (0..old.len().max(new.len())).map(|index| [at(old, index), at(new, index)]).collect();
    }
    let kept = new.iter().map(|it| [find(old, it).unwrap_or(&Value::Null), it]);
    let gone = old.iter().filter(|it| find(new, it).is_none()).map(|it| [it, &Value::Null]);
    kept.chain(gone).collect()
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// The path of a list element, with its stage, slot or index, or its position.
fn element(path: &str, index: usize, both: [&Value; 2]) -> String {
    let named = |key: &str| both.into_iter().rev().find_map(|value| value.get(key));
    match NAMES.into_iter().find_map(named) {
        Some(Value::String(name)) => format!("{path}[{name}]"),
        Some(number) => format!("{path}[{number}]"),
        None => format!("{path}[{index}]"),
    }
}

fn line(path: &str, before: &Value, after: &Value) -> String {
    format!("{path}: {} -> {}", text(before), text(after))
}

/// The text of a value whose path has its name.
fn text(value: &Value) -> String {
    let text = match value {
        Value::Object(map) => object_text(map, &NAMES),
        _ => whole_text(value),
    };
    match text.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The value in words: `none`, `a b c` for a list, `key value, key value` for an object, without empty values, and `x value, y
/// value` for the components of a constant.
fn whole_text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(list) => list.iter().map(whole_text).collect::<Vec<_>>().join(" "),
        Value::Object(map) => object_text(map, &[]),
    }
}

/// An object in words, without the keys of `named`.
fn object_text(map: &Map<String, Value>, named: &[&str]) -> String {
    let pairs: Vec<(&str, &Value)> = match (map.get("components"), map.get("values")) {
        (Some(Value::String(components)), Some(Value::Array(values))) => ["x", "y", "z", "w"]
            .into_iter()
            .zip(values)
            .filter(|(name, _)| components.contains(name))
            .collect(),
        _ => map.iter().map(|(key, value)| (key.as_str(), value)).collect(),
    };
    let shown = pairs.into_iter().filter(|(key, _)| !LEFT_OUT.contains(key) && !named.contains(key));
    let texts = shown.map(|(key, value)| (key, whole_text(value))).filter(|(_, text)| !text.is_empty());
    texts.map(|(key, text)| format!("{key} {text}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_say_what_changed() {
        let before = json!({"draw": 1, "depth": {"func": "LESS"}, "shaders": [{"stage": "VS", "hash": "a"}]});
        let after =
            json!({"draw": 2, "depth": {"func": "ALWAYS"}, "shaders": [{"stage": "VS", "hash": "b"}]});
        assert_eq!(changed(&before, &after), ["depth.func: LESS -> ALWAYS", "shaders[VS].hash: a -> b"]);
        assert!(changed(&before, &before).is_empty());
        let constant = json!({"constants": [{"components": "xy", "values": ["0.5", "1.0"], "bits": [1, 2], "buffers": []}]});
        let added = "constants[0]: none -> x 0.5, y 1.0";
        assert_eq!(changed(&json!({"constants": []}), &constant), [added]);
    }

    #[test]
    fn stages_and_constants_are_paired_by_their_names() {
        let of = |stages: &[(&str, u32)]| {
            let stages = stages.iter().map(|(stage, value)| {
                json!({"stage": stage, "constants": [{"index": 4, "values": [value.to_string()]}]})
            });
            json!({"shaders": stages.collect::<Vec<_>>()})
        };
        let (plain, tessellated) = (of(&[("VS", 1), ("FS", 2)]), of(&[("VS", 1), ("HS", 7), ("FS", 3)]));
        let lines = changed(&plain, &tessellated);
        let added = "shaders[HS]: none -> constants index 4, values 7";
        assert_eq!(lines, [added, "shaders[FS].constants[4].values[0]: 2 -> 3"]);
        assert!(changed(&tessellated, &plain).last().is_some_and(|line| line.starts_with("shaders[HS]: ")));
    }

    #[test]
    fn addresses_count_where_nothing_else_does() {
        let of = |address: u32, count: u32| json!({"count": count, "indices": {"address": address}});
        assert_eq!(changed(&of(1, 3), &of(2, 3)), ["indices.address: 1 -> 2"]);
        assert_eq!(changed(&of(1, 3), &of(2, 4)), ["count: 3 -> 4"]);
    }
}
