//! What a running shader sees of the rest of the machine.
use a4emu_decoder::guesses::Guess;
use a4emu_decoder::isa::ir3::access::FileReg;

use super::chosen::Chooser;
use super::jit::Texels;
use super::lanes::{Lanes, Mask};
use super::ops::{Op, Plain, Sample};
use super::program::Program;
use super::reach::Reach;

/// The machine around a warp. Whoever launches shaders implements it.
pub trait Environment {
    /// Does `op` for the lanes of `mask`, and leaves its answer in `out`, component by
    /// component. Operands carry all 32 lanes; answers in lanes outside the mask are
    /// ignored. A store or an atomic must act on the lanes of the mask in ascending order,
    /// so that results do not depend on how warps are run.
    ///
    /// # Errors
    /// When there is no such thing here; the warp faults.
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused>;

    /// Does the sample that `request` is, if it is done sooner that way: the answer is that of
    /// [`Environment::perform`], and components that are not asked for keep what they have. False, and nothing
    /// done, if not.
    fn filter(&mut self, request: &Plain<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> bool {
        let _ = (request, mask, out);
        false
    }

    /// The number of the code of `program` that reads some of its textures itself, as they are here
    /// ([`Routine::way`](super::jit::Routine::way)); `None` if there is none, or not all requests of a warp may be made.
    fn way(&mut self, program: &Program) -> Option<usize> {
        let _ = program;
        None
    }

    /// The textures of the requests in that code, one for each.
    fn texels(&self) -> &[Texels<'_>] {
        &[]
    }

    /// The requests in that code are about to be done for so many lanes.
    fn sampled(&mut self, lanes: u64) {
        let _ = lanes;
    }

    /// For each of `locations` what its component is at vertex 0, and what vertices 1 and 2 differ from that
    /// by, in three rows of `frame`. False when one of them is not interpolated; then each is asked for by
    /// [`Op::Varying`].
    fn planes(&mut self, locations: &[u16], frame: &mut [Lanes]) -> bool {
        let _ = (locations, frame);
        false
    }

    /// Whether [`Environment::planes`] has all of `locations`.
    fn has_planes(&mut self, locations: &[u16]) -> bool {
        let _ = locations;
        false
    }

    /// The warp waits at a barrier: those that share it come as far. Alone there is nobody.
    fn barrier(&mut self) {}

    /// Of a program that is watched: what comes next rests on `guess`, and reaches this.
    fn rests_on(&mut self, guess: Guess, reach: Reach) {
        let _ = (guess, reach);
    }

    /// Of a program that is watched: a0.x chooses these registers for `chooser`.
    fn chooses(&mut self, chooser: Chooser, regs: &mut dyn Iterator<Item = FileReg>) {
        let _ = (chooser, regs);
    }

    /// Of a program that is watched: the lanes of `mask` are about to ask for this, which reaches that.
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

    fn way(&mut self, program: &Program) -> Option<usize> {
        (**self).way(program)
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

    fn rests_on(&mut self, guess: Guess, reach: Reach) {
        (**self).rests_on(guess, reach);
    }

    fn chooses(&mut self, chooser: Chooser, regs: &mut dyn Iterator<Item = FileReg>) {
        (**self).chooses(chooser, regs);
    }

    fn samples(&mut self, sample: &Sample<&Lanes>, mask: Mask, reach: Reach) {
        (**self).samples(sample, mask, reach);
    }
}

/// The environment does not have what an operation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// An environment with nothing in it: for programs that only compute.
impl Environment for () {
    fn perform(&mut self, _: &Op<&Lanes>, _: Mask, _: &mut [Lanes; 4]) -> Result<(), Refused> {
        Err(Refused)
    }
}
