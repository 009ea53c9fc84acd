//! The state of 32 lanes.
use std::ops::Range;
use std::sync::Arc;

use super::alu::Row;
use super::flow::{Fence, Flow};
use super::lanes::{ALL, Lanes, Mask};
use super::lowered::Lowered;
use super::rowmap::{ADDRESS, FULL, HALF, PREDICATES, REGISTERS, SHARED, SHARED_COUNT, SINK, ZERO};
use super::wave::WavePlace;

/// Limit of warp instructions. A shader that exceeds it counts as endless.
pub const INSTRUCTION_LIMIT: u64 = 1 << 22;

/// Rows of a result: x, y, z, w.
pub(super) const ANSWER: usize = 4;

/// Rows after those of a program: one for pixels, and those of a result.
const SPARE: usize = 1 + ANSWER;

/// Registers, control flow and constants of 32 lanes that run one program. Clone it for each further warp of
/// a group: the clones share the constants.
#[derive(Clone, Debug, Default)]
pub struct Warp {
    /// Rows of the program, then one for pixels and [`ANSWER`] for results of the environment. The last ones
    /// are never cleared.
    pub(super) rows: Vec<Lanes>,
    /// The constant file. `None` in an unused warp, since even an empty `Arc` would be shared by all threads.
    pub(super) constants: Option<Arc<[u32]>>,
    /// Data of the environment that compiled code reads.
    pub(super) frame: Vec<Lanes>,
    pub(super) flow: Flow,
    /// Its place in the wave.
    pub(super) wave: WavePlace,
    /// Whether it stands at an effect of the wave.
    pub(super) stands: bool,
    /// Whether it runs next, as another warp of the wave has run its step.
    pub(super) is_due: bool,
    pub(super) live: Mask,
    pub(super) killed: Mask,
    /// Lanes that were never started. Their registers may hold anything.
    pub(super) idle: Mask,
    pub(super) executed: u64,
    /// Warp instructions since the restart that ran as machine code.
    pub compiled: u64,
    /// Instructions executed since the restart, summed over lanes. Counted only with [`Killed::End`], where a
    /// draw is charged by lane.
    pub lane_instructions: u64,
    /// Number of instructions at which the warp is cut off ([`INSTRUCTION_LIMIT`] by default).
    pub limit: u64,
    /// Behaviour of killed lanes ([`Killed::Help`] by default).
    pub on_kill: Killed,
}

/// The registers of the four lanes of a quad.
#[derive(Clone, Debug)]
pub struct QuadRegisters {
    rows: Vec<[u32; 4]>,
    live: Mask,
    killed: Mask,
}

/// Behaviour of a lane after a kill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Killed {
    /// The lane runs on for derivatives and stores nothing: fragment shaders.
    #[default]
    Help,
    /// The lane ends and keeps its registers: geometry shaders.
    End,
}

impl Warp {
    /// A warp for `program`, with the constant file of this launch (scalars; c448.. holds the SSBO mirror;
    /// constants past the slice read 0).
    pub fn new(program: &Lowered, constants: &[u32]) -> Self {
        Self::with_constants(program, constants.into())
    }

    /// Like [`Self::new`], with a constant file that several warps share.
    pub fn with_constants(program: &Lowered, constants: Arc<[u32]>) -> Self {
        let mut warp = Self {
            rows: vec![Lanes::ZERO; program.rows() + SPARE],
            constants: Some(constants),
            frame: Vec::new(),
            flow: Flow::default(),
            wave: WavePlace::default(),
            stands: false,
            is_due: false,
            live: 0,
            killed: 0,
            idle: ALL,
            executed: 0,
            compiled: 0,
            lane_instructions: 0,
            limit: INSTRUCTION_LIMIT,
            on_kill: Killed::Help,
        };
        warp.spread(program);
        warp
    }

    /// Fills the constant rows of the program, equal in all lanes.
    pub(super) fn spread(&mut self, program: &Lowered) {
        let constants = self.constants.as_deref().unwrap_or_default();
        let uniforms = self.rows.iter_mut().rev().skip(SPARE).zip(program.uniforms.iter().rev());
        uniforms.for_each(|(row, uniform)| *row = Lanes::splat(uniform.resolve(constants)));
    }

