//! The fields of each instruction word as data, which `explain` prints. The layouts repeat those at the head
//! of each category's file; a test compares them with the decoder, bit by bit.

use super::bits::{bit, field};
use super::cat1::{Cat1Op, Cat1Src};
use super::cat6::Cat6Form;
use super::operand::{Operand, Src};
use super::{Body, Cat0, Cat0Class, Cat0Op, Cat1, Cat2, Cat5, Cat5Slots, Cat6, Cat7, Cat7Class, Instr};

/// A field of one instruction word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordField {
    /// Name of the field.
    pub name: &'static str,
    /// Lowest bit.
    pub lo: u32,
    /// Highest bit, inclusive.
    pub hi: u32,
}

impl WordField {
    /// The field's bits of `word`, moved to bit 0.
    pub const fn raw(&self, word: u64) -> u64 {
        field(word, self.lo, self.hi - self.lo + 1)
    }

    /// A mask of the bits that the field covers.
    pub const fn mask(&self) -> u64 {
        (u64::MAX >> (63 - (self.hi - self.lo))) << self.lo
    }
}

/// The purpose of each category, by number.
pub const CATEGORIES: [&str; 8] = [
    "flow control",
    "move and convert",
    "two-source ALU",
    "three-source ALU",
    "special functions",
    "textures and derivatives",
    "memory",
    "barriers and caches",
];

/// The category of a word: bits 63:61.
pub const fn category(word: u64) -> usize {
    field(word, 61, 3) as usize
}

