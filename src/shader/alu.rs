//! The pure operations and their loops over lanes.
//!
//! The form of the loops was measured: two halves of 16 lanes, each loaded, computed and stored before the
//! next. Sign modifiers are one AND and one XOR per operand. The execution mask is 32 words, applied after
//! the operation, and not at all when every lane executes. [`super::rows`] makes one loop per row from it.
use a4emu_decoder::adreno::ir3::Cond;
use a4emu_decoder::isa::semantics::Relation;
use multiversion::multiversion;

use super::lanes::{ALL, LANES, Lanes, Mask};
use super::rowmap::SINK;
use super::rows::AluOp;

/// Lanes of one pass of a loop: one AVX-512 register.
const PASS: usize = 16;

/// Index of a register row of a warp ([`super::rowmap`]).
pub type Row = u16;

/// The loop of an operation, compiled for this CPU. The last argument is the destination row.
pub type Kernel = fn(&mut [Lanes], &Alu, Row);

/// An operation that reads up to three rows and writes one, lane by lane.
#[derive(Clone, Copy, Debug)]
pub struct Alu {
    /// The loop over lanes of `op`.
    pub kernel: Kernel,
    /// The operation.
    pub op: AluOp,
    /// Destination row.
    pub dst: Row,
    /// Source rows. Unused ones are the zero row.
    pub src: [Row; 3],
    /// Mask of the bits that are kept, for each source: all but the sign for `abs`.
    pub and: [u32; 3],
    /// Mask of the bits that are then flipped, for each source: the sign for `neg`.
    pub xor: [u32; 3],
    /// The condition of a compare.
    pub cond: Cond,
    /// Width of integers, 16 or 32 bits.
    pub width: u32,
}

impl Alu {
    /// The reference result of `lane`. Zero if the row has no semantics.
    pub fn value(&self, rows: &[Lanes], lane: usize) -> u32 {
        let src = std::array::from_fn(|n| (rows[self.src[n] as usize][lane] & self.and[n]) ^ self.xor[n]);
        self.op.eval(src, self.cond, self.width).unwrap_or(0)
    }
}

/// A condition as the set of comparison outcomes for which it holds. Equals [`Cond::test`], without a branch
/// per lane.
#[derive(Clone, Copy)]
pub struct Outcomes {
    less: bool,
    equal: bool,
    greater: bool,
    inverted: bool,
}

impl Outcomes {
    /// The outcomes for `cond`. `ne` is the inverse of `eq`, so NaN makes it true.
    pub fn of(cond: Cond) -> Self {
        Self {
            less: matches!(cond, Cond::Lt | Cond::Le),
            equal: matches!(cond, Cond::Le | Cond::Ge | Cond::Eq | Cond::Ne),
            greater: matches!(cond, Cond::Gt | Cond::Ge),
            inverted: matches!(cond, Cond::Ne),
        }
    }
}

impl Relation for Outcomes {
    #[inline(always)]
    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        ((self.less & (a < b)) | (self.equal & (a == b)) | (self.greater & (a > b))) ^ self.inverted
    }
}

/// Applies `f` to all lanes.
#[inline(always)]
pub fn lanewise<const N: usize>(rows: &mut [Lanes], alu: &Alu, dst: Row, f: impl Fn([u32; N]) -> u32) {
    for pass in 0..LANES / PASS {
        let mut src = [[0; PASS]; N];
        for n in 0..N {
            src[n] = rows[alu.src[n] as usize].0.as_chunks::<PASS>().0[pass];
        }
        elementwise(rows, dst, pass, &src, &f);
    }
}

/// Like [`lanewise`], with sign modifiers.
#[inline(always)]
pub fn lanewise_signed<const N: usize>(rows: &mut [Lanes], alu: &Alu, dst: Row, f: impl Fn([u32; N]) -> u32) {
    for pass in 0..LANES / PASS {
        let mut src = [[0; PASS]; N];
        for n in 0..N {
            let row = rows[alu.src[n] as usize].0.as_chunks::<PASS>().0[pass];
            let (and, xor) = (alu.and[n], alu.xor[n]);
            for lane in 0..PASS {
                src[n][lane] = (row[lane] & and) ^ xor;
            }
        }
        elementwise(rows, dst, pass, &src, &f);
    }
}

/// One pass: applies `f` to the elements of `src` and stores to row `dst`.
#[inline(always)]
fn elementwise<const N: usize>(
    rows: &mut [Lanes],
    dst: Row,
    pass: usize,
    src: &[[u32; PASS]; N],
    f: &impl Fn([u32; N]) -> u32,
) {
    let mut out = [0; PASS];
    for lane in 0..PASS {
        let mut element = [0; N];
        for n in 0..N {
            element[n] = src[n][lane];
        }
        out[lane] = f(element);
    }
    rows[dst as usize].0.as_chunks_mut::<PASS>().0[pass] = out;
}

/// Applies the scalar function of the row, lane by lane.
#[inline(never)]
pub fn one_by_one(rows: &mut [Lanes], alu: &Alu, dst: Row) {
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        out[lane] = alu.value(rows, lane);
    }
    rows[dst as usize] = out;
}

/// Copies `new` in the lanes whose word in `mask` is all ones.
#[inline(always)]
fn merge(row: &mut Lanes, new: &Lanes, mask: &Lanes) {
    for pass in 0..LANES / PASS {
        let of = |lanes: &Lanes| lanes.0.as_chunks::<PASS>().0[pass];
        let (old, new, mask) = (of(row), of(new), of(mask));
        let mut out = [0; PASS];
        for lane in 0..PASS {
            out[lane] = old[lane] ^ ((new[lane] ^ old[lane]) & mask[lane]);
        }
        row.0.as_chunks_mut::<PASS>().0[pass] = out;
    }
}

/// Calls `each` for all operations, from four call sites. The CPU's branch predictor keeps a history of
/// kernels for each site. This halves the time of a shader whose operations follow no pattern.
#[inline(always)]
fn unrolled(alus: &[Alu], mut each: impl FnMut(&Alu)) {
    let (fours, rest) = alus.as_chunks::<4>();
    for [a, b, c, d] in fours {
        each(a);
        each(b);
        each(c);
        each(d);
    }
    for alu in rest {
        each(alu);
    }
}

/// Runs operations on the lanes whose word in `mask` is all ones. Results go through the sink row.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2", "x86_64+avx2"))]
fn run_masked(alus: &[Alu], rows: &mut [Lanes], mask: &Lanes) {
    unrolled(
        alus,
        #[inline(always)]
        |alu| {
            (alu.kernel)(rows, alu, SINK);
            let new = rows[SINK as usize];
            merge(&mut rows[alu.dst as usize], &new, mask);
        },
    );
}

/// Runs operations on the lanes of `mask`.
pub fn run(alus: &[Alu], rows: &mut [Lanes], mask: Mask) {
    match (alus, mask) {
        ([], _) => {}
        (_, ALL) => unrolled(alus, |alu| (alu.kernel)(rows, alu, alu.dst)),
        _ => run_masked(alus, rows, &Lanes::from_mask(mask)),
    }
}
