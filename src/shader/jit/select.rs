//! Instruction selection for operations.
//!
//! The scalar rows are the reference: the code for each operation gives the same bits, and tests compare
//! every operation with them. Operations without code are interpreted.
use a4emu_decoder::adreno::ir3::{Cat2Op, Cat3Op, Cat4Op, Cond, Round, Type};
use iced_x86::Code;

use super::super::alu::Alu;
use super::super::alu::Row;
use super::super::effect::Axis;
use super::super::extra::Extra;
use super::super::rows::AluOp;
use super::assembler::{CommonBits, Flag, Relation, Source};
use super::emit::{Emitter, Refusal, SPILLS};
use super::machine::{Machine, Vector};
use super::plan::{Node, ValueId};

/// The canonical NaN of results.
const NAN: u32 = 0x7fc0_0000;
const SIGN: u32 = 1 << 31;
const EXPONENT: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
/// The bit of a NaN that makes it quiet.
const QUIET: u32 = 1 << 22;

/// Whether `alu` can be compiled. Other operations end a segment.
pub fn has_code(alu: &Alu) -> bool {
    match alu.op {
        AluOp::Cat2(op) => cat2_has_code(op),
        AluOp::Cat3(op) => matches!(
            op,
            Cat3Op::MadU16
                | Cat3Op::MadS16
                | Cat3Op::MadshM16
                | Cat3Op::MadU24
                | Cat3Op::MadS24
                | Cat3Op::MadF16
                | Cat3Op::MadF32
                | Cat3Op::SelB16
                | Cat3Op::SelB32
        ),
        AluOp::Cat4(op) => matches!(op, Cat4Op::Rcp | Cat4Op::Rsq | Cat4Op::Sqrt),
        AluOp::Extra(_) | AluOp::Convert(Type::F32, Type::F16, _) => true,
        AluOp::Saturated(_) | AluOp::Halved(_) | AluOp::Pico(_) | AluOp::Convert(..) => false,
    }
}

fn cat2_has_code(op: Cat2Op) -> bool {
    !matches!(
        op,
        Cat2Op::SignF
            | Cat2Op::RndazF
            | Cat2Op::BfrevB
            | Cat2Op::ClzS
            | Cat2Op::ClzB
            | Cat2Op::BaryF
            | Cat2Op::MgenB
            | Cat2Op::GetbitB
            | Cat2Op::Setrm
            | Cat2Op::CbitsB
            | Cat2Op::Shb
            | Cat2Op::Msad
    )
}

/// Emits `alu`. Returns the result register.
pub fn alu(e: &mut Emitter<'_>, alu: &Alu, node: &Node) -> Result<u8, Refusal> {
    let mut s = Select { e, alu, node };
    match alu.op {
        AluOp::Cat2(op) => s.cat2(op),
        AluOp::Cat3(op) => s.cat3(op),
        AluOp::Cat4(op) => s.cat4(op),
        AluOp::Extra(op) => s.extra(op),
        AluOp::Convert(Type::F32, Type::F16, round) => s.float_to_half(round),
        AluOp::Saturated(_) | AluOp::Halved(_) | AluOp::Pico(_) | AluOp::Convert(..) => {
            Err(Refusal::Operation)
        }
    }
}

/// bary.f: emits the value at vertex 0, plus the differences of the other vertices times i and j.
pub fn varying(e: &mut Emitter<'_>, place: usize, node: &Node) -> Result<u8, Refusal> {
    let row = |n: usize| Source::Frame(SPILLS + 3 * place + n);
    let (i, j) = (e.register(node.sources[0])?, e.register(node.sources[1])?);
    let i = e.two(Vector::Mul, i, row(1))?;
    let j = e.two(Vector::Mul, j, row(2))?;
    let sum = e.two(Vector::Add, i, Source::Register(j))?;
    e.two(Vector::Add, sum, row(0))
}

