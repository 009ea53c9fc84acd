//! Packs the data of a page, and removes data until the page is not larger than the user allows.
//!
//! The size of a page is that of the packed data. Data is removed from the front of the capture; the data of the submit
//! whose picture the page opens with is removed last.

use rayon::prelude::*;

use super::blocks::{BlockKind, DRAWS};
use super::frame::{Draw, Frame, MeshOrWhy};
use super::pack::packed;
use crate::describe::Row;

/// Bytes around a block in the page.
const AROUND: usize = 80;

/// Bytes that the sentence about removed data may have.
const SENTENCE: usize = 1 << 10;

/// The reason that a draw without its mesh has.
const WHY: &str = "the page is limited by --max-size";

/// The packed data of a page.
pub struct Packed {
    /// What all draws have.
    pub head: String,
    /// The blocks of each kind, in the order of [`BlockKind::ALL`].
    pub blocks: [Vec<String>; 2],
    /// The extras by key.
    pub extras: Vec<(String, String)>,
}

impl Packed {
    fn of(frame: &Frame) -> anyhow::Result<Self> {
        let count = frame.draws.len().div_ceil(DRAWS);
        let all = |kind: BlockKind| -> anyhow::Result<Vec<String>> {
            (0..count).into_par_iter().map(|index| kind.packed(frame, index)).collect()
        };
        let [texts, pictures] = BlockKind::ALL.map(all);
        Ok(Self { head: head(frame)?, blocks: [texts?, pictures?], extras: Vec::new() })
    }

    /// Adds the extras that fit, and notes what is left out.
    fn with_extras(mut self, frame: &mut Frame, room: usize) -> anyhow::Result<Self> {
        let (chosen, left_out) = frame.extras.chosen(self.len(), room.saturating_sub(self.len()))?;
        self.extras = chosen.into_iter().map(|(key, text)| (key.to_owned(), text)).collect();
        if left_out > 0 {
            frame.notes.push(format!(
                "{left_out} tables of vertices, lists of memory and further parts of textures (levels, layers, samples) are \
                 left out: `a4emu serve` has them, `show --draw f1 --textures DIR --mesh FILE.csv` writes them, and \
                 `memory CAPTURE 'vertex 0' --draw f1` prints memory"
            ));
            self.head = head(frame)?;
        }
        Ok(self)
    }

    fn len(&self) -> usize {
        let blocks = self.blocks.iter().flatten();
        self.head.len() + SENTENCE + blocks.map(|block| block.len() + AROUND).sum::<usize>()
    }
}

fn head(frame: &Frame) -> anyhow::Result<String> {
    packed(&serde_json::to_vec(frame)?)
}

/// A kind of data that can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Removable {
    /// State, packets and mesh. The commands print them.
    Texts,
    /// What happened to pixels, and their costs.
    Maps,
    /// Changed pixels: without them there is no picture of the draw, nor of later draws to its target.
    Changes,
}

impl Removable {
    fn kind(self) -> BlockKind {
        if self == Self::Texts { BlockKind::Texts } else { BlockKind::Pictures }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Texts => "state, packets and mesh",
            Self::Maps => "overdraw, costs and verdicts of pixels",
            Self::Changes => "picture",
        }
    }

    /// Removes this part of `draw`. Returns whether there was any.
    fn leave_out(self, Draw { seen, packets, .. }: &mut Draw) -> bool {
        match self {
            Self::Texts => {
                let had = seen.state.is_some() || !packets.is_empty();
                (seen.state, seen.mesh) = (None, MeshOrWhy::why(WHY));
                packets.clear();
                seen.written.clear();
                had
            }
            Self::Maps => {
                let had = !seen.reasons.is_empty() || !seen.cost_map.is_empty();
                seen.reasons.clear();
                seen.cost_map.clear();
                had
            }
            Self::Changes => {
                let had = seen.canvas.take().is_some();
                seen.patches.clear();
                had
            }
        }
    }
}

/// The frame draws that have lost a part: their number, the first and the last.
#[derive(Default)]
struct Lost {
    count: usize,
    ids: Option<[u32; 2]>,
}

impl Lost {
    fn add(&mut self, row: &Row) {
        for id in row.numbers() {
            let [first, last] = self.ids.unwrap_or([id; 2]);
            (self.count, self.ids) = (self.count + 1, Some([first.min(id), last.max(id)]));
        }
    }

    fn text(&self, part: Removable) -> Option<String> {
        let [first, last] = self.ids?;
        Some(format!("{} frame draws (f{first} to f{last}) have no {}", self.count, part.name()))
    }
}

/// Packs the data of `frame` into at most `room` bytes. Data is removed from `frame` if it has more, and
/// [`Frame::left_out`] says so.
///
/// # Errors
/// The call fails if `frame` cannot be serialized.
pub fn fitted(frame: &mut Frame, room: usize, max_size: u64) -> anyhow::Result<Packed> {
    let mut all = Packed::of(frame)?;
    let whole = all.len();
    if whole <= room {
        return all.with_extras(frame, room);
    }
    let mut said = Vec::new();
    for (part, whose) in [
        (Removable::Texts, Whose::Others),
        (Removable::Maps, Whose::Others),
        (Removable::Changes, Whose::Others),
        (Removable::Texts, Whose::Shown),
        (Removable::Maps, Whose::Shown),
    ] {
        let lost = leave_out(frame, &mut all, (part, whose), room)?;
        said.extend(lost.text(part));
    }
    if all.len() > room {
        said.push("more cannot be left out".to_owned());
    }
    let [whole, most] = [whole as u64, max_size].map(|bytes| bytes as f64 / f64::from(1 << 20));
    frame.left_out = format!(
        "The page would have {whole:.1} MB, and --max-size allows {most:.1} MB: {}.",
        said.join("; ")
    );
    all.head = head(frame)?;
    all.with_extras(frame, room)
}

/// Whose data is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// That of the submit whose picture the page opens with.
    Shown,
    /// That of other draws.
    Others,
}

/// Removes a part of draws, block by block from the front, until the page has at most `room` bytes. What the
/// opening picture consists of stays.
fn leave_out(
    frame: &mut Frame,
    all: &mut Packed,
    (part, whose): (Removable, Whose),
    room: usize,
) -> anyhow::Result<Lost> {
    let first = frame.draws.get(frame.first);
    let (shown, canvas) = (first.map(|draw| draw.row.submit), first.and_then(|draw| draw.seen.canvas));
    let blocks = BlockKind::ALL.iter().position(|kind| *kind == part.kind()).unwrap_or_default();
    let mut lost = Lost::default();
    for index in 0..all.blocks[blocks].len() {
        if all.len() <= room {
            break;
        }
        let draws = frame.draws.iter_mut().skip(index * DRAWS).take(DRAWS);
        let mut has_changed = false;
        for draw in draws.filter(|draw| (Some(draw.row.submit) == shown) == (whose == Whose::Shown)) {
            let is_needed = part == Removable::Changes && draw.seen.canvas == canvas;
            if !is_needed && part.leave_out(draw) {
                lost.add(&draw.row);
                has_changed = true;
            }
        }
        if has_changed {
            all.blocks[blocks][index] = part.kind().packed(frame, index)?;
        }
    }
    Ok(lost)
}
