//! Packet bodies that need more than a list of dwords.

use super::rows::*;
use super::words::*;
use crate::adreno::address::Address;
use crate::adreno::pm4::IndirectBufferCall;

/// First context register: CP_SET_CONSTANT counts its offsets from here.
const CONTEXT_BASE: u32 = 0x2000;

/// The register writes of CP_SET_CONSTANT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterWrites<'a> {
    /// `values` go to consecutive registers from `first`.
    Values {
        /// First register.
        first: u32,
        /// The values to write.
        values: &'a [u32],
    },
    /// `register = addend register + constant`, a plain 32-bit sum.
    Sum {
        /// Register written.
        register: u32,
        /// Register read.
        addend: u32,
        /// The constant that is added.
        constant: u32,
    },
    /// A write to constants of A2xx: no A4xx register changes.
    Nothing,
}

impl<'a> SetConstant<'a> {
    /// The registers that the packet writes.
    pub fn writes(&self) -> RegisterWrites<'a> {
        let first = CONTEXT_BASE + self.control.OFFSET();
        match (self.control.KIND(), self.control.ADD(), self.rest) {
            (ConstantKind::REGISTERS, true, &[addend, constant]) => {
                RegisterWrites::Sum { register: first, addend, constant }
            }
            (ConstantKind::REGISTERS, false, values) => RegisterWrites::Values { first, values },
            _ => RegisterWrites::Nothing,
        }
    }
}

/// One entry of CP_SET_DRAW_STATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawStateGroup {
    /// What to do with the group.
    pub control: CP_SET_DRAW_STATE_0,
    /// GPU address of the group's commands.
    pub address: Address,
}

impl<'a> SetDrawState<'a> {
    /// The entries of the packet, in order.
    pub fn groups(&self) -> impl Iterator<Item = DrawStateGroup> + use<'a> {
        let (pairs, _) = self.rest.as_chunks();
        pairs.iter().map(|&[control, address]| DrawStateGroup {
            control: CP_SET_DRAW_STATE_0(control),
            address: address.into(),
        })
    }
}

/// The condition of a conditional packet, and the number of dwords that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CondExecRange {
    /// The condition is the predicate bit.
    Predicate {
        /// Dwords to skip if it is off.
        dwords: u32,
    },
    /// The condition is that two registers are equal.
    Registers {
        /// The first register.
        reg0: u32,
        /// The second register.
        reg1: u32,
        /// Dwords to skip if they differ.
        dwords: u32,
    },
}

impl CondRegExec<'_> {
    /// The condition and the dwords it covers; `None` if the mode is unknown or dwords are missing.
    pub fn range(&self) -> Option<CondExecRange> {
        let dwords = |dword| CP_COND_REG_EXEC_DWORDS(dword).DWORDS();
        match (self.control.MODE(), self.rest) {
            (CompareMode::PRED_TEST, &[count, ..]) => {
                Some(CondExecRange::Predicate { dwords: dwords(count) })
            }
            (CompareMode::REG_COMPARE, &[reg1, count, ..]) => Some(CondExecRange::Registers {
                reg0: self.control.REG0(),
                reg1: CP_COND_REG_EXEC_REG1(reg1).REG1(),
                dwords: dwords(count),
            }),
            _ => None,
        }
    }
}

impl CP_REG_RMW_0 {
    /// The value that CP_REG_RMW writes: `rotl(dst & source 0, rotate)`, or-ed with source 1 or added to it. `read`
    /// returns the value of a register.
    pub fn apply(self, [src0, src1]: [u32; 2], mut read: impl FnMut(u32) -> u32) -> u32 {
        let src0 = if self.SRC0_IS_REG() { read(src0) } else { src0 };
        let src1 = if self.SRC1_IS_REG() { read(src1) } else { src1 };
        let kept = (read(self.DST_REG()) & src0).rotate_left(self.ROTATE());
        if self.SRC1_ADD() { kept.wrapping_add(src1) } else { kept | src1 }
    }
}

impl Pm4<'_> {
    /// The buffer that the packet calls, for each opcode that is a call; `None` for other packets.
    pub fn call(&self) -> Option<IndirectBufferCall> {
        let (address, size) = match self {
            Pm4::IndirectBuffer(ib) => (ib.IB_BASE, ib.size),
            Pm4::IndirectBufferPfd(ib) => (ib.IB_BASE, ib.size),
            Pm4::CondIndirectBufferPfe(ib) => (ib.IB_BASE, ib.size),
            Pm4::CondIndirectBufferPfd(ib) => (ib.IB_BASE, ib.size),
            _ => return None,
        };
        Some(IndirectBufferCall { address: address.into(), dwords: size.IB_SIZE() })
    }
}
