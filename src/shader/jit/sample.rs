//! Texture samples in compiled code: one level of a texture with normalised bytes in dwords, filtered.
//!
//! The steps and the resulting bits are those of the texture unit's AVX-512 code (`tpl1/planar/avx512`).
//! Positions in 1/256 of a texel are integers. A byte in the low mantissa bits of 2^23 becomes a float by one
//! fused operation.
use super::super::reading::{ComponentSource, Reading};
use super::assembler::{Flag, Source};
use super::coded::Coded;
use super::emit::{Emitter, Refusal};
use super::executable::Field;
use super::machine::{Machine, Vector};
use super::plan::Node;
use crate::format::unorm_step;

/// Fraction bits of a position.
const FRACTION: u32 = 8;

/// A float whose last mantissa bit has the value 1. A byte in its low bits adds to it.
const ABOVE: f32 = (1 << 23) as f32;

/// The current sample.
#[derive(Clone, Copy)]
struct Request {
    /// Number of its texture.
    texture: usize,
    reading: Reading,
    gather_pairs: bool,
    flag: Flag,
}

impl Request {
    fn field(&self, field: Field) -> Source {
        Source::Texture(self.texture, field)
    }
}

/// Emits the sample with number `texture`. Returns the registers of its components that are `wanted` (bit 0
/// for x).
pub fn sample(
    e: &mut Emitter<'_>,
    texture: usize,
    coded: &Coded,
    node: &Node,
    wanted: u32,
) -> Result<[Option<u8>; 4], Refusal> {
    let (reading, gather_pairs) = (coded.readings[texture], coded.gather_pairs);
    let request = Request { texture, reading, gather_pairs, flag: e.flag()? };
    let coords = [e.register(node.sources[0])?, e.register(node.sources[1])?];
    let taps = match reading.is_linear {
        true => Taps::Four(linear(e, &request, coords)?),
        false => Taps::One(nearest(e, &request, coords)?),
    };
    e.release_flag(request.flag);
    let bytes = Bytes::new(e)?;
    let mut out = [None; 4];
    for (c, out) in out.iter_mut().enumerate().filter(|(c, _)| wanted >> c & 1 != 0) {
        *out = Some(match (reading.components[c], &taps) {
            (ComponentSource::Constant(bits), _) => e.constant(bits)?,
            (ComponentSource::Byte(byte), Taps::One(texels)) => {
                let value = e.temporary()?;
                bytes.value(e, value, *texels, byte);
                value
            }
            (ComponentSource::Byte(byte), Taps::Four(taps)) => taps.mixed(e, &bytes, byte)?,
        });
    }
    Ok(out)
}

/// The texels that components are made from.
enum Taps {
    One(u8),
    Four(Four),
}

/// The four texels around positions: left before right, and upper before lower. With the weights of the right
/// and the lower ones, and three spare registers.
struct Four {
    texels: [u8; 4],
    weights: [u8; 2],
    spare: [u8; 3],
}

impl Four {
    fn mixed(&self, e: &mut Emitter<'_>, bytes: &Bytes, byte: u32) -> Result<u8, Refusal> {
        let [b, c, d] = self.spare;
        let a = e.temporary()?;
        for (value, texels) in [a, b, c, d].into_iter().zip(self.texels) {
            bytes.value(e, value, texels, byte);
        }
        let [x, y] = self.weights;
        mix(e, a, b, x);
        mix(e, c, d, x);
        mix(e, a, c, y);
        Ok(a)
    }
}

/// Linear interpolation of a filter: `a` becomes `a + weight * (b - a)`. Overwrites `b`.
fn mix(e: &mut Emitter<'_>, a: u8, b: u8, weight: u8) {
    e.asm.two(Vector::Sub, b, b, Source::Register(a));
    e.asm.two(Vector::Mul, b, weight, Source::Register(b));
    e.asm.two(Vector::Add, a, a, Source::Register(b));
}

