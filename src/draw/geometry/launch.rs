//! Running a geometry shader: seats in a warp, each with an invocation of a primitive.

use std::iter::Peekable;

use a4emu_decoder::stage_words::{PRIMITIVE_WORD, STAGE_ENTRY};

use crate::draw::local::LocalLayout;
use crate::draw::stage::{Access, Port, Reports, StageEnvironment};
use crate::draw::vertices::{HEADER, Vertices};
use crate::fault::Fault;
use crate::shader::{Killed, Lanes, Outcome, Warp, run};

use super::GeometryState;
use super::dispatch::{Choice, Cost, Mode};
use super::emitted::Emitted;
use super::input::Input;

/// What position registers hold before the shader: a NaN that no operation makes. A run that
/// kills with this still in place has made no vertex.
const UNWRITTEN: u32 = 0x7fa4_0004;

/// Vertices that fit the field of the entry word.
const COUNTABLE: u32 = 1 << 10;

/// A draw's geometry stage, ready to run.
pub struct Job<'a> {
    /// Its registers.
    pub state: &'a GeometryState,
    /// The vertices that come in.
    pub vertices: &'a Vertices,
    /// The primitives that come in.
    pub input: &'a Input,
    /// How they are laid on lanes.
    pub choice: Choice,
    /// Number of the draw, for what goes wrong.
    pub draw: u32,
}

/// What a batch of primitives made.
#[derive(Default)]
pub struct Batch {
    /// By primitive and invocation.
    pub emitted: Vec<Emitted>,
    /// What the shader reported.
    pub reports: Reports,
    /// What it took.
    pub cost: Cost,
    /// What was wrong with it.
    pub excess: Option<Excess>,
}

/// A shader that wants to make more than PC_GS_PARAM allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// It had not killed when as many vertices as allowed were out.
    NoKill,
    /// It would make one more, and then kill.
    OneMore,
}

/// One invocation of a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    index: usize,
    primitive: usize,
    invocation: u32,
}

/// An invocation that has lanes.
#[derive(Clone, Copy, Debug)]
struct Seated {
    item: Item,
    /// The vertex of its first lane.
    next: u32,
}

struct Worker<'a> {
    job: &'a Job<'a>,
    layout: LocalLayout,
    warp: Warp,
    access: Access<'a>,
    seats: Vec<Option<Seated>>,
    batch: Batch,
}

/// Runs `primitives` of the job.
pub fn run_batch(job: &Job<'_>, primitives: std::ops::Range<usize>, port: Port<'_>) -> Batch {
    let per = job.state.invocations;
    let items = primitives.flat_map(|primitive| (0..per).map(move |invocation| (primitive, invocation)));
    let items =
        items.enumerate().map(|(index, (primitive, invocation))| Item { index, primitive, invocation });
    Worker::new(job, port).run(items)
}

impl<'a> Worker<'a> {
    fn new(job: &'a Job<'a>, port: Port<'a>) -> Self {
        let stage = &job.state.stage;
        let layout = LocalLayout::new(job.input.size, job.vertices.stride() - HEADER);
        let mut access = Access::new(port, stage);
        let slots = if job.choice.mode == Mode::DualObject { job.choice.seats } else { 1 };
        access.vertices = vec![0; slots * layout.stride()];
        let mut warp = Warp::new(&stage.program, &stage.constants);
        warp.on_kill = Killed::End;
        Self { job, layout, warp, access, seats: vec![None; job.choice.seats], batch: Batch::default() }
    }

    fn run(mut self, items: impl Iterator<Item = Item>) -> Batch {
        let mut items = items.peekable();
        loop {
            self.seat(&mut items);
            if self.seats.iter().all(Option::is_none) || self.access.reports.fault.is_some() {
                break;
            }
            self.run_warp();
            (0..self.seats.len()).for_each(|seat| self.harvest(seat));
        }
        Batch { reports: self.access.finish(), ..self.batch }
    }

    /// Gives free seats to the invocations that come next. Two instances of one primitive
    /// wait for each other.
    fn seat(&mut self, items: &mut Peekable<impl Iterator<Item = Item>>) {
        for seat in 0..self.seats.len() {
            if self.seats[seat].is_some() {
                continue;
            }
            let busy = self.seats.iter().flatten().map(|seated| seated.item.primitive).next();
            let together = self.job.choice.mode == Mode::DualInstanced;
            let allowed = |item: &Item| !together || busy.is_none_or(|primitive| primitive == item.primitive);
            let Some(item) = items.next_if(allowed) else { continue };
            self.seats[seat] = Some(Seated { item, next: 0 });
            self.batch.emitted.push(Emitted::default());
            let at = self.slot(seat) * self.layout.stride();
            let place = &mut self.access.vertices[at..at + self.layout.stride()];
            self.layout.fill(place, self.job.vertices, self.job.input.primitive(item.primitive));
        }
    }

    /// Place of a seat's primitive in the local buffer: two instances share theirs.
    fn slot(&self, seat: usize) -> usize {
        if self.job.choice.mode == Mode::DualObject { seat } else { 0 }
    }

