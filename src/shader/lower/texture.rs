//! Category 5.
use a4emu_decoder::isa::ir3::{Cat5, Cat5Op, Cat5Slots, Reg};

use super::Lowerer;
use super::memory::number;
use super::operands::{Bank, Numbers, step};
use crate::shader::alu::Row;
use crate::shader::effect::{
    Axis, Effect, LodRows, Precision, Query, QueryKind, Sample, SlotRows, TexResult,
};
use crate::shader::environment::Number;
use crate::shader::extra::Extra;
use crate::shader::rowmap::REGISTERS;
use crate::shader::sample::SampleKind;

/// What is done with the second source's last value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Implicit,
    Bias,
    Explicit,
    Integer,
    Gradients,
    Zero,
}

impl Lowerer {
    pub(super) fn cat5(&mut self, instr: &Cat5) {
        use SampleKind::{Fetch, Filter, Gather, QueryLod};
        match instr.op {
            Cat5Op::Isam => self.sample(instr, Fetch, Level::Zero),
            Cat5Op::Isaml => self.sample(instr, Fetch, Level::Integer),
            Cat5Op::Isamm => self.sample(instr, Fetch, Level::Zero),
            Cat5Op::Sam => self.sample(instr, Filter, Level::Implicit),
            Cat5Op::Samb => self.sample(instr, Filter, Level::Bias),
            Cat5Op::Saml => self.sample(instr, Filter, Level::Explicit),
            Cat5Op::Samgq => self.sample(instr, Filter, Level::Gradients),
            Cat5Op::Getlod => self.sample(instr, QueryLod, Level::Implicit),
            Cat5Op::Gather4r => self.sample(instr, Gather(0), Level::Zero),
            Cat5Op::Gather4g => self.sample(instr, Gather(1), Level::Zero),
            Cat5Op::Gather4b => self.sample(instr, Gather(2), Level::Zero),
            Cat5Op::Gather4a => self.sample(instr, Gather(3), Level::Zero),
            Cat5Op::Getsize => self.query(instr, QueryKind::Size),
            Cat5Op::Getbuf => self.query(instr, QueryKind::Buffer),
            Cat5Op::Getinfo => self.query(instr, QueryKind::Info),
            Cat5Op::Getpos => self.query(instr, QueryKind::SamplePosition),
            Cat5Op::Rgetinfo => self.query(instr, QueryKind::RenderTargetInfo),
            Cat5Op::Rgetpos => self.query(instr, QueryKind::RenderTargetPosition),
            Cat5Op::Dsx => self.derivatives(instr, Axis::X),
            Cat5Op::Dsy => self.derivatives(instr, Axis::Y),
            Cat5Op::Dsxpp1 => self.derivatives(instr, Axis::FineX),
            Cat5Op::Dsypp1 => self.derivatives(instr, Axis::FineY),
            Cat5Op::Conv
            | Cat5Op::Convm
            | Cat5Op::Samgp0
            | Cat5Op::Samgp1
            | Cat5Op::Samgp2
            | Cat5Op::Samgp3 => {
                self.builder.effect(Effect::Unsupported(instr.op.name()));
            }
        }
    }

    fn sample(&mut self, instr: &Cat5, kind: SampleKind, level: Level) {
        let numbers = if kind == SampleKind::Fetch { Numbers::Sint } else { Numbers::Float };
        let dimensions = if instr.three_d { 3 } else { 2 };
        let flags = [instr.shadow, instr.array, instr.projective, instr.op == Cat5Op::Isamm];
        let extra = flags.map(u8::from);
        let named = dimensions + extra.iter().sum::<u8>();
        let gradients = if level == Level::Gradients { named.max(4) } else { named };
        let total = gradients + if level == Level::Gradients { 2 * dimensions } else { 0 };
        let first = self.vector(instr, instr.src1, total, numbers);
        let mut next = first + Row::from(dimensions);
        let [reference, layer, projector, sample] = flags.map(|present| {
            let row = present.then_some(next);
            next += Row::from(present);
            row
        });
        let (offsets, lod) = self.second(instr, level, numbers, dimensions, first + Row::from(gradients));
        let (slots, result) = (self.slots(instr), self.tex_result(instr));
        self.builder.effect(Effect::Sample(Box::new(Sample {
            kind,
            lod,
            number: number(instr.ty),
            slots,
            coords: first,
            dimensions,
            layer,
            reference,
            projector,
            offsets,
            sample,
            result,
        })));
    }