/// Conversion of bytes to floats.
pub struct Bytes {
    lowest: u8,
    step: u8,
    above: Source,
    above_steps: Source,
}

impl Bytes {
    /// Loads its constants to registers.
    pub fn new(e: &mut Emitter<'_>) -> Result<Self, Refusal> {
        let step: f32 = unorm_step(8);
        let (above, above_steps) = (ABOVE.to_bits(), (ABOVE * step).to_bits());
        Ok(Self {
            lowest: e.constant(0xff)?,
            step: e.constant(step.to_bits())?,
            above: e.asm.constant(above),
            above_steps: e.asm.constant(above_steps),
        })
    }

    /// Converts byte `byte` of each of `texels` to a float in `dst`.
    pub fn value(&self, e: &mut Emitter<'_>, dst: u8, texels: u8, byte: u32) {
        match byte {
            0 => e.asm.load(dst, Source::Register(texels)),
            _ => e.asm.immediate(Vector::ShiftRightBy, dst, texels, 8 * byte),
        }
        e.asm.then_or(Vector::And, dst, self.lowest, self.above);
        e.asm.two(Vector::FusedMulSub, dst, self.step, self.above_steps);
    }
}

/// A coordinate in units of an axis, from 0 to the size, in a new register.
fn position(e: &mut Emitter<'_>, request: &Request, axis: usize, coord: u8) -> Result<u8, Refusal> {
    let (zero, units) = (e.asm.constant(0), request.field(Field::Units(axis)));
    let at = e.temporary()?;
    // If one source is NaN, the result is the second source. The reference has the same order.
    match request.reading.repeats[axis] {
        true => {
            let one = e.asm.constant(1f32.to_bits());
            e.asm.immediate(Vector::Round, at, coord, 0b1001);
            e.asm.two(Vector::Sub, at, coord, Source::Register(at));
            e.asm.two(Vector::Max, at, at, zero);
            e.asm.two(Vector::Min, at, at, one);
            e.asm.two(Vector::Mul, at, at, units);
        }
        false => {
            e.asm.two(Vector::Mul, at, coord, units);
            e.asm.two(Vector::Max, at, at, zero);
            e.asm.two(Vector::Min, at, at, units);
        }
    }
    e.asm.one(Vector::FloatToSigned, at, Source::Register(at));
    Ok(at)
}

/// Wraps or clamps `texel`, in `-1..size`, to the texture. Overwrites `spare`.
fn low(e: &mut Emitter<'_>, request: &Request, axis: usize, [texel, spare]: [u8; 2]) {
    match request.reading.repeats[axis] {
        true => {
            // -1 is the largest unsigned number.
            e.asm.two(Vector::AddInteger, spare, texel, request.field(Field::Size(axis)));
            e.asm.two(Vector::MinUnsigned, texel, texel, Source::Register(spare));
        }
        false => {
            let zero = e.asm.constant(0);
            e.asm.two(Vector::MaxSigned, texel, texel, zero);
        }
    }
}

/// Wraps or clamps `texel`, in `0..=size`, to the texture. Overwrites `spare`.
fn high(e: &mut Emitter<'_>, request: &Request, axis: usize, [texel, spare]: [u8; 2]) {
    match request.reading.repeats[axis] {
        true => {
            e.asm.two(Vector::SubInteger, spare, texel, request.field(Field::Size(axis)));
            e.asm.two(Vector::MinUnsigned, texel, texel, Source::Register(spare));
        }
        false => e.asm.two(Vector::MinSigned, texel, texel, request.field(Field::SizeMinusOne(axis))),
    }
}

/// Converts a row number to the number of its first dword. Overwrites `spare`. Rows and pitches have 15 bits.
fn row(e: &mut Emitter<'_>, request: &Request, [row, spare]: [u8; 2]) {
    e.asm.mul_halves(row, request.field(Field::Pitch), spare);
    e.asm.two(Vector::AddInteger, row, row, request.field(Field::Offset));
}