    /// Replaces the constant file. Call before the first instruction of `program`.
    pub fn set_constants(&mut self, program: &Lowered, constants: &Arc<[u32]>) {
        if !self.constants.as_ref().is_some_and(|held| Arc::ptr_eq(held, constants)) {
            self.constants = Some(constants.clone());
            self.spread(program);
        }
    }

    /// The registers of the quad whose first lane is `first`.
    pub fn quad(&self, first: usize) -> QuadRegisters {
        let of_row = |row: &Lanes| std::array::from_fn(|lane| row[first + lane]);
        let of_mask = |mask: Mask| mask >> first & 15;
        let rows = self.rows.iter().map(of_row).collect();
        QuadRegisters { rows, live: of_mask(self.live), killed: of_mask(self.killed) }
    }

    /// Copies `quad` of a warp of the same program to the first four lanes. Only these are live.
    pub fn put_quad(&mut self, quad: &QuadRegisters) {
        for (row, lanes) in self.rows.iter_mut().zip(&quad.rows) {
            row.0[..4].copy_from_slice(lanes);
        }
        (self.live, self.killed) = (quad.live, quad.killed);
    }

    /// Restarts at the first instruction. Registers that the program may read are zero. `live` lanes count;
    /// `helpers` run as well for derivatives, but store nothing.
    pub fn restart(&mut self, program: &Lowered, live: Mask, helpers: Mask) {
        self.restart_but(0..0, program, live, helpers);
    }

    /// Like [`Self::restart`], but the full registers `given` are not cleared. The caller must write them in
    /// all lanes before the first instruction.
    #[inline]
    pub fn restart_but(&mut self, given: Range<u32>, program: &Lowered, live: Mask, helpers: Mask) {
        self.clear(given, program);
        self.flow.restart(live | helpers);
        (self.wave, self.stands, self.is_due) = (WavePlace::default(), false, false);
        self.live = live;
        self.idle = !(live | helpers);
        self.killed = 0;
        self.executed = 0;
        self.compiled = 0;
        self.lane_instructions = 0;
    }

    /// Makes the restarted warp part of a wave. If it is joined to others, it runs when it has its turn.
    pub fn join(&mut self, place: WavePlace) {
        self.wave = place;
        if place.joined {
            self.flow.set_fence(Fence::CLOSED);
        }
    }

    /// Its place in the wave.
    pub fn place(&self) -> WavePlace {
        self.wave
    }

    /// Prepares a warp for lockstep execution at the first instruction. Like [`Warp::restart_but`] where all
    /// lanes that are not `live` are helpers. `instructions` is the number that the warp will have executed.
    #[inline]
    pub fn begin_lockstep(&mut self, given: Range<u32>, program: &Lowered, live: Mask, instructions: u64) {
        self.clear(given, program);
        (self.live, self.idle, self.killed) = (live, 0, 0);
        self.executed = instructions;
    }

    #[inline]
    fn clear(&mut self, given: Range<u32>, program: &Lowered) {
        for &row in &program.zeroed {
            let id = row.wrapping_sub(FULL);
            if id >= REGISTERS || !given.contains(&id.into()) {
                self.rows[row as usize] = Lanes::ZERO;
            }
        }
    }

    /// Ends `lanes` before the first instruction. Their registers stay unchanged.
    pub fn stop_lanes(&mut self, lanes: Mask) {
        self.flow.end(lanes);
    }

    /// The full register with id `id` (number * 4 + component). Ids that name no register (r63.x) read zero.
    pub fn full(&self, id: u32) -> &Lanes {
        self.row(register(FULL, id).unwrap_or(ZERO))
    }

    /// The full register `id`, for writing inputs after a restart. Writes to ids that name no register are
    /// lost.
    pub fn full_mut(&mut self, id: u32) -> &mut Lanes {
        &mut self.rows[register(FULL, id).unwrap_or(SINK) as usize]
    }

    /// Writes the register `id` that all lanes share: 0 is r48.x. Writes to ids that name no register are lost.
    pub fn set_shared(&mut self, id: u32, value: u32) {
        if id < u32::from(SHARED_COUNT) {
            self.rows[usize::from(SHARED) + id as usize] = Lanes::splat(value);
        }
    }

    /// The register `id` that all lanes share, 0 to 31: 0 is r48.x.
    pub fn shared(&self, id: u32) -> u32 {
        self.row(SHARED + (id as Row).min(SHARED_COUNT - 1))[0]
    }

