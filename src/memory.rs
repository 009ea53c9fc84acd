//! `a4emu memory`: prints memory at a point of the run, what changed in it, and what uses it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::flags::{self, Flags};
use a4emu_inspect::describe::{Capture, Use};
use a4emu_inspect::memory::{Answer, Asked, Form, Place, Point, Question, Row, ask};
use a4emu_inspect::selection::Draws;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, Threads};
use a4emu_support::out_file::{may_write, write};
use a4emu_support::status::Status;
use a4emu_support::terminal::{self, Form as Printed};

/// Arguments of `memory`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file, or - for stdin
    pub capture: PathBuf,
    /// Which memory: 0x1040000, 0x1040000+64, 0x1040000..0x1040040, or what points to it
    ///
    /// With --draw, parts of the draw's state are names: `vertex 0` (or `VFD_FETCH[0]`), `indices`, `texture FS 0`, `buffer
    /// CS 0`, `program VS`, `target 0`, `depth`, `FS c4.x`. A register that holds an address is always a name. +LENGTH may
    /// stand behind each. Without it, the range is what the descriptor says, or the rest of the buffer.
    #[arg(value_name = "ADDRESS")]
    pub place: Place,
    /// Memory as it is after this draw (`f5` or `5`), whose state names places (default: at the end)
    #[arg(long, value_name = "DRAW", value_parser = Draws::one, help_heading = flags::SELECTION)]
    pub draw: Option<Draws>,
    /// With --draw, memory as it is before the draw
    #[arg(long, requires = "draw", help_heading = flags::SELECTION)]
    pub before: bool,
    /// List only rows that changed since before this draw, with the values there
    #[arg(long, value_name = "DRAW", value_parser = Draws::one, help_heading = flags::SELECTION)]
    pub changed: Option<Draws>,
    /// How to show it: words, bytes, shorts, halves, floats, ints, uints, doublewords, a format, or a part of the state
    ///
    /// A format is one of vertices (VFMT4_32_32_FLOAT), texels (TFMT4_5_6_5_UNORM) or pixels (RB4_R8G8B8A8_UNORM). `vertex
    /// 0` and `texture FS 0` are as the draw's state says: with the stride, or with columns and rows. The default is what
    /// the state says of a named place, and words of an address.
    #[arg(long = "as", value_name = "FORM")]
    pub form: Option<Form>,
    /// List what uses the range in the whole capture: draws, dispatches, packets
    ///
    /// `written` is what was stored, or a target that changed. `read` is what the state names: a texture counts with all its
    /// levels, though a draw may fetch few texels of it.
    #[arg(long)]
    pub who: bool,
    /// Write the bytes to a file instead (- for stdout); none of them may be missing
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// One JSON object (docs/schema.md)
    #[arg(long, conflicts_with = "out")]
    pub json: bool,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
    /// Bounds of the run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

