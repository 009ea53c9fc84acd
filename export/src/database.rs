//! The tables that do not depend on captures: fields and enumerators of the register database.

use std::path::Path;

use a4emu_decoder::bits::Kind;
use a4emu_decoder::generation::Generation;
use a4emu_support::out_file::Inputs;

use crate::rows::{Enumerator, Field, OF_NONE};
use crate::table::Tables;

/// Writes `fields` and `enumerators` into `folder`, generation after generation.
pub fn write(folder: &Path, inputs: &Inputs) -> anyhow::Result<()> {
    let mut tables = Tables::create(folder, OF_NONE, inputs)?;
    for generation in Generation::all() {
        let number = generation.number;
        for register in generation.registers.all() {
            let (offset, name) = (register.offset(), register.to_string());
            for row in register.fields() {
                let (field, low, high) = (row.name, row.lo, row.hi);
                tables.put(Field { register: offset, name: &name, field, low, high, generation: number })?;
                let Kind::Enum(table) = row.kind else { continue };
                for (value, name) in table.values {
                    let (register, value) = (offset, *value);
                    tables.put(Enumerator { register, field, value, name, generation: number })?;
                }
            }
        }
    }
    tables.finish()
}
