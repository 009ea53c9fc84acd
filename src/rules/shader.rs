//! Programs: their words, their text, and the resources they name.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use a4emu_decoder::adreno::ir3::program::disassemble_in;
use a4emu_decoder::adreno::ir3::{
    BindlessIndex, Body, Cat1, Cat1Src, Cat2Class, Cat3Class, Cat5, Cat5Slots, Cat6, Cat6Form, Cat6Op,
    Descriptor, DescriptorMode, Instr, Isa, Operand, RegOrImm, Src, Through, Type,
};
use hashbrown::HashMap;

use super::number::{Number, NumberUse};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_shader::Program;

/// Maximum number of cached programs. A full cache is emptied.
const MAX_PROGRAMS: usize = 4096;

/// Maximum number of instructions of the cached programs.
const MAX_INSTRUCTIONS: usize = 1 << 21;

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Hash of the words ([`Program::hash_of`]).
    pub hash: u64,
    /// The instruction set.
    pub isa: Isa,
    /// The instructions, without the zeros after the last.
    pub words: Vec<u64>,
    /// The resources that the instructions name.
    pub uses: Uses,
}

/// The resources that the instructions of a program name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Scalars of the constant file (number * 4 + component), and what the instructions take them for.
    pub constants: BTreeMap<u16, NumberUse>,
    /// Whether constants are also selected by a0.x.
    pub relative_constants: bool,
    /// Pairs of sampler and texture slots that are used together.
    pub samples: BTreeSet<(Option<u8>, u8)>,
    /// Whether slots are also selected by registers.
    pub relative_samples: bool,
    /// Slots of storage buffers and images.
    pub buffers: BTreeSet<u8>,
    /// Whether storage slots are also selected by registers.
    pub relative_buffers: bool,
    /// Slots of storage buffers and images that an instruction stores to.
    pub stored: BTreeSet<u8>,
    /// Whether an instruction stores to memory.
    pub stores: bool,
    /// Whether an instruction stores to memory at an address in a register.
    pub stores_by_pointer: bool,
    /// Descriptors of an A6xx in memory, which instructions name by number.
    pub descriptors: BTreeSet<Named>,
}

/// What a descriptor of an A6xx is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taken {
    /// A texture.
    Texture,
    /// A sampler.
    Sampler,
    /// A storage buffer or an image.
    Buffer,
    /// A constant buffer.
    Uniforms,
}

/// A descriptor of an A6xx that an instruction names by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    /// What it is taken for.
    pub taken: Taken,
    /// The bindless base; none for a slot of the stage's bindings.
    pub base: Option<u8>,
    /// The number there.
    pub slot: u8,
}

impl Shader {
    /// Makes a program of an A4xx, as [`Self::of`].
    pub fn new(words: &[u64]) -> Self {
        Self::of(Isa::A4xx, words)
    }

    /// Makes a program from `words` of `isa` and finds the resources it names.
    pub fn of(isa: Isa, words: &[u64]) -> Self {
        let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let words = words[..used].to_vec();
        let mut uses = Uses::default();
        words.iter().for_each(|word| uses.add(&isa.decode(*word)));
        Self { hash: Program::hash_of(&words), isa, words, uses }
    }

    /// The hash in the short form of listings.
    pub fn short_hash(&self) -> String {
        Program::short(self.hash)
    }

    /// The disassembly, one instruction a line, with labels.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let written = disassemble_in(self.isa, &self.words, &mut text);
        debug_assert!(written.is_ok(), "strings take everything");
        text
    }

    /// The disassembled instructions without labels.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let count = self.words.len();
        self.words.iter().enumerate().map(move |(index, word)| {
            let mut line = String::new();
            let written = write!(line, "{}", self.isa.decode(*word).in_program(index, count));
            debug_assert!(written.is_ok(), "strings take everything");
            line
        })
    }
}

