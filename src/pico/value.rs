//! Values of threads and uniforms as text.
use anyhow::{Context, bail};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// `0x3f800000`
    Hex,
    /// `1.0`
    F32,
    /// `-1`
    I32,
}

impl Form {
    /// `bits` as text that [`parse`] reads back.
    pub fn show(self, bits: u32) -> String {
        match self {
            Self::Hex => format!("{bits:#010x}"),
            Self::F32 => format!("{:?}", f32::from_bits(bits)),
            Self::I32 => (bits as i32).to_string(),
        }
    }
}

/// Parses `10` (an integer), `1.5` (a float) or `0x..` (bits). Returns the bits.
///
/// # Errors
/// The call fails if `text` is none of these, or does not fit 32 bits.
pub fn parse(text: &str) -> anyhow::Result<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).with_context(|| format!("`{text}` is not 32 bits in hex"));
    }
    if let Ok(value) = text.parse::<i64>() {
        let fits = i64::from(i32::MIN)..=i64::from(u32::MAX);
        return if fits.contains(&value) { Ok(value as u32) } else { bail!("{text} does not fit 32 bits") };
    }
    let value: f32 = text.parse().ok().with_context(|| format!("`{text}` is not a number"))?;
    Ok(value.to_bits())
}

/// Parses exactly `count` values of `text`.
///
/// # Errors
/// The call fails if the number of values differs, or if one cannot be parsed.
pub fn parse_list(text: &str, separator: impl Fn(char) -> bool, count: usize) -> anyhow::Result<Vec<u32>> {
    let values: Vec<u32> =
        text.split(separator).filter(|item| !item.is_empty()).map(parse).collect::<Result<_, _>>()?;
    if values.len() != count {
        bail!("{} values where {count} are wanted", values.len());
    }
    Ok(values)
}
