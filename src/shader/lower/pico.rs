//! PicoGpu instructions to steps: the other front end of the executor.
//!
//! A register is four rows of the full file, r0.x to r15.w. All ops work
//! component by component on rows, in order; those that mix components go
//! through temporaries, so that a destination may also be a source.
use a4emu_decoder::isa::ir3::{Cat2Op, Cat4Op};
use a4emu_decoder::isa::pico::{Form, Instr, Io, Op};
use hashbrown::HashSet;

use super::super::alu::Row;
use super::super::builder::{Builder, Operand};
use super::super::effect::Effect;
use super::super::extra::Extra;
use super::super::program::{Program, ProgramError, Uniform};
use super::super::rowmap::{FULL, TEMPORARIES, ZERO};
use super::super::rows::AluOp;
use super::Granularity;

/// Row of component `component` of register `register`.
fn row(register: u8, component: usize) -> Row {
    FULL + Row::from(register) * 4 + component as Row
}

/// The program of `code`. Uniforms come from the constant file, one after the other.
pub fn lower(code: &[Instr], uniforms: &[Io], granularity: Granularity) -> Result<Program, ProgramError> {
    if code.is_empty() {
        return Err(ProgramError::Empty);
    }
    let targets = match granularity {
        Granularity::Runs | Granularity::Choices | Granularity::Watched => HashSet::new(),
        Granularity::Instructions => (0..code.len() as u32).collect(),
    };
    let mut lowerer = Lowerer { builder: Builder::default(), uniforms };
    for (at, instr) in code.iter().enumerate() {
        lowerer.builder.instruction(at as u32, &targets);
        lowerer.instruction(instr);
    }
    lowerer.builder.effect(Effect::End);
    Ok(lowerer.builder.finish(code.len()))
}

struct Lowerer<'a> {
    builder: Builder,
    uniforms: &'a [Io],
}

impl Lowerer<'_> {
    fn instruction(&mut self, instr: &Instr) {
        match instr.op {
            // A debugger stops here; nothing else happens. Registers that nothing
            // has set are zero in a warp that starts.
            Op::Trap | Op::Initregs => {}
            Op::Lduni => self.load_uniforms(),
            Op::Fdot => self.dot(instr),
            Op::Fcross => self.cross(instr),
            Op::Fcross2 => {
                self.determinant(instr, 0, 1, TEMPORARIES);
                self.broadcast(instr, TEMPORARIES);
            }
            Op::Fnorm => self.normalize(instr),
            Op::Swizzle => {
                (0..4).for_each(|c| {
                    self.copy(TEMPORARIES + c, row(instr.src[0], instr.pattern[c as usize].into()))
                });
                self.take(instr);
            }
            op => self.componentwise(instr, op.without_immediates()),
        }
    }

    fn alu(&mut self, op: impl Into<AluOp>, dst: Row, sources: &[Row]) {
        let sources: Vec<Operand> = sources.iter().map(|&row| row.into()).collect();
        self.builder.alu(op, dst, &sources);
    }

    fn copy(&mut self, dst: Row, src: Row) {
        self.alu(Extra::Copy, dst, &[src]);
    }

    /// Temporaries 0 to 3 to the masked components of the destination.
    fn take(&mut self, instr: &Instr) {
        instr.mask.components().for_each(|c| self.copy(row(instr.dst, c), TEMPORARIES + c as Row));
    }

    /// One row to all masked components of the destination.
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
        for io in self.uniforms {
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

    /// The sum of products of `a` and `b`, x first, to temporary 0. Uses temporary 1.
    fn sum_of_products(&mut self, a: u8, b: u8) {
        let [sum, product] = [TEMPORARIES, TEMPORARIES + 1];
        self.alu(Cat2Op::MulF, sum, &[row(a, 0), row(b, 0)]);
        for component in 1..4 {
            self.alu(Cat2Op::MulF, product, &[row(a, component), row(b, component)]);
            self.alu(Cat2Op::AddF, sum, &[sum, product]);
        }
    }

    fn dot(&mut self, instr: &Instr) {
        self.sum_of_products(instr.src[0], instr.src[1]);
        self.broadcast(instr, TEMPORARIES);
    }

    /// a.i * b.j - a.j * b.i, to `dst`. Uses temporary 4.
    fn determinant(&mut self, instr: &Instr, i: usize, j: usize, dst: Row) {
        let [a, b, _] = instr.src;
        self.alu(Cat2Op::MulF, dst, &[row(a, i), row(b, j)]);
        self.alu(Cat2Op::MulF, TEMPORARIES + 4, &[row(a, j), row(b, i)]);
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
        self.alu(Cat4Op::Sqrt, TEMPORARIES + 4, &[TEMPORARIES]);
        for component in instr.mask.components() {
            let sources = [row(instr.src[0], component), TEMPORARIES + 4];
            self.alu(Op::Fdiv, TEMPORARIES + component as Row, &sources);
        }
        self.take(instr);
    }
}
