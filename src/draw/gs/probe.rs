//! What a shader would do behind the last vertex that it may make.
//!
//! PC_GS_PARAM ends an invocation that has not killed. Whether it would have killed then tells
//! a good shader from one that runs away; one run for one vertex more says so, of which
//! nothing else may be seen.

use a4emu_decoder::stage_words::STAGE_ENTRY;

use crate::draw::sp::memory::{Access, Port};
use crate::draw::sp::primitive_inputs::LocalLayout;
use crate::draw::vertices::HEADER;
use crate::memory::Memory;
use crate::shader::{Killed, LANES, Lanes, Warp};

use crate::draw::gs::batch::Job;
use crate::draw::gs::subwarps::Item;

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
pub fn run(job: &Job<'_>, full: &[Item], memory: &Memory) -> Probed {
    let mut probed = Probed::default();
    if full.is_empty() || job.state.max_vertices == COUNTABLE {
        return probed;
    }
    let stage = &job.state.stage;
    let layout = LocalLayout::new(job.input.size, job.vertices.stride() - HEADER);
    let mut access = Access::new(Port::Shared(memory), stage);
    access.vertices = vec![0; LANES * layout.stride()];
    let mut warp = Warp::new(&stage.program, &stage.constants);
    warp.on_kill = Killed::End;
    for items in full.chunks(LANES) {
        for (item, place) in items.iter().zip(access.vertices.chunks_exact_mut(layout.stride())) {
            layout.fill(place, job.vertices, job.input.primitive(item.primitive));
        }
        let excess = probe(job, items, &mut warp, &mut access);
        probed.excess = probed.excess.or(excess);
        probed.warps += 1;
    }
    probed
}

/// A warp with an invocation in each lane.
fn probe(job: &Job<'_>, items: &[Item], warp: &mut Warp, access: &mut Access<'_>) -> Option<Excess> {
    let program = &job.state.stage.program;
    let live = if items.len() == LANES { u32::MAX } else { (1 << items.len()) - 1 };
    let (mut entry, mut ids) = (Lanes::ZERO, Lanes::ZERO);
    for (lane, item) in items.iter().enumerate() {
        entry[lane] = STAGE_ENTRY::new(lane as u32, item.invocation, job.state.max_vertices).0;
        ids[lane] = job.input.ids[item.primitive];
    }
    warp.restart(program, live, 0);
    job.state.enter(warp, &entry, &ids);
    if access.run(warp, None).is_some() {
        // Some lane came to no end, and so to no kill.
        return Some(Excess::NoKill);
    }
    let excess = |lane: usize| match (warp.killed() & (1 << lane) != 0, job.state.has_position(warp, lane)) {
        (false, _) => Some(Excess::NoKill),
        (true, true) => Some(Excess::OneMore),
        (true, false) => None,
    };
    (0..items.len()).find_map(excess)
}
