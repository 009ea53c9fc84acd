//! Segments: the parts of a program that always execute together.
use std::io;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashSet;

use super::super::effect::Effect;
use super::super::epilogue::Epilogue;
use super::super::lanes::{ALL, Lanes, Mask};
use super::super::lowered::Lowered;
use super::assembler::CodeLanes;
use super::coded::Coded;
use super::emit::{Emitted, SPILLS};
use super::executable::{Code, Texels};
use super::live::{Liveness, RowSet};
use super::machine::Machine;
use super::names;
use super::nodes::emit;
use super::plan::{Piece, Plan, is_inline};
use super::select;
use crate::limits::SEGMENT_OPERATIONS;

/// Steps that always execute in sequence, with the same lanes.
pub struct Segment {
    /// Its parts, in order.
    pub parts: Vec<SegmentPart>,
    /// The last step. The interpreter performs its effect.
    pub last: u32,
    /// Number of source instructions.
    pub instructions: u64,
    /// Number of compiled instructions.
    pub compiled: u64,
    /// Varying locations that its code reads. Each has three rows in the frame, after the spill rows.
    pub locations: Vec<u16>,
    /// Number of rows of the frame.
    pub frame: usize,
}

/// Some operations of a segment.
pub enum SegmentPart {
    /// Compiled.
    Native(Box<Native>),
    /// Interpreted.
    Loops(Range<u32>),
}

/// Compiled operations.
pub struct Native {
    machine: Machine,
    /// The first step of the segment.
    step: u32,
    /// The operations.
    pieces: Vec<Piece>,
    /// Rows that are live after them.
    live: RowSet,
    /// Code for all lanes.
    all: Placed,
    /// Code for a part of the lanes. Compiled at its first use.
    some: OnceLock<Option<Placed>>,
}

/// Code with its constants.
pub struct Placed {
    code: Code,
    pool: Vec<Lanes>,
}

/// Emitted code before it is placed, for listings.
#[derive(Clone, Copy)]
pub struct Made<'m> {
    /// The first step of its segment.
    pub step: u32,
    /// The code.
    pub emitted: &'m Emitted,
}

