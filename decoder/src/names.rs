//! Names as users write them: patterns, and the spellings of Mesa's headers.

/// Whether `text` is a pattern: it has a `*` or a `?`.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Whether `name` matches `pattern`, in any case; `*` is any text, `?` any character.
pub fn fits(pattern: &str, name: &str) -> bool {
    matches(pattern.as_bytes(), name.as_bytes(), |a, b| a.eq_ignore_ascii_case(&b))
}

/// As [`fits`], but the case counts.
pub fn fits_exactly(pattern: &str, name: &str) -> bool {
    matches(pattern.as_bytes(), name.as_bytes(), |a, b| a == b)
}

/// Most bytes of a pattern: many times those of any name. A longer one fits nothing.
const MAX_PATTERN: usize = 1 << 10;

fn matches(pattern: &[u8], name: &[u8], same: impl Fn(u8, u8) -> bool) -> bool {
    if pattern.len() > MAX_PATTERN {
        return false;
    }
    // The place of the last `*`, and the part of the name that it matches so far.
    let (mut star, mut taken) = (None, 0);
    let (mut p, mut n) = (0, 0);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                (star, taken) = (Some(p), n);
                p += 1;
            }
            Some(&byte) if byte == b'?' || same(byte, name[n]) => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some(at) => {
                    taken += 1;
                    (p, n) = (at + 1, taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_takes_as_much_as_it_must() {
        for (pattern, name, fit) in [
            ("*", "", true),
            ("A*B*C", "AxBxBxC", true),
            ("A*B*C", "AxCxB", false),
            ("?", "", false),
            ("**a", "A", true),
            ("A", "AB", false),
        ] {
            assert_eq!(fits(pattern, name), fit, "{pattern} {name}");
        }
        assert!(!fits_exactly("**a", "A") && fits_exactly("*A", "A"));
    }
}
