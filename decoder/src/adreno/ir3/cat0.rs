//! Category 0: flow control (ir3-cat0.xml).
//!
//! ```text
//! 31:0 IMMED  36:32 INDEX  39:37 BRTYPE  42:40 repeat  45 INV2  47:46 COMP2  48 (eq)
//! 49 opcode bit 4  52 INV1  54:53 COMP1  58:55 opcode bits 3:0
//! getlast: 54:52 log2 of the cluster's fibers, minus 1
//! ```
use super::bits::{bit, field, put, signed};
use super::isa::Isa;
use super::rows::opcodes;

/// The operands of a category-0 op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat0Class {
    /// No operand but (rptN).
    Plain,
    /// One predicate.
    Predicate,
    /// A target.
    Target,
    /// One predicate and a target.
    Branch1,
    /// Two predicates and a target.
    Branch2,
    /// An index and a target.
    BranchIndex,
    /// The size of a cluster of fibers and a target.
    Cluster,
}

impl Cat0Class {
    /// Whether the op names a target.
    pub const fn has_target(self) -> bool {
        !matches!(self, Self::Plain | Self::Predicate)
    }

    /// Number of predicates that the op reads.
    pub const fn predicates(self) -> usize {
        match self {
            Self::Plain | Self::Target | Self::BranchIndex | Self::Cluster => 0,
            Self::Predicate | Self::Branch1 => 1,
            Self::Branch2 => 2,
        }
    }
}

/// Category 0 rows: `{ opcode | BRTYPE << 5, Variant, "mnemonic", Class }`.
/// BRTYPE belongs to opcode 1 alone. `getlast` has a 1 there because A4xx has the name `xclr` for its opcode.
#[macro_export]
macro_rules! for_each_cat0 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0x00, Nop, "nop", Plain }
            { 0x01, Br, "br", Branch1 }
            { 0x21, Brao, "brao", Branch2 }
            { 0x41, Braa, "braa", Branch2 }
            { 0x61, Brac, "brac", BranchIndex }
            { 0x81, Bany, "bany", Branch1 }
            { 0xa1, Ball, "ball", Branch1 }
            { 0xc1, Brax, "brax", Target }
            { 0x02, Jump, "jump", Target }
            { 0x03, Call, "call", Target }
            { 0x04, Ret, "ret", Plain }
            { 0x05, Kill, "kill", Predicate }
            { 0x06, End, "end", Plain }
            { 0x07, Emit, "emit", Plain }
            { 0x08, Cut, "cut", Plain }
            { 0x09, Chmask, "chmask", Plain }
            { 0x0a, Chsh, "chsh", Plain }
            { 0x0b, FlowRev, "flow_rev", Plain }
            { 0x10, Bkt, "bkt", Target }
            { 0x11, Stks, "stks" until A4xx, Plain }
            { 0x12, Stkr, "stkr" until A4xx, Plain }
            { 0x13, Xset, "xset" until A4xx, Plain }
            { 0x14, Xclr, "xclr" until A4xx, Plain }
            { 0x34, Getlast, "getlast" since A6xx, Cluster }
            { 0x15, Getone, "getone", Target }
            { 0x16, Dbg, "dbg" until A4xx, Plain }
            { 0x17, Shps, "shps", Target }
            { 0x18, Shpe, "shpe", Plain }
            { 0x1d, Predt, "predt", Predicate }
            { 0x1e, Predf, "predf", Predicate }
            { 0x1f, Prede, "prede", Plain }
        }
    };
}

for_each_cat0!(
    opcodes,
    /// The ops of category 0.
    Cat0Op,
    Cat0Class
);

impl Cat0Op {
    /// Whether the op reads p0.x if its text names no predicate. Mesa 25 prints `predt` and `predf` without
    /// one.
    pub(super) const fn means_p0x(self) -> bool {
        matches!(self, Self::Predt | Self::Predf)
    }

    /// Whether the op has (eq).
    pub(super) const fn has_eq(self) -> bool {
        !matches!(self.class(), Cat0Class::Target | Cat0Class::Cluster)
    }

