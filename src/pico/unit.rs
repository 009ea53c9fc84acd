//! A shading unit: a program, and threads that run it in warps of 32.
use a4emu_decoder::isa::pico::command::{COMMAND_DWORDS, Command, Interface};
use a4emu_decoder::isa::pico::{Instr, Io, Kind, LANES, Shader, corners, decode_program};

use a4emu_gpu::budget::{Budget, Work};
use a4emu_shader::{Lanes, Outcome, Program, ProgramError, Warp, run};

/// A program ready to run.
pub struct Unit {
    program: Program,
    /// Number of instructions of the program. Each warp runs all of them, since there are no branches.
    pub instructions: u64,
    /// Scalar registers for the inputs of each thread, in order.
    inputs: Vec<u32>,
    /// Scalar registers for the inputs that all threads share.
    shared: Vec<u32>,
    /// Scalar registers that hold the outputs.
    outputs: Vec<u32>,
    uniform_dwords: usize,
}

/// Warps and instructions that threads cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Warps run.
    pub warps: u64,
    /// Warp instructions executed.
    pub instructions: u64,
}

/// An error in a stream of commands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The stream ends within a command, a program or inputs.
    #[error("stream ends at dword {at}: {wanted} more dwords wanted for {what}")]
    Short {
        /// Dword at which the missing part begins.
        at: usize,
        /// Number of missing dwords.
        wanted: usize,
        /// Name of the missing part.
        what: &'static str,
    },
    /// A StoreIsa command with more slots than exist.
    #[error("command at dword {at} names more registers than it has room for")]
    Slots {
        /// Dword of the command.
        at: usize,
    },
    /// An unknown opcode, or immediates that do not fit the program.
    #[error("dword {at} of the stream is no instruction")]
    Instruction {
        /// Dword of the instruction.
        at: usize,
    },
    /// An execution without a program.
    #[error("command at dword {at} executes before a program was stored")]
    NoProgram {
        /// Dword of the command.
        at: usize,
    },
    /// A program of no dwords.
    #[error("command at dword {at} stores an empty program")]
    Empty {
        /// Dword of the command.
        at: usize,
    },
    /// Dwords after the last command.
    #[error("{dwords} dwords behind the last command, from dword {at} on")]
    Trailing {
        /// The first of these dwords.
        at: usize,
        /// Number of these dwords.
        dwords: usize,
    },
}

impl Unit {
    /// A unit that runs `shader` with its own inputs and returns its outputs.
    pub fn new(shader: &Shader) -> Self {
        let (code, interface) = body_of(shader);
        Self::of(&code, &interface).expect("a checked shader has instructions")
    }

    /// A unit that runs `shader` within a draw. A fragment shader interpolates its inputs from the corners
    /// of a triangle ([`Unit::shared_dwords`]), and also returns the depth.
    pub fn in_a_draw(shader: &Shader) -> Self {
        Self::of(&shader.instrs(), &interface_of(shader)).expect("a checked shader has instructions")
    }

    fn of(code: &[Instr], interface: &Interface) -> Result<Self, ProgramError> {
        let position = interface.inputs.first().map(|io| Io { components: 2, ..*io });
        let (inputs, shared) = match interface.kind {
            Kind::Vertex => (components(&interface.inputs).collect(), Vec::new()),
            // x and y of the pixel, and the inputs that the preamble interpolates.
            Kind::Fragment => (
                components(position.as_slice()).collect(),
                corners(&interface.inputs).iter().flat_map(|list| components(list)).collect(),
            ),
        };
        Ok(Self {
            program: Program::from_pico(code, interface)?,
            instructions: code.len() as u64,
            inputs,
            shared,
            outputs: components(&interface.outputs).collect(),
            uniform_dwords: components(&interface.uniforms).count(),
        })
    }

    /// Input dwords per thread.
    pub fn input_dwords(&self) -> usize {
        self.inputs.len()
    }

    /// Input dwords that all threads share.
    pub fn shared_dwords(&self) -> usize {
        self.shared.len()
    }

