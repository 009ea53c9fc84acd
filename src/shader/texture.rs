//! Texture operations: from rows to requests and back.
use super::alu::Row;
use super::effect::{LodRows, Precision, Query, QueryKind, Sample, SlotRows, TexResult};
use super::environment::Environment;
use super::extra;
use super::lanes::{Lanes, Mask};
use super::sample::{self, Lod, QueryRequest, Slots, TexRequest};
use super::warp::Warp;

impl Warp {
    pub(super) fn sample(&mut self, sample: &Sample, mask: Mask, environment: &mut impl Environment) {
        let count = sample.dimensions as usize;
        let coords = self.three(sample.coords, sample.dimensions);
        let offsets = sample.offsets.map(|first| self.three(first, sample.dimensions));
        let row = |row: Row| self.row(row);
        let request = TexRequest {
            kind: sample.kind,
            lod: self.lod(sample),
            number: sample.number,
            components: sample.result.components,
            mask,
            slots: self.slots(&sample.slots),
            coords: &coords[..count],
            layer: sample.layer.map(row),
            reference: sample.reference.map(row),
            projector: sample.projector.map(row),
            offsets: offsets.as_ref().map(|offsets| &offsets[..count]),
            sample: sample.sample.map(row),
        };
        let mut out = [Lanes::ZERO; 4];
        environment.sample(&request, &mut out);
        self.put(sample.result, &out, mask);
    }

    pub(super) fn query(&mut self, query: &Query, mask: Mask, environment: &mut impl Environment) {
        let operand = self.row(query.operand);
        let question = match query.kind {
            QueryKind::Size => sample::Query::Size(operand),
            QueryKind::Buffer => sample::Query::Buffer,
            QueryKind::Info => sample::Query::Info,
            QueryKind::SamplePosition => sample::Query::SamplePosition(operand),
            QueryKind::RenderTargetInfo => sample::Query::RenderTargetInfo,
            QueryKind::RenderTargetPosition => sample::Query::RenderTargetPosition(operand),
        };
        let slots = self.slots(&query.slots);
        let mut out = [Lanes::ZERO; 4];
        environment.query(&QueryRequest { query: question, number: query.number, mask, slots }, &mut out);
        self.put(query.result, &out, mask);
    }

    /// `count` rows from `first`; the rest of the three repeat the last.
    fn three(&self, first: Row, count: u8) -> [&Lanes; 3] {
        std::array::from_fn(|axis| self.row(first + (axis as Row).min(Row::from(count) - 1)))
    }

    fn lod(&self, sample: &Sample) -> Lod<'_> {
        match sample.lod {
            LodRows::Implicit => Lod::Implicit,
            LodRows::Bias(row) => Lod::Bias(self.row(row)),
            LodRows::Explicit(row) => Lod::Explicit(self.row(row)),
            LodRows::Level(row) => Lod::Level(self.row(row)),
            LodRows::Gradients(x, y) => {
                Lod::Gradients(self.three(x, sample.dimensions), self.three(y, sample.dimensions))
            }
            LodRows::Zero => Lod::Zero,
        }
    }

    fn slots(&self, slots: &SlotRows) -> Slots<'_> {
        match *slots {
            SlotRows::Fixed { sampler, texture } => Slots::Uniform { sampler, texture },
            SlotRows::Rows { sampler, texture } => {
                Slots::PerLane { sampler: self.row(sampler), texture: self.row(texture) }
            }
        }
    }

    /// Writes the components that the instruction asks for.
    fn put(&mut self, result: TexResult, out: &[Lanes; 4], mask: Mask) {
        for (component, value) in (0..).zip(out) {
            if result.components >> component & 1 == 0 {
                continue;
            }
            let row = result.dst + component;
            match result.precision {
                Precision::Full => self.write(row, value, mask),
                Precision::HalfFloat => self.write(row, &Lanes(value.map(extra::to_half)), mask),
                Precision::HalfInteger => self.write(row, &Lanes(value.map(|bits| bits & 0xffff)), mask),
            }
        }
    }
}
