//! What each operation does, in one sentence, for `explain`.
//!
//! Source: docs/hardware/ir3-isa.md, sections 3 to 9. Operations whose effect no public source gives say so.

use super::{Cat0Op, Cat1Op, Cat2Op, Cat3Op, Cat4Op, Cat5Op, Cat6Class, Cat6Op, Cat7Op, Isa};

/// An operation of the instruction set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Category, bits 63:61 of the word.
    pub category: u8,
    /// Opcode within its category. Where other bits of the word select the operation too, they are above it: for
    /// category 0 the branch type is in bits 5 to 7.
    pub opcode: u8,
    /// The mnemonic. An atomic is `atomic.` and its function.
    pub mnemonic: String,
    /// The mnemonic of older assemblers, if they have another one.
    pub old: Option<&'static str>,
    /// What it does.
    pub meaning: &'static str,
}

/// Every operation of `isa`, by category.
pub fn operations(isa: Isa) -> Vec<Operation> {
    let mut all = Vec::new();
    let mut add = |category, opcode, name: &str| {
        let is_atomic =
            category == 6 && Cat6Op::from_bits(opcode).is_some_and(|op| op.class() == Cat6Class::Atomic);
        let mnemonic = if is_atomic { format!("atomic.{name}") } else { name.to_owned() };
        let meaning = meaning(isa, &mnemonic);
        let old = match category {
            2 => Cat2Op::OLD.iter().find(|(_, op)| op.bits() == opcode).map(|(old, _)| *old),
            6 if opcode == Cat6Op::Ldib.bits() && isa == Isa::A4xx => Some("sti"),
            _ => None,
        };
        all.push(Operation { category, opcode, mnemonic, old, meaning });
    };
    Cat0Op::ALL.iter().filter(|op| op.is_in(isa)).for_each(|op| add(0, op.bits(), op.name()));
    Cat1Op::ALL.iter().filter(|op| op.is_in(isa)).for_each(|op| add(1, op.bits(), op.name()));
    Cat2Op::ALL.iter().filter(|op| op.is_in(isa)).for_each(|op| add(2, op.bits(), op.name()));
    Cat3Op::ALL.iter().filter(|op| op.is_in(isa)).for_each(|op| add(3, op.bits(), op.name()));
    Cat4Op::ALL.iter().for_each(|op| add(4, op.bits(), op.name()));
    Cat5Op::ALL.iter().filter(|op| op.is_in(isa)).for_each(|op| add(5, op.bits(), op.name()));
    Cat6Op::ALL.iter().filter(|op| op.is_in(isa)).for_each(|op| add(6, op.bits(), op.name()));
    Cat7Op::ALL.iter().for_each(|op| add(7, op.bits(), op.name()));
    all
}

/// The meaning of operations that no public source describes.
const UNKNOWN: &str = "no public source says what it does";

/// What operations of later generations do here.
const LATER: &str = "an operation of later generations, which A4xx programs do not contain";

fn meaning(isa: Isa, mnemonic: &str) -> &'static str {
    let later = if isa == Isa::A4xx { &[] } else { LATER_MEANINGS };
    let names = |(names, _): &&(&str, &str)| names.split(' ').any(|name| name == mnemonic);
    later.iter().chain(MEANINGS).find(names).map_or(UNKNOWN, |(_, meaning)| meaning)
}

/// Mnemonics that came with A5xx and A6xx, or do more there, and what they do. Sources: ir3-cat0.xml to
/// ir3-cat7.xml, and what ir3_compiler_nir.c uses them for.
const LATER_MEANINGS: &[(&str, &str)] = &[
    ("shps", "runs what follows to shpe in the first wave alone, and branches behind it in the others"),
    ("shpe", "ends the part that the first wave ran, which stored constants"),
    ("getlast", "branches in the lanes of the first cluster that runs, but not in its last one"),
    ("swz", "moves two values at once: it can swap two registers"),
    ("gat", "moves four registers to four consecutive ones"),
    ("sct", "moves four consecutive registers to four others"),
    ("flat.b", "loads a flat varying: a is its location"),
    ("shrm", "(b >> a) & c"),
    ("shlm", "(b << a) & c"),
    ("shrg", "(b >> a) | c"),
    ("shlg", "(b << a) | c"),
    ("andg", "(a & b) | c"),
    ("dp2acc", "adds the products of two pairs of bytes to c"),
    ("dp4acc", "adds the products of four pairs of bytes to c"),
    ("wmm", "multiplies the vector of four at a by the sum of the four at b; c says how often it is written"),
    ("wmm.accu", "as wmm, and adds the result to the destination"),
    ("tcinv", "invalidates the texture cache"),
    ("brcst.active", "copies the value of the last running lane of a cluster's lower half to the upper half"),
    ("quad_shuffle.brcst", "the value of the lane of the quad that the second source numbers"),
    ("quad_shuffle.horiz", "the value of the horizontal neighbour in the quad"),
    ("quad_shuffle.vert", "the value of the vertical neighbour in the quad"),
    ("quad_shuffle.diag", "the value of the diagonal neighbour in the quad"),
    ("ldg", "loads from memory; .a adds an index, .k loads to constants"),
    ("stg", "stores to memory; .a adds an index"),
    ("ldib", "loads from a buffer or an image; .b by its descriptor"),
    ("stib", "stores to a buffer or an image, and converts to its format; .b by its descriptor"),
    ("resinfo", "the size of a buffer or image; .b by its descriptor"),
    ("resbase", "the address of a descriptor"),
    ("ldc", "loads from a uniform buffer; .k copies vectors to constants"),
    ("stc", "stores to constants"),
    ("getspid", "the number of the shader processor"),
    ("getwid", "the number of the wave"),
    ("getfiberid", "the number of the lane in its wave"),
    ("shfl", "the value of another lane: the number exclusive-or a mask, or plus or minus a distance"),
];