    /// Output dwords per thread.
    pub fn output_dwords(&self) -> usize {
        self.outputs.len()
    }

    /// A warp of `program` with `uniforms` in order, inputs that all threads share, and up to 32 threads. The
    /// program is this unit's, or was lowered from the same code.
    pub fn launch(&self, program: &Program, uniforms: &[u32], shared: &[u32], inputs: &[u32]) -> Warp {
        let mut warp = Warp::new(program, uniforms);
        self.start(program, &mut warp, shared, inputs);
        warp
    }

    /// Restarts `warp` with the threads of `inputs`. Returns their number.
    fn start(&self, program: &Program, warp: &mut Warp, shared: &[u32], inputs: &[u32]) -> usize {
        let threads = (inputs.len() / self.input_dwords().max(1)).min(LANES);
        let live = (1u64 << threads) - 1;
        warp.restart(program, live as u32, 0);
        self.shared.iter().zip(shared).for_each(|(id, value)| *warp.full_mut(*id) = Lanes::splat(*value));
        let stride = self.input_dwords().max(1);
        for (component, id) in self.inputs.iter().enumerate() {
            let lanes = warp.full_mut(*id).iter_mut().zip(inputs.chunks_exact(stride));
            lanes.for_each(|(lane, thread)| *lane = thread[component]);
        }
        threads
    }

    /// Runs one thread per [`Unit::input_dwords`] of `inputs`. The result has [`Unit::output_dwords`] per
    /// thread. An incomplete thread at the end is ignored, and so are threads that `budget` does not cover.
    pub fn run(&self, uniforms: &[u32], inputs: &[u32], budget: &mut Budget) -> (Vec<u32>, Cost) {
        self.run_shared(uniforms, &[], inputs, budget)
    }

    /// Runs like [`Unit::run`], with the inputs that all threads share in `shared`.
    fn run_shared(
        &self,
        uniforms: &[u32],
        shared: &[u32],
        inputs: &[u32],
        budget: &mut Budget,
    ) -> (Vec<u32>, Cost) {
        let mut warp = self.warp(uniforms);
        let (mut outputs, mut cost) = (Vec::new(), Cost::default());
        let whole = inputs.len() - inputs.len() % self.input_dwords().max(1);
        for threads in inputs[..whole].chunks(LANES * self.input_dwords().max(1)) {
            if !budget.take(Work::Warp, 1) {
                break;
            }
            self.run_warp(&mut warp, shared, threads, &mut outputs);
            cost.warps += 1;
            cost.instructions += warp.executed();
            budget.settle(Work::WarpInstruction, warp.executed());
        }
        (outputs, cost)
    }

    /// A warp of this unit's program with `uniforms` in order.
    pub fn warp(&self, uniforms: &[u32]) -> Warp {
        Warp::new(&self.program, uniforms)
    }

    /// Runs `warp` with shared inputs, and with each thread's inputs in the lanes of `inputs`. Returns the
    /// rows of the first `N` outputs.
    pub fn run_lanes<const N: usize>(&self, warp: &mut Warp, shared: &[u32], inputs: &[Lanes]) -> [Lanes; N] {
        warp.restart(&self.program, u32::MAX, 0);
        self.shared.iter().zip(shared).for_each(|(id, value)| *warp.full_mut(*id) = Lanes::splat(*value));
        self.inputs.iter().zip(inputs).for_each(|(id, value)| *warp.full_mut(*id) = *value);
        self.to_the_end(warp);
        std::array::from_fn(|n| self.outputs.get(n).map_or(Lanes::ZERO, |id| *warp.full(*id)))
    }

    fn run_warp(&self, warp: &mut Warp, shared: &[u32], inputs: &[u32], outputs: &mut Vec<u32>) {
        let threads = self.start(&self.program, warp, shared, inputs);
        self.to_the_end(warp);
        let (first, stride) = (outputs.len(), self.output_dwords());
        outputs.resize(first + threads * stride, 0);
        for (component, id) in self.outputs.iter().enumerate() {
            let threads = outputs[first..].chunks_exact_mut(stride).zip(warp.full(*id).iter());
            threads.for_each(|(thread, lane)| thread[component] = *lane);
        }
    }

