//! Lowering of PicoGpu instructions to steps.
//!
//! A register is four rows of the full file, r0.x to r15.w. All operations work component by component on
//! rows, in order. Operations that mix components use temporaries, so that a destination may also be a
//! source. The semantics is that of PicoGpu's gpu/blocks/shader_array/shader_unit.cpp.
use a4emu_decoder::isa::pico::command::Interface;
use a4emu_decoder::isa::pico::{Form, Instr, Io, Kind, Mask, Op, REGISTERS, corners};
use hashbrown::HashSet;

use super::super::alu::Row;
use super::super::builder::{Builder, Operand};
use super::super::effect::Effect;
use super::super::extra::Extra;
use super::super::lowered::{Lowered, ProgramError, Uniform};
use super::super::rowmap::{FULL, TEMPORARIES, ZERO};
use super::super::rows::AluOp;
use super::Granularity;

/// Row of component `component` of register `register`.
fn row(register: u8, component: usize) -> Row {
    FULL + Row::from(register) * 4 + component as Row
}

/// Lowers `code` to a program. Uniforms are read from the constant file, in order.
pub fn lower(
    code: &[Instr],
    interface: &Interface,
    granularity: Granularity,
) -> Result<Lowered, ProgramError> {
    if code.is_empty() {
        return Err(ProgramError::Empty);
    }
    let targets = match granularity {
        Granularity::Runs | Granularity::Choices | Granularity::Watched => HashSet::new(),
        Granularity::Instructions => (0..code.len() as u32).collect(),
    };
    let corners = match interface.kind {
        Kind::Vertex => Default::default(),
        Kind::Fragment => corners(&interface.inputs),
    };
    let filled = corners.iter().flatten().fold(0, |filled, io| filled | 1 << io.register);
    let mut lowerer = Lowerer { builder: Builder::default(), interface, written: filled };
    for (at, instr) in code.iter().enumerate() {
        lowerer.builder.instruction(at as u32, &targets);
        lowerer.instruction(instr);
    }
    // Drops the computation of components that are not read, mostly in interpolation. A debugger shows all of
    // them.
    if granularity != Granularity::Instructions {
        let read =
            |io: &Io| (0..io.components).map(|component| row(io.register, component)).collect::<Vec<_>>();
        lowerer.builder.keep_wanted(interface.outputs.iter().flat_map(read));
    }
    lowerer.builder.effect(Effect::End);
    Ok(lowerer.builder.finish(code.len()))
}

struct Lowerer<'a> {
    builder: Builder,
    interface: &'a Interface,
    /// Registers written so far, by instructions or by the shading unit before the first one. Bit n is r`n`.
    written: u32,
}

