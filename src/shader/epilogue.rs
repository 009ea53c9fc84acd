//! Conversion of fragment colours to pixels (dwords of normalised bytes) in compiled code.

use std::fmt;

/// The parameters of the conversion that are part of the code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epilogue {
    /// The first of the four full registers with the colour.
    pub regid: u32,
    /// The colour component of each byte, lowest byte first.
    pub order: [usize; 4],
    /// Factors of the colour and of the old pixel in the blend sum. `None` if the colour replaces the pixel.
    pub blend: Option<[AlphaFactor; 2]>,
    /// Whether the colour's alpha stays in its register, for the alpha test.
    pub keeps_alpha: bool,
}

/// A factor of a blend equation: `one + alpha * a`. Both fields are 0, 1 or -1, so rounding is as for a
/// factor computed separately.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaFactor {
    /// The constant part.
    pub one: f32,
    /// The factor of the alpha.
    pub alpha: f32,
}

impl AlphaFactor {
    /// The factor where the source's alpha is `a`, from 0 to 1.
    #[inline(always)]
    pub fn at(self, a: f32) -> f32 {
        self.one + self.alpha * a
    }
}

/// Instruction set of compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors {
    /// The best of this computer.
    Best,
    /// AVX2, also where there is AVX-512.
    Avx2,
}

/// Result of running several warps in lockstep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpGroup {
    /// No warp ran.
    Not,
    /// The colours are in registers.
    Colors,
    /// The pixels are in [`Warp::pixels`](super::warp::Warp::pixels).
    Pixels,
}

impl fmt::Display for Epilogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let component = |c: usize| ["x", "y", "z", "w"][c % 4];
        let [a, b, c, d] = self.order.map(component);
        let regid = self.regid as usize;
        write!(f, "bytes {a}, {b}, {c}, {d} of r{}.{}", regid / 4, component(regid))?;
        if let Some([of_color, of_old]) = self.blend {
            write!(f, ", times {of_color}, and what was there, times {of_old}")?;
        }
        if self.keeps_alpha { write!(f, "; alpha stays") } else { Ok(()) }
    }
}

impl fmt::Display for AlphaFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} + {} * alpha)", self.one, self.alpha)
    }
}
