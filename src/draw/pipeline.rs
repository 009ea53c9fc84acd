//! The order of the stages, and what outlives a draw.

use std::sync::Arc;
use std::time::Instant;

use a4emu_decoder::regs::rb::{RB_FRAME_BUFFER_DIMENSION, RB_RENDER_CONTROL};

use crate::fault::{Client, Fault, Miss};
use crate::gpu::Gpu;
use crate::memory::Memory;
use crate::pass::Pass;

use super::cs;
use super::pc::state as tessellation;
use super::rb::resolve;
use crate::draw::call::{DispatchCall, DrawCall};
use crate::draw::front::{self, FrontState, Stream};
use crate::draw::fs::bands;
use crate::draw::fs::{self, BandResult, Coloring, Frame, Plan};
use crate::draw::gras::layers::{self, Grouping, Layer};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup;
use crate::draw::gras::state::{DrawState, VertexState};
use crate::draw::gs::Layers;
use crate::draw::gs::cost::{Ledger, Row};
use crate::draw::gs::dispatch::Setting;
use crate::draw::primitive_cache::{Geometry, Reuse};
use crate::draw::rb::rendered::{Surfaces, Written};
use crate::draw::rb::state::{TestOrder, is_bypass};
use crate::draw::rb::surface::{Location, Outside, Surface, with_planes};
use crate::draw::sp::log::Reports;
use crate::draw::sp::memory::Port;
use crate::draw::sp::programs::Programs;
use crate::draw::vfd::indices::{self, Shaded, Stores};

/// What the pipeline keeps between draws.
#[derive(Default)]
pub struct Pipeline {
    /// Lowered shaders.
    pub programs: Programs,
    /// Surfaces that were rendered, in the order of their last write.
    pub surfaces: Surfaces,
    /// Primitives of draws that run again for the next tile.
    pub reuse: Reuse,
    /// Counts and times.
    pub stats: Stats,
    /// How geometry shaders are to be laid on lanes.
    pub gs_dispatch: Setting,
    /// How they were, and what that cost.
    pub dispatches: Ledger,
    /// What tessellation cost.
    pub tessellation: tessellation::Cost,
}

impl Pipeline {
    /// What `--stats` prints.
    pub fn report(&self) -> StatsReport {
        let tessellation = (self.tessellation.patches > 0).then_some(self.tessellation);
        StatsReport { stats: self.stats, tessellation, geometry: self.dispatches.rows() }
    }
}

/// Counts and times, and what geometry shaders cost in each dispatch mode.
#[derive(Clone, Debug, serde::Serialize)]
pub struct StatsReport {
    #[serde(flatten)]
    stats: Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    tessellation: Option<tessellation::Cost>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    geometry: Vec<Row>,
}

/// Counts and times of everything drawn so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Stats {
    /// Draws and dispatches run.
    pub draws: u64,
    /// Vertices shaded.
    pub vertices: u64,
    /// Primitives that reached the rasteriser.
    pub primitives: u64,
    /// Warps run.
    pub warps: u64,
    /// Warp instructions run.
    pub instructions: u64,
    /// Samples that passed depth and stencil.
    pub pixels: u64,
    /// Milliseconds by stage.
    pub ms: StageTimes,
}

/// Milliseconds by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct StageTimes {
    /// Registers to state.
    pub snapshot: f64,
    /// Fetch and vertex shader.
    pub vertex: f64,
    /// Clipping and set-up.
    pub primitive: f64,
    /// Rasteriser, fragment shader, merge.
    pub fragment: f64,
    /// Copies to memory.
    pub resolve: f64,
    /// Dispatches.
    pub compute: f64,
}

impl StageTimes {
    /// What each of `runs` runs took since `before`, on average.
    pub fn since(&self, before: &Self, runs: u32) -> Self {
        let each = |now: f64, then: f64| (now - then) / f64::from(runs.max(1));
        Self {
            snapshot: each(self.snapshot, before.snapshot),
            vertex: each(self.vertex, before.vertex),
            primitive: each(self.primitive, before.primitive),
            fragment: each(self.fragment, before.fragment),
            resolve: each(self.resolve, before.resolve),
            compute: each(self.compute, before.compute),
        }
    }
}

