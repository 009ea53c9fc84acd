//! From a plan to instructions: which value is in which register, and when it is in memory.
//!
//! Values are given registers as they come. When there is none left, the value that is needed last goes: one
//! that is also in its row is forgotten, another is put into a spill row of the warp.
use super::super::alu::Row;
use super::super::program::Program;
use super::super::rowmap;
use super::assembler::{Assembled, Assembler, Flag, Source};
use super::machine::{Machine, Vector};
use super::plan::{END, Plan, ValueId, Work, reads};
use super::select;

/// Where a value is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    register: Option<u8>,
    /// A row that holds it.
    row: Option<Row>,
}

/// Why there is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// More values than registers and spill rows hold.
    TooManyValues,
    /// An operation that is left to the interpreter.
    Operation,
    /// The assembler takes none of it.
    Assembler,
}

/// One instruction of a shader beside the machine code that it became.
pub struct Mark {
    /// The step.
    pub step: u32,
    /// What the node does.
    pub work: Work,
    /// Number of machine instructions before it.
    pub from: usize,
}

/// Emits the code of a plan.
pub struct Emitter<'p> {
    /// What is emitted.
    pub asm: Assembler,
    program: &'p Program,
    plan: Plan,
    places: Vec<Place>,
    /// What each register holds.
    holds: Vec<Option<ValueId>>,
    /// Registers that the node at hand needs: not to be given away.
    pinned: u32,
    /// Registers that hold intermediate results of the node at hand.
    temporaries: u32,
    /// AVX-512: mask registers in use by the node at hand.
    flags: u8,
    /// Values in spill rows, and how many rows were ever used.
    spilled: Vec<Option<ValueId>>,
    spills: usize,
    marks: Vec<Mark>,
}

/// Code, and what it came from.
pub struct Emitted {
    /// The code.
    pub assembled: Assembled,
    /// Where each node begins.
    pub marks: Vec<Mark>,
    /// Spill rows that it uses.
    pub spills: usize,
}

/// Emits `plan`.
///
/// # Errors
/// Why it is left to the interpreter.
pub fn emit(program: &Program, plan: Plan, machine: Machine, masked: bool) -> Result<Emitted, Refusal> {
    let asm = Assembler::new(machine, masked);
    let registers = usize::from(asm.registers());
    let places = plan.values.iter().map(|value| Place { register: None, row: value.row }).collect();
    let (holds, spilled) = (vec![None; registers], vec![None; usize::from(rowmap::SPILL_COUNT)]);
    let mut emitter = Emitter {
        asm,
        program,
        plan,
        places,
        holds,
        pinned: 0,
        temporaries: 0,
        flags: 0,
        spilled,
        spills: 0,
        marks: Vec::new(),
    };
    emitter.nodes()?;
    emitter.results()?;
    let Emitter { asm, marks, spills, .. } = emitter;
    let assembled = asm.finish().map_err(|_| Refusal::Assembler)?;
    Ok(Emitted { assembled, marks, spills })
}

