//! Snapshots of the state that the stages of a draw run with.

use std::sync::Arc;

use crate::budget::Work;
use crate::draw::call::DrawCall;
use crate::draw::ds::state::DomainState;
use crate::draw::fs::DrawState;
use crate::draw::fs::state::{FragmentInputs, FragmentState};
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::gs::state::GeometryState;
use crate::draw::pc::state::PatchState;
use crate::draw::rb::state::Targets;
use crate::draw::sp::stage_cache::{Constants, NoStage, Request};
use crate::draw::sp::state::StageState;
use crate::draw::state_cache::WithUnsupported;
use crate::draw::stop::Stop;
use crate::draw::vertex_stages::{Tessellation, VertexStages};
use crate::draw::vfd::state::{FetchState, attributes, placed};
use crate::draw::vpc::state::{FeedbackState, VertexOutputs};
use crate::draw::vs::VertexState;
use crate::draw::{ds, hs, pc};
use crate::fault::{Fault, Miss};
use crate::gpu::Gpu;
use crate::machine::Stage;
use crate::pass::has_geometry_shader;

use super::record::record_unsupported;

/// Returns the program, constants and descriptors of `stage`. Records a miss if there is no program.
pub(super) fn stage(gpu: &mut Gpu, stage: Stage) -> Result<Arc<StageState>, Stop> {
    let mut programs = std::mem::take(&mut gpu.pipeline.programs);
    let mut kept = gpu.pipeline.states.stages[stage as usize].take().unwrap_or_default();
    let slot = gpu.pipeline.states.slots.of(gpu.at.address);
    let counting = gpu.pipeline.counting();
    let constants = if gpu.pipeline.inspection.pixels.is_some() { Constants::All } else { Constants::Read };
    let state = kept.get(gpu.view(), &mut programs, Request { stage, slot, counting, constants });
    gpu.pipeline.states.stages[stage as usize] = Some(kept);
    gpu.pipeline.programs = programs;
    state.map_err(|why| match why {
        NoStage::Missing(miss) => missing_code(gpu, stage, miss).into(),
        NoStage::Fault(fault) => fault.into(),
        NoStage::NotLowered => {
            gpu.budget.exhaust(Work::Lowering);
            Stop::NoBudget
        }
    })
}

/// Records that the program of `stage` is missing.
pub(super) fn missing_code(gpu: &mut Gpu, stage: Stage, miss: Miss) -> Fault {
    gpu.report.missing.note(miss);
    Fault::Shader(format!("{stage:?} program at {:#010x} is missing", miss.address))
}

pub(super) fn vertex_state(gpu: &mut Gpu, call: &DrawCall) -> Result<VertexState, Stop> {
    let stage = stage(gpu, Stage::VS)?;
    let (regs, kept) = (&gpu.regs, &mut gpu.pipeline.states);
    let slot = kept.slots.of(gpu.at.address);
    let (attributes, unsupported) =
        kept.attributes.get(slot, regs, (), |regs| with_unsupported(|list| attributes(regs, list)));
    let attributes = placed(regs, attributes);
    let fetch = FetchState::snapshot(regs, call, pc::state::restart(regs), attributes, gpu.model);
    let outputs = kept.outputs.get(slot, regs, (), |regs| Arc::new(VertexOutputs::snapshot(regs, Stage::VS)));
    let vertex = VertexState { fetch, stage, outputs: outputs.clone() };
    let unsupported = unsupported.clone();
    record_unsupported(gpu, unsupported);
    Ok(vertex)
}

/// Returns the result of `make` with the list of unsupported features that it found.
pub(super) fn with_unsupported<T>(make: impl FnOnce(&mut Vec<String>) -> T) -> WithUnsupported<T> {
    let mut unsupported = Vec::new();
    (make(&mut unsupported), unsupported)
}

pub(super) fn vertex_stages(gpu: &mut Gpu, call: &DrawCall) -> Result<VertexStages, Stop> {
    Ok(VertexStages {
        vertex: vertex_state(gpu, call)?,
        tessellation: tessellation(gpu, call)?,
        geometry: match has_geometry_shader(&gpu.regs) {
            true => {
                let stage = stage(gpu, Stage::GS)?;
                Some(GeometryState::snapshot(&gpu.regs, stage))
            }
            false => None,
        },
        feedback: FeedbackState::snapshot(gpu.view()),
        topology: call.initiator.PRIM_TYPE(),
        provoking: pc::state::provoking(&gpu.regs),
        draw: call.number,
        pass: call.pass,
    })
}

pub(super) fn tessellation(gpu: &mut Gpu, call: &DrawCall) -> Result<Option<Tessellation>, Stop> {
    let Some(patches) = pc::state::patches(call)? else { return Ok(None) };
    hs::state::require(&gpu.regs, call.number)?;
    ds::state::require(&gpu.regs, call.number)?;
    let patches = PatchState::snapshot(&gpu.regs, call.number, patches)?;
    let (hull, domain) = (stage(gpu, Stage::HS)?, stage(gpu, Stage::DS)?);
    Ok(Some(Tessellation { hull, patches, domain: DomainState::snapshot(&gpu.regs, domain) }))
}

/// Takes a snapshot of all state that a draw needs after its vertex stages.
pub(super) fn draw_state(gpu: &mut Gpu, stages: &VertexStages) -> Result<DrawState, Stop> {
    let (primitive, targets) = set_up_state(gpu, stages);
    Ok(DrawState { primitive, fragment: fragment_state(gpu)?, targets })
}

/// Takes a snapshot of the state of set-up and render backend.
pub(super) fn set_up_state(gpu: &mut Gpu, stages: &VertexStages) -> (Arc<PrimitiveState>, Arc<Targets>) {
    let (regs, kept) = (&gpu.regs, &mut gpu.pipeline.states);
    let slot = kept.slots.of(gpu.at.address);
    let make = |regs: &_| with_unsupported(|list| Arc::new(Targets::snapshot(regs, list)));
    let (targets, unsupported) = kept.targets.get(slot, regs, (), make);
    let (topology, viewports, model) = (stages.topology(), stages.viewports(), gpu.model);
    let primitive = kept.primitive.get(slot, regs, (topology, viewports), |regs| {
        Arc::new(PrimitiveState::snapshot(regs, topology, viewports, model))
    });
    let (primitive, targets) = (primitive.clone(), targets.clone());
    let unsupported = unsupported.clone();
    record_unsupported(gpu, unsupported);
    (primitive, targets)
}

pub(super) fn fragment_state(gpu: &mut Gpu) -> Result<FragmentState, Stop> {
    let (regs, kept) = (&gpu.regs, &mut gpu.pipeline.states);
    let slot = kept.slots.of(gpu.at.address);
    let inputs = kept.inputs.get(slot, regs, (), |regs| Arc::new(FragmentInputs::snapshot(regs))).clone();
    Ok(FragmentState { stage: stage(gpu, Stage::FS)?, inputs })
}
