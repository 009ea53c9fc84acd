//! Follows the surfaces that draws render to over a run.
//!
//! GMEM is followed as the picture that it is resolved to. A canvas is what one pass draws with all its
//! tiles, and what later draws add to it in memory. Pixels that no tile covers come from memory.

use hashbrown::HashSet;

use super::frame;
use super::pictures;
use super::room::{DataKind, Room};
use crate::describe::canvas::{Attachment, Canvas, NoCanvas, Which};
use crate::describe::{Address, Draw, SurfacePlace, Tile};
use a4emu_gpu::budget::Work;
use a4emu_gpu::gpu::Gpu;
use a4emu_shader::format::arrangement::Arrangement;

/// Maximum number of parts of a canvas that no tile covers. If there are more, tiles overlap them, and only
/// the content from before the pass becomes inexact.
const MAX_PARTS: usize = 256;

/// Least size that a canvas is charged for, in bytes. It limits the number of canvases.
const LEAST_BYTES: usize = 1 << 16;

/// Blocks of 16 bytes that are copied while a changed pixel is decoded and encoded. Measure: `scripts/prices`.
const PICTURE: u64 = 16;

/// All canvases of a run.
#[derive(Default)]
pub struct Canvases {
    all: Vec<Followed>,
    /// Number of passes over the tiles before this one.
    pass: u32,
    /// Whether a tile of this pass has been resolved.
    has_copied: bool,
}

/// One canvas.
struct Followed {
    canvas: Canvas,
    /// The attachment at its first draw.
    attachment: Attachment,
    /// Number of its pass.
    pass: u32,
    /// Name of its format.
    format: String,
    /// Its place in memory, or the place it is resolved to.
    memory: Option<Attachment>,
    /// Parts that no tile has been resolved to.
    rest: Vec<Tile>,
    /// Content from before the pass.
    held: Vec<frame::Patch>,
    /// The command that restored the first tile.
    restored_by: Option<usize>,
    /// Upper left corners of the tiles that have begun.
    begun: HashSet<[u32; 2]>,
}

/// The attachment that the page shows for a draw: the first written colour target, or depth, or the first of
/// all.
pub fn shown(draw: &Draw) -> Option<Attachment> {
    let all = draw.attachments();
    let writes = |attachment: &&Attachment| match attachment.which {
        Which::Color(index) => {
            let mut targets = draw.targets.iter();
            draw.resolve.is_some() || targets.any(|it| it.index == index && !it.write_mask.is_empty())
        }
        Which::Depth => draw.resolve.is_some() || draw.depth.as_ref().is_some_and(|depth| depth.write),
        Which::Stencil => true,
    };
    all.iter().find(writes).or(all.first()).copied()
}

impl Canvases {
    /// Called at the first run of a draw to GMEM. The first tile runs all draws of a pass. So after a
    /// resolve, another pass has begun.
    pub fn begin(&mut self) {
        self.pass += u32::from(std::mem::take(&mut self.has_copied));
    }

