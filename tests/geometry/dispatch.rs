//! Dispatch modes change the cost of a draw, and no result.

use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::draw::gs::dispatch::{Mode, Setting, Why};
use a4emu_gpu::settled::Ended;
use pretty_assertions::assert_eq;

use super::scene::{FIRST, SETTINGS, Scene, all, bytes, faults, floats, picture, row};

/// All memory, and the reported faults.
fn state(gpu: &Ended) -> (Vec<(Address, Vec<u8>)>, Vec<String>) {
    let buffers = gpu.memory().buffers().collect::<Vec<_>>().into_iter();
    (buffers.map(|(base, length)| (base, bytes(gpu, base, length as usize))).collect(), faults(gpu))
}

#[test]
fn every_scene_is_the_same_in_every_mode() {
    for name in all() {
        let scene = Scene::named(&name);
        let expected = state(&scene.play_as(Setting::Single));
        for setting in SETTINGS {
            assert!(state(&scene.play_as(setting)) == expected, "{name} as {setting:?}");
        }
    }
}

/// Hand-written shaders that look for traces of other runs in their warp, or of earlier ones.
#[test]
fn no_mode_shows_a_shader_its_neighbours() {
    let scene = Scene::named("gs-passthrough")
        .with(
            "-0.7, -0.6, 0.7, -0.6, 0.0, 0.8",
            "-0.7, -0.6, 0.7, -0.6, 0.0, 0.8, -0.9, 0.9, -0.2, 0.4, -0.8, 0.1",
        )
        .with("vertices, 3)", "vertices, 6)")
        .with("DI_PT_TRILIST, 3", "DI_PT_TRILIST, 6");
    let end = "mov.u32u32 r4.x, 0";
    let added = |code: &str| scene.with(end, &format!("{code}\n{end}"));
    let scenes = [
        ("reads behind its inputs", scene.with("l[r0.w], 3", "l[r0.w+0xf0], 3")),
        ("reads before its inputs", scene.with("l[r0.w], 3", "l[r0.w-0xf0], 3")),
        ("does not ask where its inputs are", scene.with("and.b r0.w, r0.x, 31", "mov.u32u32 r0.w, 0")),
        ("shows where its inputs are", added("and.b r3.x, r0.x, 31\n(rpt5)nop\ncov.u32f32 r3.x, r3.x")),
        (
            "writes its inputs",
            added(
                "mov.u32u32 r6.x, 0xc0\n(rpt5)nop\n(sy)stlw.u32 l[r6.x], r2.x, 1\nldlw.u32 r3.x, l[r6.x], 1",
            ),
        ),
        (
            "writes local memory",
            added("mov.u32u32 r6.x, 0x40\n(rpt5)nop\nldl.u32 r3.x, l[r6.x], 1\n(sy)stl.u32 l[r6.x], r2.x, 1"),
        ),
        (
            "reads private memory that it has not written",
            added("mov.u32u32 r6.x, 0x40\n(rpt5)nop\nldp.u32 r3.x, p[r6.x], 1\n(sy)stp.u32 p[r6.x], r2.x, 1"),
        ),
    ];
    for (what, scene) in scenes {
        let expected = state(&scene.play_as(Setting::Single));
        for setting in SETTINGS {
            assert!(state(&scene.play_as(setting)) == expected, "a shader that {what}, as {setting:?}");
        }
    }
}

#[test]
fn the_number_of_threads_is_not_seen() {
    for name in ["gs-many", "gs-instanced", "tess-gs"] {
        let scene = Scene::named(name);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| scene.play())
        };
        let (one, three) = (with(1), with(3));
        assert!(state(&one) == state(&three), "{name}");
        assert_eq!(one.pipeline.dispatches, three.pipeline.dispatches);
    }
}

#[test]
fn primitives_and_instances_share_a_warp() {
    let warps = |name: &str, setting| row(&Scene::named(name).play_as(setting)).cost.warps;
    // 5 points of 4 invocations of 3 vertices each.
    assert_eq!(warps("gs-instanced", Setting::Single), 20);
    assert_eq!(warps("gs-instanced", Setting::DualInstanced), 10);
    assert_eq!(warps("gs-instanced", Setting::DualObject), 10);
    assert_eq!(warps("gs-instanced", Setting::Auto), 3);
    // 5 points of 4 vertices: a primitive with one instance cannot share its warp with another instance.
    assert_eq!(warps("gs-points-to-quads", Setting::Single), 5);
    assert_eq!(warps("gs-points-to-quads", Setting::DualInstanced), 5);
    assert_eq!(warps("gs-points-to-quads", Setting::DualObject), 3);
    assert_eq!(warps("gs-points-to-quads", Setting::Auto), 1);
}

