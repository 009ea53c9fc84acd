//! Packet bodies that need more than a list of dwords.

use super::rows::*;
use super::words::*;
use crate::a6xx::enums::PollMemoryType;
use crate::adreno::address::Address;
use crate::adreno::pm4::{DwordRow, IndirectBufferCall, PacketRow, joined, whole};
use crate::bits::{FieldRow, Hex, Uint};

/// One entry of CP_SET_DRAW_STATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawStateGroup {
    /// What to do with the group, and the passes in which it is executed.
    pub control: CP_SET_DRAW_STATE_0,
    /// GPU address of the group's commands.
    pub address: Address,
}

impl<'a> SetDrawState<'a> {
    /// The entries of the packet, in order.
    pub fn groups(&self) -> impl Iterator<Item = DrawStateGroup> + use<'a> {
        let (entries, _) = self.rest.as_chunks();
        entries.iter().map(|&[control, low, high]| DrawStateGroup {
            control: CP_SET_DRAW_STATE_0(control),
            address: Address::wide(low, high),
        })
    }
}

impl<'a> SetPseudoReg<'a> {
    /// The registers that the packet sets, and their addresses, in order.
    pub fn registers(&self) -> impl Iterator<Item = (CP_SET_PSEUDO_REG_0, Address)> + use<'a> {
        let (entries, _) = self.rest.as_chunks();
        entries.iter().map(|&[register, low, high]| (CP_SET_PSEUDO_REG_0(register), Address::wide(low, high)))
    }
}

impl<'a> MemToMem<'a> {
    /// The addresses of the sources, in order.
    pub fn sources(&self) -> impl Iterator<Item = Address> + use<'a> {
        let (entries, _) = self.rest.as_chunks();
        entries.iter().map(|&[low, high]| Address::wide(low, high))
    }
}

/// Where the parameters of the draws of CP_DRAW_INDIRECT_MULTI are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndirectDraws {
    /// Where indices are, and their most; `None` if the draws have none.
    pub indices: Option<(Address, u32)>,
    /// Where the parameters of the first draw are.
    pub parameters: Address,
    /// Where the number of draws is, if it is in memory; it is at most DRAW_COUNT.
    pub count: Option<Address>,
    /// Bytes from the parameters of a draw to those of the next.
    pub stride: u32,
}

/// A dword of CP_DRAW_INDIRECT_MULTI that is one number.
const fn dword(fields: &'static [FieldRow]) -> DwordRow {
    DwordRow { fields }
}

/// What each form of CP_DRAW_INDIRECT_MULTI begins with.
const HEAD: &[DwordRow] = &[
    dword(VGT_DRAW_INITIATOR_A4XX::FIELDS),
    dword(CP_DRAW_INDIRECT_MULTI_1::FIELDS),
    dword(&[whole::<Uint>("DRAW_COUNT")]),
];
const INDICES: &[DwordRow] = &[
    dword(&[whole::<Hex>("INDEX_LO")]),
    dword(&[whole::<Hex>("INDEX_HI")]),
    dword(&[whole::<Uint>("MAX_INDICES")]),
];
const PARAMETERS: &[DwordRow] =
    &[dword(&[whole::<Hex>("INDIRECT_LO")]), dword(&[whole::<Hex>("INDIRECT_HI")])];
const COUNT: &[DwordRow] =
    &[dword(&[whole::<Hex>("INDIRECT_COUNT_LO")]), dword(&[whole::<Hex>("INDIRECT_COUNT_HI")])];
const STRIDE: &[DwordRow] = &[dword(&[whole::<Uint>("STRIDE")])];

/// The forms of CP_DRAW_INDIRECT_MULTI: plain, with indices, with a count in memory, with both.
static INDIRECT_DRAWS: [PacketRow; 4] = [
    indirect_row(&joined::<6>(&[HEAD, PARAMETERS, STRIDE])),
    indirect_row(&joined::<9>(&[HEAD, INDICES, PARAMETERS, STRIDE])),
    indirect_row(&joined::<8>(&[HEAD, PARAMETERS, COUNT, STRIDE])),
    indirect_row(&joined::<11>(&[HEAD, INDICES, PARAMETERS, COUNT, STRIDE])),
];

const fn indirect_row(dwords: &'static [DwordRow]) -> PacketRow {
    let (name, form) = ("CP_DRAW_INDIRECT_MULTI", (|_| None) as fn(&[u32]) -> Option<&'static PacketRow>);
    PacketRow { opcode: 0x2a, name, dwords, optional: 0, repeat: &[], form, doc: "" }
}

/// The form of CP_DRAW_INDIRECT_MULTI that OPCODE selects, in its second dword.
pub(super) fn indirect_draws(payload: &[u32]) -> Option<&'static PacketRow> {
    use DrawIndirectOpcode as Op;
    let place = match CP_DRAW_INDIRECT_MULTI_1(*payload.get(1)?).OPCODE() {
        Op::INDIRECT_OP_NORMAL => 0,
        Op::INDIRECT_OP_INDEXED => 1,
        Op::INDIRECT_OP_INDIRECT_COUNT => 2,
        Op::INDIRECT_OP_INDIRECT_COUNT_INDEXED => 3,
        Op::Other(_) => return None,
    };
    Some(&INDIRECT_DRAWS[place])
}

