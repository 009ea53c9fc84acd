//! Writes of the constant file by programs, from A6xx on: stc, ldc.k and ldg.k.
//!
//! Such writes stand in a preamble (shps to shpe), which on the chip one lane of one warp runs for all warps. Here one lane of each
//! warp runs it, as a warp has a constant file of its own, and the results are the same.
use std::sync::Arc;

use super::environment::{Environment, Refused};
use super::lanes::{LANES, Lanes, Mask};
use super::lowered::Lowered;
use super::ops::{ConstantValues, ConstantWrite, MemoryAccess, Op, UniformLoad, VECTOR};
use super::warp::Warp;

impl Warp {
    /// Does `write` for the lowest lane of `mask`. Constants past the end of the file are lost.
    pub(super) fn write_constants(
        &mut self,
        program: &Lowered,
        write: &ConstantWrite,
        mask: Mask,
        environment: &mut impl Environment,
    ) -> Result<(), Refused> {
        let lane = mask.trailing_zeros() as usize % LANES;
        let values = match &write.values {
            ConstantValues::Rows(rows) => rows.iter().map(|row| self.row(*row)[lane]).collect(),
            ConstantValues::Global(from, vectors) => read(*vectors, lane, |n, out| {
                let offset = from.offset + 16 * i32::from(n);
                let load = Op::Load { from: MemoryAccess { offset, ..*from }, components: VECTOR };
                environment.perform(&load.map(|row| self.row(row)), 1 << lane, out)
            })?,
            ConstantValues::Block(from, vectors) => read(*vectors, lane, |n, out| {
                let vector = Lanes::splat(self.row(from.vector)[lane].wrapping_add(n.into()));
                let UniformLoad { base, component, components, .. } = *from;
                let block = self.row(from.block);
                let load = UniformLoad { base, block, vector: &vector, component, components };
                environment.perform(&Op::UniformLoad(load), 1 << lane, out)
            })?,
        };
        let first =
            usize::from(write.offset) + write.a1.map_or(0, |row| self.row(row)[lane] as usize & 0xffff);
        self.set_constants_from(program, first, &values);
        Ok(())
    }

    /// Writes `values` to the constant file from scalar `first` on.
    fn set_constants_from(&mut self, program: &Lowered, first: usize, values: &[u32]) {
        let constants = Arc::make_mut(self.constants.get_or_insert_default());
        let room = constants.len().saturating_sub(first).min(values.len());
        if let Some(to) = constants.get_mut(first..first + room) {
            to.copy_from_slice(&values[..room]);
        }
        self.spread(program);
    }
}

/// The values in `lane` of `vectors` loads of four dwords. `load` does the load with a number.
fn read(
    vectors: u16,
    lane: usize,
    mut load: impl FnMut(u16, &mut [Lanes; VECTOR]) -> Result<(), Refused>,
) -> Result<Vec<u32>, Refused> {
    let mut values = Vec::new();
    for n in 0..vectors {
        let mut out = [Lanes::ZERO; VECTOR];
        load(n, &mut out)?;
        values.extend(out.map(|row| row[lane]));
    }
    Ok(values)
}
