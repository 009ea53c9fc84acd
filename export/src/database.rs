//! The tables that do not depend on captures: fields and enumerators of the register database.

use std::path::Path;

use a4emu_decoder::bits::Kind;
use a4emu_decoder::generation::DEFAULT;
use a4emu_support::out_file::Inputs;

use crate::rows::{Enumerator, Field, OF_NONE};
use crate::table::Tables;

/// Writes `fields` and `enumerators` into `folder`.
pub fn write(folder: &Path, inputs: &Inputs) -> anyhow::Result<()> {
    let mut tables = Tables::create(folder, OF_NONE, inputs)?;
    for register in DEFAULT.registers.all() {
        let (offset, name) = (register.offset(), register.to_string());
        for row in register.fields() {
            let (field, low, high) = (row.name, row.lo, row.hi);
            tables.put(Field { register: offset, name: &name, field, low, high })?;
            let Kind::Enum(table) = row.kind else { continue };
            for (value, name) in table.values {
                tables.put(Enumerator { register: offset, field, value: *value, name })?;
            }
        }
    }
    tables.finish()
}