    /// The four full registers from `id` on.
    #[inline]
    pub fn four(&self, id: u32) -> [&Lanes; 4] {
        match register(FULL, id + 3).and(self.rows.get(usize::from(FULL) + id as usize..)) {
            Some([x, y, z, w, ..]) => [x, y, z, w],
            _ => [self.full(id), self.full(id + 1), self.full(id + 2), self.full(id + 3)],
        }
    }

    /// Whether the `count` full registers from `id` on exist. `count` is at least 1.
    pub fn has_full(id: u32, count: u32) -> bool {
        id.checked_add(count - 1).is_some_and(|last| register(FULL, last).is_some())
    }

    /// Full registers `id` and `id + 1`, for writing inputs after a restart. `None` if one of them does not
    /// exist.
    pub fn full_pair_mut(&mut self, id: u32) -> Option<&mut [Lanes; 2]> {
        let (first, _) = (register(FULL, id)?, register(FULL, id + 1)?);
        self.rows.get_mut(first as usize..)?.first_chunk_mut()
    }

    /// The pixels that compiled code has made of the colours.
    #[inline]
    pub fn pixels(&self) -> &Lanes {
        &self.rows[self.rows.len() - SPARE]
    }

    /// The pixels, for writing the old pixels of a blend before the code runs.
    #[inline]
    pub fn pixels_mut(&mut self) -> &mut Lanes {
        let row = self.rows.len() - SPARE;
        &mut self.rows[row]
    }

    /// The half register with id `id`: 16 bits, zero-extended, per lane.
    pub fn half(&self, id: u32) -> &Lanes {
        self.row(register(HALF, id).unwrap_or(ZERO))
    }

    /// The half register `id`, for writing inputs after a restart.
    pub fn half_mut(&mut self, id: u32) -> &mut Lanes {
        &mut self.rows[register(HALF, id).unwrap_or(SINK) as usize]
    }

    /// The address register a0.x, per lane.
    pub fn a0(&self) -> &Lanes {
        self.row(ADDRESS)
    }

    /// Component 0 to 3 of the predicate p0. Nonzero is true.
    pub fn predicate(&self, component: u32) -> &Lanes {
        self.row(PREDICATES + (component & 3) as Row)
    }

    /// The constant file. Constants past its end read 0.
    pub fn constants(&self) -> &[u32] {
        self.constants.as_deref().unwrap_or_default()
    }

    /// Lanes that the launch started: live lanes and helpers.
    pub fn started(&self) -> Mask {
        !self.idle
    }

    /// The instruction that `lane` executes next. `None` if it has ended.
    pub fn instruction_of(&self, program: &Lowered, lane: usize) -> Option<u32> {
        self.flow.step_of(lane).map(|step| program.steps[step as usize].at)
    }

    /// The return addresses of the open calls of `lane`, innermost first.
    pub fn returns_of(&self, program: &Lowered, lane: usize) -> Vec<u32> {
        self.flow.returns_of(lane).map(|step| program.steps[step as usize].at).collect()
    }

    /// Lanes that executed a kill.
    pub fn killed(&self) -> Mask {
        self.killed
    }

    /// Lanes whose outputs count: live and not killed.
    pub fn covered(&self) -> Mask {
        self.live & !self.killed
    }

    /// Warp instructions executed since the restart.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    pub(super) fn row(&self, row: Row) -> &Lanes {
        &self.rows[row as usize]
    }

    /// Writes `value` to the lanes of `mask`. Lanes that never started may change too.
    pub(super) fn write(&mut self, row: Row, value: &Lanes, mask: Mask) {
        take(&mut self.rows[row as usize], value, mask, self.idle);
    }
}

/// Writes `value` to the lanes of `mask` in `row`. `idle` lanes may change too.
pub(super) fn take(row: &mut Lanes, value: &Lanes, mask: Mask, idle: Mask) {
    match mask | idle {
        ALL => *row = *value,
        _ => row.merge(value, mask),
    }
}

/// The row of register `id` in the file that begins at row `base`. `None` if it does not exist.
fn register(base: Row, id: u32) -> Option<Row> {
    (id < u32::from(REGISTERS)).then(|| base + id as Row)
}
