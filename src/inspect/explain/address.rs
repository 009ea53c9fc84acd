//! Explains an address of a capture: the buffer that holds it, the registers that name the buffer, and the draws that
//! use what lies there.

use std::collections::BTreeMap;
use std::fmt;

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::Kind;
use serde::Serialize;

use crate::describe::Address as Listed;
use crate::describe::{Capture, Draw, Shaders};
use crate::register_names::low_half;
use a4emu_gpu::cp::observer::Announced;
use a4emu_gpu::cp::{Call, Flow, Observer, Skip};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, accepted};
use a4emu_support::status::Status;

/// Maximum number of different buffers, registers and uses that are listed.
const MAX_LISTED: usize = 64;

/// Bytes of an instruction.
const INSTRUCTION: u64 = 8;

/// What a capture knows of an address.
#[derive(Debug, Serialize)]
pub struct Place {
    address: Listed,
    /// The buffers that hold it, one for each size and place that the capture announces.
    buffers: Vec<BufferAround>,
    /// The registers whose value lies in the same buffer at or before it.
    registers: Vec<NamedBy>,
    /// What draws use there.
    uses: Vec<Use>,
    /// Whether there are more of them than are listed.
    is_cut: bool,
}

/// A buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct BufferAround {
    address: Listed,
    bytes: u32,
    /// Bytes from its start to the address.
    offset: u64,
}

/// A register that names the buffer.
#[derive(Debug, Serialize)]
struct NamedBy {
    register: String,
    value: Listed,
    /// Bytes from there to the address.
    offset: u64,
    /// The frame draw before which it is written first, and how often it is written.
    first: u32,
    times: u32,
}

/// What draws use.
#[derive(Debug, Serialize)]
struct Use {
    /// Name, such as `FS texture 2` or `VS program`.
    what: String,
    address: Listed,
    bytes: u64,
    offset: u64,
    /// The first frame draw, and how many there are.
    first: u32,
    draws: u32,
}

/// What `capture` knows of `address`. Nothing is drawn.
///
/// # Errors
/// The call fails if the capture cannot be read.
pub fn of_capture(capture: &Capture, address: Address, shared: &Shared) -> anyhow::Result<(Place, Status)> {
    let mut playback = Limits::default().playback(capture.name());
    let mut watch = Watch { address, ..Watch::default() };
    let sections = capture.sections(&playback.gpu.budget, shared)?;
    playback.run(sections, &mut Skip::default(), &mut watch);
    accepted(capture.name(), &playback.gpu.report)?;
    let told = shared.tell(&capture.name().display().to_string(), &playback.gpu.report);
    Ok((watch.finish(), told))
}

#[derive(Default)]
struct Watch {
    address: Address,
    buffers: Vec<BufferAround>,
    registers: BTreeMap<(String, Address), [u32; 2]>,
    uses: BTreeMap<(String, Address, u64), [u32; 3]>,
    shaders: Shaders,
    is_cut: bool,
}

impl Watch {
    /// The distance from `start` to the address, if the address lies in the `bytes` from there on.
    fn within(&self, start: Address, bytes: u64) -> Option<u64> {
        self.address.get().checked_sub(start.get()).filter(|offset| *offset < bytes)
    }

    fn add_use(&mut self, what: String, address: Address, bytes: u64, draw: u32) {
        if self.within(address, bytes).is_none() {
            return;
        }
        let key = (what, address, bytes);
        if self.uses.len() >= MAX_LISTED && !self.uses.contains_key(&key) {
            self.is_cut = true;
            return;
        }
        // A frame draw may run several times.
        let [_, last, count] = self.uses.entry(key).or_insert([draw, u32::MAX, 0]);
        *count += u32::from(*last != draw);
        *last = draw;
    }