    /// The index of the canvas of `draw`, which is about to run, with `attachment`; none if there is no room
    /// for it.
    pub fn of(
        &mut self,
        gpu: &mut Gpu,
        draw: &Draw,
        attachment: &Attachment,
        room: &mut Room,
    ) -> Option<usize> {
        if let Some(known) = self.known(draw, attachment) {
            return Some(known);
        }
        let bytes = attachment.size.map(u64::from).iter().product::<u64>() * attachment.texel.bytes() as u64;
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).max(LEAST_BYTES);
        if !room.take(DataKind::Canvases, bytes, draw.frame_draw) {
            return None;
        }
        let mut followed = Followed::new(draw, attachment, self.pass).ok()?;
        if followed.memory.is_some() {
            followed.settle(gpu, room);
        }
        self.all.push(followed);
        Some(self.all.len() - 1)
    }

    fn known(&self, draw: &Draw, attachment: &Attachment) -> Option<usize> {
        let last = |is_it: &dyn Fn(&Followed) -> bool| self.all.iter().rposition(is_it);
        match (&draw.resolve, attachment.place) {
            (Some(resolve), _) => {
                let drawn = last(&|it| it.pass == self.pass && it.is_copied_by(resolve.gmem, attachment));
                drawn.or_else(|| last(&|it| it.is_in_memory(attachment)))
            }
            (None, SurfacePlace::Gmem(_)) => last(&|it| it.pass == self.pass && it.is_drawn_by(attachment)),
            (None, SurfacePlace::Address(_)) => last(&|it| it.is_in_memory(attachment)),
        }
    }

    /// Called before a draw to `attachment` in memory. Canvases that overlap it read their uncovered parts
    /// from memory now. A resolve to canvas `copied` does not affect that canvas.
    pub fn settle(&mut self, gpu: &mut Gpu, attachment: &Attachment, copied: Option<usize>, room: &mut Room) {
        let others = self.all.iter_mut().enumerate().filter(|(index, _)| Some(*index) != copied);
        for (_, followed) in others.filter(|(_, it)| !it.rest.is_empty() && it.overlaps(attachment)) {
            followed.settle(gpu, room);
        }
    }

    /// Number of the current pass over the tiles.
    pub fn pass(&self) -> u32 {
        self.pass
    }

    /// The first colour canvas of the pass with this number.
    pub fn color_of(&self, pass: u32) -> Option<usize> {
        let is_it = |it: &Followed| it.pass == pass && matches!(it.attachment.which, Which::Color(_));
        self.all.iter().position(is_it)
    }

    /// Whether a canvas has colours.
    pub fn is_color(&self, index: usize) -> bool {
        matches!(self.all[index].attachment.which, Which::Color(_))
    }

    /// Called before a draw to tile memory. At the first draw of a tile, what an earlier tile has left there is
    /// read: it is what the first draw finds.
    ///
    /// # Errors
    /// The call fails if the budget is used up.
    pub fn begin_tile(
        &mut self,
        index: usize,
        gpu: &mut Gpu,
        attachment: &Attachment,
        room: &mut Room,
    ) -> Result<(), NoCanvas> {
        let followed = &mut self.all[index];
        let Tile { x, y, .. } = attachment.area;
        if followed.begun.insert([x, y]) {
            let patch = followed.update(gpu, attachment, room)?;
            followed.held.extend(patch);
        }
        Ok(())
    }

    /// Records that a restore has begun a tile.
    pub fn note_begun(&mut self, index: usize, Tile { x, y, .. }: Tile) {
        self.all[index].begun.insert([x, y]);
    }

    /// Records a resolve of tile memory to a canvas.
    pub fn note_copy(&mut self, index: usize, copy: &Attachment) {
        let followed = &mut self.all[index];
        followed.memory.get_or_insert(*copy);
        if followed.rest.len() < MAX_PARTS {
            followed.rest = outside(&followed.rest, copy.area);
        }
        self.has_copied = true;
    }

    /// The command that shows what `command` restored of the canvas. The restores of all tiles count as one:
    /// each tile has restore packets of its own, which come after the packets that draw the first tile.
    pub fn restored_by(&mut self, index: usize, command: usize) -> usize {
        *self.all[index].restored_by.get_or_insert(command)
    }

    /// Copies the pixels of a run to the canvas. Returns the part that changed as a patch.
    ///
    /// # Errors
    /// The call fails if the budget is used up.
    pub fn update(
        &mut self,
        index: usize,
        gpu: &mut Gpu,
        attachment: &Attachment,
        room: &mut Room,
    ) -> Result<Option<frame::Patch>, NoCanvas> {
        self.all[index].update(gpu, attachment, room)
    }

    /// Returns all canvases with name, size and content from before the pass.
    pub fn finish(mut self, gpu: &mut Gpu, room: &mut Room) -> Vec<frame::Canvas> {
        self.all.iter_mut().for_each(|followed| followed.settle(gpu, room));
        self.all.into_iter().map(Followed::finish).collect()
    }
}

impl Followed {
    fn new(draw: &Draw, attachment: &Attachment, pass: u32) -> Result<Self, NoCanvas> {
        let format = match (attachment.which, &draw.resolve) {
            (_, Some(resolve)) => resolve.format.clone(),
            (Which::Color(index), None) => {
                let target = draw.targets.iter().find(|target| target.index == index);
                target.map_or(String::new(), |target| target.format.clone())
            }
            (Which::Depth | Which::Stencil, None) => {
                draw.depth.as_ref().map_or(String::new(), |depth| depth.format.clone())
            }
        };
        let memory = matches!(attachment.place, SurfacePlace::Address(_)).then_some(*attachment);
        let [width, height] = attachment.size;
        Ok(Self {
            canvas: Canvas::new(attachment)?,
            attachment: *attachment,
            pass,
            format,
            memory,
            rest: vec![Tile { x: 0, y: 0, width, height }],
            held: Vec::new(),
            restored_by: None,
            begun: HashSet::default(),
        })
    }

    /// Reads the parts that no tile covers from memory.
    fn settle(&mut self, gpu: &mut Gpu, room: &mut Room) {
        let Some(memory) = self.memory else { return };
        for area in std::mem::take(&mut self.rest) {
            match self.update(gpu, &Attachment { area, ..memory }, room) {
                Ok(patch) => self.held.extend(patch),
                Err(why) => gpu.cut(format!("{}: {why}", memory.which)),
            }
        }
    }

    fn update(
        &mut self,
        gpu: &mut Gpu,
        attachment: &Attachment,
        room: &mut Room,
    ) -> Result<Option<frame::Patch>, NoCanvas> {
        let changes = self.canvas.update(gpu, &from_area(attachment))?;
        let Some([x, y, width, height]) = changes.bounds else { return Ok(None) };
        if !room.asked(DataKind::Pictures, gpu.at.frame_draw) {
            return Ok(None);
        }
        let area = Tile { x, y, width, height };
        gpu.budget.observe(Work::Copy16, PICTURE * u64::from(width) * u64::from(height));
        let image = pictures::rgba(self.canvas.part(area));
        Ok(pictures::patch(&image, area, room, gpu.at.frame_draw))
    }

