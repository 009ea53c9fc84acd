//! The data of a page. What all draws have is one JSON object ([`Frame`]); what a draw shows when it is
//! selected is in [`blocks`](super::blocks).

use a4emu_decoder::adreno::registers::RegisterTable;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::extras::Extras;
use crate::describe::{Row, WrittenBy};
use crate::explain;
use a4emu_gpu::draw::tpl1::TexelPlaces;
use a4emu_gpu::pass::Pass;
use a4emu_rules::Finding;

/// A capture in the form that the page shows.
#[derive(Serialize)]
pub struct Frame {
    /// Name of the file.
    pub title: String,
    /// The process that the capture names.
    pub process: String,
    /// Number of the chip.
    pub gpu: u32,
    /// Version of a4emu.
    pub version: &'static str,
    /// Notes about omitted data, with the reason.
    pub notes: Vec<String>,
    /// What the page has no room for; empty if it has all.
    pub left_out: String,
    /// The memory that the run read and that the capture does not hold, in one line; empty if it holds all.
    pub missing: String,
    /// Where the GPU of a kernel dump stood, in one line; empty for other captures.
    pub stood: String,
    /// Index of the draw at which it stood, or of the last one before.
    pub stood_at: Option<usize>,
    /// Number of draws in a block of texts or pictures.
    pub block: usize,
    /// Index of the draw with which the page opens: where the GPU of a kernel dump stood, or the last draw of the
    /// picture that `replay --png` writes.
    pub first: usize,
    /// The surfaces that are drawn to.
    pub canvases: Vec<Canvas>,
    /// The findings of `validate`: errors that an A4xx does not tolerate.
    pub findings: Vec<Finding>,
    /// All commands.
    pub draws: Vec<Draw>,
    /// Programs by hash.
    pub shaders: BTreeMap<String, Program>,
    /// Textures by key. Equal textures share one key.
    pub textures: BTreeMap<String, Texture>,
    /// Registers that occur in packets, by name.
    pub registers: BTreeMap<String, Register>,
    /// The words of the page that the glossary explains, with their explanations.
    pub words: BTreeMap<&'static str, String>,
    /// Further parts of textures, tables of vertices, and memory.
    #[serde(skip)]
    pub extras: Extras,
}

/// Words that the page uses, with the names of their entries in the glossary.
const WORDS: [(&str, &str); 12] = [
    ("binning", "binning"),
    ("bypass", "bypass"),
    ("compute", "dispatch"),
    ("frame draw", "frame draw"),
    ("gmem", "GMEM"),
    ("lane", "lane"),
    ("pixel history", "pixel history"),
    ("resolve", "resolve"),
    ("restore", "restore"),
    ("submit", "submit"),
    ("tile", "tile"),
    ("warp", "warp"),
];

/// What the glossary says of the words that the page uses.
pub fn words() -> BTreeMap<&'static str, String> {
    WORDS.into_iter().filter_map(|(word, entry)| Some((word, explain::term(entry)?))).collect()
}

/// A surface that draws render to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Canvas {
    /// Name that the page shows.
    pub name: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Address in memory, or the address it is resolved to.
    pub address: Option<u64>,
    /// Content from before the first draw, if it is known and not empty.
    pub patches: Vec<Patch>,
}

/// A command with its runs for all tiles.
#[derive(Serialize)]
pub struct Draw {
    /// Number of its frame draw.
    pub id: u32,
    /// Its row in `show`.
    pub row: Row,
    /// Data recorded while it ran.
    #[serde(flatten)]
    pub seen: Seen,
    /// Text of the packets since the draw before.
    #[serde(skip)]
    pub packets: Vec<String>,
}

