//! The instructions that PicoGpu's assembler adds to a fragment shader
//! (gpu/isa/assembler/pico_gpu_binary.cpp).
//!
//! The ones before the shader compute depth and attributes of a pixel from the triangle's corners. The one
//! after it moves the depth to where the internal second output is read.
use super::instr::{Immediates, Instr, Mask};
use super::ops::Op;
use super::{Io, MAX_IO, REGISTERS};

const X_AND_Y: Mask = Mask::from_bits(0b1100);
const Z: Mask = Mask::from_bits(0b0010);

/// The registers that hold no input, in ascending order.
fn free(inputs: &[Io]) -> impl Iterator<Item = u8> {
    (0..REGISTERS).filter(|register| inputs.iter().all(|io| io.register != *register))
}

/// The registers that hold the inputs of a triangle's three corners before a fragment shader starts.
///
/// A shading unit fills one register for each input of corner 0, then of corners 1 and 2. All threads receive
/// equal values; a position is x, y and z.
pub fn corners(inputs: &[Io]) -> [Vec<Io>; 3] {
    let mut free = free(inputs);
    [(); 3].map(|()| {
        let slots = inputs.iter().enumerate().zip(free.by_ref());
        slots
            .map(|((n, io), register)| Io { register, components: if n == 0 { 3 } else { io.components } })
            .collect()
    })
}

fn unary(op: Op, dst: u8, mask: Mask, src: u8) -> Instr {
    Instr { dst, mask, src: [src, 0, 0], ..Instr::new(op) }
}

fn binary(op: Op, dst: u8, mask: Mask, a: u8, b: u8) -> Instr {
    Instr { dst, mask, src: [a, b, 0], ..Instr::new(op) }
}

fn init(dst: u8, values: &[f32]) -> Instr {
    let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    Instr { dst, immediates: Immediates::new(&bits), ..Instr::new(Op::Init) }
}

/// The instruction that copies z of `src` to all components of `dst`.
fn spread_z(dst: u8, src: u8) -> Instr {
    Instr { dst, src: [src, 0, 0], pattern: [2; 4], ..Instr::new(Op::Swizzle) }
}

/// The instructions before a fragment shader with these `inputs`.
///
/// The statements compute the weights of the corners: the areas that the pixel divides the triangle into, divided by
/// the corners' z. Then z is the reciprocal of the weights' sum, and each attribute is its weighted sum times
/// z.
pub(super) fn preamble(inputs: &[Io]) -> Vec<Instr> {
    let position = inputs[0].register;
    let at = corners(inputs).map(|slots| slots.iter().map(|io| io.register).collect::<Vec<_>>());
    let [a, b, c] = [at[0][0], at[1][0], at[2][0]];
    let mut free = free(inputs).skip(3 * inputs.len());
    // Inputs that are interpolated later hold an edge until then. Sixteen registers suffice for the largest
    // number of inputs.
    let mut scratch = |n: usize| inputs.get(n).map(|io| io.register).or_else(|| free.next()).unwrap_or(0);
    let [ab, ac, ap] = [1, 2, MAX_IO].map(&mut scratch);
    let [weight_c, weight_b, weight_a] = [MAX_IO; 3].map(&mut scratch);
    let mut code = vec![
        binary(Op::Fsub, ab, X_AND_Y, b, a),
        binary(Op::Fsub, ac, X_AND_Y, c, a),
        binary(Op::Fsub, ap, X_AND_Y, position, a),
        binary(Op::Fcross2, weight_c, Mask::ALL, ab, ap),
        binary(Op::Fcross2, weight_b, Mask::ALL, ap, ac),
        binary(Op::Fcross2, weight_a, Mask::ALL, ab, ac),
        binary(Op::Fdiv, weight_c, Mask::ALL, weight_c, weight_a),
        binary(Op::Fdiv, weight_b, Mask::ALL, weight_b, weight_a),
        init(weight_a, &[1.0; 4]),
        binary(Op::Fsub, weight_a, Mask::ALL, weight_a, weight_b),
        binary(Op::Fsub, weight_a, Mask::ALL, weight_a, weight_c),
    ];
    let weights = [weight_a, weight_b, weight_c];
    code.extend(
        weights.iter().zip([a, b, c]).map(|(&weight, corner)| binary(Op::Fdiv, weight, Z, weight, corner)),
    );
    code.extend(weights.map(|weight| spread_z(weight, weight)));
    code.extend(weights.map(|weight| binary(Op::Fadd, position, Z, position, weight)));
    code.push(unary(Op::Frcp, position, Z, position));
    code.push(spread_z(a, position));
    for (n, io) in inputs.iter().enumerate().skip(1) {
        let mask = Mask::of(&[0, 1, 2, 3][..io.components]);
        code.push(init(io.register, &[0.0]));
        code.extend(weights.iter().zip(&at).map(|(&weight, corner)| Instr {
            dst: io.register,
            mask,
            src: [weight, corner[n], io.register],
            ..Instr::new(Op::Fmad)
        }));
        code.push(binary(Op::Fmul, io.register, Mask::ALL, io.register, a));
    }
    code
}

/// The last instruction of a fragment shader: it copies z of the position to x, the internal output.
pub(super) fn hand_on_depth(position: Io) -> Instr {
    spread_z(position.register, position.register)
}
