//! Compares memory that earlier draws rendered and later draws read.
//!
//! If the draws that rendered it are equal, and all that they read is equal, the result is equal. If not,
//! that difference is reported already. A comparison of state cannot see two cases: contents of a target
//! that its draws did not write, and memory far from a pointer. So if no difference was found, both captures
//! are rendered and compared.

use super::align::Pair;
use super::compare::{Comparison, Unread};
use super::contents::resolve;
use super::player::Player;
use super::side::{Side, hash};
use super::visit::{Look, Play, visit};
use crate::describe::{Draw, Read};
use a4emu_gpu::gpu::Gpu;
use a4emu_support::options::Shared;
use a4emu_support::status::Status;

/// Adds differences in rendered memory to a `comparison` that has found none so far.
///
/// # Errors
/// The call fails if a capture can no longer be opened.
pub fn compare(
    comparison: &mut Comparison,
    pairs: &[Pair],
    players: &mut [Player; 2],
    sides: [&Side; 2],
    shared: &Shared,
) -> anyhow::Result<Status> {
    if !comparison.found.is_empty() {
        return Ok(Status::Fine);
    }
    let read: Vec<Unread> = pairs.iter().flat_map(|pair| rendered(*pair, sides)).collect();
    if read.is_empty() {
        return Ok(Status::Fine);
    }
    let (mut status, mut hashes) = (Status::Fine, Vec::new());
    for (side, player) in players.iter_mut().enumerate() {
        let (gpu, found) = visit(Hasher, Play::Rendered, &read, (player, sides[side]), side, shared)?;
        if gpu.report.troubles.first_cut().is_some() {
            status = status.worse(shared.tell(&player.capture().name().display().to_string(), &gpu.report));
        }
        hashes.push(found);
    }
    let both = hashes[0].iter().zip(&hashes[1]);
    let differs = both.map(|(a, b)| a.is_some() && b.is_some() && a != b);
    comparison.unread =
        read.into_iter().zip(differs).filter_map(|(read, differs)| differs.then_some(read)).collect();
    resolve(comparison, Play::Rendered, players, sides, shared)?;
    Ok(status)
}

/// Computes hashes.
struct Hasher;

impl Look for Hasher {
    type Found = u64;

    fn look(&mut self, gpu: &mut Gpu, _: &Draw, read: &Read) -> Option<u64> {
        hash(gpu, read)
    }
}

/// The ranges that both commands of `pair` fetch and that were rendered before.
fn rendered(pair: Pair, sides: [&Side; 2]) -> Vec<Unread> {
    let Pair::Both(a, b) = pair else { return Vec::new() };
    let [old, new] = [&sides[0].commands[a], &sides[1].commands[b]];
    let read = old.fetched.iter().enumerate().filter_map(|(at, one)| {
        let found = new.fetched.iter().position(|other| other.read.what == one.read.what)?;
        let is_rendered = one.is_rendered || new.fetched[found].is_rendered;
        is_rendered.then_some(Unread { pair, index: [at, found], at: 0, is_rendered })
    });
    read.collect()
}