/// Data of a command, recorded while it ran. What is not serialized here is in a block.
#[derive(Default, Serialize)]
pub struct Seen {
    /// Its state, as in `show --draw`.
    #[serde(skip)]
    pub state: Option<Box<RawValue>>,
    /// Differences from the state of the draw before it in the same pass.
    #[serde(skip)]
    pub changed: Vec<String>,
    /// Index of its canvas.
    pub canvas: Option<usize>,
    /// Index of the colour canvas over whose pixels it draws without colours: depth and stencil alone.
    pub over: Option<usize>,
    /// Changes of the canvas.
    #[serde(skip)]
    pub patches: Vec<Patch>,
    /// Areas of its canvas that it copied from tile memory: x, y, width, height.
    #[serde(skip)]
    pub copies: Vec<[u32; 4]>,
    /// What happened to pixels. See [`a4emu_gpu::draw::fs::reasons`].
    #[serde(skip)]
    pub reasons: Vec<Patch>,
    /// Cost of the fragment shader per pixel. See [`super::cost_map`].
    #[serde(skip)]
    pub cost_map: Vec<Patch>,
    /// The programs of the draw.
    pub shader_use: Vec<ShaderUse>,
    /// Keys of the textures of the draw.
    pub texture_use: Vec<String>,
    /// The vertices of the draw.
    #[serde(skip)]
    pub mesh: MeshOrWhy,
    /// Number of the pass over the tiles.
    #[serde(skip)]
    pub(super) pass_number: u32,
    /// What it stored apart from its targets, and what the packets behind it stored: a title, then the first dwords.
    #[serde(skip)]
    pub written: Vec<Vec<String>>,
    /// What it stored so far, while it runs.
    #[serde(skip)]
    pub(super) stored: WrittenBy,
    /// The pass of the recorded state. Binning runs have no targets.
    #[serde(skip)]
    pub(super) pass: Option<Pass>,
}

/// A rectangle of a picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Patch {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Width in pixels.
    pub w: u32,
    /// Height in pixels.
    pub h: u32,
    /// The pixels as PNG in base64.
    pub png: String,
}

/// A program of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShaderUse {
    /// Name of its stage.
    pub stage: &'static str,
    /// Key in [`Frame::shaders`].
    pub hash: String,
    /// For each instruction, the number of warps that ran it. Empty if the program did not run or there was
    /// no room.
    #[serde(skip)]
    pub warps: Vec<u64>,
    /// For each instruction, the number of lanes that ran it.
    #[serde(skip)]
    pub lanes: Vec<u64>,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// Name of the stage of its first use.
    pub stage: &'static str,
    /// Its instructions.
    pub text: Vec<String>,
}

/// A texture with the first layer of its first level. Other parts are [`extras`](super::extras).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Texture {
    /// Label that the page shows.
    pub label: String,
    /// The texels as PNG in base64.
    pub png: String,
    /// Width in texels.
    pub width: u32,
    /// Height in texels.
    pub height: u32,
    /// Whether `png` holds each value exactly; else it has values from 0 to 1 in 255 steps.
    pub exact: bool,
    /// `float`, `uint` or `sint`: what the values are.
    pub number: &'static str,
    /// Kind: `2D`, `cube` and so on.
    pub kind: String,
    /// Number of layers, faces or slices of each level.
    pub layers: Vec<u32>,
    /// Where the texels lie in memory.
    pub places: Option<TexelPlaces>,
    /// The run, stage and slot that it was seen in first.
    pub seen: (u32, &'static str, u32),
}

/// The vertices of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MeshOrWhy {
    /// The vertices.
    Mesh(Mesh),
    /// The reason why there are no vertices.
    Why(Why),
}

/// The reason for missing vertices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Why {
    /// The reason as text.
    pub why: String,
}

impl MeshOrWhy {
    /// Makes the value for missing vertices with the reason `why`.
    pub fn why(why: impl Into<String>) -> Self {
        Self::Why(Why { why: why.into() })
    }
}

impl Default for MeshOrWhy {
    fn default() -> Self {
        Self::Why(Why::default())
    }
}

/// Vertices as base64 of little-endian numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mesh {
    /// Fetched positions: x, y and z as floats.
    #[serde(rename = "in")]
    pub inputs: Option<String>,
    /// Positions in clip space: x, y, z and w as floats.
    pub out: Option<String>,
    /// Vertices of a primitive: 1 for points, 2 for lines, 3 for triangles.
    pub size: u32,
    /// Vertex indices of the primitives, one after the other.
    pub indices: String,
    /// Vertices of a fetched primitive, as in `size`.
    pub in_size: u32,
    /// Indices of the fetched primitives; none if they are those of `indices`.
    pub in_indices: Option<String>,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// Offset in dwords, in hexadecimal.
    pub offset: String,
    /// The text that `explain` prints.
    pub text: String,
}

impl Register {
    /// Makes the entry of the one of `registers` at `offset`.
    pub fn at(registers: &'static RegisterTable, offset: u32) -> Self {
        Self { offset: format!("{offset:#06x}"), text: explain::text_of(registers, offset) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_glossary_has_each_word_of_the_page() {
        let words = words();
        assert_eq!(words.len(), WORDS.len());
        assert!(words["gmem"].contains("tile") && words.values().all(|text| !text.contains("](")));
    }
}
