//! The geometry shader stage.
//!
//! The A4xx has no instruction that emits a vertex. The program runs once for each output
//! vertex, with the vertex's number in r0.x, until a run executes `kill`: that ends the
//! invocation (wiki page A4xx-Geometry-Shaders). A later run does not depend on an earlier
//! one, so the lanes of a warp run successive vertices side by side; what comes after the
//! first lane that kills is dropped.
//!
//! The run that kills makes a vertex only if it wrote its position before. This is a guess that
//! makes both forms on the page work: the rewrite kills in the run for the last vertex, the
//! emulation of EmitVertex in one behind it, and a shader that makes nothing kills at once. A
//! chip that runs `kill` in the first run, before and after the position is written, would
//! settle it.
//!
//! - [`batch`]: runs them.
//! - [`dispatch`]: how invocations are laid on the lanes.
//! - [`batch`]: runs them.
//! - [`emitted`]: vertices to strips.
//! - [`cost`]: what it all cost.
pub mod batch;
pub mod cost;
pub mod dispatch;
pub mod emitted;
mod probe;
mod registers;
mod subwarps;

use std::ops::Range;

use a4emu_decoder::regs::enums::{PaSuScDraw, PrimType};
use a4emu_decoder::regs::groups::used;
use a4emu_decoder::regs::hlsq::HLSQ_GS_CONTROL_REG;
use a4emu_decoder::regs::pc::PC_GS_PARAM;
use a4emu_decoder::regs::sp_geometry::SP_GS_PARAM_REG;
use rayon::prelude::*;

use crate::fault::Fault;
use crate::gpu::{Gpu, Stage};
use crate::memory::Memory;

use crate::draw::gras::state::VertexOutputs;
use crate::draw::sp::log::{MAX_INSTRUCTIONS, Reports};
use crate::draw::sp::memory::{Port, StageState};
use crate::draw::vfd::indices::MAX_WORDS;
use batch::{Batch, Job, run_batch};
use cost::Cost;
use emitted::Strips;
use probe::Excess;

/// What the geometry stage needs of the registers.
pub struct GeometryState {
    /// The shader.
    pub stage: StageState,
    /// What it hands on.
    pub outputs: VertexOutputs,
    /// Register of the primitive word.
    pub primitive_word: Option<u32>,
    /// Vertices that an invocation makes at most: 1 to 1024.
    pub max_vertices: u32,
    /// Invocations of a primitive: 1 to 32.
    pub invocations: u32,
    /// What comes out: points, line strips or triangle strips.
    pub topology: PrimType,
    /// Which layer primitives go to.
    pub layers: Layers,
}

/// What chooses the layer of the render target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers {
    /// Nothing: all is in the first.
    First,
    /// The primitive word.
    Chosen,
}

impl GeometryState {
    /// The stage as the registers have it; `None` when it is off. It is on when
    /// HLSQ_GS_CONTROL_REG says so, or has instructions for it.
    ///
    /// # Errors
    /// A fault when there is no program.
    pub fn snapshot(gpu: &mut Gpu) -> Result<Option<Self>, Fault> {
        let control = gpu.regs.get::<HLSQ_GS_CONTROL_REG>();
        if !control.ENABLED() && control.INSTRLENGTH() == 0 {
            return Ok(None);
        }
        let stage = StageState::snapshot(gpu, Stage::GS)?;
        let param = gpu.regs.get::<PC_GS_PARAM>();
        Ok(Some(Self {
            stage,
            outputs: VertexOutputs::snapshot(&gpu.regs, Stage::GS),
            primitive_word: used(gpu.regs.get::<SP_GS_PARAM_REG>().PRIMREGID()),
            max_vertices: param.MAX_VERTICES() + 1,
            invocations: param.INVOCATIONS() + 1,
            topology: topology(param.PRIMTYPE()),
            layers: if param.LAYER() { Layers::Chosen } else { Layers::First },
        }))
    }
}

/// The list that the strips of an output type make. Points have their own size.
fn topology(kind: PaSuScDraw) -> PrimType {
    match kind {
        PaSuScDraw::PC_DRAW_POINTS => PrimType::DI_PT_POINTLIST_PSIZE,
        PaSuScDraw::PC_DRAW_LINES => PrimType::DI_PT_LINESTRIP,
        PaSuScDraw::PC_DRAW_TRIANGLES | PaSuScDraw::Other(_) => PrimType::DI_PT_TRISTRIP,
    }
}

/// Vertices that a batch may make: what bounds its memory.
const BATCH_VERTICES: u32 = 1 << 13;

/// Batches that run at once. Fixed, so that nothing depends on the number of threads.
const WAVE: usize = 16;

/// What the stage makes of a draw.
#[derive(Default)]
pub struct Outcome {
    /// What comes out.
    pub strips: Strips,
    /// What the shader reported.
    pub reports: Reports,
    /// What it took.
    pub cost: Cost,
    /// What else went wrong.
    pub fault: Option<Fault>,
}

/// Runs the stage for all primitives of a draw. `memory` is written only by a shader that
/// stores; then its runs follow each other.
pub fn shade(job: &Job<'_>, memory: &mut Memory) -> Outcome {
    let per = BATCH_VERTICES / (job.state.max_vertices * job.state.invocations);
    let per = per.clamp(1, 64) as usize;
    let batches: Vec<Range<usize>> =
        (0..job.input.len()).step_by(per).map(|first| first..(first + per).min(job.input.len())).collect();
    let mut outcome = Outcome { strips: Strips::new(job.state.outputs.components), ..Outcome::default() };
    for wave in batches.chunks(WAVE) {
        let made: Vec<Batch> = if job.state.stage.stores() {
            wave.iter().map(|batch| run_batch(job, batch.clone(), Port::Exclusive(&mut *memory))).collect()
        } else {
            let memory = &*memory;
            wave.par_iter().map(|batch| run_batch(job, batch.clone(), Port::Shared(memory))).collect()
        };
        made.into_iter().for_each(|batch| outcome.add(job, batch));
        outcome.reports.enforce(MAX_INSTRUCTIONS);
        if outcome.reports.fault.is_some() || outcome.is_too_large(job) {
            break;
        }
    }
    outcome.cost.draws = 1;
    outcome.cost.primitives = job.input.len() as u64;
    outcome.cost.invocations = outcome.cost.primitives * u64::from(job.state.invocations);
    outcome
}

impl Outcome {
    fn add(&mut self, job: &Job<'_>, batch: Batch) {
        batch.emitted.iter().for_each(|emitted| self.strips.push(job.state.topology, emitted));
        self.reports.append(batch.reports);
        self.cost.add(&batch.cost);
        let max = job.state.max_vertices;
        let message = batch.excess.map(|excess| match excess {
            Excess::NoKill => format!("has not killed after {max} vertices: cut off"),
            Excess::OneMore => format!("makes more than the {max} vertices of PC_GS_PARAM: cut off"),
        });
        let fault = message.map(|what| Fault::Shader(format!("draw {}: geometry shader {what}", job.draw)));
        self.fault = self.fault.take().or(fault);
    }

    /// Whether more came out than a draw may have; then that is the fault.
    fn is_too_large(&mut self, job: &Job<'_>) -> bool {
        let large = self.strips.vertices.words() > MAX_WORDS;
        if large {
            let count = self.strips.vertices.len();
            self.fault = Some(Fault::Draw(format!("draw {}: cut after {count} geometry vertices", job.draw)));
        }
        large
    }
}
