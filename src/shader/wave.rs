//! Waves: warps whose lanes exchange values.
//!
//! A wave of an A6xx has 64 or 128 lanes. A warp has 32. So a wave is two or four warps, which run as one would whose lanes
//! are theirs in order: the lanes at the smallest step run, and those that are at the same step run together
//! ([`crate::flow`]). [`turn`] selects the warp that runs. It stops before a step that others have reached, and at an effect of
//! the wave ([`Effect::is_of_wave`], [`Outcome::Wave`](super::Outcome::Wave)), which [`exchange`] does for all that stand at it.
//! Several warps at one step run it one after the other, before any of them runs another step.
use a4emu_decoder::adreno::ir3::ShuffleMode;

use super::alu::Row;
use super::effect::{Effect, Exchange, QuadLane, Vote};
use super::flow::Fence;
use super::lanes::{LANES, Lanes, Mask};
use super::lowered::Lowered;
use super::rowmap::{SHARED, SHARED_COUNT};
use super::warp::Warp;

/// Most warps of a wave.
pub const MAX_WARPS: usize = 4;

/// Lanes of a cluster of getlast. Its field has no influence on that, says ir3-cat0.xml.
const CLUSTER: u32 = 8;

/// The place of a warp in its wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WavePlace {
    /// Number of the warp in the wave.
    pub warp: usize,
    /// Lanes of the wave, with those that were not started.
    pub lanes: usize,
    /// Whether there are other warps in it. Then the warp stops where they have to run first, or together with it.
    pub joined: bool,
}

impl Default for WavePlace {
    fn default() -> Self {
        Self { warp: 0, lanes: LANES, joined: false }
    }
}

/// What happens next in a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The warp with this number runs.
    Run(usize),
    /// The effect at which warps stand takes place: [`exchange`] does it.
    Exchange,
}

/// Selects what happens next. `warps` are those of the wave that have not ended and do not wait at a barrier, in order. `None` if
/// there are none.
pub fn turn(warps: &mut [&mut Warp]) -> Option<Turn> {
    if let Some(warp) = warps.iter_mut().find(|warp| warp.is_due) {
        warp.is_due = false;
        return Some(Turn::Run(warp.wave.warp));
    }
    let mut steps = [u32::MAX; MAX_WARPS];
    for (step, warp) in steps.iter_mut().zip(&*warps) {
        *step = warp.flow.lowest().unwrap_or(u32::MAX);
    }
    let steps = &steps[..warps.len().min(MAX_WARPS)];
    let lowest = *steps.iter().min()?;
    let next = steps.iter().filter(|step| **step > lowest).min();
    let is_alone = steps.iter().filter(|step| **step == lowest).count() == 1;
    let mut first = None;
    let at_lowest = warps.iter_mut().zip(steps).filter(|(warp, step)| **step == lowest && !warp.stands);
    for (warp, _) in at_lowest {
        let before = Fence::Before(*next.unwrap_or(&u32::MAX));
        warp.flow.set_fence(if is_alone { before } else { Fence::Only(lowest) });
        warp.is_due = first.is_some();
        first = first.or(Some(warp.wave.warp));
    }
    Some(first.map_or(Turn::Exchange, Turn::Run))
}

/// Does the effect at which the warps with the smallest step stand. `warps` are all of the wave that have not ended, in order.
pub fn exchange(program: &Lowered, warps: &mut [&mut Warp]) {
    let step = warps.iter().filter(|warp| warp.stands).map(|warp| warp.flow.step).min();
    let Some(step) = step else { return };
    let mut standing = [false; MAX_WARPS];
    for (stands, warp) in standing.iter_mut().zip(&mut *warps) {
        *stands = warp.stands && warp.flow.step == step;
        warp.stands &= !*stands;
    }
    apply(&program.steps[step as usize].effect, warps, &standing);
}

/// Does `effect` for one warp that is joined to none.
pub(super) fn exchange_alone(effect: &Effect, warp: &mut Warp) {
    apply(effect, &mut [warp], &[true]);
}

