//! The fields of each instruction word as data, which `explain` prints. The layouts repeat those at the head
//! of each category's file; a test compares them with the decoder, bit by bit.

use super::bits::{bit, field};
use super::cat1::{Cat1Op, Cat1Src};
use super::cat2::SRC2_R;
use super::cat6::Cat6Form;
use super::operand::{Operand, Src};
use super::{
    BindlessIndex, Body, Cat0, Cat0Class, Cat0Op, Cat1, Cat1Class, Cat2, Cat2Op, Cat3, Cat3Class, Cat5,
    Cat5Class, Cat5Op, Cat5Slots, Cat6, Cat7, Cat7Class, Descriptor, Isa,
};

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

/// The fields of a word of `isa`, from bit 63 down; an unknown word has the category alone. A bit in no field has no
/// meaning in this instruction, or must have a fixed value.
pub fn fields(isa: Isa, word: u64) -> Vec<WordField> {
    let instr = isa.decode(word);
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
        Body::Cat0(body) => flow(isa, body, &mut rows),
        Body::Cat1(body) => moves(isa, body, &mut rows),
        Body::Cat2(body) => two_sources(isa, body, &mut rows),
        Body::Cat3(body) => three_sources(isa, body, &mut rows),
        Body::Cat4(_) => rows.extend(FUNCTION),
        Body::Cat5(body) => texture(isa, body, &mut rows),
        Body::Cat6(body) => memory(isa, body, word, &mut rows),
        Body::Cat7(body) => barrier(body, &mut rows),
        Body::Unknown => {}
    }
    rows.sort_by_key(|&(_, lo, _)| std::cmp::Reverse(lo));
    rows.into_iter().map(|(name, lo, hi)| WordField { name, lo, hi }).collect()
}

fn flow(isa: Isa, body: &Cat0, rows: &mut Vec<Row>) {
    let class = body.op.class();
    rows.extend([("OPCODE", 55, 58), ("OPCODE_HI", 49, 49)]);
    if body.op.bits() & 0x1f == Cat0Op::Br.bits() & 0x1f {
        rows.push(("BRTYPE", 37, 39));
    }
    if body.op.has_eq() {
        rows.push(("EQ", 48, 48));
    }
    if body.op.repeats(isa) {
        rows.push(("REPEAT", 40, 42));
    }
    if class == Cat0Class::BranchIndex {
        rows.push(("INDEX", 32, 36));
    }
    if class == Cat0Class::Cluster {
        rows.push(("W", 52, 54));
    }
    if class.has_target() {
        rows.push(("IMMED", 0, 31));
    }
    let implied = body.op.means_p0x() && isa.is_strict();
    if class.predicates() > 0 && !implied {
        rows.extend([("COMP1", 53, 54), ("INV1", 52, 52)]);
    }
    if class.predicates() > 1 {
        rows.extend([("COMP2", 46, 47), ("INV2", 45, 45)]);
    }
}

fn moves(isa: Isa, body: &Cat1, rows: &mut Vec<Row>) {
    rows.extend([("OPCODE", 57, 58), ("DST", 32, 39), ("ROUND", 55, 56)]);
    rows.extend([("SRC_TYPE", 50, 52), ("DST_TYPE", 46, 48)]);
    if body.op.class() == Cat1Class::Moves {
        return several_moves(body.op, rows);
    }
    rows.extend([("DST_REL", 49, 49), ("REPEAT", 40, 41)]);
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
    if matches!(body.src, Cat1Src::Immediate(_)) && isa.has_nops() && (body.is_mova() || body.is_mova1()) {
        rows.push(("SRC_R", 43, 43));
    }
}

fn several_moves(op: Cat1Op, rows: &mut Vec<Row>) {
    rows.push(("SUB_OPCODE", 40, 41));
    rows.extend(match op {
        Cat1Op::Swz => &[("SRC0", 0, 7), ("SRC1", 8, 15), ("DST1", 16, 23)][..],
        Cat1Op::Sct => &[("SRC0", 0, 7), ("DST1", 8, 15), ("DST2", 16, 23), ("DST3", 24, 31)],
        _ => &[("SRC0", 0, 7), ("SRC1", 8, 15), ("SRC2", 16, 23), ("SRC3", 24, 31)],
    });
}

const FIRST: [Row; 5] =
    [("SRC1_R", 43, 43), ("SRC1_ABS", 15, 15), ("SRC1_NEG", 14, 14), ("SRC1_FORM", 11, 13), ("SRC1", 0, 10)];

