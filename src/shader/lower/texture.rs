//! Lowering of category 5.
use a4emu_decoder::adreno::ir3::{BindlessIndex, Cat5, Cat5Op, Cat5Slots, Reg};
use a4emu_decoder::guesses::Guess;

use super::Lowerer;
use super::memory::{destination, number, precision};
use super::operands::{Bank, Numbers, step};
use crate::alu::Row;
use crate::doubt::When;
use crate::effect::{Axis, Effect, Exchange, QuadLane};
use crate::extra::Extra;
use crate::lowered::{BindlessKind, BindlessSlot};
use crate::ops::{Destination, Few, Lod, Op, Precision, Query, Question, Sample, SampleKind, Slots};

/// Use of the last value of the second source.
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
            Cat5Op::Getsize => self.query(instr, Question::Size),
            Cat5Op::Getbuf => self.query(instr, |_| Question::Buffer),
            Cat5Op::Getinfo => self.query(instr, |_| Question::Info),
            Cat5Op::Getpos => self.query(instr, Question::SamplePosition),
            Cat5Op::Rgetinfo => self.query(instr, |_| Question::RenderTargetInfo),
            Cat5Op::Rgetpos => self.query(instr, Question::RenderTargetPosition),
            Cat5Op::Dsx => self.derivatives(instr, Axis::X),
            Cat5Op::Dsy => self.derivatives(instr, Axis::Y),
            Cat5Op::Dsxpp1 => self.derivatives(instr, Axis::FineX),
            Cat5Op::Dsypp1 => self.derivatives(instr, Axis::FineY),
            Cat5Op::BrcstActive => {
                let size = 2 << instr.cluster;
                self.exchange(instr, |dst, src, _| Exchange::Cluster { size, dst, src });
            }
            Cat5Op::QuadShuffleBrcst => self.quad(instr, QuadLane::Named),
            Cat5Op::QuadShuffleHoriz => self.quad(instr, |_| QuadLane::Across(1)),
            Cat5Op::QuadShuffleVert => self.quad(instr, |_| QuadLane::Across(2)),
            Cat5Op::QuadShuffleDiag => self.quad(instr, |_| QuadLane::Across(3)),
            Cat5Op::Conv
            | Cat5Op::Convm
            | Cat5Op::Samgp0
            | Cat5Op::Samgp1
            | Cat5Op::Samgp2
            | Cat5Op::Samgp3
            | Cat5Op::Tcinv => {
                self.builder.effect(Effect::Unsupported(instr.op.name()));
            }
        }
    }

    fn sample(&mut self, instr: &Cat5, kind: SampleKind, level: Level) {
        let Some(slots) = self.slots(instr) else {
            return self.builder.effect(Effect::Unsupported(instr.op.name()));
        };
        let numbers = if kind == SampleKind::Fetch { Numbers::Sint } else { Numbers::Float };
        let dimensions = if instr.three_d { 3 } else { 2 };
        let mut next = instr.src1;
        let mut take = |this: &mut Self, count: u8| {
            let taken = this.vector(instr, next, count, numbers);
            next = step(next, count);
            taken
        };
        let coords = take(self, dimensions);
        let flags = [instr.shadow, instr.array, instr.projective, instr.op == Cat5Op::Isamm];
        let [reference, layer, projector, sample] = flags.map(|present| present.then(|| take(self, 1)[0]));
        let named = dimensions + flags.map(u8::from).iter().sum::<u8>();
        let gradients = step(instr.src1, named.max(4));
        let (offsets, lod) = self.second(instr, level, numbers, dimensions, gradients);
        let destination = tex_result(instr);
        let sample = Sample {
            kind,
            lod,
            number: number(instr.ty),
            components: destination.components,
            slots,
            coords,
            layer,
            reference,
            projector,
            offsets,
            sample,
        };
        self.ask(Op::Sample(sample), destination);
    }

    /// Offsets and level of detail from the second source. Gradients begin at `gradients`.
    fn second(
        &mut self,
        instr: &Cat5,
        level: Level,
        numbers: Numbers,
        dimensions: u8,
        gradients: Reg,
    ) -> (Option<Few<Row>>, Lod<Row>) {
        let offsets = instr.offsets.then(|| self.vector(instr, instr.src2, dimensions, Numbers::Sint));
        let last = step(instr.src2, if instr.offsets { dimensions } else { 0 });
        let lod = match level {
            Level::Implicit => Lod::Implicit,
            Level::Zero => Lod::Zero,
            Level::Bias => Lod::Bias(self.vector(instr, last, 1, numbers)[0]),
            Level::Explicit => Lod::Explicit(self.vector(instr, last, 1, numbers)[0]),
            Level::Integer => Lod::Level(self.vector(instr, last, 1, numbers)[0]),
            Level::Gradients => {
                let [x, y] = [gradients, step(gradients, dimensions)]
                    .map(|first| self.vector(instr, first, dimensions, numbers).three());
                Lod::Gradients(x, y)
            }
        };
        (offsets, lod)
    }

    /// Rows of `count` source registers from `first` on, in 32-bit form.
    fn vector(&mut self, instr: &Cat5, first: Reg, count: u8, numbers: Numbers) -> Few<Row> {
        if !instr.half {
            return Bank::Full.sources(first, count);
        }
        let wide = self.temporaries(count.into());
        let op = if numbers == Numbers::Float { Extra::HalfToFloat } else { Extra::Extend };
        for n in 0..count {
            self.builder.alu_narrow(op, wide + Row::from(n), Bank::Half.source(step(first, n)), 16);
        }
        Few::rows(wide, count)
    }

    fn query(&mut self, instr: &Cat5, question: fn(Row) -> Question<Row>) {
        let Some(slots) = self.slots(instr) else {
            return self.builder.effect(Effect::Unsupported(instr.op.name()));
        };
        let operand = self.vector(instr, instr.src1, 1, Numbers::Sint)[0];
        let query = Query { question: question(operand), number: number(instr.ty), slots };
        self.ask(Op::Query(query), tex_result(instr));
    }

    /// The slots of the instruction. `None` if they are in an a1.x whose value is not known here.
    fn slots(&mut self, instr: &Cat5) -> Option<Slots<Row>> {
        Some(match instr.slots {
            Cat5Slots::Immediate { sampler, texture } => {
                Slots::Uniform { sampler: sampler.into(), texture: texture.into() }
            }
            Cat5Slots::Indirect { reg, .. } => {
                let [texture, sampler] = [0, 1].map(|n| Bank::Half.source(step(reg, n)));
                Slots::PerLane { sampler, texture }
            }
            Cat5Slots::Bindless { base, a1, index } => {
                // a1.x has the base of the sampler in its bits 2:0, and a texture that is not in a register above them.
                let (sampler_base, above) = match a1 {
                    true => self.a1.map(|a1| ((a1 & 7) as u8, Some(a1 >> 3 & 0xff)))?,
                    false => (base, None),
                };
                let (sampler, texture) = match index {
                    BindlessIndex::Immediate { sampler, texture } => (sampler, texture),
                    BindlessIndex::Register { reg, .. } => {
                        let [texture, sampler] = [0, 1].map(|n| Bank::Full.source(step(reg, n)));
                        return Some(Slots::Bindless { bases: [sampler_base, base], sampler, texture });
                    }
                };
                let texture = above.unwrap_or(texture.into());
                let sampler = self.bindless(BindlessKind::Sampler, sampler_base, sampler.into());
                let texture = self.bindless(BindlessKind::Texture, base, texture);
                Slots::Uniform { sampler, texture }
            }
        })
    }

    /// The slot of a descriptor at a bindless base.
    fn bindless(&mut self, kind: BindlessKind, base: u8, descriptor: u32) -> u32 {
        let slot = BindlessSlot { kind, base, descriptor };
        if !self.bindless.contains(&slot) {
            self.bindless.push(slot);
        }
        let of_kind = self.bindless.iter().filter(|known| known.kind == kind);
        let position = of_kind.take_while(|known| **known != slot).count();
        BindlessSlot::FIRST + position as u32
    }

    /// Adds a copy between lanes per written component. `of` has the destination, the values and the second source.
    fn exchange(&mut self, instr: &Cat5, of: impl Fn(Row, Row, Row) -> Exchange) {
        let result = tex_result(instr);
        let from = Bank::of(instr.half);
        // The registers may overlap.
        let values = self.temporaries(4);
        for (row, n) in result.rows() {
            let (value, src) = (values + n as Row, from.source(step(instr.src1, n as u8)));
            // Lanes that take no value keep what they have.
            self.builder.alu(Extra::Copy, value, &[row.into()]);
            self.builder.effect(Effect::Exchange(of(value, src, from.source(instr.src2))));
        }
        for (row, n) in result.rows() {
            self.builder.alu(Extra::Copy, row, &[(values + n as Row).into()]);
        }
    }

    fn quad(&mut self, instr: &Cat5, lane: impl Fn(Row) -> QuadLane) {
        self.builder.doubt(When::Always(Guess::WaveOutside));
        self.exchange(instr, |dst, src, by| Exchange::Quad { lane: lane(by), dst, src });
    }

    /// Adds one derivative per written component. Results go through temporaries, as the registers may
    /// overlap.
    fn derivatives(&mut self, instr: &Cat5, axis: Axis) {
        let result = tex_result(instr);
        let values = self.temporaries(4);
        for (_, n) in result.rows() {
            let src = self.vector(instr, step(instr.src1, n as u8), 1, Numbers::Float)[0];
            self.builder.effect(Effect::Derivative { axis, dst: values + n as Row, src });
        }
        let op = match result.precision {
            Precision::Full => Extra::Copy,
            Precision::HalfFloat | Precision::HalfInteger => Extra::FloatToHalf,
        };
        for (row, n) in result.rows() {
            self.builder.alu(op, row, &[(values + n as Row).into()]);
        }
    }
}

/// The destination of the result.
fn tex_result(instr: &Cat5) -> Destination {
    destination(Bank::of(instr.ty.is_half()), instr.dst, instr.wrmask, precision(instr.ty))
}
