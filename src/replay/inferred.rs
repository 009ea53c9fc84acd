//! Registers and fields with inferred names or offsets that a run writes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use a4emu_decoder::bits::Certainty;

use a4emu_gpu::cp::Observer;
use a4emu_gpu::settled::Running;

/// Number of nonzero writes to each inferred register or field, by name.
#[derive(Clone, Debug, Default)]
pub struct Inferred(BTreeMap<String, u64>);

impl Observer for Inferred {
    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, _: Option<u32>) {
        let value = gpu.regs.read(offset);
        let Some(reg) = gpu.chip.generation().registers.lookup(offset).filter(|_| value != 0) else { return };
        let mut note = |name: String| *self.0.entry(name).or_default() += 1;
        if reg.certainty() == Certainty::Inferred {
            return note(reg.to_string());
        }
        let fields = reg.fields().iter().filter(|field| field.certainty == Certainty::Inferred);
        fields
            .filter(|field| field.raw(value) != 0)
            .for_each(|field| note(format!("{}.{}", reg, field.name)));
    }
}

impl Inferred {
    /// Writes one line for each.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (name, writes) in &self.0 {
            writeln!(
                out,
                "{name}  (inferred register; {writes} writes that are not 0; see `a4emu explain {name}`)"
            )?;
        }
        Ok(())
    }
}
