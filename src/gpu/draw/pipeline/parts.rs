//! Draws that are too large to hold at once. Their parts go as far as set-up one by one. The remaining
//! primitives form one draw again, as long as they fit into memory.
//!
//! Only vertices without counted or stored results can be split, because parts that share a vertex shade it
//! twice.

use std::sync::Arc;

use a4emu_decoder::guesses::Guess;

use crate::draw::fs::DrawState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::held_of;
use crate::draw::pipeline::DrawContext;
use crate::draw::record::DrawRecord;
use crate::draw::stop::{MAX_HELD, Stop};
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vertices::VertexStream;
use crate::draw::vfd::parts::Parts;
use crate::draw::vs::{Shaded, VertexState};
use crate::fault::Missing;

use super::guesses::record_guesses;
use super::record::record_vertices;
use super::{cache_made, draw_first_layer, set_up, stopwatch};

/// Bytes of vertices from which on a draw is split. Clipping can make four times as many of them.
const LARGE: u64 = MAX_HELD / 4;

/// Returns whether a draw must be split, and can be.
pub(super) fn are_needed(stages: &VertexStages) -> bool {
    let vertex = &stages.vertex;
    let entries = u64::from(vertex.fetch.count) * u64::from(vertex.fetch.instances);
    let separable = stages.is_reusable() && !stages.store() && vertex.fetch.vertex_count.is_none();
    separable && held_of(entries, vertex.outputs.components) > LARGE && parts(stages).is_some()
}

fn parts(stages: &VertexStages) -> Option<Parts<'_>> {
    Parts::new(&stages.vertex.fetch, stages.topology)
}

/// Makes the primitives for the rasteriser part by part. Draws them early when they exceed the memory limit.
/// `rests` are the guesses that the draw rests on, if guesses are recorded. Returns `None` when the primitive
/// type is not supported.
pub(super) fn primitives(
    context: &mut DrawContext<'_>,
    stages: VertexStages,
    state: &DrawState,
    rests: Option<&[Guess]>,
) -> Result<Option<Arc<Primitives>>, Stop> {
    let Some(mut parts) = parts(&stages) else { return Ok(None) };
    let VertexState { outputs, stage, .. } = &stages.vertex;
    let nothing = || Primitives::to_come(outputs.components, &stage.lists);
    let mut missing = Missing::default();
    let (mut made, mut is_all) = (nothing(), true);
    while let Some(part) = parts.next(&context.machine.mem, &mut missing) {
        let start = stopwatch(context);
        let missing = std::mem::take(&mut missing);
        let shaded = stages.vertex.shade_part(
            &part,
            &missing,
            &mut context.machine.mem,
            &mut context.machine.budget,
        )?;
        let Shaded { vertices, list, geometry, .. } = record_vertices(context, shaded, start);
        let stream = VertexStream { vertices, list, words: Vec::new(), geometry };
        let Some(more) = set_up(context, &state.primitive, stream) else { return Ok(None) };
        made.append(more);
        if made.bytes() as u64 > LARGE {
            let held = Arc::new(std::mem::replace(&mut made, nothing()));
            if let Some(rests) = rests {
                record_guesses(context, rests.to_vec(), state, &held);
            }
            draw_first_layer(
                context,
                DrawRecord { at: context.machine.at, state: state.clone(), step: held },
            )?;
            is_all = false;
        }
    }
    Ok(Some(if is_all { cache_made(context, stages, state, made) } else { Arc::new(made) }))
}
