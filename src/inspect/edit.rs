//! Runs draws with other register values than the stream gave them.

use a4emu_decoder::bits::FieldRow;
use anyhow::{Context, ensure};

use crate::describe::Runs;
use crate::explain::value_of;
use crate::register_names;
use a4emu_gpu::cp::{Call, Engine, Flow};
use a4emu_gpu::draw;
use a4emu_gpu::gpu::Gpu;

/// Maximum number of registers and fields that an edit changes.
const MAX_CHANGES: usize = 256;

/// A new value for a register or for a field of it.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    offset: u32,
    field: Option<&'static FieldRow>,
    value: u32,
}

/// A draw, and the register values that it runs with.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The runs of the draw.
    pub runs: Runs,
    /// The changes, in the order in which they are applied.
    pub changes: Vec<Change>,
}

impl Change {
    /// Parses `texts`, `REGISTER.FIELD=VALUE` each, or with a colon. The register may be a pattern.
    ///
    /// # Errors
    /// The call fails if a register or value does not exist, or if there are too many changes.
    pub fn parse_all<'t>(texts: impl IntoIterator<Item = &'t str>) -> anyhow::Result<Vec<Self>> {
        let mut changes = Vec::new();
        for text in texts {
            changes.extend(Self::parse(text)?);
            ensure!(changes.len() <= MAX_CHANGES, "no more than {MAX_CHANGES} fields are edited at once");
        }
        Ok(changes)
    }

    fn parse(text: &str) -> anyhow::Result<Vec<Self>> {
        let (name, value) =
            text.split_once(['=', ':']).with_context(|| format!("`{text}` is not REGISTER.FIELD=VALUE"))?;
        let (name, value) = (name.trim(), value.trim());
        let found = register_names::find(name)?;
        let change = |asked: register_names::Asked| {
            let value = match asked.field {
                None => value_of(value)?,
                Some(field) => field.parse(value)?,
            };
            Ok(Self { offset: asked.offset, field: asked.field, value })
        };
        found.into_iter().map(change).collect()
    }

    /// The new value of the register if it held `word`.
    fn applied(&self, word: u32) -> u32 {
        self.field.map_or(self.value, |field| field.insert(word, self.value))
    }
}

/// An engine that runs draws with changed registers. All other draws find the registers unchanged.
pub struct Editing<'a, E> {
    /// The draws to change, and their register values.
    pub edits: &'a [Edit],
    /// The engine that runs the draws.
    pub inner: E,
}

impl<E: Engine> Engine for Editing<'_, E> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let meant = self.edits.iter().filter(|edit| edit.runs.has(gpu, call));
        let changes: Vec<Change> = meant.flat_map(|edit| &edit.changes).copied().collect();
        if changes.is_empty() {
            return self.inner.run(gpu, call);
        }
        draw::flush(gpu);
        let mut held = Vec::new();
        for change in changes {
            let word = gpu.regs.read(change.offset);
            held.push((change.offset, word));
            let _every_name_has_a_register = gpu.regs.write(change.offset, change.applied(word));
        }
        let flow = self.inner.run(gpu, call);
        draw::flush(gpu);
        for (offset, word) in held.into_iter().rev() {
            let _every_name_has_a_register = gpu.regs.write(offset, word);
        }
        flow
    }
}