    /// Runs `warp` to its end. PicoGpu has no op that branches, waits or accesses memory, so each run ends.
    fn to_the_end(&self, warp: &mut Warp) {
        let outcome = run(&self.program, warp, &mut ());
        debug_assert_eq!(outcome, Outcome::Ended);
    }
}

/// The code of `shader` as a program with given inputs, and its interface.
pub fn body_of(shader: &Shader) -> (Vec<Instr>, Interface) {
    let code = shader.body().iter().map(|(instr, _)| *instr).collect();
    (code, Interface { kind: Kind::Vertex, outputs: shader.outputs.clone(), ..interface_of(shader) })
}

/// The interface in the StoreIsa command of `shader`.
pub fn interface_of(shader: &Shader) -> Interface {
    Interface {
        kind: shader.kind,
        inputs: shader.inputs.clone(),
        outputs: shader.all_outputs(),
        uniforms: shader.uniforms.clone(),
    }
}

/// Scalar register ids of `list`, in order.
fn components(list: &[Io]) -> impl Iterator<Item = u32> {
    list.iter()
        .flat_map(|io| (0..io.components as u32).map(|component| u32::from(io.register) * 4 + component))
}

/// Executes a stream of StoreIsa and ExecuteIsa commands. `answer` receives the outputs of every execution.
/// The stream ends early if `budget` is used up.
///
/// # Errors
/// The call fails where the stream breaks off or is invalid. Earlier commands have run.
pub fn execute(
    stream: &[u32],
    budget: &mut Budget,
    mut answer: impl FnMut(&[u32]),
) -> Result<(), StreamError> {
    let mut reader = Reader { stream, at: 0 };
    let mut unit: Option<Unit> = None;
    loop {
        let at = reader.at;
        let words = reader.take(COMMAND_DWORDS, "a command")?;
        let command = Command::decode([words[0], words[1], words[2]]).ok_or(StreamError::Slots { at })?;
        match command.0 {
            Command::Store { interface, dwords } => unit = Some(reader.program(at, interface, dwords)?),
            Command::Execute { threads } => {
                let unit = unit.as_ref().ok_or(StreamError::NoProgram { at })?;
                let inputs = reader.take(threads * unit.input_dwords(), "inputs")?;
                let uniforms = reader.take(unit.uniform_dwords, "uniforms")?;
                let shared = reader.take(unit.shared_dwords(), "the corners of a triangle")?;
                answer(&unit.run_shared(uniforms, shared, inputs, budget).0);
            }
        }
        if budget.cut().is_some() {
            return Ok(());
        }
        if !command.1 {
            return reader.end();
        }
    }
}

struct Reader<'a> {
    stream: &'a [u32],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, dwords: usize, what: &'static str) -> Result<&'a [u32], StreamError> {
        let rest = &self.stream[self.at..];
        let taken = rest.get(..dwords).ok_or(StreamError::Short {
            at: self.at,
            wanted: dwords - rest.len().min(dwords),
            what,
        })?;
        self.at += dwords;
        Ok(taken)
    }

    fn program(&mut self, command: usize, interface: Interface, dwords: usize) -> Result<Unit, StreamError> {
        let start = self.at;
        let words = self.take(dwords, "a program")?;
        let code = decode_program(words).map_err(|at| StreamError::Instruction { at: start + at })?;
        let code: Vec<_> = code.into_iter().map(|(_, instr)| instr).collect();
        Unit::of(&code, &interface).map_err(|_| StreamError::Empty { at: command })
    }

    /// Checks that nothing follows the last command.
    fn end(&self) -> Result<(), StreamError> {
        match self.stream.len() - self.at {
            0 => Ok(()),
            dwords => Err(StreamError::Trailing { at: self.at, dwords }),
        }
    }
}
