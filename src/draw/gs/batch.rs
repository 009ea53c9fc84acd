//! Running a geometry shader: seats in a warp, each with an invocation of a primitive.

use std::iter::Peekable;

use a4emu_decoder::stage_words::STAGE_ENTRY;

use crate::draw::sp::log::Reports;
use crate::draw::sp::memory::{Access, Port};
use crate::draw::sp::primitive_inputs::LocalLayout;
use crate::draw::vertices::{HEADER, Vertices};
use crate::fault::Fault;
use crate::shader::{Killed, Lanes, Warp};

use super::GeometryState;
use crate::draw::gs::cost::Cost;
use crate::draw::gs::dispatch::{Choice, Mode, SEATS};
use crate::draw::gs::emitted::Emitted;
use crate::draw::gs::probe::{self, Excess};
use crate::draw::gs::subwarps::{Item, Seated, Seats};
use crate::draw::pc::assembler::Input;

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

struct Worker<'a> {
    job: &'a Job<'a>,
    layout: LocalLayout,
    warp: Warp,
    access: Access<'a>,
    seats: Seats,
    /// Lanes that a seat uses.
    width: usize,
    /// Invocations that have made all that they may, and have not killed.
    full: Vec<Item>,
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
        let seats = Seats::new(job.choice);
        let (width, full) = (job.choice.lanes, Vec::new());
        Self { job, layout, warp, access, seats, width, full, batch: Batch::default() }
    }

    fn run(mut self, items: impl Iterator<Item = Item>) -> Batch {
        let mut items = items.peekable();
        loop {
            self.seat(&mut items);
            if self.seats.is_empty() || self.batch.reports.fault.is_some() {
                break;
            }
            let counts = self.run_warp();
            if self.batch.reports.fault.is_none() {
                (0..SEATS).for_each(|seat| self.harvest(seat, counts[seat]));
            }
        }
        let probed = probe::run(self.job, &self.full, self.access.port.memory());
        self.batch.excess = probed.excess;
        self.batch.cost.probes += probed.warps;
        self.batch.reports.append(self.access.finish());
        self.batch
    }

    /// Fills the seats, and the places of their primitives in the local buffer.
    fn seat(&mut self, items: &mut Peekable<impl Iterator<Item = Item>>) {
        let mut seated = [None; SEATS];
        self.seats.fill(items, |seat, item| seated[seat] = Some(item));
        for (seat, item) in seated.iter().enumerate() {
            let Some(item) = item else { continue };
            self.batch.emitted.push(Emitted::default());
            let stride = self.layout.stride();
            let place = &mut self.access.vertices[self.seats.slot(seat) * stride..][..stride];
            self.layout.fill(place, self.job.vertices, self.job.input.primitive(item.primitive));
        }
    }

    /// Runs the next vertices of every seat. Gives how many lanes of each ran.
    ///
    /// Runs behind a kill would not happen on the chip, so they must not be heard of: when
    /// the warp has something to report, it runs again with no more than the lanes that
    /// count; when it could not go on, with the first of each seat, and so from then on. (A
    /// shader that stores has one lane anyway.)
    fn run_warp(&mut self) -> [usize; SEATS] {
        let mut counts = self.seats.each(|_, seated| self.left(seated).min(self.width));
        let mut reports = self.launch(&counts);
        if reports.fault.is_some() && self.width > 1 {
            self.width = 1;
            counts = counts.map(|count| count.min(1));
            reports = self.launch(&counts);
        }
        let real = self.seats.each(|seat, _| self.real(seat, counts[seat]));
        if !reports.is_quiet() && reports.fault.is_none() && real != counts {
            counts = real;
            reports = self.launch(&counts);
        }
        reports.strays.retain(|stray| {
            let (seat, k) = self.seats.seat_of(stray.lane);
            k < real[seat]
        });
        self.batch.reports.append(reports);
        counts
    }

    /// Vertices that an invocation may still make.
    fn left(&self, seated: &Seated) -> usize {
        (self.job.state.max_vertices - seated.next) as usize
    }

    /// Lanes of a seat up to the first that killed, of `count` that ran.
    fn real(&self, seat: usize, count: usize) -> usize {
        let killed = (0..count).position(|k| self.is_killed(self.lane(seat, k)));
        killed.map_or(count, |k| k + 1)
    }

    fn lane(&self, seat: usize, k: usize) -> usize {
        self.seats.first_lane(seat) + k
    }

    fn is_killed(&self, lane: usize) -> bool {
        self.warp.killed() & (1 << lane) != 0
    }

    /// Runs the program in the first `counts` lanes of the seats. Gives what it reported.
    fn launch(&mut self, counts: &[usize; SEATS]) -> Reports {
        let program = &self.job.state.stage.program;
        let lanes = |(seat, count): (usize, &usize)| ((1u64 << count) - 1) << self.lane(seat, 0);
        let live = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(lanes).sum::<u64>() as u32;
        self.warp.restart(program, live, 0);
        self.enter();
        let fault = self.access.run(&mut self.warp, None);
        let cost = &mut self.batch.cost;
        cost.warps += 1;
        cost.lanes += u64::from(live.count_ones());
        cost.instructions += self.warp.executed();
        cost.lane_instructions += self.warp.lane_instructions;
        cost.spills += u64::from(self.job.choice.spills);
        let mut reports = std::mem::take(&mut self.access.reports);
        reports.fault = fault.map(|fault| Fault::Shader(format!("draw {}: geometry {fault}", self.job.draw)));
        reports
    }

    /// Puts vertex numbers and ids into registers.
    fn enter(&mut self) {
        let (mut entry, mut ids) = (Lanes::ZERO, Lanes::ZERO);
        for lane in 0..self.job.choice.lanes * self.job.choice.seats {
            let (seat, k) = self.seats.seat_of(lane);
            let Some(Seated { item, next }) = self.seats.get(seat) else { continue };
            let slot = self.seats.slot(seat) as u32;
            entry[lane] = STAGE_ENTRY::new(slot, item.invocation, next + k as u32).0;
            ids[lane] = self.job.input.ids[item.primitive];
        }
        self.job.state.enter(&mut self.warp, &entry, &ids);
    }

    /// Takes the vertices of a seat, of which `count` lanes ran.
    fn harvest(&mut self, seat: usize, count: usize) {
        let Some(seated) = self.seats.get(seat) else { return };
        let real = self.real(seat, count);
        let first = self.lane(seat, 0);
        for lane in first..first + real {
            self.batch.cost.runs += 1;
            if !self.is_killed(lane) || self.job.state.has_position(&self.warp, lane) {
                self.job.state.export(&self.warp, lane, &mut self.batch.emitted[seated.item.index]);
                self.batch.cost.vertices += 1;
            }
        }
        let killed = real > 0 && self.is_killed(first + real - 1);
        let next = Seated { next: seated.next + real as u32, ..seated };
        let full = self.left(&next) == 0;
        if full && !killed {
            self.full.push(seated.item);
        }
        self.seats.put(seat, (!killed && !full).then_some(next));
    }
}