impl DrawIndirectMulti<'_> {
    /// What follows DRAW_COUNT; `None` if OPCODE is unknown or dwords are missing.
    pub fn layout(&self) -> Option<IndirectDraws> {
        use DrawIndirectOpcode as Op;
        let mut dwords = self.rest.iter().copied();
        let address =
            |dwords: &mut dyn Iterator<Item = u32>| Some(Address::wide(dwords.next()?, dwords.next()?));
        let (has_indices, has_count) = match self.control.OPCODE() {
            Op::INDIRECT_OP_NORMAL => (false, false),
            Op::INDIRECT_OP_INDEXED => (true, false),
            Op::INDIRECT_OP_INDIRECT_COUNT => (false, true),
            Op::INDIRECT_OP_INDIRECT_COUNT_INDEXED => (true, true),
            Op::Other(_) => return None,
        };
        let indices = if has_indices { Some((address(&mut dwords)?, dwords.next()?)) } else { None };
        let parameters = address(&mut dwords)?;
        let count = if has_count { Some(address(&mut dwords)?) } else { None };
        Some(IndirectDraws { indices, parameters, count, stride: dwords.next()? })
    }
}

/// The condition of CP_COND_REG_EXEC, and the number of dwords that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CondExecRange {
    /// The condition is a predicate bit.
    Predicate {
        /// Number of the bit.
        bit: u32,
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
    /// The condition is the pass that CP_SET_MARKER named: the flags BINNING, GMEM and SYSMEM.
    Pass {
        /// The packet's first dword, which has the flags.
        passes: CP_COND_REG_EXEC_0,
        /// Dwords to skip in other passes.
        dwords: u32,
    },
}

impl CondRegExec<'_> {
    /// The condition and the dwords it covers; `None` if the mode is unknown or dwords are missing.
    pub fn range(&self) -> Option<CondExecRange> {
        let (control, dwords) = (self.control, self.size.DWORDS());
        match control.MODE() {
            CompareMode::PRED_TEST => Some(CondExecRange::Predicate { bit: control.PRED_BIT(), dwords }),
            CompareMode::REG_COMPARE => {
                let reg1 = CP_WAIT_TWO_REGS_1(self.size.0).REG1();
                Some(CondExecRange::Registers { reg0: control.REG0(), reg1, dwords: self.behind?.DWORDS() })
            }
            CompareMode::RENDER_MODE => Some(CondExecRange::Pass { passes: control, dwords }),
            CompareMode::Other(_) => None,
        }
    }
}

impl<'a> Pm4<'a> {
    /// The buffer that the packet calls, for each opcode that is a call or a jump; `None` for other packets.
    pub fn call(&self) -> Option<IndirectBufferCall> {
        let (address, size) = match self {
            Pm4::IndirectBuffer(ib) => (ib.IB_BASE, ib.size),
            Pm4::IndirectBufferPfd(ib) => (ib.IB_BASE, ib.size),
            Pm4::IndirectBufferChain(ib) => (ib.IB_BASE, ib.size),
            _ => return None,
        };
        Some(IndirectBufferCall { address, dwords: size.IB_SIZE() })
    }

    /// What CP_LOAD_STATE6 loads, in each of its three opcodes; `None` for other packets.
    pub fn load(&self) -> Option<LoadState6<'a>> {
        match *self {
            Pm4::LoadState6(load) => Some(load),
            Pm4::LoadState6Geom(LoadState6Geom { dst, src, EXT_SRC_ADDR_HI, rest })
            | Pm4::LoadState6Frag(LoadState6Frag { dst, src, EXT_SRC_ADDR_HI, rest }) => {
                Some(LoadState6 { dst, src, EXT_SRC_ADDR_HI, rest })
            }
            _ => None,
        }
    }
}

impl Pm4<'_> {
    /// The memory that the command processor reads to execute the packet: addresses and bytes. The buffers that it calls are not
    /// included, nor are loads of state.
    pub fn reads(&self) -> Vec<(Address, u64)> {
        let polls_memory = |control: CP_WAIT_REG_MEM_0| control.POLL() != PollMemoryType::POLL_REGISTER;
        match self {
            Self::DrawIndirect(it) => vec![(it.INDIRECT, 16)],
            Self::DrawIndxIndirect(it) => vec![(it.INDIRECT, 20)],
            Self::DrawIndirectMulti(it) => {
                it.layout().map_or(Vec::new(), |layout| layout.reads(it.DRAW_COUNT))
            }
            Self::ExecCsIndirect(it) => vec![(it.ADDR, 12)],
            Self::MemToReg(it) => vec![(it.SRC, 4 * u64::from(it.control.CNT().max(1)))],
            Self::MemToMem(it) => {
                let bytes = if it.control.DOUBLE() { 8 } else { 4 };
                it.sources().take(3).map(|source| (source, bytes)).collect()
            }
            Self::Memcpy(it) => vec![(it.SRC, 4 * u64::from(it.DWORDS))],
            Self::RegToMemOffsetMem(it) => vec![(it.OFFSET, 4)],
            Self::WaitRegMem(it) if polls_memory(it.control) => vec![(it.POLL_ADDR, 4)],
            Self::CondWrite5(it) if polls_memory(it.control) => vec![(it.POLL_ADDR, 4)],
            Self::WaitMemGte(it) => vec![(it.POLL_ADDR, 4)],
            Self::CondExec(it) => vec![(it.ADDR0, 4), (it.ADDR1, 4)],
            Self::DrawPredSet(it) => it.MEM_ADDR.map(|address| (address, 8)).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

impl IndirectDraws {
    /// The memory with the parameters of at most `draws` draws, and with their number.
    fn reads(&self, draws: u32) -> Vec<(Address, u64)> {
        let each = if self.indices.is_some() { 20 } else { 16 };
        let further = u64::from(draws.saturating_sub(1)) * u64::from(self.stride);
        let parameters = (self.parameters, further + each);
        [Some(parameters), self.count.map(|count| (count, 4))].into_iter().flatten().collect()
    }
}
