//! Shader programs in the form in which they run: what the interpreter, the compiler and warps work on.
use std::fmt;

use a4emu_decoder::adreno::ir3::{Body, Cat0, Cat0Op, Instr};
use xxhash_rust::xxh3::xxh3_64;

use super::alu::{Alu, Row};
use super::effect::Effect;
use super::rowmap;
use super::summary::Summary;

/// A lowered program, independent of constants and lanes.
#[derive(Clone, Debug)]
pub struct Lowered {
    pub(super) alus: Vec<Alu>,
    /// The instruction that each operation belongs to.
    // Only the compiler reads this, and not all hosts have one.
    #[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), allow(dead_code))]
    pub(super) sources: Vec<u32>,
    pub(super) steps: Vec<Step>,
    pub(super) uniforms: Vec<Uniform>,
    /// Result of [`Lowered::constants_read`].
    pub(super) constants: Option<usize>,
    /// Rows that may be read before they are written.
    pub(super) zeroed: Vec<Row>,
    /// Rows that are written in every lane before they are read.
    pub(super) overwritten: Vec<Row>,
    pub(super) summary: Summary,
    /// Descriptors at bindless bases. Those of a kind have the slots from [`BindlessSlot::FIRST`] on, in this order.
    pub(super) bindless: Vec<BindlessSlot>,
    pub(super) instructions: usize,
    /// Class of each instruction. Empty for PicoGpu programs.
    pub(super) classes: Vec<Option<InstructionClass>>,
    pub(super) watched: bool,
    /// Result of [`Lowered::hash_of`]. 0 for PicoGpu programs.
    #[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), allow(dead_code))]
    pub(super) hash: u64,
}

/// A descriptor at a bindless base that a program names, which has a slot behind those of the bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BindlessSlot {
    /// What it describes.
    pub kind: BindlessKind,
    /// Number of the base.
    pub base: u8,
    /// Number of the descriptor at the base.
    pub descriptor: u32,
}

/// What a descriptor at a bindless base describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindlessKind {
    /// A texture.
    Texture,
    /// A sampler.
    Sampler,
}

impl BindlessSlot {
    /// The slot of the first descriptor of each kind. Bindings have those below it.
    pub const FIRST: u32 = 64;
}

/// Several operations and the effect that ends them. Control flow moves from step to step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// First operation.
    pub first: u32,
    /// End of the operations, exclusive.
    pub end: u32,
    /// Number of instructions in this step. The last one is at `at`.
    pub instructions: u32,
    /// Index of the instruction with the effect.
    pub at: u32,
    /// The effect after the operations.
    pub effect: Effect,
}

/// A value that is equal in all lanes while the constants are unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Uniform {
    /// An immediate.
    Bits(u32),
    /// A scalar of the constant file.
    Constant(u16),
    /// A scalar of the constant file: its f32 value rounded to f16.
    HalfFloat(u16),
    /// A scalar of the constant file: its low 16 bits.
    HalfInteger(u16),
}

/// What performance counters count an instruction as (docs/hardware/counters.md, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionClass {
    /// Arithmetic on full registers.
    FullAlu,
    /// Arithmetic on half registers.
    HalfAlu,
    /// A special function.
    Efu,
    /// A texture instruction.
    Texture,
    /// Flow control.
    Flow,
}

impl InstructionClass {
    /// Number of classes.
    pub const COUNT: usize = 5;

    /// Returns the class of `instr`, if it has one.
    pub fn of(instr: &Instr) -> Option<Self> {
        let alu = |half: bool| if half { Self::HalfAlu } else { Self::FullAlu };
        match &instr.body {
            Body::Cat0(Cat0 { op: Cat0Op::Nop, .. }) => None,
            Body::Cat0(_) => Some(Self::Flow),
            Body::Cat1(instr) => Some(alu(instr.dst_type.is_half() || instr.src_type.is_half())),
            Body::Cat2(instr) => Some(alu(instr.half)),
            Body::Cat3(instr) => Some(alu(instr.op.class().is_half())),
            Body::Cat4(_) => Some(Self::Efu),
            Body::Cat5(_) => Some(Self::Texture),
            Body::Cat6(_) | Body::Cat7(_) | Body::Unknown => None,
        }
    }
}

/// Reason why words are not a program. A single invalid instruction is no reason: it faults when it is
/// reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// There are no instructions.
    Empty,
    /// More instructions than are accepted.
    TooLong(usize),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "shader without instructions"),
            Self::TooLong(len) => write!(f, "shader of {len} instructions is too long"),
        }
    }
}

impl std::error::Error for ProgramError {}

impl Lowered {
    /// Most instructions accepted. Programs of an A4xx have at most 4080, as their length has 8 bits and counts groups of 16.
    pub const MAX_INSTRUCTIONS: usize = 1 << 16;

