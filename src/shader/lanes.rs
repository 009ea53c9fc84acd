//! The vector of 32 lanes.
use std::ops::{Deref, DerefMut};

/// Threads (fibers) in a warp.
pub const LANES: usize = 32;

/// A set of lanes: bit `n` is lane `n`.
pub type Mask = u32;

/// Every lane of a warp.
pub const ALL: Mask = u32::MAX;

/// One scalar register of every lane, as bits. Lanes `4q..4q+3` are a quad of
/// 2x2 pixels: 0 top left, 1 top right, 2 bottom left, 3 bottom right.
///
/// The alignment lets half of it be one AVX-512 register that never crosses a cache line. Half-precision
/// values are in the low 16 bits, zero-extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Lanes(pub [u32; LANES]);

impl Lanes {
    /// Zero in every lane.
    pub const ZERO: Self = Self([0; LANES]);

    /// `bits` in every lane.
    pub const fn splat(bits: u32) -> Self {
        Self([bits; LANES])
    }

    /// The lanes' bits as floats.
    pub fn floats(&self) -> [f32; LANES] {
        self.0.map(f32::from_bits)
    }

    /// The lanes with a nonzero word.
    pub fn nonzero(&self) -> Mask {
        self.0.iter().enumerate().fold(0, |mask, (lane, &bits)| mask | (u32::from(bits != 0) << lane))
    }

    /// All ones in the lanes of `mask`, zero elsewhere.
    pub fn from_mask(mask: Mask) -> Self {
        Self(std::array::from_fn(|lane| 0u32.wrapping_sub((mask >> lane) & 1)))
    }

    /// Sets the lanes of `mask` to those of `new`.
    pub fn merge(&mut self, new: &Self, mask: Mask) {
        let mask = Self::from_mask(mask);
        for lane in 0..LANES {
            self.0[lane] = (new.0[lane] & mask.0[lane]) | (self.0[lane] & !mask.0[lane]);
        }
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Self::ZERO
    }
}

impl From<[f32; LANES]> for Lanes {
    fn from(values: [f32; LANES]) -> Self {
        Self(values.map(f32::to_bits))
    }
}

impl Deref for Lanes {
    type Target = [u32; LANES];
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Lanes {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// The lanes of `mask`, lowest first.
pub fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| (mask >> lane) & 1 != 0)
}
