//! Observes single fragments while a draw whose shader stores runs, for inspection tools.
//!
//! Loads and atomics of such a fragment depend on all earlier fragments. So the whole draw runs in [memory
//! that is discarded](crate::memory::Memory::overlay), and the tap takes the requested fragments on the way.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::draw::gras::quad::Quad;
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::sp::launch::Worker;
use crate::draw::sp::memory::OwnMemory;
use crate::draw::vpc::interpolate::WarpQuads;
use crate::memory::Memory;
use a4emu_shader::{LANES, QuadRegisters, Warp};

/// Maximum number of results kept per draw.
const MAX_RESULTS: usize = 1 << 12;

/// Request to a tap.
pub enum Wanted {
    /// The results of the fragments at these pixels of the first layer.
    Results(Vec<[i32; 2]>),
    /// The warp with this number, before its first instruction.
    Warp(u32),
    /// The warp of this fragment, before its first instruction.
    Fragment(Fragment),
}

/// A fragment of a draw.
pub struct Fragment {
    /// Pixel of the fragment.
    pub at: [i32; 2],
    /// The vertices of its primitive.
    pub vertices: [u32; 3],
    /// Number of earlier fragments with the same pixel and vertices.
    pub earlier: u32,
    /// The sample, if the shader runs for each.
    pub sample: Option<usize>,
}

/// Result of a fragment.
pub struct Ran {
    /// The vertices of its primitive.
    pub vertices: [u32; 3],
    /// The sample, if the shader runs for each.
    pub sample: Option<usize>,
    /// The registers of its quad at the end.
    pub registers: QuadRegisters,
    /// Index of the instruction that killed the fragment, if any; or the reason why the warp did not finish.
    pub ended: Result<Option<u32>, String>,
}

/// A warp before its first instruction.
pub struct Caught {
    /// The GPU memory at that time.
    pub warp: Warp,
    /// The memory of the GPU at that time.
    pub memory: Memory,
    /// The other memory of the warp.
    pub own: OwnMemory,
    /// Quads of the warp, each with an index into `primitives`.
    pub quads: Vec<Quad>,
    /// The primitives of the quads.
    pub primitives: Vec<ScreenPrimitive>,
    /// The sample, if the shader runs for each.
    pub sample: Option<usize>,
}

/// Results collected so far.
#[derive(Default)]
struct Taken {
    /// Results of each pixel's fragments, in order.
    results: Vec<VecDeque<Ran>>,
    count: usize,
    /// Number of warps or matching fragments seen so far.
    seen: u32,
    caught: Option<Box<Caught>>,
}

/// Takes the requested data of a draw while it runs.
pub struct Tap {
    wanted: Wanted,
    taken: Mutex<Taken>,
}

impl Tap {
    /// Creates a tap for a request.
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, taken: Mutex::default() }
    }

    /// Returns whether the tap observes layer `number` of the targets.
    pub fn is_of_layer(&self, number: u32) -> bool {
        number == 0 || !matches!(self.wanted, Wanted::Results(_))
    }

    /// Runs a started warp of these quads to its end, unless the tap catches it before its first instruction.
    /// Returns whether it finished.
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

    /// Returns the results of the fragments of each pixel, in the order of the pixels.
    pub fn take_results(&self) -> Vec<VecDeque<Ran>> {
        std::mem::take(&mut self.taken.lock().unwrap_or_else(PoisonError::into_inner).results)
    }

    /// Returns the caught warp.
    ///
    /// # Errors
    /// The number of warps or matching fragments seen, if the requested one did not come.
    pub fn take_caught(&self) -> Result<Box<Caught>, u32> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.caught.take().ok_or(taken.seen)
    }
}

/// Returns the lane of the pixel `at` among these quads, if it is covered.
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

    /// Returns whether the warp of these quads is the requested one.
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

    /// Catches the warp and ends the draw.
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

/// Reason for a warp that did not finish without a fault.
const NO_MORE: &str = "the work that the run may do is used up";
