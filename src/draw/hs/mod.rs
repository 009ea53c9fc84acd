//! The hull shader: a lane per vertex of the patch that goes out, all of a patch in one warp.
//!
//! Lanes of a warp are in step, so a barrier between the invocations of a patch needs nothing
//! but that all come to it. Warps follow each other: everything that they make is stored.

use a4emu_decoder::stage_words::STAGE_ENTRY;

use crate::draw::pc::assembler::Input;
use crate::draw::sp::log::{MAX_INSTRUCTIONS, Reports};
use crate::draw::sp::memory::{Access, Port};
use crate::draw::sp::primitive_inputs::LocalLayout;
use crate::draw::vertices::{HEADER, Vertices};
use crate::fault::Fault;
use crate::memory::Memory;
use crate::shader::{LANES, Warp};

use crate::draw::pc::state::TessellationState;

/// Runs the stage for all patches.
pub fn shade(
    state: &TessellationState,
    vertices: &Vertices,
    patches: &Input,
    memory: &mut Memory,
) -> Reports {
    let layout = LocalLayout::new(state.vertices_in, vertices.stride() - HEADER);
    let slots = LANES / state.vertices_out;
    let mut access = Access::new(Port::Exclusive(memory), &state.hull);
    access.vertices = vec![0; slots * layout.stride()];
    let mut warp = Warp::new(&state.hull.program, &state.hull.constants);
    let mut first = 0;
    while first < patches.len() && access.reports.fault.is_none() {
        let group = first..(first + slots).min(patches.len());
        for (slot, patch) in group.clone().enumerate() {
            let place = &mut access.vertices[slot * layout.stride()..][..layout.stride()];
            layout.fill(place, vertices, patches.primitive(patch));
        }
        enter(state, &mut warp, patches, group.clone());
        run_warp(state, &mut warp, &mut access);
        access.reports.enforce(MAX_INSTRUCTIONS);
        first = group.end;
    }
    access.finish()
}

/// Registers at the start: r0.x slot and invocation, r0.y the patch's id in its instance,
/// r0.z its number in the draw (that it counts over instances is inferred: each patch needs
/// a place of its own for its factors).
fn enter(state: &TessellationState, warp: &mut Warp, patches: &Input, group: std::ops::Range<usize>) {
    let lanes = group.len() * state.vertices_out;
    let live = if lanes == LANES { u32::MAX } else { (1 << lanes) - 1 };
    warp.restart(&state.hull.program, live, 0);
    for lane in 0..lanes {
        let (slot, invocation) = (lane / state.vertices_out, lane % state.vertices_out);
        let patch = group.start + slot;
        warp.full_mut(0)[lane] = STAGE_ENTRY::new(slot as u32, invocation as u32, 0).0;
        warp.full_mut(1)[lane] = patches.ids[patch];
        warp.full_mut(2)[lane] = patch as u32;
    }
}

fn run_warp(state: &TessellationState, warp: &mut Warp, access: &mut Access<'_>) {
    let fault = access.run(warp, None);
    access.reports.fault = fault.map(|fault| Fault::Shader(format!("draw {}: hull {fault}", state.draw)));
}