impl Args {
    fn point(&self) -> Point {
        match (self.draw, self.before) {
            (None, _) => Point::End,
            (Some(draw), true) => Point::Before(draw),
            (Some(draw), false) => Point::After(draw),
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, or if the capture cannot be opened.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    shared.inputs.add(&args.capture);
    args.out.as_deref().map_or(Ok(()), |path| may_write(path, &shared.inputs))?;
    let capture = &Capture::new(&args.capture, shared)?;
    let asked = if args.who { Asked::Users } else { Asked::Bytes };
    let Args { place, changed: since, form, limits, .. } = args;
    let question =
        Question { capture, place, point: args.point(), since: *since, form: form.as_ref(), asked, limits };
    args.threads.run(|| {
        let (report, answer) = ask(question, shared)?;
        let printed = match &args.out {
            Some(path) => put(&answer, path, shared),
            None => print(&answer, args.json),
        };
        Ok(shared.tell_with(&args.capture.display().to_string(), &report, printed))
    })
}

/// Writes the bytes to `path`.
fn put(answer: &Answer, path: &Path, shared: &Shared) -> anyhow::Result<()> {
    let bytes = answer.contents.whole().with_context(|| {
        let missing: u64 = answer.missing.iter().map(|range| range.bytes).sum();
        let first = answer.missing.first().map_or(answer.address, |range| range.address);
        format!(
            "{missing} of the {} bytes are not in the capture, from {first} on: no file is written",
            answer.bytes
        )
    })?;
    write(path, bytes, &shared.inputs)
}

fn print(answer: &Answer, json: bool) -> anyhow::Result<()> {
    let mut out = terminal::stdout(if json { Printed::Json } else { Printed::Lines });
    match json {
        true => writeln!(out, "{}", serde_json::to_string(answer)?)?,
        false => text(answer, &mut out)?,
    }
    Ok(out.flush()?)
}

fn text(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let Answer { address, bytes, name, point, form, since, changed, more, .. } = answer;
    let name = name.as_ref().map_or(String::new(), |name| format!("{name}: "));
    write!(out, "{name}{bytes} bytes at {address} {point}, {form}")?;
    if let (Some(since), Some(changed)) = (since, changed) {
        write!(out, "; {changed} changed since before {since}")?;
    }
    writeln!(out)?;
    rows(answer, out)?;
    if *more > 0 {
        writeln!(out, "  {more} more bytes: +{bytes} behind the address lists them, --out FILE writes them")?;
    }
    if let Some(users) = &answer.users {
        writeln!(out, "{}", if users.is_empty() { "nothing in the capture uses it" } else { "used by" })?;
        users.iter().try_for_each(|user| writeln!(out, "  {}", user_text(user)))?;
    }
    Ok(())
}

/// Writes the rows and the ranges that are missing, by address.
fn rows(answer: &Answer, out: &mut impl Write) -> io::Result<()> {
    let cells =
        |row: &Row| row.values.iter().chain(row.before.iter().flatten()).map(|it| shown(it).len()).max();
    let width = answer.rows.iter().filter_map(cells).max().unwrap_or(0);
    let label = answer.rows.iter().filter_map(|row| row.element.as_ref()).map(String::len).max().unwrap_or(0);
    let mut missing = answer.missing.iter().peekable();
    for row in &answer.rows {
        while let Some(range) = missing.next_if(|range| range.address < row.address) {
            writeln!(
                out,
                "  {}  {} bytes are missing: they are not in the capture",
                range.address, range.bytes
            )?;
        }
        line(out, &row.address.to_string(), row, &row.values, (label, width))?;
        if let Some(before) = &row.before {
            line(out, "was", row, before, (label, width))?;
        }
    }
    for range in missing {
        writeln!(out, "  {}  {} bytes are missing: they are not in the capture", range.address, range.bytes)?;
    }
    Ok(())
}

/// A value; one of which a byte is missing is a question mark.
fn shown(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or("?")
}

fn line(
    out: &mut impl Write,
    head: &str,
    row: &Row,
    values: &[Option<String>],
    (label, width): (usize, usize),
) -> io::Result<()> {
    write!(out, "  {head:>10} ")?;
    if let Some(element) = &row.element {
        write!(out, " {element:>label$} ")?;
    }
    values.iter().try_for_each(|value| write!(out, " {:>width$}", shown(value)))?;
    writeln!(out)
}

fn user_text(user: &Use) -> String {
    let Use { access, by, submit, draw, frame_draw, packet, count, address, bytes } = user;
    let who = match (frame_draw, draw) {
        (Some(frame_draw), Some(draw)) => format!("f{frame_draw} (draw {draw}, submit {submit})"),
        _ => packet.map_or(format!("submit {submit}"), |packet| format!("submit {submit} at {packet}")),
    };
    let times = if *count > 1 { format!(", {count} times") } else { String::new() };
    format!("{:8}  {by} of {who}: {bytes} bytes at {address}{times}", access.name())
}
