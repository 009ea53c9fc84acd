//! Prints a capture as text that assembles to equal bytes.
//!
//! First [`items`] splits the file. Then [`plan`] follows the submits and their calls, and finds which bytes
//! are commands and which are shaders. At last every item is printed in file order. If a form would not give
//! equal bytes back, the plain bytes are printed instead.

mod data;
mod items;
mod out;
mod plan;
mod state;
mod stream;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;

use items::{Dump, Item};
use out::Out;
use plan::{Plan, Region};
pub(super) use stream::{CALL, call_dwords};

use super::WIDE_RECORD;
use super::ranges::Ranges;
use crate::adreno::capture::{Foreign, SectionId};

/// Bytes that are compared at once in a buffer that changed.
const LINE: usize = 64;

/// Characters that are escaped in strings: quotes and backslash, and brackets, which are counted before
/// parsing.
const ESCAPED: &[u8] = b"\"\\{}()[]";

/// A buffer that is already printed.
struct Known<'a> {
    /// Number of earlier buffers at this address.
    others: u32,
    contents: Option<&'a [u8]>,
}

/// The printer's state: its output, and the names that later text may use.
struct Printer<'a, 'w> {
    out: Out<'w>,
    plan: Plan,
    /// Number of buffers at each address.
    at_address: BTreeMap<u64, u32>,
    /// Buffers by address, size, and whether they have contents.
    buffers: BTreeMap<(u64, u32, bool), Known<'a>>,
    /// Address ranges of the buffers of the next submit.
    submits: Ranges,
    form: usize,
}

/// A capture as source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disassembly {
    /// The source.
    pub text: String,
    /// The part of the capture that the text lacks.
    pub rest: Rest,
}

/// The bytes of a capture that are not in its source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// Bytes at the end that belong to no section, because the capture is cut off or corrupt.
    pub damaged: usize,
    /// Bytes after the point at which `may` refused a piece.
    pub cut: usize,
}

/// Disassembles `capture` (unpacked bytes, damaged or not) into source text.
pub fn disassemble(capture: &[u8]) -> Disassembly {
    let mut text = Vec::new();
    let (rest, written) = disassemble_into(capture, &mut text, Foreign::PassOver, &mut |_| true);
    written.expect("memory can be written");
    Disassembly { text: String::from_utf8(text).expect("only text is written"), rest }
}

/// Writes the source of `capture` to `to`, piece by piece, as long as `may` allows pieces of so many bytes.
///
/// `may` is called twice for each piece: every piece is examined before the first one is written. The first
/// result is known even if `to` cannot be written. Streams of a generation that cannot be read are printed as data,
/// unless `foreign` is [`Foreign::Interpret`].
pub fn disassemble_into(
    capture: &[u8],
    to: &mut dyn io::Write,
    foreign: Foreign,
    may: &mut dyn FnMut(usize) -> bool,
) -> (Rest, io::Result<()>) {
    let plan = plan::plan(items::items(capture).allowed(may), foreign);
    let mut printer = Printer {
        out: Out::new(to),
        plan,
        at_address: BTreeMap::new(),
        buffers: BTreeMap::new(),
        submits: Ranges::default(),
        form: WIDE_RECORD,
    };
    let mut items = items::items(capture).allowed(may);
    let mut rest = Rest::default();
    for (index, item) in items.by_ref().enumerate() {
        printer.item(index, &item);
        if let Item::Raw(bytes) = item {
            rest.damaged = bytes.len();
        }
    }
    rest.cut = items.left();
    (rest, printer.out.finish())
}

/// The name of a buffer, such as `b_fff66000`. It ends in a number if the address had buffers of another size
/// before.
fn buffer_name(address: u64, others: u32) -> String {
    match others {
        0 => format!("b_{address:x}"),
        others => format!("b_{address:x}_{}", others + 1),
    }
}

