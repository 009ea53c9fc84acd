//! Pictures of a draw's attachments: copied from GMEM or memory, with the tiles joined.

use a4emu_decoder::adreno::address::Address as GpuAddress;
use std::fmt;
use std::io::Write;
use std::ops::Range;
use std::str::FromStr;

use super::draw::{Draw, Tile};
use super::name::Address;
use super::target::SurfacePlace;
use a4emu_gpu::budget::Work;
use a4emu_gpu::draw::rb::depth::DepthFormat;
use a4emu_gpu::draw::rb::rendered::{Content, Written};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::memory::Memory;
use a4emu_gpu::picture::{Alpha, PixelType, Texel};
use a4emu_gpu::settled::Settled;
use a4emu_shader::format::arrangement::Arrangement;

/// Maximum size of a picture in bytes. No chip has larger targets.
const MAX_BYTES: u64 = 1 << 28;

/// Maximum number of tiles of a picture. No chip has so little GMEM that it needs more.
const MAX_AREAS: usize = 4096;

/// The attachment of a draw to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// A colour target.
    Color(u32),
    /// Depth.
    Depth,
    /// Stencil.
    Stencil,
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "depth" => Ok(Self::Depth),
            "stencil" => Ok(Self::Stencil),
            number => match number.parse() {
                Ok(index @ 0..8) => Ok(Self::Color(index)),
                _ => Err(format!("`{text}` is none of 0 to 7, depth and stencil")),
            },
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Color(index) => write!(f, "target {index}"),
            Self::Depth => f.write_str("depth"),
            Self::Stencil => f.write_str("stencil"),
        }
    }
}

/// A surface that a draw renders to, and the part of it that one run can change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// Which attachment of the draw it is.
    pub which: Which,
    /// Place of its first pixel.
    pub place: SurfacePlace,
    /// Bytes from row to row.
    pub pitch: u32,
    /// The layout of the pixels in memory.
    pub arrangement: Arrangement,
    /// The format of a pixel.
    pub texel: Texel,
    /// Width and height of the surface in pixels.
    pub size: [u32; 2],
    /// The area that the run can change.
    pub area: Tile,
}

impl Attachment {
    /// The part of the attachment that fits its buffer. Registers may hold any size.
    fn held(self, memory: &Memory) -> Self {
        let SurfacePlace::Address(base) = self.place else { return self };
        let band = self.arrangement.tiling.rows();
        let rows = memory.room(base.gpu()).div_ceil(self.pitch.max(1));
        let rows = rows.checked_next_multiple_of(band).unwrap_or(u32::MAX);
        let ([width, height], area) = (self.size, self.area);
        Self { size: [width, height.min(rows)], area: Tile { height: area.height.min(rows), ..area }, ..self }
    }
}

impl Attachment {
    fn pay(&self, gpu: &mut Gpu) -> Result<(), NoCanvas> {
        let [width, height] = [self.area.width, self.area.height].map(u64::from);
        let units = width * height * self.texel.bytes() as u64 / 16 + height;
        if gpu.budget.take(Work::Copy16, units) { Ok(()) } else { Err(NoCanvas::NoBudget) }
    }

    /// Passes each row of bytes that a run of the draw can change to `see`. A [`Canvas`] copies an
    /// attachment instead.
    ///
    /// # Errors
    /// The call fails if the budget is used up.
    pub fn each_row(&self, gpu: &mut Gpu, mut see: impl FnMut(&[u8])) -> Result<(), NoCanvas> {
        self.pay(gpu)?;
        let mut bytes = vec![0; self.area.width as usize * self.texel.bytes()];
        let gpu = gpu.settle();
        for row in 0..self.area.height {
            copy_row(gpu, self, row, &mut bytes);
            see(&bytes);
        }
        Ok(())
    }
}

