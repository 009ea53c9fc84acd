//! What tests of this crate and of those above it share.

/// The seed that `scripts/fuzz` asks for (`A4EMU_SEED`), and how many programs (`A4EMU_PROGRAMS`).
pub fn asked_programs() -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    (number("A4EMU_SEED").unwrap_or(0), number("A4EMU_PROGRAMS").unwrap_or(1000))
}
