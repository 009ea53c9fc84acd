//! Which rows effects read and write: what the clearing of registers is based on.
use hashbrown::HashSet;

use super::alu::{Alu, Row};
use super::effect::{
    Access, Atomic, Condition, Effect, File, Image, LodRows, Query, Region, Sample, SlotRows, Test, TexResult,
};
use super::program::Step;
use super::rowmap::{ADDRESS, REGISTERS, ZERO};

/// Register rows that a program touches and that are not surely written, in
/// every lane, before they are read: those must be cleared for each warp.
pub(super) fn cleared_rows(alus: &[Alu], steps: &[Step]) -> Vec<Row> {
    let mut rows = Rows { sure: HashSet::new(), touched: vec![false; ZERO as usize], straight: true };
    for step in steps {
        for alu in &alus[step.first as usize..step.end as usize] {
            rows.visit(&alu.src, &[alu.dst]);
        }
        let (reads, writes) = step.effect.rows();
        rows.visit(&reads, &writes);
        rows.straight &= step.effect.falls_through();
    }
    let touched = (0..ZERO).filter(|&row| rows.touched[row as usize]);
    touched.filter(|row| !rows.sure.contains(row)).collect()
}

struct Rows {
    sure: HashSet<Row>,
    touched: Vec<bool>,
    straight: bool,
}

impl Rows {
    fn visit(&mut self, reads: &[Row], writes: &[Row]) {
        for &row in writes {
            let fresh = self.touched.get(row as usize) == Some(&false) && !reads.contains(&row);
            if self.straight && fresh {
                self.sure.insert(row);
            }
        }
        for &row in reads.iter().chain(writes) {
            if let Some(touched) = self.touched.get_mut(row as usize) {
                *touched = true;
            }
        }
    }
}

/// `count` rows from `first`.
fn span(first: Row, count: u8) -> Vec<Row> {
    (first..first.saturating_add(Row::from(count))).collect()
}

/// The whole register file that begins with `base`.
fn file(base: Row) -> Vec<Row> {
    (base..base + REGISTERS).collect()
}

impl Effect {
    /// Whether the next step surely runs next, with the same lanes.
    fn falls_through(&self) -> bool {
        !matches!(
            self,
            Self::Branch(_)
                | Self::Call { .. }
                | Self::Return
                | Self::Region(_)
                | Self::End
                | Self::LeftProgram
        )
    }

    /// Rows read and rows written.
    pub(super) fn rows(&self) -> (Vec<Row>, Vec<Row>) {
        match self {
            Self::Continue | Self::End | Self::Barrier | Self::Return | Self::Call { .. } => {
                Default::default()
            }
            Self::LeftProgram | Self::Invalid | Self::Unsupported(_) => Default::default(),
            Self::Branch(branch) => (branch.condition.rows(), vec![]),
            Self::Kill(condition) => (condition.rows(), vec![]),
            Self::Region(Region::Begin(test) | Region::Again(test)) => (vec![test.row], vec![]),
            Self::Region(Region::End) => Default::default(),
            Self::Gather(gather) => match gather.file {
                File::Registers(base) => ([vec![ADDRESS], file(base)].concat(), vec![gather.dst]),
                File::Constants => (vec![ADDRESS], vec![gather.dst]),
            },
            Self::Scatter { base, src, .. } => ([vec![ADDRESS, *src], file(*base)].concat(), vec![]),
            Self::Derivative { dst, src, .. } => (vec![*src], vec![*dst]),
            Self::Load(access) => (vec![access.address], access.data()),
            Self::Store(access) => ([access.data(), vec![access.address]].concat(), vec![]),
            Self::ImageLoad(image) => (image.operands(), image.data()),
            Self::ImageStore(image) => ([image.operands(), image.data()].concat(), vec![]),
            Self::ImageSize { dst, slot } => (vec![*slot], span(*dst, 3)),
            Self::Atomic(atomic) => (atomic.operands(), vec![atomic.dst]),
            Self::Sample(sample) => (sample.operands(), sample.result.rows()),
            Self::Query(query) => (query.operands(), query.result.rows()),
            Self::Varying { dst, location, ij } => (vec![*location, ij[0], ij[1]], vec![*dst]),
            Self::FlatVarying { dst, components, .. } => (vec![], span(*dst, *components)),
        }
    }
}

impl Condition {
    fn rows(&self) -> Vec<Row> {
        match self {
            Self::Always => vec![],
            Self::If(Test { row, .. }) => vec![*row],
            Self::Both(a, b) | Self::Either(a, b) => vec![a.row, b.row],
        }
    }
}

impl Access {
    fn data(&self) -> Vec<Row> {
        span(self.data, self.components)
    }
}

impl Image {
    fn data(&self) -> Vec<Row> {
        span(self.data, self.components)
    }

    fn operands(&self) -> Vec<Row> {
        [vec![self.slot, self.address], span(self.position, self.dimensions.min(3))].concat()
    }
}

impl Atomic {
    fn operands(&self) -> Vec<Row> {
        [self.image.operands(), span(self.image.data, 2)].concat()
    }
}

impl SlotRows {
    fn rows(&self) -> Vec<Row> {
        match self {
            Self::Fixed { .. } => vec![],
            Self::Rows { sampler, texture } => vec![*sampler, *texture],
        }
    }
}

impl TexResult {
    fn rows(&self) -> Vec<Row> {
        (0..4).filter(|c| self.components >> c & 1 != 0).map(|c| self.dst.saturating_add(c)).collect()
    }
}

impl Sample {
    fn operands(&self) -> Vec<Row> {
        let lod = match self.lod {
            LodRows::Implicit | LodRows::Zero => vec![],
            LodRows::Bias(row) | LodRows::Explicit(row) | LodRows::Level(row) => vec![row],
            LodRows::Gradients(x, y) => [span(x, self.dimensions), span(y, self.dimensions)].concat(),
        };
        let offsets = self.offsets.map_or(vec![], |row| span(row, self.dimensions));
        let single =
            [self.layer, self.reference, self.projector, self.sample].into_iter().flatten().collect();
        [span(self.coords, self.dimensions), lod, offsets, single, self.slots.rows()].concat()
    }
}

impl Query {
    fn operands(&self) -> Vec<Row> {
        [vec![self.operand], self.slots.rows()].concat()
    }
}
