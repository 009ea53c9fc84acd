//! Registers with repeated fields, as arrays.
use super::rb::RB_RENDER_COMPONENTS;
use super::sp::{SP_VS_OUT, SP_VS_VPC_DST};
use super::vpc::{VPC_VARYING_INTERP_MODE, VPC_VARYING_PS_REPL_MODE};
use crate::a4xx::enums::{IntpMode, ReplMode};
use crate::bits::extract;

/// A shader register id that stands for "none": r63.x.
pub const NO_REGISTER: u32 = 0xfc;

/// `id`, or `None` if it is [`NO_REGISTER`].
pub fn used(id: u32) -> Option<u32> {
    (id != NO_REGISTER).then_some(id)
}

/// A shader output: register, and mask of the components in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShaderOutput {
    /// Register id in the full or half register file.
    pub regid: u32,
    /// Whether the register is in the half register file.
    pub half: bool,
    /// Mask of the components; the first is bit 0.
    pub components: u32,
}

impl VPC_VARYING_INTERP_MODE {
    /// The interpolation modes of the 16 components.
    pub fn modes(self) -> [IntpMode; 16] {
        std::array::from_fn(|i| IntpMode::from_bits(extract(self.0, 2 * i as u32, 2 * i as u32 + 1)))
    }
}

impl VPC_VARYING_PS_REPL_MODE {
    /// The replacement modes of the 16 components.
    pub fn modes(self) -> [ReplMode; 16] {
        std::array::from_fn(|i| ReplMode::from_bits(extract(self.0, 2 * i as u32, 2 * i as u32 + 1)))
    }
}

impl RB_RENDER_COMPONENTS {
    /// Mask of the components that render target `i` has; 0 for targets above 7.
    pub fn target(self, i: u32) -> u32 {
        if i < 8 { extract(self.0, 4 * i, 4 * i + 3) } else { 0 }
    }
}

impl SP_VS_OUT {
    /// Both outputs that the register describes.
    pub fn outputs(self) -> [ShaderOutput; 2] {
        [(self.A_REGID(), self.A_COMPMASK()), (self.B_REGID(), self.B_COMPMASK())].map(output)
    }
}

impl SP_VS_VPC_DST {
    /// Locations of the four outputs.
    pub fn locations(self) -> [u32; 4] {
        [self.OUTLOC0(), self.OUTLOC1(), self.OUTLOC2(), self.OUTLOC3()]
    }
}

fn output((id, components): (u32, u32)) -> ShaderOutput {
    ShaderOutput { regid: extract(id, 0, 7), half: extract(id, 8, 8) != 0, components }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_fields_agree_with_their_getters() {
        let interp = VPC_VARYING_INTERP_MODE(0x9c00_0001);
        assert_eq!(interp.modes()[0], interp.C0());
        assert_eq!(interp.modes()[15], interp.CF());
        let repl = VPC_VARYING_PS_REPL_MODE(0xe400_0000);
        assert_eq!(repl.modes()[13], repl.CD());
        let components = RB_RENDER_COMPONENTS(0x1234_567f);
        assert_eq!(components.target(0), components.RT0());
        assert_eq!(components.target(7), components.RT7());
        assert_eq!(components.target(8), 0);
    }

    #[test]
    fn outputs_split_file_and_register() {
        let [a, b] = SP_VS_OUT(0x1e08_0304).outputs();
        assert_eq!((a.regid, a.half, a.components), (4, true, 1));
        assert_eq!((b.regid, b.half, b.components), (8, false, 15));
    }
}
