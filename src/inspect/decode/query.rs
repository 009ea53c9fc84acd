//! `--query`: the values of chosen registers, packets and descriptors, a line per draw or a line per value.

use a4emu_decoder::generation::Generation;
use std::fmt;
use std::io::{self, Write};

use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::adreno::registers::RegName;
use a4emu_decoder::bits::value::{Show, WordText};
use hashbrown::HashMap;

use super::jsonl::{DrawPlace, query, without_room};
use super::lines::Lines;
use super::output::Hold;
use super::primitive::Primitive;
use super::sink::Sink;
use super::tracker::Tracker;
use super::values::Values;
use super::{Format, Options, QueryMode};
use crate::subjects::{Source, Subject, subjects};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::Call;
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::gpu::Gpu;

/// Most values of packets and descriptors that are kept for a draw.
const MAX_MET: usize = 1 << 16;

/// The `--query` output.
pub struct Query<'a> {
    lines: Lines<'a>,
    subjects: Vec<Subject>,
    mode: QueryMode,
    format: Format,
    /// The values of each subject, for [`QueryMode::Values`].
    values: Values,
    /// The values of packets and descriptors since the draw before.
    met: Met,
}

/// The values that packets and descriptors had since the draw before.
#[derive(Default)]
struct Met {
    /// Indices of the subjects that are dwords of a packet, by opcode.
    of_packets: HashMap<u8, Vec<usize>>,
    /// Indices of the subjects that are words of descriptors, by name.
    of_words: HashMap<&'static str, Vec<usize>>,
    /// Index of the subject and value, in the order of the stream.
    values: Vec<(usize, u32)>,
    /// Values for which there was no room.
    more: u64,
    /// The last value of each subject.
    last: HashMap<usize, u32>,
}

impl Met {
    fn new(subjects: &[Subject]) -> Self {
        let mut met = Self::default();
        for (index, subject) in subjects.iter().enumerate() {
            match subject.source {
                Source::Register(_) => {}
                Source::Dword(row, _) => met.of_packets.entry(row.opcode).or_default().push(index),
                Source::Word(row) => met.of_words.entry(row.name).or_default().push(index),
            }
        }
        met
    }

    fn add(&mut self, index: usize, subject: &Subject, value: u32, mode: QueryMode) {
        let bits = value & subject.mask();
        let before = self.last.insert(index, bits);
        if !subject.fits(value) || mode == QueryMode::Delta && before == Some(bits) {
            return;
        }
        match self.values.len() < MAX_MET {
            true => self.values.push((index, value)),
            false => self.more += 1,
        }
    }
}

impl<'a> Query<'a> {
    /// Makes a query with `options` that writes to `lines`. Names are those of `generation`.
    ///
    /// # Errors
    /// The call fails if a name is unknown.
    pub fn new(lines: Lines<'a>, generation: &'static Generation, options: &Options) -> anyhow::Result<Self> {
        let found = options.query.iter().map(|text| subjects(generation, text));
        let all = found.collect::<Result<Vec<_>, _>>()?.concat();
        let (values, met) = (Values::new(all.len()), Met::new(&all));
        Ok(Self { lines, subjects: all, mode: options.query_mode, format: options.format, values, met })
    }

    /// Whether the register at `offset` is shown at this draw. An unwritten one is shown only if it was requested by
    /// name.
    fn shows(&self, subject: &Subject, offset: u32, gpu: &Gpu, tracker: &Tracker) -> bool {
        let (now, mask) = (gpu.regs.written(offset), subject.mask());
        let bits = |value: Option<u32>| value.map(|value| value & mask);
        if now.is_some_and(|now| !subject.fits(now)) {
            return false;
        }
        match self.mode {
            QueryMode::All | QueryMode::Values => now.is_some() || !subject.by_pattern,
            QueryMode::Written => tracker.change(offset).is_some(),
            QueryMode::Delta => tracker.change(offset).is_some_and(|change| bits(now) != bits(change.before)),
        }
    }

    /// Shows or counts a value of subject number `index`.
    fn show(&mut self, call: &Call, index: usize, value: Option<u32>) -> io::Result<()> {
        let subject = self.subjects[index];
        match (self.mode, self.format) {
            (QueryMode::Values, _) => {
                self.values.count(index, value.map(|value| value & subject.mask()), DrawPlace::of(call));
                Ok(())
            }
            (_, Format::Jsonl) => self.lines.put(&query(call, &subject, value)),
            (_, Format::Text | Format::Summary) => self.line(call, &subject, value),
        }
    }

