//! The alpha test: drops pixels by the alpha of output 0.

use multiversion::multiversion;

use super::depth::{Words, float_holds, outcomes};
use crate::draw::compare::Compare;

/// Comparison of the alpha test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaTest {
    /// Comparison function.
    pub func: Compare,
    /// Reference value.
    pub reference: f32,
}

impl AlphaTest {
    /// Returns the lanes whose `alpha` passes.
    pub fn passes(&self, alpha: &Words) -> u32 {
        passes(outcomes(self.func), alpha, self.reference)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn passes(pass: [u32; 3], alpha: &Words, reference: f32) -> u32 {
    let mut passed = 0;
    for (lane, alpha) in alpha.iter().enumerate() {
        passed |= float_holds(pass, f32::from_bits(*alpha), reference) & 1 << lane;
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_passes_what_it_says() {
        let alpha = std::array::from_fn(|lane| [0.25f32, 0.5, 0.75, f32::NAN][lane % 4].to_bits());
        let cases = [
            (Compare::Never, 0),
            (Compare::Less, 1),
            (Compare::Equal, 2),
            (Compare::LessEqual, 3),
            (Compare::Greater, 4),
            (Compare::NotEqual, 13),
            (Compare::GreaterEqual, 6),
            (Compare::Always, 15),
        ];
        for (func, want) in cases {
            let test = AlphaTest { func, reference: 0.5 };
            assert_eq!(test.passes(&alpha), 0x1111_1111 * want, "{func:?}");
        }
    }

    #[test]
    fn every_lane_has_its_own_bit() {
        let test = AlphaTest { func: Compare::Greater, reference: 0.0 };
        for lane in 0..32 {
            let mut alpha = [0; 32];
            alpha[lane] = 1.0f32.to_bits();
            assert_eq!(test.passes(&alpha), 1 << lane);
        }
    }
}
