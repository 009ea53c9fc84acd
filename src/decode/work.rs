//! What a draw or dispatch packet asks for, as far as it can be said without executing.

use a4emu_decoder::pm4::{Pm4, VGT_DRAW_INITIATOR_A4XX};
use serde::Serialize;

use crate::walk::Buffers;

/// A draw or a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A draw; what indirect parameters hold is `None` where the capture lacks them.
    Draw {
        /// Initiator, in its A4xx form.
        initiator: VGT_DRAW_INITIATOR_A4XX,
        /// Vertices or indices per instance.
        count: Option<u32>,
        /// Instances.
        instances: Option<u32>,
    },
    /// A compute dispatch.
    Dispatch {
        /// Work groups in x, y and z.
        groups: Option<[u32; 3]>,
    },
}

/// Name of a primitive type, or its number if it has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Primitive {
    /// The database's name without its prefix.
    Name(&'static str),
    /// A value that nobody has named.
    Number(u32),
}

impl std::fmt::Display for Primitive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Number(number) => write!(f, "{number:#x}"),
        }
    }
}

/// The primitive type of a draw.
pub fn primitive(initiator: VGT_DRAW_INITIATOR_A4XX) -> Primitive {
    let value = initiator.PRIM_TYPE().to_bits();
    let name = a4emu_decoder::regs::enums::PrimType::TABLE.name_of(value);
    name.map_or(Primitive::Number(value), |name| Primitive::Name(name.strip_prefix("DI_PT_").unwrap_or(name)))
}

impl Work {
    /// What `body` asks for, if it is a draw or a dispatch.
    pub fn of(body: &Pm4<'_>, buffers: &Buffers) -> Option<Self> {
        let draw = |initiator, count, instances| Some(Self::Draw { initiator, count, instances });
        let fetched = |address: u32, index: usize| memory(buffers, address).get(index).copied();
        match body {
            Pm4::DrawIndxOffset(packet) => {
                draw(packet.initiator, Some(packet.NUM_INDICES), Some(packet.NUM_INSTANCES))
            }
            Pm4::DrawIndx(packet) => old_draw(packet.initiator, packet.NUM_INDICES),
            Pm4::DrawIndx2(packet) => old_draw(packet.initiator, packet.NUM_INDICES),
            Pm4::DrawIndirect(packet) => {
                draw(packet.initiator, fetched(packet.INDIRECT, 0), fetched(packet.INDIRECT, 1))
            }
            Pm4::DrawIndxIndirect(packet) => {
                draw(packet.initiator, fetched(packet.INDIRECT, 0), fetched(packet.INDIRECT, 1))
            }
            Pm4::DrawAuto(packet) => draw(packet.initiator, None, Some(packet.NUM_INSTANCES)),
            Pm4::DrawIndxBin(_) | Pm4::DrawIndx2Bin(_) => draw(VGT_DRAW_INITIATOR_A4XX(0), None, None),
            Pm4::ExecCs(packet) => {
                Some(Self::Dispatch { groups: Some([packet.NGROUPS_X, packet.NGROUPS_Y, packet.NGROUPS_Z]) })
            }
            Pm4::ExecCsIndirect(packet) => {
                Some(Self::Dispatch { groups: memory(buffers, packet.ADDR).first_chunk().copied() })
            }
            Pm4::RunOpencl(_) => Some(Self::Dispatch { groups: None }),
            _ => None,
        }
    }
}

fn old_draw(initiator: a4emu_decoder::pm4::VGT_DRAW_INITIATOR, count: u32) -> Option<Work> {
    let instances = Some(initiator.NUM_INSTANCES());
    Some(Work::Draw { initiator: initiator.to_a4xx(), count: Some(count), instances })
}

/// The first dwords of an indirect parameter block.
fn memory(buffers: &Buffers, address: u32) -> Vec<u32> {
    buffers.dwords(u64::from(address), 3).into_owned()
}
