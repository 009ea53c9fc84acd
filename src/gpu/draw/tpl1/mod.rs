//! Textures: descriptors to filtered colours, 32 lanes at a time.
//!
//! The order of things in a request (docs/hardware/textures-and-memory.md, section 2.1):
//! coordinates (projection, cube face) -> level of detail -> texel positions
//! along each axis ([`wrap`]) -> bytes -> components ([`a4emu_shader::format`]) ->
//! compare, filter -> swizzle -> registers.
//!
//! A [`TextureBank`] resolves the descriptors of one shader stage once per
//! draw. It keeps addresses only; [`TextureBank::bind`] borrows the memory
//! behind them, which workers share.
//!
//! Precision (guess `filter-precision`): filtering is done in binary32 with
//! the formulas of the reference rasterisers: `a + w * (b - a)`, x before y
//! before z before level.
#![allow(clippy::needless_range_loop, reason = "loops over lanes walk several arrays at once")]
mod bank;
mod block_cache;
mod cube;
mod descriptor;
mod fetch;
mod filter;
mod guesses;
mod layout;
mod lod;
mod nearest;
mod planar;
mod query;
mod sampler;
pub mod state;
mod unit;
mod wrap;

pub use bank::{Answered, BoundBank, FILTERED, ForCode, Problems, TextureBank, Used};
pub use descriptor::{Texture, TextureError};
pub use nearest::ByteTexels;
pub use sampler::{Border, Sampler};

use a4emu_shader::LANES;

#[cfg(test)]
mod tests;

/// A function compiled for the widest vectors too; the fitting one is taken when
/// it is called. No version contracts multiply and add, so all agree.
macro_rules! simd {
    ($(#[$doc:meta])* $vis:vis fn $($rest:tt)*) => {
        $(#[$doc])*
        #[multiversion::multiversion(targets(
            "x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma+bmi1+bmi2+lzcnt+popcnt",
            "x86_64+avx2+fma+bmi1+bmi2+lzcnt+popcnt"
        ))]
        $vis fn $($rest)*
    };
}
use simd;

/// A float per lane.
type Floats = [f32; LANES];
/// A signed integer per lane.
type Ints = [i32; LANES];
/// Lane bits of x, y, z, w.
type Color = [[u32; LANES]; 4];
