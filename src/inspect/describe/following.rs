//! Records what all draws did to the pixels of the last picture.

use std::sync::Arc;

use anyhow::{Context, ensure};

use crate::describe::canvas::{Attachment, Image, Which};
use crate::describe::{Address, Costing, Draw, Shaders, SurfacePlace, Tile, Touched};
use a4emu_gpu::cp::{Call, Engine, Flow};
use a4emu_gpu::draw::Inspection;
use a4emu_gpu::draw::fs::reasons::{Plane, Reasons};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::picture::Picture;

/// Maximum number of pixels of all surfaces. The surface that was rendered to longest ago is dropped first.
const MAX_PIXELS: u64 = 1 << 26;

/// An engine that renders and records what happens to pixels, surface by surface.
///
/// Restores of tile memory are not recorded, since no program draws them. A tile that begins without a
/// restore clears its earlier record. So of several frames only the last counts.
pub struct Following {
    /// The cost of the draws.
    pub costing: Costing,
    planes: Vec<Plane>,
    shaders: Shaders,
    open: Option<Open>,
    /// The tile of the last restore.
    restored: Option<Tile>,
    /// Surfaces by address, the most recent one last.
    surfaces: Vec<(Address, Touched)>,
}

/// The surfaces that are being rendered to: a tile, or targets in memory.
struct Open {
    area: Tile,
    size: [u32; 2],
    places: Vec<SurfacePlace>,
    /// Whether the tile began with a restore from memory.
    is_restored: bool,
    /// Addresses that it was copied to. A later draw begins another pass.
    copies: Vec<Address>,
    map: Arc<Reasons>,
}

impl Open {
    /// Whether draws to `attachments` write the same pixels.
    fn takes(&self, attachments: &[Attachment]) -> bool {
        let [first, ..] = attachments else { return false };
        let is_alike = self.area == first.area && self.size == first.size && self.copies.is_empty();
        is_alike
            && match (&self.places[..], first.place) {
                ([SurfacePlace::Gmem(_), ..], SurfacePlace::Gmem(_)) => true,
                (places, _) => places.iter().copied().eq(attachments.iter().map(|it| it.place)),
            }
    }
}

impl Following {
    /// Makes an engine that also records `planes`.
    pub fn new(planes: Vec<Plane>) -> Self {
        let (costing, shaders, open, restored, surfaces) = Default::default();
        Self { costing, planes, shaders, open, restored, surfaces }
    }

    /// The map for `draw`. Draws to the same pixels share a map.
    fn map(&mut self, gpu: &mut Gpu, draw: &Draw) -> Option<Arc<Reasons>> {
        match draw.pass {
            None | Some(Pass::Binning | Pass::Resolve) => return None,
            Some(Pass::Restore) => {
                self.restored = draw.tile;
                return None;
            }
            Some(Pass::Gmem | Pass::Bypass) => {}
        }
        let attachments = drawn_to(draw);
        let first = attachments.first()?;
        if let Some(open) = self.open.as_mut().filter(|open| open.takes(&attachments)) {
            for attachment in attachments {
                if !open.places.contains(&attachment.place) {
                    open.places.push(attachment.place);
                }
            }
            return Some(open.map.clone());
        }
        self.close(gpu);
        let map = draw.map(gpu, first, &self.planes)?;
        let places = attachments.iter().map(|it| it.place).collect();
        let is_restored = self.restored.take() == Some(first.area);
        let (area, size, copies) = (first.area, first.size, Vec::new());
        self.open = Some(Open { area, size, places, is_restored, copies, map: map.clone() });
        Some(map)
    }

    /// Adds the map of surfaces in memory to their record.
    fn close(&mut self, gpu: &mut Gpu) {
        let Some(open) = self.open.take() else { return };
        gpu.settle();
        for place in &open.places {
            if let SurfacePlace::Address(address) = place {
                self.add(*address, open.size, &open.map);
            }
        }
    }

    /// Adds the map of a tile to the surface that `copy` writes.
    fn copied(&mut self, gpu: &mut Gpu, copy: &Draw) {
        let Some(resolve) = &copy.resolve else { return };
        gpu.settle();
        let Some(mut open) = self.open.take() else { return };
        let address = resolve.address;
        let is_known =
            Some(open.area) == copy.tile && open.places.contains(&SurfacePlace::Gmem(resolve.gmem));
        if is_known && !open.copies.contains(&address) {
            if !open.is_restored {
                self.forget(address, open.area);
            }
            self.add(address, open.size, &open.map);
            open.copies.push(address);
        }
        self.open = Some(open);
    }

    /// Clears the record of `area`, for a tile that began without a restore.
    fn forget(&mut self, address: Address, area: Tile) {
        let known = self.surfaces.iter_mut().filter(|(known, _)| *known == address);
        known.for_each(|(_, touched)| touched.clear(area));
    }

    fn add(&mut self, address: Address, size: [u32; 2], map: &Reasons) {
        let known = self.surfaces.iter().position(|(known, it)| *known == address && it.size == size);
        let mut touched = known.map_or_else(|| Touched::new(size), |index| self.surfaces.remove(index).1);
        touched.add(map, [0; 2]);
        self.surfaces.push((address, touched));
        let pixels = |surfaces: &[(Address, Touched)]| {
            surfaces.iter().map(|(_, it)| it.bits.len() as u64).sum::<u64>()
        };
        while self.surfaces.len() > 1 && pixels(&self.surfaces) > MAX_PIXELS {
            self.surfaces.remove(0);
        }
    }

    /// The picture that `replay --png` writes, and what happened to its pixels.
    ///
    /// # Errors
    /// The call fails if no colour surface was rendered, or if its fragments are unknown.
    pub fn finish(mut self, gpu: &mut Gpu) -> anyhow::Result<(Image, Touched)> {
        self.close(gpu);
        let surface = *gpu.pipeline.surfaces.last_color().context("no colour surface was rendered")?;
        let known = self.surfaces.iter().rposition(|(address, _)| surface.address == address.gpu());
        let touched = known.map(|index| self.surfaces.swap_remove(index).1);
        let picture = Picture::of(&surface, gpu.sync().memory())?;
        let size = picture.size();
        let touched = touched.filter(|touched| touched.size[0] == size[0] && touched.size[1] >= size[1]);
        let touched = touched.context("nothing is known of the fragments of what was rendered last")?;
        ensure!(!size.contains(&0), "what was rendered last has no pixels");
        Ok((Image { size, kind: picture.kind(), pixels: picture.pixels() }, touched))
    }
}

/// The attachments that `draw` renders to: its colour targets, or depth and stencil if it has none.
fn drawn_to(draw: &Draw) -> Vec<Attachment> {
    let all = draw.attachments();
    let is_color = |it: &Attachment| matches!(it.which, Which::Color(_));
    let color: Vec<Attachment> = all.iter().copied().filter(is_color).collect();
    if color.is_empty() { all } else { color }
}

impl Engine for Following {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        self.copied(gpu, &draw);
        let inspection = Inspection { reasons: self.map(gpu, &draw), ..Inspection::default() };
        let flow = self.costing.run_with(gpu, call, inspection);
        self.costing.inspect(gpu, Inspection::default());
        flow
    }
}
