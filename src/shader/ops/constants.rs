//! Writes of the constant file by programs.
use super::{Few, MemoryAccess, Op, UniformLoad};
use crate::alu::Row;

/// Dwords of a vector.
pub const VECTOR: usize = 4;

/// A write of constants. The lowest executing lane has the values.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantWrite {
    /// The first scalar that is written, or what is added to a1.x.
    pub offset: u16,
    /// The row of a1.x, if the place counts from it.
    pub a1: Option<Row>,
    /// The values.
    pub values: ConstantValues,
}

/// What a program writes to the constant file.
#[derive(Clone, Debug, PartialEq)]
pub enum ConstantValues {
    /// stc: registers.
    Rows(Few<Row>),
    /// ldg.k: vectors from global memory, and their number.
    Global(MemoryAccess<Row>, u16),
    /// ldc.k: vectors of a uniform block, and their number.
    Block(UniformLoad<Row>, u16),
}

impl ConstantWrite {
    /// Calls `read` with every row that it reads.
    pub fn visit_reads(&self, mut read: impl FnMut(Row)) {
        self.a1.into_iter().for_each(&mut read);
        match &self.values {
            ConstantValues::Rows(rows) => rows.iter().copied().for_each(read),
            ConstantValues::Global(from, _) => Op::Load { from: *from, components: VECTOR }.visit(read),
            ConstantValues::Block(from, _) => Op::UniformLoad(*from).visit(read),
        }
    }
}