const SECOND: [Row; 5] =
    [("SRC2_R", 51, 51), ("SRC2_ABS", 31, 31), ("SRC2_NEG", 30, 30), ("SRC2_FORM", 27, 29), ("SRC2", 16, 26)];

fn two_sources(isa: Isa, body: &Cat2, rows: &mut Vec<Row>) {
    rows.extend([("OPCODE", 53, 58), ("FULL", 52, 52), ("EI", 47, 47), ("DST_CONV", 46, 46)]);
    rows.extend([("SAT", 42, 42), ("REPEAT", 40, 41), ("DST", 32, 39)]);
    rows.extend(FIRST);
    if body.cond.is_some() {
        rows.push(("COND", 48, 50));
    }
    if body.src2.is_some() {
        rows.extend(SECOND);
    }
    if isa.is_strict() && matches!(body.op, Cat2Op::BaryF | Cat2Op::FlatB) {
        rows.push(("FLAT", 50, 50));
    }
    nops(isa.has_nops() && body.op.has_nops() && body.repeat == 0, SRC2_R, rows);
}

/// Where an instruction has (nopN), its bits are not those of (r).
fn nops(has_nops: bool, high: u32, rows: &mut Vec<Row>) {
    if has_nops {
        rows.retain(|(name, ..)| !matches!(*name, "SRC1_R" | "SRC2_R"));
        rows.extend([("NOP_LO", 43, 43), ("NOP_HI", high, high)]);
    }
}

const THIRD: [Row; 9] = [
    ("OPCODE", 55, 58),
    ("SRC2", 47, 54),
    ("SRC1_R", 43, 43),
    ("REPEAT", 40, 41),
    ("DST", 32, 39),
    ("SRC3_R", 29, 29),
    ("SRC3", 16, 28),
    ("SRC2_R", 15, 15),
    ("SRC1", 0, 12),
];

fn three_sources(isa: Isa, body: &Cat3, rows: &mut Vec<Row>) {
    rows.extend(THIRD);
    let class = body.op.class();
    let negations = [("SRC1_NEG", 14, 14), ("SRC2_NEG", 30, 30), ("SRC3_NEG", 31, 31)];
    rows.extend(negations.into_iter().zip(class.negations()).filter(|(_, has)| *has).map(|(row, _)| row));
    rows.extend(match class {
        Cat3Class::Shift => [("FULL", 42, 42), ("DST_CONV", 46, 46)].as_slice(),
        Cat3Class::Dot => &[("SAT", 42, 42), ("SIGNS", 14, 14), ("PACK", 30, 30), ("OPCODE_HI", 46, 46)],
        Cat3Class::Matrix => &[("FULL", 31, 31), ("OPCODE_HI", 42, 42), ("DST_FULL", 46, 46)],
        _ => &[("SAT", 42, 42), ("DST_CONV", 46, 46)],
    });
    if isa == Isa::A6xx {
        rows.push(("ALT", 13, 13));
    }
    if body.nops > 0 {
        rows.retain(|(name, ..)| *name != "SRC3_R");
    }
    nops(isa.has_nops() && body.repeat == 0, 15, rows);
}

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

fn texture(isa: Isa, body: &Cat5, rows: &mut Vec<Row>) {
    rows.push(("OPCODE", 54, 58));
    let class = body.op.class();
    if class == Cat5Class::Plain {
        return;
    }
    rows.extend([("TYPE", 44, 46), ("WRMASK", 40, 43), ("DST", 32, 39)]);
    let mut second = ("SRC2", 9, 16);
    if class.has_flags() {
        let is_isam = body.op == Cat5Op::Isam && isa.is_strict();
        rows.extend([("O", 52, 52), ("INDIRECT", 51, 51), ("A", 49, 49), ("3D", 48, 48)]);
        rows.extend(if is_isam { [("V", 50, 50), ("INV_1D", 18, 18)].as_slice() } else { &[("S", 50, 50)] });
        if is_isam && !body.has_src2() {
            rows.extend((body.offset > 0).then_some(("IMM_OFFSET", 53, 53)));
            second.0 = "OFFSET";
        } else if !is_isam {
            rows.push(("P", 53, 53));
        }
        slots(isa, body, rows);
    } else {
        rows.push(("SHUFFLE", 53, 53));
        rows.push(if class == Cat5Class::Cluster1 { ("W", 19, 20) } else { ("VARIANT", 19, 20) });
    }
    if body.has_src2() || body.offset > 0 {
        rows.push(second);
    }
    if body.has_src1() {
        rows.push(("SRC1", 1, 8));
    }
    if body.has_src1() || body.has_src2() {
        rows.push(("FULL", 0, 0));
    }
}

