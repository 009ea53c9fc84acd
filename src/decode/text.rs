//! The listing for people: one line per register write and packet, the address on the left.

use std::io::{self, Write};

use a4emu_decoder::bits::FieldRow;
use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_decoder::packet::Packet;
use a4emu_decoder::pm4::{PacketRow, Pm4, row};
use a4emu_decoder::regs::{RegName, lookup};

use super::memo::Memo;
use super::output::{Output, Palette};
use super::sink::{Loaded, Sink};
use super::state_text;
use super::tracker::{Change, Tracker, writes};
use super::work::{Work, primitive};
use crate::walk::{At, Problem, Seen, Submit};

/// Raw dwords on a line.
const DWORDS_PER_LINE: usize = 8;

/// Raw dwords of a packet that are shown; the rest is counted.
const MAX_RAW: usize = 64;

/// How much the listing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Every packet.
    Full,
    /// Submits, draws, and what changed from draw to draw.
    Summary,
}

/// The `text` and `summary` formats.
pub struct Text<'a> {
    out: Output<'a>,
    palette: Palette,
    detail: Detail,
    memo: Memo,
}

/// Fields of a register; none where it has no row.
pub(super) fn rows_of(offset: u32) -> &'static [FieldRow] {
    lookup(offset).map_or(&[], |reg| reg.fields())
}

/// A register's value with its fields, or the plain number where it has no row.
pub(super) fn value_text(offset: u32, word: u32) -> WordText {
    WordText { rows: rows_of(offset), word, show: Show::Full }
}

impl<'a> Text<'a> {
    /// Writes to `out`.
    pub fn new(out: Output<'a>, palette: Palette, detail: Detail) -> Self {
        Self { out, palette, detail, memo: Memo::default() }
    }

    fn indent(&mut self, at: &At) -> io::Result<()> {
        for _ in 0..at.depth {
            self.out.write_all(b"  ")?;
        }
        Ok(())
    }

    /// Address and indentation of a line.
    fn line(&mut self, at: &At) -> io::Result<()> {
        let Palette { address: style, .. } = self.palette;
        write!(self.out, "{style}{:08x}{style:#}  ", at.address)?;
        self.indent(at)
    }

    /// A further line of the packet of the line before.
    fn continued(&mut self, at: &At) -> io::Result<()> {
        self.out.write_all(b"          ")?;
        self.indent(at)
    }

    fn register(&mut self, offset: u32, value: u32) -> io::Result<()> {
        let Palette { address, name, .. } = self.palette;
        let line = self.memo.get(offset, value, |line| {
            let (text, reg) = (value_text(offset, value), RegName { offset });
            writeln!(line, "{address}{offset:04x}{address:#} {name}{reg}{name:#} = {value:08x} {text}")
        })?;
        self.out.write_all(line)
    }

    fn registers(&mut self, at: &At, seen: &Seen<'_>) -> io::Result<()> {
        let mut first = matches!(seen.packet, Packet::Type0 { .. } | Packet::Type1 { .. });
        for (offset, value) in writes(seen) {
            if std::mem::take(&mut first) {
                self.line(at)?
            } else {
                self.continued(at)?
            }
            self.register(offset, value)?;
        }
        Ok(())
    }

    fn command(&mut self, at: &At, opcode: u8, payload: &[u32]) -> io::Result<()> {
        self.line(at)?;
        let Palette { name: style, .. } = self.palette;
        let Some(row) = row(opcode) else {
            writeln!(self.out, "{style}UNKNOWN_{opcode:02X}{style:#}")?;
            return self.raw(at, payload);
        };
        write!(self.out, "{style}{}{style:#}", row.name)?;
        for (dword, &word) in row.dwords.iter().zip(payload) {
            write!(self.out, " {}", WordText { rows: dword.fields, word, show: Show::Full })?;
        }
        self.out.write_all(b"\n")?;
        let rest = payload.get(row.dwords.len()..).unwrap_or(&[]);
        if row.repeat.is_empty() { Ok(()) } else { self.entries(at, row, rest) }
    }