/// Reads the texels at positions.
fn nearest(e: &mut Emitter<'_>, request: &Request, [s, t]: [u8; 2]) -> Result<u8, Refusal> {
    let (x, y) = (position(e, request, 0, s)?, position(e, request, 1, t)?);
    e.unpin([s, t]);
    let spare = e.temporary()?;
    high(e, request, 0, [x, spare]);
    high(e, request, 1, [y, spare]);
    row(e, request, [y, spare]);
    e.asm.two(Vector::AddInteger, x, x, Source::Register(y));
    e.asm.gather(request.texture, request.flag, y, x);
    Ok(y)
}

/// Reads the texels around positions, and computes their weights.
fn linear(e: &mut Emitter<'_>, request: &Request, [s, t]: [u8; 2]) -> Result<Four, Refusal> {
    let mut at = [position(e, request, 0, s)?, position(e, request, 1, t)?];
    e.unpin([s, t]);
    let (half, rest) = (e.asm.constant(1 << (FRACTION - 1)), e.asm.constant((1 << FRACTION) - 1));
    let unit = e.asm.constant((1.0 / (1 << FRACTION) as f32).to_bits());
    let weights = [e.temporary()?, e.temporary()?];
    for (at, weight) in at.iter_mut().zip(weights) {
        // Positions are relative to the centre of the texel before.
        e.asm.two(Vector::SubInteger, *at, *at, half);
        e.asm.two(Vector::And, weight, *at, rest);
        e.asm.one(Vector::SignedToFloat, weight, Source::Register(weight));
        e.asm.two(Vector::Mul, weight, weight, unit);
        e.asm.immediate(Vector::ShiftRightSignedBy, *at, *at, FRACTION);
    }
    let ([column, upper], lower, spare) = (at, e.temporary()?, e.temporary()?);
    let one = e.asm.constant(1);
    e.asm.two(Vector::AddInteger, lower, upper, one);
    low(e, request, 1, [upper, spare]);
    high(e, request, 1, [lower, spare]);
    row(e, request, [upper, spare]);
    row(e, request, [lower, spare]);
    // Only AVX-512 needs one more register for pairs.
    let other = if e.asm.machine == Machine::Avx512 { e.temporary()? } else { spare };
    let texels = [e.temporary()?, e.temporary()?, e.temporary()?, e.temporary()?];
    let [upper_left, upper_right, lower_left, lower_right] = texels;
    // If every column is below the last one (unsigned), the right texels follow the left ones.
    let (apart, done) = (e.asm.label(), e.asm.label());
    e.asm.jump_unless_less(request.flag, column, request.field(Field::SizeMinusOne(0)), apart);
    for (row, [left, right]) in [(upper, [upper_left, upper_right]), (lower, [lower_left, lower_right])] {
        e.asm.two(Vector::AddInteger, spare, row, Source::Register(column));
        match request.gather_pairs {
            true => e.asm.gather_pairs(request.texture, request.flag, [left, right], [spare, other]),
            false => {
                let one = e.asm.constant(1);
                e.asm.two(Vector::AddInteger, right, spare, one);
                e.asm.load(left, Source::Register(right));
                e.asm.gather(request.texture, request.flag, right, left);
                e.asm.gather(request.texture, request.flag, left, spare);
            }
        }
    }
    e.asm.jump(done);
    e.asm.bind(apart);
    // The right column uses the register of the last texel until that is read.
    let right = lower_right;
    e.asm.two(Vector::AddInteger, right, column, one);
    high(e, request, 0, [right, spare]);
    low(e, request, 0, [column, spare]);
    for (row, column, texels) in [
        (upper, column, upper_left),
        (upper, right, upper_right),
        (lower, column, lower_left),
        (lower, right, lower_right),
    ] {
        e.asm.two(Vector::AddInteger, spare, row, Source::Register(column));
        e.asm.gather(request.texture, request.flag, texels, spare);
    }
    e.asm.bind(done);
    e.release([spare, other]);
    Ok(Four { texels, weights, spare: [column, upper, lower] })
}
