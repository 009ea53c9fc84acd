//! The geometry shader stage.
//!
//! The A4xx has no instruction that emits a vertex. The program runs once for each output vertex, with the
//! vertex's number in r0.x, until a run executes `kill`, which ends the invocation
//! (docs/hardware/geometry-and-tessellation.md, section 1). A later run does not depend on an earlier one, so
//! the lanes of a warp run successive vertices in parallel. Results of lanes after the first kill are
//! dropped.
//!
//! The run that kills makes a vertex only if it wrote its position before (guess `geometry-kill`). This
//! supports both forms of section 1.3. The rewrite kills in the run for the last vertex; the emulation of
//! EmitVertex kills in the run after it. A shader without output kills at once.
//!
//! - [`dispatch`]: assignment of invocations to lanes.
//! - [`batch`]: runs invocations.
//! - [`emitted`]: converts vertices to strips.
//! - [`cost`]: costs of the stage.
//! - [`runs`]: the runs for one primitive, for tools.
pub mod batch;
pub mod cost;
pub mod dispatch;
pub mod emitted;
mod probe;
mod registers;
pub mod runs;
pub mod state;
mod subwarps;

use crate::budget::Budget;
use crate::draw::gras::setup;
use crate::draw::sp::launch::{Threads, Worker, launch};
use crate::draw::sp::log::ShaderLog;
use crate::draw::stop::MAX_HELD;
use crate::draw::vertices::Vertices;
use crate::fault::Fault;
use crate::limits::{GEOMETRY_BATCH_VERTICES, GEOMETRY_BATCHES};
use crate::memory::Memory;

/// Maximum output of a geometry shader per draw in bytes. Set-up needs the same again.
const MAX_EMITTED: u64 = MAX_HELD / 2;

use batch::{Batch, GeometryDraw};
use cost::Cost;
use emitted::Strips;
use probe::Excess;
use runs::Run;

/// Results of the stage for a draw.
#[derive(Default)]
pub struct Shaded {
    /// Emitted strips.
    pub strips: Strips,
    /// Runs for the watched primitive.
    pub runs: Vec<Run>,
    /// Log of the shader.
    pub log: ShaderLog,
    /// Cost of the stage.
    pub cost: Cost,
    /// Other fault of the draw, if any.
    pub fault: Option<Fault>,
    /// Message if the results are incomplete because of a limit.
    pub too_large: Option<String>,
}

/// Runs the stage for all primitives of a draw. Each job is a batch of them. Waves of batches are launched
/// one by one, so that a limit on memory can stop them.
pub fn shade(draw: &GeometryDraw<'_>, memory: &mut Memory, budget: &mut Budget) -> Shaded {
    let state = draw.state;
    let per = GEOMETRY_BATCH_VERTICES / (state.max_vertices * state.invocations);
    let per = per.clamp(1, 64) as usize;
    let count = draw.primitives.len();
    let batches: Vec<_> = (0..count).step_by(per).map(|first| first..(first + per).min(count)).collect();
    let vertices = Vertices::to_come(state.outputs.components, &state.stage.lists);
    let mut shaded = Shaded { strips: Strips { vertices, ..Strips::default() }, ..Shaded::default() };
    for wave in batches.chunks(GEOMETRY_BATCHES) {
        let jobs = wave.iter().cloned();
        let work = |worker: &mut Worker<'_>, batch| draw.run_batch(worker, batch);
        let made = launch(&state.stage, memory, budget, Threads::All, jobs, work);
        made.results.into_iter().for_each(|batch| shaded.add(draw, batch));
        shaded.log.append(made.log);
        if shaded.log.fault.is_some() || budget.cut().is_some() || shaded.is_too_large(draw.draw) {
            break;
        }
    }
    shaded.cost.draws = 1;
    shaded.cost.emitted = shaded.strips.primitives(state.topology);
    shaded.cost.primitives = count as u64;
    shaded.cost.invocations = shaded.cost.primitives * u64::from(state.invocations);
    shaded
}

impl Shaded {
    fn add(&mut self, draw: &GeometryDraw<'_>, batch: Batch) {
        self.strips.push(draw.state.topology, batch.emitted);
        self.runs.extend(batch.runs);
        self.cost.add(&batch.cost);
        let max = draw.state.max_vertices;
        let message = batch.excess.map(|excess| match excess {
            Excess::NoKill => format!("has not killed after {max} vertices: cut off"),
            Excess::OneMore => format!("makes more than the {max} vertices of PC_GS_PARAM: cut off"),
        });
        let fault = message.map(|what| Fault::Shader(format!("draw {}: geometry shader {what}", draw.draw)));
        self.fault = self.fault.take().or(fault);
    }

    /// Returns whether the output exceeds the memory limit.
    fn is_too_large(&mut self, draw: u32) -> bool {
        let large = setup::held(&self.strips.vertices, &self.strips.list) > MAX_EMITTED;
        if large {
            let count = self.strips.vertices.len();
            self.too_large = Some(format!("draw {draw}: cut after {count} geometry vertices"));
        }
        large
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometry_shader_output_has_a_byte_limit() {
        let rows = MAX_EMITTED as usize >> 22;
        for (rows, too_large) in [(rows / 2, false), (rows, true)] {
            let vertices = Vertices::new(1 << 20, rows);
            let mut shaded = Shaded { strips: Strips { vertices, ..Strips::default() }, ..Shaded::default() };
            assert_eq!(
                (shaded.is_too_large(7), shaded.too_large.is_some()),
                (too_large, too_large),
                "{rows}"
            );
        }
    }
}