    /// Offsets and level from the second source; gradients begin at `gradients`.
    fn second(
        &mut self,
        instr: &Cat5,
        level: Level,
        numbers: Numbers,
        dimensions: u8,
        gradients: Row,
    ) -> (Option<Row>, LodRows) {
        let offsets = instr.offsets.then(|| self.vector(instr, instr.src2, dimensions, Numbers::Sint));
        let last = step(instr.src2, if instr.offsets { dimensions } else { 0 });
        let lod = match level {
            Level::Implicit => LodRows::Implicit,
            Level::Zero => LodRows::Zero,
            Level::Bias => LodRows::Bias(self.vector(instr, last, 1, numbers)),
            Level::Explicit => LodRows::Explicit(self.vector(instr, last, 1, numbers)),
            Level::Integer => LodRows::Level(self.vector(instr, last, 1, numbers)),
            Level::Gradients => LodRows::Gradients(gradients, gradients + Row::from(dimensions)),
        };
        (offsets, lod)
    }

    /// Rows with `count` source registers from `first`, in their 32-bit form.
    fn vector(&mut self, instr: &Cat5, first: Reg, count: u8, numbers: Numbers) -> Row {
        if !instr.half {
            return self.registers(Bank::Full, first, count);
        }
        let wide = self.temporaries(count.into());
        let op = if numbers == Numbers::Float { Extra::HalfToFloat } else { Extra::Extend };
        for n in 0..count {
            self.builder.alu_narrow(op, wide + Row::from(n), Bank::Half.source(step(first, n)), 16);
        }
        wide
    }

    fn slots(&mut self, instr: &Cat5) -> SlotRows {
        match instr.slots {
            Cat5Slots::Immediate { sampler, texture } => {
                SlotRows::Fixed { sampler: sampler.into(), texture: texture.into() }
            }
            Cat5Slots::Indirect { reg, .. } => {
                let [sampler, texture] = [0, 1].map(|n| Bank::Half.source(step(reg, n)));
                SlotRows::Rows { sampler, texture }
            }
        }
    }

    /// Where the result goes: components that would fall behind the last
    /// register are lost.
    fn tex_result(&mut self, instr: &Cat5) -> TexResult {
        let half = instr.ty.is_half();
        let room = REGISTERS.saturating_sub(instr.dst.0.into()).min(4);
        let components = instr.wrmask & ((1u8 << room) - 1);
        let precision = match (half, number(instr.ty)) {
            (false, _) => Precision::Full,
            (true, Number::Float) => Precision::HalfFloat,
            (true, Number::Uint | Number::Sint) => Precision::HalfInteger,
        };
        TexResult { dst: Bank::of(half).base().saturating_add(instr.dst.0.into()), components, precision }
    }

    fn query(&mut self, instr: &Cat5, kind: QueryKind) {
        let operand = self.vector(instr, instr.src1, 1, Numbers::Sint);
        let (slots, result) = (self.slots(instr), self.tex_result(instr));
        self.builder.effect(Effect::Query(Query { kind, operand, number: number(instr.ty), slots, result }));
    }

    /// One derivative per component written; results wait in temporaries, for
    /// the registers may overlap.
    fn derivatives(&mut self, instr: &Cat5, axis: Axis) {
        let result = self.tex_result(instr);
        let values = self.temporaries(4);
        let written = || (0..4u8).filter(move |n| result.components >> n & 1 != 0);
        for n in written() {
            let src = self.vector(instr, step(instr.src1, n), 1, Numbers::Float);
            self.builder.effect(Effect::Derivative { axis, dst: values + Row::from(n), src });
        }
        let op = match result.precision {
            Precision::Full => Extra::Copy,
            Precision::HalfFloat | Precision::HalfInteger => Extra::FloatToHalf,
        };
        for n in written().map(Row::from) {
            self.builder.alu(op, result.dst + n, &[(values + n).into()]);
        }
    }
}
