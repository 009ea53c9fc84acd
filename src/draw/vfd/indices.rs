//! Vertex fetch and the vertex shader, 32 vertices at a time.

use rayon::prelude::*;

use crate::fault::{Client, Fault, Miss};
use crate::memory::Memory;
use crate::shader::{LANES, Lanes, Warp};

use crate::draw::call::IndexSource;
use crate::draw::gras::state::{VertexOutputs, VertexState};
use crate::draw::sp::log::{MAX_INSTRUCTIONS, Reports};
use crate::draw::sp::memory::{Access, Port, StageEnvironment};
use crate::draw::vertices::{HEADER, RESTART, Vertices};
use crate::draw::vfd::fetch::fetch;

/// Vertices (over all instances) that a draw may have; no real one comes near.
pub const MAX_VERTICES: u64 = 1 << 24;

/// Words of shaded vertices that a draw may have.
pub const MAX_WORDS: usize = 1 << 27;

/// Jobs of a parallel loop after which faults are looked at. Fixed, so that nothing depends on
/// the number of threads.
const JOBS_PER_WAVE: usize = 256;

/// Warps that one job of a parallel loop shades.
const WARPS_PER_JOB: usize = 16;

/// One vertex to shade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Index as fetched.
    pub index: u32,
    /// Instance from 0.
    pub instance: u32,
    /// Running number in the draw.
    pub number: u32,
}

/// What the vertex stage makes of a draw.
#[derive(Default)]
pub struct Shaded {
    /// The shaded vertices.
    pub vertices: Vertices,
    /// Their numbers in drawing order, with restarts.
    pub list: Vec<u32>,
    /// What the shader reported.
    pub reports: Reports,
}

/// Fetches and shades the vertices of a draw. `memory` is exclusive when the shader
/// stores: then warps run in order.
///
/// # Errors
/// A fault when the draw is larger than any real one.
pub fn shade(state: &VertexState, memory: &mut Memory, stores: Stores) -> Result<Shaded, Fault> {
    let total = u64::from(state.count) * u64::from(state.instances);
    if total > MAX_VERTICES {
        return Err(Fault::Draw(format!("draw of {total} vertices is cut")));
    }
    let mut shaded = Shaded::default();
    let indices = fetch_indices(state, memory, &mut shaded.reports.misses);
    let (jobs, list) = jobs(state, &indices);
    shaded.list = list;
    if jobs.len() * (HEADER + state.outputs.components) > MAX_WORDS {
        return Err(Fault::Draw(format!(
            "draw of {total} vertices with {} varyings is cut",
            state.outputs.components
        )));
    }
    shaded.vertices = Vertices::new(state.outputs.components, jobs.len());
    match stores {
        Stores::None => shade_parallel(state, memory, &jobs, &mut shaded),
        Stores::Some => {
            let mut worker = Worker::new(state, Port::Exclusive(memory));
            let stride = shaded.vertices.stride();
            worker.shade(&jobs, shaded.vertices.rows_mut(), stride);
            shaded.reports.append(worker.finish());
        }
    }
    Ok(shaded)
}

/// Hands over the warp of the vertices 32 `number` and on, as [`shade`] would start it.
///
/// # Errors
/// A fault when the draw has no such warp.
pub fn launch(
    state: &VertexState,
    memory: &mut Memory,
    number: u32,
    look: impl FnOnce(Warp, StageEnvironment<'_, '_, '_>),
) -> Result<(), Fault> {
    let indices = fetch_indices(state, memory, &mut Vec::new());
    let (jobs, _) = jobs(state, &indices);
    let Some(jobs) = jobs.chunks(LANES).nth(number as usize) else {
        return Err(Fault::Draw(format!("the draw shades {} vertices", jobs.len())));
    };
    let mut worker = Worker::new(state, Port::Exclusive(memory));
    worker.launch(jobs);
    look(worker.warp, StageEnvironment { access: &mut worker.access, pieces: None });
    Ok(())
}

/// Whether a shader writes memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// It does not: warps may run in any order.
    None,
    /// It does: warps run in order.
    Some,
}

