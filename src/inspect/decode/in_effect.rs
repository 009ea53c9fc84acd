//! Lists the state that a draw uses though no packet set it since the last draw: shaders, targets, textures.

use a4emu_decoder::a4xx::regs::rb::{
    RB_COPY_DEST_BASE, RB_COPY_DEST_INFO, RB_COPY_DEST_PITCH, RB_DEPTH_CONTROL, RB_DEPTH_INFO, RB_MRT_BASE,
    RB_MRT_BUF_INFO, RB_RENDER_COMPONENTS, RB_STENCIL_INFO, TARGETS,
};
use a4emu_decoder::a4xx::regs::tex::{TEX_CONST_0, TEX_CONST_1, TEX_CONST_4};
use a4emu_decoder::a6xx::A6XX;
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_decoder::bits::{RegRow, Register};

use super::Shaders;
use crate::describe::{Shaders as Programs, a6xx};
use a4emu_gpu::a4xx::sp::code;
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::{Gpu, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::Synced;
use a4emu_shader::Program;

/// The lines about `call`, which is about to run.
pub fn lines(gpu: Synced<'_>, call: &Call, shaders: Shaders) -> Vec<String> {
    if gpu.chip.generation().number == A6XX.number {
        return programs_a6xx(gpu, call, shaders);
    }
    let stages: Vec<Stage> = call.stages(gpu.chip, &gpu.regs).collect();
    let mut lines = Vec::new();
    for stage in &stages {
        program(gpu, *stage, shaders, &mut lines);
    }
    match call.pass() {
        Some(Pass::Resolve) => resolve(&gpu, &mut lines),
        Some(pass) => targets(&gpu, pass, &mut lines),
        None => {}
    }
    stages.iter().for_each(|stage| textures(&gpu, *stage, &mut lines));
    lines
}

/// The programs of a call of an A6xx, whose state `show` lists.
fn programs_a6xx(gpu: Synced<'_>, call: &Call, shaders: Shaders) -> Vec<String> {
    let mut lines = Vec::new();
    for running in a6xx::running(gpu, call, &mut Programs::default()) {
        listed(running.stage.name(), Isa::A6xx, &running.shader.words, shaders, &mut lines);
    }
    lines
}

fn program(gpu: Synced<'_>, stage: Stage, shaders: Shaders, lines: &mut Vec<String>) {
    let name = stage.name();
    let words = match code(gpu.view(), stage) {
        Ok(words) => words,
        Err(miss) => return lines.push(format!("{name}: no shader at {:08x}", miss.address)),
    };
    listed(name, gpu.chip.generation().isa(), &words, shaders, lines);
}

/// Adds the length and hash of a program, and its instructions if they are asked for.
fn listed(name: &str, isa: Isa, words: &[u64], shaders: Shaders, lines: &mut Vec<String>) {
    let end = words.iter().position(|word| isa.decode(*word).is_end()).map_or(words.len(), |end| end + 1);
    let hash = Program::short(Program::hash_of(words));
    lines.push(format!("{name}: {end} instructions, hash {hash}"));
    if shaders == Shaders::Show {
        let text = |(index, word): (usize, &u64)| {
            let (hi, lo) = (word >> 32, word & u64::from(u32::MAX));
            format!("{index:6}: {hi:08x}_{lo:08x}  {}", isa.decode(*word).in_program(index, end))
        };
        lines.extend(words[..end].iter().enumerate().map(text));
    }
}

fn targets(gpu: &Gpu, pass: Pass, lines: &mut Vec<String>) {
    let place = if pass == Pass::Bypass { "at" } else { "in tile memory at" };
    let components = gpu.regs.get::<RB_RENDER_COMPONENTS>();
    for i in (0..TARGETS).filter(|i| components.target(*i) != 0) {
        let base = gpu.regs.at::<RB_MRT_BASE>(i).VALUE();
        let info = text::<RB_MRT_BUF_INFO>(gpu, i);
        lines.push(format!("target {i}: {place} {base:08x} {info}"));
    }
    if gpu.regs.get::<RB_DEPTH_CONTROL>().Z_TEST_ENABLE() {
        lines.push(format!("depth: {}", text::<RB_DEPTH_INFO>(gpu, 0)));
    }
    if gpu.regs.get::<RB_STENCIL_INFO>().SEPARATE_STENCIL() {
        lines.push(format!("stencil: {}", text::<RB_STENCIL_INFO>(gpu, 0)));
    }
}

fn resolve(gpu: &Gpu, lines: &mut Vec<String>) {
    let base = gpu.regs.get::<RB_COPY_DEST_BASE>().BASE();
    let pitch = gpu.regs.get::<RB_COPY_DEST_PITCH>().PITCH();
    let info = text::<RB_COPY_DEST_INFO>(gpu, 0);
    lines.push(format!("destination: at {base:08x}, {pitch} bytes a row, {info}"));
}

fn textures(gpu: &Gpu, stage: Stage, lines: &mut Vec<String>) {
    let slots = gpu.loaded.stage(stage).textures.iter().enumerate();
    for (slot, words) in slots.filter(|(_, words)| **words != [0; 8]) {
        let (size, base) = (TEX_CONST_1(words[1]), TEX_CONST_4(words[4]).BASE());
        let what = WordText { rows: TEX_CONST_0::FIELDS, word: words[0], show: Show::Full };
        let (width, height) = (size.WIDTH(), size.HEIGHT());
        lines.push(format!("{} texture {slot}: {width}x{height} at {base:08x} {what}", stage.name()));
    }
}

/// Element `i` of a register, as text.
fn text<R: Register>(gpu: &Gpu, i: u32) -> WordText {
    let RegRow { offset, stride, fields, .. } = R::ROW;
    WordText { rows: fields, word: gpu.regs.read(offset + i * stride), show: Show::Full }
}
