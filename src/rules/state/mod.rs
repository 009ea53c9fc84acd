//! Checks the state of a draw just before it runs: sections 3.2 and 5 to 8 of the page.

mod blend;
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

use a4emu_decoder::a4xx::pm4::VGT_DRAW_INITIATOR_A4XX;

use super::finding::Broken;
use super::program::{Checked, Regs};
use super::programs::Programs;
use super::rules::Id;
use a4emu_gpu::a4xx;
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::gpu::{CodeSource, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
use a4emu_gpu::settled::Synced;
pub use extent::Extent;
pub use indices::Highest;
use stage::Named;
pub use stage::hlsq;

/// A draw or dispatch, and its programs.
pub struct Scene<'a> {
    /// The chip.
    pub gpu: Synced<'a>,
    /// The registers of the chip.
    pub regs: &'a RegFile,
    /// The pass of a draw. For a dispatch it has no meaning.
    pub pass: Pass,
    /// The checked programs.
    pub programs: Vec<Arc<Checked>>,
}

/// The violations found at one draw.
#[derive(Default)]
pub struct Violations(pub Vec<Broken>);

impl Violations {
    /// Adds a violation of `rule` by state.
    pub fn report(&mut self, rule: Id, what: impl Into<String>) {
        self.0.push(Broken::new(rule, what));
    }

    /// Adds a violation of `rule` unless `holds`.
    pub fn unless(&mut self, holds: bool, rule: Id, what: impl FnOnce() -> String) {
        if !holds {
            self.report(rule, what());
        }
    }

    /// Adds a violation.
    pub fn add(&mut self, broken: Broken) {
        self.0.push(broken);
    }
}

impl<'a> Scene<'a> {
    /// The scene of a draw with this initiator.
    pub fn of_draw(
        gpu: Synced<'a>,
        pass: Pass,
        initiator: VGT_DRAW_INITIATOR_A4XX,
        programs: &mut Programs,
    ) -> Self {
        let regs = &gpu.gpu().regs;
        // A resolve runs no fragment shader, but drivers set one up, and the chip assumes that it is loaded.
        let idle = (pass == Pass::Resolve).then_some(Stage::FS);
        let named = a4xx::pass::stages(pass, regs, Some(initiator.0)).chain(idle);
        Self { gpu, regs, pass, programs: named.filter_map(|stage| programs.of(gpu, stage)).collect() }
    }

    /// The scene of a dispatch.
    pub fn of_dispatch(gpu: Synced<'a>, programs: &mut Programs) -> Self {
        let programs = programs.of(gpu, Stage::CS).into_iter().collect();
        Self { gpu, regs: &gpu.gpu().regs, pass: Pass::Bypass, programs }
    }

    /// The last stage before the rasteriser.
    pub fn last_vertex_stage(&self) -> Stage {
        let runs = |stage: &Stage| self.program(*stage).is_some();
        [Stage::GS, Stage::DS].into_iter().find(runs).unwrap_or(Stage::VS)
    }

    /// The program of a stage, if the stage runs.
    pub fn program(&self, stage: Stage) -> Option<&Checked> {
        self.programs.iter().map(|checked| &**checked).find(|checked| checked.program.stage == stage)
    }

    /// Whether the program of `stage` is fetched from memory rather than from the store.
    pub fn runs_from_memory(&self, stage: Stage) -> bool {
        self.gpu.loaded.stage(stage).source == CodeSource::Memory
    }

    /// Whether this is a dispatch.
    pub fn is_dispatch(&self) -> bool {
        self.program(Stage::CS).is_some()
    }

    /// Whether the draw renders to GMEM, or copies from or to it.
    pub fn in_tiles(&self) -> bool {
        matches!(self.pass, Pass::Gmem | Pass::Restore | Pass::Resolve)
    }
}

/// Adds violations of the rules for programs and registers.
pub fn check_programs(scene: &Scene<'_>, violations: &mut Violations) {
    for checked in &scene.programs {
        checked.broken.iter().for_each(|broken| violations.add(broken.clone()));
        program::check(scene, checked, violations);
    }
}

/// Checks S34: effects of registers that no command wrote. Inputs of stages between the first and the last
/// are not documented, so these stages are not checked.
pub fn check_unset(scene: &Scene<'_>, programs: &mut Programs, violations: &mut Violations) {
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
            broken.iter().for_each(|broken| violations.add(broken.clone()));
        }
    }
}

/// Outputs that the program does not write. A colour may have fewer components than its target, and a vertex
/// shader may write no position (X14).
fn never_written(checked: &Checked, outputs: &[Named]) -> Regs {
    let is_made = |(reg, _): &Named| checked.facts.written.has(*reg);
    let positions = outputs.iter().any(|named| named.1 == "position" && is_made(named));
    let matters = |what: &str| what != "colour" && (what != "position" || positions);
    let missing = outputs.iter().filter(|named| matters(named.1) && !is_made(named));
    missing.map(|(reg, _)| *reg).collect()
}

/// Adds violations of a draw of `call.count` vertices; `highest` is its highest index.
pub fn check_draw(scene: &Scene<'_>, call: &DrawCall, highest: Option<u32>, violations: &mut Violations) {
    linkage::check(scene, call, violations);
    output::check(scene, violations);
    windows::check(scene, violations);
    fetch::check(scene, call, violations);
    tile::check(scene, violations);
    memory::check(scene, call, highest, violations);
}

/// Adds violations of a dispatch.
pub fn check_dispatch(
    scene: &Scene<'_>,
    local_size: Option<[u32; 3]>,
    groups: [u32; 3],
    violations: &mut Violations,
) {
    windows::check_dispatch(scene, local_size, groups, violations);
    memory::check_dispatch(scene, violations);
}