fn slots(isa: Isa, body: &Cat5, rows: &mut Vec<Row>) {
    let class = body.op.class();
    let (sampler, texture) = match body.slots {
        Cat5Slots::Indirect { .. } => return rows.extend([("MODE", 29, 31), ("SRC3", 21, 28)]),
        Cat5Slots::Immediate { .. } => (("SAMP", 21, 24), Some(("TEX", 25, 31))),
        Cat5Slots::Bindless { a1, index, .. } => {
            rows.extend([("MODE", 29, 31), ("BASE_LO", 47, 47), ("BASE_HI", 19, 20)]);
            match index {
                BindlessIndex::Register { .. } => return rows.push(("SRC3", 21, 28)),
                BindlessIndex::Immediate { .. } if a1 && isa == Isa::A6xx => (("SAMP", 21, 28), None),
                BindlessIndex::Immediate { .. } => (("SAMP", 21, 24), Some(("TEX", 25, 28))),
            }
        }
    };
    rows.extend(texture.filter(|_| class.has_texture()));
    rows.extend(class.has_sampler().then_some(sampler));
}

const VIEW: [Row; 3] = [("COMPONENTS", 12, 13), ("TYPED", 11, 11), ("DIMS", 9, 10)];
const SLOT: [Row; 2] = [("SLOT_IMM", 53, 53), ("SLOT", 41, 48)];
const LOW_PAIR: [Row; 4] = [("SRC2", 24, 31), ("SRC2_IMM", 23, 23), ("SRC1_IMM", 22, 22), ("SRC1", 14, 21)];

