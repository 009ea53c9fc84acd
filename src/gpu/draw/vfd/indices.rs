//! Indices of a draw, and the list of vertices to shade.

use std::ops::Range;

use crate::draw::call::IndexSource;
use crate::draw::vertices::RESTART;
use crate::fault::{Client, Miss, Missing};
use crate::memory::{Memory, little_endian};
use a4emu_shader::LANES;

use super::state::{Counting, FetchState};

/// One vertex to shade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexJob {
    /// Index as fetched.
    pub index: u32,
    /// Instance from 0.
    pub instance: u32,
    /// Value of the vertex-number register.
    pub number: u32,
}

impl VertexJob {
    /// Creates a vertex of a draw with one instance and no index list.
    fn alone(index: u32) -> Self {
        Self { index, instance: 0, number: index }
    }
}

/// Returns a range of the indices of one instance; [`None`] is a restart.
pub fn fetch_indices(
    state: &FetchState,
    range: Range<u32>,
    memory: &Memory,
    missing: &mut Missing,
) -> Vec<Option<u32>> {
    let keep = |index: u32| (state.restart != Some(index)).then_some(index);
    match &state.indices {
        IndexSource::Auto => range.map(Some).collect(),
        IndexSource::Immediate(indices) => {
            range.map(|i| keep(indices.get(i as usize).copied().unwrap_or(0))).collect()
        }
        IndexSource::Memory { base, size, width, first } => {
            let start = (u64::from(*first) + u64::from(range.start)) * u64::from(*width);
            let wanted = range.len() as u64 * u64::from(*width);
            let readable = u64::from(*size).saturating_sub(start).min(wanted);
            let address = memory.behind(*base, start);
            let list = |bytes: &[u8]| {
                bytes.chunks_exact((*width).max(1) as usize).map(|b| keep(little_endian(b))).collect()
            };
            if readable == wanted
                && let Some(bytes) = memory.slice(address, wanted as usize)
            {
                return list(bytes);
            }
            let mut bytes = vec![0; wanted as usize];
            if !memory.read(address, &mut bytes[..readable as usize]) {
                missing.note(Miss { client: Client::Index, address, len: readable as u32 });
            }
            list(&bytes)
        }
    }
}

/// The vertices to shade of a draw.
pub enum VertexJobs {
    /// This many consecutive vertices of one instance.
    InOrder(u32),
    /// A list of vertices.
    Listed(Vec<VertexJob>),
}

impl VertexJobs {
    /// Returns the number of vertices.
    pub fn count(&self) -> usize {
        match self {
            Self::InOrder(count) => *count as usize,
            Self::Listed(jobs) => jobs.len(),
        }
    }

    /// Returns the vertices in `range`, at most one warp. `room` is a buffer for them.
    pub fn warp<'a>(&'a self, range: Range<usize>, room: &'a mut [VertexJob; LANES]) -> &'a [VertexJob] {
        match self {
            Self::Listed(jobs) => &jobs[range],
            Self::InOrder(_) => {
                let room = &mut room[..range.len()];
                room.iter_mut()
                    .zip(range.start as u32..)
                    .for_each(|(job, index)| *job = VertexJob::alone(index));
                room
            }
        }
    }

    /// Returns all vertices.
    pub fn all(self) -> Vec<VertexJob> {
        match self {
            Self::InOrder(count) => (0..count).map(VertexJob::alone).collect(),
            Self::Listed(jobs) => jobs,
        }
    }
}

/// Returns the vertices and the drawing order of a draw with one instance and no index list: all in order.
pub fn in_order(count: u32) -> (VertexJobs, Vec<u32>) {
    (VertexJobs::InOrder(count), (0..count).collect())
}

/// Number of vertices in the reuse buffer. Guess `vertex-reuse` (docs/hardware/board-a420.md, B1): the
/// board's failures show that it keeps some vertices, not how many. A shader that does not count vertices
/// cannot see it.
const REUSED: u32 = 16;

