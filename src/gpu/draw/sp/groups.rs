//! The launcher of workgroups. They run in order, or as if they did: side by side, where none reads what another one stored.

use std::ops::Range;

use super::journal::Journal;
use super::launch::{Done, Launched, Threads, Worker, in_order, launch_reading, note_textures};
use super::log::ShaderLog;
use super::memory::GpuMemory;
use super::state::StageState;
use crate::budget::{Budget, Ends, Work};
use crate::limits::CHUNK_INSTRUCTIONS;
use crate::memory::Memory;
use crate::parallel::{self, Helpers};

/// Id of a workgroup.
type Group = [u32; 3];

/// Chunks for each thread that run before their stores are made.
const CHUNKS_PER_THREAD: u64 = 4;

/// Runs `work` for each of the `count` workgroups `groups`, until one faults or the budget is used up.
pub fn launch_groups(
    stage: &StageState,
    memory: &mut Memory,
    budget: &mut Budget,
    count: u64,
    mut groups: impl Iterator<Item = Group>,
    work: impl Fn(&mut Worker<'_>, Group) + Sync,
) -> ShaderLog {
    if stage.only_reads() {
        return launch_reading(stage, memory, budget, Threads::This, groups, work).log;
    }
    let (mut launched, mut used) = (Launched::default(), 0);
    let mut left = Vec::new();
    if parallel::has_other_threads() && !stage.is_observed() {
        // The first group tells how much work there is.
        used = in_order(stage, memory, budget, groups.by_ref().take(1), &work, &mut launched);
        left = side_by_side(stage, memory, budget, count, &mut groups, &work, &mut launched);
    }
    if !launched.is_over(budget) {
        used |= in_order(stage, memory, budget, left.into_iter().chain(groups), &work, &mut launched);
    }
    note_textures(&stage.textures.bind(memory), used, stage, &mut launched.log);
    launched.log
}

/// Runs groups side by side for as long as that gives what running them in order gives, and as it pays. Returns those that were
/// taken from `groups` and have to run next, in order.
fn side_by_side(
    stage: &StageState,
    memory: &mut Memory,
    budget: &mut Budget,
    count: u64,
    groups: &mut impl Iterator<Item = Group>,
    work: &(impl Fn(&mut Worker<'_>, Group) + Sync),
    launched: &mut Launched<()>,
) -> Vec<Group> {
    let ends = budget.ends();
    while !launched.is_over(budget) {
        let ran = launched.results.len() as u64;
        let (left, each) = (count - ran, (launched.log.work.instructions / ran.max(1)).max(1));
        if each.saturating_mul(left) < 2 * CHUNK_INSTRUCTIONS {
            break;
        }
        let size = (CHUNK_INSTRUCTIONS / each).max(1);
        let chunks = (CHUNKS_PER_THREAD * parallel::threads() as u64).min(left.div_ceil(size));
        let next = |_| groups.by_ref().take(size as usize).collect::<Vec<_>>();
        let chunks = (0..chunks).map(next).collect::<Vec<_>>();
        let done = run_chunks(stage, memory, &ends, budget.share(Work::Copy16, 1), chunks.clone(), work);
        let left = settle(done, &chunks, memory, budget, launched);
        if !left.is_empty() {
            return left;
        }
    }
    Vec::new()
}

/// A chunk of groups that ran.
struct Ran {
    /// For each group that ran: its result, and its stores.
    groups: Vec<(Done<()>, Range<usize>)>,
    journal: Journal,
}

/// Runs chunks of groups, of which each may cost `share` units.
fn run_chunks(
    stage: &StageState,
    memory: &Memory,
    ends: &Option<Ends>,
    share: u64,
    chunks: Vec<Vec<Group>>,
    work: &(impl Fn(&mut Worker<'_>, Group) + Sync),
) -> Vec<Ran> {
    let begin = || Worker::new(stage, GpuMemory::Journaled(memory, Box::default())).until(ends);
    parallel::each_with(chunks, Helpers::TakeFirst, begin, |worker, chunk| {
        let mut groups = Vec::with_capacity(chunk.len());
        for group in chunk {
            let first = worker.memory.journal().map_or(0, Journal::begin_group);
            let done = worker.job(group, share, work);
            let (end, is_given_up) =
                worker.memory.journal().map_or((first, true), |it| (it.count(), it.is_given_up()));
            let ends = done.ends() || is_given_up;
            groups.push((done, first..end));
            if ends {
                break;
            }
        }
        Ran { groups, journal: worker.memory.take_journal() }
    })
}

/// Makes the stores of chunks, and charges their cost. Returns the groups from the first one on that did not do what it does
/// in order.
fn settle(
    ran: Vec<Ran>,
    chunks: &[Vec<Group>],
    memory: &mut Memory,
    budget: &mut Budget,
    launched: &mut Launched<()>,
) -> Vec<Group> {
    let mut written = Vec::new();
    for (number, Ran { groups, journal }) in ran.into_iter().enumerate() {
        let from = |group: usize| {
            let rest = chunks[number + 1..].iter().flatten();
            chunks[number][group..].iter().chain(rest).copied().collect::<Vec<_>>()
        };
        if !journal.holds(&written) {
            return from(0);
        }
        for (index, (mut done, stores)) in groups.into_iter().enumerate() {
            if !done.fits(budget.share(Work::Copy16, 1)) {
                return from(index);
            }
            journal.make(stores, memory, &mut done.log);
            launched.add(done, budget);
            if launched.is_over(budget) {
                return Vec::new();
            }
        }
        journal.add_written(&mut written);
    }
    Vec::new()
}