impl Lowerer<'_> {
    fn instruction(&mut self, instr: &Instr) {
        match instr.op {
            // A debugger stops here. It has no other effect.
            Op::Trap => {}
            Op::Initregs => self.clear_registers(),
            Op::Lduni => self.load_uniforms(),
            Op::Fdot => self.dot(instr),
            Op::Fcross => self.cross(instr),
            Op::Fcross2 => {
                self.determinant(instr, 0, 1, TEMPORARIES);
                self.broadcast(instr, TEMPORARIES);
            }
            Op::Fnorm => self.normalize(instr),
            // One component after the other: if a register is swizzled onto itself, later components read
            // what earlier ones have written.
            Op::Swizzle => (0..4).for_each(|c| {
                self.copy(row(instr.dst, c), row(instr.src[0], instr.pattern[c].into()));
            }),
            op => self.componentwise(instr, op.without_immediates()),
        }
        self.written |= u32::from(instr.op.form() != Form::Nullary) << instr.dst;
    }

    /// Clears the registers that are neither input nor uniform. Only registers that were written need it: a
    /// warp starts with all others zero.
    fn clear_registers(&mut self) {
        let (Interface { inputs, uniforms, .. }, written) = (self.interface, self.written);
        for register in (0..REGISTERS).filter(|register| written >> register & 1 != 0) {
            if inputs.iter().chain(uniforms).all(|io| io.register != register) {
                (0..4).for_each(|c| self.copy(row(register, c), ZERO));
            }
        }
    }

    fn alu(&mut self, op: impl Into<AluOp>, dst: Row, sources: &[Row]) {
        let sources: Vec<Operand> = sources.iter().map(|&row| row.into()).collect();
        self.builder.alu(op, dst, &sources);
    }

    fn copy(&mut self, dst: Row, src: Row) {
        self.alu(Extra::Copy, dst, &[src]);
    }

    /// Copies temporaries 0 to 3 to the destination. Ignores its mask, as PicoGpu does for vector results.
    fn take(&mut self, instr: &Instr) {
        Mask::ALL.components().for_each(|c| self.copy(row(instr.dst, c), TEMPORARIES + c as Row));
    }

    /// Copies one row to all masked components of the destination.
    fn broadcast(&mut self, instr: &Instr, src: Row) {
        instr.mask.components().for_each(|c| self.copy(row(instr.dst, c), src));
    }

    fn componentwise(&mut self, instr: &Instr, op: Op) {
        let sources = instr.op.form().sources();
        for (n, component) in instr.mask.components().enumerate() {
            let mut rows: Vec<Row> = instr.src[..sources].iter().map(|&src| row(src, component)).collect();
            if matches!(instr.op.form(), Form::UnaryImm | Form::BinaryImm) {
                rows.push(self.builder.uniform(Uniform::Bits(instr.immediates.nth(n))));
            }
            self.alu(op, row(instr.dst, component), &rows);
        }
    }

    fn load_uniforms(&mut self) {
        let mut next = 0;
        for io in &self.interface.uniforms {
            for component in 0..4 {
                let source = match component < io.components {
                    true => self.builder.uniform(Uniform::Constant(next)),
                    false => ZERO,
                };
                next += u16::from(component < io.components);
                self.copy(row(io.register, component), source);
            }
        }
    }

    /// Computes the sum of products of `a` and `b`, x first, in temporary 0. Uses temporary 1.
    fn sum_of_products(&mut self, a: u8, b: u8) {
        let [sum, product] = [TEMPORARIES, TEMPORARIES + 1];
        self.alu(Op::Fmul, sum, &[row(a, 0), row(b, 0)]);
        for component in 1..4 {
            self.alu(Op::Fmul, product, &[row(a, component), row(b, component)]);
            self.alu(Op::Fadd, sum, &[sum, product]);
        }
    }

    fn dot(&mut self, instr: &Instr) {
        self.sum_of_products(instr.src[0], instr.src[1]);
        self.broadcast(instr, TEMPORARIES);
    }

    /// Computes a.i * b.j - a.j * b.i in `dst`. Uses temporary 4.
    fn determinant(&mut self, instr: &Instr, i: usize, j: usize, dst: Row) {
        let [a, b, _] = instr.src;
        self.alu(Op::Fmul, dst, &[row(a, i), row(b, j)]);
        self.alu(Op::Fmul, TEMPORARIES + 4, &[row(a, j), row(b, i)]);
        self.alu(Op::Fsub, dst, &[dst, TEMPORARIES + 4]);
    }

    fn cross(&mut self, instr: &Instr) {
        self.determinant(instr, 1, 2, TEMPORARIES);
        self.determinant(instr, 2, 0, TEMPORARIES + 1);
        self.determinant(instr, 0, 1, TEMPORARIES + 2);
        self.copy(TEMPORARIES + 3, ZERO);
        self.take(instr);
    }

    fn normalize(&mut self, instr: &Instr) {
        self.sum_of_products(instr.src[0], instr.src[0]);
        self.alu(Op::Fnorm, TEMPORARIES + 4, &[TEMPORARIES]);
        for component in 0..4 {
            let sources = [row(instr.src[0], component), TEMPORARIES + 4];
            self.alu(Op::Fdiv, TEMPORARIES + component as Row, &sources);
        }
        self.take(instr);
    }
}
