//! From a plan to instructions: which value is in which register, and when it is in memory.
//!
//! Values are given registers as they come. When there is none left, the value that is needed last goes: one
//! that is also in memory is forgotten, another is put into a row of the frame.
use hashbrown::HashMap;

use super::super::alu::Row;
use super::super::program::Program;
use super::super::rowmap;
use super::assembler::{Assembled, Assembler, Flag, Source};
use super::machine::{Machine, Vector};
use super::pixel;
use super::plan::{END, Plan, ValueId, Work, reads};
use super::sample;
use super::select;
use super::ways::Coded;

/// Where a value is.
#[derive(Clone, Copy, Debug, Default)]
struct Home {
    register: Option<u8>,
    /// Memory that holds it.
    memory: Option<Source>,
}

/// Rows of the frame for values that have no register.
pub const SPILLS: usize = 64;

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

/// What machine code is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This instruction of the shader.
    Instruction(u32),
    /// Pixels of a colour.
    Pixels,
    /// Rows that are read later.
    Results,
    /// Going on to the next lanes, or back.
    Next,
}

/// From which machine instruction of the body on the code is there for what.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// For what.
    pub place: Place,
    /// Number of machine instructions before it.
    pub from: usize,
}

/// Emits the code of a plan.
pub struct Emitter<'p> {
    /// What is emitted.
    pub asm: Assembler,
    program: &'p Program,
    plan: Plan,
    homes: Vec<Home>,
    /// Values that rows have from the beginning.
    inputs: HashMap<Row, ValueId>,
    /// The node at hand.
    at: u32,
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

/// Emits `plan`, whose requests for texels are `coded`.
///
/// # Errors
/// Why it is left to the interpreter.
pub fn emit(
    program: &Program,
    plan: Plan,
    coded: &Coded,
    machine: Machine,
    masked: bool,
) -> Result<Emitted, Refusal> {
    let asm = Assembler::new(machine, masked);
    let registers = usize::from(asm.registers());
    let homes =
        plan.values.iter().map(|value| Home { register: None, memory: value.row.map(Source::Row) }).collect();
    let rows = (0..).zip(&plan.values).filter_map(|(id, value)| Some((value.row?, id)));
    let inputs = rows.collect();
    let (holds, spilled) = (vec![None; registers], vec![None; SPILLS]);
    let mut emitter = Emitter {
        asm,
        program,
        plan,
        homes,
        inputs,
        at: 0,
        holds,
        pinned: 0,
        temporaries: 0,
        flags: 0,
        spilled,
        spills: 0,
        marks: Vec::new(),
    };
    emitter.nodes(coded)?;
    emitter.mark(Place::Results);
    emitter.results()?;
    emitter.mark(Place::Next);
    let Emitter { asm, marks, spills, .. } = emitter;
    let assembled = asm.finish().map_err(|_| Refusal::Assembler)?;
    Ok(Emitted { assembled, marks, spills })
}

