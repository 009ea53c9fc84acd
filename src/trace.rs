//! Packets as they execute, with the state change that each made.

use std::io::{self, Write};

use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_decoder::packet::Packet;
use a4emu_decoder::{pm4, regs};

use crate::cp::observer::Load;
use crate::cp::{Call, Flow, Observer};
use crate::golden::{call_text, kind_name};
use crate::gpu::Gpu;

/// Payload dwords that are written out; of longer ones the rest is counted.
const SHOWN: usize = 8;

/// What a trace holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// One line for each packet.
    Packets,
    /// Also what each packet changed.
    Changes,
}

/// Writes a line for each packet. The first write error ends the replay and is kept.
pub struct Trace<W> {
    out: W,
    detail: Detail,
    error: Option<io::Error>,
}

impl<W: Write> Trace<W> {
    /// A trace of `detail` into `out`.
    pub fn new(out: W, detail: Detail) -> Self {
        Self { out, detail, error: None }
    }

    /// What was written to.
    ///
    /// # Errors
    /// The first write that failed.
    pub fn finish(self) -> io::Result<W> {
        self.error.map_or(Ok(self.out), Err)
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        if self.error.is_none() {
            self.error = writeln!(self.out, "{line}").err();
        }
    }

    fn flow(&self) -> Flow {
        if self.error.is_some() { Flow::Stop } else { Flow::Continue }
    }
}

/// The dwords in hexadecimal, as far as they are shown.
fn dwords(words: &[u32]) -> String {
    let shown: Vec<String> = words.iter().take(SHOWN).map(|word| format!("{word:08x}")).collect();
    match words.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(" "),
        Some(more) => format!("{} +{more}", shown.join(" ")),
    }
}

fn packet_text(packet: &Packet<'_>) -> String {
    match *packet {
        Packet::Type0 { reg, values, .. } => {
            format!("write {} {}", regs::RegName { offset: reg }, dwords(values))
        }
        Packet::Type1 { regs: [first, second], values } => {
            let [first, second] = [first, second].map(|offset| regs::RegName { offset });
            format!("write {first} {second} {}", dwords(values))
        }
        Packet::Type2 => "filler".to_owned(),
        Packet::Type3 { opcode, payload, .. } => {
            let name = pm4::row(opcode).map_or("unknown", |row| row.name);
            format!("{name} {opcode:02x} {}", dwords(payload))
        }
    }
}

impl<W: Write> Observer for Trace<W> {
    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>, depth: u32) {
        let (address, indent) = (gpu.at.address, 2 * depth as usize);
        self.line(format_args!("{address:08x}{:indent$}{}", "", packet_text(packet)));
    }

    fn register(&mut self, gpu: &Gpu, offset: u32, old: u32) {
        let word = gpu.regs.read(offset);
        if self.detail == Detail::Packets {
            return;
        }
        let name = regs::RegName { offset };
        let fields =
            regs::lookup(offset).map(|reg| WordText { rows: reg.fields(), word, show: Show::NonZero });
        let fields = fields.map_or_else(|| format!("{word:#x}"), |fields| fields.to_string());
        self.line(format_args!("    {name} {old:#x} -> {word:#x} {fields}"));
    }

    fn store(&mut self, _: &Gpu, address: u32, bytes: &[u8]) {
        if self.detail == Detail::Changes {
            let words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
            self.line(format_args!("    [{address:#010x}] = {}", dwords(&words)));
        }
    }

    fn load(&mut self, _: &Gpu, load: Load<'_>) {
        if self.detail == Detail::Changes {
            let kind = kind_name(load.kind);
            self.line(format_args!("    {kind} {} = {}", load.first, dwords(load.data)));
        }
    }

    fn call(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let text = call_text(gpu, call);
        self.line(format_args!("  draw {} {text}", call.number()));
        self.flow()
    }

    fn submit(&mut self, gpu: &mut Gpu, address: u32, dwords: u32) -> Flow {
        self.line(format_args!("submit {} {address:08x} dwords {dwords}", gpu.at.submit));
        self.flow()
    }
}
