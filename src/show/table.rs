//! Prints the table of a frame.

use std::cmp::Reverse;
use std::fmt::Display;
use std::io::{self, Write};

use a4emu_gpu::pass::Pass;
use a4emu_inspect::describe::{Command, Cost, Frame, Row, SurfacePlace};
use a4emu_rules::Finding;

/// Maximum number of listed troubles, and of findings.
const LISTED: usize = 20;

/// The alignment of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// The columns, with heading and alignment.
const COLUMNS: [(&str, Side); 11] = [
    ("frame", Side::Left),
    ("draw", Side::Right),
    ("submit", Side::Right),
    ("pass", Side::Left),
    ("command", Side::Left),
    ("pixels", Side::Right),
    ("instr", Side::Right),
    ("share", Side::Right),
    ("shaders", Side::Left),
    ("targets", Side::Left),
    ("textures", Side::Left),
];

/// Why there are fewer rows than frame draws.
const JOINED: &str = "a row has the runs of one packet in further submits too (f3+f7), and in binning, restore \
                      and resolve passes the draws to the same targets (f3 .. f9)";

/// Number of columns, from the left, of the first line of a row on a narrow terminal. The others follow on lines of their
/// own.
const NARROW: usize = 8;

/// Spaces before these lines.
const INDENT: usize = 7;

/// The cells of a line.
type Cells = [String; COLUMNS.len()];

/// Writes the table. On a terminal with fewer `columns` than it has, a row has several lines.
///
/// # Errors
/// The call fails if `out` cannot be written.
pub fn write(frame: &Frame, columns: Option<usize>, out: &mut impl Write) -> io::Result<()> {
    let groups = frame.rows.chunk_by(|a, b| folds(a) && folds(b) && a.pass == b.pass && a.submit == b.submit);
    let lines: Vec<Cells> = groups.flat_map(lines).collect();
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0).max(COLUMNS[column].0.len())
    };
    let widths: [usize; COLUMNS.len()] = std::array::from_fn(width);
    writeln!(
        out,
        "A{}: {} submits, {} draws, {} frame draws; {} pixels, {} warp instructions",
        frame.gpu,
        frame.submits,
        frame.draws,
        frame.frame_draws,
        frame.cost.pixels,
        frame.cost.all_instructions()
    )?;
    let room = columns.filter(|columns| widths.iter().sum::<usize>() + 2 * (widths.len() - 1) > *columns);
    let headings = COLUMNS.map(|(heading, _)| heading.to_owned());
    std::iter::once(&headings).chain(&lines).try_for_each(|line| write_row(line, &widths, room, out))?;
    if (lines.len() as u64) < u64::from(frame.frame_draws) {
        writeln!(out, "{} rows for {} frame draws: {JOINED}", lines.len(), frame.frame_draws)?;
    }
    frame.stood.iter().try_for_each(|stood| writeln!(out, "{stood}"))?;
    write_troubles(frame, out)?;
    write_findings(frame, out)
}

/// Writes a row. If `room` says how many columns a narrow terminal has, the last cells are on lines of their own.
fn write_row(
    cells: &Cells,
    widths: &[usize; COLUMNS.len()],
    room: Option<usize>,
    out: &mut impl Write,
) -> io::Result<()> {
    let first = if room.is_some() { NARROW } else { COLUMNS.len() };
    let mut line = String::new();
    for ((cell, width), (_, side)) in cells.iter().zip(widths).zip(COLUMNS).take(first) {
        line += &match side {
            Side::Left => format!("{cell:width$}  "),
            Side::Right => format!("{cell:>width$}  "),
        };
    }
    writeln!(out, "{}", line.trim_end())?;
    let rest: Vec<&str> = cells[first..].iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
    let indent = " ".repeat(INDENT);
    let options =
        textwrap::Options::new(room.unwrap_or(usize::MAX)).initial_indent(&indent).subsequent_indent(&indent);
    let rest = rest.join("  ");
    let lines = if rest.is_empty() { Vec::new() } else { textwrap::wrap(&rest, options) };
    lines.iter().try_for_each(|line| writeln!(out, "{}", line.trim_end()))
}

/// Writes the troubles, each with its first command.
fn write_troubles(frame: &Frame, out: &mut impl Write) -> io::Result<()> {
    let rows = frame.rows.iter();
    let troubles = rows.flat_map(|row| row.troubles.iter().map(move |what| (row.frame_draw, what)));
    write_list("troubles", troubles.collect(), out)
}

/// Writes the findings, the most severe first.
fn write_findings(frame: &Frame, out: &mut impl Write) -> io::Result<()> {
    let mut findings: Vec<&Finding> = frame.findings.iter().collect();
    findings.sort_by_key(|finding| Reverse(finding.broken.rule.rule().severity));
    let findings = findings.into_iter().map(|finding| (finding.place.frame_draw, finding));
    write_list("findings", findings.collect(), out)
}

/// Writes up to [`LISTED`] items, each after its command.
fn write_list<T: Display>(heading: &str, all: Vec<(u32, T)>, out: &mut impl Write) -> io::Result<()> {
    if !all.is_empty() {
        writeln!(out, "{heading}")?;
    }
    for (frame_draw, what) in all.iter().take(LISTED) {
        writeln!(out, "  f{frame_draw}: {what}")?;
    }
    match all.len().checked_sub(LISTED) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "  and {more} more"),
    }
}

