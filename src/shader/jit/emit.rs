//! Code generation from a plan, with register allocation.
//!
//! Values get registers as they are computed. If no register is free, the value with the furthest next use is
//! evicted. If it is not in memory, it is stored in a spill row of the frame.
use hashbrown::HashMap;

use super::super::alu::Row;
use super::super::lowered::Lowered;
use super::assembler::{Assembled, Assembler, CodeLanes, Flag, Source};
use super::machine::{Machine, Vector};
use super::plan::{END, Plan, ValueId};

/// Location of a value.
#[derive(Clone, Copy, Debug, Default)]
struct Home {
    register: Option<u8>,
    /// Memory that holds it.
    memory: Option<Source>,
}

/// Number of spill rows of the frame.
pub const SPILLS: usize = 64;

/// Reason why a plan has no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There are more values than registers and spill rows.
    TooManyValues,
    /// An operation that only the interpreter supports.
    Operation,
    /// The assembler failed.
    Assembler,
}

/// Purpose of machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePurpose {
    /// A shader instruction, with this index.
    Instruction(u32),
    /// Conversion of a colour to pixels.
    Pixels,
    /// Stores of live rows.
    Results,
    /// Loop to the next lanes, or return.
    Next,
}

/// Purpose of the machine code from an instruction of the body on.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// The purpose.
    pub place: CodePurpose,
    /// Number of machine instructions before it.
    pub from: usize,
}

/// Emits the code of a plan.
pub struct Emitter<'p> {
    /// The emitted instructions.
    pub asm: Assembler,
    pub(super) program: &'p Lowered,
    pub(super) plan: Plan,
    homes: Vec<Home>,
    /// Values of input rows.
    inputs: HashMap<Row, ValueId>,
    /// Index of the current node.
    pub(super) at: u32,
    /// The value in each register.
    holds: Vec<Option<ValueId>>,
    /// Registers that the current node needs. They are not evicted.
    pinned: u32,
    /// Registers with intermediate results of the current node.
    temporaries: u32,
    /// AVX-512: number of mask registers in use by the current node.
    flags: u8,
    /// Values in spill rows. `spills` is the number of rows ever used.
    spilled: Vec<Option<ValueId>>,
    spills: usize,
    marks: Vec<Mark>,
}

/// Emitted code, with its marks.
pub struct Emitted {
    /// The code.
    pub assembled: Assembled,
    /// Start of each node.
    pub marks: Vec<Mark>,
    /// Number of spill rows that it uses.
    pub spills: usize,
}

impl<'p> Emitter<'p> {
    /// An emitter for `plan` that has emitted nothing.
    pub fn new(program: &'p Lowered, plan: Plan, machine: Machine, lanes: CodeLanes) -> Self {
        let asm = Assembler::new(machine, lanes);
        let registers = usize::from(asm.registers());
        let homes = plan
            .values
            .iter()
            .map(|value| Home { register: None, memory: value.row.map(Source::Row) })
            .collect();
        let rows = (0..).zip(&plan.values).filter_map(|(id, value)| Some((value.row?, id)));
        let inputs = rows.collect();
        let (holds, spilled) = (vec![None; registers], vec![None; SPILLS]);
        Self {
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
        }
    }

    /// Emits the end of the code, after all nodes.
    pub fn finish(mut self) -> Result<Emitted, Refusal> {
        self.mark(CodePurpose::Results);
        self.results()?;
        self.mark(CodePurpose::Next);
        let Emitter { asm, marks, spills, .. } = self;
        let assembled = asm.finish().map_err(|_| Refusal::Assembler)?;
        Ok(Emitted { assembled, marks, spills })
    }

    /// Notes what the code from here on is for.
    pub fn mark(&mut self, place: CodePurpose) {
        self.marks.push(Mark { place, from: self.asm.len() });
    }

    /// Stores the results in their rows. Those that are left stay in the plan, because a register for one of
    /// them may evict another ([`Self::settle`]).
    fn results(&mut self) -> Result<(), Refusal> {
        while !self.plan.results.is_empty() {
            let (row, value) = self.plan.results.remove(0);
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

    /// Whether a NaN in `value` must be the canonical one.
    pub fn needs_bits(&self, value: ValueId) -> bool {
        self.plan.values[value as usize].bits
    }

    /// A register that holds `value`, reserved until the node ends.
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

    /// `value` as the last operand of an instruction. Its row, if it is in memory and not used again soon.
    pub fn operand(&mut self, value: ValueId) -> Result<Source, Refusal> {
        match self.homes[value as usize].memory {
            Some(memory) if self.is_in_memory(value) => Ok(memory),
            _ => Ok(Source::Register(self.register(value)?)),
        }
    }

    /// Whether `value` is best read from memory.
    pub fn is_in_memory(&self, value: ValueId) -> bool {
        self.homes[value as usize].register.is_none() && self.plan.values[value as usize].uses.len() < 2
    }

    /// A register for an intermediate result or the result of the current node.
    pub fn temporary(&mut self) -> Result<u8, Refusal> {
        let register = self.free()?;
        self.temporaries |= 1 << register;
        self.pinned |= 1 << register;
        Ok(register)
    }

    /// A location for a condition, reserved until the node ends.
    pub fn flag(&mut self) -> Result<Flag, Refusal> {
        match self.asm.machine {
            Machine::Avx512 => {
                self.flags += 1;
                Ok(Flag(self.flags))
            }
            Machine::Avx2 => Ok(Flag(self.temporary()?)),
        }
    }

    /// Loads a constant to a register.
    pub fn constant(&mut self, bits: u32) -> Result<u8, Refusal> {
        let (register, source) = (self.temporary()?, self.asm.constant(bits));
        self.asm.load(register, source);
        Ok(register)
    }

    /// A free register. Evicts a value if there is none.
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

    /// Distance to the next use of `value`. Doubled if eviction needs no store.
    fn distance(&self, value: ValueId) -> u32 {
        let next = self.plan.values[value as usize].uses.last().copied().unwrap_or(END);
        let free = self.homes[value as usize].memory.is_some();
        if next == END { END } else { (next - self.at) * if free { 2 } else { 1 } }
    }

    /// Stores `value` in its result rows, if that is its only remaining use and the old contents of the rows
    /// are dead. Returns whether it did.
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

    /// Evicts the value in `register`.
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

    /// Notes that node `at` has read `value`. After its last use, its register is free.
    pub(super) fn used(&mut self, value: ValueId, at: u32) {
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

    /// Sets `register` as the location of `value`.
    pub(super) fn define(&mut self, value: ValueId, register: u8) {
        self.holds[usize::from(register)] = Some(value);
        self.homes[value as usize].register = Some(register);
    }

    /// Lets the values in these registers be evicted: the current node reads them no more.
    pub fn unpin(&mut self, registers: impl IntoIterator<Item = u8>) {
        registers.into_iter().for_each(|register| self.pinned &= !(1 << register));
    }

    /// Frees intermediate results before the node ends.
    pub fn release(&mut self, registers: impl IntoIterator<Item = u8>) {
        for register in registers {
            self.temporaries &= !(1 << register);
            self.unpin([register]);
        }
    }

    /// Frees the location of a condition before the node ends. AVX-512 has enough of them.
    pub fn release_flag(&mut self, flag: Flag) {
        if self.asm.machine == Machine::Avx2 {
            self.release([flag.0]);
        }
    }

    /// Ends a node. `kept` are its result registers.
    pub(super) fn release_temporaries(&mut self, kept: &[Option<u8>]) {
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
