//! The memory that the state of a draw names, with its first bytes: what a page shows of it unasked.

use super::{Answer, Contents, LISTED, Layout, Located, Name, Place};
use crate::describe::Draw;
use a4emu_gpu::picture::Texel;
use a4emu_gpu::settled::Synced;

/// Ranges of one draw at most. No state of a driver names so many.
const MOST: usize = 96;

/// The start of each range that the state of a draw names: vertices, indices, textures, buffers and targets. What is in
/// tile memory is left out.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    frame_draw: u32,
    all: Vec<Start>,
}

/// The start of a range.
#[derive(Clone, Debug)]
struct Start {
    located: Located,
    layout: Layout,
    /// The first bytes.
    contents: Contents,
}

impl Starts {
    /// What the state of `draw`, which is about to run, names.
    pub fn of(draw: &Draw, gpu: Synced<'_>) -> Self {
        let located =
            names(draw).take(MOST).filter_map(|name| Place::from(name).locate(gpu, Some(draw)).ok());
        let starts = located.map(|located| {
            let layout = located.layout.clone().unwrap_or_else(Layout::words);
            let listed = LISTED.next_multiple_of(layout.row_bytes()).min(located.bytes);
            let contents = Contents::of(gpu.memory(), located.start, listed);
            Start { located, layout, contents }
        });
        Self { frame_draw: draw.frame_draw, all: starts.collect() }
    }

    /// Whether the state names nothing.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Number of bytes of the starts.
    pub fn bytes(&self) -> u64 {
        self.all.iter().map(|start| start.contents.size()).sum()
    }

    /// A listing of each start.
    pub fn answers(&self) -> Vec<Answer> {
        let answer = |Start { located, layout, contents }: &Start| {
            let whole = located.bytes;
            let start = Located { bytes: contents.size(), is_measured: true, ..located.clone() };
            let point = format!("before f{}", self.frame_draw);
            let answer = Answer::new(start, layout, (contents.clone(), None), point);
            Answer { bytes: whole, more: whole - contents.size(), ..answer }
        };
        self.all.iter().map(answer).collect()
    }
}

/// What the state of `draw` names, in the order of the pipeline.
fn names(draw: &Draw) -> impl Iterator<Item = Name> {
    let vertices = draw.vertex_inputs.iter().map(|input| Name::Vertex(input.index));
    let indices = draw.indices.iter().filter(|it| it.buffer.is_some()).map(|_| Name::Indices);
    let stages = draw.shaders.iter().flat_map(|on| {
        let textures = on.textures.iter().map(|texture| Name::Texture(on.stage, texture.slot));
        textures.chain(on.buffers.iter().map(|buffer| Name::Buffer(on.stage, buffer.slot)))
    });
    // Packed stencil is a part of the depth bytes.
    let attachments = draw.attachments().into_iter().filter(|it| it.texel != Texel::PackedStencil);
    let targets = attachments.map(|attachment| Name::Target(attachment.which));
    vertices.chain(indices).chain(stages).chain(targets)
}
