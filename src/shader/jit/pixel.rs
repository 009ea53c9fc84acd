//! Colours become pixels within the code: dwords of normalised bytes, in place of what was there or blended with it.
//!
//! The steps are those of the render backend's own AVX-512 (`rb/color/avx512`), of the same bits.

use super::super::finish::{ByAlpha, Finish};
use super::assembler::Source;
use super::emit::{Emitter, Refusal};
use super::machine::Vector;
use super::plan::Node;
use super::sample::Bytes;

/// Added to a number from 0 to 255 it leaves the nearest integer in the low bits.
const NEAREST: f32 = 8_388_608.0;

/// The register with the pixels of a node that reads the components of a colour, and what was there.
pub fn pixel(e: &mut Emitter<'_>, finish: &Finish, node: &Node) -> Result<u8, Refusal> {
    let [zero, one] = [0.0f32, 1.0].map(|number| e.asm.constant(number.to_bits()));
    let old = match finish.blend {
        Some(_) => Some((e.register(node.sources[4])?, Bytes::new(e)?)),
        None => None,
    };
    let mut factors = [Factor::Zero; 2];
    if let Some(by) = finish.blend {
        let alpha = e.register(node.sources[3])?;
        let limited = e.temporary()?;
        limit(e, limited, alpha, [zero, one]);
        factors = [factor(e, by[0], limited)?, factor(e, by[1], limited)?];
    }
    let (mut pixels, scale, nearest) =
        (None, e.asm.constant(255f32.to_bits()), e.asm.constant(NEAREST.to_bits()));
    for byte in 0..4 {
        let color = e.register(node.sources[finish.order[byte]])?;
        let value = e.temporary()?;
        limit(e, value, color, [zero, one]);
        if let Some((old, bytes)) = &old {
            let [of_color, of_old] = factors;
            let times = |e: &mut Emitter<'_>, value: u8, factor: Factor| match factor {
                Factor::Zero => e.asm.two(Vector::Xor, value, value, Source::Register(value)),
                Factor::One => {}
                Factor::Register(factor) => e.asm.two(Vector::Mul, value, value, Source::Register(factor)),
            };
            times(e, value, of_color);
            if !matches!(of_old, Factor::Zero) {
                let there = e.temporary()?;
                bytes.value(e, there, *old, byte as u32);
                times(e, there, of_old);
                e.asm.two(Vector::Add, value, value, Source::Register(there));
            }
            e.asm.two(Vector::Min, value, value, one);
        }
        e.asm.two(Vector::Mul, value, value, scale);
        e.asm.two(Vector::Add, value, value, nearest);
        pixels = Some(match pixels {
            None => {
                let lowest = e.constant(255)?;
                e.asm.two(Vector::And, value, value, Source::Register(lowest));
                value
            }
            Some(pixels) => {
                // What is above a byte are the bits of 2^23, of which none is left 8 bits further up but those of the
                // exponent: they are gone from where the next byte is.
                e.asm.immediate(Vector::ShiftLeftBy, value, value, 8 * byte as u32);
                if byte < 3 {
                    let bits = e.asm.constant(0xff << (8 * byte));
                    e.asm.two(Vector::And, value, value, bits);
                }
                e.asm.two(Vector::Or, pixels, pixels, Source::Register(value));
                pixels
            }
        });
    }
    Ok(pixels.expect("four bytes"))
}

#[derive(Clone, Copy)]
enum Factor {
    Zero,
    One,
    Register(u8),
}

fn factor(e: &mut Emitter<'_>, by: ByAlpha, alpha: u8) -> Result<Factor, Refusal> {
    Ok(match (by.one, by.alpha) {
        (0.0, 0.0) => Factor::Zero,
        (1.0, 0.0) => Factor::One,
        (0.0, 1.0) => Factor::Register(alpha),
        (one, by_alpha) => {
            let factor = e.with_constant(Vector::Mul, alpha, by_alpha.to_bits())?;
            let one = e.asm.constant(one.to_bits());
            e.asm.two(Vector::Add, factor, factor, one);
            Factor::Register(factor)
        }
    })
}

/// From 0 to 1; NaN becomes zero.
fn limit(e: &mut Emitter<'_>, dst: u8, value: u8, [zero, one]: [Source; 2]) {
    // Where one is NaN, or both are zero, the second counts.
    e.asm.two(Vector::Max, dst, value, zero);
    e.asm.two(Vector::Min, dst, dst, one);
}
