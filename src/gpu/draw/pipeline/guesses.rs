//! Determines the guesses that a draw rests on because of its state. (`shader/doubt` does this for shaders.)

use crate::draw::topology::Topology;
use a4emu_decoder::guesses::Guess;

use crate::draw::call::{DrawCall, IndexSource};
use crate::draw::fs::DrawState;
use crate::draw::fs::state::{Rate, Spot};
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::PolygonMode;
use crate::draw::gs::state::Layers;
use crate::draw::pipeline::DrawContext;
use crate::draw::rb::blend::ConstantCopy;
use crate::draw::rb::color::ColorTarget;
use crate::draw::rb::state::{AlphaOff, ResolveState, Targets};
use crate::draw::vertex_stages::VertexStages;
use a4emu_shader::Reach;
use a4emu_shader::format::arrangement::Tiling;

/// Guesses, each with whether the draw rests on it.
type Asked<const N: usize> = [(bool, Guess); N];

/// Returns the guesses about the stages before set-up, for a draw that runs fragments.
pub(super) fn of_stages(stages: &VertexStages, call: &DrawCall) -> Vec<Guess> {
    let (hull, geometry) = (stages.tessellation.is_some(), stages.geometry.is_some());
    let layered = stages.layers() == Layers::Chosen;
    let names = stages.geometry.as_ref().is_some_and(|geometry| geometry.primitive_word.is_some());
    let starts = matches!(call.indices, IndexSource::Memory { first, .. } if first != 0);
    let indirect = call.base_vertex.is_some();
    let moved = indirect && (call.base_vertex != Some(0) || call.first_instance != Some(0));
    rested([
        (hull || geometry, Guess::PrimitiveInputs),
        (geometry, Guess::GeometryKill),
        (names, Guess::LayerVertex),
        (layered, Guess::LayerStride),
        (hull && call.instances > 1, Guess::PatchNumber),
        (hull, Guess::TessellatorConnects),
        (hull && geometry, Guess::TessellationMode),
        (stages.vertex.fetch.vertex_count.is_some(), Guess::VertexReuse),
        (stages.feedback.is_some(), Guess::StreamOut),
        (starts && !indirect, Guess::FirstIndex),
        (moved, Guess::IndirectBase),
    ])
}

/// Records the guesses of a draw: `before` set-up, and those of all later stages.
pub(super) fn record_guesses(
    context: &mut DrawContext<'_>,
    before: Vec<Guess>,
    state: &DrawState,
    made: &Primitives,
) {
    if made.primitives.is_empty() {
        return before.into_iter().for_each(|guess| context.machine.note_guess(guess, Reach::OUTPUT));
    }
    let all = before.into_iter().chain(of_raster(state, made)).chain(of_targets(&state.targets));
    let all = all.chain(of_samples(state)).chain(of_order(&state.targets));
    all.for_each(|guess| context.machine.note_guess(guess, Reach::OUTPUT));
}

fn of_raster(state: &DrawState, made: &Primitives) -> Vec<Guess> {
    use Topology::*;
    let topology = state.primitive.topology;
    let lines = matches!(topology, Lines | LineStrip | LineLoop | LinesAdjacent | LineStripAdjacent);
    let rectangles = topology == Rectangles && made.vertices.varying_components() > 2;
    let modes = &state.primitive.polygon_mode;
    let lines = lines || modes.contains(&PolygonMode::Lines);
    let points = matches!(topology, Points | SizedPoints) || modes.contains(&PolygonMode::Points);
    rested([
        (true, Guess::FillRule),
        (state.targets.depth.is_some(), Guess::PlanePrecision),
        (lines, Guess::LineShape),
        (lines || points, Guess::SideClipping),
        (rectangles, Guess::RectangleVaryings),
    ])
}

fn of_targets(targets: &Targets) -> Vec<Guess> {
    let any = |holds: fn(&ColorTarget) -> bool| targets.color.iter().any(holds);
    let rounds = |target: &ColorTarget| !target.codec.is_integer() && !target.codec.is_exact();
    let saturates = |target: &ColorTarget| target.codec.is_integer() && !target.codec.is_exact();
    rested([
        (any(|target| target.blend.is_some()), Guess::BlendPrecision),
        (guesses_constant(targets), Guess::BlendConstant),
        (any(rounds), Guess::FormatRounding),
        (any(saturates), Guess::IntegerSaturates),
    ])
}

/// Returns whether a target uses a blend constant of which no source says which copy it takes.
fn guesses_constant(targets: &Targets) -> bool {
    targets.color.iter().zip(&targets.color_format).any(|(target, (format, _))| {
        let uses = target.blend.is_some_and(|blend| blend.uses_constant().contains(&true));
        uses && ConstantCopy::is_guess(format.value)
    })
}

/// Returns the guesses about multisampling, if pixels have several samples.
fn of_samples(state: &DrawState) -> Vec<Guess> {
    let (targets, inputs) = (&state.targets, &state.fragment.inputs);
    if targets.samples.count() == 1 {
        return Vec::new();
    }
    let control = &targets.sample_control;
    rested([
        (true, Guess::SamplePlaces),
        (true, Guess::SampleLayout),
        (inputs.rate() == Rate::Sample, Guess::SampleShading),
        (inputs.beside.iter().any(|(_, _, spot)| *spot == Spot::Centroid), Guess::CentroidPlace),
        (control.alpha.is_some(), Guess::AlphaCoverage),
        (control.output.is_some(), Guess::MaskOutput),
    ])
}

fn of_order(targets: &Targets) -> Vec<Guess> {
    rested([
        (targets.color.iter().any(|target| target.dither.is_some()), Guess::DitherMatrix),
        (targets.alpha_off == Some(AlphaOff), Guess::DitherAlpha),
        (targets.surfaces.iter().any(|surface| surface.tiling != Tiling::Linear), Guess::TileOrder),
    ])
}

/// Returns the guesses about a copy from tile memory.
pub(super) fn of_copy(copy: &ResolveState) -> Vec<Guess> {
    rested([
        (copy.samples > 1, Guess::ResolveAverage),
        (copy.samples > 1 && copy.dither.is_some(), Guess::DitherMatrix),
        (copy.arrangement.samples > 1, Guess::CopySamples),
        (copy.arrangement.tiling != Tiling::Linear, Guess::TileOrder),
    ])
}

/// Returns the guesses that apply.
fn rested<const N: usize>(asked: Asked<N>) -> Vec<Guess> {
    asked.into_iter().filter_map(|(rests, guess)| rests.then_some(guess)).collect()
}
