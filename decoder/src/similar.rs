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
    let letters = text.chars().count();
    let rated = names.map(|name| (likeness((&text, letters), &part(&name).to_ascii_uppercase()), name));
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

/// Likeness of a text, with its number of letters, and a name: from 0 to 1 (equal). A part of a name counts more
/// than most similar spellings.
fn likeness((text, letters): (&str, usize), name: &str) -> f64 {
    const PART: f64 = 0.9;
    // The time of a comparison is the product of the lengths, and names of other lengths are not near.
    let length = name.chars().count();
    let is_near = letters.min(length) as f64 >= NEAR * letters.max(length) as f64;
    let spelled = if is_near { strsim::normalized_damerau_levenshtein(text, name) } else { 0.0 };
    let is_part = letters >= 3 && name.contains(text);
    if is_part { spelled.max(PART) } else { spelled }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A comparison of each with the long text would take minutes.
    #[test]
    fn a_long_text_is_like_nothing() {
        let names = || ["CP_NOP".to_owned()].into_iter();
        assert_eq!([near("CP_NOB", names()), near("NOP", names())].concat(), ["`CP_NOP`"; 2]);
        let start = Instant::now();
        assert!(near(&"CP_NOP".repeat(10_000), (0..100_000).flat_map(|_| names())).is_empty());
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}