#[test]
fn runs_are_those_that_the_chip_would_do() {
    for setting in SETTINGS {
        let row = row(&Scene::named("gs-passthrough").play_as(setting));
        assert_eq!((row.cost.runs, row.cost.vertices), (3, 3), "{setting:?}");
    }
}

#[test]
fn a_shader_with_many_registers_runs_two_instances_and_spills() {
    let scene =
        Scene::named("gs-passthrough").with("mov.u32u32 r4.x, 0", "mov.u32u32 r4.x, 0\nmov.u32u32 r29.w, 0");
    let chosen = row(&scene.play());
    assert_eq!((chosen.mode, chosen.why), (Mode::DualInstanced, Why::RegistersExceedBudget));
    assert_eq!(chosen.cost.spills, 2 * 30 - 48);
    assert_eq!(row(&scene.play_as(Setting::Single)).cost.spills, 0);
    let expected = picture(&Scene::named("gs-passthrough").play());
    for setting in SETTINGS {
        let gpu = scene.play_as(setting);
        assert_eq!(faults(&gpu), Vec::<String>::new());
        assert!(picture(&gpu) == expected, "{setting:?}");
    }
}

/// A scene with the colour once more as the 65th component.
fn wide() -> Scene {
    let more = "use coloured()
    SP_VS_PARAM_REG { POSREGID = r2.x | PSIZEREGID = r63.x | TOTALVSOUTVAR = 2 }
    SP_VS_OUT[0].REG { A_REGID = r3.x | A_COMPMASK = 7 | B_REGID = r3.x | B_COMPMASK = 1 }
    SP_VS_VPC_DST[0].REG { OUTLOC0 = 8 | OUTLOC1 = 72 }";
    Scene::named("gs-passthrough").with("use coloured()", more)
}

#[test]
fn a_shader_with_many_inputs_runs_alone() {
    let expected = picture(&Scene::named("gs-passthrough").play());
    for setting in SETTINGS {
        let gpu = wide().play_as(setting);
        let row = row(&gpu);
        let why = if setting == Setting::Single { Why::Asked } else { Why::InputsExceedLimit };
        assert_eq!((row.mode, row.why), (Mode::Single, why), "{setting:?}");
        let said: Vec<_> = gpu.report.unsupported_features().collect();
        match setting {
            Setting::Auto | Setting::Single => assert!(said.is_empty(), "{said:?}"),
            Setting::DualInstanced | Setting::DualObject => {
                assert_eq!(said, ["draw 1: dual dispatch of 65 input components, more than 64 (ran single)"])
            }
        }
        assert!(picture(&gpu) == expected);
    }
}

/// Every run adds 1 to a counter and stores the count at its vertex. Lanes that run past the kill, or out of
/// order, would show.
#[test]
fn a_shader_that_stores_runs_vertex_by_vertex() {
    let scene = Scene::new(
        r#"
        buffer counter size 4096
        include "geometry.a4i"
        buffer points { f32 0.0, 0.0, 0.5, 0.5 }
        buffer gs {
            shader {
                shr.b r0.z, r0.x, 15
                and.b r1.x, r0.x, 31
                mul.u24 r1.x, r1.x, ${POSITION}
                ldlw.u32 r2.x, l[r1.x], 4
                mov.u32u32 r6.x, c0.x
                ldg.f32 r5.x, g[r6.x], 1
                (sy)(ss)add.f r5.x, r5.x, (1.0)
                stg.f32 g[r6.x], r5.x, 1
                mov.u32u32 r4.x, 0
                cmps.u.eq p0.x, r0.z, 4
                kill p0.x
                end
            }
            align 128
        }
        buffer main {
            use cleared_frame()
            use input(vs, paint, points, 2)
            use geometry(gs, PC_DRAW_POINTS, 16, 1)
            load GS.constants { u32 counter, 0, 0, 0 }
            use draw(DI_PT_POINTLIST, 2)
        }
        submit main
        "#,
    );
    for setting in SETTINGS {
        let gpu = scene.play_as(setting);
        assert_eq!(faults(&gpu), Vec::<String>::new());
        let row = row(&gpu);
        assert_eq!((row.mode, row.why, row.cost.runs), (Mode::Single, Why::StoresInOrder, 10));
        assert_eq!(floats(&gpu, FIRST, 1), [10.0], "{setting:?}");
    }
}
