//! The alpha test: pixels are dropped by the alpha of output 0.

use a4emu_decoder::regs::enums::CompareFunc;

use super::depth::{Words, compare_floats};

/// How alpha is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaTest {
    /// What passes.
    pub func: CompareFunc,
    /// What alpha is compared with.
    pub reference: f32,
}

impl AlphaTest {
    /// The lanes whose `alpha` passes.
    pub fn passes(&self, alpha: &Words) -> u32 {
        alpha.iter().enumerate().fold(0, |mask, (lane, alpha)| {
            let passes = compare_floats(self.func, f32::from_bits(*alpha), self.reference);
            mask | u32::from(passes) << lane
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_greater_is_dropped() {
        let alpha = std::array::from_fn(|lane| [0.25f32, 0.5, 0.75, f32::NAN][lane % 4].to_bits());
        let test = AlphaTest { func: CompareFunc::FUNC_GREATER, reference: 0.5 };
        assert_eq!(test.passes(&alpha), 0x4444_4444);
    }
}