impl Emitter<'_> {
    fn mark(&mut self, place: Place) {
        self.marks.push(Mark { place, from: self.asm.len() });
    }

    fn nodes(&mut self, coded: &Coded) -> Result<(), Refusal> {
        for index in 0..self.plan.nodes.len() {
            let node = self.plan.nodes[index];
            self.at = index as u32;
            let program = self.program;
            self.mark(match node.work {
                Work::Alu(alu) => Place::Instruction(program.sources[alu as usize]),
                Work::Varying(_) | Work::Derivative(_) | Work::Sample(_) => {
                    Place::Instruction(program.steps[node.step as usize].at)
                }
                Work::Pixel => Place::Pixels,
            });
            let one = |dst| [Some(dst), None, None, None];
            let made = match node.work {
                Work::Alu(alu) => one(select::alu(self, &program.alus[alu as usize], &node)?),
                Work::Varying(place) => one(select::varying(self, place, &node)?),
                Work::Derivative(axis) => {
                    let masked = self.asm.masked.then(|| self.row_of_derivative(&node));
                    one(select::derivative(self, axis, node.sources[0], masked.flatten())?)
                }
                Work::Sample(number) => {
                    let wanted = self.wanted(node.value);
                    sample::sample(self, number, coded, &node, wanted)?
                }
                Work::Pixel => {
                    let finish = coded.finish.as_ref().expect("pixels are in the code");
                    one(pixel::pixel(self, finish, &node)?)
                }
            };
            self.release_temporaries(&made);
            for source in &node.sources[..reads(&node, program)] {
                self.used(*source, index as u32);
            }
            for (value, register) in (node.value..).zip(made) {
                register.into_iter().for_each(|register| self.define(value, register));
            }
        }
        Ok(())
    }

    /// Which of the four values from `first` on somebody reads, a bit each.
    fn wanted(&self, first: ValueId) -> u32 {
        let made = &self.plan.values[first as usize..][..4];
        made.iter().rev().fold(0, |wanted, value| wanted << 1 | u32::from(!value.uses.is_empty()))
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
                false => self.asm.store(Source::Row(row), register),
                true => {
                    let merged = self.temporary()?;
                    self.asm.load(merged, Source::Register(register));
                    self.asm.merge(merged, row);
                    self.asm.store(Source::Row(row), merged);
                    self.release_temporaries(&[Some(merged)]);
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
        let Home { register, memory } = self.homes[value as usize];
        let register = match (register, memory) {
            (Some(register), _) => register,
            (None, Some(memory)) => {
                let register = self.free()?;
                self.asm.load(register, memory);
                self.holds[usize::from(register)] = Some(value);
                self.homes[value as usize].register = Some(register);
                register
            }
            (None, None) => unreachable!("a value is somewhere"),
        };
        self.pinned |= 1 << register;
        Ok(register)
    }

    /// `value` as the last operand of an instruction: in its row, if it is there and not needed again soon.
    pub fn operand(&mut self, value: ValueId) -> Result<Source, Refusal> {
        match self.homes[value as usize].memory {
            Some(memory) if self.is_in_memory(value) => Ok(memory),
            _ => Ok(Source::Register(self.register(value)?)),
        }
    }

    /// Whether `value` is best read where it lies.
    pub fn is_in_memory(&self, value: ValueId) -> bool {
        self.homes[value as usize].register.is_none() && self.plan.values[value as usize].uses.len() < 2
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
        let candidates = (0..self.holds.len()).filter(|n| self.pinned >> n & 1 == 0);
        let furthest = candidates.filter_map(|n| self.holds[n].map(|value| (self.distance(value), n))).max();
        let (_, register) = furthest.ok_or(Refusal::TooManyValues)?;
        self.evict(register as u8)?;
        Ok(register as u8)
    }

    /// How far it is to where `value` is needed next; twice that if it need not be stored until then.
    fn distance(&self, value: ValueId) -> u32 {
        let next = self.plan.values[value as usize].uses.last().copied().unwrap_or(END);
        let free = self.homes[value as usize].memory.is_some();
        if next == END { END } else { (next - self.at) * if free { 2 } else { 1 } }
    }

    /// Stores `value`, which is only a result any more, to its rows, if nobody needs what is there.
    fn settle(&mut self, value: ValueId, register: u8) -> bool {
        let values = &self.plan.values;
        let is_mine = |result: &&(Row, ValueId)| result.1 == value;
        let is_free = |(row, _): &(Row, ValueId)| {
            let input = self.inputs.get(row).map(|input| &values[*input as usize]);
            input.is_none_or(|input| input.uses.is_empty())
        };
        let done = values[value as usize].uses == [END]
            && !self.asm.masked
            && self.plan.results.iter().filter(is_mine).all(is_free);
        if done {
            let (mine, rest) = self.plan.results.iter().partition(|result| is_mine(result));
            self.plan.results = rest;
            let mine: Vec<(Row, ValueId)> = mine;
            mine.iter().for_each(|(row, _)| self.asm.store(Source::Row(*row), register));
        }
        done
    }

    /// Makes `register` free.
    fn evict(&mut self, register: u8) -> Result<(), Refusal> {
        let Some(value) = self.holds[usize::from(register)].take() else { return Ok(()) };
        if self.homes[value as usize].memory.is_none() && self.settle(value, register) {
            return Ok(());
        }
        let home = &mut self.homes[value as usize];
        home.register = None;
        if home.memory.is_none() {
            let slot = self.spilled.iter().position(Option::is_none).ok_or(Refusal::TooManyValues)?;
            home.memory = Some(Source::Frame(slot));
            self.spilled[slot] = Some(value);
            self.spills = self.spills.max(slot + 1);
            self.asm.store(Source::Frame(slot), register);
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
        if let Some(register) = self.homes[value as usize].register.take() {
            self.holds[usize::from(register)] = None;
        }
        self.spilled
            .iter_mut()
            .filter(|spilled| **spilled == Some(value))
            .for_each(|spilled| *spilled = None);
    }

    /// `register` holds `value` from now on.
    fn define(&mut self, value: ValueId, register: u8) {
        self.holds[usize::from(register)] = Some(value);
        self.homes[value as usize].register = Some(register);
    }

    /// The node is done; `kept` are its results.
    fn release_temporaries(&mut self, kept: &[Option<u8>]) {
        let is_own = |register: &u8| self.temporaries >> register & 1 != 0;
        debug_assert!(kept.iter().flatten().all(is_own), "a result in a register of its own");
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
