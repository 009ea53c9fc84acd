//! Finds similar names, for messages about unknown ones.

/// Maximum number of similar names in a message.
const SUGGESTIONS: usize = 3;

/// Least likeness (0 to 1) of a suggested name.
const NEAR: f64 = 0.7;

/// The `names` most like `text`, in any case, the most similar first, each in quotes.
pub fn near(text: &str, names: impl Iterator<Item = String>) -> Vec<String> {
    near_by(text, names, |name| name)
}

/// As [`near`], where the likeness is that of a `part` of each name.
pub fn near_by(text: &str, names: impl Iterator<Item = String>, part: impl Fn(&str) -> &str) -> Vec<String> {
    let text = text.to_ascii_uppercase();
    let rated = names.map(|name| (likeness(&text, &part(&name).to_ascii_uppercase()), name));
    let mut near: Vec<(f64, String)> = rated.filter(|(likeness, _)| *likeness >= NEAR).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.dedup();
    near.into_iter().take(SUGGESTIONS).map(|(_, name)| format!("`{name}`")).collect()
}

/// What a message about an unknown name ends with: "; did you mean ...?" with the `near` names, or nothing.
pub fn hint(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}

/// Likeness of two names, from 0 to 1 (equal). A part of a name counts more than most similar spellings.
fn likeness(text: &str, name: &str) -> f64 {
    const PART: f64 = 0.9;
    let spelled = strsim::normalized_damerau_levenshtein(text, name);
    let is_part = text.len() >= 3 && name.contains(text);
    if is_part { spelled.max(PART) } else { spelled }
}
