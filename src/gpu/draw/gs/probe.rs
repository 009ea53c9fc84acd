//! What a shader would do behind the last vertex that it may make.
//!
//! PC_GS_PARAM ends an invocation that has not killed. Whether it would have killed then tells
//! a good shader from one that runs away; one run for one vertex more says so, of which
//! nothing else may be seen.

use a4emu_decoder::stage_words::STAGE_ENTRY;

use crate::draw::sp::launch::{WarpLanes, Worker};
use crate::draw::sp::memory::{InputParts, ShaderMemory};
use a4emu_shader::{LANES, Lanes, Warp};

use super::batch::GeometryDraw;
use super::subwarps::Invocation;

/// Vertices that the entry word can number: the one behind them has no number.
const COUNTABLE: u32 = 1 << 10;

/// A shader that wants to make more than PC_GS_PARAM allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// It had not killed when as many vertices as allowed were out.
    NoKill,
    /// It would make one more, and then kill.
    OneMore,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probed {
    /// What the first shader that ran away does.
    pub excess: Option<Excess>,
    /// Warps that it took.
    pub warps: u64,
}

/// Runs the invocations `full`, which have not killed, for one vertex more, 32 in a warp.
pub fn run(draw: &GeometryDraw<'_>, full: &[Invocation], worker: &mut Worker<'_>) -> Probed {
    let mut probed = Probed::default();
    if full.is_empty() || worker.is_stopped() || draw.state.max_vertices == COUNTABLE {
        return probed;
    }
    let layout = draw.layout();
    for invocations in full.chunks(LANES) {
        let primitives = invocations.iter().map(|invocation| draw.primitives.primitive(invocation.primitive));
        layout.fill_all(&mut worker.memory.inputs, draw.vertices, primitives);
        worker.memory.parts = Some(InputParts { lanes: 1, bytes: layout.stride() });
        let excess = worker.dry_run(|worker| probe(draw, invocations, worker));
        probed.excess = probed.excess.or(excess);
        probed.warps += 1;
    }
    probed
}

/// A warp with an invocation in each lane.
fn probe(draw: &GeometryDraw<'_>, invocations: &[Invocation], worker: &mut Worker<'_>) -> Option<Excess> {
    let (mut entry, mut ids) = (Lanes::ZERO, Lanes::ZERO);
    for (lane, invocation) in invocations.iter().enumerate() {
        entry[lane] = STAGE_ENTRY::new(0, invocation.number, draw.state.max_vertices).0;
        ids[lane] = draw.primitives.ids[invocation.primitive];
    }
    let lanes = WarpLanes::first(invocations.len());
    let enter = |warp: &mut Warp, memory: &mut ShaderMemory<'_>| {
        memory.clear_private();
        draw.state.enter(warp, &entry, &ids);
    };
    if !worker.run(lanes, None, enter) {
        // Some lane came to no end, and so to no kill.
        return Some(Excess::NoKill);
    }
    let warp = &worker.warp;
    let excess = |lane: usize| match (warp.killed() & (1 << lane) != 0, draw.state.has_position(warp, lane)) {
        (false, _) => Some(Excess::NoKill),
        (true, true) => Some(Excess::OneMore),
        (true, false) => None,
    };
    (0..invocations.len()).find_map(excess)
}
