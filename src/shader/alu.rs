//! The pure operations: what a compact operation is, and the loops over lanes.
//!
//! The shape was measured, not guessed: two halves of 16 lanes, each loaded,
//! operated on and stored before the next; sign modifiers as one AND and one
//! XOR per operand; the execution mask as 32 words applied behind the
//! operation, and not at all when every lane runs. [`super::rows`] makes one
//! arm per row from it.
use a4emu_decoder::isa::ir3::Cond;

use super::lanes::{LANES, Lanes};
use super::rows::AluOp;

/// Lanes that one pass of a loop covers: one AVX-512 register.
const PASS: usize = 16;

/// Index of a register row of a warp: see [`super::rowmap`].
pub type Row = u16;

/// An operation that reads up to three rows and writes one, lane by lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alu {
    /// What it does.
    pub op: AluOp,
    /// Row that is written.
    pub dst: Row,
    /// Rows that are read; unused ones are the zero row.
    pub src: [Row; 3],
    /// Bits of each source that are kept: all but the sign for `abs`.
    pub and: [u32; 3],
    /// Bits of each source that are then flipped: the sign for `neg`.
    pub xor: [u32; 3],
    /// The condition of a compare.
    pub cond: Cond,
    /// Width of integers, 16 or 32 bits.
    pub width: u32,
}

/// `f` over all lanes, sources through their modifiers.
#[inline(always)]
pub fn lanewise<const N: usize>(rows: &mut [Lanes], alu: &Alu, f: impl Fn([u32; N]) -> u32) {
    for pass in 0..LANES / PASS {
        let mut src = [[0; PASS]; N];
        for (n, src) in src.iter_mut().enumerate() {
            let row = &rows[alu.src[n] as usize].0.as_chunks::<PASS>().0[pass];
            for lane in 0..PASS {
                src[lane] = (row[lane] & alu.and[n]) ^ alu.xor[n];
            }
        }
        let mut out = [0; PASS];
        for (lane, out) in out.iter_mut().enumerate() {
            *out = f(std::array::from_fn(|n| src[n][lane]));
        }
        rows[alu.dst as usize].0.as_chunks_mut::<PASS>().0[pass] = out;
    }
}

/// The scalar row, lane after lane.
#[inline(never)]
pub fn one_by_one(rows: &mut [Lanes], alu: &Alu) {
    let out = std::array::from_fn(|lane| {
        let source = |n: usize| (rows[alu.src[n] as usize][lane] & alu.and[n]) ^ alu.xor[n];
        alu.scalar(std::array::from_fn(source))
    });
    rows[alu.dst as usize] = Lanes(out);
}

/// Puts `old` back in the lanes whose word in `mask` is zero.
#[inline(always)]
pub fn keep(row: &mut Lanes, old: &Lanes, mask: &Lanes) {
    for lane in 0..LANES {
        row[lane] = (row[lane] & mask[lane]) | (old[lane] & !mask[lane]);
    }
}
