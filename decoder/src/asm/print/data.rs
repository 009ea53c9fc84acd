//! Prints bytes as numbers: runs, floats, words, shaders.

use std::fmt::Write;

use super::out::Out;
use crate::adreno::ir3::{Isa, program};

/// Shortest run of equal dwords that is printed as a statement of its own.
const RUN: usize = 8;
/// Number of dwords on a line.
const LINE: usize = 8;

/// Prints `bytes` as data statements, each line after `indent`.
pub(super) fn data(out: &mut Out<'_>, indent: &str, bytes: &[u8]) {
    let (dwords, tail) = bytes.as_chunks::<4>();
    let mut at = 0;
    while at < dwords.len() {
        let run = run_length(&dwords[at..]);
        if run >= RUN || (run == dwords.len() - at && dwords[at] == [0; 4]) {
            fill(out, indent, u32::from_le_bytes(dwords[at]), run);
            at += run;
            continue;
        }
        let end = at + plain_length(&dwords[at..]);
        dwords[at..end].chunks(LINE).for_each(|line| numbers(out, indent, line));
        at = end;
    }
    if !tail.is_empty() {
        let _ = write!(out, "{indent}hex ");
        for byte in tail {
            let _ = write!(out, "{byte:02x}");
        }
        out.push('\n');
    }
}

/// Number of dwords at the start that equal the first.
fn run_length(dwords: &[[u8; 4]]) -> usize {
    dwords.iter().position(|dword| *dword != dwords[0]).unwrap_or(dwords.len())
}

/// Number of dwords before the next run, or in one line, so that lines stay aligned.
fn plain_length(dwords: &[[u8; 4]]) -> usize {
    let starts_run = |&at: &usize| {
        dwords[at..].len() >= RUN && dwords[at..at + RUN].iter().all(|dword| *dword == dwords[at])
    };
    (1..dwords.len()).find(starts_run).unwrap_or(dwords.len())
}

fn fill(out: &mut Out<'_>, indent: &str, value: u32, count: usize) {
    let _ = match value {
        0 => writeln!(out, "{indent}zero {:#x}", count * 4),
        _ => writeln!(out, "{indent}fill {count}, {value:#x}"),
    };
}

fn numbers(out: &mut Out<'_>, indent: &str, line: &[[u8; 4]]) {
    let words = line.iter().map(|&dword| u32::from_le_bytes(dword));
    let floats = words.clone().all(reads_as_float) && words.clone().any(|word| word != 0);
    out.push_str(indent);
    out.push_str(if floats { "f32" } else { "words" });
    for (index, word) in words.enumerate() {
        let _ = match (floats, index) {
            (true, 0) => write!(out, " {:?}", f32::from_bits(word)),
            (true, _) => write!(out, ", {:?}", f32::from_bits(word)),
            (false, _) => write!(out, " {word:x}"),
        };
    }
    out.push('\n');
}

/// Whether a dword is printed as a float: zero, or a number of usual size. Other bits are more likely
/// colours, indices or code.
fn reads_as_float(word: u32) -> bool {
    let value = f32::from_bits(word);
    word == 0 || (1e-5..1e7).contains(&value.abs())
}

/// Prints instructions, then zeros, as statements inside a block.
pub(super) fn shader_block(out: &mut Out<'_>, indent: &str, isa: Isa, bytes: &[u8]) {
    let (pairs, _) = bytes.as_chunks::<8>();
    let words: Vec<u64> = pairs.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
    let lines = shader_lines(isa, &words[..used]).filter(|_| used > 0);
    let Some(lines) = lines else { return data(out, indent, bytes) };
    let _ = writeln!(out, "{indent}shader {{");
    indented(out, indent, &lines);
    let _ = writeln!(out, "{indent}}}");
    data(out, indent, &bytes[used * 8..]);
}

pub(super) fn indented(out: &mut Out<'_>, indent: &str, lines: &str) {
    for line in lines.lines() {
        let _ = writeln!(out, "{indent}  {line}");
    }
}

/// The text of a program, if it assembles to these words.
pub(super) fn shader_lines(isa: Isa, words: &[u64]) -> Option<String> {
    let mut text = String::new();
    program::disassemble_in(isa, words, &mut text).ok()?;
    (program::assemble_in(isa, &text).as_deref() == Ok(words)).then_some(text)
}
