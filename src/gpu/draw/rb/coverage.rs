//! Selects the samples of a covered pixel to write: masks, and alpha to coverage.

use super::depth::Words;
use crate::draw::gras::samples::{Coverage, MAX_SAMPLES};

/// Marker: alpha of output 0 removes samples (alpha to coverage).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaCoverage;

/// Sample masks apart from tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleControl {
    /// A bit for each sample that may be written.
    pub mask: u32,
    /// Whether alpha to coverage is on.
    pub alpha: Option<AlphaCoverage>,
    /// Register with the shader's sample mask.
    pub output: Option<u32>,
}

impl Default for SampleControl {
    fn default() -> Self {
        Self { mask: u32::MAX, alpha: None, output: None }
    }
}

impl SampleControl {
    /// Applies the fixed mask to the covered pixels, before the shader.
    pub fn masked(&self, covered: Coverage<u32>) -> Coverage<u32> {
        std::array::from_fn(|sample| if self.mask >> sample & 1 != 0 { covered[sample] } else { 0 })
    }
}

/// Transposes the sample mask of each lane to a lane mask of each sample.
pub fn by_sample(words: &Words) -> Coverage<u32> {
    std::array::from_fn(|sample| {
        words.iter().enumerate().fold(0, |lanes, (lane, word)| lanes | (word >> sample & 1) << lane)
    })
}

/// Returns the mask of the first samples of `count`, as many as are nearest to the share `alpha` (guess
/// `alpha-coverage`).
pub fn alpha_samples(alpha: f32, count: usize) -> u32 {
    let kept = (0..count.min(MAX_SAMPLES)).filter(|sample| alpha * count as f32 > *sample as f32 + 0.5);
    kept.fold(0, |mask, sample| mask | 1 << sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_leaves_its_share_of_the_samples() {
        let four = [0.0, 0.12, 0.13, 0.5, 0.63, 0.99, 1.0, f32::NAN].map(|alpha| alpha_samples(alpha, 4));
        assert_eq!(four, [0, 0, 1, 3, 7, 15, 15, 0]);
        assert_eq!([0.2, 0.3, 0.8].map(|alpha| alpha_samples(alpha, 2)), [0, 1, 3]);
    }

    #[test]
    fn words_of_lanes_become_lanes_of_samples() {
        let words = std::array::from_fn(|lane| [0b0001, 0b1010, 0, u32::MAX][lane % 4]);
        assert_eq!(by_sample(&words), [0x9999_9999, 0xaaaa_aaaa, 0x8888_8888, 0xaaaa_aaaa]);
        let control = SampleControl { mask: 0b0101, ..SampleControl::default() };
        assert_eq!(control.masked([7, 7, 6, 5]), [7, 0, 6, 0]);
    }
}