impl Emitter<'_> {
    fn nodes(&mut self) -> Result<(), Refusal> {
        for index in 0..self.plan.nodes.len() {
            let node = self.plan.nodes[index];
            self.marks.push(Mark { step: node.step, work: node.work, from: self.asm.len() });
            let program = self.program;
            let dst = match node.work {
                Work::Alu(alu) => select::alu(self, &program.alus[alu as usize], &node)?,
                Work::Varying(place) => select::varying(self, place, &node)?,
                Work::Derivative(axis) => {
                    let masked = self.asm.masked.then(|| self.row_of_derivative(&node));
                    select::derivative(self, axis, node.sources[0], masked.flatten())?
                }
            };
            self.release_temporaries(dst);
            for source in &node.sources[..reads(&node, program)] {
                self.used(*source, index as u32);
            }
            self.define(node.value, dst);
        }
        Ok(())
    }

    /// The row in which lanes that do not execute have what a neighbour's derivative reads.
    fn row_of_derivative(&self, node: &super::plan::Node) -> Option<Row> {
        use super::super::effect::Effect;
        match &self.program.steps[node.step as usize].effect {
            Effect::Derivative { src, .. } if *src < rowmap::UNIFORMS => Some(*src),
            _ => None,
        }
    }

    /// The results go to their rows.
    fn results(&mut self) -> Result<(), Refusal> {
        for (row, value) in std::mem::take(&mut self.plan.results) {
            let register = self.register(value)?;
            match self.asm.masked {
                false => self.asm.store(row, register),
                true => {
                    let merged = self.temporary()?;
                    self.asm.load(merged, Source::Register(register));
                    self.asm.merge(merged, row);
                    self.asm.store(row, merged);
                    self.release_temporaries(merged);
                }
            }
            (self.pinned, self.temporaries) = (0, 0);
        }
        Ok(())
    }

    /// Whether a NaN among `value` must be the canonical one.
    pub fn needs_bits(&self, value: ValueId) -> bool {
        self.plan.values[value as usize].bits
    }

    /// A register that holds `value`, until the node is done.
    pub fn register(&mut self, value: ValueId) -> Result<u8, Refusal> {
        let Place { register, row } = self.places[value as usize];
        let register = match (register, row) {
            (Some(register), _) => register,
            (None, Some(row)) => {
                let register = self.free()?;
                self.asm.load(register, Source::Row(row));
                self.holds[usize::from(register)] = Some(value);
                self.places[value as usize].register = Some(register);
                register
            }
            (None, None) => unreachable!("a value is somewhere"),
        };
        self.pinned |= 1 << register;
        Ok(register)
    }

    /// `value` as the last operand of an instruction: in its row, if it is there and not needed again soon.
    pub fn operand(&mut self, value: ValueId) -> Result<Source, Refusal> {
        let Place { register, row } = self.places[value as usize];
        match (register, row) {
            (None, Some(row)) if self.plan.values[value as usize].uses.len() < 2 => Ok(Source::Row(row)),
            _ => Ok(Source::Register(self.register(value)?)),
        }
    }

    /// A register for an intermediate result of the node at hand, or for its value.
    pub fn temporary(&mut self) -> Result<u8, Refusal> {
        let register = self.free()?;
        self.temporaries |= 1 << register;
        self.pinned |= 1 << register;
        Ok(register)
    }

    /// A place for a condition, until the node is done.
    pub fn flag(&mut self) -> Result<Flag, Refusal> {
        match self.asm.machine {
            Machine::Avx512 => {
                self.flags += 1;
                Ok(Flag(self.flags))
            }
            Machine::Avx2 => Ok(Flag(self.temporary()?)),
        }
    }

    /// A constant in a register.
    pub fn constant(&mut self, bits: u32) -> Result<u8, Refusal> {
        let (register, source) = (self.temporary()?, self.asm.constant(bits));
        self.asm.load(register, source);
        Ok(register)
    }

    /// A register that holds nothing that is needed.
    fn free(&mut self) -> Result<u8, Refusal> {
        let taken = |n: usize| self.holds[n].is_some() || self.pinned >> n & 1 != 0;
        if let Some(free) = (0..self.holds.len()).find(|n| !taken(*n)) {
            return Ok(free as u8);
        }
        let next = |value: ValueId| self.plan.values[value as usize].uses.last().copied().unwrap_or(END);
        let candidates = (0..self.holds.len()).filter(|n| self.pinned >> n & 1 == 0);
        let furthest = candidates.filter_map(|n| self.holds[n].map(|value| (next(value), n))).max();
        let (_, register) = furthest.ok_or(Refusal::TooManyValues)?;
        self.evict(register as u8)?;
        Ok(register as u8)
    }

    /// Makes `register` free.
    fn evict(&mut self, register: u8) -> Result<(), Refusal> {
        let Some(value) = self.holds[usize::from(register)].take() else { return Ok(()) };
        let place = &mut self.places[value as usize];
        place.register = None;
        if place.row.is_none() {
            let slot = self.spilled.iter().position(Option::is_none).ok_or(Refusal::TooManyValues)?;
            let row = rowmap::SPILLS + slot as Row;
            place.row = Some(row);
            self.spilled[slot] = Some(value);
            self.spills = self.spills.max(slot + 1);
            self.asm.store(row, register);
        }
        Ok(())
    }

    /// Node `at` has read `value`: when nobody does any more, its register is free.
    fn used(&mut self, value: ValueId, at: u32) {
        let uses = &mut self.plan.values[value as usize].uses;
        if uses.last() == Some(&at) {
            uses.pop();
        }
        if !uses.is_empty() {
            return;
        }
        if let Some(register) = self.places[value as usize].register.take() {
            self.holds[usize::from(register)] = None;
        }
        self.spilled.iter_mut().filter(|spilled| **spilled == Some(value)).for_each(|spilled| *spilled = None);
    }

    /// `register` holds `value` from now on.
    fn define(&mut self, value: ValueId, register: u8) {
        self.holds[usize::from(register)] = Some(value);
        self.places[value as usize].register = Some(register);
    }

    /// The node is done; `kept` is its result.
    fn release_temporaries(&mut self, kept: u8) {
        debug_assert!(self.temporaries >> kept & 1 != 0, "a result in a register of its own");
        (self.pinned, self.temporaries, self.flags) = (0, 0, 0);
    }

    /// `dst = a . b` in a new register.
    pub fn two(&mut self, op: Vector, a: u8, b: Source) -> Result<u8, Refusal> {
        let dst = self.temporary()?;
        self.asm.two(op, dst, a, b);
        Ok(dst)
    }

    /// `dst = a . constant` in a new register.
    pub fn with_constant(&mut self, op: Vector, a: u8, bits: u32) -> Result<u8, Refusal> {
        let constant = self.asm.constant(bits);
        self.two(op, a, constant)
    }

    /// `dst = . a` in a new register.
    pub fn one(&mut self, op: Vector, a: Source) -> Result<u8, Refusal> {
        let dst = self.temporary()?;
        self.asm.one(op, dst, a);
        Ok(dst)
    }

    /// `dst = a . number` in a new register.
    pub fn immediate(&mut self, op: Vector, a: u8, number: u32) -> Result<u8, Refusal> {
        let dst = self.temporary()?;
        self.asm.immediate(op, dst, a, number);
        Ok(dst)
    }
}