/// dsx, dsy: the lanes of a quad are adjacent. `row` holds the values of lanes that do not execute.
pub fn derivative(e: &mut Emitter<'_>, axis: Axis, source: ValueId, row: Option<Row>) -> Result<u8, Refusal> {
    let mut value = e.register(source)?;
    if let Some(row) = row {
        let merged = e.temporary()?;
        e.asm.load(merged, Source::Register(value));
        e.asm.merge(merged, row);
        value = merged;
    }
    // Two bits per lane: the lane of the quad to read.
    let (from, to) = match axis {
        Axis::X | Axis::FineX => (0b10_10_00_00, 0b11_11_01_01),
        Axis::Y | Axis::FineY => (0b01_00_01_00, 0b11_10_11_10),
    };
    let from = e.immediate(Vector::Permute, value, from)?;
    let to = e.immediate(Vector::Permute, value, to)?;
    let difference = e.two(Vector::Sub, to, Source::Register(from))?;
    canonical(e, difference)
}

/// `value` with every NaN replaced by the canonical one.
fn canonical(e: &mut Emitter<'_>, value: u8) -> Result<u8, Refusal> {
    let flag = e.flag()?;
    e.asm.compare(flag, Relation::Unordered, value, Source::Register(value));
    let (dst, nan) = (e.temporary()?, e.asm.constant(NAN));
    e.asm.select(flag, dst, nan, value);
    Ok(dst)
}

struct Select<'s, 'p> {
    e: &'s mut Emitter<'p>,
    alu: &'s Alu,
    node: &'s Node,
}

impl Select<'_, '_> {
    /// Source `n` in a register, with its modifiers.
    fn register(&mut self, n: usize) -> Result<u8, Refusal> {
        match self.source(n)? {
            Source::Register(register) => Ok(register),
            memory => self.e.one(Vector::Load, memory),
        }
    }

    /// Source `n` as a last operand, with its modifiers.
    fn source(&mut self, n: usize) -> Result<Source, Refusal> {
        let (and, xor) = (self.alu.and[n], self.alu.xor[n]);
        let value = self.node.sources[n];
        if and == u32::MAX && xor == 0 {
            return self.e.operand(value);
        }
        let mut register = self.e.register(value)?;
        if and != u32::MAX {
            register = self.e.with_constant(Vector::And, register, and)?;
        }
        if xor != 0 {
            register = self.e.with_constant(Vector::Xor, register, xor)?;
        }
        Ok(Source::Register(register))
    }

    /// Source `n` with denormals flushed to zero of the same sign.
    fn flushed(&mut self, n: usize) -> Result<u8, Refusal> {
        let value = self.register(n)?;
        self.flush(value)
    }

    fn flush(&mut self, value: u8) -> Result<u8, Refusal> {
        let flag = self.e.flag()?;
        let exponent = self.e.asm.constant(EXPONENT);
        match self.e.asm.machine {
            Machine::Avx512 => self.e.asm.test(flag, CommonBits::None, value, exponent),
            Machine::Avx2 => {
                self.e.asm.two(Vector::And, flag.0, value, exponent);
                let zero = self.e.asm.constant(0);
                let equal = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
                self.e.asm.compare_integers(equal, flag, flag.0, zero, None);
            }
        }
        let zero = self.e.with_constant(Vector::And, value, SIGN)?;
        let dst = self.e.temporary()?;
        self.e.asm.select(flag, dst, Source::Register(zero), value);
        Ok(dst)
    }

    /// A float result, with canonical NaNs if its bits matter.
    fn float(&mut self, value: u8) -> Result<u8, Refusal> {
        match self.e.needs_bits(self.node.value) {
            true => canonical(self.e, value),
            false => Ok(value),
        }
    }

    fn two(&mut self, op: Vector) -> Result<u8, Refusal> {
        // The source in memory comes last, if the operation commutes. That may change the bits of a NaN,
        // which do not matter here.
        let order = if op.commutes() && self.is_in_memory(0) { [1, 0] } else { [0, 1] };
        let (a, b) = (self.register(order[0])?, self.source(order[1])?);
        self.e.two(op, a, b)
    }

    fn is_in_memory(&self, n: usize) -> bool {
        self.alu.and[n] == u32::MAX && self.alu.xor[n] == 0 && self.e.is_in_memory(self.node.sources[n])
    }

    fn two_floats(&mut self, op: Vector) -> Result<u8, Refusal> {
        let value = self.two(op)?;
        self.float(value)
    }

    /// `flag ? number : 0`
    fn number_if(&mut self, flag: Flag, number: u32) -> Result<u8, Refusal> {
        let (dst, number) = (self.e.temporary()?, self.e.asm.constant(number));
        self.e.asm.keep(flag, dst, number);
        Ok(dst)
    }