impl Uses {
    fn add(&mut self, instr: &Instr) {
        match &instr.body {
            Body::Cat1(cat1) => {
                if let Cat1Src::Operand(operand) = &cat1.src {
                    self.operand(operand, cat1.repeat, moved(cat1));
                }
            }
            Body::Cat2(cat2) => {
                let sources = [Some(&cat2.src1), cat2.src2.as_ref()].into_iter().flatten();
                let class = cat2.op.class();
                let taken = match class {
                    _ if class.is_float() => Number::Float,
                    _ if class.is_signed() => Number::Signed,
                    Cat2Class::Bits1 | Cat2Class::Bits2 => Number::Bits,
                    _ => Number::Unsigned,
                };
                sources.for_each(|operand| self.operand(operand, cat2.repeat, NumberUse::computed(taken)));
            }
            Body::Cat3(cat3) => {
                let taken = match cat3.op.class() {
                    Cat3Class::Float32 | Cat3Class::Float16 => NumberUse::computed(Number::Float),
                    Cat3Class::Sint32 | Cat3Class::Sint16 => NumberUse::computed(Number::Signed),
                    Cat3Class::Uint32 | Cat3Class::Uint16 => NumberUse::computed(Number::Unsigned),
                    // Moves select whole words.
                    _ => NumberUse::default(),
                };
                [&cat3.src1, &cat3.src2, &cat3.src3]
                    .into_iter()
                    .for_each(|operand| self.operand(operand, cat3.repeat, taken));
            }
            Body::Cat4(cat4) => self.operand(&cat4.src, cat4.repeat, NumberUse::computed(Number::Float)),
            Body::Cat5(cat5) => self.sample(cat5),
            Body::Cat6(cat6) => self.access(cat6),
            Body::Cat0(_) | Body::Cat7(_) | Body::Unknown => {}
        }
    }

    fn operand(&mut self, operand: &Operand, repeat: u8, taken: NumberUse) {
        match operand.src {
            Src::Const(first) => {
                let last = if operand.step { u16::from(repeat) } else { 0 };
                for step in 0..=last {
                    self.constants.entry(first.saturating_add(step)).or_default().join(taken);
                }
            }
            Src::RelativeConst(_) => self.relative_constants = true,
            Src::Gpr(_) | Src::RelativeGpr(_) | Src::Immediate(_) | Src::Flut { .. } => {}
        }
    }

    fn sample(&mut self, cat5: &Cat5) {
        let class = cat5.op.class();
        match cat5.slots {
            _ if !class.has_texture() => {}
            Cat5Slots::Immediate { sampler, texture } => {
                self.samples.insert((class.has_sampler().then_some(sampler), texture));
            }
            Cat5Slots::Indirect { .. } => self.relative_samples = true,
            Cat5Slots::Bindless { base, a1, index } => match index {
                BindlessIndex::Immediate { sampler, texture } if !a1 => {
                    self.name(Taken::Texture, Some(base), texture);
                    if class.has_sampler() {
                        self.name(Taken::Sampler, Some(base), sampler);
                    }
                }
                _ => self.relative_samples = true,
            },
        }
    }

    fn name(&mut self, taken: Taken, base: Option<u8>, slot: u8) {
        self.descriptors.insert(Named { taken, base, slot });
    }

    fn descriptor(&mut self, descriptor: &Descriptor) {
        let (taken, through) = match descriptor {
            Descriptor::Load { through, .. }
            | Descriptor::Store { through, .. }
            | Descriptor::Atomic { through, .. }
            | Descriptor::Info { through, .. } => (Taken::Buffer, through),
            Descriptor::Uniforms { through, .. } | Descriptor::ToConstants { through, .. } => {
                (Taken::Uniforms, through)
            }
            Descriptor::Identity { .. } => return,
        };
        match *through {
            Through { mode: DescriptorMode::Immediate, base, slot } => self.name(taken, base, slot),
            _ => self.relative_buffers |= taken == Taken::Buffer,
        }
    }

    fn access(&mut self, cat6: &Cat6) {
        let stores = matches!(
            cat6.form,
            Cat6Form::Store { .. }
                | Cat6Form::IndexedStore { .. }
                | Cat6Form::BufferStore { .. }
                | Cat6Form::AtomicSlot { .. }
                | Cat6Form::AtomicGlobal { .. }
                | Cat6Form::Descriptor(Descriptor::Store { .. } | Descriptor::Atomic { .. })
        );
        self.stores |= stores;
        self.stores_by_pointer |= cat6.op == Cat6Op::Stg;
        let slot = match cat6.form {
            Cat6Form::BufferLoad { slot, .. }
            | Cat6Form::BufferStore { slot, .. }
            | Cat6Form::AtomicSlot { slot, .. }
            | Cat6Form::Info { slot, .. } => slot,
            Cat6Form::Load { .. }
            | Cat6Form::Store { .. }
            | Cat6Form::Varying { .. }
            | Cat6Form::ConstantLoad { .. }
            | Cat6Form::IndexedLoad { .. }
            | Cat6Form::IndexedStore { .. }
            | Cat6Form::LoadConstants { .. }
            | Cat6Form::StoreConstants { .. }
            | Cat6Form::Shuffle { .. }
            | Cat6Form::AtomicGlobal { .. }
            | Cat6Form::AtomicLocal { .. } => return,
            // The slots of descriptors are no storage slots of the A4xx's bindings.
            Cat6Form::Descriptor(ref descriptor) => return self.descriptor(descriptor),
        };
        match slot {
            RegOrImm::Immediate(slot) => {
                self.buffers.extend([slot]);
                self.stored.extend(stores.then_some(slot));
            }
            RegOrImm::Reg(_) => self.relative_buffers = true,
        }
    }
}

