//! The numbering of a warp's rows.
//!
//! Everything that an operation can read is a row of 32 words, so there is one way to fetch an operand. Rows
//! hold registers and predicates, followed by one row per distinct constant or immediate of the program,
//! filled once.
use super::alu::Row;

/// Number of scalar registers in each of the full and half files: r0.x to r47.w.
pub const REGISTERS: Row = 192;
/// Row of r0.x.
pub const FULL: Row = 0;
/// Row of hr0.x.
pub const HALF: Row = FULL + REGISTERS;
/// Row of a0.x.
pub const ADDRESS: Row = HALF + REGISTERS;
/// Row of p0.x; the other three predicates follow.
pub const PREDICATES: Row = ADDRESS + 1;
/// Row of r48.x, the first of the registers that all lanes share, from A6xx on.
pub const SHARED: Row = PREDICATES + 4;
/// Number of scalar registers that all lanes share: r48.x to r55.w.
pub const SHARED_COUNT: Row = 32;
/// Row of a1.x, from A6xx on.
pub const ADDRESS_1: Row = SHARED + SHARED_COUNT;
/// Row for results that are not read.
pub const SINK: Row = ADDRESS_1 + 1;
/// Row that is always zero.
pub const ZERO: Row = SINK + 1;
/// First scratch row, for operations that take several steps.
pub const TEMPORARIES: Row = ZERO + 1;
/// Number of scratch rows.
pub const TEMPORARY_COUNT: Row = 24;
/// The high half of a register on its way to the full row, on chips with one register file.
pub const SHIFTED: Row = TEMPORARIES + TEMPORARY_COUNT;
/// First row of the constants and immediates.
pub const UNIFORMS: Row = SHIFTED + 1;
