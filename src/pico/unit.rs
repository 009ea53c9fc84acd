//! A shading unit: a program, and threads that run it 32 at a time.
use a4emu_decoder::isa::pico::command::{COMMAND_DWORDS, Command, Interface};
use a4emu_decoder::isa::pico::{Io, LANES, Shader, decode_program};

use crate::budget::{Budget, Work};
use crate::shader::{Lanes, Outcome, Program, Warp, run};

/// A program ready to run.
pub struct Unit {
    program: Program,
    /// Instructions of the program; each warp runs every one, since nothing branches.
    pub instructions: u64,
    inputs: Vec<Io>,
    outputs: Vec<Io>,
}

/// Warps and instructions that threads cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Warps run.
    pub warps: u64,
    /// Warp instructions executed.
    pub instructions: u64,
}

/// What is wrong with a stream of commands.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// A command, a program or inputs end early.
    #[error("stream ends at dword {at}: {wanted} more dwords wanted for {what}")]
    Short {
        /// Where the missing part begins.
        at: usize,
        /// How much of it is missing.
        wanted: usize,
        /// What it is.
        what: &'static str,
    },
    /// A StoreIsa command that counts more slots than there are.
    #[error("command at dword {at} names more registers than it has room for")]
    Slots {
        /// The command.
        at: usize,
    },
    /// An opcode that does not exist, or immediates that do not fit the program.
    #[error("dword {at} of the stream is no instruction")]
    Instruction {
        /// The dword.
        at: usize,
    },
    /// Nothing to execute.
    #[error("command at dword {at} executes before a program was stored")]
    NoProgram {
        /// The command.
        at: usize,
    },
    /// A program of no dwords.
    #[error("command at dword {at} stores an empty program")]
    Empty {
        /// The command.
        at: usize,
    },
    /// Behind the command that says that it is the last.
    #[error("{dwords} dwords behind the last command, from dword {at} on")]
    Trailing {
        /// Where they begin.
        at: usize,
        /// How many.
        dwords: usize,
    },
}

impl Unit {
    /// A unit that runs `shader`.
    pub fn new(shader: &Shader) -> Self {
        let program = Program::from_pico(&shader.instrs(), &shader.uniforms)
            .expect("a checked shader has instructions");
        Self {
            program,
            instructions: shader.code.len() as u64,
            inputs: shader.inputs.clone(),
            outputs: shader.outputs.clone(),
        }
    }

    /// Dwords that a thread takes.
    pub fn input_dwords(&self) -> usize {
        self.inputs.iter().map(|io| io.components).sum()
    }

    /// Dwords that a thread gives.
    pub fn output_dwords(&self) -> usize {
        self.outputs.iter().map(|io| io.components).sum()
    }

    /// A warp of `program`, which is this unit's or was lowered from the same code, with
    /// `uniforms` one after the other and up to 32 threads ready to go.
    pub fn launch(&self, program: &Program, uniforms: &[u32], inputs: &[u32]) -> Warp {
        let mut warp = Warp::new(program, uniforms);
        self.start(program, &mut warp, inputs);
        warp
    }

    /// Restarts `warp` with the threads of `inputs`; returns how many there are.
    fn start(&self, program: &Program, warp: &mut Warp, inputs: &[u32]) -> usize {
        let threads = (inputs.len() / self.input_dwords().max(1)).min(LANES);
        let live = (1u64 << threads) - 1;
        warp.restart(program, live as u32, 0);
        let stride = self.input_dwords().max(1);
        for (component, id) in components(&self.inputs).enumerate() {
            let lanes = warp.full_mut(id).iter_mut().zip(inputs.chunks_exact(stride));
            lanes.for_each(|(lane, thread)| *lane = thread[component]);
        }
        threads
    }

    /// Runs one thread per [`Unit::input_dwords`] of `inputs`; the answer holds
    /// [`Unit::output_dwords`] per thread. A part of a thread's inputs is left over, and so are
    /// the threads that `budget` has no warps for.
    pub fn run(&self, uniforms: &[u32], inputs: &[u32], budget: &mut Budget) -> (Vec<u32>, Cost) {
        let mut warp = self.warp(uniforms);
        let (mut outputs, mut cost) = (Vec::new(), Cost::default());
        let whole = inputs.len() - inputs.len() % self.input_dwords().max(1);
        for threads in inputs[..whole].chunks(LANES * self.input_dwords().max(1)) {
            if !budget.take(Work::Warp, 1) {
                break;
            }
            self.run_warp(&mut warp, threads, &mut outputs);
            cost.warps += 1;
            cost.instructions += warp.executed();
            budget.settle(Work::WarpInstruction, warp.executed());
        }
        (outputs, cost)
    }

    /// A warp of this unit's program, with `uniforms` one after the other.
    pub fn warp(&self, uniforms: &[u32]) -> Warp {
        Warp::new(&self.program, uniforms)
    }

    /// Runs `warp` in full, with input components as they stand in `inputs`, in order;
    /// returns the first output.
    pub fn run_lanes(&self, warp: &mut Warp, inputs: &[Lanes]) -> [Lanes; 4] {
        warp.restart(&self.program, u32::MAX, 0);
        components(&self.inputs).zip(inputs).for_each(|(id, value)| *warp.full_mut(id) = *value);
        let outcome = run(&self.program, warp, &mut ());
        debug_assert_eq!(outcome, Outcome::Ended);
        let first = u32::from(self.outputs[0].register) * 4;
        std::array::from_fn(|component| *warp.full(first + component as u32))
    }

    fn run_warp(&self, warp: &mut Warp, inputs: &[u32], outputs: &mut Vec<u32>) {
        let threads = self.start(&self.program, warp, inputs);
        // No op of PicoGpu branches, waits or touches memory: a run always ends.
        let outcome = run(&self.program, warp, &mut ());
        debug_assert_eq!(outcome, Outcome::Ended);
        let (first, stride) = (outputs.len(), self.output_dwords());
        outputs.resize(first + threads * stride, 0);
        for (component, id) in components(&self.outputs).enumerate() {
            let threads = outputs[first..].chunks_exact_mut(stride).zip(warp.full(id).iter());
            threads.for_each(|(thread, lane)| thread[component] = *lane);
        }
    }
}

/// Scalar register ids of `list`, in order.
fn components(list: &[Io]) -> impl Iterator<Item = u32> {
    list.iter()
        .flat_map(|io| (0..io.components as u32).map(|component| u32::from(io.register) * 4 + component))
}

/// Executes a stream of StoreIsa and ExecuteIsa commands; `answer` gets the outputs of
/// every execution as they come. Ends where `budget` does.
///
/// # Errors
/// Where the stream breaks off or says something impossible; what came before was run.
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
                answer(&unit.run(&[], inputs, budget).0);
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
        let program =
            Program::from_pico(&code, &interface.uniforms).map_err(|_| StreamError::Empty { at: command })?;
        Ok(Unit {
            program,
            instructions: code.len() as u64,
            inputs: interface.inputs,
            outputs: interface.outputs,
        })
    }

    /// The last command was read.
    fn end(&self) -> Result<(), StreamError> {
        match self.stream.len() - self.at {
            0 => Ok(()),
            dwords => Err(StreamError::Trailing { at: self.at, dwords }),
        }
    }
}
