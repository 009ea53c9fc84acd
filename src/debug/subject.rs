//! Describes the program that is being debugged.

use std::path::PathBuf;

use a4emu_decoder::isa::ir3::Instr;

use super::session::Line;
use a4emu_gpu::draw::fs::inspect::WarpPixels;
use a4emu_shader::{LANES, Warp};

/// The program and the warp under the debugger.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Name: the draw and the stage, or the file.
    pub name: String,
    /// Path of its source, if that is a file.
    pub file: Option<PathBuf>,
    /// The instructions.
    pub lines: Vec<Line>,
    /// The lane that is selected at the start.
    pub lane: usize,
    /// A description of each lane.
    pub lanes: Vec<String>,
}

impl Subject {
    /// Makes a subject of the ir3 program `words`. Its source is the disassembly.
    pub fn ir3(name: String, words: &[u64], lane: usize, lanes: Vec<String>) -> Self {
        let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let line = |(at, word): (usize, &u64)| Line {
            text: Instr::decode(*word).to_string(),
            trap: false,
            source: Some(at as u32 + 1),
        };
        let lines = words[..used].iter().enumerate().map(line).collect();
        Self { name, file: None, lines, lane, lanes }
    }

    /// The description of `lane`.
    pub fn lane_name(&self, lane: usize) -> &str {
        self.lanes.get(lane).map_or("", String::as_str)
    }
}

/// Descriptions of the lanes of a warp: their pixels, and which are helper lanes.
pub fn lane_names(warp: &Warp, pixels: Option<&WarpPixels>) -> Vec<String> {
    let name = |lane: usize| {
        let role = if warp.covered() >> lane & 1 == 0 { ", helper" } else { "" };
        match pixels.and_then(|pixels| pixels.pixel(lane)) {
            Some([x, y]) => format!("lane {lane}: pixel {x},{y}{role}"),
            None => format!("lane {lane}{role}"),
        }
    };
    (0..LANES).map(name).collect()
}