impl Placed {
    /// Runs the code on the lanes of `mask`. `textures` are those of its samples.
    pub fn call(&self, rows: &mut [Lanes], frame: &mut [Lanes], mask: Mask, textures: &[Texels<'_>]) {
        self.code.call(rows, &self.pool, frame, mask, textures);
    }

    /// Places `emitted` in executable memory. It is the code of the segment of `program` with first step
    /// `step`.
    fn new(emitted: &Emitted, program: &Lowered, step: u32) -> Option<Self> {
        let assembled = &emitted.assembled;
        let code = Code::new(&assembled.bytes, assembled.extent).map_err(refused).ok()?;
        if names::wanted() {
            // An error only affects profiles.
            let _ =
                names::note(code.place(), format_args!("ir3 {} step {step}", Lowered::short(program.hash)));
        }
        Some(Self { code, pool: assembled.pool.clone() })
    }
}

impl Native {
    /// The code for the lanes of `mask`. Code with samples or pixels needs all lanes. `locations` are those
    /// of the segment.
    pub fn code(&self, program: &Lowered, locations: &[u16], mask: Mask) -> Option<&Placed> {
        if mask == ALL {
            return Some(&self.all);
        }
        let compile = || {
            let none = Coded::default();
            let plan = Plan::new(program, &self.pieces, &none, &self.live, &mut locations.to_vec(), None);
            Placed::new(
                &emit(program, plan, &none, self.machine, CodeLanes::Executing).ok()?,
                program,
                self.step,
            )
        };
        self.some.get_or_init(compile).as_ref()
    }
}

/// Reason of the last failure to get memory for code.
static REFUSED: Mutex<Option<String>> = Mutex::new(None);

fn refused(error: io::Error) {
    *REFUSED.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
}

/// The reason why there is no compiled code, if the system gave no memory for it since the last call. The
/// interpreter then runs everything.
pub fn refusal() -> Option<String> {
    REFUSED.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Steps that control can reach other than from the step before, and step 0.
fn targets(program: &Lowered, coded: &Coded) -> HashSet<u32> {
    let mut targets = HashSet::from_iter([0]);
    for (index, step) in (0..).zip(&program.steps) {
        match &step.effect {
            Effect::Branch(branch) => _ = targets.insert(branch.target),
            Effect::Call { target } => _ = targets.insert(*target),
            _ => {}
        }
        if !is_inline(&step.effect, program) && coded.number(index).is_none() {
            targets.insert(index + 1);
        }
    }
    targets
}

/// The segments of `program`, by first step, with the samples and conversion of `coded`. Calls `look` with
/// all emitted code.
pub fn segments(
    program: &Lowered,
    machine: Machine,
    coded: &Coded,
    look: &mut dyn FnMut(&Made<'_>),
) -> Vec<Option<Segment>> {
    let targets = targets(program, coded);
    let ends = coded.epilogue.map_or_else(RowSet::registers, |epilogue| RowSet::four(epilogue.regid));
    let liveness = Liveness::new(program, ends);
    let steps = 0..program.steps.len() as u32;
    let mut cut = |first: u32| {
        let (parts, pieces, locations, epilogue) = Default::default();
        let liveness = &liveness;
        let cutter =
            Cutter { program, machine, coded, liveness, first, parts, pieces, locations, epilogue, look };
        cutter.cut(&targets)
    };
    steps.map(|step| if targets.contains(&step) { cut(step) } else { None }).collect()
}

/// Number of instructions of a segment that involve the interpreter: operations in its loops, and the effect
/// of step `last`, if it has one.
fn interpreted(program: &Lowered, parts: &[SegmentPart], last: u32) -> u64 {
    let mut all: Vec<u32> = Vec::new();
    for part in parts {
        if let SegmentPart::Loops(range) = part {
            all.extend(&program.sources[range.start as usize..range.end as usize]);
        }
    }
    let step = &program.steps[last as usize];
    if !matches!(step.effect, Effect::Continue) && step.instructions > 0 {
        all.push(step.at);
    }
    all.sort_unstable();
    all.dedup();
    all.len() as u64
}

struct Cutter<'c> {
    program: &'c Lowered,
    machine: Machine,
    coded: &'c Coded,
    liveness: &'c Liveness,
    first: u32,
    parts: Vec<SegmentPart>,
    /// Parts of steps that are compiled next.
    pieces: Vec<Piece>,
    locations: Vec<u16>,
    /// The conversion at the end of the code that is compiled next.
    epilogue: Option<&'c Epilogue>,
    look: &'c mut dyn FnMut(&Made<'_>),
}

impl Cutter<'_> {
    /// The segment from its first step on. `None` if no part of it is compiled.
    fn cut(mut self, targets: &HashSet<u32>) -> Option<Segment> {
        let mut instructions = 0;
        let mut index = self.first;
        loop {
            let step = self.program.steps.get(index as usize)?;
            instructions += u64::from(step.instructions);
            self.operations(index, step.first..step.end)?;
            let is_inline = is_inline(&step.effect, self.program) || self.coded.number(index).is_some();
            if !is_inline || targets.contains(&(index + 1)) {
                break;
            }
            self.pieces.push(Piece { step: index, alus: 0..0, effect: true });
            index += 1;
        }
        let last = &self.program.steps[index as usize];
        let epilogue = self.coded.epilogue.as_ref().filter(|_| matches!(last.effect, Effect::End));
        self.epilogue = epilogue;
        self.flush(index, last.end)?;
        let Self { program, parts, locations, .. } = self;
        if !parts.iter().any(|part| matches!(part, SegmentPart::Native(_))) {
            return None;
        }
        let compiled = instructions.saturating_sub(interpreted(program, &parts, index));
        let frame = SPILLS + 3 * locations.len();
        Some(Segment { parts, last: index, instructions, compiled, locations, frame })
    }

    /// Adds operations `alus` of step `step`: runs of operations with code, and those between.
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
            Some(SegmentPart::Loops(last)) if last.end == range.start => last.end = range.end,
            _ => self.parts.push(SegmentPart::Loops(range)),
        }
    }

    /// Compiles the pieces collected before operation `alu` of step `step`. `None` if that is not possible.
    fn flush(&mut self, step: u32, alu: u32) -> Option<()> {
        let mut pieces = std::mem::take(&mut self.pieces);
        let operations: usize = pieces.iter().map(|piece| piece.alus.len()).sum();
        let effects = pieces.iter().any(|piece| piece.effect);
        if effects || operations >= SEGMENT_OPERATIONS || self.epilogue.is_some() {
            let live = self.liveness.before_alu(self.program, step, alu);
            match self.native(pieces, live) {
                Ok(native) => {
                    self.parts.push(native);
                    return Some(());
                }
                Err(refused) => pieces = refused,
            }
        }
        if effects || self.epilogue.is_some() {
            return None;
        }
        pieces.into_iter().filter(|piece| !piece.alus.is_empty()).for_each(|piece| self.loops(piece.alus));
        Some(())
    }

    fn native(&mut self, pieces: Vec<Piece>, live: RowSet) -> Result<SegmentPart, Vec<Piece>> {
        let plan = Plan::new(self.program, &pieces, self.coded, &live, &mut self.locations, self.epilogue);
        let emitted = emit(self.program, plan, self.coded, self.machine, CodeLanes::All);
        let placed = emitted.ok().and_then(|emitted| {
            (self.look)(&Made { step: self.first, emitted: &emitted });
            Placed::new(&emitted, self.program, self.first)
        });
        match placed {
            Some(all) => {
                let (machine, step, some) = (self.machine, self.first, OnceLock::new());
                Ok(SegmentPart::Native(Box::new(Native { machine, step, pieces, live, all, some })))
            }
            None => Err(pieces),
        }
    }
}
