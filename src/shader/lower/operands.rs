//! Lowering of registers, constants and immediates to rows.
use a4emu_decoder::adreno::ir3::convert::convert;
use a4emu_decoder::adreno::ir3::{Cat2Op, FLUT, Operand, Reg, Round, Src, Type};

use super::Lowerer;
use crate::alu::Row;
use crate::builder;
use crate::effect::{Effect, File, Gather};
use crate::extra::Extra;
use crate::lowered::Uniform;
use crate::ops::Few;
use crate::rowmap::{ADDRESS, FULL, HALF, PREDICATES, REGISTERS, SHARED, SHARED_COUNT, SINK, ZERO};
use crate::rows::AluOp;

/// Type of the sources of an operation. It defines widening and modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Floats; neg and abs act on the sign bit.
    Float,
    /// Zero-extended integers; neg is two's complement.
    Uint,
    /// Sign-extended integers.
    Sint,
    /// Bits; neg is NOT.
    Bits,
}

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bank {
    /// 32-bit registers.
    Full,
    /// 16-bit registers.
    Half,
}

impl Bank {
    /// The half registers if `half`.
    pub fn of(half: bool) -> Self {
        if half { Self::Half } else { Self::Full }
    }

    /// Row of register 0.
    pub fn base(self) -> Row {
        match self {
            Self::Full => FULL,
            Self::Half => HALF,
        }
    }

    /// Row of register `reg`, if it is one.
    fn row(self, reg: Reg) -> Option<Row> {
        match reg {
            Reg(id) if Row::from(id) < REGISTERS => Some(self.base() + Row::from(id)),
            Reg::A0 => Some(ADDRESS),
            _ if reg.is_predicate() => Some(PREDICATES + Row::from(reg.component())),
            _ => None,
        }
    }

    /// Row that a source register is read from. A register that does not exist reads 0.
    pub fn source(self, reg: Reg) -> Row {
        self.row(reg).unwrap_or(ZERO)
    }

    /// Rows of `count` source registers from `first` on.
    pub fn sources(self, first: Reg, count: u8) -> Few<Row> {
        let rows: [Row; 4] = std::array::from_fn(|n| self.source(step(first, n as u8)));
        Few::new(&rows[..count.into()])
    }

    /// Row that a destination register is written to. A write to a register that does not exist is lost.
    pub fn destination(self, reg: Reg) -> Row {
        self.row(reg).unwrap_or(SINK)
    }
}

/// The register `steps` after `reg`.
pub fn step(reg: Reg, steps: u8) -> Reg {
    Reg(reg.0.saturating_add(steps))
}

impl Lowerer {
    /// The row of a register that all lanes share, from A6xx on. Half ones are not supported: they fault when the
    /// instruction is reached.
    fn shared(&mut self, bank: Bank, reg: Reg) -> Option<Row> {
        let number = Row::from(reg.0.checked_sub(Reg::SHARED.0)?);
        if number >= SHARED_COUNT || !self.isa.has_shared() {
            return None;
        }
        if bank == Bank::Half {
            self.builder.effect(Effect::Unsupported("a half of a shared register"));
        }
        Some(SHARED + number)
    }

    /// The row that a source register of an ALU operation is read from.
    pub fn source_row(&mut self, bank: Bank, reg: Reg) -> Row {
        self.shared(bank, reg).unwrap_or_else(|| bank.source(reg))
    }

    /// The row that a destination register of an ALU operation is written to. [`Self::broadcast`] has to follow the write.
    pub fn destination_row(&mut self, bank: Bank, reg: Reg) -> Row {
        self.shared(bank, reg).unwrap_or_else(|| bank.destination(reg))
    }

    /// Gives all lanes the value of `row`, if it is a register that they share.
    pub fn broadcast(&mut self, row: Row) {
        if (SHARED..SHARED + SHARED_COUNT).contains(&row) {
            self.builder.effect(Effect::Broadcast { row });
        }
    }

    /// A source in 32-bit form with modifiers applied, in repetition `repetition`.
    pub fn source(
        &mut self,
        operand: &Operand,
        numbers: Numbers,
        bank: Bank,
        repetition: u8,
    ) -> builder::Operand {
        let raw = self.raw(operand, numbers, bank, repetition);
        let wide = self.widen(raw, numbers, bank);
        self.modified(operand, wide, numbers, bank)
    }

