//! Textures: converts descriptors and requests to filtered colours, 32 lanes at a time.
//!
//! Steps of a request (docs/hardware/textures-and-memory.md, section 2.1): coordinates (projection, cube
//! face) -> level of detail -> texel positions along each axis ([`wrap`]) -> bytes -> components
//! ([`a4emu_shader::format`]) -> compare, filter -> swizzle -> registers.
//!
//! A [`TextureBank`] has the textures and samplers of one shader stage, prepared once per draw. It contains only addresses.
//! [`TextureBank::bind`] borrows their memory, which workers share.
//!
//! Precision (guess `filter-precision`): filters use binary32 and the formulas of the reference rasterisers:
//! `a + w * (b - a)`, x before y before z before level.
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
mod unit;
mod wrap;

pub use bank::{Answered, BoundBank, DirectReads, FILTERED, TextureBank, Used, copy_cost};
pub use descriptor::{Swizzle, TexelPlaces, Texture, TextureError, TextureKind, TextureState};
pub use nearest::ByteTexels;
pub use sampler::{Border, BorderLayout, Filter, Sampler, SamplerState, Wrap};

use a4emu_shader::LANES;

#[cfg(test)]
mod tests;

/// Defines a function that is also compiled for the widest vectors; each call selects a version at run time.
/// No version fuses multiply and add, so all results agree.
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
