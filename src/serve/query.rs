//! Parses the part of a URL after `?`.

use std::fmt::Display;
use std::str::FromStr;

use anyhow::{Context, anyhow};
use percent_encoding::percent_decode_str;

/// The parameters of a query: names and values, in order.
pub struct Query(Vec<(String, String)>);

/// Decodes percent-encoded text.
///
/// # Errors
/// The call fails if the result is not UTF-8.
pub fn decoded(text: &str) -> anyhow::Result<String> {
    let text = percent_decode_str(text).decode_utf8().context("the question is no UTF-8")?;
    Ok(text.into_owned())
}

impl Query {
    /// Parses `name=value&...`.
    ///
    /// # Errors
    /// The call fails if a value is not UTF-8.
    pub fn new(text: &str) -> anyhow::Result<Self> {
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        let decoded = pairs.map(|(name, value)| Ok((decoded(name)?, decoded(value)?)));
        Ok(Self(decoded.collect::<anyhow::Result<_>>()?))
    }

    /// All values of `name`.
    pub fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of `name`, if there is one.
    ///
    /// # Errors
    /// The call fails if the value cannot be parsed.
    pub fn get<T: FromStr<Err: Display>>(&self, name: &str) -> anyhow::Result<Option<T>> {
        let value = self.all(name).next();
        value.map(|value| value.parse().map_err(|why| anyhow!("{name}: {why}"))).transpose()
    }

    /// The value of `name`, which must exist.
    ///
    /// # Errors
    /// The call fails if there is no value, or if it cannot be parsed.
    pub fn needed<T: FromStr<Err: Display>>(&self, name: &str) -> anyhow::Result<T> {
        self.get(name)?.with_context(|| format!("{name} is needed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_name() {
        let query = Query::new("x=3&set=A%5B0%5D.B%3A1&set=C&y=q&%zz").expect("a query");
        assert_eq!(query.needed::<u32>("x").expect("a number"), 3);
        assert_eq!(query.all("set").collect::<Vec<_>>(), ["A[0].B:1", "C"]);
        assert_eq!(query.get::<u32>("z").expect("none"), None);
        let wrong = |name| query.needed::<u32>(name).expect_err("no number").to_string();
        assert_eq!(
            (wrong("y").as_str(), wrong("z").as_str()),
            ("y: invalid digit found in string", "z is needed")
        );
        assert!(Query::new("x=%ff").is_err());
    }
}
