//! `--query`: the values of chosen registers, a line per draw or a line per value.

use a4emu_decoder::generation::DEFAULT;
use std::fmt;
use std::io::{self, Write};

use a4emu_decoder::bits::value::{Show, WordText};

use super::jsonl::{Place, query};
use super::lines::Lines;
use super::output::Hold;
use super::primitive::Primitive;
use super::sink::Sink;
use super::tracker::Tracker;
use super::values::Values;
use super::{Format, Options, QueryMode};
use crate::register_names::{Asked, find};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::Gpu;

/// The `--query` output.
pub struct Query<'a> {
    lines: Lines<'a>,
    registers: Vec<Asked>,
    mode: QueryMode,
    format: Format,
    /// The values of each register, for [`QueryMode::Values`].
    values: Values,
}

impl<'a> Query<'a> {
    /// Makes a query with `options` that writes to `lines`.
    ///
    /// # Errors
    /// The call fails if a register is unknown.
    pub fn new(lines: Lines<'a>, options: &Options) -> anyhow::Result<Self> {
        let registers =
            options.query.iter().map(|text| find(DEFAULT, text)).collect::<Result<Vec<_>, _>>()?.concat();
        let values = Values::new(registers.len());
        Ok(Self { lines, registers, mode: options.query_mode, format: options.format, values })
    }

    /// Whether `asked` is shown at this draw. An unwritten register is shown only if it was requested by
    /// name.
    fn shows(&self, asked: &Asked, gpu: &Gpu, tracker: &Tracker) -> bool {
        let (now, mask) = (gpu.regs.written(asked.offset), asked.mask());
        let bits = |value: Option<u32>| value.map(|value| value & mask);
        match self.mode {
            QueryMode::All | QueryMode::Values => now.is_some() || !asked.by_pattern,
            QueryMode::Written => tracker.change(asked.offset).is_some(),
            QueryMode::Delta => {
                tracker.change(asked.offset).is_some_and(|change| bits(now) != bits(change.before))
            }
        }
    }

    fn line(&mut self, gpu: &Gpu, call: &Call, asked: &Asked) -> io::Result<()> {
        let (submit, draw, frame_draw) = (call.submit(), call.number(), call.frame_draw());
        write!(self.lines.out, "submit {submit} draw {draw} f{frame_draw} ")?;
        match call {
            Call::Draw(call) => write!(self.lines.out, "{} {}", Primitive::of(call.initiator), call.pass)?,
            Call::Uncounted(call) => write!(self.lines.out, "{} {}", call.packet, call.pass)?,
            Call::Dispatch(_) => write!(self.lines.out, "dispatch")?,
        }
        let value = gpu.regs.written(asked.offset);
        writeln!(self.lines.out, ": {}", Held { asked, value })
    }
}

/// A register with its value, as text.
pub(super) struct Held<'a> {
    pub asked: &'a Asked,
    /// The value, of which the fields of the requested bits are printed. `None` if it was never written.
    pub value: Option<u32>,
}

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, value } = *self;
        write!(f, "{}", asked.register())?;
        match value {
            Some(value) => {
                let text = WordText { rows: asked.fields(), word: value & asked.mask(), show: Show::Full };
                write!(f, " = {value:08x} {text}")
            }
            None => f.write_str(" was never written"),
        }
    }
}

impl Sink for Query<'_> {
    fn lists_packets(&self) -> bool {
        false
    }

    fn pay(&mut self, budget: &Budget) {
        self.lines.out.pay(budget);
    }

    fn hold(&mut self, hold: Hold) -> io::Result<()> {
        self.lines.out.hold(hold)
    }

    fn call(&mut self, gpu: &Gpu, call: &Call, tracker: &Tracker) -> io::Result<()> {
        gpu.budget.observe(Work::Dword, self.registers.len() as u64);
        for index in 0..self.registers.len() {
            let asked = self.registers[index];
            if !self.shows(&asked, gpu, tracker) {
                continue;
            }
            let now = gpu.regs.written(asked.offset);
            match (self.mode, self.format) {
                (QueryMode::Values, _) => {
                    self.values.count(index, now.map(|value| value & asked.mask()), Place::of(call));
                }
                (_, Format::Jsonl) => self.lines.put(&query(call, &asked, now))?,
                (_, Format::Text | Format::Summary) => self.line(gpu, call, &asked)?,
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        for (index, asked) in self.registers.iter().enumerate() {
            self.values.put(index, asked, self.format, &mut self.lines)?;
        }
        self.lines.out.finish()
    }
}
