//! What earlier draws rendered, where it is read.
//!
//! If the draws that made it are the same and all that they read is, so is what they made; and where something else
//! differs, that has been told. What is left is what no comparison of state sees: contents of a target that its draws
//! left alone, memory far behind a pointer. So that "the same" is true, both captures run then.

use super::align::Pair;
use super::compare::{Comparison, Unread};
use super::contents::{Play, rendered_hashes, resolve};
use super::player::Player;
use super::side::Side;
use crate::options::Shared;
use crate::status::Status;

/// Adds what differs in what was rendered to a `comparison` that has found nothing so far.
///
/// # Errors
/// A capture can no longer be opened.
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
    let (hashes, status) = rendered_hashes(&read, players, sides, shared)?;
    let differs = |[a, b]: [Option<u64>; 2]| a.is_some() && b.is_some() && a != b;
    let unread = read.into_iter().zip(hashes).filter(|(_, hashes)| differs(*hashes));
    comparison.unread = unread.map(|(read, _)| read).collect();
    resolve(comparison, Play::Rendered, players, sides, shared)?;
    Ok(status)
}

/// What both commands of `pair` fetch that was rendered before.
fn rendered(pair: Pair, sides: [&Side; 2]) -> Vec<Unread> {
    let Pair::Both(a, b) = pair else { return Vec::new() };
    let [old, new] = [&sides[0].commands[a], &sides[1].commands[b]];
    let read = old.fetched.iter().enumerate().filter_map(|(at, one)| {
        let found = new.fetched.iter().position(|other| other.read.what == one.read.what)?;
        let is_rendered = one.is_rendered || new.fetched[found].is_rendered;
        is_rendered.then_some(Unread { pair, index: [at, found], at: 0 })
    });
    read.collect()
}
