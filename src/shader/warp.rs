//! The state of 32 lanes.
use super::lanes::{Lanes, Mask};
use super::program::Program;

/// Warp instructions after which a shader counts as endless.
pub const INSTRUCTION_LIMIT: u64 = 1 << 22;

/// Scalar full registers r0.x to r47.w; as many half registers.
const REGISTERS: usize = 192;

/// Registers, control flow and constants of 32 lanes running one program.
#[derive(Clone, Debug)]
pub struct Warp {
    full: Vec<Lanes>,
    half: Vec<Lanes>,
    live: Mask,
    helpers: Mask,
    killed: Mask,
    executed: u64,
    /// Instructions until the warp is cut off ([`INSTRUCTION_LIMIT`] at first).
    pub limit: u64,
}

impl Warp {
    /// Registers for `program`, with the constant file as this launch sees it
    /// (scalars; c448.. holds the SSBO mirror; beyond the slice reads 0).
    pub fn new(program: &Program, constants: &[u32]) -> Self {
        let _ = (program, constants);
        Self {
            full: vec![Lanes::ZERO; REGISTERS + 1],
            half: vec![Lanes::ZERO; REGISTERS + 1],
            live: 0,
            helpers: 0,
            killed: 0,
            executed: 0,
            limit: INSTRUCTION_LIMIT,
        }
    }

    /// Back to instruction 0 with all registers zero. `live` lanes count;
    /// `helpers` run as well, for derivatives, but store nothing.
    pub fn restart(&mut self, program: &Program, live: Mask, helpers: Mask) {
        let _ = program;
        self.live = live;
        self.helpers = helpers & !live;
        self.killed = 0;
        self.executed = 0;
    }

    /// Full register with this id (number * 4 + component). Ids that name no
    /// register (r63.x) read zero.
    pub fn full(&self, id: u32) -> &Lanes {
        &self.full[(id as usize).min(REGISTERS)]
    }

    /// The same, to write inputs. What is written to ids that name no register is lost.
    pub fn full_mut(&mut self, id: u32) -> &mut Lanes {
        &mut self.full[(id as usize).min(REGISTERS)]
    }

    /// Half register with this id: 16 bits, zero-extended, per lane.
    pub fn half(&self, id: u32) -> &Lanes {
        &self.half[(id as usize).min(REGISTERS)]
    }

    /// The same, to write inputs.
    pub fn half_mut(&mut self, id: u32) -> &mut Lanes {
        &mut self.half[(id as usize).min(REGISTERS)]
    }

    /// Lanes that executed a kill.
    pub fn killed(&self) -> Mask {
        self.killed
    }

    /// Lanes whose outputs count: live and not killed.
    pub fn covered(&self) -> Mask {
        self.live & !self.killed
    }

    /// Warp instructions executed since the restart.
    pub fn executed(&self) -> u64 {
        self.executed
    }
}
