//! Plans: the computation of a segment in terms of values instead of rows.
//!
//! A segment is a run of steps that always execute together, with the same lanes. Within it each result is a
//! separate value, independent of its row. Moves disappear, unused results are not computed, and live rows
//! are written once, at the end.
use std::iter;
use std::ops::Range;

use hashbrown::HashMap;

use super::super::alu::{Alu, Row};
use super::super::effect::{Axis, Effect};
use super::super::epilogue::Epilogue;
use super::super::extra::Extra;
use super::super::ops::{Op, Precision};
use super::super::program::Program;
use super::super::rowmap;
use super::super::rows::AluOp;
use super::live::RowSet;
use super::sampler_variants::Coded;
use a4emu_decoder::adreno::ir3::{Cat2Op, Cat3Op};

/// Index of a value of a segment.
pub type ValueId = u32;

/// Most values that a node reads.
pub const SOURCES: usize = 5;

/// Operation of a node.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// The operation of the program with this index.
    Alu(u32),
    /// bary.f: the varying with this index in the frame, at i and j.
    Varying(usize),
    /// dsx, dsy.
    Derivative(Axis),
    /// The sample with this number, at s and t. Its result is four consecutive values.
    Sample(usize),
    /// Conversion of the four components of a colour, and the old pixels, to pixels.
    Pixel,
}

impl Work {
    /// Number of its result values.
    pub fn values(self) -> u32 {
        if matches!(self, Self::Sample(_)) { 4 } else { 1 }
    }
}

/// One computation.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The operation.
    pub work: Work,
    /// The values that it reads.
    pub sources: [ValueId; SOURCES],
    /// Its first result value.
    pub value: ValueId,
    /// The step that it belongs to. 0 for pixels.
    pub step: u32,
}

/// Properties of a value.
#[derive(Clone, Debug, Default)]
pub struct Value {
    /// The row that holds it at the start, for an input.
    pub row: Option<Row>,
    /// Nodes that read it, the last one first. `u32::MAX` is the end of the segment.
    pub uses: Vec<u32>,
    /// Whether its exact bits matter, not only its number. A NaN must then be the canonical one.
    pub bits: bool,
}

/// A segment as values.
pub struct Plan {
    /// Computations that are needed, in order.
    pub nodes: Vec<Node>,
    /// The values, by id.
    pub values: Vec<Value>,
    /// Rows that are written at the end, with their values.
    pub results: Vec<(Row, ValueId)>,
}

/// The use of a value at the end of a segment.
pub const END: u32 = u32::MAX;

/// A part of a step: operations, and maybe the effect after them.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The step.
    pub step: u32,
    /// Operations of the program.
    pub alus: Range<u32>,
    /// Whether it includes the step's effect.
    pub effect: bool,
}

impl Plan {
    /// The plan of these pieces of `program`. The rows `live` are live after them, unless `epilogue` converts a
    /// colour to pixels. Samples in the code are those of `coded`. Varyings are appended to `locations`; each
    /// has three rows in the frame.
    pub fn new(
        program: &Program,
        pieces: &[Piece],
        coded: &Coded,
        live: &RowSet,
        locations: &mut Vec<u16>,
        epilogue: Option<&Epilogue>,
    ) -> Self {
        let (nodes, values, rows, written) = Default::default();
        let mut builder = Builder { nodes, values, rows, written, locations, coded };
        for piece in pieces {
            for index in piece.alus.clone() {
                builder.alu(piece.step, index, &program.alus[index as usize]);
            }
            if piece.effect {
                builder.effect(piece.step, &program.steps[piece.step as usize].effect, program);
            }
        }
        // The row of [`Warp::pixels`](super::super::warp::Warp::pixels) follows the rows of the program.
        let pixels = epilogue.map(|epilogue| builder.pixels(epilogue, program.rows() as Row));
        builder.finish(program, live, pixels)
    }
}

/// Whether a segment can include `effect`.
pub fn is_inline(effect: &Effect, program: &Program) -> bool {
    match effect {
        Effect::Derivative { .. } => true,
        Effect::Op(Op::Varying(varying), destination) => {
            program.location(varying.location).is_some() && destination.precision == Precision::Full
        }
        _ => false,
    }
}

struct Builder<'l> {
    nodes: Vec<Node>,
    values: Vec<Value>,
    rows: HashMap<Row, ValueId>,
    locations: &'l mut Vec<u16>,
    written: Vec<Row>,
    coded: &'l Coded,
}

