//! `--query`: the values of chosen registers, a line per draw.

use std::io::{self, Write};

use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_decoder::regs::RegName;

use super::jsonl::query;
use super::lines::Lines;
use super::output::{Hold, Palette};
use super::primitive::Primitive;
use super::sink::Sink;
use super::tracker::Tracker;
use super::{Format, Options, QueryMode};
use crate::register_names::{Asked, find};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::Gpu;

/// The `--query` output.
pub struct Query<'a> {
    lines: Lines<'a>,
    palette: Palette,
    registers: Vec<Asked>,
    mode: QueryMode,
    format: Format,
}

impl<'a> Query<'a> {
    /// Makes a query with `options` that writes to `lines`.
    ///
    /// # Errors
    /// The call fails if a register is unknown.
    pub fn new(lines: Lines<'a>, palette: Palette, options: &Options) -> anyhow::Result<Self> {
        let registers = options.query.iter().map(|text| find(text)).collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Self { lines, palette, registers, mode: options.query_mode, format: options.format })
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
        let offset = asked.offset;
        let Palette { heading, name, .. } = self.palette;
        let (submit, draw, frame_draw, reg) =
            (call.submit(), call.number(), call.frame_draw(), RegName { offset });
        write!(self.lines.out, "{heading}submit {submit} draw {draw} f{frame_draw}{heading:#} ")?;
        match call {
            Call::Draw(call) => write!(self.lines.out, "{} {}", Primitive::of(call.initiator), call.pass)?,
            Call::Uncounted(call) => write!(self.lines.out, "{} {}", call.packet, call.pass)?,
            Call::Dispatch(_) => write!(self.lines.out, "dispatch")?,
        }
        match gpu.regs.written(offset) {
            Some(value) => {
                let word = value & asked.mask();
                let text = WordText { rows: asked.fields(), word, show: Show::Full };
                writeln!(self.lines.out, ": {name}{reg}{name:#} = {value:08x} {text}")
            }
            None => writeln!(self.lines.out, ": {name}{reg}{name:#} was never written"),
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
            if self.shows(&asked, gpu, tracker) {
                match self.format {
                    Format::Jsonl => {
                        self.lines.put(&query(call, &asked, gpu.regs.written(asked.offset)))?;
                    }
                    Format::Text | Format::Summary => self.line(gpu, call, &asked)?,
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.lines.out.finish()
    }
}