    /// The row that holds the source's bits.
    pub fn raw(&mut self, operand: &Operand, numbers: Numbers, bank: Bank, repetition: u8) -> Row {
        let steps = if operand.step { repetition } else { 0 };
        let forward = i32::from(steps);
        match operand.src {
            Src::Gpr(reg) => self.source_row(bank, step(reg, steps)),
            Src::Const(index) => self.constant(index.wrapping_add(steps.into()), numbers, bank),
            Src::RelativeGpr(offset) => {
                self.gather(File::Registers(bank.base()), i32::from(offset) + forward)
            }
            Src::RelativeConst(offset) => {
                let row = self.gather(File::Constants, i32::from(offset) + forward);
                self.narrow_in_place(row, numbers, bank)
            }
            Src::Immediate(value) => {
                let bits = (i32::from(value) + forward) as u32;
                self.builder.uniform(Uniform::Bits(if bank == Bank::Half { bits & 0xffff } else { bits }))
            }
            Src::Flut { index, .. } => self.float_immediate(FLUT[index as usize % FLUT.len()], bank),
        }
    }

    /// A constant. For half sources it is converted (floats) or cut to its low bits.
    fn constant(&mut self, index: u16, numbers: Numbers, bank: Bank) -> Row {
        self.builder.uniform(match (bank, numbers) {
            (Bank::Full, _) => Uniform::Constant(index),
            (Bank::Half, Numbers::Float) => Uniform::HalfFloat(index),
            (Bank::Half, Numbers::Uint | Numbers::Sint | Numbers::Bits) => Uniform::HalfInteger(index),
        })
    }

    fn float_immediate(&mut self, bits: u32, bank: Bank) -> Row {
        self.builder.uniform(Uniform::Bits(match bank {
            Bank::Full => bits,
            Bank::Half => convert(bits, Type::F32, Type::F16, Round::Even),
        }))
    }

    /// A temporary with the register or constant at a0.x + `offset`.
    fn gather(&mut self, file: File, offset: i32) -> Row {
        let dst = self.temporaries(1);
        self.builder.effect(Effect::Gather(Gather { dst, file, offset }));
        dst
    }

    /// Converts the 32 bits in the temporary `row` to the value of a half source.
    fn narrow_in_place(&mut self, row: Row, numbers: Numbers, bank: Bank) -> Row {
        match (bank, numbers) {
            (Bank::Full, _) => {}
            (Bank::Half, Numbers::Float) => self.builder.alu(Extra::FloatToHalf, row, &[row.into()]),
            (Bank::Half, _) => self.cut(row, row),
        }
        row
    }

    /// Stores the low 16 bits of `src` to `dst`.
    pub fn cut(&mut self, dst: Row, src: Row) {
        self.builder.alu_narrow(Extra::Cut, dst, src, 16);
    }

    /// The row with the 32-bit form of the value in `row`.
    pub fn widen(&mut self, row: Row, numbers: Numbers, bank: Bank) -> Row {
        let op = match (bank, numbers) {
            (Bank::Full, _) | (Bank::Half, Numbers::Uint | Numbers::Bits) => return row,
            (Bank::Half, Numbers::Float) => Extra::HalfToFloat,
            (Bank::Half, Numbers::Sint) => Extra::Extend,
        };
        let wide = self.temporaries(1);
        self.builder.alu_narrow(op, wide, row, 16);
        wide
    }

    /// Applies (neg) and (abs). For floats these are masks of the sign bit; for integers and bits, separate
    /// operations.
    fn modified(&mut self, operand: &Operand, row: Row, numbers: Numbers, bank: Bank) -> builder::Operand {
        let sign = 1 << 31;
        let op = match (numbers, operand.abs, operand.neg) {
            (Numbers::Float, abs, neg) => {
                let and = if abs { !sign } else { u32::MAX };
                return builder::Operand { row, and, xor: if neg { sign } else { 0 } };
            }
            (_, false, false) | (Numbers::Bits, true, false) => return row.into(),
            (Numbers::Bits, _, true) => AluOp::from(Cat2Op::NotB),
            (_, false, true) => Extra::Negate.into(),
            (_, true, false) => Extra::Absolute.into(),
            (_, true, true) => Extra::AbsoluteNegate.into(),
        };
        let dst = self.temporaries(1);
        self.builder.alu(op, dst, &[row.into()]);
        if bank == Bank::Half {
            self.trim(dst, numbers);
        }
        dst.into()
    }

    /// Brings the 32-bit value in `row` back to the range of a half source.
    fn trim(&mut self, row: Row, numbers: Numbers) {
        match numbers {
            Numbers::Sint => self.builder.alu_narrow(Extra::Extend, row, row, 16),
            Numbers::Uint | Numbers::Bits | Numbers::Float => self.cut(row, row),
        }
    }
}
