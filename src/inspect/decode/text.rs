//! The listing as text: one line per register write and packet, with the address on the left.

use std::io::{self, Write};

use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::adreno::pm4::{Outline, PacketRow};
use a4emu_decoder::adreno::registers::RegisterTable;
use a4emu_decoder::bits::value::{Show, WordText};

use super::in_effect;
use super::jsonl::Shaders;
use super::memo::Memo;
use super::output::{Hold, Output};
use super::primitive::Primitive;
use super::sink::{Sink, Submit};
use super::state_text;
use super::tracker::{Change, Tracker};
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::cp::{BlitCall, Call};
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::fault::{Place, Trouble};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Synced;
use a4emu_support::terminal::Shown;

/// Raw dwords on a line.
const DWORDS_PER_LINE: usize = 8;

/// Raw dwords of a packet that are shown; the others are only counted.
const MAX_RAW: usize = 64;

/// How much the listing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Every packet and register write.
    Full,
    /// Submits, draws, and what changed from draw to draw.
    Summary,
}

/// The `text` and `summary` formats.
pub struct Text<'a> {
    out: Output<'a>,
    detail: Detail,
    shaders: Shaders,
    memo: Memo,
    /// The next register is the first of a packet that only writes registers.
    first: bool,
}

/// A register's value with its fields, or the plain number if it has no row.
fn value_text(registers: &RegisterTable, offset: u32, word: u32) -> WordText {
    WordText { rows: registers.fields(offset), word, show: Show::Full }
}

impl<'a> Text<'a> {
    /// Makes a listing into `out`.
    pub fn new(out: Output<'a>, detail: Detail, shaders: Shaders) -> Self {
        Self { out, detail, shaders, memo: Memo::default(), first: false }
    }

    fn indent(&mut self, at: &Place) -> io::Result<()> {
        for _ in 0..at.depth {
            self.out.write_all(b"  ")?;
        }
        Ok(())
    }

    /// Writes the address and indentation of a line.
    fn line(&mut self, at: &Place) -> io::Result<()> {
        write!(self.out, "{:08x}  ", at.address)?;
        self.indent(at)
    }

    /// Begins a further line of the last packet.
    fn continued(&mut self, at: &Place) -> io::Result<()> {
        self.out.write_all(b"          ")?;
        self.indent(at)
    }

    fn value(&mut self, registers: &'static RegisterTable, offset: u32, value: u32) -> io::Result<()> {
        let line = self.memo.get(offset, value, |line| {
            let (text, reg) = (value_text(registers, offset, value), registers.name(offset));
            writeln!(line, "{offset:04x} {reg} = {value:08x} {text}")
        })?;
        self.out.write_all(line)
    }

    fn command(&mut self, gpu: &Gpu, opcode: u8, payload: &[u32]) -> io::Result<()> {
        let (at, packets) = (&gpu.at, gpu.chip.generation().packets);
        self.line(at)?;
        let Some(row) = packets.row(opcode) else {
            writeln!(self.out, "{}", packets.name(opcode))?;
            return self.raw(at, payload);
        };
        let row = row.laid_out(payload);
        write!(self.out, "{}", row.name)?;
        for (dword, &word) in row.dwords.iter().zip(payload) {
            write!(self.out, " {}", WordText { rows: dword.fields, word, show: Show::Full })?;
        }
        self.out.write_all(b"\n")?;
        let rest = payload.get(row.dwords.len()..).unwrap_or(&[]);
        if row.repeat.is_empty() { Ok(()) } else { self.entries(at, row, rest) }
    }