    /// Minimum or maximum: if one source is NaN, the other one; of two zeros, the second.
    fn limit(&mut self, op: Vector) -> Result<u8, Refusal> {
        let (a, b) = (self.register(0)?, self.register(1)?);
        let value = self.e.two(op, a, Source::Register(b))?;
        let flag = self.e.flag()?;
        self.e.asm.compare(flag, Relation::Unordered, b, Source::Register(b));
        let dst = self.e.temporary()?;
        self.e.asm.select(flag, dst, Source::Register(a), value);
        self.float(dst)
    }

    fn rounded(&mut self, mode: u32) -> Result<u8, Refusal> {
        let value = self.flushed(0)?;
        let value = self.e.immediate(Vector::Round, value, mode)?;
        self.float(value)
    }

    fn compare_floats(&mut self, hit: u32) -> Result<u8, Refusal> {
        let (a, b) = (self.flushed(0)?, self.flushed(1)?);
        let flag = self.e.flag()?;
        let relation = match self.alu.cond {
            Cond::Lt => Relation::Less,
            Cond::Le => Relation::LessOrEqual,
            Cond::Gt => Relation::Greater,
            Cond::Ge => Relation::GreaterOrEqual,
            Cond::Eq => Relation::Equal,
            Cond::Ne => Relation::NotEqual,
        };
        self.e.asm.compare(flag, relation, a, Source::Register(b));
        self.number_if(flag, hit)
    }

    fn compare_integers(&mut self, signed: bool, hit: u32) -> Result<u8, Refusal> {
        let (a, b) = (self.register(0)?, self.register(1)?);
        match self.e.asm.machine {
            Machine::Avx512 => {
                let flag = self.e.flag()?;
                let predicate = match self.alu.cond {
                    Cond::Eq => 0,
                    Cond::Lt => 1,
                    Cond::Le => 2,
                    Cond::Ne => 4,
                    Cond::Ge => 5,
                    Cond::Gt => 6,
                };
                let form = match signed {
                    true => Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
                    false => Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8,
                };
                self.e.asm.compare_integers(form, flag, a, Source::Register(b), Some(predicate));
                self.number_if(flag, hit)
            }
            Machine::Avx2 => self.compare_narrow(signed, hit, a, b),
        }
    }

    /// AVX2 can only compare signed integers for equal and greater.
    fn compare_narrow(&mut self, signed: bool, hit: u32, mut a: u8, mut b: u8) -> Result<u8, Refusal> {
        let cond = self.alu.cond;
        if !signed && !matches!(cond, Cond::Eq | Cond::Ne) {
            a = self.e.with_constant(Vector::Xor, a, SIGN)?;
            b = self.e.with_constant(Vector::Xor, b, SIGN)?;
        }
        let (equal, greater) = (Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256, Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256);
        let (form, a, b, inverted) = match cond {
            Cond::Eq => (equal, a, b, false),
            Cond::Ne => (equal, a, b, true),
            Cond::Gt => (greater, a, b, false),
            Cond::Le => (greater, a, b, true),
            Cond::Lt => (greater, b, a, false),
            Cond::Ge => (greater, b, a, true),
        };
        let flag = self.e.flag()?;
        self.e.asm.compare_integers(form, flag, a, Source::Register(b), None);
        if inverted {
            let (dst, hit) = (self.e.temporary()?, self.e.asm.constant(hit));
            self.e.asm.two(Vector::AndNot, dst, flag.0, hit);
            return Ok(dst);
        }
        self.number_if(flag, hit)
    }

    fn shift(&mut self, op: Vector) -> Result<u8, Refusal> {
        let (a, b) = (self.register(0)?, self.register(1)?);
        let amount = self.e.with_constant(Vector::And, b, self.alu.width - 1)?;
        self.e.two(op, a, Source::Register(amount))
    }

    /// The low bits of sources 0 and 1, zero- or sign-extended.
    fn narrowed(&mut self, bits: u32, signed: bool) -> Result<[u8; 2], Refusal> {
        let mut both = [self.register(0)?, self.register(1)?];
        for value in &mut both {
            *value = match signed {
                false => self.e.with_constant(Vector::And, *value, u32::MAX >> (32 - bits))?,
                true => self.extended(*value, bits)?,
            };
        }
        Ok(both)
    }

