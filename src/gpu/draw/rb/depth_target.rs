//! The depth and stencil buffers of a draw, and access to their values.

use multiversion::multiversion;

use crate::draw::gras::setup::{Face, ScreenPrimitive};
use crate::draw::rb::depth::{DEPTH24, DepthStencil, PackedTest, Stored, Words};
use crate::draw::rb::fill::Fill;
use crate::draw::rb::pixels::{Pixels, Rows};
use crate::draw::rb::surface::PixelRows;
use crate::memory::little_endian;

/// Layout of depth and stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthLayout {
    /// A surface of 16 or 32-bit depth, and one of stencil if there is one.
    Separate {
        /// Index of the depth surface.
        depth: Option<usize>,
        /// Index of the stencil surface.
        stencil: Option<usize>,
    },
    /// Dwords with depth in bits 23:0 and stencil in 31:24.
    Packed(usize),
}

/// Depth and stencil of a draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthTarget {
    /// Tests and updates.
    pub state: DepthStencil,
    /// Layout of the values.
    pub layout: DepthLayout,
}

impl DepthTarget {
    /// Returns the surfaces that may change, each with the bits that may change.
    pub fn written(&self) -> impl Iterator<Item = (usize, u32)> {
        let [depth_bits, stencil_bits] = self.state.written();
        let surfaces = match self.layout {
            DepthLayout::Packed(surface) => {
                [Some((surface, depth_bits & DEPTH24 | stencil_bits << 24)), None]
            }
            DepthLayout::Separate { depth, stencil } => {
                [depth.map(|depth| (depth, depth_bits)), stencil.map(|stencil| (stencil, stencil_bits))]
            }
        };
        surfaces.into_iter().flatten()
    }

    /// Returns the packed form of the test and its surface, if there is one.
    pub fn packed(&self) -> Option<(usize, PackedTest)> {
        match self.layout {
            DepthLayout::Packed(surface) => Some((surface, self.state.packed()?)),
            DepthLayout::Separate { .. } => None,
        }
    }