impl<'a> Printer<'a, '_> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.out.write_fmt(text);
        self.out.push('\n');
    }

    fn item(&mut self, index: usize, item: &Item<'a>) {
        match item {
            Item::Markers(1) => self.line(format_args!("marker")),
            Item::Markers(count) => self.line(format_args!("marker {count}")),
            Item::Raw(bytes) => self.block("raw", bytes),
            Item::Section(id, payload) => self.section(*id, payload),
            Item::Dump(dump) => self.dump(index, dump),
            Item::Submit { address, dwords, form } => {
                self.form(*form);
                self.submits.clear();
                match self.plan.label(*address, u64::from(*dwords) * 4) {
                    Some(label) => {
                        let _ = writeln!(self.out, "submit {label}\n");
                    }
                    None => self.line(format_args!("submit {address:#x} dwords {dwords}\n")),
                }
            }
        }
    }

    fn block(&mut self, head: &str, bytes: &[u8]) {
        self.line(format_args!("{head} {{"));
        data::data(&mut self.out, "  ", bytes);
        self.line(format_args!("}}"));
    }

    fn section(&mut self, id: u32, payload: &[u8]) {
        match (SectionId::from_bits(id), payload.as_array::<4>(), payload.as_array::<8>()) {
            (SectionId::TEST, ..) => self.text("test", payload),
            (SectionId::CMD, ..) => self.text("cmd", payload),
            (SectionId::GPU_ID, Some(&id), _) => self.line(format_args!("gpu_id {}", u32::from_le_bytes(id))),
            (SectionId::CHIP_ID, _, Some(&id)) => {
                self.line(format_args!("chip_id {:#010x}", u64::from_le_bytes(id)));
            }
            (SectionId::Other(id), ..) => self.block(&format!("section {id:#x}"), payload),
            (known, ..) => self.block(&format!("section {known:?}"), payload),
        }
    }

    fn text(&mut self, word: &str, text: &[u8]) {
        let _ = write!(self.out, "{word} \"");
        for &byte in text {
            let _ = match byte {
                b'\n' => self.out.write_str("\\n"),
                0 => self.out.write_str("\\0"),
                _ if ESCAPED.contains(&byte) => write!(self.out, "\\x{byte:02x}"),
                b' '..=b'~' => self.out.write_char(byte.into()),
                _ => write!(self.out, "\\x{byte:02x}"),
            };
        }
        self.out.push_str("\"\n");
    }

    fn form(&mut self, form: usize) {
        if self.form != form {
            self.form = form;
            self.line(format_args!("form {form}"));
        }
    }

    fn dump(&mut self, index: usize, dump: &Dump<'a>) {
        self.form(dump.form);
        let key = (dump.address, dump.size, dump.contents.is_some());
        let Some(&Known { others, contents: old }) = self.buffers.get(&key) else {
            let others = self.at_address.entry(dump.address).or_default();
            let known = Known { others: *others, contents: dump.contents };
            *others += 1;
            self.new_buffer(index, &buffer_name(dump.address, known.others), dump);
            self.buffers.insert(key, known);
            return;
        };
        let name = buffer_name(dump.address, others);
        match (old, dump.contents) {
            (Some(old), Some(new)) => self.again(index, &name, dump.address, old, new),
            _ => self.line(format_args!("again {name}")),
        }
        self.buffers.insert(key, Known { others, contents: dump.contents });
    }

    /// The word `overlaps` for a buffer that overlaps another one of its submit; else empty.
    fn mark_of(&mut self, dump: &Dump<'_>) -> &'static str {
        let bytes = dump.contents.map_or(u64::from(dump.size), |bytes| bytes.len() as u64);
        let (start, end) = (dump.address, dump.address.saturating_add(bytes));
        let mark = if self.submits.overlap(start, end).is_some() { " overlaps" } else { "" };
        self.submits.add(start, end);
        mark
    }

    fn new_buffer(&mut self, index: usize, name: &str, dump: &Dump<'_>) {
        let Dump { address, size, .. } = *dump;
        let place = format!("{address:#x}{}", self.mark_of(dump));
        let Some(bytes) = dump.contents else {
            return self.line(format_args!("buffer {name} @ {place} size {size:#x}"));
        };
        let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let regions = self.plan.regions(index).to_vec();
        let covered = regions.last().map_or(0, |region| region.end());
        // Whole dwords are easier to read. The bytes that are left out are zeros.
        let used = used.next_multiple_of(4).min(bytes.len()).max(covered);
        match used < bytes.len() || used == 0 {
            true => self.line(format_args!("buffer {name} @ {place} size {size:#x} {{")),
            false => self.line(format_args!("buffer {name} @ {place} {{")),
        }
        let mut at = 0;
        for region in &regions {
            data::data(&mut self.out, "  ", &bytes[at..region.start]);
            self.region(region, address, &bytes[region.start..region.end()]);
            at = region.end();
        }
        data::data(&mut self.out, "  ", &bytes[at..used]);
        self.line(format_args!("}}"));
    }

    /// Prints the changes since the last dump: whole regions, or lines of data.
    fn again(&mut self, index: usize, name: &str, address: u64, old: &[u8], new: &[u8]) {
        let regions = self.plan.regions(index).to_vec();
        if old == new && !regions.iter().any(|region| region.defines) {
            return self.line(format_args!("again {name}"));
        }
        self.line(format_args!("again {name} {{"));
        let mut at = 0;
        for region in &regions {
            self.changes(at, region.start, old, new);
            let range = region.start..region.end();
            if region.defines {
                self.line(format_args!("  at {:#x}", region.start));
                self.region(region, address, &new[range]);
            } else if region.kind == plan::Kind::Commands {
                let changed = stream::Changed { old: &old[range.clone()], start: region.start };
                stream::changes(&mut self.out, &self.plan, &new[range], changed);
            } else {
                self.changes(range.start, range.end, old, new);
            }
            at = region.end();
        }
        self.changes(at, new.len(), old, new);
        self.line(format_args!("}}"));
    }

    /// Prints the lines of `start..end` that differ, adjacent ones together.
    fn changes(&mut self, start: usize, end: usize, old: &[u8], new: &[u8]) {
        let lines = (start..end).step_by(LINE).map(|at| at..(at + LINE).min(end));
        let mut changed: Option<std::ops::Range<usize>> = None;
        for line in lines {
            let differs = old[line.clone()] != new[line.clone()];
            match (&mut changed, differs) {
                (Some(run), true) => run.end = line.end,
                (None, true) => changed = Some(line),
                (Some(_), false) => self.changed_run(changed.take(), new),
                (None, false) => {}
            }
        }
        self.changed_run(changed, new);
    }

    fn changed_run(&mut self, run: Option<std::ops::Range<usize>>, new: &[u8]) {
        let Some(run) = run else { return };
        self.line(format_args!("  at {:#x}", run.start));
        data::data(&mut self.out, "  ", &new[run]);
    }

    /// Prints commands or a shader, with a label if the plan has one.
    fn region(&mut self, region: &Region, base: u64, bytes: &[u8]) {
        let address = base + region.start as u64;
        let label = match region.defines {
            true => self.plan.label(address, bytes.len() as u64).map(str::to_owned),
            false => None,
        };
        if let Some(label) = &label {
            self.line(format_args!("  {label}: {{"));
        }
        match region.kind {
            plan::Kind::Commands => stream::commands(&mut self.out, &self.plan, bytes),
            plan::Kind::Shader => {
                data::shader_block(&mut self.out, "    ", self.plan.generation.isa(), bytes)
            }
        }
        if label.is_some() {
            self.line(format_args!("  }}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three sections of 12 bytes. Both passes call `may` for each.
    #[test]
    fn refused_sections_are_omitted_and_their_bytes_counted() {
        let section = [7u32, 4, 1].map(u32::to_le_bytes).concat();
        let capture = [&section[..], &section, &section].concat();
        let whole = disassemble(&capture);
        for (allowed, written) in [(6, 3), (5, 2), (4, 1), (2, 0), (0, 0)] {
            let (mut text, mut asked) = (Vec::new(), 0);
            let (rest, _) = disassemble_into(&capture, &mut text, Foreign::PassOver, &mut |bytes| {
                asked += 1;
                bytes == 12 && asked <= allowed
            });
            assert!(whole.text.as_bytes().starts_with(&text), "{allowed}");
            assert_eq!(
                (rest.cut, text.len()),
                (12 * (3 - written), whole.text.len() / 3 * written),
                "{allowed}"
            );
        }
    }
}
