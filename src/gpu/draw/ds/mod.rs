//! The domain shader: a lane per point of a patch's domain.
pub mod state;

use crate::budget::{Budget, Work};
use crate::draw::pc::assembler::PrimitiveList;
use crate::draw::pc::state::PatchState;
use crate::draw::pc::tessellator::{Factors, Mesh};
use crate::draw::sp::launch::{Threads, WarpLanes, Worker, launch};
use crate::draw::sp::log::ShaderLog;
use crate::draw::stop::{Stop, charge, must_fit};
use crate::draw::vertices::Vertices;
use crate::memory::Memory;
use a4emu_shader::{LANES, Warp};
use state::DomainState;

/// Points per job.
const CHUNK: usize = 8 * LANES;

/// A domain point to shade.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DomainPoint {
    /// Id of its patch in the instance.
    pub id: u32,
    /// Number of its patch in the draw.
    pub patch: u32,
    /// u and v.
    pub at: [f32; 2],
}

/// All points of a draw, and their primitives.
pub struct Points {
    /// The points, patch by patch.
    pub points: Vec<DomainPoint>,
    /// The primitives, with the ids of their patches.
    pub primitives: PrimitiveList,
    /// Patches without points.
    pub culled: u64,
}

/// Tessellates patches of the draw of this number, with these `ids` and `factors`. The points will have `components` varying components.
///
/// # Errors
/// The points exceed the memory limit or the budget.
pub fn points(
    state: &PatchState,
    draw: u32,
    components: usize,
    ids: &[u32],
    factors: &[Factors],
    budget: &mut Budget,
) -> Result<Points, Stop> {
    let size = state.tessellator.primitive_vertices();
    let primitives = PrimitiveList { size, ..PrimitiveList::default() };
    let mut points = Points { points: Vec::new(), primitives, culled: 0 };
    let mut last: Option<(Factors, Mesh)> = None;
    for (patch, (factors, id)) in factors.iter().zip(ids).enumerate() {
        let mesh = match last.take() {
            Some((same, mesh)) if same == *factors => mesh,
            _ => state.tessellator.run(factors),
        };
        charge(budget, Work::Vertex, 1 + mesh.indices.len() as u64)?;
        points.add(&mesh, patch as u32, *id);
        last = Some((*factors, mesh));
        let count = points.points.len();
        let what = format_args!("draw {draw}: tessellation to {count} points of {} patches", patch + 1);
        must_fit(points.bytes(components), what)?;
    }
    Ok(points)
}

impl Points {
    /// Returns the bytes of the points and of their shaded vertices.
    fn bytes(&self, components: usize) -> u64 {
        let connections = size_of_val(&*self.primitives.vertices) + size_of_val(&*self.primitives.ids);
        let points = size_of_val(&*self.points) + connections;
        points as u64 + Vertices::bytes_of(components, self.points.len())
    }

    fn add(&mut self, mesh: &Mesh, patch: u32, id: u32) {
        let first = self.points.len() as u32;
        self.points.extend(mesh.points.iter().map(|at| DomainPoint { id, patch, at: *at }));
        self.primitives.vertices.extend(mesh.indices.iter().map(|index| first + index));
        let count = mesh.indices.len() / self.primitives.size;
        self.primitives.ids.extend(std::iter::repeat_n(id, count));
        self.culled += u64::from(mesh.points.is_empty());
    }
}

/// Runs the stage for all points.
pub fn shade(
    state: &DomainState,
    points: &[DomainPoint],
    memory: &mut Memory,
    budget: &mut Budget,
) -> (Vertices, ShaderLog) {
    let mut vertices = Vertices::new(state.outputs.components, points.len());
    let stride = vertices.stride();
    let jobs = points.chunks(CHUNK).zip(vertices.rows_mut().chunks_mut(CHUNK * stride));
    let shade = |worker: &mut Worker<'_>, (points, rows)| shade_job(state, worker, points, rows, stride);
    let log = launch(&state.stage, memory, budget, Threads::All, jobs, shade).log;
    (vertices, log)
}

/// Shades the points of a job, warp by warp.
fn shade_job(
    state: &DomainState,
    worker: &mut Worker<'_>,
    points: &[DomainPoint],
    rows: &mut [u32],
    stride: usize,
) {
    for (points, rows) in points.chunks(LANES).zip(rows.chunks_mut(LANES * stride)) {
        if !worker.run(WarpLanes::first(points.len()), None, |warp, _| enter(state, warp, points)) {
            return;
        }
        state.outputs.export(&worker.warp, rows, stride);
    }
}

/// Writes the inputs to registers: r0.y the patch's id, r0.z its number, and the point's coordinates.
fn enter(state: &DomainState, warp: &mut Warp, points: &[DomainPoint]) {
    for (lane, point) in points.iter().enumerate() {
        warp.full_mut(1)[lane] = point.id;
        warp.full_mut(2)[lane] = point.patch;
        for (id, at) in state.coordinate.iter().zip(point.at) {
            if let Some(id) = id {
                warp.full_mut(*id)[lane] = at.to_bits();
            }
        }
    }
}