/// Runs a draw.
pub fn run(gpu: &mut Gpu, call: &DrawCall) {
    gpu.pipeline.stats.draws += 1;
    if call.count == 0 || call.instances == 0 {
        return;
    }
    let result = match call.pass {
        // The result would be the visibility stream, which nobody reads.
        Pass::Binning => Ok(()),
        Pass::Resolve => resolve::run(gpu, call),
        Pass::Gmem | Pass::Bypass | Pass::Restore => {
            match gpu.regs.get::<RB_RENDER_CONTROL>().DISABLE_COLOR_PIPE() {
                true => vertices_only(gpu, call),
                false => render(gpu, call),
            }
        }
    };
    if let Err(fault) = result {
        gpu.report.fault(fault, gpu.at);
    }
}

/// Runs a dispatch.
pub fn dispatch(gpu: &mut Gpu, call: &DispatchCall) {
    gpu.pipeline.stats.draws += 1;
    let start = Instant::now();
    if let Err(fault) = cs::run(gpu, call) {
        gpu.report.fault(fault, gpu.at);
    }
    gpu.pipeline.stats.ms.compute += start.elapsed().as_secs_f64() * 1e3;
}

/// Rasteriser discard: what the stages before it store is all that is left.
fn vertices_only(gpu: &mut Gpu, call: &DrawCall) -> Result<(), Fault> {
    let state = FrontState::snapshot(gpu, call)?;
    front::run(gpu, &state)?;
    Ok(())
}

fn render(gpu: &mut Gpu, call: &DrawCall) -> Result<(), Fault> {
    let start = Instant::now();
    let front = FrontState::snapshot(gpu, call)?;
    let state = DrawState::snapshot(gpu, front.topology(), front.viewports())?;
    let layers = front.layers();
    gpu.pipeline.stats.ms.snapshot += start.elapsed().as_secs_f64() * 1e3;
    let Some(geometry) = geometry(gpu, call, front, &state)? else { return Ok(()) };
    let start = Instant::now();
    match layers {
        Layers::First => draw_layer(gpu, call, &state, 0, &geometry),
        Layers::Chosen => draw_layers(gpu, call, &state, Arc::unwrap_or_clone(geometry)),
    }
    gpu.pipeline.stats.ms.fragment += start.elapsed().as_secs_f64() * 1e3;
    Ok(())
}

/// The front half of the pipeline, unless the previous tile left its result. `None` when
/// the primitive type is not supported.
pub(super) fn geometry(
    gpu: &mut Gpu,
    call: &DrawCall,
    front: FrontState,
    state: &DrawState,
) -> Result<Option<Arc<Geometry>>, Fault> {
    if front.is_reusable()
        && let Some(known) =
            gpu.pipeline.reuse.find(gpu.at.address, &front.vertex, &state.primitive, &gpu.mem)
    {
        return Ok(Some(known));
    }
    let Some(Stream { mut vertices, list, words }) = front::run(gpu, &front)? else { return Ok(None) };
    let start = Instant::now();
    let Some(primitives) = setup::assemble_in(&state.primitive, &mut vertices, &list, &words) else {
        let what = format!("draw {}: primitive type {:?}", call.number, front.topology());
        gpu.report.unsupported(what, gpu.at);
        return Ok(None);
    };
    gpu.pipeline.stats.ms.primitive += start.elapsed().as_secs_f64() * 1e3;
    gpu.pipeline.stats.primitives += primitives.len() as u64;
    let geometry = Arc::new(Geometry::new(vertices, primitives, words));
    if front.is_reusable() {
        let primitive = state.primitive.clone();
        gpu.pipeline.reuse.keep(gpu.at.address, front.vertex, primitive, &gpu.mem, &geometry);
    }
    Ok(Some(geometry))
}

