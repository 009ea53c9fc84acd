//! Snapshots of the state that the stages of a draw run with.

use std::sync::Arc;

use crate::budget::Work;
use crate::draw::call::DrawCall;
use crate::draw::fs::DrawState;
use crate::draw::fs::state::FragmentState;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::pipeline::DrawContext;
use crate::draw::rb::state::Targets;
use crate::draw::sp::stage_cache::{Constants, NoStage, Request};
use crate::draw::sp::state::StageState;
use crate::draw::state_cache::WithUnsupported;
use crate::draw::stop::Stop;
use crate::draw::vertex_stages::{Tessellation, VertexStages};
use crate::draw::vs::VertexState;
use crate::fault::{Fault, Miss};
use crate::generation::{DrawReaders, draw_readers, readers};
use crate::machine::Stage;

use super::record::record_unsupported;

impl DrawContext<'_> {
    /// Returns what the registers are read with for draws.
    pub(super) fn read(&self) -> &'static DrawReaders {
        draw_readers(self.machine.chip)
    }
}

/// Returns the program, constants and descriptors of `stage`. Records a miss if there is no program.
pub(super) fn stage(context: &mut DrawContext<'_>, stage: Stage) -> Result<Arc<StageState>, Stop> {
    let mut programs = std::mem::take(&mut context.pipeline.programs);
    let mut kept = context.pipeline.states.stages[stage as usize].take().unwrap_or_default();
    let slot = context.pipeline.states.slots.of(context.machine.at.address);
    let counting = context.pipeline.counting();
    let constants =
        if context.pipeline.inspection.pixels.is_some() { Constants::All } else { Constants::Read };
    let state = kept.get(
        context.machine.view(),
        &mut programs,
        Request { readers: readers(context.machine.chip).stage, stage, slot, counting, constants },
    );
    context.pipeline.states.stages[stage as usize] = Some(kept);
    context.pipeline.programs = programs;
    state.map_err(|why| match why {
        NoStage::Missing(miss) => missing_code(context, stage, miss).into(),
        NoStage::Fault(fault) => fault.into(),
        NoStage::NotLowered => {
            context.machine.budget.exhaust(Work::Lowering);
            Stop::NoBudget
        }
    })
}

/// Records that the program of `stage` is missing.
pub(super) fn missing_code(context: &mut DrawContext<'_>, stage: Stage, miss: Miss) -> Fault {
    context.machine.report.missing.note(miss);
    Fault::Shader(format!("{stage:?} program at {:#010x} is missing", miss.address))
}

pub(super) fn vertex_state(context: &mut DrawContext<'_>, call: &DrawCall) -> Result<VertexState, Stop> {
    let (stage, read) = (stage(context, Stage::VS)?, context.read());
    let (regs, kept) = (&context.machine.regs, &mut context.pipeline.states);
    let slot = kept.slots.of(context.machine.at.address);
    let (attributes, unsupported) =
        kept.attributes.get(slot, regs, (), |regs| with_unsupported(|list| (read.attributes)(regs, list)));
    let attributes = (read.placed)(regs, attributes, kept.placed.get(slot));
    if kept.placed.get(slot).is_none_or(|known| !Arc::ptr_eq(known, &attributes)) {
        kept.placed.put(slot, attributes.clone());
    }
    let fetch = (read.fetch)(regs, call, (read.restart)(regs), attributes, context.machine.model);
    let outputs = kept.outputs.get(slot, regs, (), |regs| Arc::new((read.outputs)(regs, Stage::VS)));
    let vertex = VertexState { fetch, stage, outputs: outputs.clone() };
    let unsupported = unsupported.clone();
    record_unsupported(context, unsupported);
    Ok(vertex)
}

/// Returns the result of `make` with the list of unsupported features that it found.
pub(super) fn with_unsupported<T>(make: impl FnOnce(&mut Vec<String>) -> T) -> WithUnsupported<T> {
    let mut unsupported = Vec::new();
    (make(&mut unsupported), unsupported)
}

pub(super) fn vertex_stages(context: &mut DrawContext<'_>, call: &DrawCall) -> Result<VertexStages, Stop> {
    let read = context.read();
    Ok(VertexStages {
        vertex: vertex_state(context, call)?,
        tessellation: tessellation(context, call)?.map(Box::new),
        geometry: match (read.has_geometry_shader)(&context.machine.regs) {
            true => {
                let stage = stage(context, Stage::GS)?;
                Some((read.geometry)(&context.machine.regs, stage).into())
            }
            false => None,
        },
        feedback: (read.feedback)(context.machine.view()).map(Box::new),
        topology: call.topology,
        provoking: (read.provoking)(&context.machine.regs),
        pass: call.pass,
    })
}

pub(super) fn tessellation(
    context: &mut DrawContext<'_>,
    call: &DrawCall,
) -> Result<Option<Tessellation>, Stop> {
    let read = context.read();
    let Some(patches) = (read.patches)(call)? else { return Ok(None) };
    let patches = (read.tessellation)(&context.machine.regs, call.number, patches)?;
    let (hull, domain) = (stage(context, Stage::HS)?, stage(context, Stage::DS)?);
    Ok(Some(Tessellation { hull, patches, domain: (read.domain)(&context.machine.regs, domain) }))
}

/// Takes a snapshot of all state that a draw needs after its vertex stages.
pub(super) fn draw_state(context: &mut DrawContext<'_>, stages: &VertexStages) -> Result<DrawState, Stop> {
    let (primitive, targets) = set_up_state(context, stages);
    Ok(DrawState { primitive, fragment: fragment_state(context)?, targets })
}

/// Takes a snapshot of the state of set-up and render backend.
pub(super) fn set_up_state(
    context: &mut DrawContext<'_>,
    stages: &VertexStages,
) -> (Arc<PrimitiveState>, Arc<Targets>) {
    let read = context.read();
    let (regs, kept) = (&context.machine.regs, &mut context.pipeline.states);
    let slot = kept.slots.of(context.machine.at.address);
    let make = |regs: &_| with_unsupported(|list| Arc::new((read.targets)(regs, list)));
    let (targets, unsupported) = kept.targets.get(slot, regs, (), make);
    let (topology, viewports, model) = (stages.topology(), stages.viewports(), context.machine.model);
    let primitive = kept.primitive.get(slot, regs, (topology, viewports), |regs| {
        Arc::new((read.primitive)(regs, topology, viewports, model))
    });
    let (primitive, targets) = (primitive.clone(), targets.clone());
    let unsupported = unsupported.clone();
    record_unsupported(context, unsupported);
    (primitive, targets)
}

pub(super) fn fragment_state(context: &mut DrawContext<'_>) -> Result<FragmentState, Stop> {
    let read = context.read();
    let (regs, kept) = (&context.machine.regs, &mut context.pipeline.states);
    let slot = kept.slots.of(context.machine.at.address);
    let inputs = kept.inputs.get(slot, regs, (), |regs| Arc::new((read.fragment_inputs)(regs))).clone();
    Ok(FragmentState { stage: stage(context, Stage::FS)?, inputs })
}