    fn extended(&mut self, value: u8, bits: u32) -> Result<u8, Refusal> {
        let high = self.e.immediate(Vector::ShiftLeftBy, value, 32 - bits)?;
        self.e.immediate(Vector::ShiftRightSignedBy, high, 32 - bits)
    }

    fn product(&mut self, bits: u32, signed: bool) -> Result<u8, Refusal> {
        let [a, b] = self.narrowed(bits, signed)?;
        self.e.two(Vector::MulInteger, a, Source::Register(b))
    }

    fn cat2(&mut self, op: Cat2Op) -> Result<u8, Refusal> {
        match op {
            Cat2Op::AddF => self.two_floats(Vector::Add),
            Cat2Op::MulF => self.two_floats(Vector::Mul),
            Cat2Op::MinF => self.limit(Vector::Min),
            Cat2Op::MaxF => self.limit(Vector::Max),
            Cat2Op::CmpsF => self.compare_floats(1),
            Cat2Op::CmpvF => self.compare_floats(u32::MAX),
            Cat2Op::AbsnegF => {
                let value = self.flushed(0)?;
                self.float(value)
            }
            // Intel's rounding modes, without the exception of an inexact result.
            Cat2Op::FloorF => self.rounded(0b1001),
            Cat2Op::CeilF => self.rounded(0b1010),
            Cat2Op::RndneF => self.rounded(0b1000),
            Cat2Op::TruncF => self.rounded(0b1011),
            Cat2Op::CmpsU => self.compare_integers(false, 1),
            Cat2Op::CmpsS => self.compare_integers(true, 1),
            Cat2Op::CmpvU => self.compare_integers(false, u32::MAX),
            Cat2Op::CmpvS => self.compare_integers(true, u32::MAX),
            _ => self.integers(op),
        }
    }

    fn integers(&mut self, op: Cat2Op) -> Result<u8, Refusal> {
        match op {
            Cat2Op::AddU | Cat2Op::AddS => self.two(Vector::AddInteger),
            Cat2Op::SubU | Cat2Op::SubS => self.two(Vector::SubInteger),
            Cat2Op::MinU => self.two(Vector::MinUnsigned),
            Cat2Op::MinS => self.two(Vector::MinSigned),
            Cat2Op::MaxU => self.two(Vector::MaxUnsigned),
            Cat2Op::MaxS => self.two(Vector::MaxSigned),
            Cat2Op::AndB => self.two(Vector::And),
            Cat2Op::OrB => self.two(Vector::Or),
            Cat2Op::XorB => self.two(Vector::Xor),
            Cat2Op::NotB => {
                let a = self.register(0)?;
                self.e.with_constant(Vector::Xor, a, u32::MAX)
            }
            Cat2Op::AbsnegS => self.copied(),
            Cat2Op::MulU24 => self.product(24, false),
            Cat2Op::MulS24 => self.product(24, true),
            Cat2Op::MullU => self.product(16, false),
            Cat2Op::ShlB => self.shift(Vector::ShiftLeft),
            Cat2Op::ShrB => self.shift(Vector::ShiftRight),
            Cat2Op::AshrB => self.shift(Vector::ShiftRightSigned),
            _ => Err(Refusal::Operation),
        }
    }

    fn copied(&mut self) -> Result<u8, Refusal> {
        let source = self.source(0)?;
        self.e.one(Vector::Load, source)
    }

    fn cat3(&mut self, op: Cat3Op) -> Result<u8, Refusal> {
        let product = match op {
            Cat3Op::MadF16 | Cat3Op::MadF32 => {
                let product = self.two(Vector::Mul)?;
                let c = self.source(2)?;
                let sum = self.e.two(Vector::Add, product, c)?;
                return self.float(sum);
            }
            Cat3Op::SelB16 | Cat3Op::SelB32 => return self.selected(),
            Cat3Op::MadU16 | Cat3Op::MadS16 => self.two(Vector::MulInteger)?,
            Cat3Op::MadU24 => self.product(24, false)?,
            Cat3Op::MadS24 => self.product(24, true)?,
            Cat3Op::MadshM16 => {
                let (a, b) = (self.register(0)?, self.register(1)?);
                let a = self.e.with_constant(Vector::And, a, 0xffff)?;
                let b = self.e.immediate(Vector::ShiftRightBy, b, 16)?;
                let product = self.e.two(Vector::MulInteger, a, Source::Register(b))?;
                self.e.immediate(Vector::ShiftLeftBy, product, 16)?
            }
            _ => return Err(Refusal::Operation),
        };
        let c = self.source(2)?;
        self.e.two(Vector::AddInteger, product, c)
    }

