//! The constants that tune the compiler of shaders: what each is, what it trades, and what measures it. None of them
//! changes a result (`tests/jit.rs`). Those of draws are in `src/gpu/limits.rs`, with how to measure.

#![cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    allow(dead_code, reason = "there is no compiler")
)]

/// Warps from which on compiling a program pays: it takes as long as interpreting some hundreds of them. More: less compiled
/// for nothing. Fewer: compiled sooner. Measure: `replay --loop 1` and `--loop 100` of glmark2 `phong-720p`, with
/// `--jit on`, `off` and `auto`.
pub(crate) const COMPILE_WARPS: u64 = 512;

/// Fewest operations of a piece of a program for which code pays. For fewer, the interpreter is as fast. Measure:
/// `scripts/bench executor`.
pub(crate) const SEGMENT_OPERATIONS: usize = 3;

/// Most variants of a program for the conversion of its colours. Other draws leave colours. More: more code. Measure:
/// `replay --loop 100` of games/neverball.
pub(crate) const EPILOGUE_VARIANTS: usize = 4;

/// Warps from which on a variant pays. It saves less than the first compilation of a program, and takes as long. Measure: as
/// for [`COMPILE_WARPS`].
pub(crate) const VARIANT_WARPS: u64 = 256;

/// Most variants of a program for the textures that its code samples. Other draws sample through the texture unit. Measure:
/// as for [`EPILOGUE_VARIANTS`].
pub(crate) const SAMPLER_VARIANTS: usize = 4;
