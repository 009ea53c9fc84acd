//! Writes kernel dumps (devcoredump) of captures, as the kernel writes them after a hang: the text of adreno_show
//! and adreno_show_object (drivers/gpu/drm/msm/adreno/adreno_gpu.c), with a ring as a4xx_submit fills it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;

use a4emu_decoder::a4xx::A4XX;
use a4emu_decoder::a4xx::pm4::Pm4;
use a4emu_decoder::adreno::capture::{Body, Sections};
use a4emu_decoder::adreno::packet::{Packet, Packets};

use crate::captures::own;

/// Registers that the kernel reads of an A420: first and last dword offsets of ranges (a part of
/// a4xx_registers of a4xx_gpu.c).
const RANGES: [[u32; 2]; 10] = [
    [0x0000, 0x0002],
    [0x0200, 0x0233],
    [0x0240, 0x0250],
    [0x04c0, 0x04dd],
    [0x0578, 0x058f],
    [0x0c80, 0x0c81],
    [0x0cc0, 0x0cc0],
    [0x0e80, 0x0e84],
    [0x2000, 0x2004],
    [0x2400, 0x2404],
];

/// Address and size of the ring, in bytes.
const RING: u32 = 0x0100_1000;
const RING_BYTES: usize = 32 << 10;
/// Address of the fence that the GPU writes.
const FENCE: u32 = 0x0100_0004;

const CP_INDIRECT_BUFFER: u8 = 0x3f;
const CP_DRAW_INDX_OFFSET: u8 = 0x38;

/// A dump before it is written.
#[derive(Clone)]
pub struct Dump {
    /// Buffers by address: size, and contents where the kernel copied them.
    pub bos: BTreeMap<u32, (u32, Option<Vec<u8>>)>,
    /// Dwords of the ring up to the write pointer.
    pub ring: Vec<u32>,
    pub rptr: u32,
    pub last_fence: u32,
    pub retired_fence: u32,
    /// Values of registers that are not 0, by dword offset.
    pub registers: BTreeMap<u32, u32>,
    /// Address and dwords of the submitted buffer.
    pub ib1: [u32; 2],
}

/// A packet in a buffer: its first dword, and the dword behind it.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub start: u32,
    pub end: u32,
    /// Address and dwords of the buffer that it calls.
    pub call: [u32; 2],
}

impl Dump {
    /// The first submit of a capture of `captures/`, when the GPU has begun it.
    pub fn of(name: &str) -> Self {
        let (mut bos, mut announced, mut ib1) = (BTreeMap::new(), 0, [0; 2]);
        for section in Sections::new(File::open(own(name)).unwrap()).unwrap() {
            match section.unwrap().body().unwrap() {
                Body::GpuAddr(record) => {
                    announced = record.address as u32;
                    bos.insert(announced, (record.length, None));
                }
                Body::BufferContents(bytes) => {
                    bos.get_mut(&announced).unwrap().1 = Some(bytes.to_vec());
                }
                Body::CmdstreamAddr(record) => {
                    ib1 = [record.address as u32, record.length];
                    break;
                }
                _ => {}
            }
        }
        let mut dump = Self {
            bos,
            ring: [&[0xc010_4800][..], &[0; 17]].concat(),
            rptr: 0,
            last_fence: 42,
            retired_fence: 41,
            registers: BTreeMap::new(),
            ib1,
        };
        dump.submit([0x5000, 8], 41);
        let begun = dump.ring.len() as u32;
        dump.submit(ib1, 42);
        // The call has been read, and the filler behind it.
        dump.rptr = begun + 4;
        dump
    }

    /// Adds a submit to the ring.
    fn submit(&mut self, [address, dwords]: [u32; 2], fence: u32) {
        self.ring.extend([0xc001_3f00, address, dwords, 0x8000_0000]);
        // CP_SCRATCH_REG2, HLSQ_FLUSH, CP_WAIT_FOR_IDLE, CACHE_FLUSH_TS with its interrupt.
        self.ring.extend([0x0000_057a, fence, 0xc000_4600, 7, 0xc000_2600, 0]);
        self.ring.extend([0xc002_4600, 0x8000_0004, FENCE, fence]);
    }

