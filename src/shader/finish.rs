//! How compiled code makes pixels of the colours that a fragment shader leaves: dwords of normalised bytes.

use std::fmt;

/// What of that is in the code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finish {
    /// The first of the four full registers with the colour.
    pub regid: u32,
    /// The component that each byte is, the lowest first.
    pub order: [usize; 4],
    /// What a colour and what is there are multiplied with, and then added, if that is done; else it takes its place.
    pub blend: Option<[ByAlpha; 2]>,
    /// Whether the colour's alpha stays in its register, for whoever tests it.
    pub keeps_alpha: bool,
}

/// A factor of a blend equation: `one + alpha * a`, both of them 0, 1 or -1, so that nothing is rounded which a
/// factor of its own would not round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByAlpha {
    /// Whatever the alpha is.
    pub one: f32,
    /// Times the alpha.
    pub alpha: f32,
}

impl ByAlpha {
    /// The factor where the source's alpha is `a`, from 0 to 1.
    #[inline(always)]
    pub fn at(self, a: f32) -> f32 {
        self.one + self.alpha * a
    }
}

/// What became of warps that run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpGroup {
    /// Nothing was done.
    Not,
    /// Colours are in registers.
    Colors,
    /// Pixels are in [`Warp::pixels`](super::warp::Warp::pixels).
    Pixels,
}

impl fmt::Display for Finish {
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

impl fmt::Display for ByAlpha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({} + {} * alpha)", self.one, self.alpha)
    }
}
