//! Describes the program that is being debugged.

use std::path::PathBuf;

use a4emu_decoder::a4xx::stage_words::STAGE_ENTRY;
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::load_state::Stage;

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
    /// Makes a subject of the program `words` of an instruction set. Its source is the disassembly.
    pub fn ir3(name: String, (isa, words): (Isa, &[u64]), lane: usize, lanes: Vec<String>) -> Self {
        let used = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let line = |(at, word): (usize, &u64)| Line {
            text: isa.decode(*word).to_string(),
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

/// Descriptions of the lanes of a warp of `stage`, before its first instruction: their pixels, and which are helper
/// lanes; the primitive, vertex and invocation that r0.x, r0.y and r0.z of geometry and tessellation shaders name
/// (docs/hardware/geometry-and-tessellation.md, sections 1.1 and 2.2).
pub fn lane_names(warp: &Warp, pixels: Option<&WarpPixels>, stage: Option<Stage>) -> Vec<String> {
    let entry = |lane: usize| {
        let [word, id, patch] = [0, 1, 2].map(|register| warp.full(register)[lane]);
        let word = STAGE_ENTRY(word);
        let (vertex, invocation) = (word.VERTEX(), word.INVOCATION());
        match stage {
            Some(Stage::GS) => format!(": primitive {id}, vertex {vertex}, invocation {invocation}"),
            Some(Stage::HS) => format!(": primitive {id}, patch {patch}, vertex {invocation}"),
            Some(Stage::DS) => format!(": patch {patch}"),
            _ => String::new(),
        }
    };
    let name = |lane: usize| {
        let role = if warp.covered() >> lane & 1 == 0 { ", helper" } else { "" };
        match pixels.and_then(|pixels| pixels.pixel(lane)) {
            Some([x, y]) => format!("lane {lane}: pixel {x},{y}{role}"),
            None => format!("lane {lane}{}{role}", entry(lane)),
        }
    };
    (0..LANES).map(name).collect()
}
