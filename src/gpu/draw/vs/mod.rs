//! The vertex shader: a lane per vertex.

use std::sync::Arc;

use crate::budget::{Budget, Work};
use crate::draw::call::IndexSource;
use crate::draw::gras::viewport::Projection;
use crate::draw::sp::launch::{Threads, WarpLanes, Worker, launch, launch_reading};
use crate::draw::sp::log::ShaderLog;
use crate::draw::sp::memory::{GpuMemory, ShaderMemory};
use crate::draw::sp::state::StageState;
use crate::draw::stop::{Stop, charge, must_fit};
use crate::draw::vertices::{RESTART, ScreenVertex, Vertices};
use crate::draw::vfd::fetch::fetch;
use crate::draw::vfd::indices::{VertexJob, VertexJobs, fetch_indices, in_order, jobs};
use crate::draw::vfd::parts::DrawPart;
use crate::draw::vfd::state::FetchState;
use crate::draw::vpc::state::VertexOutputs;
use crate::draw::work::Geometry;
use crate::fault::{Fault, Missing};
use crate::memory::Memory;
use a4emu_shader::{LANES, Warp};

/// Vertices per job.
const CHUNK: usize = 16 * LANES;

/// Bytes held per index of the draw: the index, and at most four places of a table.
const INDEX: u64 = 8 + 4 * 4;
/// Bytes held per index of an instance: the vertex to shade, and a list entry.
const ENTRY: u64 = size_of::<VertexJob>() as u64 + 4;