type Row = (&'static str, u32, u32);

/// The fields of `word`, from bit 63 down; an unknown word has the category alone. A bit in no field has no
/// meaning in this instruction, or must have a fixed value.
pub fn fields(word: u64) -> Vec<WordField> {
    let instr = Instr::decode(word);
    let mut rows: Vec<Row> = vec![("CATEGORY", 61, 63)];
    if instr.body != Body::Unknown {
        rows.extend([("SY", 60, 60), ("JP", 59, 59)]);
    }
    if instr.body.has_ss() {
        rows.push(("SS", 44, 44));
    }
    if instr.body.has_ul() {
        rows.push(("UL", 45, 45));
    }
    match &instr.body {
        Body::Cat0(body) => flow(body, &mut rows),
        Body::Cat1(body) => moves(body, &mut rows),
        Body::Cat2(body) => two_sources(body, &mut rows),
        Body::Cat3(_) => rows.extend(THIRD),
        Body::Cat4(_) => rows.extend(FUNCTION),
        Body::Cat5(body) => texture(body, &mut rows),
        Body::Cat6(body) => memory(body, word, &mut rows),
        Body::Cat7(body) => barrier(body, &mut rows),
        Body::Unknown => {}
    }
    rows.sort_by_key(|&(_, lo, _)| std::cmp::Reverse(lo));
    rows.into_iter().map(|(name, lo, hi)| WordField { name, lo, hi }).collect()
}

fn flow(body: &Cat0, rows: &mut Vec<Row>) {
    let class = body.op.class();
    rows.extend([("OPCODE", 55, 58), ("OPCODE_HI", 49, 49)]);
    if body.op.bits() & 0x1f == Cat0Op::Br.bits() & 0x1f {
        rows.push(("BRTYPE", 37, 39));
    }
    if class != Cat0Class::Target {
        rows.push(("EQ", 48, 48));
    }
    if class == Cat0Class::Plain {
        rows.push(("REPEAT", 40, 42));
    }
    if class == Cat0Class::BranchIndex {
        rows.push(("INDEX", 32, 36));
    }
    if class.has_target() {
        rows.push(("IMMED", 0, 31));
    }
    if class.predicates() > 0 {
        rows.extend([("COMP1", 53, 54), ("INV1", 52, 52)]);
    }
    if class.predicates() > 1 {
        rows.extend([("COMP2", 46, 47), ("INV2", 45, 45)]);
    }
}

fn moves(body: &Cat1, rows: &mut Vec<Row>) {
    rows.extend([("OPCODE", 57, 58), ("DST_REL", 49, 49), ("REPEAT", 40, 41), ("DST", 32, 39)]);
    rows.extend([("ROUND", 55, 56), ("SRC_TYPE", 50, 52), ("DST_TYPE", 46, 48)]);
    if body.op == Cat1Op::Movmsk {
        return;
    }
    rows.extend([("SRC_IMMED", 54, 54), ("SRC_CONST", 53, 53)]);
    match &body.src {
        Cat1Src::Immediate(_) => rows.push(("SRC", 0, 31)),
        Cat1Src::Operand(Operand { src: Src::Const(_), .. }) => {
            rows.extend([("SRC", 0, 10), ("SRC_R", 43, 43)])
        }
        Cat1Src::Operand(_) => rows.extend([("SRC", 0, 10), ("SRC_REL", 11, 11), ("SRC_R", 43, 43)]),
    }
}

const FIRST: [Row; 5] =
    [("SRC1_R", 43, 43), ("SRC1_ABS", 15, 15), ("SRC1_NEG", 14, 14), ("SRC1_FORM", 11, 13), ("SRC1", 0, 10)];

const SECOND: [Row; 5] =
    [("SRC2_R", 51, 51), ("SRC2_ABS", 31, 31), ("SRC2_NEG", 30, 30), ("SRC2_FORM", 27, 29), ("SRC2", 16, 26)];

fn two_sources(body: &Cat2, rows: &mut Vec<Row>) {
    rows.extend([("OPCODE", 53, 58), ("FULL", 52, 52), ("EI", 47, 47), ("DST_CONV", 46, 46)]);
    rows.extend([("SAT", 42, 42), ("REPEAT", 40, 41), ("DST", 32, 39)]);
    rows.extend(FIRST);
    if body.cond.is_some() {
        rows.push(("COND", 48, 50));
    }
    if body.src2.is_some() {
        rows.extend(SECOND);
    }
}

const THIRD: [Row; 14] = [
    ("OPCODE", 55, 58),
    ("SRC2", 47, 54),
    ("DST_CONV", 46, 46),
    ("SRC1_R", 43, 43),
    ("SAT", 42, 42),
    ("REPEAT", 40, 41),
    ("DST", 32, 39),
    ("SRC3_NEG", 31, 31),
    ("SRC2_NEG", 30, 30),
    ("SRC3_R", 29, 29),
    ("SRC3", 16, 28),
    ("SRC2_R", 15, 15),
    ("SRC1_NEG", 14, 14),
    ("SRC1", 0, 12),
];

const FUNCTION: [Row; 11] = [
    ("OPCODE", 53, 58),
    ("FULL", 52, 52),
    ("DST_CONV", 46, 46),
    ("SRC_R", 43, 43),
    ("SAT", 42, 42),
    ("REPEAT", 40, 41),
    ("DST", 32, 39),
    ("SRC_ABS", 15, 15),
    ("SRC_NEG", 14, 14),
    ("SRC_FORM", 11, 13),
    ("SRC", 0, 10),
];

fn texture(body: &Cat5, rows: &mut Vec<Row>) {
    rows.extend([("OPCODE", 54, 58), ("P", 53, 53), ("O", 52, 52), ("INDIRECT", 51, 51), ("S", 50, 50)]);
    rows.extend([("A", 49, 49), ("3D", 48, 48), ("TYPE", 44, 46), ("WRMASK", 40, 43), ("DST", 32, 39)]);
    let class = body.op.class();
    match body.slots {
        Cat5Slots::Indirect { .. } => rows.extend([("MODE", 29, 31), ("SRC3", 21, 28)]),
        Cat5Slots::Immediate { .. } => {
            rows.extend(class.has_texture().then_some(("TEX", 25, 31)));
            rows.extend(class.has_sampler().then_some(("SAMP", 21, 24)));
        }
    }
    if body.has_src2() {
        rows.push(("SRC2", 9, 16));
    }
    if body.has_src1() {
        rows.push(("SRC1", 1, 8));
    }
    if body.has_src1() || body.has_src2() {
        rows.push(("FULL", 0, 0));
    }
}

const VIEW: [Row; 3] = [("COMPONENTS", 12, 13), ("TYPED", 11, 11), ("DIMS", 9, 10)];
const SLOT: [Row; 2] = [("SLOT_IMM", 53, 53), ("SLOT", 41, 48)];
const LOW_PAIR: [Row; 4] = [("SRC2", 24, 31), ("SRC2_IMM", 23, 23), ("SRC1_IMM", 22, 22), ("SRC1", 14, 21)];

fn memory(body: &Cat6, word: u64, rows: &mut Vec<Row>) {
    rows.extend([("OPCODE", 54, 58), ("TYPE", 49, 51)]);
    match body.form {
        Cat6Form::Load { .. } => {
            rows.extend([("DST", 32, 39), ("COUNT", 24, 31), ("ADDRESS", 14, 21), ("OFFSET", 1, 13)]);
        }
        Cat6Form::Store { .. } => {
            rows.extend([("ADDRESS", 41, 48), ("OFFSET_LO", 32, 39), ("COUNT", 24, 31)]);
            rows.extend([("OFFSET_HI", 9, 13), ("VALUE", 1, 8)]);
        }
        Cat6Form::Varying { .. } => rows.extend([("DST", 32, 39), ("COUNT", 24, 31), ("LOCATION", 1, 13)]),
        Cat6Form::BufferLoad { .. } => {
            rows.extend(VIEW.into_iter().chain(SLOT).chain(LOW_PAIR));
            rows.push(("DST", 32, 39));
        }
        Cat6Form::ConstantLoad { .. } => {
            rows.extend(SLOT.into_iter().chain(LOW_PAIR));
            rows.extend([("DST", 32, 39), ("COMPONENTS", 12, 13)]);
        }
        Cat6Form::BufferStore { .. } => {
            rows.extend(VIEW.into_iter().chain(SLOT));
            rows.extend([("SRC3_IMM", 40, 40), ("SRC3", 32, 39), ("SRC2", 24, 31), ("SRC2_IMM", 23, 23)]);
            rows.push(("VALUE", 1, 8));
        }
        Cat6Form::AtomicLocal { .. } | Cat6Form::AtomicSlot { .. } => {
            rows.extend(VIEW.into_iter().chain(LOW_PAIR));
            rows.extend([("GLOBAL", 52, 52), ("DST", 32, 39)]);
            if bit(word, 52) {
                rows.extend(SLOT);
                rows.push(("SRC3", 1, 8));
            }
        }
        Cat6Form::Info { .. } => {
            rows.extend(SLOT);
            rows.extend([("DST", 32, 39), ("DIMS", 9, 10)]);
        }
    }
}

fn barrier(body: &Cat7, rows: &mut Vec<Row>) {
    rows.push(("OPCODE", 55, 58));
    match body.op.class() {
        Cat7Class::Barrier => rows.extend([("G", 54, 54), ("L", 53, 53), ("R", 52, 52), ("W", 51, 51)]),
        Cat7Class::Sleep => rows.push(("LONG", 51, 51)),
        Cat7Class::Data => rows.push(("ALL", 51, 51)),
        Cat7Class::Instructions => {}
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Words of every category, spread by a linear congruence.
    fn words() -> impl Iterator<Item = u64> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        (0..200_000u64).map(move |n| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mixed = state ^ state >> 29;
            // Half of the words have those bits clear that few forms allow to be set.
            let word = if n % 2 == 0 { mixed } else { mixed & !0x0000_1800_1800_3b00 };
            word & !(7 << 61) | (n % 8) << 61
        })
    }

    fn meaning(word: u64) -> Instr {
        Instr { extra: 0, ..Instr::decode(word) }
    }

    /// Changing a bit outside of all fields has no effect, or makes the word unknown. Every field has an
    /// effect in some word.
    #[test]
    fn fields_are_the_bits_that_the_decoder_reads() {
        let mut read: BTreeMap<(usize, &str), bool> = BTreeMap::new();
        for word in words().filter(|&word| Instr::decode(word).body != Body::Unknown) {
            let fields = fields(word);
            let covered = fields.iter().fold(0, |covered, field| {
                assert_eq!(covered & field.mask(), 0, "{word:016x}: {field:?} overlaps");
                covered | field.mask()
            });
            for at in (0..64).filter(|at| covered >> at & 1 == 0) {
                let (now, then) = (meaning(word ^ 1 << at), meaning(word));
                let same = now == then || now.body == Body::Unknown;
                assert!(same, "{word:016x}: bit {at} is in no field: {then:?} -> {now:?}");
            }
            for field in &fields {
                let flipped = (field.lo..=field.hi).any(|at| meaning(word ^ 1 << at) != meaning(word));
                *read.entry((category(word), field.name)).or_default() |= flipped;
            }
        }
        let unread: Vec<_> = read.iter().filter(|(_, read)| !**read).collect();
        assert!(unread.is_empty(), "no bit of {unread:?} means anything");
        assert!(read.len() > 90, "{} fields met", read.len());
    }
}