/// Runs the vertex stage and records what it reports.
pub fn shade_vertices(gpu: &mut Gpu, state: &VertexState) -> Result<Shaded, Fault> {
    let start = Instant::now();
    let stores = if state.stage.stores() { Stores::Some } else { Stores::None };
    let mut shaded = indices::shade(state, &mut gpu.mem, stores)?;
    gpu.pipeline.stats.vertices += shaded.vertices.len() as u64;
    note_reports(gpu, std::mem::take(&mut shaded.reports));
    gpu.pipeline.stats.ms.vertex += start.elapsed().as_secs_f64() * 1e3;
    Ok(shaded)
}

/// Records what shaders reported.
pub fn note_reports(gpu: &mut Gpu, reports: Reports) {
    gpu.pipeline.stats.warps += reports.warps;
    gpu.pipeline.stats.instructions += reports.instructions;
    gpu.report.missing.extend(reports.misses);
    for page in reports.lost {
        gpu.report.fault(Fault::Store { client: Client::Global, page }, gpu.at);
    }
    if let Some(stray) = reports.strays.first() {
        gpu.report.fault(stray.fault(gpu.at.draws), gpu.at);
    }
    for what in reports.unsupported {
        gpu.report.unsupported(what, gpu.at);
    }
    if let Some(fault) = reports.fault {
        gpu.report.fault(fault, gpu.at);
    }
}

/// Draws primitives that choose their layers.
fn draw_layers(gpu: &mut Gpu, call: &DrawCall, state: &DrawState, geometry: Geometry) {
    let Geometry { mut vertices, primitives, words, .. } = geometry;
    let grouping = if state.fragment.stage.stores() { Grouping::Runs } else { Grouping::Layers };
    for Layer { number, primitives } in layers::split(primitives, &words, grouping) {
        let geometry = Geometry::new(vertices, primitives, Vec::new());
        draw_layer(gpu, call, state, number, &geometry);
        vertices = geometry.vertices;
    }
}

/// Draws all primitives to one layer of the targets.
fn draw_layer(gpu: &mut Gpu, call: &DrawCall, state: &DrawState, layer: u32, geometry: &Geometry) {
    let surfaces: Vec<Surface> =
        state.targets.surfaces.iter().map(|surface| surface.at_layer(layer)).collect();
    shade_fragments(gpu, state, &surfaces, geometry);
    note_targets(gpu, state, &surfaces, call);
}

fn shade_fragments(gpu: &mut Gpu, state: &DrawState, surfaces: &[Surface], geometry: &Geometry) {
    let Geometry { vertices, primitives, bounds, .. } = geometry;
    let inside = state.targets.scissor.intersect(reachable(gpu, surfaces));
    let visible = bounds.iter().map(|bounds| bounds.intersect(inside));
    let Some(area) = visible.filter(|rect| !rect.is_empty()).reduce(Rect::union) else { return };
    let plan = plan(state, &gpu.mem);
    let count = affordable(bounds, area);
    if count < bounds.len() {
        let what = format!("draw cut after {count} of {} primitives: {MAX_PIXELS} pixels", bounds.len());
        gpu.report.fault(Fault::Draw(what), gpu.at);
    }
    let (primitives, bounds) = (&primitives[..count], &bounds[..count]);
    let frame = Frame { state, vertices, primitives, bounds, plan };
    let (results, outside) = with_planes(surfaces, area, &mut gpu.gmem, &mut gpu.mem, |planes, mem| {
        bands::draw(&frame, area, planes, mem)
    });
    for Outside { surface, address, len } in outside {
        gpu.report.missing.note(Miss { client: Client::RenderTarget, address, len });
        let page = address - address % crate::memory::PAGE;
        if matches!(surfaces[surface].location, Location::Memory(_)) {
            gpu.report.fault(Fault::Store { client: Client::RenderTarget, page }, gpu.at);
        }
    }
    for result in results {
        add_result(gpu, result);
    }
}