impl Draw {
    /// The attachments of the draw: colour targets, depth and stencil; for a resolve, the surface it writes.
    pub fn attachments(&self) -> Vec<Attachment> {
        let color = self.targets.iter().filter_map(|target| {
            let (format, swap) = target.pixel?;
            let texel = Texel::color(format, swap)?;
            self.attachment(Which::Color(target.index), (target.place, target.pitch), texel).map(|it| {
                let tiling = target.tiling;
                Attachment { arrangement: Arrangement { tiling, ..it.arrangement }, ..it }
            })
        });
        let depth = self.depth.iter().flat_map(|depth| {
            let at = (depth.place, depth.pitch);
            let packed = (depth.pixel == DepthFormat::Unorm24Stencil8).then_some(Texel::PackedStencil);
            let stencil = packed.and_then(|texel| self.attachment(Which::Stencil, at, texel));
            [self.attachment(Which::Depth, at, Texel::Depth(depth.pixel)), stencil]
        });
        let stencil = self.stencil.as_ref().and_then(|stencil| stencil.separate);
        let stencil = stencil.map(|it| self.attachment(Which::Stencil, (it.place, it.pitch), Texel::Stencil));
        color.chain(depth.chain(stencil).flatten()).chain(self.resolved()).collect()
    }

    fn attachment(
        &self,
        which: Which,
        (place, pitch): (SurfacePlace, u32),
        texel: Texel,
    ) -> Option<Attachment> {
        let size @ [width, height] = self.frame?;
        let whole = Tile { x: 0, y: 0, width, height };
        let area = match place {
            SurfacePlace::Gmem(_) => self.tile?,
            SurfacePlace::Address(_) => whole,
        };
        let arrangement = Arrangement { samples: self.samples?, ..Arrangement::PLAIN };
        Some(Attachment { which, place, pitch, arrangement, texel, size, area })
    }

    /// The surface that a resolve writes.
    fn resolved(&self) -> Option<Attachment> {
        let written @ Written { arrangement, .. } = self.resolve.as_ref()?.written;
        let (which, texel) = match written.content {
            Content::Color => (Which::Color(0), Texel::color(written.format.value, written.swap)?),
            Content::Depth(format) => (Which::Depth, Texel::Depth(format.value)),
        };
        let copy = self.attachment(
            which,
            (SurfacePlace::Address(Address::of(written.address)), written.pitch),
            texel,
        )?;
        Some(Attachment { arrangement, ..copy })
    }
}

/// The reason why there is no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCanvas {
    /// The size (columns, rows, bytes per pixel) is zero or too large.
    #[error("no picture of {0}x{1} pixels of {2} bytes")]
    Size(u32, u32, usize),
    /// The picture has more tiles than any chip makes.
    #[error("no picture of more than {MAX_AREAS} tiles")]
    Tiles,
    /// The work budget of the run is used up.
    #[error("the run was cut off before the picture was taken")]
    NoBudget,
}

/// A copy of an attachment at one moment. Each tile is copied at that moment of its own run.
#[derive(Clone, Debug, PartialEq)]
pub struct Canvas {
    texel: Texel,
    size: [u32; 2],
    bytes: Vec<u8>,
    /// The copied areas.
    areas: Vec<Tile>,
}

impl Canvas {
    /// Makes an empty picture for `attachment`.
    ///
    /// # Errors
    /// The call fails if the attachment has no pixels or too many.
    pub fn new(attachment: &Attachment) -> Result<Self, NoCanvas> {
        let (texel, size @ [width, height]) = (attachment.texel, attachment.size);
        let bytes = u64::from(width) * u64::from(height) * texel.bytes() as u64;
        match bytes {
            1..=MAX_BYTES => Ok(Self { texel, size, bytes: vec![0; bytes as usize], areas: Vec::new() }),
            _ => Err(NoCanvas::Size(width, height, texel.bytes())),
        }
    }

    /// Columns and rows.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Whether both pictures have the same size and pixel format.
    pub fn is_alike(&self, other: &Self) -> bool {
        (self.texel, self.size) == (other.texel, other.size)
    }

    /// Copies the area that a run of the draw can change.
    ///
    /// Memory that the capture does not hold reads as zero. An attachment of another size or format is ignored.
    ///
    /// # Errors
    /// The call fails if the budget is used up.
    pub fn copy(&mut self, gpu: &mut Gpu, attachment: &Attachment) -> Result<(), NoCanvas> {
        let area = attachment.area;
        if !self.pay(gpu, attachment)? {
            return Ok(());
        }
        let gpu = gpu.settle();
        for row in 0..area.height {
            let range = self.row(area, row);
            copy_row(gpu, attachment, row, &mut self.bytes[range]);
        }
        self.add_area(area)
    }