impl Builder<'_> {
    fn value(&mut self, value: Value) -> ValueId {
        self.values.push(value);
        self.values.len() as ValueId - 1
    }

    /// The current value of `row`.
    fn read(&mut self, row: Row) -> ValueId {
        if let Some(value) = self.rows.get(&row) {
            return *value;
        }
        let value = self.value(Value { row: Some(row), ..Value::default() });
        self.rows.insert(row, value);
        value
    }

    fn write(&mut self, row: Row, value: ValueId) {
        self.rows.insert(row, value);
        if row != rowmap::SINK {
            self.written.push(row);
        }
    }

    fn node<const N: usize>(&mut self, step: u32, work: Work, sources: [ValueId; N], dst: Row) {
        let value = self.made(step, work, sources);
        self.write(dst, value);
    }

    /// Adds a node and returns its first result value.
    fn made<const N: usize>(&mut self, step: u32, work: Work, read: [ValueId; N]) -> ValueId {
        let mut sources = [0; SOURCES];
        sources[..N].copy_from_slice(&read);
        let value = self.values.len() as ValueId;
        self.values.extend((0..work.values()).map(|_| Value::default()));
        self.nodes.push(Node { work, sources, value, step });
        value
    }

    fn alu(&mut self, step: u32, index: u32, alu: &Alu) {
        let sources = alu.src.map(|row| self.read(row));
        // An input row may be overwritten at the end, so its value is copied.
        let movable = self.values[sources[0] as usize].row.is_none_or(|row| row >= rowmap::UNIFORMS);
        match is_move(alu) && movable {
            true => self.write(alu.dst, sources[0]),
            false => self.node(step, Work::Alu(index), sources, alu.dst),
        }
    }

    fn effect(&mut self, step: u32, effect: &Effect, program: &Program) {
        match effect {
            Effect::Derivative { axis, dst, src } => {
                let source = self.read(*src);
                self.node(step, Work::Derivative(*axis), [source], *dst);
            }
            Effect::Op(Op::Varying(varying), destination) => {
                let (i, j) = (self.read(varying.i), self.read(varying.j));
                let location = program.location(varying.location).expect("an inline effect");
                let known = self.locations.iter().position(|known| *known == location);
                let index = known.unwrap_or_else(|| {
                    self.locations.push(location);
                    self.locations.len() - 1
                });
                self.node(step, Work::Varying(index), [i, j], destination.first);
            }
            Effect::Op(Op::Sample(sample), destination) => {
                let (plain, number) = (sample.plain(), self.coded.number(step));
                let [s, t] = plain.expect("a common request").coords.map(|row| self.read(row));
                let number = number.expect("a request in the code");
                let first = self.made(step, Work::Sample(number), [s, t]);
                for (row, component) in destination.rows() {
                    self.write(row, first + component as ValueId);
                }
            }
            _ => unreachable!("is_inline, or coded"),
        }
    }

    /// The result rows with their values: the pixels in `row`, and the alpha if it is kept.
    fn pixels(&mut self, epilogue: &Epilogue, row: Row) -> Vec<(Row, ValueId)> {
        let rows = [0, 1, 2, 3].map(|c| rowmap::FULL + (epilogue.regid + c) as Row);
        let [x, y, z, w] = rows.map(|row| self.read(row));
        let old = self.read(row);
        let pixels = (row, self.made(0, Work::Pixel, [x, y, z, w, old]));
        iter::once(pixels).chain(epilogue.keeps_alpha.then_some((rows[3], w))).collect()
    }

    fn finish(mut self, program: &Program, live: &RowSet, pixels: Option<Vec<(Row, ValueId)>>) -> Plan {
        self.written.sort_unstable();
        self.written.dedup();
        let Self { nodes, mut values, rows, written, .. } = self;
        let results: Vec<(Row, ValueId)> = match pixels {
            Some(pixels) => pixels,
            None => written.into_iter().filter(|row| live.has(*row)).map(|row| (row, rows[&row])).collect(),
        };
        for (_, value) in &results {
            values[*value as usize].uses = vec![END];
            values[*value as usize].bits = true;
        }
        let mut needed: Vec<Node> = Vec::new();
        // Node numbers count from the end here. They are reversed below.
        for node in nodes.iter().rev() {
            let made = &values[node.value as usize..][..node.work.values() as usize];
            if made.iter().all(|value| value.uses.is_empty()) {
                continue;
            }
            let bits = made.iter().any(|value| value.bits);
            let number = needed.len() as u32;
            needed.push(*node);
            for (n, source) in node.sources.iter().enumerate().take(reads(node, program)) {
                let source = &mut values[*source as usize];
                source.bits |= passes_bits(node, n, program, bits);
                if source.uses.last() != Some(&number) {
                    source.uses.push(number);
                }
            }
        }
        needed.reverse();
        let last = needed.len() as u32;
        for value in &mut values {
            value.uses.iter_mut().filter(|at| **at != END).for_each(|at| *at = last - 1 - *at);
        }
        Plan { nodes: needed, values, results }
    }
}

/// Number of sources that a node reads.
pub fn reads(node: &Node, program: &Program) -> usize {
    match node.work {
        Work::Alu(index) => sources_of(program.alus[index as usize].op),
        Work::Varying(_) | Work::Sample(_) => 2,
        Work::Derivative(_) => 1,
        Work::Pixel => SOURCES,
    }
}

fn sources_of(op: AluOp) -> usize {
    match op {
        AluOp::Cat2(op) | AluOp::Saturated(op) | AluOp::Halved(op) => 1 + usize::from(op.class().has_src2()),
        AluOp::Cat3(_) => 3,
        AluOp::Cat4(_) | AluOp::Extra(_) | AluOp::Convert(..) => 1,
        AluOp::Pico(_) => 3,
    }
}

/// Whether the result of `alu` has the bits of its first source.
fn is_move(alu: &Alu) -> bool {
    let plain = alu.and[0] == u32::MAX && alu.xor[0] == 0;
    let moves = matches!(alu.op, AluOp::Extra(Extra::Copy) | AluOp::Cat2(Cat2Op::AbsnegS));
    plain && moves
}

/// Whether the exact bits of source `n` matter. `result` tells whether those of the result do.
fn passes_bits(node: &Node, n: usize, program: &Program, result: bool) -> bool {
    let Work::Alu(index) = node.work else { return false };
    match program.alus[index as usize].op {
        AluOp::Cat2(op) => !op.class().is_float(),
        AluOp::Cat3(Cat3Op::SelB32 | Cat3Op::SelB16) => n != 1 && result,
        AluOp::Cat3(op) => !op.class().is_float(),
        AluOp::Cat4(_) => false,
        AluOp::Extra(Extra::Copy) => result,
        AluOp::Extra(op) => !matches!(op, Extra::Saturate | Extra::FloatToUint | Extra::FloatToSint),
        AluOp::Saturated(_) | AluOp::Halved(_) | AluOp::Pico(_) | AluOp::Convert(..) => true,
    }
}