    /// The dwords of the buffer at `address`.
    fn dwords(&self, [address, dwords]: [u32; 2]) -> Vec<u32> {
        let (base, (_, contents)) = self.bos.range(..=address).next_back().unwrap();
        let bytes = &contents.as_ref().unwrap()[(address - base) as usize..][..dwords as usize * 4];
        bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
    }

    /// Writes a dword into the contents.
    pub fn patch(&mut self, address: u32, value: u32) {
        let (base, (_, contents)) = self.bos.range_mut(..=address).next_back().unwrap();
        let at = (address - base) as usize;
        contents.as_mut().unwrap()[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// The last packet of this opcode in a buffer.
    fn last(&self, buffer: [u32; 2], wanted: u8) -> Found {
        let dwords = self.dwords(buffer);
        let mut packets = Packets::new(A4XX.framing, &dwords);
        let mut found = None;
        loop {
            let start = packets.offset() as u32;
            let Some(packet) = packets.next() else { return found.unwrap() };
            if let Packet::Command { opcode, payload, .. } = packet.unwrap()
                && opcode == wanted
            {
                let call = Pm4::parse(opcode, payload)
                    .call()
                    .map_or([0; 2], |call| [call.address.get() as u32, call.dwords]);
                found = Some(Found { start, end: packets.offset() as u32, call });
            }
        }
    }

    /// The call of the draws' buffer in the submitted one.
    pub fn call(&self) -> Found {
        self.last(self.ib1, CP_INDIRECT_BUFFER)
    }

    /// The last draw of the buffer of draws.
    pub fn draw(&self) -> Found {
        self.last(self.call().call, CP_DRAW_INDX_OFFSET)
    }

    /// Sets the registers of the two levels of indirect buffers: base and dwords left.
    pub fn stand(&mut self, ib1: [u32; 2], ib2: [u32; 2]) {
        self.registers.extend([(0x206, ib1[0]), (0x207, ib1[1]), (0x208, ib2[0]), (0x209, ib2[1])]);
    }

    /// Has the GPU stand at the last draw. Returns the draw's address.
    pub fn stand_at_draw(&mut self) -> u32 {
        let (call, draw) = (self.call(), self.draw());
        let [base, dwords] = call.call;
        self.stand([self.ib1[0], self.ib1[1] - call.end], [base, dwords - draw.end]);
        base + 4 * draw.start
    }

    /// The text of the dump.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "---\nkernel: 6.12.0\nmodule: msm\ntime: 1732700000.5\ncomm: glxgears\ncmdline: glxgears -info\n\
             revision: 420 (4.2.0.0)\nrbbm-status: 0x80000001\nringbuffer:\n",
        );
        let Self { last_fence, retired_fence, rptr, ring, .. } = self;
        let _ = write!(
            text,
            "  - id: 0\n    iova: 0x{RING:016x}\n    last-fence: {last_fence}\n    retired-fence: {retired_fence}\n    \
             rptr: {rptr}\n    wptr: {}\n    size: {RING_BYTES}\n",
            ring.len()
        );
        object(&mut text, &ring.iter().flat_map(|dword| dword.to_le_bytes()).collect::<Vec<_>>());
        text += "bos:\n";
        for (address, (size, contents)) in &self.bos {
            let _ = write!(text, "  - iova: 0x{address:016x}\n    size: {size}\n    name: {:<32}\n", "");
            if let Some(contents) = contents {
                object(&mut text, contents);
            }
        }
        text += "registers:\n";
        for offset in RANGES.iter().flat_map(|[first, last]| *first..=*last) {
            let value = self.registers.get(&offset).copied().unwrap_or(0);
            let _ = writeln!(text, "  - {{ offset: 0x{:04x}, value: 0x{value:08x} }}", offset << 2);
        }
        text
    }
}

/// Writes contents up to the last dword that is not 0. Contents of zeros have no lines.
fn object(text: &mut String, bytes: &[u8]) {
    let dwords = bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let dwords: Vec<u32> = dwords.collect();
    let Some(last) = dwords.iter().rposition(|dword| *dword != 0) else { return };
    text.push_str("    data: !!ascii85 |\n     ");
    for dword in &dwords[..=last] {
        match dword {
            0 => text.push('z'),
            _ => text
                .extend((0..5).rev().map(|place| char::from(b'!' + (dword / 85u32.pow(place) % 85) as u8))),
        }
    }
    text.push('\n');
}
