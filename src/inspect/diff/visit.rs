//! Runs a capture and looks at the ranges that some draws fetch.

use a4emu_decoder::adreno::address::Address;
use std::collections::{BTreeMap, BTreeSet};

use super::compare::Unread;
use super::player::Player;
use super::side::{Side, reads};
use crate::describe::{Draw, Read, Shaders};
use a4emu_gpu::cp::{Call, Engine, Flow, Renderer, Silent, Skip};
use a4emu_gpu::gpu::Gpu;
use a4emu_support::options::Shared;

/// Whether draws run in a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// No draw runs: memory holds the bytes of the capture.
    Captured,
    /// All draws run: memory holds what they render.
    Rendered,
}

/// A callback for a fetched range.
pub trait Look {
    /// The result of the callback.
    type Found;

    /// The result for `read` of `draw`, if any.
    fn look(&mut self, gpu: &mut Gpu, draw: &Draw, read: &Read) -> Option<Self::Found>;
}

/// Results by number of the run and index of the fetched range.
type Found<T> = BTreeMap<(u32, usize), T>;

/// Looks at all ranges of `unread` in capture `side`. Returns the chip after the run, and the result for
/// each range.
///
/// # Errors
/// The call fails if the capture can no longer be opened.
pub fn visit<L: Look>(
    look: L,
    play: Play,
    unread: &[Unread],
    (player, commands): (&mut Player, &Side),
    side: usize,
    shared: &Shared,
) -> anyhow::Result<(Gpu, Vec<Option<L::Found>>)> {
    let place = |it: &Unread| {
        let index = if side == 0 { it.pair.a() } else { it.pair.b() };
        Some((commands.commands.get(index?)?.draw.draw, it.index[side]))
    };
    let mut wanted: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for (number, index) in unread.iter().filter_map(place) {
        wanted.entry(number).or_default().insert(index);
    }
    let (found, skip, shaders) = Default::default();
    let mut visitor = Visitor { look, play, wanted, found, skip, shaders };
    let gpu = player.run(&mut visitor, &mut Silent, shared)?;
    let found = unread.iter().map(|it| visitor.found.remove(&place(it)?)).collect();
    Ok((gpu, found))
}

struct Visitor<L: Look> {
    look: L,
    play: Play,
    wanted: BTreeMap<u32, BTreeSet<usize>>,
    found: Found<L::Found>,
    skip: Skip,
    shaders: Shaders,
}

impl<L: Look> Engine for Visitor<L> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if let Some(wanted) = self.wanted.remove(&call.number()) {
            gpu.settle();
            let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
            let reads = reads(&draw, gpu.sync());
            for index in wanted {
                let found = reads.get(index).and_then(|read| self.look.look(gpu, &draw, read));
                self.found.extend(found.map(|found| ((call.number(), index), found)));
            }
        }
        match self.play {
            _ if self.wanted.is_empty() => Flow::Stop,
            Play::Captured => self.skip.run(gpu, call),
            Play::Rendered => Renderer.run(gpu, call),
        }
    }

    fn is_stale(&self, address: Address) -> bool {
        self.skip.is_stale(address)
    }

    fn mark_stale(&mut self, address: Address, bytes: u32) {
        self.skip.mark_stale(address, bytes);
    }
}