    fn line(&mut self, call: &Call, subject: &Subject, value: Option<u32>) -> io::Result<()> {
        let (submit, draw, frame_draw) = (call.submit(), call.number(), call.frame_draw());
        write!(self.lines.out, "submit {submit} draw {draw} f{frame_draw} ")?;
        match call {
            Call::Draw(call) => write!(self.lines.out, "{} {}", Primitive::of(call.initiator), call.pass)?,
            Call::Uncounted(call) => write!(self.lines.out, "{} {}", call.packet, call.pass)?,
            Call::Dispatch(_) => write!(self.lines.out, "dispatch")?,
            Call::Blit(call) => write!(self.lines.out, "{}", call.name())?,
        }
        writeln!(self.lines.out, ": {}", Held { subject, value })
    }

    /// Shows what packets and descriptors held since the draw before.
    fn show_met(&mut self, gpu: &Gpu, call: &Call) -> io::Result<()> {
        let (values, more) = (std::mem::take(&mut self.met.values), std::mem::take(&mut self.met.more));
        gpu.budget.observe(Work::Dword, values.len() as u64);
        for (index, value) in values {
            self.show(call, index, Some(value))?;
        }
        match more {
            0 => Ok(()),
            _ if self.format == Format::Jsonl => self.lines.put(&without_room(call, more)),
            _ => writeln!(self.lines.out, "draw {}: and {more} more", call.number()),
        }
    }
}

/// A register, or another word, with its value, as text.
pub(super) struct Held<'a> {
    pub subject: &'a Subject,
    /// The value, of which the fields of the requested bits are printed. `None` if it was never written.
    pub value: Option<u32>,
}

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, value } = *self;
        f.write_str(&subject.source.name())?;
        match value {
            Some(value) => {
                let text =
                    WordText { rows: subject.fields(), word: value & subject.mask(), show: Show::Full };
                write!(f, " = {value:08x} {text}")
            }
            None => f.write_str(" was never written"),
        }
    }
}

impl Sink for Query<'_> {
    fn lists_packets(&self) -> bool {
        !(self.met.of_packets.is_empty() && self.met.of_words.is_empty())
    }

    fn pay(&mut self, budget: &Budget) {
        self.lines.out.pay(budget);
    }

    fn hold(&mut self, hold: Hold) -> io::Result<()> {
        self.lines.out.hold(hold)
    }

    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>) -> io::Result<()> {
        let Packet::Command { opcode, payload, .. } = *packet else { return Ok(()) };
        let Some(indices) = self.met.of_packets.get(&opcode).cloned() else { return Ok(()) };
        gpu.budget.observe(Work::Dword, indices.len() as u64);
        for index in indices {
            let subject = self.subjects[index];
            let Source::Dword(row, dword) = subject.source else { continue };
            // A dword behind the fixed ones is there once for each repetition.
            let repeats = dword >= row.dwords.len() && !row.repeat.is_empty();
            let step = if repeats { row.repeat.len() } else { usize::MAX };
            for &value in payload.iter().skip(dword).step_by(step) {
                self.met.add(index, &subject, value, self.mode);
            }
        }
        Ok(())
    }

    fn load(&mut self, gpu: &Gpu, load: &Load<'_>) -> io::Result<()> {
        let words = (gpu.chip.generation().loads.words)(load.kind);
        for (position, row) in words.iter().enumerate() {
            let Some(indices) = self.met.of_words.get(row.name).cloned() else { continue };
            gpu.budget.observe(Work::Dword, load.data.len() as u64);
            for index in indices {
                let subject = self.subjects[index];
                for &value in load.data.iter().skip(position).step_by(words.len()) {
                    self.met.add(index, &subject, value, self.mode);
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, gpu: &Gpu, call: &Call, tracker: &Tracker) -> io::Result<()> {
        gpu.budget.observe(Work::Dword, self.subjects.len() as u64);
        for index in 0..self.subjects.len() {
            let subject = self.subjects[index];
            if let Source::Register(RegName { offset, .. }) = subject.source
                && self.shows(&subject, offset, gpu, tracker)
            {
                self.show(call, index, gpu.regs.written(offset))?;
            }
        }
        self.show_met(gpu, call)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        for (index, subject) in self.subjects.iter().enumerate() {
            self.values.put(index, subject, self.format, &mut self.lines)?;
        }
        self.lines.out.finish()
    }
}