    /// Vertices that a seat's lanes run for: up to one more than allowed, to see whether
    /// the shader kills then. That one does not fit the entry word behind 1024 others.
    fn count(&self, seated: &Seated) -> usize {
        let all = (self.job.state.max_vertices + 1).min(COUNTABLE);
        self.job.choice.lanes.min((all - seated.next) as usize)
    }

    fn run_warp(&mut self) {
        let program = &self.job.state.stage.program;
        let mut live = 0u64;
        for (seat, seated) in self.seats.iter().enumerate() {
            let count = seated.as_ref().map_or(0, |seated| self.count(seated));
            live |= ((1 << count) - 1) << (seat * self.job.choice.lanes);
        }
        self.warp.restart(program, live as u32, 0);
        self.enter();
        let mut environment = StageEnvironment { access: &mut self.access, pieces: None };
        let fault = loop {
            match run(program, &mut self.warp, &mut environment) {
                Outcome::Ended => break None,
                Outcome::Barrier => {}
                Outcome::Fault(fault) => {
                    break Some(Fault::Shader(format!("draw {}: geometry {fault}", self.job.draw)));
                }
            }
        };
        let reports = &mut self.access.reports;
        reports.fault = fault;
        reports.warps += 1;
        reports.instructions += self.warp.executed();
        let cost = &mut self.batch.cost;
        cost.warps += 1;
        cost.lanes += u64::from(live.count_ones());
        cost.instructions += self.warp.executed();
        cost.spills += u64::from(self.job.choice.spills);
    }

    /// Registers at the start: outputs that are not written must not depend on the warp
    /// that was here before.
    fn enter(&mut self) {
        let outputs = &self.job.state.outputs;
        let word = self.job.state.primitive_word;
        for id in outputs.varyings.iter().map(|(id, _)| *id).chain(outputs.point_size).chain(word) {
            *self.warp.full_mut(id) = Lanes::ZERO;
        }
        for c in 0..4 {
            *self.warp.full_mut(outputs.position + c) = Lanes::splat(UNWRITTEN);
        }
        let (mut entry, mut ids) = (Lanes::ZERO, Lanes::ZERO);
        for (seat, seated) in self.seats.iter().enumerate() {
            let Some(seated) = seated else { continue };
            for k in 0..self.job.choice.lanes {
                let lane = seat * self.job.choice.lanes + k;
                let vertex = seated.next + k as u32;
                entry[lane] = STAGE_ENTRY::new(self.slot(seat) as u32, seated.item.invocation, vertex).0;
                ids[lane] = self.job.input.ids[seated.item.primitive];
            }
        }
        *self.warp.full_mut(0) = entry;
        *self.warp.full_mut(1) = ids;
    }

    /// Takes the vertices of a seat, up to the first lane that killed.
    fn harvest(&mut self, seat: usize) {
        let Some(seated) = self.seats[seat] else { return };
        if self.access.reports.fault.is_some() {
            return;
        }
        let count = self.count(&seated);
        let max = self.job.state.max_vertices;
        let mut ended = false;
        for k in 0..count {
            let lane = seat * self.job.choice.lanes + k;
            let killed = self.warp.killed() & (1 << lane) != 0;
            let made = !killed || self.has_position(lane);
            if seated.next + k as u32 == max {
                self.batch.excess = self.batch.excess.or(excess(killed, made));
                ended = true;
                break;
            }
            self.batch.cost.runs += 1;
            if made {
                self.export(seated.item.index, lane);
            }
            if killed {
                ended = true;
                break;
            }
        }
        let next = seated.next + count as u32;
        let more = !ended && next <= max && next < COUNTABLE;
        self.seats[seat] = more.then_some(Seated { next, ..seated });
    }

    /// Whether a lane wrote its position. Registers with inputs do not tell.
    fn has_position(&self, lane: usize) -> bool {
        let position = self.job.state.outputs.position;
        (position..position + 4).filter(|id| *id > 1).any(|id| self.warp.full(id)[lane] != UNWRITTEN)
    }

    /// Adds the vertex of a lane.
    fn export(&mut self, index: usize, lane: usize) {
        let outputs = &self.job.state.outputs;
        let rows = &mut self.batch.emitted[index].rows;
        let start = rows.len();
        rows.resize(start + HEADER + outputs.components, 0);
        let row = &mut rows[start..];
        for c in 0..4 {
            let value = self.warp.full(outputs.position + c)[lane];
            row[c as usize] = if value == UNWRITTEN { 0 } else { value };
        }
        row[4] = outputs.point_size.map_or(0, |id| self.warp.full(id)[lane]);
        for (id, location) in &outputs.varyings {
            row[HEADER + location] = self.warp.full(*id)[lane];
        }
        let word = self.job.state.primitive_word.map_or(0, |id| self.warp.full(id)[lane]);
        self.batch.emitted[index].words.push(PRIMITIVE_WORD(word));
        self.batch.cost.vertices += 1;
    }
}

/// What a run for one vertex more than allowed says about the shader.
fn excess(killed: bool, made: bool) -> Option<Excess> {
    match (killed, made) {
        (false, _) => Some(Excess::NoKill),
        (true, true) => Some(Excess::OneMore),
        (true, false) => None,
    }
}
