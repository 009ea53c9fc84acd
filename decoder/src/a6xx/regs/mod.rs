//! The A6xx register database, one file per hardware block.
//!
//! Source: a6xx.xml and adreno_common.xml of Mesa 25.0.7, without what only the A7xx has. Registers that something reads
//! have types (`blit`, `compute`, `draw`); the others are rows.
use crate::adreno::registers::{self, Block, RegisterTable, Slot};

pub mod blit;
pub mod compute;
pub mod cp;
pub mod dbgc;
pub mod draw;
pub mod gbif;
pub mod gras;
pub mod hlsq;
pub mod pc;
pub mod rb;
pub mod rbbm;
pub mod sets;
pub mod sp;
pub mod tex;
pub mod tpl1;
pub mod uche;
pub mod vbif;
pub mod vfd;
pub mod vpc;
pub mod vsc;

/// Every hardware block.
static BLOCKS: [Block; 18] = [
    Block::new("RBBM", "register bus, reset, power, interrupts, performance counters and status", rbbm::REGS),
    Block::new("CP", "command processor", cp::REGS),
    Block::new("DBGC", "debug bus", dbgc::REGS),
    Block::new("VSC", "visibility stream compressor", vsc::REGS),
    Block::new("GRAS", "clipping, viewport, triangle set-up, scissors, low resolution depth", gras::REGS),
    Block::new("RB", "render backend: colour, depth, stencil, blending, blits", rb::REGS),
    Block::new("PC", "primitive control, index handling, tessellation", pc::REGS),
    Block::new("VFD", "vertex fetch and decode", vfd::REGS),
    Block::new("VPC", "varyings and stream-out", vpc::REGS),
    Block::new("SP", "shader processor", sp::REGS),
    Block::new("SP", "what dispatches read: the compute stage, bindless bases, the clock", compute::REGS),
    Block::new("SP", "what draws read: targets, vertex buffers, scissors, prefetched textures", draw::REGS),
    Block::new("RB", "what blits read", blit::REGS),
    Block::new("TPL1", "texture pipe", tpl1::REGS),
    Block::new("HLSQ", "high level sequencer: constant and program stores, dispatch", hlsq::REGS),
    Block::new("UCHE", "unified cache", uche::REGS),
    Block::new("VBIF", "bus interface of chips before the A640", vbif::REGS),
    Block::new("GBIF", "bus interface of the A640 and later", gbif::REGS),
];

/// Number of register offsets that rows of the A6xx reach. Type-4 packets have 19 bits for an offset.
pub const SPACE: usize = 0x10000;

static INDEX: [Slot; SPACE] = registers::index(&BLOCKS);

/// Every register of the A6xx.
pub static REGISTERS: RegisterTable = RegisterTable::new(&BLOCKS, &INDEX);
