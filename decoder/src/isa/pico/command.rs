//! The commands of a stream to a shading unit: StoreIsa and ExecuteIsa.
use super::shader::{Io, Kind, Shader};
use crate::bits::{Bool, Uint};

/// Dwords of a command, before the program or the inputs that follow it.
pub const COMMAND_DWORDS: usize = 3;

descriptors! {
    /// First dword of every command.
    PICO_COMMAND { 0..0 EXECUTE: Bool; 1..1 HAS_NEXT: Bool; }
    /// StoreIsa, dword 0: the program and its inputs.
    STORE_ISA_0 {
        0..0 EXECUTE: Bool; 1..1 HAS_NEXT: Bool; 2..10 PROGRAM_LENGTH: Uint; 11..11 FRAGMENT: Bool;
        12..13 INPUTS_MINUS_1: Uint;
        14..15 SIZE0_MINUS_1: Uint; 16..19 REGISTER0: Uint; 20..21 SIZE1_MINUS_1: Uint; 22..25 REGISTER1: Uint;
        26..27 SIZE2_MINUS_1: Uint; 28..31 REGISTER2: Uint;
    }
    /// StoreIsa, dword 1: outputs, and the first uniforms.
    STORE_ISA_1 {
        0..1 OUTPUTS_MINUS_1: Uint;
        2..3 SIZE0_MINUS_1: Uint; 4..7 REGISTER0: Uint; 8..9 SIZE1_MINUS_1: Uint; 10..13 REGISTER1: Uint;
        14..15 SIZE2_MINUS_1: Uint; 16..19 REGISTER2: Uint;
        20..22 UNIFORMS: Uint; 23..24 UNIFORM_SIZE0_MINUS_1: Uint; 25..28 UNIFORM_REGISTER0: Uint;
        29..30 UNIFORM_SIZE1_MINUS_1: Uint;
    }
    /// StoreIsa, dword 2: the other uniforms.
    STORE_ISA_2 { 0..3 UNIFORM_REGISTER1: Uint; 4..5 UNIFORM_SIZE2_MINUS_1: Uint; 6..9 UNIFORM_REGISTER2: Uint; }
    /// ExecuteIsa, dword 0.
    EXECUTE_ISA_0 { 0..0 EXECUTE: Bool; 1..1 HAS_NEXT: Bool; 2..6 THREADS_MINUS_1: Uint; }
}

/// Size field and register of a slot; an unused one holds "0 - 1" and r0.
fn slot(list: &[Io], n: usize) -> (u32, u32) {
    list.get(n).map_or((3, 0), |io| (io.components as u32 - 1, u32::from(io.register)))
}

/// Three slots of six bits each, from bit 0 up.
fn slots(list: &[Io]) -> u32 {
    (0..3).fold(0, |bits, n| {
        let (size, register) = slot(list, n);
        bits | (size | register << 2) << (6 * n)
    })
}

/// The StoreIsa command of a program with `dwords` dwords.
pub(super) fn store_isa(shader: &Shader, dwords: usize) -> [u32; COMMAND_DWORDS] {
    let fragment = u32::from(shader.kind == Kind::Fragment);
    let count = |list: &[Io]| (list.len() as u32).wrapping_sub(1) & 3;
    let uniforms = slots(&shader.uniforms);
    let outputs = shader.all_outputs();
    [
        (dwords as u32) << 2 | fragment << 11 | count(&shader.inputs) << 12 | slots(&shader.inputs) << 14,
        // The size of uniform 1 is the last field that fits the second dword whole. A field never spans two
        // dwords, so bit 31 stays free.
        count(&outputs)
            | slots(&outputs) << 2
            | (shader.uniforms.len() as u32) << 20
            | (uniforms & 0xff) << 23,
        uniforms >> 8,
    ]
}

/// The inputs, outputs and uniforms that a StoreIsa command declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Vertex or fragment.
    pub kind: Kind,
    /// Input slots, 1 to 3.
    pub inputs: Vec<Io>,
    /// Output slots, 1 to 3.
    pub outputs: Vec<Io>,
    /// Uniform slots, 0 to 3.
    pub uniforms: Vec<Io>,
}

/// A command of a stream: its three dwords, without the program or inputs that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A program of `dwords` dwords follows.
    Store {
        /// Inputs, outputs and uniforms of the program.
        interface: Interface,
        /// Length of the program in dwords.
        dwords: usize,
    },
    /// The inputs of `threads` threads follow.
    Execute {
        /// Number of threads, 1 to 32.
        threads: usize,
    },
}

impl Command {
    /// Decodes the three dwords of a command, and whether another command follows.
    ///
    /// `None` if the command has more inputs, outputs or uniforms than there are slots.
    pub fn decode(words: [u32; COMMAND_DWORDS]) -> Option<(Self, bool)> {
        let head = PICO_COMMAND(words[0]);
        if head.EXECUTE() {
            let threads = EXECUTE_ISA_0(words[0]).THREADS_MINUS_1() as usize + 1;
            return Some((Self::Execute { threads }, head.HAS_NEXT()));
        }
        let (a, b, c) = (STORE_ISA_0(words[0]), STORE_ISA_1(words[1]), STORE_ISA_2(words[2]));
        let inputs = [
            (a.SIZE0_MINUS_1(), a.REGISTER0()),
            (a.SIZE1_MINUS_1(), a.REGISTER1()),
            (a.SIZE2_MINUS_1(), a.REGISTER2()),
        ];
        let outputs = [
            (b.SIZE0_MINUS_1(), b.REGISTER0()),
            (b.SIZE1_MINUS_1(), b.REGISTER1()),
            (b.SIZE2_MINUS_1(), b.REGISTER2()),
        ];
        let uniforms = [
            (b.UNIFORM_SIZE0_MINUS_1(), b.UNIFORM_REGISTER0()),
            (b.UNIFORM_SIZE1_MINUS_1(), c.UNIFORM_REGISTER1()),
            (c.UNIFORM_SIZE2_MINUS_1(), c.UNIFORM_REGISTER2()),
        ];
        let interface = Interface {
            kind: if a.FRAGMENT() { Kind::Fragment } else { Kind::Vertex },
            inputs: listed(&inputs, a.INPUTS_MINUS_1() + 1)?,
            outputs: listed(&outputs, b.OUTPUTS_MINUS_1() + 1)?,
            uniforms: listed(&uniforms, b.UNIFORMS())?,
        };
        Some((Self::Store { interface, dwords: a.PROGRAM_LENGTH() as usize }, head.HAS_NEXT()))
    }
}

/// The first `count` of three slots.
fn listed(slots: &[(u32, u32); 3], count: u32) -> Option<Vec<Io>> {
    let used = slots.get(..count as usize)?;
    Some(
        used.iter()
            .map(|(size, register)| Io { register: *register as u8, components: *size as usize + 1 })
            .collect(),
    )
}
