//! Lists packets as they execute, with the state change of each.

use a4emu_decoder::adreno::address::Address;
use std::io::{self, Write};

use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_decoder::generation::Generation;

use crate::decode::{Hold, Output};
use crate::golden::{call_text, kind_name};
use crate::selection::Selection;
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;

/// Payload dwords that are printed; the others are only counted.
const SHOWN: usize = 8;

/// How much a trace shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One line for each packet.
    Packets,
    /// Also the changes of each packet.
    Changes,
}

/// An observer that writes a line for each packet of a selection. The first write error ends the output and
/// is kept. The run goes on for its exit status.
pub struct Trace<'a> {
    out: Output<'a>,
    detail: Detail,
    selection: Selection,
    /// The line of the submit, until a packet of it is shown.
    heading: Option<String>,
    error: io::Result<()>,
}

impl<'a> Trace<'a> {
    /// Makes a trace that writes `detail` of `selection` to `out`.
    pub fn new(out: Output<'a>, detail: Detail, selection: Selection) -> Self {
        Self { out, detail, selection, heading: None, error: Ok(()) }
    }

    /// Writes the buffered output.
    ///
    /// # Errors
    /// The call fails with the first write error of the trace.
    pub fn finish(mut self) -> io::Result<()> {
        if self.selection.draw.is_some() {
            self.hold(Hold::Drop);
        }
        self.error?;
        self.out.finish()
    }

    fn line(&mut self, gpu: &Gpu, line: std::fmt::Arguments<'_>) {
        if self.error.is_ok() && self.selection.has_submit(gpu.at.submit) {
            self.error = writeln!(self.out, "{line}");
        }
    }

    fn hold(&mut self, hold: Hold) {
        if self.error.is_ok() {
            self.error = self.out.hold(hold);
        }
    }

    /// Begins to hold the output if a draw is selected. The draw decides whether it is shown.
    fn begin(&mut self, gpu: &Gpu) {
        if self.selection.draw.is_some() {
            self.hold(Hold::Begin);
        }
        if let Some(heading) = self.heading.take() {
            self.line(gpu, format_args!("{heading}"));
            self.heading = self.selection.draw.map(|_| heading);
        }
    }
}

/// The first [`SHOWN`] dwords in hexadecimal.
fn dwords(words: &[u32]) -> String {
    let shown: Vec<String> = words.iter().take(SHOWN).map(|word| format!("{word:08x}")).collect();
    match words.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(" "),
        Some(more) => format!("{} +{more}", shown.join(" ")),
    }
}

fn packet_text(generation: &'static Generation, packet: &Packet<'_>) -> String {
    let name = |offset| generation.registers.name(offset);
    match *packet {
        Packet::Registers { reg, values, .. } => {
            format!("write {} {}", name(reg), dwords(values))
        }
        Packet::TwoRegisters { regs: [first, second], values } => {
            let [first, second] = [first, second].map(name);
            format!("write {first} {second} {}", dwords(values))
        }
        Packet::Filler => "filler".to_owned(),
        Packet::Command { opcode, payload, .. } => {
            let name = generation.packets.row(opcode).map_or("unknown", |row| row.name);
            format!("{name} {opcode:02x} {}", dwords(payload))
        }
    }
}

impl Observer for Trace<'_> {
    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        self.out.pay(&gpu.budget);
        let (address, indent) = (gpu.at.address, 2 * (gpu.at.depth as usize + 1));
        self.line(
            gpu,
            format_args!("{address:08x}{:indent$}{}", "", packet_text(gpu.chip.generation(), packet)),
        );
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, old: Option<u32>) {
        if self.detail == Detail::Packets {
            return;
        }
        let registers = gpu.chip.generation().registers;
        let (name, old, word) = (registers.name(offset), old.unwrap_or(0), gpu.regs.read(offset));
        let fields =
            registers.lookup(offset).map(|reg| WordText { rows: reg.fields(), word, show: Show::NonZero });
        let fields = fields.map_or_else(|| format!("{word:#x}"), |fields| fields.to_string());
        self.line(gpu, format_args!("    {name} {old:#x} -> {word:#x} {fields}"));
    }

    fn store(&mut self, gpu: &mut Running<'_>, address: Address, bytes: &[u8]) {
        if self.detail == Detail::Changes {
            let words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
            self.line(gpu, format_args!("    [{address}] = {}", dwords(&words)));
        }
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        if self.detail == Detail::Changes {
            let kind = kind_name(load.kind);
            self.line(gpu, format_args!("    {kind} {} = {}", load.first, dwords(load.data)));
        }
    }

    /// Decides at the draw whether the packets that set it up are shown.
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let text = call_text(call);
        self.line(gpu, format_args!("  draw {} f{} {text}", call.number(), call.frame_draw()));
        if self.selection.draw.is_some() {
            let keep = self.selection.has(call);
            self.heading.take_if(|_| keep);
            self.hold(if keep { Hold::Keep } else { Hold::Drop });
            self.begin(gpu);
        }
        Flow::Continue
    }

    fn submit(&mut self, gpu: &mut Running<'_>, address: Address, dwords: u32) -> Flow {
        self.heading = Some(format!("submit {} {address:08x} dwords {dwords}", gpu.at.submit));
        if self.selection.draw.is_some() {
            self.hold(Hold::Drop);
        }
        self.begin(gpu);
        Flow::Continue
    }
}