    /// Whether the op has (rptN). From A5xx on `predt` and `predf` are words without a predicate.
    pub(super) const fn repeats(self, isa: Isa) -> bool {
        matches!(self.class(), Cat0Class::Plain) || self.means_p0x() && isa.is_strict()
    }

    /// The bits that are 0 in each word of the op.
    const fn zeros(self) -> u64 {
        const BRANCH_TYPE: u64 = 7 << 37;
        const SECOND: u64 = 7 << 45;
        match self.class() {
            Cat0Class::Plain => BRANCH_TYPE | SECOND | 7 << 52,
            Cat0Class::Predicate if self.means_p0x() => BRANCH_TYPE | SECOND | 7 << 52,
            Cat0Class::Predicate => BRANCH_TYPE | SECOND | 0x1f << 32,
            _ => 0,
        }
    }
}

/// A predicate source: `p0.<component>`, or its inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Predicate {
    /// Component of p0, 0 to 3.
    pub component: u8,
    /// Whether the predicate is inverted: `!`.
    pub inverted: bool,
}

/// An instruction of category 0. Fields that the op's class does not use are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cat0 {
    /// The op.
    pub op: Cat0Op,
    /// Target, in instructions from this one.
    pub offset: i32,
    /// Index of `brac`; for `getlast`, the logarithm of the cluster's fibers, minus 1.
    pub index: u8,
    /// First predicate.
    pub predicate1: Predicate,
    /// Second predicate.
    pub predicate2: Predicate,
    /// (rptN) of a plain op, 0 to 7.
    pub repeat: u8,
    /// (eq): a scheduling hint.
    pub eq: bool,
}

impl Cat0 {
    /// An instruction without operands.
    pub const fn plain(op: Cat0Op) -> Self {
        let predicate = Predicate { component: 0, inverted: false };
        Self { op, offset: 0, index: 0, predicate1: predicate, predicate2: predicate, repeat: 0, eq: false }
    }

    /// Decodes `word`; `None` for an opcode without a row.
    #[inline(always)]
    pub(super) fn decode(isa: Isa, word: u64) -> Option<Self> {
        let opcode = field(word, 55, 4) | field(word, 49, 1) << 4;
        let kind = match opcode {
            1 => field(word, 37, 3) << 5,
            0x14 if isa == Isa::A6xx => 0x20,
            _ => 0,
        };
        let op = Cat0Op::from_bits((opcode | kind) as u8).filter(|op| op.is_in(isa))?;
        let class = op.class();
        if isa.is_strict() && word & op.zeros() != 0 {
            return None;
        }
        let mut instr = Self::plain(op);
        instr.eq = op.has_eq() && bit(word, 48);
        if op.repeats(isa) {
            instr.repeat = field(word, 40, 3) as u8;
        }
        if class == Cat0Class::Cluster {
            instr.index = field(word, 52, 3) as u8;
        }
        if class == Cat0Class::BranchIndex {
            instr.index = field(word, 32, 5) as u8;
        }
        if class.has_target() {
            instr.offset = signed(word, 0, 32) as i32;
        }
        if class.predicates() > 0 {
            instr.predicate1 = Predicate { component: field(word, 53, 2) as u8, inverted: bit(word, 52) };
        }
        if class.predicates() > 1 {
            instr.predicate2 = Predicate { component: field(word, 46, 2) as u8, inverted: bit(word, 45) };
        }
        Some(instr)
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        let opcode = self.op.bits();
        let (cluster, index) = match self.op.class() {
            Cat0Class::Cluster => (self.index & 7, 0),
            _ => (0, self.index & 0x1f),
        };
        let branch_type = if opcode & 0x1f == 1 { opcode >> 5 } else { 0 };
        put(opcode & 0xf, 55)
            | put(cluster, 52)
            | put(self.predicate1.component & 3, 53)
            | put(self.predicate1.inverted, 52)
            | put(opcode >> 4 & 1, 49)
            | put(self.eq, 48)
            | put(self.predicate2.component & 3, 46)
            | put(self.predicate2.inverted, 45)
            | put(self.repeat & 7, 40)
            | put(branch_type, 37)
            | put(index, 32)
            | put(self.offset as u32, 0)
    }
}
