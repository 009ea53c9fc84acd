//! The enumerations of registers, descriptors and packets, by what they are about.
//!
//! Enumerators carry Mesa's names (source: a4xx.xml, adreno_common.xml,
//! adreno_pm4.xml); Rust type names are Mesa's without the generation prefix.
mod format;
mod packet;
mod perf;
mod state;
mod tex;

pub use format::*;
pub use packet::*;
pub use perf::*;
pub use state::*;
pub use tex::*;

/// Every enumeration of the database, with those that only packets have.
pub(super) static TABLES: &[&[&crate::bits::EnumTable]] =
    &[FORMAT_ENUMS, PACKET_ENUMS, PERF_ENUMS, STATE_ENUMS, TEX_ENUMS, super::pm4::PM4_ENUMS];