/// Pixels that a draw's primitives may touch, in all: 32 layers over 4096x4096, or 250 over
/// 1920x1080. The kernel would take a GPU for hung that is as busy with one draw.
const MAX_PIXELS: u64 = 1 << 29;

/// How many primitives a draw can do before it has touched [`MAX_PIXELS`].
fn affordable(bounds: &[Rect], area: Rect) -> usize {
    let mut left = MAX_PIXELS;
    let enough = |bounds: &Rect| match left.checked_sub(bounds.intersect(area).area()) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    };
    bounds.iter().position(enough).unwrap_or(bounds.len())
}

/// The pixels for which some surface has memory: whatever scissors say, no more than
/// these are worth drawing. Without surfaces there are only samples to count.
pub(super) fn reachable(gpu: &Gpu, surfaces: &[Surface]) -> Rect {
    let extent = |surface: &Surface| {
        let room = match surface.location {
            Location::Gmem(base) => (gpu.gmem.len() as u64).saturating_sub(base.into()),
            Location::Memory(base) => gpu.mem.room(base).into(),
        };
        let side = |pixels: u64| pixels.min(Rect::ALL.x1 as u64) as i32;
        let columns = side(u64::from(surface.pitch / surface.cpp.max(1)));
        let rows = side(room.div_ceil(u64::from(surface.pitch.max(1))));
        let [x0, y0] = surface.origin;
        Rect { x0, y0, x1: x0 + columns, y1: y0 + rows }
    };
    surfaces.iter().map(extent).reduce(Rect::union).unwrap_or(Rect::ALL)
}

fn add_result(gpu: &mut Gpu, result: BandResult) {
    gpu.pipeline.stats.pixels += result.samples;
    gpu.counters.samples_passed += result.samples;
    note_reports(gpu, result.reports);
}

/// Decides what can be done without running the shader for every pixel.
pub(super) fn plan(state: &DrawState, memory: &Memory) -> Plan {
    let stage = &state.fragment.stage;
    let late = state.targets.order == TestOrder::Late || stage.kills();
    let order = if late { TestOrder::Late } else { TestOrder::Early };
    let color = if order == TestOrder::Late || stage.stores() {
        Coloring::Shaded
    } else if state.targets.color.is_empty() {
        Coloring::None
    } else {
        solid(state, memory).map_or(Coloring::Shaded, Coloring::Solid)
    };
    Plan { order, color }
}

/// The dword of every target if all pixels get the same.
fn solid(state: &DrawState, memory: &Memory) -> Option<Vec<u32>> {
    if !state.fragment.is_uniform() {
        return None;
    }
    let colors = fs::run_once(state, Port::Shared(memory))?;
    state.targets.color.iter().zip(&colors).map(|(target, colors)| target.solid(colors)).collect()
}

/// Notes the targets in memory as rendered.
fn note_targets(gpu: &mut Gpu, state: &DrawState, surfaces: &[Surface], call: &DrawCall) {
    if !is_bypass(&gpu.regs) {
        return;
    }
    let size = gpu.regs.get::<RB_FRAME_BUFFER_DIMENSION>();
    for (target, format) in state.targets.color.iter().zip(&state.targets.color_format) {
        let surface = &surfaces[target.plane];
        let Location::Memory(address) = surface.location else { continue };
        gpu.pipeline.surfaces.note(Written {
            submit: call.submit,
            draw: call.number,
            address,
            width: size.WIDTH(),
            height: size.HEIGHT(),
            pitch: surface.pitch,
            format: format.0,
            swap: format.1,
            content: crate::draw::rb::rendered::Content::Color,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_of_too_many_pixels_is_cut() {
        let area = Rect { x0: 0, y0: 0, x1: 1 << 14, y1: 1 << 14 };
        let half = Rect { x1: 1 << 13, ..area };
        assert_eq!(affordable(&[half; 4], area), 4, "2^27 pixels each");
        assert_eq!(affordable(&[half; 5], area), 4);
        assert_eq!(affordable(&[half; 5], Rect { x1: 0, ..area }), 5, "none of it can be seen");
    }
}
