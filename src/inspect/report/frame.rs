//! What the page is given: one JSON object.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::describe::Row;
use crate::explain;
use crate::validate::Finding;
use a4emu_gpu::pass::Pass;

/// A capture, as the page shows it.
#[derive(Serialize)]
pub struct Frame {
    /// Name of the file.
    pub title: String,
    /// The process that the capture was made of, as it says.
    pub process: String,
    /// Number of the chip.
    pub gpu: u32,
    /// Of a4emu.
    pub version: &'static str,
    /// What was left out, and why.
    pub notes: Vec<String>,
    /// What is drawn to.
    pub canvases: Vec<Canvas>,
    /// What an A4xx would not forgive, as `validate` says it.
    pub findings: Vec<Finding>,
    /// All commands.
    pub draws: Vec<Draw>,
    /// Programs by hash.
    pub shaders: BTreeMap<String, Program>,
    /// Textures by what they hold.
    pub textures: BTreeMap<String, Texture>,
    /// Registers that occur in packets, by name.
    pub registers: BTreeMap<String, Register>,
}

/// Something that draws render to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Canvas {
    /// For people.
    pub name: String,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Where it lies in memory, or is copied to.
    pub address: Option<u32>,
    /// What it held before it was drawn to, where that was anything and is known.
    pub patches: Vec<Patch>,
}

/// A command with its runs for all tiles.
#[derive(Serialize)]
pub struct Draw {
    /// Number as a frame draw.
    pub id: u32,
    /// Its row in `show`.
    pub row: Row,
    /// What was seen of it.
    #[serde(flatten)]
    pub seen: Seen,
    /// Text of the packets since the draw before.
    pub packets: Vec<String>,
}

/// What was seen of a command while it ran.
#[derive(Default, Serialize)]
pub struct Seen {
    /// What it runs with, as `show --draw` has it.
    pub state: Option<Box<RawValue>>,
    /// What of that is not as in the draw of the same pass before it.
    pub changed: Vec<String>,
    /// Index of what it draws to.
    pub canvas: Option<usize>,
    /// What its runs changed there.
    pub patches: Vec<Patch>,
    /// What became of pixels: see [`a4emu_gpu::draw::fs::reasons`].
    pub reasons: Vec<Patch>,
    /// What the fragment shader spent on pixels: see [`super::cost_map`].
    pub cost_map: Vec<Patch>,
    /// Its programs.
    pub shader_use: Vec<ShaderUse>,
    /// Its textures.
    pub texture_use: Vec<String>,
    /// Its vertices.
    pub mesh: MeshOrWhy,
    /// The pass that the state is of: binning runs know no targets.
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
    /// Columns.
    pub w: u32,
    /// Rows.
    pub h: u32,
    /// As PNG, in base64.
    pub png: String,
}

/// A program of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShaderUse {
    /// Its stage.
    pub stage: &'static str,
    /// Key in [`Frame::shaders`].
    pub hash: String,
    /// Warps that ran each instruction here; empty where it did not run, or there was no room.
    pub warps: Vec<u64>,
    /// Lanes for which each ran.
    pub lanes: Vec<u64>,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// The stage that it was met in first.
    pub stage: &'static str,
    /// Its instructions.
    pub text: Vec<String>,
}

/// A layer of the first level of a texture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Texture {
    /// For people.
    pub label: String,
    /// As PNG, in base64.
    pub png: String,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// The vertices of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum MeshOrWhy {
    /// They are there.
    Mesh(Mesh),
    /// They are not.
    Why(Why),
}

/// A reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Why {
    /// For people.
    pub why: String,
}

impl MeshOrWhy {
    /// None, since `why`.
    pub fn why(why: impl Into<String>) -> Self {
        Self::Why(Why { why: why.into() })
    }
}

impl Default for MeshOrWhy {
    fn default() -> Self {
        Self::Why(Why::default())
    }
}

/// Vertices, in base64 of little-endian numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mesh {
    /// Positions as they are fetched: x, y and z as floats.
    #[serde(rename = "in")]
    pub inputs: Option<String>,
    /// Positions in clip space: x, y, z and w as floats.
    pub out: Option<String>,
    /// Three vertices of each triangle.
    pub indices: String,
}

/// A register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Register {
    /// Offset in dwords, in hexadecimal.
    pub offset: String,
    /// What `explain` prints of it.
    pub text: String,
}

impl Register {
    /// The register at `offset`.
    pub fn at(offset: u32) -> Self {
        Self { offset: format!("{offset:#06x}"), text: explain::text_of(offset) }
    }
}