    fn entries(&mut self, at: &Place, row: &PacketRow, rest: &[u32]) -> io::Result<()> {
        for entry in rest.chunks(row.repeat.len()) {
            self.continued(at)?;
            for (dword, &word) in row.repeat.iter().zip(entry) {
                write!(self.out, "  {}", WordText { rows: dword.fields, word, show: Show::Full })?;
            }
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn raw(&mut self, at: &Place, dwords: &[u32]) -> io::Result<()> {
        for line in dwords[..dwords.len().min(MAX_RAW)].chunks(DWORDS_PER_LINE) {
            self.continued(at)?;
            for dword in line {
                write!(self.out, " {dword:08x}")?;
            }
            self.out.write_all(b"\n")?;
        }
        match dwords.len().checked_sub(MAX_RAW + 1) {
            None => Ok(()),
            Some(more) => {
                self.continued(at)?;
                writeln!(self.out, " and {} dwords", more + 1)
            }
        }
    }

    /// Writes the data after the fixed part of a packet.
    fn contents(&mut self, gpu: &Gpu, opcode: u8, payload: &[u32]) -> io::Result<()> {
        let (at, generation) = (&gpu.at, gpu.chip.generation());
        let outline = (generation.outline)(opcode, payload);
        match (outline, generation.packets.row(opcode).map(|row| row.laid_out(payload))) {
            (Outline::Nop(rest), _) => match marker(rest) {
                Some(text) => {
                    self.continued(at)?;
                    writeln!(self.out, "  {text:?}")
                }
                None => self.raw(at, rest),
            },
            (_, Some(row)) if row.repeat.is_empty() && outline != Outline::Load => {
                self.raw(at, payload.get(row.dwords.len()..).unwrap_or(&[]))
            }
            _ => Ok(()),
        }
    }

    fn change(&mut self, gpu: &Gpu, change: &Change) -> io::Result<()> {
        let (value, registers) = (gpu.regs.read(change.offset), gpu.chip.generation().registers);
        let (reg, text) = (registers.name(change.offset), value_text(registers, change.offset, value));
        write!(self.out, "    {reg} = {text}")?;
        match change.before {
            Some(before) => writeln!(self.out, ", was {}", value_text(registers, change.offset, before)),
            None => self.out.write_all(b"\n"),
        }
    }
}

/// The text of a string marker: printable ASCII, padded with NULs.
fn marker(dwords: &[u32]) -> Option<String> {
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    let end = bytes.iter().rposition(|&byte| byte != 0)? + 1;
    let printable = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    bytes[..end].iter().all(printable).then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
}

impl Sink for Text<'_> {
    fn lists_packets(&self) -> bool {
        self.detail == Detail::Full
    }

    fn reads_container(&self) -> bool {
        self.detail == Detail::Summary
    }

    fn pay(&mut self, budget: &Budget) {
        self.out.pay(budget);
    }

    fn hold(&mut self, hold: Hold) -> io::Result<()> {
        self.out.hold(hold)
    }

    fn gpu(&mut self, id: u32) -> io::Result<()> {
        writeln!(self.out, "gpu {id}")
    }

    fn submit(&mut self, submit: &Submit) -> io::Result<()> {
        let Submit { index, address, dwords, command } = submit;
        writeln!(self.out, "\nsubmit {index}: {dwords} dwords at {address:08x}, {}", Shown(command))
    }

    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>) -> io::Result<()> {
        self.first = matches!(packet, Packet::Registers { .. } | Packet::TwoRegisters { .. });
        if let Some(search) = gpu.hang.as_ref().filter(|search| search.is_here()) {
            self.line(&gpu.at)?;
            writeln!(self.out, "<== the GPU stood here ({})", search.registers())?;
        }
        let Packet::Command { opcode, payload, .. } = *packet else { return Ok(()) };
        self.command(gpu, opcode, payload)?;
        self.contents(gpu, opcode, payload)
    }

    fn register(&mut self, gpu: &Gpu, offset: u32) -> io::Result<()> {
        if std::mem::take(&mut self.first) {
            self.line(&gpu.at)?;
        } else {
            self.continued(&gpu.at)?;
        }
        self.value(gpu.chip.generation().registers, offset, gpu.regs.read(offset))
    }

    fn load(&mut self, gpu: &Gpu, load: &Load<'_>) -> io::Result<()> {
        for line in state_text::lines(load) {
            self.continued(&gpu.at)?;
            writeln!(self.out, "  {line}")?;
        }
        Ok(())
    }

    fn call(&mut self, gpu: &Gpu, call: &Call, tracker: &Tracker) -> io::Result<()> {
        write!(self.out, "draw {} f{}: ", call.number(), call.frame_draw())?;
        match call {
            Call::Draw(call) => {
                let (primitive, DrawCall { count, instances, pass, .. }) =
                    (Primitive::of(call.initiator), call);
                write!(self.out, "{primitive}, {count} x {instances}, {pass}")?;
            }
            Call::Uncounted(call) => write!(self.out, "{}, ? vertices, {}", call.packet, call.pass)?,
            Call::Dispatch(call) => {
                let [x, y, z] = call.groups;
                write!(self.out, "dispatch {x} x {y} x {z}")?;
            }
            Call::Blit(BlitCall { pass: Some(pass), .. }) => write!(self.out, "blit, {pass}")?,
            Call::Blit(_) => write!(self.out, "blit")?,
        }
        let written = tracker.written().len();
        writeln!(self.out, "; {written} registers written, {} changed", tracker.changed(&gpu.regs).count())?;
        tracker.changed(&gpu.regs).try_for_each(|change| self.change(gpu, &change))
    }

    fn in_effect(&mut self, gpu: Synced<'_>, call: &Call) -> io::Result<()> {
        writeln!(self.out, "in effect at draw {} f{}:", call.number(), call.frame_draw())?;
        let lines = in_effect::lines(gpu, call, self.shaders);
        lines.iter().try_for_each(|line| writeln!(self.out, "    {line}"))
    }

    fn trouble(&mut self, gpu: &Gpu, trouble: &Trouble) -> io::Result<()> {
        // A refusal has no place in the stream. The command reports it.
        if matches!(trouble, Trouble::Refused(_) | Trouble::NoProcess(_)) {
            return Ok(());
        }
        self.line(&gpu.at)?;
        writeln!(self.out, "error: {trouble}")
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.finish()
    }
}