    fn finish(self) -> Place {
        let Self { address, buffers, registers, uses, is_cut, .. } = self;
        let registers = registers.into_iter().map(|((register, value), [first, times])| NamedBy {
            register,
            value: Listed::of(value),
            offset: address.get() - value.get(),
            first,
            times,
        });
        let uses = uses.into_iter().map(|((what, at, bytes), [first, _, draws])| Use {
            what,
            address: Listed::of(at),
            bytes,
            offset: address.get() - at.get(),
            first,
            draws,
        });
        let mut registers: Vec<NamedBy> = registers.collect();
        registers.sort_by_key(|named| named.offset);
        Place { address: Listed::of(address), buffers, registers, uses: uses.collect(), is_cut }
    }
}

/// The name of the register at `offset`, which has just been written, and the address that it holds. One of 64 bits holds
/// it when its high half is written, which comes last.
fn held(gpu: &Gpu, offset: u32) -> Option<(String, Address)> {
    let generation = gpu.chip.generation();
    if generation.address_bits > 32 {
        let low = low_half(generation.registers, offset)?;
        let name = generation.registers.name(low).to_string();
        let name = name.trim_end_matches("LO").trim_end_matches(['_', '.']).to_owned();
        return Some((name, Address::wide(gpu.regs.read(low), gpu.regs.read(offset))));
    }
    let word = gpu.regs.read(offset);
    let address = generation.registers.fields(offset).iter().find_map(|field| match field.kind {
        Kind::Addr(shift) => Some(field.raw(word) << shift),
        _ => None,
    });
    Some((generation.registers.name(offset).to_string(), address?.into()))
}

impl Observer for Watch {
    fn buffer(&mut self, _: &mut Running<'_>, Announced { address, bytes, .. }: Announced) {
        let Some(offset) = self.within(address, bytes.into()) else { return };
        let buffer = BufferAround { address: Listed::of(address), bytes, offset };
        match self.buffers.len() < MAX_LISTED {
            true if !self.buffers.contains(&buffer) => self.buffers.push(buffer),
            true => {}
            false => self.is_cut = true,
        }
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, _: Option<u32>) {
        let Some((register, value)) = held(gpu, offset) else { return };
        if value > self.address {
            return;
        }
        let memory = gpu.sync().memory();
        let same = memory.buffer_at(value).filter(|buffer| memory.buffer_at(self.address) == Some(*buffer));
        if same.is_none() {
            return;
        }
        let key = (register, value);
        if self.registers.len() >= MAX_LISTED && !self.registers.contains_key(&key) {
            self.is_cut = true;
            return;
        }
        self.registers.entry(key).or_insert([gpu.at.frame_draw, 0])[1] += 1;
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        for read in draw.reads(gpu.sync().memory()) {
            self.add_use(read.what, read.address.gpu(), read.bytes.into(), draw.frame_draw);
        }
        for stage in &draw.shaders {
            let count = stage.shader.as_ref().map_or(0, |shader| shader.lines().count() as u64);
            let what = format!("{} program", stage.name());
            self.add_use(what, stage.address.gpu(), count * INSTRUCTION, draw.frame_draw);
        }
        Flow::Continue
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, buffers, registers, uses, is_cut } = self;
        writeln!(f, "{address}")?;
        if buffers.is_empty() {
            writeln!(f, "  no buffer of the capture holds it")?;
        }
        for BufferAround { address, bytes, offset } in buffers {
            writeln!(f, "  buffer    {address} + {offset:#x}, {bytes} bytes")?;
        }
        for NamedBy { register, value, offset, first, times } in registers {
            writeln!(
                f,
                "  register  {register} = {value}, + {offset:#x}; written {times} times, first before f{first}"
            )?;
        }
        for Use { what, address, bytes, offset, first, draws } in uses {
            writeln!(
                f,
                "  use       {what} at {address}, {bytes} bytes, + {offset:#x}; in {draws} draws, first in f{first}"
            )?;
        }
        if *is_cut {
            writeln!(f, "  and more")?;
        }
        Ok(())
    }
}
