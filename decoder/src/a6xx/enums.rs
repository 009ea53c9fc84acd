//! The enumerations of registers, descriptors and packets, by what they are about.
//!
//! Enumerators carry Mesa's names (source: a6xx.xml, adreno_common.xml, adreno_pm4.xml); Rust type names are Mesa's
//! without the generation prefix. Those that the A4xx has with the same values are its own.
mod perf;
mod read;
mod state;

pub use crate::a4xx::enums::{
    BlendFactor, BlendOpcode, ColorSwap, CompareFunc, CondFunction, DitherMode, IndexSize, MsaaSamples,
    PollMemoryType, PrimType, RopCode, SrcSel, StencilOp, ThreadMode, VisCullMode,
};
pub use crate::a4xx::pm4::{DrawPredSrc, DrawPredTest, PatchType};
pub use perf::*;
pub use read::*;
pub use state::*;

use crate::bits::EnumTable;

/// The enumerations that the A4xx has too.
static SHARED_ENUMS: &[&EnumTable] = &[
    &BlendFactor::TABLE,
    &BlendOpcode::TABLE,
    &ColorSwap::TABLE,
    &CompareFunc::TABLE,
    &CondFunction::TABLE,
    &DitherMode::TABLE,
    &DrawPredSrc::TABLE,
    &DrawPredTest::TABLE,
    &IndexSize::TABLE,
    &MsaaSamples::TABLE,
    &PatchType::TABLE,
    &PollMemoryType::TABLE,
    &PrimType::TABLE,
    &RopCode::TABLE,
    &SrcSel::TABLE,
    &StencilOp::TABLE,
    &ThreadMode::TABLE,
    &VisCullMode::TABLE,
];

/// Every enumeration of the database, with those that only packets have.
pub(super) static TABLES: &[&[&EnumTable]] =
    &[PERF_ENUMS, READ_ENUMS, SHARED_ENUMS, STATE_ENUMS, super::pm4::PM4_ENUMS];