/// What a move or conversion takes its source for. A move without conversion says little.
fn moved(cat1: &Cat1) -> NumberUse {
    let taken = match cat1.src_type {
        Type::F16 | Type::F32 => Number::Float,
        Type::S16 | Type::S32 => Number::Signed,
        _ => Number::Unsigned,
    };
    match taken {
        // Compilers copy floats as integers too.
        Number::Float if cat1.src_type == cat1.dst_type => NumberUse::copied(taken),
        _ if cat1.src_type == cat1.dst_type => NumberUse::default(),
        _ => NumberUse::computed(taken),
    }
}

/// A cache of programs by their words.
#[derive(Clone, Debug, Default)]
pub struct Shaders {
    known: HashMap<Vec<u64>, Arc<Shader>>,
    /// Number of instructions of all cached programs.
    instructions: usize,
}

impl Shaders {
    /// The program of `words` of an A4xx. The work is charged to `budget`.
    pub fn get(&mut self, words: &[u64], budget: &Budget) -> Arc<Shader> {
        self.get_of(Isa::A4xx, words, budget)
    }

    /// The program of `words` of `isa`. The work is charged to `budget`.
    pub fn get_of(&mut self, isa: Isa, words: &[u64], budget: &Budget) -> Arc<Shader> {
        budget.observe(Work::Copy16, words.len() as u64);
        if let Some(known) = self.known.get(words).filter(|known| known.isa == isa) {
            return known.clone();
        }
        budget.observe(Work::Reading, words.len() as u64);
        if self.known.len() >= MAX_PROGRAMS || self.instructions + words.len() > MAX_INSTRUCTIONS {
            self.known.clear();
            self.instructions = 0;
        }
        self.instructions += words.len();
        let shader = Arc::new(Shader::of(isa, words));
        self.known.insert(words.to_vec(), shader.clone());
        shader
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::adreno::ir3::program::assemble;

    use super::*;

    fn of(text: &str) -> Uses {
        Shader::new(&assemble(&format!("{text}\nend")).expect("text")).uses
    }

    #[test]
    fn constants_are_named_with_their_repeats() {
        let uses = of("(rpt2)add.f r0.x, (r)c4.x, c9.w\nmov.f32f32 r1.x, c2.y");
        assert_eq!(uses.constants.into_keys().collect::<Vec<_>>(), [9, 16, 17, 18, 39]);
        assert!(of("mov.f32f32 r1.x, c<a0.x + 4>").relative_constants);
    }

    #[test]
    fn constants_are_the_numbers_that_instructions_take_them_for() {
        let uses =
            of("add.f r0.x, r0.y, c0.x\nadd.s r0.x, r0.y, c0.y\nmov.f32f32 r0.x, c0.z\nadd.u r0.x, r0.y, \
                       c0.z\nmov.f32f32 r0.x, c0.w\nadd.f r0.x, r0.y, c1.x\nadd.u r0.x, r0.y, c1.x");
        let taken: Vec<_> = uses.constants.values().map(|taken| taken.number()).collect();
        let known = [Number::Float, Number::Signed, Number::Unsigned, Number::Float].map(Some);
        assert_eq!(taken, [&known[..], &[None]].concat());
    }

    #[test]
    fn slots_come_from_instructions_that_have_them() {
        let uses =
            of("sam (f32)(x)r8.x, r1.x, s#2, t#3\ngetsize (u32)(x)r0.x, r1.x, t#5\ndsx (f32)(x)r1.y, r1.x");
        assert_eq!(uses.samples.into_iter().collect::<Vec<_>>(), [(None, 5), (Some(2), 3)]);
    }

    #[test]
    fn zeros_behind_the_program_are_no_part_of_it() {
        let mut words = assemble("mov.f32f32 r1.x, c2.y\nend").expect("text");
        let short = Shader::new(&words);
        words.resize(16, 0);
        assert_eq!(Shader::new(&words), short);
        assert_eq!(short.text().lines().count(), 2);
    }
}