    /// Copies like [`Canvas::copy`], and returns the pixels that changed.
    ///
    /// # Errors
    /// The call fails if the budget is used up.
    pub fn update(&mut self, gpu: &mut Gpu, attachment: &Attachment) -> Result<Changes, NoCanvas> {
        let area = attachment.area;
        let mut changes = Changes::default();
        if !self.pay(gpu, attachment)? {
            return Ok(changes);
        }
        let (len, significant) = (self.texel.bytes(), self.significant());
        let mut new = vec![0; area.width as usize * len];
        let gpu = gpu.settle();
        for row in 0..area.height {
            copy_row(gpu, attachment, row, &mut new);
            let range = self.row(area, row);
            let old = &mut self.bytes[range];
            if old == new {
                continue;
            }
            for (x, (old, new)) in (area.x..).zip(old.chunks_exact(len).zip(new.chunks_exact(len))) {
                if old[significant.clone()] != new[significant.clone()] {
                    changes.add(x, area.y + row);
                }
            }
            old.copy_from_slice(&new);
        }
        self.add_area(area)?;
        Ok(changes)
    }

    /// Whether `attachment` belongs to this picture and has pixels. If so, its cost is charged.
    fn pay(&self, gpu: &mut Gpu, attachment: &Attachment) -> Result<bool, NoCanvas> {
        let area = attachment.area;
        let is_other = (attachment.texel, attachment.size) != (self.texel, self.size);
        if is_other || area.width == 0 || area.height == 0 {
            return Ok(false);
        }
        attachment.pay(gpu).map(|()| true)
    }

    fn add_area(&mut self, area: Tile) -> Result<(), NoCanvas> {
        match self.areas.contains(&area) {
            true => {}
            false if self.areas.len() < MAX_AREAS => self.areas.push(area),
            false => return Err(NoCanvas::Tiles),
        }
        Ok(())
    }

    /// The byte range of row `row` of `area`, which is inside the picture.
    fn row(&self, area: Tile, row: u32) -> Range<usize> {
        let at = |x: u32| ((area.y + row) as usize * self.size[0] as usize + x as usize) * self.texel.bytes();
        at(area.x)..at(area.x + area.width)
    }

    /// The bytes of a pixel that are compared.
    fn significant(&self) -> Range<usize> {
        match self.texel {
            Texel::Depth(DepthFormat::Unorm24Stencil8) => 0..3,
            Texel::PackedStencil => 3..4,
            texel => 0..texel.bytes(),
        }
    }

    /// The pixels that differ in `after`, a later picture of the same attachment.
    pub fn changes(&self, after: &Self) -> Changes {
        let mut changes = Changes::default();
        let significant = self.significant();
        for area in &after.areas {
            for row in 0..area.height {
                let range = self.row(*area, row);
                let (old, new) = (&self.bytes[range.clone()], &after.bytes[range]);
                let pixels = old.chunks_exact(self.texel.bytes()).zip(new.chunks_exact(self.texel.bytes()));
                for (x, (old, new)) in (area.x..).zip(pixels) {
                    if old[significant.clone()] != new[significant.clone()] {
                        changes.add(x, area.y + row);
                    }
                }
            }
        }
        changes
    }

    /// An image of the pixels of `area`, which is inside the picture.
    pub fn part(&self, area: Tile) -> Image {
        let kind = self.texel.kind();
        let mut pixels = Vec::with_capacity(area.width as usize * area.height as usize * kind.bytes());
        for row in 0..area.height {
            let texels = self.bytes[self.row(area, row)].chunks_exact(self.texel.bytes());
            texels.for_each(|texel| self.texel.put(texel, &mut pixels));
        }
        Image { size: [area.width, area.height], kind, pixels }
    }

    /// An image of the whole picture. Pixels that no tile covers are zero.
    pub fn image(&self, alpha: Alpha) -> Image {
        let (kind, texels) = (self.texel.kind(), self.size[0] as usize * self.size[1] as usize);
        let mut image = Image { size: self.size, kind, pixels: vec![0; texels * kind.bytes()] };
        let mut pixels = Vec::new();
        for area in &self.areas {
            for row in 0..area.height {
                let range = self.row(*area, row);
                pixels.clear();
                let texels = self.bytes[range.clone()].chunks_exact(self.texel.bytes());
                texels.for_each(|texel| self.texel.put(texel, &mut pixels));
                let first = range.start / self.texel.bytes() * kind.bytes();
                image.pixels[first..first + pixels.len()].copy_from_slice(&pixels);
            }
        }
        alpha.apply(kind, &mut image.pixels);
        image
    }
}