/// Returns the vertices of these instances and the drawing order as indices to them. Each vertex of an
/// instance is shaded once, but a shader that counts vertices sees as many as the chip shades.
pub fn jobs(
    state: &FetchState,
    indices: &[Option<u32>],
    instances: Range<u32>,
) -> (Vec<VertexJob>, Vec<u32>) {
    if instances.len() == 1 && are_ascending(indices) {
        // No vertex repeats, as in a draw without an index list.
        let list: Vec<u32> = (0..indices.len() as u32).collect();
        let instance = instances.start;
        let job = |(index, number): (&Option<u32>, &u32)| {
            let index = index.expect("the list never restarts");
            VertexJob { index, instance, number: *number }
        };
        return (indices.iter().zip(&list).map(job).collect(), list);
    }
    let mut slots = Slots::new(indices);
    let mut jobs = Vec::with_capacity(slots.most().min(indices.len()));
    let mut list = Vec::with_capacity(indices.len() * instances.len());
    let mut listed = 0;
    for instance in instances.clone() {
        let first = jobs.len() as u32;
        if instance > instances.start {
            list.push(RESTART);
        }
        slots.clear();
        for index in indices {
            let Some(index) = *index else {
                list.push(RESTART);
                continue;
            };
            let next = jobs.len() as u32;
            let (oldest, number) = match state.counting {
                Counting::Shaded => (next.saturating_sub(REUSED), next - first),
                Counting::Listed => (next, listed),
            };
            let oldest = if state.vertex_count.is_some() { oldest } else { 0 };
            let slot = slots.get_or_insert(index, next, oldest);
            if slot == next {
                jobs.push(VertexJob { index, instance, number });
            }
            listed += 1;
            list.push(slot);
        }
    }
    (jobs, list)
}

/// Returns whether the indices increase strictly, without restarts.
fn are_ascending(indices: &[Option<u32>]) -> bool {
    let is_next = |pair: &[Option<u32>; 2]| pair[0] < pair[1];
    indices.first().is_none_or(Option::is_some) && indices.array_windows().all(is_next)
}