    fn entries(&mut self, at: &At, row: &PacketRow, rest: &[u32]) -> io::Result<()> {
        for entry in rest.chunks(row.repeat.len()) {
            self.continued(at)?;
            for (dword, &word) in row.repeat.iter().zip(entry) {
                write!(self.out, "  {}", WordText { rows: dword.fields, word, show: Show::Full })?;
            }
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn raw(&mut self, at: &At, dwords: &[u32]) -> io::Result<()> {
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

    /// What lies behind the fixed part of a packet.
    fn contents(&mut self, at: &At, seen: &Seen<'_>, body: &Pm4<'_>) -> io::Result<()> {
        match body {
            Pm4::LoadState4(load) => self.loaded(at, &Loaded::find(load, at, seen.buffers)),
            Pm4::Nop(nop) => match marker(nop.rest) {
                Some(text) => {
                    self.continued(at)?;
                    writeln!(self.out, "  {text:?}")
                }
                None => self.raw(at, nop.rest),
            },
            Pm4::SetDrawState(_) | Pm4::MemToMem(_) | Pm4::WideRegWrite(_) | Pm4::Unknown { .. } => Ok(()),
            _ => self.raw(at, rest_of(seen)),
        }
    }

    fn loaded(&mut self, at: &At, loaded: &Loaded) -> io::Result<()> {
        let lines = state_text::lines(loaded);
        for line in lines {
            self.continued(at)?;
            writeln!(self.out, "  {line}")?;
        }
        Ok(())
    }

    fn change(&mut self, tracker: &Tracker, change: &Change) -> io::Result<()> {
        let Palette { name, .. } = self.palette;
        let value = tracker.regs().read(change.offset);
        let (reg, text) = (RegName { offset: change.offset }, value_text(change.offset, value));
        write!(self.out, "    {name}{reg}{name:#} = {text}")?;
        match change.before {
            Some(before) => writeln!(self.out, ", was {}", value_text(change.offset, before)),
            None => self.out.write_all(b"\n"),
        }
    }
}

/// The dwords that no row describes.
fn rest_of<'a>(seen: &Seen<'a>) -> &'a [u32] {
    let Packet::Type3 { opcode, payload, .. } = seen.packet else { return &[] };
    payload.get(row(opcode).map_or(0, |row| row.dwords.len())..).unwrap_or(&[])
}

/// The text of a string marker: printable ASCII, padded with NULs.
fn marker(dwords: &[u32]) -> Option<String> {
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    let end = bytes.iter().rposition(|&byte| byte != 0)? + 1;
    let printable = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    bytes[..end].iter().all(printable).then(|| String::from_utf8_lossy(&bytes[..end]).into_owned())
}

impl Sink for Text<'_> {
    fn gpu(&mut self, id: u32) -> io::Result<()> {
        writeln!(self.out, "gpu {id}")
    }

    fn submit(&mut self, submit: &Submit) -> io::Result<()> {
        let Palette { heading, .. } = self.palette;
        let (index, buffer) = (submit.index, submit.buffer);
        writeln!(
            self.out,
            "\n{heading}submit {index}{heading:#}: {} dwords at {:08x}, {}",
            buffer.length, buffer.address, submit.command
        )
    }

    fn packet(&mut self, at: &At, seen: &Seen<'_>, _: &Tracker) -> io::Result<()> {
        if self.detail == Detail::Summary {
            return Ok(());
        }
        if let Packet::Type3 { opcode, payload, .. } = seen.packet {
            self.command(at, opcode, payload)?;
        }
        self.registers(at, seen)?;
        match &seen.body {
            Some(body) => self.contents(at, seen, body),
            None => Ok(()),
        }
    }

    fn work(&mut self, at: &At, work: &Work, tracker: &Tracker) -> io::Result<()> {
        let Palette { heading, .. } = self.palette;
        let draw = at.draw;
        match *work {
            Work::Draw { initiator, count, instances } => {
                let (count, instances) = (Known(count), Known(instances));
                let (primitive, pass) = (primitive(initiator), tracker.pass());
                write!(
                    self.out,
                    "{heading}draw {draw}{heading:#}: {primitive}, {count} x {instances}, {pass}"
                )?;
            }
            Work::Dispatch { groups: Some([x, y, z]) } => {
                write!(self.out, "{heading}draw {draw}{heading:#}: dispatch {x} x {y} x {z}")?;
            }
            Work::Dispatch { groups: None } => {
                write!(self.out, "{heading}draw {draw}{heading:#}: dispatch")?;
            }
        }
        let written = tracker.written().len();
        writeln!(self.out, "; {written} registers written, {} changed", tracker.changed().count())?;
        for change in tracker.changed() {
            self.change(tracker, &change)?;
        }
        Ok(())
    }

    fn problem(&mut self, at: &At, problem: &Problem) -> io::Result<()> {
        let Palette { error, .. } = self.palette;
        self.line(at)?;
        writeln!(self.out, "{error}error{error:#}: {problem}")
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.finish()
    }
}

/// A number, or `?` where the capture does not hold it.
struct Known(Option<u32>);

impl std::fmt::Display for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(number) => write!(f, "{number}"),
            None => f.write_str("?"),
        }
    }
}
