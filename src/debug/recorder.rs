//! Records the results of memory and texture operations, so that a repeated stretch of a program runs
//! identically.

use super::access::Access;
use a4emu_shader::{Environment, Lanes, Mask, Op, Refused, Warp};

/// Maximum number of kept results. Without a limit, long runs would fill memory.
pub const MAX_ANSWERS: usize = 1 << 17;

/// An environment that performs each operation once and replays its result afterwards. So a repeated stretch
/// stores nothing again, and its loads return the first values.
pub struct Recorder<'a> {
    machine: &'a mut dyn Environment,
    answers: Vec<(Result<(), Refused>, [Lanes; 4])>,
    next: usize,
    /// The last operation.
    pub last: Option<Box<Access>>,
}

impl<'a> Recorder<'a> {
    /// Makes a recorder around `machine`.
    pub fn new(machine: &'a mut dyn Environment) -> Self {
        Self { machine, answers: Vec::new(), next: 0, last: None }
    }

    /// Number of operations so far.
    pub fn position(&self) -> usize {
        self.next
    }

    /// Goes back to the place after `position` operations.
    pub fn rewind(&mut self, position: usize) {
        self.next = position;
        self.last = None;
    }

    /// Whether no more results are kept.
    pub fn is_full(&self) -> bool {
        self.answers.len() >= MAX_ANSWERS
    }

    /// Drops all results. After that, no step can go back before this place.
    pub fn forget(&mut self) {
        self.answers.clear();
        self.next = 0;
    }
}

/// Whether an operation has an equal result at any time.
fn is_pure(op: &Op<&Lanes>) -> bool {
    match op {
        Op::Varying(_) | Op::FlatVarying { .. } | Op::ImageSize { .. } | Op::Query(_) => true,
        Op::Load { .. } | Op::Store { .. } | Op::ImageLoad { .. } | Op::ImageStore { .. } => false,
        Op::Atomic(_) | Op::Sample(_) | Op::UniformLoad(_) => false,
    }
}

impl Environment for Recorder<'_> {
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        let result = match self.answers.get(self.next) {
            _ if is_pure(op) => self.machine.perform(op, mask, out),
            Some((result, answer)) => {
                self.next += 1;
                *out = *answer;
                *result
            }
            None => {
                let result = self.machine.perform(op, mask, out);
                self.answers.push((result, *out));
                self.next += 1;
                result
            }
        };
        self.last = Some(Box::new(Access { op: op.map(|lanes| *lanes), mask, answer: *out }));
        result
    }

    fn barrier(&mut self) {
        self.machine.barrier();
    }

    fn wave(&mut self, warp: &mut Warp) {
        self.machine.wave(warp);
    }

    fn peek(&self, address: u64) -> Option<u8> {
        self.machine.peek(address)
    }
}