/// Copies a row of the attachment's area, one sample per pixel. Missing memory reads as zero.
fn copy_row(gpu: Settled<'_>, attachment: &Attachment, row: u32, out: &mut [u8]) {
    let Attachment { place, pitch, arrangement, texel, .. } = *attachment;
    out.fill(0);
    texel.gather(arrangement, pitch, [0, row], out, |at, bytes| match place {
        SurfacePlace::Gmem(base) => {
            let from = (u64::from(base) + at).min(gpu.tile_memory().len() as u64) as usize;
            let len = bytes.len().min(gpu.tile_memory().len() - from);
            bytes[..len].copy_from_slice(&gpu.tile_memory()[from..from + len]);
        }
        SurfacePlace::Address(Address(base)) => {
            let _missing_is_zero = gpu.memory().read(GpuAddress::new(base.saturating_add(at)), bytes);
        }
    });
}

/// The run that is kept if several runs of a draw can change the same pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The first run.
    First,
    /// The last run.
    Last,
}

/// Copies of all attachments of a draw, at one moment of each of its runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot(Vec<(Which, Canvas)>);

impl Snapshot {
    /// Copies the area that the run `draw` can change. An attachment without a picture is reported as cut
    /// off.
    pub fn add(&mut self, gpu: &mut Gpu, draw: &Draw, keep: Keep) {
        let attachments =
            draw.attachments().into_iter().map(|attachment| attachment.held(gpu.sync().memory()));
        let with_pixels: Vec<_> = attachments.filter(|attachment| !attachment.size.contains(&0)).collect();
        for attachment in with_pixels {
            if let Err(why) = self.add_attachment(gpu, &attachment, keep) {
                let what = format!("draw {}: {}: {why}", draw.draw, attachment.which);
                gpu.cut(what);
            }
        }
    }

    fn add_attachment(&mut self, gpu: &mut Gpu, attachment: &Attachment, keep: Keep) -> Result<(), NoCanvas> {
        let known = self.0.iter().position(|(which, _)| *which == attachment.which);
        let index = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push((attachment.which, Canvas::new(attachment)?));
        }
        let canvas = &mut self.0[index].1;
        match keep {
            Keep::First if canvas.areas.contains(&attachment.area) => Ok(()),
            Keep::First | Keep::Last => canvas.copy(gpu, attachment),
        }
    }

    /// The picture of one attachment, or the first picture.
    pub fn get(&self, which: Option<Which>) -> Option<&Canvas> {
        let found = self.0.iter().find(|(known, _)| which.is_none_or(|which| which == *known));
        found.map(|(_, canvas)| canvas)
    }

    /// The changes in `after`, a later snapshot of the same draw.
    pub fn changes(&self, after: &Self) -> Vec<(Which, Changes)> {
        let both = self.0.iter().zip(&after.0);
        both.map(|((which, before), (_, after))| (*which, before.changes(after))).collect()
    }
}

/// The number of changed pixels, and the rectangle around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Changes {
    /// Number of changed pixels.
    pub pixels: u64,
    /// The smallest rectangle around them: x, y, width and height.
    pub bounds: Option<[u32; 4]>,
}

impl Changes {
    /// Adds a pixel.
    pub fn add(&mut self, x: u32, y: u32) {
        self.pixels += 1;
        let [x0, y0, width, height] = self.bounds.unwrap_or([x, y, 1, 1]);
        let (left, top) = (x0.min(x), y0.min(y));
        let (right, bottom) = ((x0 + width).max(x + 1), (y0 + height).max(y + 1));
        self.bounds = Some([left, top, right - left, bottom - top]);
    }
}

/// An image with pixel data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Columns and rows.
    pub size: [u32; 2],
    /// The format of its pixels.
    pub kind: PixelType,
    /// The pixels, row by row.
    pub pixels: Vec<u8>,
}

