//! Textures with nearest filter whose texels are copied as four bytes.

use super::descriptor::{Component, Texture};
use super::layout::Level;
use super::sampler::{Edge, Filter, Sampler};

/// One level of a texture of four normalised bytes per texel, with a sampler that takes the nearest texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteTexels {
    /// Texels per row, and number of rows.
    pub size: [i32; 2],
    /// Byte of each component.
    pub order: [u32; 4],
    /// Bytes from the texture's base to the first texel.
    offset: u32,
    /// Bytes from one row to the next.
    pitch: u32,
}

impl ByteTexels {
    /// Returns the texels of `texture` and `sampler`, if they have this form. The sampler must clamp to the
    /// edge.
    pub(super) fn of(texture: &Texture, sampler: &Sampler) -> Option<Self> {
        let unorm = texture.unorm.as_ref().filter(|unorm| unorm.texel == 4)?;
        let last = texture.levels.len() as u32 - 1;
        let [low, high] = sampler.reach.map(|level| level.min(last));
        let is_nearest = sampler.filter == Some(Filter::Nearest) && sampler.edges == Some([Edge::Clamp; 2]);
        if low != high || !is_nearest {
            return None;
        }
        let mut order = [0; 4];
        for (byte, component) in order.iter_mut().zip(unorm.components) {
            let Component::Texels(field) = component else { return None };
            *byte = field.byte()?;
        }
        let Level { width, height, offset, pitch, .. } = texture.levels[low as usize];
        Some(Self { size: [width.try_into().ok()?, height.try_into().ok()?], order, offset, pitch })
    }

    /// Returns `count` texels from the one at `x` in row `y`, all inside the level. `bytes` begin at the base
    /// of the texture. `None` if they do not contain all texels.
    pub fn row<'m>(&self, bytes: &'m [u8], [x, y]: [i32; 2], count: usize) -> Option<&'m [u8]> {
        let at = u64::from(self.offset)
            + u64::from(self.pitch) * u64::try_from(y).ok()?
            + 4 * u64::try_from(x).ok()?;
        let at = usize::try_from(at).ok()?;
        bytes.get(at..at.checked_add(count.checked_mul(4)?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_within_what_there_is() {
        let texels = ByteTexels { size: [4, 3], order: [0, 1, 2, 3], offset: 8, pitch: 20 };
        let bytes: Vec<u8> = (0..8 + 2 * 20 + 16).collect();
        let row = |at, count| texels.row(&bytes, at, count).map(|row| (row[0], row.len()));
        assert_eq!(row([0, 0], 4), Some((8, 16)));
        assert_eq!(row([1, 2], 3), Some((8 + 40 + 4, 12)));
        assert_eq!(row([1, 2], 4), None);
        assert_eq!([row([-1, 0], 1), row([0, -1], 1)], [None; 2]);
        let far = ByteTexels { offset: u32::MAX, pitch: u32::MAX, ..texels };
        assert_eq!(far.row(&bytes, [i32::MAX; 2], usize::MAX), None);
    }
}
