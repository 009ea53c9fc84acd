//! `--query`: the values of chosen registers, a line per draw.

use std::io::{self, Write};

use a4emu_decoder::regs::{RegName, by_name};

use super::jsonl::put_query;
use super::output::{Hold, Output, Palette};
use super::primitive::Primitive;
use super::sink::Sink;
use super::text::value_text;
use super::tracker::Tracker;
use super::{Args, Format, QueryMode};
use crate::cp::Call;
use crate::gpu::Gpu;
use crate::status::{Failure, Status};

/// The listing of a query.
pub struct Query<'a> {
    out: Output<'a>,
    palette: Palette,
    registers: Vec<u32>,
    mode: QueryMode,
    format: Format,
}

/// The registers called `names`: database names or offsets.
///
/// # Errors
/// When one is neither.
fn registers(names: &[String]) -> anyhow::Result<Vec<u32>> {
    let unknown = |name: &String| Failure {
        status: Status::Usage,
        message: format!("`{name}` is no register: give a name of the database or an offset"),
    };
    names.iter().map(|name| by_name(name).ok_or_else(|| unknown(name).into())).collect()
}

impl<'a> Query<'a> {
    /// What `args` ask for, to `out`.
    ///
    /// # Errors
    /// When a register is unknown.
    pub fn new(out: Output<'a>, palette: Palette, args: &Args) -> anyhow::Result<Self> {
        let registers = registers(&args.query)?;
        Ok(Self { out, palette, registers, mode: args.query_mode, format: args.format })
    }

    fn shows(&self, offset: u32, gpu: &Gpu, tracker: &Tracker) -> bool {
        match self.mode {
            QueryMode::All => true,
            QueryMode::Written => tracker.change(offset).is_some(),
            QueryMode::Delta => {
                tracker.change(offset).is_some_and(|change| gpu.regs.written(offset) != change.before)
            }
        }
    }

    fn line(&mut self, gpu: &Gpu, call: &Call, offset: u32) -> io::Result<()> {
        let Palette { heading, name, .. } = self.palette;
        let (submit, draw, frame_draw, reg) =
            (call.submit(), call.number(), call.frame_draw(), RegName { offset });
        write!(self.out, "{heading}submit {submit} draw {draw} f{frame_draw}{heading:#} ")?;
        match call {
            Call::Draw(call) => write!(self.out, "{} {}", Primitive::of(call.initiator), call.pass)?,
            Call::Uncounted(call) => write!(self.out, "{} {}", call.packet, call.pass)?,
            Call::Dispatch(_) => write!(self.out, "dispatch")?,
        }
        match gpu.regs.written(offset) {
            Some(value) => {
                writeln!(self.out, ": {name}{reg}{name:#} = {value:08x} {}", value_text(offset, value))
            }
            None => writeln!(self.out, ": {name}{reg}{name:#} was never written"),
        }
    }
}

impl Sink for Query<'_> {
    fn lists_packets(&self) -> bool {
        false
    }

    fn hold(&mut self, hold: Hold) -> io::Result<()> {
        self.out.hold(hold)
    }

    fn call(&mut self, gpu: &Gpu, call: &Call, tracker: &Tracker) -> io::Result<()> {
        for index in 0..self.registers.len() {
            let offset = self.registers[index];
            if self.shows(offset, gpu, tracker) {
                match self.format {
                    Format::Jsonl => put_query(&mut self.out, call, offset, gpu.regs.written(offset))?,
                    Format::Text | Format::Summary => self.line(gpu, call, offset)?,
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.finish()
    }
}
