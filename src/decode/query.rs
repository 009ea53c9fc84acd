//! `--query`: the values of chosen registers, a line per draw.

use std::io::{self, Write};

use a4emu_decoder::regs::{RegName, by_name};

use super::jsonl::put_query;
use super::output::{Output, Palette};
use super::sink::Sink;
use super::text::value_text;
use super::tracker::Tracker;
use super::work::{Work, primitive};
use super::{Args, Format, QueryMode};
use crate::status::{Failure, Status};
use crate::walk::{At, Problem, Seen, Submit};

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

    fn shows(&self, offset: u32, tracker: &Tracker) -> bool {
        match self.mode {
            QueryMode::All => true,
            QueryMode::Written => tracker.change(offset).is_some(),
            QueryMode::Delta => {
                tracker.change(offset).is_some_and(|change| tracker.regs().written(offset) != change.before)
            }
        }
    }

    fn line(&mut self, at: &At, work: &Work, tracker: &Tracker, offset: u32) -> io::Result<()> {
        let Palette { heading, name, .. } = self.palette;
        let (submit, draw, reg) = (at.submit, at.draw, RegName { offset });
        write!(self.out, "{heading}submit {submit} draw {draw}{heading:#} ")?;
        match work {
            Work::Draw { initiator, .. } => write!(self.out, "{} {}", primitive(*initiator), tracker.pass())?,
            Work::Dispatch { .. } => write!(self.out, "dispatch")?,
        }
        match tracker.regs().written(offset) {
            Some(value) => {
                writeln!(self.out, ": {name}{reg}{name:#} = {value:08x} {}", value_text(offset, value))
            }
            None => writeln!(self.out, ": {name}{reg}{name:#} was never written"),
        }
    }
}

impl Sink for Query<'_> {
    fn gpu(&mut self, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn submit(&mut self, _: &Submit) -> io::Result<()> {
        Ok(())
    }

    fn packet(&mut self, _: &At, _: &Seen<'_>, _: &Tracker) -> io::Result<()> {
        Ok(())
    }

    fn work(&mut self, at: &At, work: &Work, tracker: &Tracker) -> io::Result<()> {
        let shown: Vec<u32> =
            self.registers.iter().copied().filter(|&offset| self.shows(offset, tracker)).collect();
        shown.into_iter().try_for_each(|offset| match self.format {
            Format::Jsonl => put_query(&mut self.out, at, offset, tracker.regs().written(offset)),
            Format::Text | Format::Summary => self.line(at, work, tracker, offset),
        })
    }

    fn problem(&mut self, _: &At, _: &Problem) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.finish()
    }
}
