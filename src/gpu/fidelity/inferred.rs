//! Registers and fields whose names or places are inferred, as a run writes them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use a4emu_decoder::bits::Certainty;
use a4emu_decoder::regs;

use crate::cp::Observer;
use crate::gpu::Gpu;

/// Those that something other than zero was written to, with how often.
#[derive(Clone, Debug, Default)]
pub struct Inferred(BTreeMap<String, u64>);

impl Observer for Inferred {
    fn register(&mut self, gpu: &Gpu, offset: u32, _: Option<u32>) {
        let value = gpu.regs.read(offset);
        let Some(reg) = regs::lookup(offset).filter(|_| value != 0) else { return };
        let mut note = |name: String| *self.0.entry(name).or_default() += 1;
        if reg.certainty() == Certainty::Inferred {
            return note(reg.name().to_string());
        }
        let fields = reg.fields().iter().filter(|field| field.certainty == Certainty::Inferred);
        fields
            .filter(|field| field.raw(value) != 0)
            .for_each(|field| note(format!("{}.{}", reg.name(), field.name)));
    }
}

impl Inferred {
    /// A line for each.
    ///
    /// # Errors
    /// That of `out`.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        for (name, writes) in &self.0 {
            writeln!(
                out,
                "{name}  (inferred register; {writes} writes that are not 0; see `a4emu explain {name}`)"
            )?;
        }
        Ok(())
    }
}