/// Map from index to slot: a table when the indices are close together, else a hash map.
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

    /// Returns an upper limit on the number of slots, as far as it is known.
    fn most(&self) -> usize {
        match self {
            Self::Table { slots, .. } => slots.len(),
            Self::Map(_) => usize::MAX,
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Table { slots, .. } => slots.fill(u32::MAX),
            Self::Map(map) => map.clear(),
        }
    }

    /// Returns the slot of `index`. Assigns `new` if it has none, or one older than `oldest`.
    fn get_or_insert(&mut self, index: u32, new: u32, oldest: u32) -> u32 {
        let slot = match self {
            Self::Table { least, slots } => &mut slots[(index - *least) as usize],
            Self::Map(map) => map.entry(index).or_insert(u32::MAX),
        };
        if *slot == u32::MAX || *slot < oldest {
            *slot = new;
        }
        *slot
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::adreno::address::Address;

    use super::*;

    #[test]
    fn slots_are_reused_whether_indices_are_close_or_far_apart() {
        for indices in [[Some(7), Some(9), Some(7)], [Some(0), Some(u32::MAX - 1), Some(0)]] {
            let mut slots = Slots::new(&indices);
            let got =
                [0, 1, 2].map(|next| slots.get_or_insert(indices[next as usize].expect("set"), next, 0));
            assert_eq!(got, [0, 1, 0]);
            slots.clear();
            assert_eq!(slots.get_or_insert(indices[0].expect("set"), 5, 0), 5);
        }
    }

    /// Several instances do not use the fast path.
    #[test]
    fn an_ascending_list_is_what_any_list_is() {
        let lists: [&[Option<u32>]; 6] = [
            &[Some(3), Some(7), Some(8)],
            &[Some(3), Some(7), Some(7)],
            &[Some(7), Some(3), Some(8)],
            &[None, Some(3), Some(7)],
            &[Some(3), None, Some(7)],
            &[Some(3), Some(7), None],
        ];
        for (list, counting) in
            lists.into_iter().flat_map(|l| [Counting::Shaded, Counting::Listed].map(|c| (l, c)))
        {
            for vertex_count in [None, Some(0)] {
                let state = FetchState { vertex_count, counting, ..FetchState::default() };
                let (alone, order) = jobs(&state, list, 5..6);
                let (all, order_of_all) = jobs(&state, list, 5..7);
                assert_eq!(alone[..], all[..all.len() / 2], "{list:?}");
                assert_eq!(order[..], order_of_all[..list.len()], "{list:?}");
            }
        }
    }

    #[test]
    fn a_draw_without_a_list_shades_what_its_indices_say() {
        for count in [0, 1, 33] {
            let state = FetchState { indices: IndexSource::Auto, ..FetchState::default() };
            let mut missing = Missing::default();
            let indices = fetch_indices(&state, 0..count, &Memory::new(), &mut missing);
            let ((all, list), listed) = (in_order(count), jobs(&state, &indices, 0..1));
            let mut room = [VertexJob::default(); LANES];
            let warps = (0..all.count()).step_by(LANES).map(|first| first..all.count().min(first + LANES));
            let warps: Vec<VertexJob> = warps.flat_map(|range| all.warp(range, &mut room).to_vec()).collect();
            assert_eq!((warps, list), listed, "{count}");
            assert_eq!(all.all(), listed.0, "{count}");
        }
    }

    #[test]
    fn indices_beyond_the_buffer_are_0() {
        let mut memory = Memory::new();
        memory.announce(0x1000, 8, Some(&[1, 0, 2, 0, 3, 0, 4, 0]));
        for (size, last) in [(8, Some(4)), (6, Some(0))] {
            let indices = IndexSource::Memory { base: Address::new(0x1000), size, width: 2, first: 1 };
            let state = FetchState { indices, ..FetchState::default() };
            let mut missing = Missing::default();
            let got = fetch_indices(&state, 0..3, &memory, &mut missing);
            assert_eq!(got, [Some(2), Some(3), last]);
            assert_eq!(missing, Missing::default());
        }
    }

    #[test]
    fn a_list_of_nothing_but_restarts_shades_nothing() {
        let indices = IndexSource::Immediate(vec![7, 7]);
        let state = FetchState { count: 2, instances: 2, indices, restart: Some(7), ..FetchState::default() };
        let indices = fetch_indices(&state, 0..state.count, &Memory::new(), &mut Missing::default());
        assert_eq!(jobs(&state, &indices, 0..state.instances), (Vec::new(), vec![RESTART; 5]));
    }

    #[test]
    fn a_vertex_is_shaded_once_an_instance_unless_each_entry_counts() {
        let indices = IndexSource::Immediate(vec![4, 5, 4]);
        let state = FetchState { count: 3, instances: 2, indices, ..FetchState::default() };
        let indices = fetch_indices(&state, 0..state.count, &Memory::new(), &mut Missing::default());
        let (vertices, list) = jobs(&state, &indices, 0..state.instances);
        assert_eq!(list, [0, 1, 0, RESTART, 2, 3, 2]);
        let of = |index, instance, number| VertexJob { index, instance, number };
        assert_eq!(vertices, [of(4, 0, 0), of(5, 0, 1), of(4, 1, 0), of(5, 1, 1)]);
        let board = FetchState { vertex_count: Some(0), ..state };
        assert_eq!(
            jobs(&board, &indices, 0..board.instances),
            (vertices, list),
            "a board cannot be told to count"
        );
        let strict = FetchState { counting: Counting::Listed, ..board };
        let (vertices, list) = jobs(&strict, &indices, 0..strict.instances);
        assert_eq!(list, [0, 1, 2, RESTART, 3, 4, 5]);
        assert_eq!(vertices.iter().map(|job| job.number).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_counted_vertex_is_forgotten_after_sixteen_others() {
        let shaded = |others: u32| {
            let list: Vec<u32> = (0..=others).chain([0]).collect();
            let count = list.len() as u32;
            let indices = IndexSource::Immediate(list);
            let counts = Some(0);
            let state =
                FetchState { count, instances: 1, indices, vertex_count: counts, ..FetchState::default() };
            let indices = fetch_indices(&state, 0..state.count, &Memory::new(), &mut Missing::default());
            jobs(&state, &indices, 0..state.instances).0.len() as u32
        };
        assert_eq!((shaded(15), shaded(16)), (16, 18));
    }
}
