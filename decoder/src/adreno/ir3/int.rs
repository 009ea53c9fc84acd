//! Scalar integer semantics that need more than Rust's operators. `w` is the source width, 16 or 32; sources
//! are extended to 32 bits.

/// `mul.u24`: 24-bit sources, low 32 bits of the product.
#[inline(always)]
pub fn mul_u24(a: u32, b: u32) -> u32 {
    (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)
}

/// `mul.s24`: sign-extended 24-bit sources, low 32 bits of the product.
#[inline(always)]
pub fn mul_s24(a: i32, b: i32) -> i32 {
    (a << 8 >> 8).wrapping_mul(b << 8 >> 8)
}

/// `bfrev.b`: the bits in reverse order.
#[inline(always)]
pub fn bfrev(a: u32, w: u32) -> u32 {
    a.reverse_bits() >> (32 - w)
}

/// `clz.b`: leading zeros; -1 for 0 (ir3_compiler_nir.c, ufind_msb).
#[inline(always)]
pub fn clz_b(a: u32, w: u32) -> u32 {
    if a == 0 { u32::MAX } else { a.leading_zeros().wrapping_sub(32 - w) }
}

/// `clz.s`: leading copies of the sign bit after the first; -1 for 0 and -1
/// (ir3_compiler_nir.c, ifind_msb).
#[inline(always)]
pub fn clz_s(a: i32, w: u32) -> i32 {
    clz_b((a ^ a >> 31) as u32, w) as i32
}

/// `mgen.b`: `a` ones from bit `b` (guess `unused-ops`).
#[inline(always)]
pub fn mask_generate(a: u32, b: u32, w: u32) -> u32 {
    (1u32 << (a & (w - 1))).wrapping_sub(1) << (b & (w - 1))
}

/// `shb`: left by `b`, right when it is negative (guess `unused-ops`).
#[inline(always)]
pub fn shift_both(a: i32, b: i32, w: u32) -> i32 {
    let amount = b.unsigned_abs() & (w - 1);
    if b < 0 { a >> amount } else { a << amount }
}

/// `msad`: sum of the absolute differences of the bytes whose reference byte in
/// `a` is not 0 (guess `unused-ops`).
#[inline(always)]
pub fn masked_sad(a: u32, b: u32) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    (0..4).map(|i| if a[i] == 0 { 0 } else { u32::from(a[i].abs_diff(b[i])) }).sum()
}

/// `(sat)add.u`
#[inline(always)]
pub fn add_u_sat(a: u32, b: u32, w: u32) -> u32 {
    a.saturating_add(b).min(u32::MAX >> (32 - w))
}

/// `(sat)add.s`
#[inline(always)]
pub fn add_s_sat(a: i32, b: i32, w: u32) -> i32 {
    clamp(a.saturating_add(b), w)
}

/// `(sat)sub.s`
#[inline(always)]
pub fn sub_s_sat(a: i32, b: i32, w: u32) -> i32 {
    clamp(a.saturating_sub(b), w)
}

#[inline(always)]
fn clamp(a: i32, w: u32) -> i32 {
    a.clamp(i32::MIN >> (32 - w), i32::MAX >> (32 - w))
}

/// `madsh.m16`: a cross product of a 32x32 multiply, shifted and added.
///
/// The operation multiplies the low half of `a` with the high half of `b`. A 32-bit product uses both orders. If one
/// half is known to be zero, the compiler keeps only one of the two, and the result is right only for low
/// times high. `x * 97` becomes `mull.u t, x, 97` and `madsh.m16 dst, 97, x, t`, which is wrong for large x
/// with the halves swapped (as Mesa's comment on the op has it; docs/hardware/ir3-isa.md, section 6).
/// scenes/inttex shows it.
#[inline(always)]
pub fn madsh_m16(a: u32, b: u32, c: u32) -> u32 {
    ((a & 0xffff).wrapping_mul(b >> 16) << 16).wrapping_add(c)
}

/// `sad.*`: |a - b| + c (guess `unused-ops`).
#[inline(always)]
pub fn sad(a: i32, b: i32, c: i32) -> i32 {
    (a.abs_diff(b) as i32).wrapping_add(c)
}
