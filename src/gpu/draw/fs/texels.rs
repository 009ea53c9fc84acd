//! Rectangles that copy texels of the same size to pixels. They are used for restores of tile memory and for
//! copies.
//!
//! A shader that only fetches one texel need not run if the texel of each pixel is known and its bytes equal
//! those of the pixel.

use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::rb::color::{ColorOutput, Precision};
use crate::draw::rb::surface::PixelRows;
use crate::draw::tpl1::ByteTexels;
use crate::draw::vpc::interpolate::Source;
use crate::draw::vpc::ramp::Ramp;
use a4emu_shader::{Number, TexelProgram};

use super::DrawState;

/// Source of a texel copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelCopy {
    program: TexelProgram,
    texels: ByteTexels,
    /// Index of the destination surface.
    pub surface: usize,
}

impl TexelCopy {
    /// Returns the copy of a draw if all its pixels become texels byte by byte, whatever they contain.
    pub fn of(state: &DrawState) -> Option<Self> {
        let DrawState { fragment, targets, .. } = state;
        let [target] = targets.color.as_slice() else { return None };
        let is_tested = targets.depth.is_some() || targets.samples.count() > 1;
        if is_tested || fragment.stage.is_observed() {
            return None;
        }
        let program = fragment.stage.program.as_texel()?;
        let texels = fragment.stage.textures.byte_texels(program.texture, program.sampler)?;
        let result = ColorOutput { regid: program.result, precision: Precision::Full, number: Number::Float };
        let is_its_own = target.output == result && fragment.inputs.perspective_alone() == Some(program.ij);
        let surface = target.surface;
        (is_its_own && target.stores_bytes(texels.order)).then_some(Self { program, texels, surface })
    }

    /// Returns how many instructions a warp of the program runs.
    pub fn instructions(&self) -> u64 {
        self.program.instructions
    }

    /// Returns the slot of the texture.
    pub fn texture(&self) -> u32 {
        self.program.texture
    }

    /// Returns the offset from the pixels of `area` to their texels, if it is constant and the texels are
    /// inside the texture.
    fn shift(&self, source: &Source<'_>, primitive: &ScreenPrimitive, area: Rect) -> Option<[i32; 2]> {
        let (last_x, last_y) = (area.x1 - 1, area.y1 - 1);
        let corners = [[area.x0, area.y0], [last_x, area.y0], [area.x0, last_y], [last_x, last_y]];
        let mut shift = [0; 2];
        for axis in 0..2 {
            let ramp = Ramp::of(source, primitive, self.program.locations[axis], area)?;
            let size = f64::from(self.texels.size[axis]);
            shift[axis] = (ramp.at(corners[0]) * size).floor() as i32 - corners[0][axis];
            let is_there = |corner: [i32; 2]| {
                let texel = corner[axis].checked_add(shift[axis])?;
                // Pixels between the corners are no farther from the centre of their texel.
                let off = (ramp.at(corner) * size - (f64::from(texel) + 0.5)).abs();
                ((0..self.texels.size[axis]).contains(&texel) && off + ramp.error * size < 0.5).then_some(())
            };
            corners.into_iter().try_for_each(is_there)?;
        }
        Some(shift)
    }

    /// Copies to the pixels of `area`, all covered by `primitive`, from `bytes`, which begin at the base of
    /// the texture. Returns false if a copy is not possible; the pixels are then undefined.
    pub fn copy(
        &self,
        (source, primitive, area): (&Source<'_>, &ScreenPrimitive, Rect),
        bytes: &[u8],
        surface: &mut PixelRows<'_>,
    ) -> bool {
        let Some(shift) = self.shift(source, primitive, area) else { return false };
        let count = (area.x1 - area.x0) as usize;
        (area.y0..area.y1).all(|y| {
            let texels = self.texels.row(bytes, [area.x0 + shift[0], y + shift[1]], count);
            match (texels, surface.pixels(area.x0, y, count)) {
                (Some(texels), Some(pixels)) if pixels.len() == texels.len() => {
                    pixels.copy_from_slice(texels);
                    true
                }
                _ => false,
            }
        })
    }
}
