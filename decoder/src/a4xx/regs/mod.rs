//! The A4xx register database, one file per hardware block.
//!
//! Source: a4xx.xml and adreno_common.xml of Mesa, docs/hardware/registers.md. Rows marked `inferred` have no
//! public name. Their comments give the reason, and what would settle it.
//!
//! Printed text differs from that of Mesa's decoder in spelling: array indices are decimal, whole numbers
//! have at most one zero after the point, and zero fields may be hidden. It also has fields that Mesa does
//! not have, which `tests/register_facts.rs` lists.
use crate::adreno::registers::{self, Block, RegisterTable, Slot};

pub mod cp;
pub mod gras;
pub mod groups;
pub mod hlsq;
pub mod pc;
pub mod rb;
pub mod rbbm;
pub mod rbbm_clock;
pub mod rbbm_perfctr;
pub mod sp;
pub mod sp_geometry;
pub mod tex;
pub mod tpl1;
pub mod uche;
pub mod vbif;
pub mod vfd;
pub mod vpc;
pub mod vsc;

/// Every hardware block.
static BLOCKS: [Block; 16] = [
    Block::new("RBBM", "register bus, reset, power, interrupts and status", rbbm::REGS),
    Block::new("RBBM", "clock gating", rbbm_clock::REGS),
    Block::new("RBBM", "performance counters", rbbm_perfctr::REGS),
    Block::new("CP", "command processor", cp::REGS),
    Block::new("VSC", "visibility stream compressor", vsc::REGS),
    Block::new("GRAS", "clipping, viewport, triangle set-up and scissors", gras::REGS),
    Block::new("RB", "render backend: colour, depth, stencil, blending, copies", rb::REGS),
    Block::new("PC", "primitive control, index handling, tessellation", pc::REGS),
    Block::new("VFD", "vertex fetch and decode", vfd::REGS),
    Block::new("VPC", "varyings and stream-out", vpc::REGS),
    Block::new("SP", "shader processor: vertex, fragment and compute stages", sp::REGS),
    Block::new("SP", "shader processor: hull, domain and geometry stages", sp_geometry::REGS),
    Block::new("TPL1", "texture pipe", tpl1::REGS),
    Block::new(
        "HLSQ",
        "high level sequencer: constant and program stores, fragment inputs, compute dispatch",
        hlsq::REGS,
    ),
    Block::new("UCHE", "unified cache", uche::REGS),
    Block::new("VBIF", "bus interface", vbif::REGS),
];

/// Number of register offsets on A4xx. Type-0 packets have 15 bits for an offset.
pub const SPACE: usize = 0x4000;

static INDEX: [Slot; SPACE] = registers::index(&BLOCKS);

/// Every register of the A4xx.
pub static REGISTERS: RegisterTable = RegisterTable::new(&BLOCKS, &INDEX);
