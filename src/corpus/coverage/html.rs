//! The page of `corpus coverage`: one file that needs no network.

use std::io::Write;
use std::path::Path;

use super::{Count, Line, Report, Rests};
use crate::corpus::compare::escaped;
use a4emu_support::out_file::{Inputs, OutFile};

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
<title>a4emu corpus coverage</title><style>\
body{font:15px system-ui,sans-serif;margin:2em;max-width:70em;color:#222;background:#fff}\
td{padding:0 1em 0 0}td+td{text-align:right}.no{color:#999}.guess{color:#a40}summary{font-weight:600;margin:.6em 0}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}.no{color:#777}.guess{color:#fa6}}</style>";

/// Writes the page.
///
/// # Errors
/// The call fails if it cannot be written.
pub fn write(path: &Path, report: &Report, inputs: &Inputs) -> anyhow::Result<()> {
    let mut out = OutFile::create(path, inputs)?;
    writeln!(out, "{HEAD}<h1>Coverage of {} captures</h1>", report.captures)?;
    for kind in &report.kinds {
        writeln!(out, "<details><summary>{}: {} of {}</summary><table>", kind.name, kind.used, kind.known)?;
        kind.lines.iter().try_for_each(|line| writeln!(out, "{}", row(line)))?;
        writeln!(out, "</table></details>")?;
    }
    writeln!(out, "<details open><summary>Rests on {} guesses</summary><table>", report.guesses.len())?;
    for Rests { id, confidence, says, draws, captures } in &report.guesses {
        let (id, confidence, says) = (escaped(id), escaped(confidence), escaped(says));
        writeln!(
            out,
            "<tr><td class=guess>{id} ({confidence}): {says}<td>{draws} draws<td>{captures} captures"
        )?;
    }
    writeln!(out, "</table></details>")?;
    out.finish()
}

fn row(line: &Line) -> String {
    let Line { name, times, captures, inferred, against } = line;
    let class = match (times, inferred) {
        (0, _) => " class=no",
        (_, true) => " class=guess",
        (_, false) => "",
    };
    let mark = if *inferred { " (inferred)" } else { "" };
    let against =
        against.map_or(String::new(), |Count { times, captures }| format!("<td>{times}<td>{captures}"));
    format!("<tr><td{class}>{}{mark}<td>{times}<td>{captures}{against}", escaped(name))
}