impl Image {
    /// Writes the image as PNG.
    ///
    /// # Errors
    /// The call fails if `out` cannot be written.
    pub fn write_png(&self, out: impl Write) -> anyhow::Result<()> {
        let mut writer = self.kind.encoder(out, self.size).write_header()?;
        writer.write_image_data(&self.pixels)?;
        Ok(writer.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_gpu::budget::Budget;
    use a4emu_gpu::gpu::Chip;

    const TILE: Tile = Tile { x: 2, y: 1, width: 2, height: 2 };

    fn attachment(place: SurfacePlace, area: Tile) -> Attachment {
        let texel = Texel::Depth(DepthFormat::Unorm24Stencil8);
        let arrangement = Arrangement::PLAIN;
        Attachment { which: Which::Depth, place, pitch: 32, arrangement, texel, size: [4, 4], area }
    }

    #[test]
    fn tiles_land_where_they_belong() {
        let mut gpu = Gpu::new(Chip::default());
        gpu.tile_memory_mut()[64 + 1] = 0x40;
        gpu.tile_memory_mut()[64 + 32 + 4 + 2] = 0x80;
        let attachment = attachment(SurfacePlace::Gmem(64), TILE);
        let mut canvas = Canvas::new(&attachment).expect("a small one");
        canvas.copy(&mut gpu, &attachment).expect("cheap");
        let image = canvas.image(Alpha::Kept);
        let grey: Vec<u16> =
            image.pixels.as_chunks().0.iter().map(|pixel| u16::from_be_bytes(*pixel)).collect();
        let mut expected = [0; 16];
        (expected[4 + 2], expected[2 * 4 + 3]) = (0x40, 0x8000);
        assert_eq!(grey, expected);
    }

    #[test]
    fn stencil_is_no_change_of_depth() {
        let mut gpu = Gpu::new(Chip::default());
        let attachment = attachment(SurfacePlace::Gmem(0), TILE);
        let empty = Canvas::new(&attachment).expect("a small one");
        let (mut before, mut after) = (empty.clone(), empty);
        before.copy(&mut gpu, &attachment).expect("cheap");
        gpu.tile_memory_mut()[3] = 1;
        gpu.tile_memory_mut()[32 + 4] = 1;
        after.copy(&mut gpu, &attachment).expect("cheap");
        assert_eq!(before.changes(&after), Changes { pixels: 1, bounds: Some([3, 2, 1, 1]) });
    }

    #[test]
    fn rows_are_what_a_canvas_copies() {
        let mut gpu = Gpu::new(Chip::default());
        gpu.tile_memory_mut().iter_mut().zip((0..=250).cycle()).for_each(|(byte, value)| *byte = value);
        let attachment = attachment(SurfacePlace::Gmem(64), TILE);
        let mut canvas = Canvas::new(&attachment).expect("a small one");
        canvas.copy(&mut gpu, &attachment).expect("cheap");
        let mut rows = Vec::new();
        attachment.each_row(&mut gpu, |row| rows.push(row.to_vec())).expect("cheap");
        let copied: Vec<_> =
            (0..TILE.height).map(|row| canvas.bytes[canvas.row(TILE, row)].to_vec()).collect();
        assert_eq!(rows, copied);
        gpu.budget = Budget::fixed(0);
        assert_eq!(attachment.each_row(&mut gpu, |_| unreachable!()), Err(NoCanvas::NoBudget));
    }

    #[test]
    fn canvas_zeroes_missing_memory_and_refuses_invalid_sizes() {
        let mut gpu = Gpu::new(Chip::default());
        for place in [SurfacePlace::Gmem(u32::MAX), SurfacePlace::Address(Address::of(u32::MAX - 8))] {
            let attachment = attachment(place, TILE);
            let mut canvas = Canvas::new(&attachment).expect("a small one");
            canvas.copy(&mut gpu, &attachment).expect("cheap");
            assert!(canvas.image(Alpha::Opaque).pixels.iter().all(|byte| *byte == 0));
        }
        for size in [[0, 4], [16383, 16383]] {
            let attachment = Attachment { size, ..attachment(SurfacePlace::Gmem(0), TILE) };
            assert_eq!(Canvas::new(&attachment), Err(NoCanvas::Size(size[0], size[1], 4)));
        }
    }
}
