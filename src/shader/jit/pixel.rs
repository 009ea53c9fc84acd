//! Conversion of colours to pixels in compiled code: dwords of normalised bytes, with or without blending.
//!
//! The steps and the resulting bits are those of the render backend's AVX-512 code (`rb/color/avx512`).
//! Multiplications by 0 or 1 are omitted, which changes no result, as all numbers are from 0 to 1.
use super::super::epilogue::{AlphaFactor, Epilogue};
use super::assembler::Source;
use super::emit::{Emitter, Refusal};
use super::machine::Vector;
use super::plan::Node;
use super::sample::Bytes;

/// Adding this to a number from 0 to 255 leaves the nearest integer in the low bits.
const NEAREST: f32 = 8_388_608.0;

/// Emits a node that reads the components of a colour and the old pixels. Returns the register of the pixels.
pub fn pixel(e: &mut Emitter<'_>, epilogue: &Epilogue, node: &Node) -> Result<u8, Refusal> {
    let blend = match epilogue.blend {
        Some(by) => Some(Blend::new(e, by, node)?),
        None => None,
    };
    let mut bytes = [0; 4];
    for (byte, component) in (0..).zip(epilogue.order) {
        let color = e.register(node.sources[component])?;
        let value = limited(e, color)?;
        e.unpin([color]);
        if let Some(blend) = &blend {
            blend.apply(e, value, byte)?;
        }
        let (scale, nearest) = (e.asm.constant(255f32.to_bits()), e.asm.constant(NEAREST.to_bits()));
        e.asm.two(Vector::Mul, value, value, scale);
        e.asm.two(Vector::Add, value, value, nearest);
        bytes[byte as usize] = value;
    }
    joined(e, bytes)
}

/// Joins the low bytes of four registers to dwords, the first byte lowest. The registers otherwise contain
/// only the bits of 2^23, which a shift by 8 or more removes.
fn joined(e: &mut Emitter<'_>, [a, b, c, d]: [u8; 4]) -> Result<u8, Refusal> {
    for (value, bits) in [(b, 8), (c, 16), (d, 24)] {
        e.asm.immediate(Vector::ShiftLeftBy, value, value, bits);
    }
    let lowest = e.constant(0xff)?;
    e.asm.then_or(Vector::And, a, lowest, Source::Register(b));
    e.asm.then_or(Vector::Or, a, c, Source::Register(d));
    Ok(a)
}

/// The parameters of a blend.
struct Blend {
    /// The old pixels, and their conversion to floats.
    old: (u8, Bytes),
    of_color: Factor,
    of_old: Factor,
}

impl Blend {
    fn new(e: &mut Emitter<'_>, [of_color, of_old]: [AlphaFactor; 2], node: &Node) -> Result<Self, Refusal> {
        let [.., alpha, old] = node.sources;
        let alpha = e.register(alpha)?;
        let alpha = limited(e, alpha)?;
        let old = (e.register(old)?, Bytes::new(e)?);
        Ok(Self { old, of_color: Factor::new(e, of_color, alpha)?, of_old: Factor::new(e, of_old, alpha)? })
    }

    /// Blends `value`, the component of a byte, with the old pixels.
    fn apply(&self, e: &mut Emitter<'_>, value: u8, byte: u32) -> Result<(), Refusal> {
        self.of_color.apply(e, value);
        if self.of_old != Factor::Zero {
            let ((old, bytes), there) = (&self.old, e.temporary()?);
            bytes.value(e, there, *old, byte);
            self.of_old.apply(e, there);
            e.asm.two(Vector::Add, value, value, Source::Register(there));
            e.release([there]);
        }
        let one = e.asm.constant(1f32.to_bits());
        e.asm.two(Vector::Min, value, value, one);
        Ok(())
    }
}

/// A factor of the blend equation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Factor {
    Zero,
    One,
    Register(u8),
}

impl Factor {
    fn new(e: &mut Emitter<'_>, by: AlphaFactor, alpha: u8) -> Result<Self, Refusal> {
        Ok(match (by.one, by.alpha) {
            (0.0, 0.0) => Self::Zero,
            (1.0, 0.0) => Self::One,
            (0.0, 1.0) => Self::Register(alpha),
            (one, by_alpha) => {
                let factor = e.with_constant(Vector::Mul, alpha, by_alpha.to_bits())?;
                let one = e.asm.constant(one.to_bits());
                e.asm.two(Vector::Add, factor, factor, one);
                Self::Register(factor)
            }
        })
    }

    fn apply(self, e: &mut Emitter<'_>, value: u8) {
        match self {
            Self::Zero => e.asm.two(Vector::Xor, value, value, Source::Register(value)),
            Self::One => {}
            Self::Register(factor) => e.asm.two(Vector::Mul, value, value, Source::Register(factor)),
        }
    }
}

/// Clamps a value to 0..1 in a new register. NaN becomes zero.
fn limited(e: &mut Emitter<'_>, value: u8) -> Result<u8, Refusal> {
    let (zero, one) = (e.asm.constant(0), e.asm.constant(1f32.to_bits()));
    // If one source is NaN, or both are zero, the result is the second source.
    let limited = e.two(Vector::Max, value, zero)?;
    e.asm.two(Vector::Min, limited, limited, one);
    Ok(limited)
}
