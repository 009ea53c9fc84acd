//! Sections 3.2 and 5 to 8 of the page: what a draw runs with, looked at right before it runs.

mod extent;
mod fetch;
mod indices;
mod linkage;
mod memory;
mod output;
mod program;
mod stage;
mod tile;
mod windows;
pub mod written;

use std::sync::Arc;

use a4emu_decoder::pm4::VGT_DRAW_INITIATOR_A4XX;

use super::finding::Broken;
use super::program::{Checked, Regs};
use super::programs::Programs;
use super::rules::Id;
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::gpu::{CodeSource, Gpu, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
pub use extent::Extent;
pub use indices::Highest;
use stage::Named;
pub use stage::hlsq;

/// A draw or dispatch, and the programs that it runs.
pub struct Scene<'a> {
    /// The chip.
    pub gpu: &'a Gpu,
    /// Its registers.
    pub regs: &'a RegFile,
    /// What a draw is for; a dispatch is of no pass, and nothing here asks for its.
    pub pass: Pass,
    /// The programs, checked.
    pub programs: Vec<Arc<Checked>>,
}

/// What was found at one draw.
#[derive(Default)]
pub struct Said(pub Vec<Broken>);

impl Said {
    /// `rule` is broken by state.
    pub fn say(&mut self, rule: Id, what: impl Into<String>) {
        self.0.push(Broken::new(rule, what));
    }

    /// Says so unless `holds`.
    pub fn unless(&mut self, holds: bool, rule: Id, what: impl FnOnce() -> String) {
        if !holds {
            self.say(rule, what());
        }
    }

    /// One that names an instruction.
    pub fn add(&mut self, broken: Broken) {
        self.0.push(broken);
    }
}

impl<'a> Scene<'a> {
    /// Of a draw with this initiator.
    pub fn of_draw(
        gpu: &'a Gpu,
        pass: Pass,
        initiator: VGT_DRAW_INITIATOR_A4XX,
        programs: &mut Programs,
    ) -> Self {
        let regs = &gpu.regs;
        // A copy runs no fragment shader, but drivers set one up, and the chip takes it for loaded.
        let idle = (pass == Pass::Resolve).then_some(Stage::FS);
        let named = pass.stages(regs, Some(initiator)).chain(idle);
        Self { gpu, regs, pass, programs: named.filter_map(|stage| programs.of(gpu, stage)).collect() }
    }

    /// Of a dispatch.
    pub fn of_dispatch(gpu: &'a Gpu, programs: &mut Programs) -> Self {
        let programs = programs.of(gpu, Stage::CS).into_iter().collect();
        Self { gpu, regs: &gpu.regs, pass: Pass::Bypass, programs }
    }

    /// The last stage before the rasteriser.
    pub fn last_vertex_stage(&self) -> Stage {
        let runs = |stage: &Stage| self.program(*stage).is_some();
        [Stage::GS, Stage::DS].into_iter().find(runs).unwrap_or(Stage::VS)
    }

    /// The program of a stage, if it runs.
    pub fn program(&self, stage: Stage) -> Option<&Checked> {
        self.programs.iter().map(|checked| &**checked).find(|checked| checked.program.stage == stage)
    }

    /// Whether the program of `stage` is fetched from memory rather than from the store.
    pub fn runs_from_memory(&self, stage: Stage) -> bool {
        self.gpu.loaded.stage(stage).source == CodeSource::Memory
    }

    /// Whether it is a dispatch.
    pub fn is_dispatch(&self) -> bool {
        self.program(Stage::CS).is_some()
    }

    /// Whether it renders to tile memory, or copies from or to it.
    pub fn in_tiles(&self) -> bool {
        matches!(self.pass, Pass::Gmem | Pass::Restore | Pass::Resolve)
    }
}

/// What breaks rules of programs and registers.
pub fn check_programs(scene: &Scene<'_>, said: &mut Said) {
    for checked in &scene.programs {
        checked.broken.iter().for_each(|broken| said.add(broken.clone()));
        program::check(scene, checked, said);
    }
}

/// S34: what depends on registers that nobody wrote. What reaches the stages between the first and the last is not
/// documented; they are left out.
pub fn check_unset(scene: &Scene<'_>, programs: &mut Programs, said: &mut Said) {
    let chained = scene.program(Stage::HS).is_some() || scene.program(Stage::GS).is_some();
    for checked in &scene.programs {
        let stage = checked.program.stage;
        if !matches!(stage, Stage::FS | Stage::CS) && (stage != Stage::VS || chained) {
            continue;
        }
        let outputs = stage::outputs(scene.regs, stage, scene.pass);
        let mut unset = checked.facts.taken;
        unset.join(&never_written(checked, &outputs));
        stage::delivered(scene.regs, stage).into_iter().for_each(|(reg, _)| unset.remove(reg));
        if !unset.is_empty() {
            let outputs: Regs = outputs.into_iter().map(|(reg, _)| reg).collect();
            let broken = programs.unset(checked, unset, outputs, &scene.gpu.budget);
            broken.iter().for_each(|broken| said.add(broken.clone()));
        }
    }
}

/// Outputs that the program does not make. Of a colour a shader may make fewer components than a target has, and a vertex
/// shader may make nothing of a position (X14).
fn never_written(checked: &Checked, outputs: &[Named]) -> Regs {
    let is_made = |(reg, _): &Named| checked.facts.written.has(*reg);
    let positions = outputs.iter().any(|named| named.1 == "position" && is_made(named));
    let matters = |what: &str| what != "colour" && (what != "position" || positions);
    let missing = outputs.iter().filter(|named| matters(named.1) && !is_made(named));
    missing.map(|(reg, _)| *reg).collect()
}

/// What a draw of `call.count` vertices breaks; `highest` is its highest index.
pub fn check_draw(scene: &Scene<'_>, call: &DrawCall, highest: Option<u32>, said: &mut Said) {
    linkage::check(scene, said);
    output::check(scene, said);
    windows::check(scene, said);
    fetch::check(scene, call, said);
    tile::check(scene, said);
    memory::check(scene, call, highest, said);
}

/// What a dispatch breaks.
pub fn check_dispatch(scene: &Scene<'_>, local_size: Option<[u32; 3]>, groups: [u32; 3], said: &mut Said) {
    windows::check_dispatch(scene, local_size, groups, said);
    memory::check_dispatch(scene, said);
}
