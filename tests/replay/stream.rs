//! Builds command streams and captures.

use a4emu_gpu::cp::{Call, Cp, Flow, Observer, Skip};
use a4emu_gpu::gpu::{Chip, Gpu};
use a4emu_gpu::settled::Running;

/// Address of a test's command stream.
pub const STREAM: u32 = 0x1000_0000;
/// Address of memory for a test to read and write: [`DATA_BYTES`] of zeros.
pub const DATA: u32 = 0x2000_0000;
/// Size of the memory at [`DATA`], in bytes.
pub const DATA_BYTES: u32 = 0x1000;
/// A register without an effect: CP_SCRATCH_REG5.
pub const SCRATCH: u32 = 0x57d;

/// Type-0 packet: `values` to consecutive registers.
pub fn write(reg: u32, values: &[u32]) -> Vec<u32> {
    let header = ((values.len() as u32 - 1) << 16) | reg;
    [&[header], values].concat()
}

/// Type-3 packet.
pub fn packet(opcode: u32, payload: &[u32]) -> Vec<u32> {
    let header = 0xc000_0000 | ((payload.len() as u32 - 1) << 16) | (opcode << 8);
    [&[header], payload].concat()
}

/// CP_DRAW_INDX_OFFSET of `count` vertices, triangles, no index buffer.
pub fn draw(count: u32) -> Vec<u32> {
    packet(0x38, &[0x84, 1, count])
}

/// Dwords as bytes.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A machine with [`DATA`] mapped.
pub fn gpu() -> Gpu {
    let mut gpu = Gpu::new(Chip::default());
    gpu.memory_mut().announce(DATA, DATA_BYTES, Some(&[0; DATA_BYTES as usize]));
    gpu
}

/// Collects calls.
#[derive(Default)]
pub struct Calls(pub Vec<Call>);

impl Observer for Calls {
    fn call(&mut self, _: &mut Running<'_>, call: &Call) -> Flow {
        self.0.push(call.clone());
        Flow::Continue
    }
}

/// Runs `packets` on `gpu`. Returns the draws and dispatches, which do not run.
pub fn run_on(gpu: &mut Gpu, packets: &[Vec<u32>]) -> Vec<Call> {
    let words = packets.concat();
    gpu.memory_mut().begin_group();
    gpu.memory_mut().announce(STREAM, words.len() as u32 * 4, Some(&bytes(&words)));
    let mut calls = Calls::default();
    Cp::new(gpu, &mut Skip::default(), &mut calls).submit(STREAM, words.len() as u32);
    calls.0
}

/// Runs `packets` on a new machine.
pub fn run(packets: &[Vec<u32>]) -> Gpu {
    let mut gpu = gpu();
    run_on(&mut gpu, packets);
    gpu
}

/// The reported faults, as text.
pub fn faults(gpu: &Gpu) -> Vec<String> {
    gpu.report.faults().map(ToString::to_string).collect()
}

/// The reported unsupported features, as text.
pub fn unsupported(gpu: &Gpu) -> Vec<String> {
    gpu.report.unsupported_features().map(str::to_owned).collect()
}

/// A section of a raw capture.
pub fn section(id: u32, payload: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes(), &(payload.len() as u32).to_le_bytes(), payload].concat()
}

/// A raw capture of one submit with buffers (address, dwords). The first one is executed.
pub fn capture(buffers: &[(u32, Vec<u32>)]) -> Vec<u8> {
    let mut out = section(13, &420u32.to_le_bytes());
    for (address, words) in buffers {
        out.extend(section(3, &bytes(&[*address, words.len() as u32 * 4])));
        out.extend(section(12, &bytes(words)));
    }
    let (address, words) = &buffers[0];
    out.extend(section(6, &bytes(&[*address, words.len() as u32])));
    out
}
