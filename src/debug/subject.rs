//! What is being stepped through, in words.

use std::path::PathBuf;

use a4emu_decoder::isa::ir3::Instr;

use super::session::Line;
use a4emu_gpu::draw::fs::inspect::WarpPixels;
use a4emu_shader::{LANES, Warp};

/// The program and the warp under the debugger.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What it is called: the draw and the stage, or the file.
    pub name: String,
    /// Where its source is, if that is a file.
    pub file: Option<PathBuf>,
    /// Its instructions.
    pub lines: Vec<Line>,
    /// The lane to look at first.
    pub lane: usize,
    /// What each lane is.
    pub lanes: Vec<String>,
}

impl Subject {
    /// A program of ir3 `words`; the source is its disassembly.
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

    /// What `lane` is.
    pub fn lane_name(&self, lane: usize) -> &str {
        self.lanes.get(lane).map_or("", String::as_str)
    }
}

/// What the lanes of a warp are: their pixels, and which only help.
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