fn memory(isa: Isa, body: &Cat6, word: u64, rows: &mut Vec<Row>) {
    if let Cat6Form::Descriptor(form) = &body.form {
        return descriptor(form, word, rows);
    }
    rows.extend([("OPCODE", 54, 58), ("TYPE", 49, 51)]);
    let count = ("COUNT", 24, 23 + body.op.count(isa));
    match body.form {
        Cat6Form::Load { .. } => {
            rows.extend([("DST", 32, 39), count, ("ADDRESS", 14, 21), ("OFFSET", 1, 13)])
        }
        Cat6Form::Store { .. } => {
            rows.extend([("ADDRESS", 41, 48), ("OFFSET_LO", 32, 39), count]);
            rows.extend([("OFFSET_HI", 9, 13), ("VALUE", 1, 8)]);
        }
        Cat6Form::IndexedLoad { .. } => {
            rows.extend([("DST", 32, 39), count, ("INDEXED", 22, 22), ("ADDRESS", 14, 21)]);
            rows.extend([("SHIFT", 12, 13), ("OFFSET", 9, 10), ("INDEX", 1, 8)]);
        }
        Cat6Form::IndexedStore { .. } => {
            rows.extend([("INDEXED", 52, 52), ("ADDRESS", 41, 48), ("INDEX", 32, 39), count]);
            rows.extend([("SHIFT", 12, 13), ("OFFSET", 9, 10), ("VALUE", 1, 8)]);
        }
        Cat6Form::LoadConstants { .. } => {
            rows.extend([("CONSTANTS", 52, 52), ("TARGET_A1", 40, 40), ("TARGET", 32, 39)]);
            rows.extend([("COUNT", 23, 26), ("ADDRESS", 14, 21), ("OFFSET", 1, 13)]);
        }
        Cat6Form::StoreConstants { .. } => {
            rows.extend([("TARGET_A1", 40, 40), ("TARGET", 32, 39), ("COUNT", 24, 26), ("VALUE", 1, 8)]);
        }
        Cat6Form::Shuffle { .. } => {
            rows.extend([("MODE", 45, 47), ("DST", 32, 39), ("SRC2", 24, 31), ("SRC2_IMM", 23, 23)]);
            rows.push(("SRC1", 1, 8));
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
        Cat6Form::AtomicLocal { .. } | Cat6Form::AtomicSlot { .. } | Cat6Form::AtomicGlobal { .. } => {
            rows.extend(VIEW.into_iter().chain(LOW_PAIR));
            rows.extend([("GLOBAL", 52, 52), ("DST", 32, 39)]);
            if matches!(body.form, Cat6Form::AtomicSlot { .. }) {
                rows.extend(SLOT);
                rows.push(("SRC3", 1, 8));
            }
        }
        Cat6Form::Info { .. } => {
            rows.extend(SLOT);
            rows.extend([("DST", 32, 39), ("DIMS", 9, 10)]);
        }
        Cat6Form::Descriptor(_) => {}
    }
}

fn descriptor(form: &Descriptor, word: u64, rows: &mut Vec<Row>) {
    rows.push(("OPCODE", 14, 19));
    if let Descriptor::Identity { .. } = form {
        return rows.extend([("TYPE", 49, 51), ("DST", 32, 39)]);
    }
    rows.extend([("SLOT", 41, 48), ("BINDLESS", 8, 8), ("MODE", 6, 7)]);
    rows.extend(bit(word, 8).then_some(("BASE", 1, 3)));
    let source = [("SRC1", 24, 31), ("SRC1_IMM", 23, 23)];
    match form {
        Descriptor::Load { offset, .. } | Descriptor::Store { offset, .. } => {
            rows.extend(VIEW);
            rows.extend([("TYPE", 49, 51), ("VALUE", 32, 39), ("COORDINATES", 24, 31)]);
            if *offset > 0 {
                rows.extend([("OFFSET_LO", 54, 58), ("HAS_OFFSET", 23, 23), ("OFFSET_HI", 4, 5)]);
            }
        }
        Descriptor::Atomic { .. } => {
            rows.extend(VIEW);
            rows.extend([("TYPE", 49, 51), ("DATA", 32, 39), ("COORDINATES", 24, 31)]);
        }
        Descriptor::Info { .. } => {
            rows.extend(VIEW);
            rows.extend([("TYPE", 49, 51), ("DST", 32, 39)]);
        }
        Descriptor::Uniforms { .. } => {
            rows.extend(source);
            rows.extend([("CONSTANTS", 52, 52), ("DST", 32, 39), ("COMPONENTS", 12, 13)]);
            rows.extend([("U", 11, 11), ("OFFSET", 9, 10)]);
        }
        Descriptor::ToConstants { .. } => {
            rows.extend(source);
            rows.extend([("CONSTANTS", 52, 52), ("COUNT", 32, 39)]);
        }
        Descriptor::Identity { .. } => {}
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

    use super::super::Instr;
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

    fn meaning(isa: Isa, word: u64) -> Instr {
        Instr { extra: 0, ..isa.decode(word) }
    }

    /// Changing a bit outside of all fields has no effect, or makes the word unknown, or one of another op or form.
    /// Every field has an effect in some word.
    fn held(isa: Isa, least: usize) {
        let mut read: BTreeMap<(usize, &str), bool> = BTreeMap::new();
        for word in words().filter(|&word| isa.decode(word).body != Body::Unknown) {
            let fields = fields(isa, word);
            let covered = fields.iter().fold(0, |covered, field| {
                assert_eq!(covered & field.mask(), 0, "{isa:?} {word:016x}: {field:?} overlaps");
                covered | field.mask()
            });
            for at in (0..64).filter(|at| covered >> at & 1 == 0) {
                let (now, then) = (meaning(isa, word ^ 1 << at), meaning(isa, word));
                let same = now == then || now.body == Body::Unknown || another_form(&now, &then);
                assert!(same, "{isa:?} {word:016x}: bit {at} is in no field: {then:?} -> {now:?}");
            }
            for field in &fields {
                let flipped =
                    (field.lo..=field.hi).any(|at| meaning(isa, word ^ 1 << at) != meaning(isa, word));
                *read.entry((category(word), field.name)).or_default() |= flipped;
            }
        }
        let unread: Vec<_> = read.iter().filter(|(_, read)| !**read).collect();
        assert!(unread.is_empty(), "{isa:?}: no bit of {unread:?} means anything");
        assert!(read.len() > least, "{isa:?}: {} fields met", read.len());
    }

    /// Whether a fixed bit makes the difference: one of another form of category 6, or the bit before an offset.
    fn another_form(now: &Instr, then: &Instr) -> bool {
        match (&now.body, &then.body) {
            (Body::Cat6(now), Body::Cat6(then)) => {
                std::mem::discriminant(&now.form) != std::mem::discriminant(&then.form)
                    || now.op != then.op
                    || has_offset(now) != has_offset(then)
            }
            (Body::Cat5(now), Body::Cat5(then)) => now.offset != then.offset && now.op == Cat5Op::Isam,
            _ => false,
        }
    }

    fn has_offset(instr: &Cat6) -> bool {
        use Descriptor::{Load, Store};
        matches!(&instr.form, Cat6Form::Descriptor(Load { offset, .. } | Store { offset, .. }) if *offset > 0)
    }

    #[test]
    fn fields_are_the_bits_that_the_decoder_reads() {
        held(Isa::A4xx, 90);
    }

    #[test]
    fn fields_of_later_generations_are_the_bits_that_the_decoder_reads() {
        held(Isa::A5xx, 90);
        held(Isa::A6xx, 120);
    }
}
