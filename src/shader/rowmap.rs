//! Which row of a warp holds what.
//!
//! Everything that an operation can read is a row of 32 words, so that there
//! is one way to fetch an operand: registers, predicates, and, behind them,
//! one row per distinct constant or immediate of the program, filled once.
use super::alu::Row;

/// Scalar registers in the full and in the half file: r0.x to r47.w.
pub const REGISTERS: Row = 192;
/// Row of r0.x.
pub const FULL: Row = 0;
/// Row of hr0.x.
pub const HALF: Row = FULL + REGISTERS;
/// Row of a0.x.
pub const ADDRESS: Row = HALF + REGISTERS;
/// Row of p0.x; the other three predicates follow.
pub const PREDICATES: Row = ADDRESS + 1;
/// Takes results that nobody reads.
pub const SINK: Row = PREDICATES + 4;
/// Always zero.
pub const ZERO: Row = SINK + 1;
/// Scratch rows for operations that take several steps.
pub const TEMPORARIES: Row = ZERO + 1;
/// How many.
pub const TEMPORARY_COUNT: Row = 24;
/// First row of the constants and immediates.
pub const UNIFORMS: Row = TEMPORARIES + TEMPORARY_COUNT;
