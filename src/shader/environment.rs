//! The interface from a running shader to the rest of the machine.
use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::guesses::Guess;

use super::chosen::Chooser;
use super::doubt::Reach;
use super::jit::{Routine, Texels};
use super::lanes::{Lanes, Mask};
use super::lowered::Lowered;
use super::ops::{Op, Plain, Sample};
use super::warp::Warp;

/// The machine around a warp. The code that launches shaders implements it.
pub trait Environment {
    /// Does `op` for the lanes of `mask`, and stores its result in `out`, component by component. Operands
    /// carry all 32 lanes; results in lanes outside the mask are ignored. A store or an atomic must act on
    /// the lanes of the mask in ascending order. Otherwise results depend on how warps run.
    ///
    /// # Errors
    /// The environment does not support `op`. The warp faults.
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused>;

    /// Does the sample `request` by a fast path, if there is one. The result is that of
    /// [`Environment::perform`]; components that are not requested stay unchanged. Returns false, and does
    /// nothing, if there is no fast path.
    fn filter(&mut self, request: &Plain<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> bool {
        let _ = (request, mask, out);
        false
    }

    /// The number of the code of `program`, compiled to `routine`, that samples some of its current textures itself
    /// ([`Routine::way`]). `None` if there is none, or if the budget does not cover
    /// all samples of a warp.
    fn way(&mut self, routine: &Routine, program: &Lowered) -> Option<usize> {
        let _ = (routine, program);
        None
    }

    /// The textures of the samples in that code, one for each sample.
    fn texels(&self) -> &[Texels<'_>] {
        &[]
    }

    /// Notes that the code is about to do its samples for `lanes` lanes.
    fn sampled(&mut self, lanes: u64) {
        let _ = lanes;
    }

    /// Stores the plane of each of `locations` in three rows of `frame`: its component at vertex 0, and the
    /// differences of vertices 1 and 2 from it. Returns false if one of them is not interpolated; then each
    /// is read by [`Op::Varying`].
    fn planes(&mut self, locations: &[u16], frame: &mut [Lanes]) -> bool {
        let _ = (locations, frame);
        false
    }

    /// Whether [`Environment::planes`] supports all of `locations`.
    fn has_planes(&mut self, locations: &[u16]) -> bool {
        let _ = locations;
        false
    }

    /// Notes that the warp waits at a barrier. The other warps of its group then run up to it.
    fn barrier(&mut self) {}

    /// Runs the other warps of the wave of `warp` until that one can go on.
    fn wave(&mut self, warp: &mut Warp) {
        let _ = warp;
    }

    /// The byte of global memory at `address`, for a debugger. `None` if it is not known. This is no access of the program.
    fn peek(&self, address: u64) -> Option<u8> {
        let _ = address;
        None
    }

    /// In a watched program: notes that the next operation rests on `guess`, with its reach.
    fn note_guess(&mut self, guess: Guess, reach: Reach) {
        let _ = (guess, reach);
    }

    /// In a watched program: notes that a0.x selects these registers for `chooser`.
    fn chooses(&mut self, chooser: Chooser, regs: &mut dyn Iterator<Item = FileReg>) {
        let _ = (chooser, regs);
    }

    /// In a watched program: notes that the lanes of `mask` are about to sample, with the reach of the
    /// result.
    fn samples(&mut self, sample: &Sample<&Lanes>, mask: Mask, reach: Reach) {
        let _ = (sample, mask, reach);
    }
}

impl<E: Environment + ?Sized> Environment for &mut E {
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        (**self).perform(op, mask, out)
    }

    fn filter(&mut self, request: &Plain<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> bool {
        (**self).filter(request, mask, out)
    }

    fn way(&mut self, routine: &Routine, program: &Lowered) -> Option<usize> {
        (**self).way(routine, program)
    }

    fn texels(&self) -> &[Texels<'_>] {
        (**self).texels()
    }

    fn sampled(&mut self, lanes: u64) {
        (**self).sampled(lanes);
    }

    fn planes(&mut self, locations: &[u16], frame: &mut [Lanes]) -> bool {
        (**self).planes(locations, frame)
    }

    fn has_planes(&mut self, locations: &[u16]) -> bool {
        (**self).has_planes(locations)
    }

    fn barrier(&mut self) {
        (**self).barrier();
    }

    fn wave(&mut self, warp: &mut Warp) {
        (**self).wave(warp);
    }

    fn peek(&self, address: u64) -> Option<u8> {
        (**self).peek(address)
    }

    fn note_guess(&mut self, guess: Guess, reach: Reach) {
        (**self).note_guess(guess, reach);
    }

    fn chooses(&mut self, chooser: Chooser, regs: &mut dyn Iterator<Item = FileReg>) {
        (**self).chooses(chooser, regs);
    }

    fn samples(&mut self, sample: &Sample<&Lanes>, mask: Mask, reach: Reach) {
        (**self).samples(sample, mask, reach);
    }
}

/// The environment does not support an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// An empty environment, for programs that only compute.
impl Environment for () {
    fn perform(&mut self, _: &Op<&Lanes>, _: Mask, _: &mut [Lanes; 4]) -> Result<(), Refused> {
        Err(Refused)
    }
}
