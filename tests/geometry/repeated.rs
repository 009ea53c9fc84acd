//! Draws that run again for the next tile: their primitives are made again only where something changed.

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Ended;
use pretty_assertions::assert_eq;

use super::scene::Scene;

/// A scene of `captures/geometry` that is drawn to tile memory twice, by the same packets, with packets `between`.
fn twice(name: &str, between: &str) -> Scene {
    let tile = "use cleared_frame()\nRB_MODE_CONTROL { WIDTH = 256 | HEIGHT = 256 | ENABLE_GMEM }\nRB_MRT[0].BASE = 0";
    Scene::named(name)
        .with("buffer main {", "buffer tile {")
        .with("use cleared_frame()", tile)
        .with("\nsubmit main", &format!("\nbuffer main {{\ncall tile\n{between}\ncall tile\n}}\nsubmit main"))
}

fn play(scene: &Scene, schedule: Schedule) -> Ended {
    let mut playback = Playback::default();
    playback.gpu.pipeline.schedule = schedule;
    playback.run(Sections::new(scene.capture().as_slice()).unwrap(), &mut Renderer, &mut Silent);
    playback.gpu.end()
}

/// Plays the scene with each schedule. All do what the reference model does. Returns how many vertices were known.
fn known(scene: &Scene) -> u64 {
    let reference = play(scene, Schedule::Reference);
    let ran = |gpu: &Ended| gpu.pipeline.stats.emulated.vertices;
    let all = [Schedule::InOrder, Schedule::Deferred, Schedule::Stress].map(|schedule| {
        let gpu = play(scene, schedule);
        assert_eq!(gpu.difference(&reference), None, "{schedule:?}");
        assert_eq!(gpu.pipeline.stats.of_chip(), reference.pipeline.stats.of_chip(), "{schedule:?}");
        assert_eq!(gpu.pipeline.tessellation, reference.pipeline.tessellation, "{schedule:?}");
        assert_eq!(gpu.pipeline.dispatches, reference.pipeline.dispatches, "{schedule:?}");
        ran(&reference) - ran(&gpu)
    });
    assert_eq!(all, [all[0]; 3]);
    all[0]
}

#[test]
fn a_repeated_draw_makes_its_primitives_once() {
    // Three vertices of the scene. What clears the frame is drawn without tiles.
    for name in ["gs-explode", "tess-grow", "tess-gs"] {
        assert_eq!(known(&twice(name, "")), 3, "{name}");
    }
}

#[test]
fn what_its_stages_read_and_store_makes_it_run_again() {
    for (name, between) in [
        ("gs-explode", "CP_MEM_WRITE(vertices, 0xbf000000)"),
        ("tess-grow", "CP_MEM_WRITE(vertices, 0xbf000000)"),
        // The hull shader stores these again.
        ("tess-grow", "CP_MEM_WRITE(patches, 0x3f000000)"),
        ("tess-grow", "CP_MEM_WRITE(factors + 4, 0x3f800000)"),
        ("tess-gs", "CP_MEM_WRITE(patches, 0x3f000000)"),
    ] {
        assert_eq!(known(&twice(name, between)), 0, "{name} after {between}");
    }
}

#[test]
fn other_constants_make_it_run_again() {
    for (name, load) in [
        ("gs-explode", "load GS.constants { f32 0.05 / 3, 0.35, 0.3, 0.4 }"),
        ("tess-grow", "load HS.constants at 2 { f32 1.0472, 0.8, 0.1, 3.0 }"),
        ("tess-grow", "load DS.constants at 1 { f32 0.3, 0.0, 0.0, 0.0 }"),
    ] {
        // The first run has zeros.
        assert_eq!(
            known(&twice(name, "").with(load, "").with("call tile\n\n", &format!("call tile\n{load}\n"))),
            0,
            "{load}"
        );
    }
}

/// A second run would count on.
#[test]
fn a_hull_shader_that_reads_its_own_stores_runs_again() {
    let count =
        "ldg.u32 r9.x, g[r1.z+64], 1\n(sy)add.u r9.x, r9.x, 1\n(rpt5)nop\nstg.u32 g[r1.z+64], r9.x, 1\n";
    let scene = twice("tess-grow", "")
        .with("(rpt3)mov.f32f32 r3.x, c2.w", &format!("(rpt3)mov.f32f32 r3.x, c2.w\n{count}"));
    // Memory that is not known would be reported, and that alone makes the draw run again.
    let scene = scene.with("buffer main {\n", "buffer main {\nCP_MEM_WRITE(factors + 64, 7)\n");
    assert_eq!(known(&scene), 0);
}
