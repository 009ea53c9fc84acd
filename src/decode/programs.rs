//! `decode --dump-shaders`: writes the programs that draws and dispatches run.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use a4emu_gpu::a4xx::sp::code;
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::settled::Running;
use a4emu_inspect::describe::{Shader, Shaders};
use a4emu_inspect::selection::Selection;
use a4emu_support::out_file::{self, Inputs, make_folder};

/// Maximum number of programs.
const MAX_PROGRAMS: usize = 1 << 16;

/// An observer that keeps each program once.
#[derive(Default)]
pub struct Programs {
    selection: Selection,
    shaders: Shaders,
    known: BTreeSet<(u64, &'static str)>,
    all: Vec<(Arc<Shader>, Stage)>,
}

impl Programs {
    /// Makes an observer of the programs of the selected draws and dispatches.
    pub fn new(selection: Selection) -> Self {
        Self { selection, ..Self::default() }
    }

    /// Writes two files for each program to `directory`: HASH.STAGE.bin has its instructions, 64 bits each, the low byte
    /// first, and HASH.STAGE.txt their text.
    ///
    /// # Errors
    /// The call fails if a file cannot be written.
    pub fn write(&self, directory: &Path, inputs: &Inputs) -> anyhow::Result<()> {
        make_folder(directory)?;
        for (shader, stage) in &self.all {
            let name = format!("{:016x}.{}", shader.hash, stage.name().to_lowercase());
            let bytes: Vec<u8> = shader.words.iter().flat_map(|word| word.to_le_bytes()).collect();
            out_file::write(&directory.join(format!("{name}.bin")), &bytes, inputs)?;
            out_file::write(&directory.join(format!("{name}.txt")), shader.text().as_bytes(), inputs)?;
        }
        Ok(())
    }
}

impl Observer for Programs {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if !self.selection.has(call) {
            return Flow::Continue;
        }
        let gpu = gpu.sync();
        for stage in call.stages(gpu.chip, &gpu.regs) {
            let Ok(words) = code(gpu.view(), stage) else { continue };
            let shader = self.shaders.get(&words, &gpu.budget);
            if self.all.len() < MAX_PROGRAMS && self.known.insert((shader.hash, stage.name())) {
                self.all.push((shader, stage));
            }
        }
        Flow::Continue
    }
}