    /// Source 0 where source 1 is nonzero, else source 2.
    fn selected(&mut self) -> Result<u8, Refusal> {
        let b = self.register(1)?;
        let flag = self.e.flag()?;
        match self.e.asm.machine {
            Machine::Avx512 => {
                self.e.asm.test(flag, CommonBits::Some, b, Source::Register(b));
                let (c, a) = (self.register(2)?, self.source(0)?);
                let dst = self.e.temporary()?;
                self.e.asm.select(flag, dst, a, c);
                Ok(dst)
            }
            Machine::Avx2 => {
                let zero = self.e.asm.constant(0);
                let equal = Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256;
                self.e.asm.compare_integers(equal, flag, b, zero, None);
                let (a, c) = (self.register(0)?, self.source(2)?);
                let dst = self.e.temporary()?;
                self.e.asm.select(flag, dst, c, a);
                Ok(dst)
            }
        }
    }

    fn cat4(&mut self, op: Cat4Op) -> Result<u8, Refusal> {
        let a = self.flushed(0)?;
        let value = match op {
            Cat4Op::Rcp => a,
            Cat4Op::Rsq | Cat4Op::Sqrt => self.e.one(Vector::Sqrt, Source::Register(a))?,
            _ => return Err(Refusal::Operation),
        };
        if op == Cat4Op::Sqrt {
            return self.float(value);
        }
        let one = self.e.constant(ONE)?;
        let value = self.e.two(Vector::Div, one, Source::Register(value))?;
        self.float(value)
    }

    fn extra(&mut self, op: Extra) -> Result<u8, Refusal> {
        match op {
            Extra::Copy => self.copied(),
            Extra::Negate => {
                let (zero, a) = (self.e.constant(0)?, self.source(0)?);
                self.e.two(Vector::SubInteger, zero, a)
            }
            Extra::Absolute => {
                let a = self.source(0)?;
                self.e.one(Vector::Absolute, a)
            }
            Extra::AbsoluteNegate => {
                let a = self.source(0)?;
                let (zero, a) = (self.e.constant(0)?, self.e.one(Vector::Absolute, a)?);
                self.e.two(Vector::SubInteger, zero, Source::Register(a))
            }
            Extra::Saturate => self.saturated(),
            Extra::Cut => {
                let a = self.register(0)?;
                self.e.with_constant(Vector::And, a, u32::MAX >> (32 - self.alu.width))
            }
            Extra::Extend => {
                let a = self.register(0)?;
                self.extended(a, self.alu.width)
            }
            Extra::UintToFloat => self.uint_to_float(),
            Extra::SintToFloat => {
                let a = self.source(0)?;
                self.e.one(Vector::SignedToFloat, a)
            }
            Extra::FloatToUint => self.float_to_uint(),
            Extra::FloatToSint => self.float_to_sint(),
            Extra::HalfToFloat => self.half_to_float(),
            Extra::FloatToHalf => self.float_to_half(Round::Even),
        }
    }

    /// The float of the half in the low bits. A signalling NaN stays one.
    fn half_to_float(&mut self) -> Result<u8, Refusal> {
        let half = self.register(0)?;
        let value = self.e.temporary()?;
        self.e.asm.half_to_float(value, half);
        if !self.e.needs_bits(self.node.value) {
            return Ok(value);
        }
        // The processor made a NaN quiet: its first fraction bit is the half's again.
        let fraction = self.e.immediate(Vector::ShiftLeftBy, half, 13)?;
        let fraction = self.e.with_constant(Vector::And, fraction, QUIET)?;
        let rest = self.e.with_constant(Vector::And, value, !QUIET)?;
        let nan = self.e.two(Vector::Or, rest, Source::Register(fraction))?;
        let flag = self.e.flag()?;
        self.e.asm.compare(flag, Relation::Unordered, value, Source::Register(value));
        let dst = self.e.temporary()?;
        self.e.asm.select(flag, dst, Source::Register(nan), value);
        Ok(dst)
    }

