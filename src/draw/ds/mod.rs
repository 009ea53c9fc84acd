//! The domain shader: a lane per point of a patch's domain.

use rayon::prelude::*;

use crate::draw::pc::assembler::Input;
use crate::draw::pc::tessellator::{Factors, Mesh};
use crate::draw::sp::log::Reports;
use crate::draw::sp::memory::{Access, Port};
use crate::draw::vertices::{HEADER, Vertices};
use crate::draw::vfd::indices::{MAX_VERTICES, MAX_WORDS};
use crate::fault::Fault;
use crate::memory::Memory;
use crate::shader::{LANES, Warp};

use crate::draw::pc::state::TessellationState;

/// Points that one job of a parallel loop shades.
const CHUNK: usize = 8 * LANES;

/// A point to shade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// Id of its patch in the instance.
    id: u32,
    /// Number of its patch in the draw.
    patch: u32,
    /// u and v.
    at: [f32; 2],
}

/// All points of a draw, and how they connect.
pub struct Points {
    /// The points, patch by patch.
    pub jobs: Vec<Job>,
    /// The primitives; their ids are those of the patches.
    pub input: Input,
    /// Patches without points.
    pub culled: u64,
}

/// Tessellates patches with `factors`; `ids` are theirs.
///
/// # Errors
/// A fault when there are more points than any real draw has.
pub fn points(state: &TessellationState, ids: &[u32], factors: &[Factors]) -> Result<Points, Fault> {
    let size = state.tessellator.primitive_vertices();
    let mut points = Points { jobs: Vec::new(), input: Input { size, ..Input::default() }, culled: 0 };
    let mut last: Option<(Factors, Mesh)> = None;
    for (patch, (factors, id)) in factors.iter().zip(ids).enumerate() {
        let mesh = match last.take() {
            Some((same, mesh)) if same == *factors => mesh,
            _ => state.tessellator.run(factors),
        };
        points.add(&mesh, patch as u32, *id);
        last = Some((*factors, mesh));
        let words = points.jobs.len() * (HEADER + state.outputs.components);
        if points.jobs.len() as u64 > MAX_VERTICES || words > MAX_WORDS {
            return Err(Fault::Draw(format!(
                "draw {}: cut, because {} patches make {} points",
                state.draw,
                patch + 1,
                points.jobs.len()
            )));
        }
    }
    Ok(points)
}

impl Points {
    fn add(&mut self, mesh: &Mesh, patch: u32, id: u32) {
        let first = self.jobs.len() as u32;
        self.jobs.extend(mesh.points.iter().map(|at| Job { id, patch, at: *at }));
        self.input.vertices.extend(mesh.indices.iter().map(|index| first + index));
        let count = mesh.indices.len() / self.input.size;
        self.input.ids.extend(std::iter::repeat_n(id, count));
        self.culled += u64::from(mesh.points.is_empty());
    }
}

/// Runs the stage for all points. `memory` is written only by a shader that stores; then
/// warps follow each other.
pub fn shade(state: &TessellationState, points: &Points, memory: &mut Memory) -> (Vertices, Reports) {
    let mut vertices = Vertices::new(state.outputs.components, points.jobs.len());
    let stride = vertices.stride();
    let rows = vertices.rows_mut();
    let mut reports = Reports::default();
    if state.domain.stores() {
        reports = shade_jobs(state, &points.jobs, rows, Port::Exclusive(memory));
    } else {
        let memory = &*memory;
        let work = |(jobs, rows): (&[Job], &mut [u32])| shade_jobs(state, jobs, rows, Port::Shared(memory));
        let parts: Vec<Reports> =
            points.jobs.par_chunks(CHUNK).zip(rows.par_chunks_mut(CHUNK * stride)).map(work).collect();
        parts.into_iter().for_each(|part| reports.append(part));
    }
    (vertices, reports)
}

/// Warp after warp.
fn shade_jobs(state: &TessellationState, jobs: &[Job], rows: &mut [u32], port: Port<'_>) -> Reports {
    let stride = HEADER + state.outputs.components;
    let mut access = Access::new(port, &state.domain);
    let mut warp = Warp::new(&state.domain.program, &state.domain.constants);
    for (jobs, rows) in jobs.chunks(LANES).zip(rows.chunks_mut(LANES * stride)) {
        enter(state, &mut warp, jobs);
        run_warp(state, &mut warp, &mut access);
        if access.reports.fault.is_some() {
            break;
        }
        state.outputs.export(&warp, rows, stride);
    }
    access.finish()
}

/// Registers at the start: r0.y the patch's id, r0.z its number, and where the point is.
fn enter(state: &TessellationState, warp: &mut Warp, jobs: &[Job]) {
    let live = if jobs.len() == LANES { u32::MAX } else { (1 << jobs.len()) - 1 };
    warp.restart(&state.domain.program, live, 0);
    for (lane, job) in jobs.iter().enumerate() {
        warp.full_mut(1)[lane] = job.id;
        warp.full_mut(2)[lane] = job.patch;
        for (id, at) in state.coordinate.iter().zip(job.at) {
            if let Some(id) = id {
                warp.full_mut(*id)[lane] = at.to_bits();
            }
        }
    }
}

fn run_warp(state: &TessellationState, warp: &mut Warp, access: &mut Access<'_>) {
    let fault = access.run(warp, None);
    access.reports.fault = fault.map(|fault| Fault::Shader(format!("draw {}: domain {fault}", state.draw)));
}