    /// Whether both have the same size and pixel format.
    fn is_alike(&self, other: &Attachment) -> bool {
        (self.attachment.texel, self.attachment.size) == (other.texel, other.size)
    }

    fn is_drawn_by(&self, attachment: &Attachment) -> bool {
        self.is_alike(attachment) && self.attachment.place == attachment.place
    }

    fn is_in_memory(&self, attachment: &Attachment) -> bool {
        self.is_alike(attachment) && self.memory.is_some_and(|memory| memory.place == attachment.place)
    }

    /// Whether a resolve from byte `gmem` of GMEM copies this canvas.
    fn is_copied_by(&self, gmem: u32, copy: &Attachment) -> bool {
        self.is_alike(copy)
            && self.attachment.place == SurfacePlace::Gmem(gmem)
            && self.memory.is_none_or(|known| known.place == copy.place)
    }

    /// Whether the two ranges of memory overlap.
    fn overlaps(&self, other: &Attachment) -> bool {
        let range = |it: &Attachment| match it.place {
            SurfacePlace::Address(Address(base)) => {
                Some(base..base.saturating_add(u64::from(it.pitch) * u64::from(it.size[1])))
            }
            SurfacePlace::Gmem(_) => None,
        };
        let both = self.memory.as_ref().and_then(range).zip(range(other));
        both.is_some_and(|(mine, others)| mine.start < others.end && others.start < mine.end)
    }

    fn finish(self) -> frame::Canvas {
        let [width, height] = self.attachment.size;
        let which = match self.attachment.which {
            Which::Color(index) => format!("color{index}"),
            other => other.to_string(),
        };
        let address = self.memory.and_then(|memory| match memory.place {
            SurfacePlace::Address(address) => Some(address.0),
            SurfacePlace::Gmem(_) => None,
        });
        let place = address.map_or("in tile memory".to_owned(), |address| format!("at {address:#010x}"));
        let name = format!("{which} of {width}x{height} {} {place}", self.format);
        frame::Canvas { name, width, height, address, patches: self.held }
    }
}

/// Moves the place of `attachment` in memory to the start of its area. In GMEM it stays, since GMEM holds
/// only one tile.
fn from_area(attachment: &Attachment) -> Attachment {
    let SurfacePlace::Address(Address(base)) = attachment.place else { return *attachment };
    let Tile { x, y, .. } = attachment.area;
    let Arrangement { samples, tiling } = attachment.arrangement;
    // Areas are whole bins, so they start at tiles of the surface.
    let before = tiling.offset([x, y], attachment.pitch, attachment.texel.bytes() as u32 * samples);
    Attachment { place: SurfacePlace::Address(Address(base.saturating_add(before))), ..*attachment }
}

/// The rest of `parts` outside of `hole`.
fn outside(parts: &[Tile], hole: Tile) -> Vec<Tile> {
    let cut = |part: &Tile| {
        let (right, bottom) = (part.x + part.width, part.y + part.height);
        let [x0, x1] = [hole.x, hole.x + hole.width].map(|x| x.clamp(part.x, right));
        let [y0, y1] = [hole.y, hole.y + hole.height].map(|y| y.clamp(part.y, bottom));
        if x0 == x1 || y0 == y1 {
            return vec![*part];
        }
        let of =
            |x: [u32; 2], y: [u32; 2]| Tile { x: x[0], y: y[0], width: x[1] - x[0], height: y[1] - y[0] };
        let (above, below) = (of([part.x, right], [part.y, y0]), of([part.x, right], [y1, bottom]));
        let mut pieces = vec![above, of([part.x, x0], [y0, y1]), of([x1, right], [y0, y1]), below];
        pieces.retain(|piece| piece.width > 0 && piece.height > 0);
        pieces
    };
    parts.iter().flat_map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tile(x: u32, y: u32, width: u32, height: u32) -> Tile {
        Tile { x, y, width, height }
    }

    #[test]
    fn subtracting_a_tile_leaves_the_tiles_around_it() {
        let whole = [tile(0, 0, 10, 8)];
        let around = outside(&whole, tile(2, 3, 4, 1));
        assert_eq!(around, [tile(0, 0, 10, 3), tile(0, 3, 2, 1), tile(6, 3, 4, 1), tile(0, 4, 10, 4)]);
        assert_eq!(outside(&around, tile(0, 3, 10, 1)), [tile(0, 0, 10, 3), tile(0, 4, 10, 4)]);
        assert_eq!(outside(&whole, tile(10, 0, 4, 8)), whole);
        assert_eq!(outside(&whole, tile(0, 0, 20, 20)), []);
    }
}
