//! Helpers for tests of this crate and of those that use it.

/// The seed (`A4EMU_SEED`) and the number of programs (`A4EMU_PROGRAMS`) that `scripts/fuzz` sets.
pub fn asked_programs() -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    (number("A4EMU_SEED").unwrap_or(0), number("A4EMU_PROGRAMS").unwrap_or(1000))
}