/// Does `effect` for those of `warps` that stand at it, and moves them on.
fn apply(effect: &Effect, warps: &mut [&mut Warp], standing: &[bool]) {
    let mut running = [0; MAX_WARPS];
    for ((running, warp), stands) in running.iter_mut().zip(&*warps).zip(standing) {
        *running = if *stands { warp.flow.executing() } else { 0 };
    }
    let running = &running[..warps.len().min(MAX_WARPS)];
    let mut taken = [0; MAX_WARPS];
    match effect {
        Effect::Branch(branch) => {
            for ((taken, warp), running) in taken.iter_mut().zip(&*warps).zip(running) {
                *taken = warp.holds(branch.condition) & running;
            }
            vote(branch.vote, &mut taken[..running.len()], running);
            for ((warp, taken), _) in warps.iter_mut().zip(taken).zip(standing).filter(|(_, stands)| **stands)
            {
                warp.flow.branch(taken, branch.target);
            }
            return;
        }
        Effect::Broadcast { row } => {
            let first = warps.iter().zip(running).find(|(_, running)| **running != 0);
            if let Some(value) =
                first.map(|(warp, running)| warp.row(*row)[running.trailing_zeros() as usize])
            {
                share(warps, *row, value);
            }
        }
        Effect::Exchange(exchange) => exchange.apply(warps, running),
        // They ask no other lane.
        Effect::Continue | Effect::Doubt(_) | Effect::End | Effect::Call { .. } | Effect::Return => {}
        Effect::Kill(_) | Effect::Region(_) | Effect::Barrier | Effect::Gather(_) => {}
        Effect::Scatter { .. } | Effect::Constants(_) | Effect::Derivative { .. } | Effect::Op(..) => {}
        Effect::LeftProgram | Effect::Invalid | Effect::Unsupported(_) => {}
    }
    for (warp, _) in warps.iter_mut().zip(standing).filter(|(_, stands)| **stands) {
        warp.flow.step += 1;
    }
}

/// Changes the lanes that want to branch, of those that are `running`, to those that do.
fn vote(vote: Vote, lanes: &mut [Mask], running: &[Mask]) {
    let all = |condition: bool, lanes: &mut [Mask]| {
        lanes
            .iter_mut()
            .zip(running)
            .for_each(|(lanes, running)| *lanes = if condition { *running } else { 0 });
    };
    match vote {
        Vote::Each => {}
        Vote::Any => all(lanes.iter().any(|lanes| *lanes != 0), lanes),
        Vote::All => all(*lanes == *running, lanes),
        Vote::AllButOne => {
            if let Some(first) = lanes.iter_mut().find(|lanes| **lanes != 0) {
                *first &= first.wrapping_sub(1);
            }
        }
        Vote::AllButOneOfWarp => lanes.iter_mut().for_each(|lanes| *lanes &= lanes.wrapping_sub(1)),
        Vote::ClusterButLast => {
            let first = lanes.iter().position(|lanes| *lanes != 0);
            for (index, lanes) in lanes.iter_mut().enumerate() {
                let cluster = if Some(index) == first { first_cluster(*lanes) } else { 0 };
                *lanes = cluster & !last_lane(cluster);
            }
        }
    }
}

/// The lanes of `mask` in the first cluster that has some.
fn first_cluster(mask: Mask) -> Mask {
    let begin = mask.trailing_zeros() / CLUSTER * CLUSTER;
    mask & ((1 << CLUSTER) - 1u32).checked_shl(begin).unwrap_or(0)
}

/// The highest lane of `mask`.
fn last_lane(mask: Mask) -> Mask {
    mask.checked_ilog2().map_or(0, |lane| 1 << lane)
}

/// Gives all lanes of the wave `value` in `row`.
fn share(warps: &mut [&mut Warp], row: Row, value: u32) {
    warps.iter_mut().for_each(|warp| warp.rows[usize::from(row)] = Lanes::splat(value));
}

/// Writes to `row` of each warp, in the lanes that are `running`, what `value` returns for the warp and these lanes.
fn write(warps: &mut [&mut Warp], running: &[Mask], row: Row, value: impl Fn(&Warp, Mask) -> Lanes) {
    for (warp, mask) in warps.iter_mut().zip(running) {
        let value = value(warp, *mask);
        warp.write(row, &value, *mask);
    }
}

/// Whether all lanes of a wave share `row`.
fn is_shared(row: Row) -> bool {
    (SHARED..SHARED + SHARED_COUNT).contains(&row)
}