fn shade_parallel(state: &VertexState, memory: &Memory, jobs: &[Job], shaded: &mut Shaded) {
    let stride = shaded.vertices.stride();
    let chunk = LANES * WARPS_PER_JOB;
    let rows = shaded.vertices.rows_mut();
    let work = |(jobs, rows): (&[Job], &mut [u32])| {
        let mut worker = Worker::new(state, Port::Shared(memory));
        worker.shade(jobs, rows, stride);
        worker.finish()
    };
    let wave = chunk * JOBS_PER_WAVE;
    for (jobs, rows) in jobs.chunks(wave).zip(rows.chunks_mut(wave * stride)) {
        let parts: Vec<Reports> = if jobs.len() <= chunk {
            vec![work((jobs, rows))]
        } else {
            jobs.par_chunks(chunk).zip(rows.par_chunks_mut(chunk * stride)).map(work).collect()
        };
        parts.into_iter().for_each(|part| shaded.reports.append(part));
        shaded.reports.enforce(MAX_INSTRUCTIONS);
        if shaded.reports.fault.is_some() {
            break;
        }
    }
}

/// The indices of one instance; [`None`] where the list restarts.
fn fetch_indices(state: &VertexState, memory: &Memory, misses: &mut Vec<Miss>) -> Vec<Option<u32>> {
    let keep = |index: u32| (state.restart != Some(index)).then_some(index);
    match &state.indices {
        IndexSource::Auto => (0..state.count).map(Some).collect(),
        IndexSource::Immediate(indices) => {
            (0..state.count as usize).map(|i| keep(indices.get(i).copied().unwrap_or(0))).collect()
        }
        IndexSource::Memory { base, size, width, first } => {
            let start = u64::from(*first) * u64::from(*width);
            let wanted = u64::from(state.count) * u64::from(*width);
            let readable = u64::from(*size).saturating_sub(start).min(wanted);
            let mut bytes = vec![0; wanted as usize];
            let address = base.wrapping_add(start as u32);
            if !memory.read(address, &mut bytes[..readable as usize]) {
                misses.push(Miss { client: Client::Index, address, len: readable as u32 });
            }
            bytes.chunks_exact((*width).max(1) as usize).map(|b| keep(little_endian(b))).collect()
        }
    }
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// What to shade, each vertex of an instance once (unless the shader counts vertices),
/// and the drawing order in terms of it.
fn jobs(state: &VertexState, indices: &[Option<u32>]) -> (Vec<Job>, Vec<u32>) {
    let mut jobs = Vec::new();
    let mut list = Vec::with_capacity(indices.len() * state.instances as usize);
    let mut slots = Slots::new(indices);
    let mut number = 0;
    for instance in 0..state.instances {
        if instance > 0 {
            list.push(RESTART);
        }
        slots.clear();
        for index in indices {
            let Some(index) = *index else {
                list.push(RESTART);
                continue;
            };
            let next = jobs.len() as u32;
            let slot = if state.vertex_count.is_some() { next } else { slots.get_or_insert(index, next) };
            if slot == next {
                jobs.push(Job { index, instance, number });
            }
            number += 1;
            list.push(slot);
        }
    }
    (jobs, list)
}

/// Index to slot: a table when the indices are close together, else a map.
enum Slots {
    Table { least: u32, slots: Vec<u32> },
    Map(hashbrown::HashMap<u32, u32>),
}

impl Slots {
    fn new(indices: &[Option<u32>]) -> Self {
        let (least, greatest) =
            indices.iter().flatten().fold((u32::MAX, 0), |(lo, hi), i| (lo.min(*i), hi.max(*i)));
        let range = u64::from(greatest.saturating_sub(least)) + 1;
        if range <= 4 * indices.len() as u64 + 64 {
            Self::Table { least, slots: vec![u32::MAX; range as usize] }
        } else {
            Self::Map(hashbrown::HashMap::new())
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Table { slots, .. } => slots.fill(u32::MAX),
            Self::Map(map) => map.clear(),
        }
    }

    fn get_or_insert(&mut self, index: u32, new: u32) -> u32 {
        let slot = match self {
            Self::Table { least, slots } => &mut slots[(index - *least) as usize],
            Self::Map(map) => map.entry(index).or_insert(u32::MAX),
        };
        if *slot == u32::MAX {
            *slot = new;
        }
        *slot
    }
}

/// Shades warps one after the other.
struct Worker<'a> {
    state: &'a VertexState,
    warp: Warp,
    access: Access<'a>,
}