    fn float_to_half(&mut self, round: Round) -> Result<u8, Refusal> {
        let (a, dst) = (self.register(0)?, self.e.temporary()?);
        let rounding = match round {
            Round::Even => 0,
            Round::Down => 1,
            Round::Up => 2,
            // f32 to f16 rounds toward zero unless the instruction says otherwise.
            Round::Default => 3,
        };
        self.e.asm.float_to_half(dst, a, rounding);
        Ok(dst)
    }

    /// Clamps to 0..1. NaN and denormals become 0.
    fn saturated(&mut self) -> Result<u8, Refusal> {
        let a = self.flushed(0)?;
        let a = self.e.with_constant(Vector::Max, a, 0)?;
        self.e.with_constant(Vector::Min, a, ONE)
    }

    fn uint_to_float(&mut self) -> Result<u8, Refusal> {
        if self.e.asm.machine == Machine::Avx512 {
            let (a, dst) = (self.source(0)?, self.e.temporary()?);
            self.e.asm.one_of(Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er, dst, a);
            return Ok(dst);
        }
        // Both halves are exact; their sum rounds once.
        let a = self.register(0)?;
        let high = self.e.immediate(Vector::ShiftRightBy, a, 16)?;
        let high = self.e.one(Vector::SignedToFloat, Source::Register(high))?;
        let high = self.e.with_constant(Vector::Mul, high, 65536.0f32.to_bits())?;
        let low = self.e.with_constant(Vector::And, a, 0xffff)?;
        let low = self.e.one(Vector::SignedToFloat, Source::Register(low))?;
        self.e.two(Vector::Add, high, Source::Register(low))
    }

    /// Truncates and saturates. NaN becomes 0.
    fn float_to_uint(&mut self) -> Result<u8, Refusal> {
        const TWO_31: f32 = 2_147_483_648.0;
        let a = self.register(0)?;
        let a = self.e.with_constant(Vector::Max, a, 0)?;
        if self.e.asm.machine == Machine::Avx512 {
            // A value that is too large becomes all ones.
            let dst = self.e.temporary()?;
            self.e.asm.one_of(Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae, dst, Source::Register(a));
            return Ok(dst);
        }
        let flag = self.e.flag()?;
        let half = self.e.asm.constant(TWO_31.to_bits());
        self.e.asm.compare(flag, Relation::GreaterOrEqual, a, half);
        let less = self.number_if(flag, TWO_31.to_bits())?;
        let rest = self.e.two(Vector::Sub, a, Source::Register(less))?;
        let rest = self.e.one(Vector::FloatToSigned, Source::Register(rest))?;
        let high = self.number_if(flag, SIGN)?;
        let whole = self.e.two(Vector::Xor, rest, Source::Register(high))?;
        let all = self.e.asm.constant((2.0 * TWO_31).to_bits());
        self.e.asm.compare(flag, Relation::GreaterOrEqual, a, all);
        let (dst, ones) = (self.e.temporary()?, self.e.asm.constant(u32::MAX));
        self.e.asm.select(flag, dst, ones, whole);
        Ok(dst)
    }

    /// Truncates and saturates. NaN becomes 0.
    fn float_to_sint(&mut self) -> Result<u8, Refusal> {
        let a = self.register(0)?;
        let whole = self.e.one(Vector::FloatToSigned, Source::Register(a))?;
        let flag = self.e.flag()?;
        // A value that is too small becomes the minimum anyway.
        let limit = self.e.asm.constant(2_147_483_648.0f32.to_bits());
        self.e.asm.compare(flag, Relation::GreaterOrEqual, a, limit);
        let (high, most) = (self.e.temporary()?, self.e.asm.constant(i32::MAX as u32));
        self.e.asm.select(flag, high, most, whole);
        self.e.asm.compare(flag, Relation::Equal, a, Source::Register(a));
        let dst = self.e.temporary()?;
        self.e.asm.keep(flag, dst, Source::Register(high));
        Ok(dst)
    }
}
