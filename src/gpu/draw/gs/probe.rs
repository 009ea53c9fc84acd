//! Probes what a shader would do after its vertex limit.
//!
//! PC_GS_PARAM ends an invocation that has not killed. A well-behaved shader would kill next; a runaway
//! shader would not. So the probe runs one more vertex, and drops all its other effects.

use crate::draw::stage_words::StageEntry;

use crate::draw::sp::launch::{WarpLanes, Worker};
use crate::draw::sp::memory::{InputParts, ShaderMemory};
use a4emu_shader::{LANES, Lanes, Warp};

use super::batch::GeometryDraw;
use super::subwarps::Invocation;

/// A shader that emits more than PC_GS_PARAM allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// The shader does not kill after the maximum number of vertices.
    NoKill,
    /// The shader makes one more vertex, and then kills.
    OneMore,
}

/// Result of a probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probed {
    /// Behaviour of the first shader with an excess.
    pub excess: Option<Excess>,
    /// Number of warps used.
    pub warps: u64,
}

/// Runs the invocations `full`, which reached the limit without a kill, for one more vertex, 32 in a warp. There is no probe
/// after the last vertex that the entry word can number.
pub fn run(draw: &GeometryDraw<'_>, full: &[Invocation], worker: &mut Worker<'_>) -> Probed {
    let mut probed = Probed::default();
    if full.is_empty() || worker.is_stopped() || draw.state.max_vertices == draw.state.entry.vertices {
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

/// Runs a warp with one invocation per lane.
fn probe(draw: &GeometryDraw<'_>, invocations: &[Invocation], worker: &mut Worker<'_>) -> Option<Excess> {
    let (mut entry, mut ids) = (Lanes::ZERO, Lanes::ZERO);
    for (lane, invocation) in invocations.iter().enumerate() {
        entry[lane] = (draw.state.entry.word)(StageEntry {
            slot: 0,
            invocation: invocation.number,
            vertex: draw.state.max_vertices,
        });
        ids[lane] = draw.primitives.ids[invocation.primitive];
    }
    let lanes = WarpLanes::first(invocations.len());
    let enter = |warp: &mut Warp, memory: &mut ShaderMemory<'_>| {
        memory.clear_private();
        draw.state.enter(warp, &entry, &ids);
    };
    if !worker.run(lanes, None, enter) {
        // A lane did not finish, so it did not kill.
        return Some(Excess::NoKill);
    }
    let warp = &worker.warp;
    let positioned = draw.state.positioned(warp);
    let excess = |lane: usize| match (warp.killed() & (1 << lane) != 0, positioned & (1 << lane) != 0) {
        (false, _) => Some(Excess::NoKill),
        (true, true) => Some(Excess::OneMore),
        (true, false) => None,
    };
    (0..invocations.len()).find_map(excess)
}
