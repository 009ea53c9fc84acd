//! A program cut into what always executes together.
use std::ops::Range;

use hashbrown::HashSet;

use super::super::effect::Effect;
use super::super::lanes::{ALL, Lanes, Mask};
use super::super::program::Program;
use super::emit::{Emitted, emit};
use super::live::{Liveness, RowSet};
use super::machine::Machine;
use super::plan::{Piece, Plan, is_inline};
use super::select;
use super::wall::Code;

/// Operations from which on code pays: for fewer the interpreter's loops are as fast as the call.
const LEAST: usize = 3;

/// Steps that always execute one after the other, with the same lanes.
pub struct Segment {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// The step whose effect ends it: that is the interpreter's.
    pub last: u32,
    /// Instructions of the source.
    pub instructions: u64,
    /// Locations that its code reads, each in three rows of the frame.
    pub locations: Vec<u16>,
}

/// Some operations of a segment.
pub enum Part {
    /// Compiled: for all lanes, and, where lanes can part, for some.
    Native(Placed, Option<Placed>),
    /// Left to the interpreter.
    Loops(Range<u32>),
}

/// Code with its constants.
pub struct Placed {
    code: Code,
    pool: Vec<Lanes>,
    /// What it was before it had a place.
    pub emitted: Option<Emitted>,
}

impl Placed {
    /// Runs it on the lanes of `mask`.
    pub fn call(&self, rows: &mut [Lanes], frame: &[Lanes], mask: Mask) {
        self.code.call(rows, &self.pool, frame, mask);
    }

    /// Where it lies, and how many bytes.
    pub fn place(&self) -> (usize, usize) {
        self.code.place()
    }
}

impl Part {
    /// Whether it can run on the lanes of `mask`.
    pub fn takes(&self, mask: Mask) -> bool {
        !matches!(self, Self::Native(_, None)) || mask == ALL
    }
}

/// Steps at which control can arrive other than from the one before, and step 0.
fn targets(program: &Program) -> HashSet<u32> {
    let mut targets = HashSet::from_iter([0]);
    for (index, step) in (0..).zip(&program.steps) {
        match &step.effect {
            Effect::Branch(branch) => _ = targets.insert(branch.target),
            Effect::Call { target } => _ = targets.insert(*target),
            _ => {}
        }
        if !is_inline(&step.effect, program) {
            targets.insert(index + 1);
        }
    }
    targets
}

/// Whether the lanes of a warp can come to be at different places.
fn parts_lanes(program: &Program) -> bool {
    program.steps.iter().any(|step| {
        matches!(
            step.effect,
            Effect::Branch(_) | Effect::Call { .. } | Effect::Return | Effect::Region(_) | Effect::Kill(_)
        )
    })
}

/// The segments of `program`, by the step that they begin with.
pub fn segments(program: &Program, machine: Machine) -> Vec<Option<Segment>> {
    let targets = targets(program);
    let liveness = Liveness::new(program, RowSet::registers());
    let masked = parts_lanes(program);
    let steps = 0..program.steps.len() as u32;
    let cut = |first: u32| {
        let cutter = Cutter {
            program,
            machine,
            liveness: &liveness,
            masked,
            parts: Vec::new(),
            pieces: Vec::new(),
            locations: Vec::new(),
        };
        cutter.cut(first, &targets)
    };
    steps.map(|step| targets.contains(&step).then(|| cut(step)).flatten()).collect()
}

struct Cutter<'c> {
    program: &'c Program,
    machine: Machine,
    liveness: &'c Liveness,
    masked: bool,
    parts: Vec<Part>,
    /// What is compiled next.
    pieces: Vec<Piece>,
    locations: Vec<u16>,
}

impl Cutter<'_> {
    /// The segment from step `first` on, if any of it has code.
    fn cut(mut self, first: u32, targets: &HashSet<u32>) -> Option<Segment> {
        let mut instructions = 0;
        let mut index = first;
        loop {
            let step = self.program.steps.get(index as usize)?;
            instructions += u64::from(step.instructions);
            self.operations(index, step.first..step.end)?;
            if !is_inline(&step.effect, self.program) || targets.contains(&(index + 1)) {
                break;
            }
            self.pieces.push(Piece { step: index, alus: 0..0, effect: true });
            index += 1;
        }
        self.flush(index, self.program.steps[index as usize].end)?;
        let Self { parts, locations, .. } = self;
        let compiled = parts.iter().any(|part| matches!(part, Part::Native(..)));
        compiled.then_some(Segment { parts, last: index, instructions, locations })
    }

    /// Operations `alus` of step `step`: runs that have code, and what lies between.
    fn operations(&mut self, step: u32, alus: Range<u32>) -> Option<()> {
        let has_code = |index: &u32| select::has_code(&self.program.alus[*index as usize]);
        let all: Vec<u32> = alus.collect();
        for run in all.chunk_by(|a, b| has_code(a) == has_code(b)) {
            let range = run[0]..run[run.len() - 1] + 1;
            if select::has_code(&self.program.alus[run[0] as usize]) {
                self.pieces.push(Piece { step, alus: range, effect: false });
            } else {
                self.flush(step, range.start)?;
                self.loops(range);
            }
        }
        Some(())
    }

    fn loops(&mut self, range: Range<u32>) {
        match self.parts.last_mut() {
            Some(Part::Loops(last)) if last.end == range.start => last.end = range.end,
            _ => self.parts.push(Part::Loops(range)),
        }
    }

    /// Compiles what was collected before operation `alu` of step `step`. `None` when that cannot be.
    fn flush(&mut self, step: u32, alu: u32) -> Option<()> {
        let pieces = std::mem::take(&mut self.pieces);
        let operations: usize = pieces.iter().map(|piece| piece.alus.len()).sum();
        let effects = pieces.iter().any(|piece| piece.effect);
        if effects || operations >= LEAST {
            let live = self.liveness.from_alu(self.program, step, alu);
            if let Some(native) = self.native(&pieces, &live) {
                self.parts.push(native);
                return Some(());
            }
        }
        if effects {
            return None;
        }
        pieces.into_iter().filter(|piece| !piece.alus.is_empty()).for_each(|piece| self.loops(piece.alus));
        Some(())
    }

    fn native(&mut self, pieces: &[Piece], live: &RowSet) -> Option<Part> {
        let all = self.placed(pieces, live, false)?;
        let some = if self.masked { Some(self.placed(pieces, live, true)?) } else { None };
        Some(Part::Native(all, some))
    }

    fn placed(&mut self, pieces: &[Piece], live: &RowSet, masked: bool) -> Option<Placed> {
        let plan = Plan::new(self.program, pieces, live, &mut self.locations);
        let mut emitted = emit(self.program, plan, self.machine, masked).ok()?;
        let assembled = &mut emitted.assembled;
        let code = Code::new(&assembled.bytes, assembled.extent).ok()?;
        Some(Placed { code, pool: std::mem::take(&mut assembled.pool), emitted: Some(emitted) })
    }
}