/// Memory access of the shader.
enum Access<'m> {
    ReadWrite(&'m mut Memory),
    ReadOnly(&'m Memory),
}

/// Vertex fetch and vertex shader of a draw.
#[derive(Clone)]
pub struct VertexState {
    /// Vertex fetch state.
    pub fetch: FetchState,
    /// The shader.
    pub stage: Arc<StageState>,
    /// Outputs of the shader.
    pub outputs: Arc<VertexOutputs>,
}

impl VertexState {
    /// Returns whether both states make the same vertices from the same memory.
    pub fn is_same(&self, other: &Self) -> bool {
        self.fetch == other.fetch && self.outputs == other.outputs && self.stage.is_same(&other.stage)
    }

    /// Fetches and shades the vertices of a draw.
    ///
    /// # Errors
    /// The draw exceeds the memory limit or the budget.
    pub fn shade(&self, memory: &mut Memory, budget: &mut Budget) -> Result<Shaded, Stop> {
        self.shade_for(|| None, memory, budget)
    }

    /// Fetches and shades the vertices of a draw. For many vertices it also computes screen positions, if
    /// there is a projection. This is faster while the vertices are in the cache.
    ///
    /// # Errors
    /// The draw exceeds the memory limit or the budget.
    pub fn shade_for(
        &self,
        projection: impl FnOnce() -> Option<Projection>,
        memory: &mut Memory,
        budget: &mut Budget,
    ) -> Result<Shaded, Stop> {
        let mut missing = Missing::default();
        let (jobs, list) = self.jobs(memory, budget, &mut missing)?;
        let projection = if jobs.count() > CHUNK { projection() } else { None };
        Ok(self.shade_jobs(&jobs, list, projection, &missing, Access::ReadWrite(memory), budget))
    }

    /// Returns whether the vertices need only one job and the shader only reads.
    pub fn is_small(&self) -> bool {
        let FetchState { count, instances, .. } = self.fetch;
        self.stage.only_reads() && u64::from(count) * u64::from(instances) <= CHUNK as u64
    }

    /// Runs [`VertexState::shade`] for vertices that are [small](VertexState::is_small).
    ///
    /// # Errors
    /// The draw exceeds the memory limit or the budget.
    pub fn shade_small(&self, memory: &Memory, budget: &mut Budget) -> Result<Shaded, Stop> {
        let mut missing = Missing::default();
        let (jobs, list) = self.jobs(memory, budget, &mut missing)?;
        Ok(self.shade_jobs(&jobs, list, None, &missing, Access::ReadOnly(memory), budget))
    }

    /// Shades the vertices of a part of the draw. `missing` has the misses of its indices.
    ///
    /// # Errors
    /// The part exceeds the budget.
    pub fn shade_part(
        &self,
        part: &DrawPart,
        missing: &Missing,
        memory: &mut Memory,
        budget: &mut Budget,
    ) -> Result<Shaded, Stop> {
        self.charge(budget, (part.indices.len() * part.instances.len()) as u64)?;
        let (jobs, list) = jobs(&self.fetch, &part.indices, part.instances.clone());
        let jobs = VertexJobs::Listed(jobs);
        Ok(self.shade_jobs(&jobs, list, None, missing, Access::ReadWrite(memory), budget))
    }

    fn shade_jobs(
        &self,
        jobs: &VertexJobs,
        list: Vec<u32>,
        projection: Option<Projection>,
        missing: &Missing,
        memory: Access<'_>,
        budget: &mut Budget,
    ) -> Shaded {
        let mut vertices = Vertices::unwritten(self.outputs.components, jobs.count(), &self.stage.lists);
        let stride = vertices.stride();
        let mut written = vec![false; jobs.count().div_ceil(CHUNK)];
        let placed = if projection.is_some() { jobs.count() } else { 0 };
        let mut screen = self.stage.lists.screen().take(placed, ScreenVertex::default());
        let places = screen.chunks_mut(CHUNK).chain(std::iter::repeat_with(Default::default));
        let rows = vertices.rows_mut().chunks_mut(CHUNK * stride).zip(places).zip(&mut written);
        let are_whole = self.outputs.are_whole();
        let shade = |worker: &mut Worker<'_>, (first, ((rows, places), written)): Job<'_>| {
            if !are_whole {
                rows.fill(0);
            }
            *written = true;
            self.shade_job(worker, jobs, first, rows, stride);
            projection.iter().for_each(|projection| projection.place(rows, stride, places));
        };
        let chunks = (0..).step_by(CHUNK).zip(rows);
        let launched = match memory {
            Access::ReadWrite(memory) => launch(&self.stage, memory, budget, Threads::All, chunks, shade),
            Access::ReadOnly(memory) => {
                launch_reading(&self.stage, memory, budget, Threads::This, chunks, shade)
            }
        };
        let mut log = launched.log;
        let rows = vertices.rows_mut().chunks_mut(CHUNK * stride).zip(&written);
        rows.filter(|(_, written)| !**written).for_each(|(rows, _)| rows.fill(0));
        if written.iter().all(|written| *written) {
            vertices.place(screen);
        }
        log.missing.extend(missing.iter());
        Shaded { vertices, list, log, geometry: Geometry::default() }
    }

    /// Charges the listing and fetching of vertices.
    fn charge(&self, budget: &mut Budget, vertices: u64) -> Result<(), Stop> {
        charge(budget, Work::Vertex, vertices)?;
        charge(budget, Work::Attribute, vertices.saturating_mul(self.fetch.attributes.len() as u64))
    }

    /// Returns the vertices to shade, and the drawing order as indices to them.
    fn jobs(
        &self,
        memory: &Memory,
        budget: &mut Budget,
        missing: &mut Missing,
    ) -> Result<(VertexJobs, Vec<u32>), Stop> {
        let FetchState { count, instances, .. } = self.fetch;
        let total = u64::from(count) * u64::from(instances);
        let entries = ENTRY.saturating_mul(total);
        must_fit(entries.saturating_add(INDEX * u64::from(count)), format_args!("draw of {total} vertices"))?;
        self.charge(budget, total)?;
        let (jobs, list) = match (&self.fetch.indices, instances) {
            (IndexSource::Auto, 1) => in_order(count),
            _ => {
                let indices = fetch_indices(&self.fetch, 0..count, memory, missing);
                let (jobs, list) = jobs(&self.fetch, &indices, 0..instances);
                (VertexJobs::Listed(jobs), list)
            }
        };
        let components = self.outputs.components;
        let rows = Vertices::bytes_of(components, jobs.count());
        must_fit(entries + rows, format_args!("draw of {total} vertices with {components} varyings"))?;
        Ok((jobs, list))
    }

    /// Shades vertices from `first` on, warp by warp, one per row.
    fn shade_job(
        &self,
        worker: &mut Worker<'_>,
        jobs: &VertexJobs,
        first: usize,
        rows: &mut [u32],
        stride: usize,
    ) {
        let mut room = [VertexJob::default(); LANES];
        let mut warps = (first..).step_by(LANES).zip(rows.chunks_mut(LANES * stride));
        while let Some((first, rows)) = warps.next() {
            let jobs = jobs.warp(first..first + rows.len() / stride, &mut room);
            let lanes = WarpLanes::first(jobs.len());
            let ended = worker.run(lanes, None, |warp, memory| self.enter(jobs, warp, memory));
            self.outputs.export(&worker.warp, rows, stride);
            if !ended {
                return warps.for_each(|(_, rows)| rows.fill(0));
            }
        }
    }

    /// Writes the inputs of the vertices to registers.
    fn enter(&self, jobs: &[VertexJob], warp: &mut Warp, memory: &mut ShaderMemory<'_>) {
        for attribute in &*self.fetch.attributes {
            let fetched =
                fetch(attribute, &self.fetch, jobs, warp, memory.gpu.get(), &mut memory.log.missing);
            memory.spend_fetch([fetched.apart, fetched.missing]);
        }
        for (id, value) in [
            (self.fetch.vertex_id, (|job: &VertexJob| job.index) as fn(&VertexJob) -> u32),
            (self.fetch.instance_id, |job| job.instance),
            (self.fetch.vertex_count, |job| job.number),
        ] {
            if let Some(id) = id {
                warp.full_mut(id).iter_mut().zip(jobs).for_each(|(lane, job)| *lane = value(job));
            }
        }
    }

    /// Returns the vertices to shade, the values that each fetches (four per attribute, as bits), and the
    /// drawing order.
    ///
    /// # Errors
    /// The draw exceeds the memory limit or the budget.
    pub fn fetched(&self, memory: &mut Memory, budget: &mut Budget) -> Result<Fetched, Stop> {
        let (jobs, list) = self.jobs(memory, budget, &mut Missing::default())?;
        let jobs = jobs.all();
        let stride = 4 * self.fetch.attributes.len();
        // The values are also held as a table, with their text.
        must_fit(16 * (stride * jobs.len()) as u64, format_args!("inputs of {} vertices", jobs.len()))?;
        charge(budget, Work::LaneAccess, (stride * jobs.len()) as u64)?;
        let mut values = vec![0; stride * jobs.len()];
        let mut worker = Worker::new(&self.stage, GpuMemory::ReadWrite(memory));
        let chunks = jobs.chunks(LANES).zip(values.chunks_mut((LANES * stride).max(1)));
        for (jobs, values) in chunks {
            worker.start(WarpLanes::first(jobs.len()), |warp, memory| self.enter(jobs, warp, memory));
            for (lane, row) in values.chunks_exact_mut(stride).enumerate() {
                for (attribute, row) in self.fetch.attributes.iter().zip(row.as_chunks_mut::<4>().0) {
                    *row = std::array::from_fn(|c| worker.warp.full(attribute.regid + c as u32)[lane]);
                }
            }
        }
        worker.retire();
        Ok(Fetched { jobs, values, list })
    }

    /// Returns the index of the shaded vertex that is the `number`-th in the draw's list.
    ///
    /// # Errors
    /// A fault if the list has no such vertex.
    pub fn job_of(&self, memory: &Memory, budget: &mut Budget, number: u32) -> Result<usize, Stop> {
        let (_, list) = self.jobs(memory, budget, &mut Missing::default())?;
        match list.get(number as usize) {
            Some(&job) if job != RESTART => Ok(job as usize),
            Some(_) => Err(Fault::Draw(format!("vertex {number} is a restart")).into()),
            None => Err(Fault::Draw(format!("the draw lists {} vertices", list.len())).into()),
        }
    }
}

/// A job: first vertex to shade, their rows and screen positions, and a flag that it was done.
type Job<'a> = (usize, ((&'a mut [u32], &'a mut [ScreenVertex]), &'a mut bool));

/// Fetched inputs of a draw's vertices.
pub struct Fetched {
    /// The vertices, each once.
    pub jobs: Vec<VertexJob>,
    /// Four values for each attribute of each vertex.
    pub values: Vec<u32>,
    /// Vertex numbers in drawing order, with restarts.
    pub list: Vec<u32>,
}

/// Results of the vertex stage for a draw.
#[derive(Default)]
pub struct Shaded {
    /// The shaded vertices.
    pub vertices: Vertices,
    /// Vertex numbers in drawing order, with restarts.
    pub list: Vec<u32>,
    /// Log of the shader.
    pub log: ShaderLog,
    /// What the chip runs for it, once the log is recorded.
    pub geometry: Geometry,
}
