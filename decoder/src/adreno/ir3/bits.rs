//! Reads and writes the bit fields of an instruction word.

/// `width` bits of `word` from bit `lo`.
pub(super) const fn field(word: u64, lo: u32, width: u32) -> u64 {
    word >> lo & ((1 << width) - 1)
}

/// `width` bits of `word` from bit `lo`, sign-extended.
pub(super) const fn signed(word: u64, lo: u32, width: u32) -> i64 {
    (word << (64 - lo - width)) as i64 >> (64 - width)
}

/// Bit `at` of `word`.
pub(super) const fn bit(word: u64, at: u32) -> bool {
    word >> at & 1 != 0
}

/// `value` moved to bit `lo`. The value must fit its field.
pub(super) fn put(value: impl Into<u64>, lo: u32) -> u64 {
    value.into() << lo
}

/// The low `width` bits of `value`, moved to bit `lo`.
pub(super) const fn put_signed(value: i64, lo: u32, width: u32) -> u64 {
    (value as u64 & ((1 << width) - 1)) << lo
}
