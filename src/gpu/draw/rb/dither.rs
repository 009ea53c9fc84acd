//! Ordered dithering: nearby pixels round up at different thresholds.

use crate::draw::gras::quad::Quads;
use crate::draw::rb::depth::Words;
use a4emu_shader::format::{Format, Layout, Transfer, Type};

/// Order in which the pixels of a 4x4 square round up as a colour rises (guess `dither-matrix`).
const ORDER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// Dithering of a format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dither {
    /// Distance between adjacent values of each component.
    steps: [f32; 4],
}

impl Dither {
    /// Creates the dithering of a linear normalised format. Other formats are not dithered (guess
    /// `dither-matrix`).
    pub fn new(format: Format, transfer: Transfer) -> Option<Self> {
        let Layout::Fields { widths, .. } = format.layout else { return None };
        let step = |width: u32| if width == 0 { 0.0 } else { 1.0 / ((1u64 << width) - 1) as f32 };
        (format.ty == Type::Unorm && transfer == Transfer::Linear).then(|| Self { steps: widths.map(step) })
    }

    /// Offsets a colour at pixel (x, y) so that rounding to nearest gives the dithered value.
    pub fn moved(&self, [x, y]: [i32; 2], color: [f32; 4]) -> [f32; 4] {
        let order = f32::from(ORDER[(y & 3) as usize][(x & 3) as usize]);
        let part = (order + 0.5) / 16.0 - 0.5;
        std::array::from_fn(|c| color[c] - part * self.steps[c])
    }

    /// Offsets the colours of the lanes of `mask`.
    pub fn move_lanes(&self, pixels: &Quads<'_>, mask: u32, colors: &mut [Words; 4]) {
        pixels.each_pixel(mask, |lane, x, y| {
            let color = std::array::from_fn(|c| f32::from_bits(colors[c][lane]));
            for (words, value) in colors.iter_mut().zip(self.moved([x, y], color)) {
                words[lane] = value.to_bits();
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RGB565: Format = Format { layout: Layout::packed([5, 6, 5, 0]), ty: Type::Unorm };
    const RGBA8: Format = Format { layout: Layout::array(4, 8), ty: Type::Unorm };
    const RGBA16_FLOAT: Format = Format { layout: Layout::array(4, 16), ty: Type::Float };

    #[test]
    fn as_many_of_sixteen_pixels_round_up_as_the_colour_says() {
        let dither = Dither::new(RGB565, Transfer::Linear).expect("normalised");
        for sixteenths in 0..16 {
            let [red, green] = [31.0, 63.0].map(|max| (5.0 + sixteenths as f32 / 16.0) / max);
            let all = (0..4).flat_map(|y| (0..4).map(move |x| [x, y]));
            let up = all.filter(|at| {
                let [r, g, ..] = dither.moved(*at, [red, green, 0.0, 0.0]);
                let rounded = [(r * 31.0).round(), (g * 63.0).round()];
                assert_eq!(rounded[0], rounded[1]);
                rounded[0] == 6.0
            });
            assert_eq!(up.count(), sixteenths);
        }
        assert_eq!(dither.moved([0, 0], [0.5; 4])[3], 0.5, "there is no alpha");
    }

    #[test]
    fn dithering_keeps_exact_values_and_skips_other_formats() {
        let dither = Dither::new(RGBA8, Transfer::Linear).expect("normalised");
        for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
            let moved = dither.moved([x, y], [0.0, 7.0 / 255.0, 1.0, 0.0]);
            assert_eq!(moved.map(|v| (v * 255.0).round().clamp(0.0, 255.0)), [0.0, 7.0, 255.0, 0.0]);
        }
        assert_eq!(Dither::new(RGBA8, Transfer::Srgb), None);
        assert_eq!(Dither::new(RGBA16_FLOAT, Transfer::Linear), None);
    }
}