/// Whether equal rows of this pass share one line: there is one for each tile, or they draw nothing.
fn folds(row: &Row) -> bool {
    matches!(row.pass, Some(Pass::Binning | Pass::Resolve | Pass::Restore))
}

/// The lines of rows of one kind.
fn lines(rows: &[Row]) -> Vec<Cells> {
    match rows {
        [] => Vec::new(),
        [row, ..] if row.pass == Some(Pass::Binning) && rows.len() > 1 => vec![folded(rows.iter().collect())],
        rows => {
            let mut kinds: Vec<Vec<&Row>> = Vec::new();
            for row in rows {
                let same = |kind: &&mut Vec<&Row>| folds(row) && kind[0].targets == row.targets;
                match kinds.iter_mut().find(same) {
                    Some(kind) => kind.push(row),
                    None => kinds.push(vec![row]),
                }
            }
            kinds.into_iter().map(folded).collect()
        }
    }
}

/// One line for equal rows.
fn folded(rows: Vec<&Row>) -> Cells {
    let first = rows[0];
    let last = rows[rows.len() - 1];
    let mut cost = Cost::default();
    let mut share = 0.0;
    for row in &rows {
        cost.pixels += row.cost.pixels;
        share += row.share;
    }
    let instructions: u64 = rows.iter().map(|row| row.cost.all_instructions()).sum();
    let several = |text: String| if rows.len() > 1 { format!("{} x {text}", rows.len()) } else { text };
    [
        match rows.len() {
            1 => frame_draws(first),
            _ => format!("f{} .. f{}", first.frame_draw, last.frame_draw),
        },
        first.draw.to_string(),
        first.submit.to_string(),
        pass(first),
        match (first.pass, rows.len()) {
            (Some(Pass::Binning), 2..) => format!("{} frame draws", rows.len()),
            _ => several(command(&first.command)),
        },
        cost.pixels.to_string(),
        instructions.to_string(),
        format!("{:.1} %", share * 100.0),
        match (first.pass, rows.len()) {
            (Some(Pass::Binning), 2..) => String::new(),
            _ => shaders(first),
        },
        targets(first),
        textures(first),
    ]
}

fn frame_draws(row: &Row) -> String {
    let more = row.more_frame_draws.iter().map(|number| format!("+f{number}"));
    format!("f{}{}", row.frame_draw, more.collect::<String>())
}

fn pass(row: &Row) -> String {
    match (row.pass, row.runs) {
        (None, _) if matches!(row.command, Command::Blit { .. }) => "blit".to_owned(),
        (None, _) => "compute".to_owned(),
        (Some(pass), 1) => pass.to_string(),
        (Some(Pass::Gmem), runs) => format!("gmem {runs} tiles"),
        (Some(pass), runs) => format!("{pass} {runs} runs"),
    }
}

/// A short description of the packet.
pub(super) fn command(command: &Command) -> String {
    match command {
        Command::Draw { primitive, count, instances: 1 } => format!("{primitive} {count}"),
        Command::Draw { primitive, count, instances } => format!("{primitive} {count} x {instances}"),
        Command::Dispatch { groups: [x, y, z], .. } => format!("dispatch {x} x {y} x {z}"),
        Command::Uncounted { name } => (*name).to_owned(),
        Command::Blit { name, does } => format!("{name} {}", does.replace('_', " ")),
    }
}

fn shaders(row: &Row) -> String {
    let text =
        |hash: &Option<String>| hash.as_ref().map_or("missing".to_owned(), |hash| hash[..8].to_owned());
    let stages = row.shaders.iter().map(|shader| format!("{} {}", shader.stage, text(&shader.hash)));
    stages.collect::<Vec<_>>().join(" ")
}

/// A format without its prefix, which names an enum.
pub(super) fn short(format: &str) -> &str {
    let rest = ["RB4_", "TFMT4_", "DEPTH4_", "VFMT4_", "FMT6_", "DEPTH6_"]
        .iter()
        .find_map(|prefix| format.strip_prefix(prefix));
    rest.unwrap_or(format)
}

fn targets(row: &Row) -> String {
    let target = |target: &a4emu_inspect::describe::RowTarget| match target.place {
        SurfacePlace::Gmem(_) => format!("{} {}", target.name, short(&target.format)),
        SurfacePlace::Address(address) => format!("{} {} {address}", target.name, short(&target.format)),
    };
    let size =
        row.frame.filter(|_| !row.targets.is_empty()).map(|[width, height]| format!("{width}x{height}"));
    size.into_iter().chain(row.targets.iter().map(target)).collect::<Vec<_>>().join(" ")
}

fn textures(row: &Row) -> String {
    let texture = |texture: &a4emu_inspect::describe::RowTexture| {
        let [width, height, depth] = texture.size;
        let depth = if depth > 1 { format!("x{depth}") } else { String::new() };
        let base = texture.base.map_or_else(String::new, |base| format!(" base{base}."));
        format!("{}{base}{} {width}x{height}{depth} {}", texture.stage, texture.slot, short(&texture.format))
    };
    row.textures.iter().map(texture).collect::<Vec<_>>().join(" ")
}
