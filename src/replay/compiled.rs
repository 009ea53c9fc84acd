//! `--dump-jit`: writes the machine code of compiled shaders.

use std::path::Path;

use a4emu_gpu::draw::sp::programs::Programs;
use a4emu_inspect::describe::Shader;
use a4emu_shader::jit::listing;
use a4emu_support::out_file::{self, Inputs};

/// Writes a file for each compiled program to `directory`, named by its hash and `.txt`. A hull shader has
/// `.hs.txt`, since (ss) can mean more in it.
///
/// # Errors
/// The call fails if a file cannot be written.
pub fn write(programs: &Programs, directory: &Path, inputs: &Inputs) -> anyhow::Result<()> {
    for (words, program, kind) in programs.compiled() {
        let shader = Shader::new(words);
        let lines: Vec<String> = shader.lines().collect();
        let text =
            listing(program, program.routine(), &|at| lines.get(at as usize).cloned().unwrap_or_default());
        out_file::write(&directory.join(shader.short_hash() + kind), text.as_bytes(), inputs)?;
    }
    Ok(())
}