impl<'a> Worker<'a> {
    fn new(state: &'a VertexState, port: Port<'a>) -> Self {
        let stage = &state.stage;
        Self { state, warp: Warp::new(&stage.program, &stage.constants), access: Access::new(port, stage) }
    }

    fn shade(&mut self, jobs: &[Job], rows: &mut [u32], stride: usize) {
        for (jobs, rows) in jobs.chunks(LANES).zip(rows.chunks_mut(LANES * stride)) {
            if self.access.reports.fault.is_some() {
                return;
            }
            self.shade_warp(jobs);
            self.state.outputs.export(&self.warp, rows, stride);
        }
    }

    /// Puts what the vertices start with into registers.
    fn launch(&mut self, jobs: &[Job]) {
        let program = &self.state.stage.program;
        let live = if jobs.len() == LANES { u32::MAX } else { (1 << jobs.len()) - 1 };
        self.warp.restart(program, live, 0);
        for attribute in &self.state.attributes {
            fetch(attribute, self.state, jobs, &mut self.warp, &mut self.access);
        }
        for (id, value) in [
            (self.state.vertex_id, (|job: &Job| job.index) as fn(&Job) -> u32),
            (self.state.instance_id, |job| job.instance),
            (self.state.vertex_count, |job| job.number),
        ] {
            if let Some(id) = id {
                self.warp.full_mut(id).iter_mut().zip(jobs).for_each(|(lane, job)| *lane = value(job));
            }
        }
    }

    fn shade_warp(&mut self, jobs: &[Job]) {
        self.launch(jobs);
        let fault = self.access.run(&mut self.warp, None);
        self.access.reports.fault = fault.map(|fault| Fault::Shader(format!("vertex {fault}")));
    }

    fn finish(self) -> Reports {
        self.access.finish()
    }
}

impl VertexOutputs {
    /// Puts the outputs of a warp into rows of `stride` words.
    pub fn export(&self, warp: &Warp, rows: &mut [u32], stride: usize) {
        let mut column = |at: usize, values: &Lanes| {
            rows.chunks_exact_mut(stride).zip(values.iter()).for_each(|(row, value)| row[at] = *value);
        };
        for c in 0..4 {
            column(c as usize, warp.full(self.position + c));
        }
        if let Some(id) = self.point_size {
            column(4, warp.full(id));
        }
        for (id, location) in &self.varyings {
            column(HEADER + location, warp.full(*id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_little_endian_of_any_width() {
        assert_eq!(little_endian(&[0x34]), 0x34);
        assert_eq!(little_endian(&[0x34, 0x12]), 0x1234);
        assert_eq!(little_endian(&[0x78, 0x56, 0x34, 0x12]), 0x1234_5678);
    }

    #[test]
    fn slots_are_reused_whether_indices_are_close_or_far_apart() {
        for indices in [[Some(7), Some(9), Some(7)], [Some(0), Some(u32::MAX - 1), Some(0)]] {
            let mut slots = Slots::new(&indices);
            let got = [0, 1, 2].map(|next| slots.get_or_insert(indices[next as usize].expect("set"), next));
            assert_eq!(got, [0, 1, 0]);
            slots.clear();
            assert_eq!(slots.get_or_insert(indices[0].expect("set"), 5), 5);
        }
    }

    #[test]
    fn no_indices_need_no_slots() {
        let mut slots = Slots::new(&[None, None]);
        slots.clear();
        assert!(matches!(slots, Slots::Table { .. } | Slots::Map(_)));
    }
}