    /// Tests the pixels of `mask` in the 8x4 block at `at`, row by row, with the depth of `primitive`.
    /// Returns those that pass.
    #[inline(never)]
    pub fn test_early(
        &self,
        surfaces: &mut [PixelRows<'_>],
        primitive: &ScreenPrimitive,
        at: [i32; 2],
        mask: u32,
    ) -> u32 {
        let z = depth_rows(primitive, at);
        self.test(surfaces, &Rows(at), primitive.face, &z, mask)
    }

    /// Tests the pixels of `mask` among 32. Returns those that pass.
    pub fn test(
        &self,
        surfaces: &mut [PixelRows<'_>],
        pixels: &impl Pixels,
        face: Face,
        z: &[f32; 32],
        mask: u32,
    ) -> u32 {
        match self.layout {
            DepthLayout::Packed(surface) => {
                let mut words = pixels.load(&mut surfaces[surface], mask);
                let passed = self.test_packed(face, z, &mut words, mask);
                pixels.store(&mut surfaces[surface], mask, &words);
                passed
            }
            DepthLayout::Separate { depth, stencil } => {
                let mut values = |surface: Option<usize>| {
                    surface.map_or([0; 32], |surface| pixels.load(&mut surfaces[surface], mask).0)
                };
                let mut stored = Stored { depth: values(depth), stencil: values(stencil) };
                let passed = self.state.test(face, &self.state.quantise(z), &mut stored, mask);
                for (surface, words) in [(depth, &stored.depth), (stencil, &stored.stencil)] {
                    surface.into_iter().for_each(|surface| pixels.store(&mut surfaces[surface], mask, words));
                }
                passed
            }
        }
    }

    fn test_packed(&self, face: Face, z: &[f32; 32], words: &mut Words, mask: u32) -> u32 {
        if let Some(test) = self.state.packed() {
            return test.test(z, words, mask);
        }
        let mut stored = unpack(words);
        let passed = self.state.test(face, &self.state.quantise(z), &mut stored, mask);
        *words = pack(&stored);
        passed
    }

    /// Returns stored depth and stencil of a pixel, given its bytes in each surface.
    pub fn values(&self, bytes: &[Vec<u8>]) -> [Option<u32>; 2] {
        let word = |surface: usize| little_endian(&bytes[surface]);
        match self.layout {
            DepthLayout::Packed(surface) => [Some(word(surface) & DEPTH24), Some(word(surface) >> 24)],
            DepthLayout::Separate { depth, stencil } => [depth.map(word), stencil.map(word)],
        }
    }

    /// Returns the fills that replace tests for pixels of depth `z`. `None` unless all pixels pass and the
    /// result does not depend on the buffer.
    pub fn fill(&self, face: Face, z: f32) -> Option<[Option<Fill>; 2]> {
        let [depth_mask, stencil_mask] = self.state.replaced(face)?;
        let z = self.state.quantise(&[z; 32])[0];
        let stencil_value = self.state.replacement(face);
        Some(match self.layout {
            DepthLayout::Packed(surface) => {
                let mask = (depth_mask & DEPTH24) | stencil_mask << 24;
                [Some(Fill { surface, value: (z | stencil_value << 24) & mask, mask }), None]
            }
            DepthLayout::Separate { depth, stencil } => [
                depth.map(|surface| Fill { surface, value: z & depth_mask, mask: depth_mask }),
                stencil.map(|surface| Fill {
                    surface,
                    value: stencil_value & stencil_mask,
                    mask: stencil_mask,
                }),
            ],
        })
    }
}

/// Returns the window depth of the 8x4 pixels at `at`, row by row.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn depth_rows(primitive: &ScreenPrimitive, at: [i32; 2]) -> [f32; 32] {
    let mut out = [0.0; 32];
    for (l, out) in out.iter_mut().enumerate() {
        *out = primitive.depth_at(at, [l as i32 % 8, l as i32 / 8]);
    }
    out
}

fn unpack(words: &Words) -> Stored {
    Stored { depth: words.map(|w| w & DEPTH24), stencil: words.map(|w| w >> 24) }
}

fn pack(stored: &Stored) -> Words {
    std::array::from_fn(|i| stored.depth[i] | stored.stencil[i] << 24)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::compare::Compare;
    use crate::draw::gras::quad::{Quad, Quads};
    use crate::draw::rb::depth::{DepthFormat, DepthWrite, StencilFace, StencilOp};
    use crate::draw::rb::pixels::Rows;

    const STENCIL: StencilFace = StencilFace {
        func: Compare::Always,
        fail: StencilOp::Keep,
        zpass: StencilOp::Replace,
        zfail: StencilOp::Keep,
        reference: 0x5a,
        mask: 0xff,
        write_mask: 0x3f,
    };

    fn packed(func: Compare, write: DepthWrite, stencil: Option<[StencilFace; 2]>) -> DepthTarget {
        let format = DepthFormat::Unorm24Stencil8;
        let state = DepthStencil { format, depth: Some((func, write)), limits: [0.0, 1.0], stencil };
        DepthTarget { state, layout: DepthLayout::Packed(0) }
    }

    #[test]
    fn rows_and_quads_test_alike() {
        let target = packed(Compare::Less, DepthWrite::Store, None);
        let mut by_rows = [0x40; 8 * 4 * 4];
        let mut by_quads = by_rows;
        let z = [0.125; 32];
        let test = |bytes: &mut [u8], patch: &dyn Fn(&mut [PixelRows<'_>]) -> u32| {
            patch(&mut [PixelRows::new(bytes, 32, 4, [0, 0])])
        };
        let quad = [Quad { x: 2, y: 0, mask: 15, primitive: 0 }];
        let rows =
            test(&mut by_rows, &|surfaces| target.test(surfaces, &Rows([0, 0]), Face::Front, &z, 0x0c0c));
        let quads =
            test(&mut by_quads, &|surfaces| target.test(surfaces, &Quads::new(&quad), Face::Front, &z, 15));
        assert_eq!((rows, quads), (0x0c0c, 15));
        assert_eq!(by_rows, by_quads);
        assert_eq!(by_rows[8..12], [0, 0, 0x20, 0x40], "stencil stays");
    }

    /// Checks that a test of all pixels changes `before` exactly as the fill does.
    fn check_fill(target: &DepthTarget, before: u32) {
        let fill = target.fill(Face::Front, 0.25).expect("a fill")[0].expect("of the packed surface");
        let mut bytes = before.to_le_bytes().repeat(32);
        let passed = target.test(
            &mut [PixelRows::new(&mut bytes, 32, 4, [0, 0])],
            &Rows([0, 0]),
            Face::Front,
            &[0.25; 32],
            u32::MAX,
        );
        assert_eq!(passed, u32::MAX);
        let want = (before & !fill.mask) | fill.value;
        assert_eq!(bytes, want.to_le_bytes().repeat(32), "{target:?}");
    }

    #[test]
    fn a_fill_is_what_testing_every_pixel_gives() {
        let zero = StencilFace { zpass: StencilOp::Zero, ..STENCIL };
        let keep = StencilFace { zpass: StencilOp::Keep, ..STENCIL };
        for stencil in [None, Some([STENCIL; 2]), Some([zero; 2]), Some([keep; 2])] {
            for write in [DepthWrite::Store, DepthWrite::Keep] {
                check_fill(&packed(Compare::Always, write, stencil), 0x8765_4321);
            }
        }
    }

    #[test]
    fn states_that_read_stored_values_prevent_depth_fills() {
        let less = packed(Compare::Less, DepthWrite::Store, None);
        assert_eq!(less.fill(Face::Front, 0.5), None);
        let count = StencilFace { zpass: StencilOp::IncrementWrap, ..STENCIL };
        let counting = packed(Compare::Always, DepthWrite::Store, Some([STENCIL, count]));
        assert!(counting.fill(Face::Front, 0.5).is_some());
        assert_eq!(counting.fill(Face::Back, 0.5), None);
    }

    #[test]
    fn bits_that_no_test_writes_are_not_among_those_written() {
        let written = |target: DepthTarget| target.written().collect::<Vec<_>>();
        let always = Compare::Always;
        assert_eq!(written(packed(always, DepthWrite::Store, None)), [(0, DEPTH24)]);
        assert_eq!(written(packed(always, DepthWrite::Keep, None)), [(0, 0)]);
        let other = StencilFace { write_mask: 0x80, ..STENCIL };
        assert_eq!(written(packed(always, DepthWrite::Keep, Some([STENCIL, other]))), [(0, 0xbf00_0000)]);
        let both = packed(always, DepthWrite::Store, Some([STENCIL; 2]));
        let layout = DepthLayout::Separate { depth: Some(2), stencil: Some(1) };
        assert_eq!(written(DepthTarget { layout, ..both }), [(2, u32::MAX), (1, 0x3f)]);
    }
}
