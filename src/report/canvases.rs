//! What draws render to, followed over the run.
//!
//! Tile memory is followed as the picture that it is copied to: a canvas is what one pass draws, with all
//! its tiles, and what later draws add to it in memory. A tile that begins again behind its copy is another pass, and
//! another canvas.

use super::frame;
use super::room::{Kind, Room};
use crate::gpu::Gpu;
use crate::inspect::canvas::{Attachment, Canvas, NoCanvas, Which};
use crate::inspect::{Address, Draw, Place, Tile};
use crate::pass::Pass;

/// All canvases of a run.
#[derive(Default)]
pub struct Canvases(Vec<Followed>);

/// One of them.
struct Followed {
    canvas: Canvas,
    /// What was drawn to when it was met.
    attachment: Attachment,
    /// Format, for people.
    format: String,
    /// Where it is in memory, or was copied to.
    address: Option<u32>,
    /// The tiles that were copied to memory.
    resolved: Vec<Tile>,
    /// The command that restored the first tile.
    restored_by: Option<usize>,
}

/// What a draw shows: the first colour target that it writes, or depth, or what there is.
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
    /// The canvas of the first run of a draw, to `attachment`; none where there is no room for it.
    pub fn of(&mut self, draw: &Draw, attachment: &Attachment, room: &mut Room) -> Option<usize> {
        self.known(draw, attachment).or_else(|| {
            let bytes =
                attachment.size.map(u64::from).iter().product::<u64>() * attachment.texel.bytes() as u64;
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            if !room.take(Kind::Canvases, bytes, draw.frame_draw) {
                return None;
            }
            self.0.push(Followed::new(draw, attachment).ok()?);
            Some(self.0.len() - 1)
        })
    }

    fn known(&self, draw: &Draw, attachment: &Attachment) -> Option<usize> {
        match (&draw.resolve, attachment.place) {
            (Some(resolve), _) => {
                let copied =
                    self.0.iter().rposition(|it| it.is_copied_by(resolve.gmem, draw.tile, attachment));
                copied.or_else(|| self.0.iter().rposition(|it| it.is_in_memory(attachment)))
            }
            (None, Place::Gmem(_)) => self
                .0
                .iter()
                .rposition(|it| it.is_drawn_by(attachment))
                .filter(|index| draw.tile.is_none_or(|tile| !self.0[*index].resolved.contains(&tile))),
            (None, Place::Address(_)) => self.0.iter().rposition(|it| it.is_in_memory(attachment)),
        }
    }

    /// A copy of tile memory has run.
    pub fn note_copy(&mut self, index: usize, draw: &Draw, attachment: &Attachment) {
        let followed = &mut self.0[index];
        if let (Some(tile), Place::Address(Address(address))) = (draw.tile, attachment.place) {
            followed.address = Some(address);
            followed.resolved.push(tile);
        }
    }

    /// The command that shows what `command` has done to the canvas: itself, but the restores of all tiles are one.
    /// Each tile has packets of its own for it, which come behind those that draw the first tile and draw before them.
    pub fn shown_by(&mut self, index: usize, draw: &Draw, command: usize) -> usize {
        match draw.pass {
            Some(Pass::Restore) => *self.0[index].restored_by.get_or_insert(command),
            _ => command,
        }
    }

    /// Takes over what a run has left in the canvas; the part of it that has changed, with its picture.
    ///
    /// # Errors
    /// The budget does not pay for it.
    pub fn update(
        &mut self,
        index: usize,
        gpu: &mut Gpu,
        attachment: &Attachment,
    ) -> Result<Option<(Tile, crate::inspect::canvas::Image)>, NoCanvas> {
        let canvas = &mut self.0[index].canvas;
        let Some([x, y, width, height]) = canvas.update(gpu, attachment)?.bounds else { return Ok(None) };
        let area = Tile { x, y, width, height };
        Ok(Some((area, canvas.part(area))))
    }

    /// Names and sizes.
    pub fn finish(self) -> Vec<frame::Canvas> {
        self.0.into_iter().map(Followed::finish).collect()
    }
}

impl Followed {
    fn new(draw: &Draw, attachment: &Attachment) -> Result<Self, NoCanvas> {
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
        let address = match attachment.place {
            Place::Address(Address(address)) => Some(address),
            Place::Gmem(_) => None,
        };
        let canvas = Canvas::new(attachment)?;
        Ok(Self { canvas, attachment: *attachment, format, address, resolved: Vec::new(), restored_by: None })
    }

    /// Whether both have the same pixels.
    fn is_alike(&self, other: &Attachment) -> bool {
        (self.attachment.texel, self.attachment.size) == (other.texel, other.size)
    }

    fn is_drawn_by(&self, attachment: &Attachment) -> bool {
        self.is_alike(attachment) && self.attachment.place == attachment.place
    }

    fn is_in_memory(&self, attachment: &Attachment) -> bool {
        let Place::Address(Address(address)) = attachment.place else { return false };
        self.is_alike(attachment) && self.address == Some(address)
    }

    /// Whether a copy from byte `gmem` of tile memory copies it.
    fn is_copied_by(&self, gmem: u32, tile: Option<Tile>, copy: &Attachment) -> bool {
        let Place::Address(Address(address)) = copy.place else { return false };
        self.is_alike(copy)
            && self.attachment.place == Place::Gmem(gmem)
            && self.address.is_none_or(|known| known == address)
            && tile.is_some_and(|tile| !self.resolved.contains(&tile))
    }

    fn finish(self) -> frame::Canvas {
        let [width, height] = self.attachment.size;
        let which = match self.attachment.which {
            Which::Color(index) => format!("color{index}"),
            other => other.to_string(),
        };
        let place = match (self.attachment.place, self.address) {
            (Place::Gmem(_), None) => "in tile memory".to_owned(),
            (_, Some(address)) => format!("at {address:#010x}"),
            (Place::Address(address), None) => format!("at {address}"),
        };
        let name = format!("{which} of {width}x{height} {} {place}", self.format);
        frame::Canvas { name, width, height, address: self.address }
    }
}
