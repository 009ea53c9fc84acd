//! The budget that draws use besides the warps of their shaders.

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::{Call, Engine, Flow, Renderer, Silent};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::playback::Playback;

use super::scene::Scene;

/// Runs all draws. The first one that is `chosen` has a budget of `units`, and ends the run.
struct With {
    chosen: fn(&Call) -> bool,
    units: u64,
    ended: Option<Budget>,
}

impl Engine for With {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        if !(self.chosen)(call) {
            return Renderer.run(gpu, call);
        }
        // Queued work belongs to earlier draws and is done first. The work that this draw queues is its own.
        gpu.settle();
        gpu.budget = Budget::fixed(self.units);
        Renderer.run(gpu, call);
        gpu.settle();
        self.ended = Some(gpu.budget.clone());
        Flow::Stop
    }
}

/// The budget after the draw that is `chosen`, which started with `units`.
fn draw(capture: &[u8], chosen: fn(&Call) -> bool, units: u64) -> Budget {
    let mut engine = With { chosen, units, ended: None };
    Playback::default().run(Sections::new(capture).unwrap(), &mut engine, &mut Silent);
    engine.ended.expect("there is such a draw")
}

/// The work of a whole scene.
fn spent(scene: &Scene) -> u64 {
    let budget = scene.play().budget.clone();
    assert_eq!(budget.cut(), None);
    budget.spent()
}

/// A triangle with its vertices in a buffer of `bytes`, drawn `times` times by one packet.
fn triangle(bytes: u32, times: u32) -> Scene {
    Scene::new(&format!(
        r#"
        include "geometry.a4i"
        buffer vertices size {bytes} {{ f32 -0.9, -0.9, 0.9, -0.9, 0.0, 0.9 }}
        buffer part {{ use draw(DI_PT_TRILIST, 3) }}
        buffer main {{
            use cleared_frame()
            use input(vs, paint, vertices, 3)
            VFD_FETCH[0].INSTR_2 {{ SIZE = {bytes} }}
            repeat {times} {{ call part }}
        }}
        submit main
        "#
    ))
}

/// Each draw checks whether pages have changed, at a cost of eight bytes for each page.
#[test]
fn looking_for_changes_is_paid_for() {
    let more = |times| spent(&triangle(0x10_0000, times)) - spent(&triangle(0x1000, times));
    let units = (0x10_0000 / 4096) * 8 / 16;
    // The first draw's difference includes reading the larger capture.
    let first = more(1);
    assert_eq!([2, 5].map(|times| more(times) - first), [units, 4 * units]);
}

#[test]
fn feedback_is_paid_for() {
    let scene = super::feedback::plain("DI_PT_POINTLIST, 4", 64);
    let none = scene.with("VPC_SO_OVERRIDE = 0", "VPC_SO_OVERRIDE = 1");
    assert_eq!(spent(&scene) - spent(&none), Work::LaneAccess.price() * 3 * 4 * 2);
}

/// The list of a geometry shader's output vertices, which is charged after all its warps.
#[test]
fn output_vertices_of_geometry_shaders_are_charged() {
    let capture = Scene::named("gs-many").capture();
    let last = |call: &Call| call.number() == 1;
    let all = draw(&capture, last, 1 << 40).spent();
    let cuts: Vec<_> = (1..200).filter_map(|part| draw(&capture, last, all * part / 200).cut()).collect();
    let warps = cuts.iter().rposition(|work| matches!(work, Work::Warp | Work::WarpInstruction));
    let between = cuts.iter().position(|work| *work == Work::Pixel).expect("its pixels are paid for last");
    let listed = cuts.iter().enumerate().filter(|(_, work)| **work == Work::Vertex);
    assert!(listed.clone().any(|(at, _)| (1..between).contains(&at)), "{cuts:?} {warps:?}");
}

#[test]
fn a_resolve_is_paid_for_before_it_writes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/captures/cube.rd.gz");
    let capture = std::fs::read(path).unwrap();
    let resolve = |call: &Call| call.pass() == Some(Pass::Resolve);
    let all = draw(&capture, resolve, 1 << 40).spent();
    assert_eq!(draw(&capture, resolve, all).cut(), None);
    assert_eq!(draw(&capture, resolve, all - 1).cut(), Some(Work::Copy16));
}
