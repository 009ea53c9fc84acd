//! Removes data from a page, so that it is not much larger than its pictures.

use std::collections::BTreeMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::frame::{Draw, Frame, MeshOrWhy, Patch};

/// Constant part of the size limit in bytes. The limit is this plus one and a half times the pictures.
const BESIDE: usize = 2_000_000;

/// Bytes that are removed beyond the excess, so that a page is not packed again for a few draws.
const MARGIN: usize = 16 << 10;

/// The reason in notes about removed data.
const WHY: &str = "the page would be more than 2 MB larger than one and a half times its pictures";

/// The size limit of a page of `frame`, in bytes.
pub fn limit(frame: &Frame) -> usize {
    let patches = frame
        .draws
        .iter()
        .flat_map(|Draw { seen, .. }| seen.patches.iter().chain(&seen.reasons).chain(&seen.cost_map));
    let patches = patches.chain(frame.canvases.iter().flat_map(|canvas| &canvas.patches));
    let pngs = patches.map(|Patch { png, .. }| png).chain(frame.textures.values().map(|it| &it.png));
    // Four letters of base64 are three bytes.
    let bytes: usize = pngs.map(|png| png.trim_end_matches('=').len() * 3 / 4).sum();
    bytes + bytes / 2 + BESIDE
}

/// The removed data: for each kind, the first draw without it and the number of draws.
#[derive(Default)]
pub struct LeftOut(BTreeMap<Kind, (u32, usize)>);

impl LeftOut {
    /// Removes data of the last draws to make a page about `excess` bytes smaller. Returns false if nothing
    /// more can be removed.
    pub fn add(&mut self, frame: &mut Frame, excess: usize) -> bool {
        // Four letters of base64 are three bytes, and the sizes are only rough.
        let mut excess = excess / 8 * 7 + MARGIN;
        let mut has_shed = false;
        for kind in [Kind::Meshes, Kind::Packets, Kind::States] {
            let sizes = kind.sizes(frame);
            let mut first = sizes.len();
            while first > 0 && excess > 0 {
                first -= 1;
                excess = excess.saturating_sub(sizes[first]);
            }
            let left_out = frame.draws[first..].iter_mut().filter_map(|draw| kind.leave_out(draw)).count();
            if left_out > 0 {
                let (id, count) = self.0.entry(kind).or_default();
                (*id, *count) = (frame.draws[first].id, *count + left_out);
                has_shed = true;
            }
        }
        has_shed
    }

    /// A note for each kind of removed data.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let notes = self.0.iter();
        notes
            .map(|(kind, (id, count))| format!("{} from f{id} on are left out ({count}): {WHY}", kind.name()))
    }
}

/// A kind of data that can be removed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Removed first: meshes are the largest, and `show --mesh` has them.
    Meshes,
    Packets,
    States,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Meshes => "meshes",
            Self::States => "states",
        }
    }

    /// Rough size of this data per draw in a page, in bytes.
    fn sizes(self, frame: &Frame) -> Vec<usize> {
        let mut packed = DeflateEncoder::new(io::sink(), Compression::default());
        let mut size = |draw: &Draw| {
            let before = packed.total_out();
            let written = self.texts(draw).into_iter().try_for_each(|text| packed.write_all(text.as_bytes()));
            debug_assert!(written.is_ok(), "the sink takes everything");
            (packed.total_out() - before) as usize
        };
        frame.draws.iter().map(&mut size).collect()
    }

    fn texts(self, draw: &Draw) -> Vec<&str> {
        match (self, &draw.seen.mesh) {
            (Self::Packets, _) => draw.packets.iter().map(String::as_str).collect(),
            (Self::States, _) => draw.seen.state.iter().map(|state| state.get()).collect(),
            (Self::Meshes, MeshOrWhy::Mesh(mesh)) => {
                let parts = [mesh.inputs.as_ref(), mesh.out.as_ref(), Some(&mesh.indices)];
                parts.into_iter().flatten().map(String::as_str).collect()
            }
            (Self::Meshes, MeshOrWhy::Why(_)) => Vec::new(),
        }
    }

    /// Removes this data from `draw`. Returns `None` if there was none.
    fn leave_out(self, draw: &mut Draw) -> Option<()> {
        let had = !self.texts(draw).is_empty();
        match self {
            Self::Packets => draw.packets.clear(),
            Self::States => draw.seen.state = None,
            Self::Meshes if had => draw.seen.mesh = MeshOrWhy::why(format!("it is left out: {WHY}")),
            Self::Meshes => {}
        }
        had.then_some(())
    }
}