impl Exchange {
    /// Does it in the lanes that are `running`.
    fn apply(&self, warps: &mut [&mut Warp], running: &[Mask]) {
        match *self {
            Self::Executing { dst, rows } => {
                for n in 0..rows {
                    let here = warps.iter().zip(running).find(|(warp, _)| warp.wave.warp == usize::from(n));
                    let mask = here.map_or(0, |(_, running)| *running);
                    let row = dst + Row::from(n);
                    match is_shared(row) {
                        true => share(warps, row, mask),
                        false => write(warps, running, row, |_, _| Lanes::splat(mask)),
                    }
                }
            }
            Self::Number { dst } => write(warps, running, dst, |warp, _| {
                Lanes(std::array::from_fn(|lane| (warp.wave.warp * LANES + lane) as u32))
            }),
            Self::Quad { lane, dst, src } => write(warps, running, dst, |warp, running| {
                let (values, old) = (warp.row(src), warp.row(dst));
                match lane {
                    QuadLane::Named(by) => {
                        let by = warp.row(by);
                        in_warp(values, running, old, |lane| lane & !3 | by[lane] as usize & 3)
                    }
                    QuadLane::Across(bits) => in_warp(values, running, old, |lane| lane ^ usize::from(bits)),
                }
            }),
            Self::Cluster { size, dst, src } => write(warps, running, dst, |warp, running| {
                last_of_halves(warp.row(src), running, warp.row(dst), size.into())
            }),
            Self::Shuffle { mode, dst, src, by } => {
                let mut wave = WaveValues { executing: [0; MAX_WARPS], rows: [Lanes::ZERO; MAX_WARPS] };
                for (warp, running) in warps.iter().zip(running) {
                    let number = warp.wave.warp % MAX_WARPS;
                    wave.executing[number] = *running;
                    wave.rows[number] = *warp.row(src);
                }
                write(warps, running, dst, |warp, _| {
                    let (first, lanes, by) = (warp.wave.warp * LANES, warp.wave.lanes, warp.row(by));
                    let (own, by) = (|lane: usize| first + lane, |lane: usize| by[lane] as usize);
                    let old = warp.row(dst);
                    match mode {
                        ShuffleMode::Xor => wave.gather(old, |lane| own(lane) ^ by(lane)),
                        ShuffleMode::Up => wave.gather(old, |lane| own(lane).wrapping_sub(by(lane))),
                        ShuffleMode::Down => wave.gather(old, |lane| own(lane).wrapping_add(by(lane))),
                        ShuffleMode::RotateUp => {
                            wave.gather(old, |lane| own(lane).wrapping_sub(by(lane)) % lanes)
                        }
                        ShuffleMode::RotateDown => {
                            wave.gather(old, |lane| own(lane).wrapping_add(by(lane)) % lanes)
                        }
                    }
                });
            }
        }
    }
}

/// For each lane of a warp, the one of `values` that is in the lane that `from` names, or the `old` value if that lane does not
/// execute. That shfl changes nothing then is in ir3_lower_subgroups.c. It is taken to be so for quad_shuffle (guess
/// `wave-outside`).
fn in_warp(values: &Lanes, executing: Mask, old: &Lanes, from: impl Fn(usize) -> usize) -> Lanes {
    let value = |lane| {
        let from = from(lane) % LANES;
        if executing >> from & 1 != 0 { values[from] } else { old[lane] }
    };
    Lanes(std::array::from_fn(value))
}

/// For each lane of a warp: the one of `values` that is in the last executing lane in the lower half of its cluster of `size`
/// lanes, or the `old` value if there is none. Lanes in lower halves keep the old ones.
fn last_of_halves(values: &Lanes, executing: Mask, old: &Lanes, size: usize) -> Lanes {
    let mut all = *old;
    for (number, cluster) in all.0.chunks_exact_mut(size).enumerate() {
        let lower = executing >> (number * size) & ((1 << (size / 2)) - 1);
        if let Some(last) = lower.checked_ilog2() {
            cluster[size / 2..].fill(values[number * size + last as usize]);
        }
    }
    all
}

/// A row of all lanes of a wave.
struct WaveValues {
    /// The lanes that execute, by the number of the warp.
    executing: [Mask; MAX_WARPS],
    /// By the number of the warp.
    rows: [Lanes; MAX_WARPS],
}

impl WaveValues {
    /// For each lane of a warp, the value of the lane of the wave that `from` names, or the `old` one if that does not execute
    /// or is outside the wave (guess `wave-outside`).
    fn gather(&self, old: &Lanes, from: impl Fn(usize) -> usize) -> Lanes {
        let value = |lane| {
            let from = from(lane);
            let (warp, at) = (from / LANES % MAX_WARPS, from % LANES);
            let executes = from < MAX_WARPS * LANES && self.executing[warp] >> at & 1 != 0;
            if executes { self.rows[warp][at] } else { old[lane] }
        };
        Lanes(std::array::from_fn(value))
    }
}