    /// XXH3 of `words` (little-endian), without the zeros after the last nonzero word.
    pub fn hash_of(words: &[u64]) -> u64 {
        let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let bytes: Vec<u8> = words[..used].iter().flat_map(|word| word.to_le_bytes()).collect();
        xxh3_64(&bytes)
    }

    /// The short form of a program's `hash`, for listings and file names.
    pub fn short(hash: u64) -> String {
        format!("{:08x}", hash >> 32)
    }

    /// Ids of the full registers that may be read before they are written: the inputs.
    pub fn inputs(&self) -> impl Iterator<Item = u32> {
        let full = rowmap::FULL..rowmap::FULL + rowmap::REGISTERS;
        self.zeroed.iter().filter(move |row| full.contains(row)).map(|row| u32::from(row - rowmap::FULL))
    }

    /// Whether full register `id` is written in every lane before it is read.
    pub fn overwrites(&self, id: u32) -> bool {
        Row::try_from(id).is_ok_and(|id| self.overwritten.contains(&(rowmap::FULL + id)))
    }

    /// Whether it reports guesses or selections of a0.x to the environment.
    pub fn is_watched(&self) -> bool {
        self.watched
    }

    /// Descriptors at bindless bases that it names. Those of a kind have the slots from [`BindlessSlot::FIRST`] on, in this
    /// order.
    pub fn bindless(&self) -> &[BindlessSlot] {
        &self.bindless
    }

    /// Number of instructions before lowering.
    pub fn instructions(&self) -> usize {
        self.instructions
    }

    /// The summary of its effects.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// Number of vec4 registers: up to the highest full one, plus half of those up to the highest half one. A
    /// register selected by a0.x counts as all 48.
    pub fn registers(&self) -> u32 {
        let [full, half] = self.vec4s();
        full + half.div_ceil(2)
    }

    /// Number of vec4s up to the highest named register, of the full and of the half file.
    pub fn vec4s(&self) -> [u32; 2] {
        let mut named = vec![];
        for alu in &self.alus {
            named.extend(alu.src.into_iter().chain([alu.dst]));
        }
        for step in &self.steps {
            step.effect.visit_reads(|row| named.push(row));
            step.effect.visit_writes(|row| named.push(row));
        }
        let vec4s = |base: Row| {
            let within = base..base + rowmap::REGISTERS;
            let highest = named.iter().filter(|row| within.contains(row)).max();
            highest.map_or(0, |row| u32::from(row - base + 1).div_ceil(4))
        };
        [vec4s(rowmap::FULL), vec4s(rowmap::HALF)]
    }

    /// Number of scalars of the constant file up to the last one that it reads. `None` if a0.x selects them.
    pub fn constants_read(&self) -> Option<usize> {
        self.constants
    }

    /// The scalars of the constant file that it reads. `None` if a0.x selects them.
    pub fn constants(&self) -> Option<impl Iterator<Item = usize> + use<'_>> {
        self.constants.map(|_| self.uniforms.iter().filter_map(|uniform| uniform.constant()))
    }

    /// Whether the program reads equal values from two constant files. Constants that it does not read may
    /// differ.
    pub fn reads_alike(&self, a: &[u32], b: &[u32]) -> bool {
        match self.constants() {
            None => a == b,
            Some(mut read) => read.all(|at| a.get(at) == b.get(at)),
        }
    }

    /// The varying location in `row`, if it is an immediate.
    pub(super) fn location(&self, row: Row) -> Option<u16> {
        match self.uniforms.get(usize::from(row.checked_sub(rowmap::UNIFORMS)?))? {
            Uniform::Bits(location) => (*location).try_into().ok(),
            _ => None,
        }
    }

    /// Number of rows of a warp of this program.
    pub fn rows(&self) -> usize {
        rowmap::UNIFORMS as usize + self.uniforms.len()
    }
}

impl Uniform {
    /// The scalar of the constant file that it is made from.
    pub(super) fn constant(self) -> Option<usize> {
        match self {
            Self::Bits(_) => None,
            Self::Constant(index) | Self::HalfFloat(index) | Self::HalfInteger(index) => Some(index.into()),
        }
    }

    /// The value, for a given constant file. Constants past its end are 0.
    pub(super) fn resolve(self, constants: &[u32]) -> u32 {
        let constant = |index: u16| constants.get(index as usize).copied().unwrap_or(0);
        match self {
            Self::Bits(bits) => bits,
            Self::Constant(index) => constant(index),
            Self::HalfFloat(index) => {
                u32::from(half::f16::from_f32(f32::from_bits(constant(index))).to_bits())
            }
            Self::HalfInteger(index) => constant(index) & 0xffff,
        }
    }
}