/// Mnemonics, and what they do.
const MEANINGS: &[(&str, &str)] = &[
    ("nop", "waits; (rptN) repeats it N times"),
    ("br", "branches in the lanes where the predicate holds"),
    ("brao", "branches where one of two predicates holds"),
    ("braa", "branches where both predicates hold"),
    ("brac", "branches by the numbered condition"),
    ("bany", "branches if the predicate holds in any lane"),
    ("ball", "branches if the predicate holds in all lanes"),
    ("brax", "branches always; the address comes from a register"),
    ("jump", "branches always"),
    ("call", "branches and pushes the address of the next instruction"),
    ("ret", "branches to the address that the last call pushed"),
    (
        "kill",
        "ends the lanes where the predicate holds; in a fragment shader they stay as helpers for derivatives",
    ),
    ("end", "ends the program"),
    ("getone", "lets exactly one running lane branch"),
    ("predt", "begins a region that runs only in the lanes where the predicate holds"),
    ("predf", "begins a region that runs only in the lanes where the predicate does not hold"),
    ("prede", "ends a region of predt or predf"),
    ("chmask chsh shps shpe emit", LATER),
    ("mov", "copies a value; with different types (cov) it converts"),
    ("movmsk", "writes which lanes run, one bit each"),
    ("add.f", "a + b, floats"),
    ("min.f", "the lesser of two floats; if one is a NaN, the other one"),
    ("max.f", "the greater of two floats; if one is a NaN, the other one"),
    ("mul.f", "a * b, floats"),
    ("sign.f", "-1, 0 or 1 by the sign of a float"),
    (
        "cmps.f cmps.u cmps.s",
        "1 where the condition (lt le gt ge eq ne) holds, and 0 elsewhere; to p0 it sets a predicate",
    ),
    ("cmpv.f cmpv.u cmpv.s", "all ones where the condition (lt le gt ge eq ne) holds, and 0 elsewhere"),
    ("absneg.f", "a float with its (abs) and (neg) modifiers"),
    ("absneg.s", "an integer with its (abs) and (neg) modifiers"),
    ("floor.f", "rounds down"),
    ("ceil.f", "rounds up"),
    ("rndne.f", "rounds to the nearest integer, ties to even"),
    ("rndaz.f", "rounds to the nearest integer, ties away from zero"),
    ("trunc.f", "rounds toward zero"),
    ("add.u add.s", "a + b, integers; (sat) clamps, (ei) halves the sum"),
    ("sub.u sub.s", "a - b, integers; (sat) clamps"),
    ("min.u min.s", "the lesser of two integers"),
    ("max.u max.s", "the greater of two integers"),
    ("and.b", "a and b, bit by bit"),
    ("or.b", "a or b, bit by bit"),
    ("xor.b", "a exclusive-or b, bit by bit"),
    ("not.b", "inverts all bits"),
    ("mul.u24", "the product of the low 24 bits, unsigned"),
    ("mul.s24", "the product of the low 24 bits, signed"),
    ("mull.u", "the product of the low 16 bits, unsigned"),
    ("bfrev.b", "reverses the bits"),
    ("clz.s", "the number of leading bits that repeat the sign; -1 for 0 and -1"),
    ("clz.b", "the number of leading zeros; -1 for 0"),
    ("shl.b", "shifts left; the amount counts modulo the width"),
    ("shr.b", "shifts right, zeros follow; the amount counts modulo the width"),
    ("ashr.b", "shifts right, copies of the sign follow; the amount counts modulo the width"),
    ("bary.f", "interpolates a varying: a is its location, b the first of two registers with i and j"),
    ("setrm", "sets the rounding mode"),
    ("cbits.b", "counts the set bits"),
    ("msad", "adds absolute differences of bytes, where a mask allows"),
    ("mad.u16 mad.s16", "a * b + c, integers of 16 bits"),
    ("madsh.u16", "a product of 16-bit halves, shifted left by 16, plus c"),
    ("madsh.m16", "((a & 0xffff) * (b >> 16)) << 16, plus c: a part of a product of 32 bits"),
    ("mad.u24 mad.s24", "the product of the low 24 bits of a and b, plus c"),
    ("mad.f16 mad.f32", "a * b + c, floats, rounded after each step"),
    ("sel.b16 sel.b32", "a if b is not zero, else c"),
    ("sel.s16 sel.s32 sel.f16 sel.f32", "a or c, by the sign of b"),
    ("sad.s16 sad.s32", "the absolute difference of a and b, plus c"),
    ("rcp", "1 / a"),
    ("rsq", "1 / sqrt(a)"),
    ("log2", "the logarithm to base 2"),
    ("exp2", "2 to the power of a"),
    ("sin", "the sine of an angle in radians, exact enough from -pi to pi"),
    ("cos", "the cosine of an angle in radians, exact enough from -pi to pi"),
    ("sqrt", "the square root"),
    ("hrsq hlog2 hexp2", LATER),
    ("isam", "reads a texel at integer coordinates, level 0"),
    ("isaml", "reads a texel at integer coordinates of the given level"),
    ("isamm", "reads a sample of a multisampled texel at integer coordinates"),
    ("sam", "samples a texture; the level comes from the derivatives"),
    ("samb", "samples a texture, with a bias of the level"),
    ("saml", "samples a texture at the given level"),
    ("samgq", "samples a texture with given derivatives"),
    ("getlod", "the levels that sam would read: clamped and not, with 8 fraction bits"),
    ("getsize", "the size of a texture at a level"),
    ("getbuf", "the number of elements of a buffer texture"),
    ("getpos", "the position of a sample within a pixel"),
    ("getinfo", "codes of the texture's format, its number of levels and of samples"),
    ("dsx", "the difference to the horizontal neighbour in the quad"),
    ("dsy", "the difference to the vertical neighbour in the quad"),
    ("dsxpp.1", "as dsx, of each row by itself"),
    ("dsypp.1", "as dsy, of each column by itself"),
    (
        "gather4r gather4g gather4b gather4a",
        "one component of the four texels that a linear filter would read",
    ),
    ("ldg", "loads from memory"),
    ("ldl", "loads from the memory of the workgroup"),
    ("ldp", "loads from the memory of the lane"),
    ("stg", "stores to memory"),
    ("stl", "stores to the memory of the workgroup"),
    ("stp", "stores to the memory of the lane"),
    ("ldib", "loads from a buffer; A420 programs use ldgb"),
    ("ldlw", "loads what the stage before left for this one"),
    ("stlw", "stores outputs for the next stage"),
    ("resinfo", "the size of a buffer or image"),
    ("atomic.add", "adds to memory in one step, and returns the old value"),
    ("atomic.sub", "subtracts from memory in one step, and returns the old value"),
    ("atomic.xchg", "exchanges with memory in one step, and returns the old value"),
    ("atomic.inc", "increments memory in one step, and returns the old value"),
    ("atomic.dec", "decrements memory in one step, and returns the old value"),
    (
        "atomic.cmpxchg",
        "replaces memory in one step if it holds the second value of the pair, and returns the old value",
    ),
    ("atomic.min", "keeps the minimum in memory in one step, and returns the old value"),
    ("atomic.max", "keeps the maximum in memory in one step, and returns the old value"),
    ("atomic.and", "ands to memory in one step, and returns the old value"),
    ("atomic.or", "ors to memory in one step, and returns the old value"),
    ("atomic.xor", "exclusive-ors to memory in one step, and returns the old value"),
    ("ldgb", "loads from a storage buffer or image"),
    ("stgb", "stores to a storage buffer"),
    ("stib", "stores to an image, and converts to its format"),
    ("ldc", "loads from a uniform buffer; what its sources count is not known, so it is not executed"),
    ("ldlv", "loads a flat varying of the provoking vertex"),
    ("bar", "waits until all lanes of the workgroup arrive"),
    ("fence", "orders earlier memory accesses before later ones"),
    ("sleep", "waits; no public source says for how long"),
    ("icinv", "invalidates the instruction cache"),
    ("dccln", "writes back the data cache"),
    ("dcinv", "invalidates the data cache"),
    ("dcflu", "writes back and invalidates the data cache"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_meaning_belongs_to_an_operation_and_few_operations_have_none() {
        let known = |isa, rows: &[(&str, &str)]| {
            let all = operations(isa);
            for name in rows.iter().flat_map(|(names, _)| names.split(' ')) {
                assert_eq!(all.iter().filter(|operation| operation.mnemonic == name).count(), 1, "{name}");
            }
            let without = all.iter().filter(|operation| operation.meaning == UNKNOWN).count();
            assert!(without <= 22, "{without} of {}", all.len());
        };
        known(Isa::A4xx, MEANINGS);
        known(Isa::A6xx, LATER_MEANINGS);
    }
}
