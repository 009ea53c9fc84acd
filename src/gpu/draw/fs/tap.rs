//! Fragments of a draw whose shader stores, taken as the draw runs them: for whoever looks at single ones.
//!
//! What such a fragment loads, and what an atomic gives it, depends on all that ran before it. So the whole draw runs, in
//! [memory that is thrown away](crate::memory::Memory::overlay), and what is wanted is taken on the way.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::draw::gras::quad::Quad;
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::sp::launch::Worker;
use crate::draw::sp::memory::OwnMemory;
use crate::draw::vpc::interpolate::WarpQuads;
use crate::memory::Memory;
use a4emu_shader::{LANES, QuadRegisters, Warp};

/// Results that are kept of a draw.
const MAX_RESULTS: usize = 1 << 12;

/// What is wanted of a draw.
pub enum Wanted {
    /// What the fragments at these pixels of the first layer become.
    Results(Vec<[i32; 2]>),
    /// The warp with this number, before its first instruction.
    Warp(u32),
    /// The warp of this fragment, before its first instruction.
    Fragment(Fragment),
}

/// A fragment of a draw.
pub struct Fragment {
    /// Its pixel.
    pub at: [i32; 2],
    /// The vertices of its primitive.
    pub vertices: [u32; 3],
    /// How many fragments of the same pixel and vertices come before it.
    pub earlier: u32,
    /// The sample, where the shader runs for each.
    pub sample: Option<usize>,
}

/// What a fragment became.
pub struct Ran {
    /// The vertices of its primitive.
    pub vertices: [u32; 3],
    /// The sample, where the shader runs for each.
    pub sample: Option<usize>,
    /// The registers of its quad at the end.
    pub registers: QuadRegisters,
    /// The instruction that killed it, if one did; or why the warp came to no end.
    pub ended: Result<Option<u32>, String>,
}

/// A warp before its first instruction.
pub struct Caught {
    /// Its registers.
    pub warp: Warp,
    /// The memory of the GPU at that time.
    pub memory: Memory,
    /// What it has besides.
    pub own: OwnMemory,
    /// Its quads, each with the primitive of its number.
    pub quads: Vec<Quad>,
    /// The primitives of the quads.
    pub primitives: Vec<ScreenPrimitive>,
    /// The sample, where the shader runs for each.
    pub sample: Option<usize>,
}

/// What has been taken so far.
#[derive(Default)]
struct Taken {
    /// Of each pixel, in their order: its fragments, in theirs.
    results: Vec<VecDeque<Ran>>,
    count: usize,
    /// Warps, or fragments like the one that is wanted, that have come.
    seen: u32,
    caught: Option<Box<Caught>>,
}

/// Takes what is wanted of a draw while that runs.
pub struct Tap {
    wanted: Wanted,
    taken: Mutex<Taken>,
}

impl Tap {
    /// Waits for what is wanted.
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, taken: Mutex::default() }
    }

    /// Whether it wants anything of layer `number` of the targets.
    pub fn is_of_layer(&self, number: u32) -> bool {
        number == 0 || !matches!(self.wanted, Wanted::Results(_))
    }

    /// Runs the warp of these quads, which `worker` has started, to its end, unless that is wanted before its first
    /// instruction. Says whether it came to its end.
    pub fn finish(&self, worker: &mut Worker<'_>, pieces: &WarpQuads<'_>, sample: Option<usize>) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.wanted {
            Wanted::Results(pixels) => taken.results(pixels, worker, pieces, sample),
            wanted => match taken.is_next(wanted, pieces, sample) {
                true => taken.catch(worker, pieces, sample),
                false => worker.finish(Some(pieces)),
            },
        }
    }

    /// What the fragments of each pixel became, in the order of the pixels.
    pub fn take_results(&self) -> Vec<VecDeque<Ran>> {
        std::mem::take(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner).results)
    }

    /// The warp that was wanted, or how many there were without it.
    ///
    /// # Errors
    /// It did not come.
    pub fn take_caught(&self) -> Result<Box<Caught>, u32> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.caught.take().ok_or(taken.seen)
    }
}

/// The lane of the pixel `at` among these quads, if it is covered there.
fn lane_of(quads: &[Quad], at: [i32; 2]) -> Option<usize> {
    let corner = (at[0] & 1) as usize + 2 * (at[1] & 1) as usize;
    let has_it = |quad: &Quad| [quad.x, quad.y] == at.map(|at| at & !1) && quad.mask >> corner & 1 != 0;
    quads.iter().position(has_it).map(|quad| 4 * quad + corner)
}

impl Taken {
    fn results(
        &mut self,
        pixels: &[[i32; 2]],
        worker: &mut Worker<'_>,
        pieces: &WarpQuads<'_>,
        sample: Option<usize>,
    ) -> bool {
        let lanes = pixels.iter().map(|at| lane_of(&pieces.quads, *at)).enumerate();
        let lanes: Vec<(usize, usize)> = lanes.filter_map(|(pixel, lane)| Some((pixel, lane?))).collect();
        if lanes.is_empty() || self.count >= MAX_RESULTS {
            return worker.finish(Some(pieces));
        }
        let mut killed = [None; LANES];
        let has_ended = worker.finish_stepwise(Some(pieces), |warp, instruction| {
            for (_, lane) in &lanes {
                if warp.killed() >> lane & 1 != 0 {
                    killed[*lane] = killed[*lane].or(instruction);
                }
            }
        });
        self.results.resize_with(pixels.len(), VecDeque::new);
        for (pixel, lane) in lanes {
            let why =
                || worker.memory.log.fault.map_or_else(|| NO_MORE.to_owned(), |fault| fault.to_string());
            let ended = if has_ended { Ok(killed[lane]) } else { Err(why()) };
            let vertices = pieces.primitive(&pieces.quads[lane / 4]).vertices;
            let registers = worker.warp.quad(lane & !3);
            self.results[pixel].push_back(Ran { vertices, sample, registers, ended });
            self.count += 1;
        }
        has_ended
    }

    /// Whether the warp of these quads is the one that is wanted.
    fn is_next(&mut self, wanted: &Wanted, pieces: &WarpQuads<'_>, sample: Option<usize>) -> bool {
        let (is_like_it, number) = match wanted {
            Wanted::Results(_) => (false, 0),
            Wanted::Warp(number) => (true, *number),
            Wanted::Fragment(it) => {
                let lane = lane_of(&pieces.quads, it.at).filter(|_| sample == it.sample);
                let primitive = lane.map(|lane| pieces.primitive(&pieces.quads[lane / 4]));
                (primitive.is_some_and(|primitive| primitive.vertices == it.vertices), it.earlier)
            }
        };
        self.seen += u32::from(is_like_it);
        is_like_it && self.seen == number.saturating_add(1)
    }

    /// Takes the warp; the draw ends there.
    fn catch(&mut self, worker: &mut Worker<'_>, pieces: &WarpQuads<'_>, sample: Option<usize>) -> bool {
        let numbered = (0..).zip(&*pieces.quads).map(|(primitive, quad)| Quad { primitive, ..*quad });
        self.caught = Some(Box::new(Caught {
            warp: worker.warp.clone(),
            memory: worker.memory.gpu.get().overlay(),
            own: worker.memory.own(),
            quads: numbered.collect(),
            primitives: pieces.quads.iter().map(|quad| pieces.primitive(quad).clone()).collect(),
            sample,
        }));
        worker.stop();
        false
    }
}

/// Why a warp came to no end that did nothing wrong.
const NO_MORE: &str = "the work that the run may do is used up";
