//! Malformed geometry and tessellation: a fault names the draw, and the other draws run.

use pretty_assertions::assert_eq;

use super::scene::{Scene, drawn, faults, floats, picture};

/// The faults of a scene, and the number of pixels that it drew.
fn outcome(scene: &Scene) -> (Vec<String>, usize) {
    let gpu = scene.play();
    (faults(&gpu), drawn(&picture(&gpu)))
}

fn passthrough() -> Scene {
    Scene::named("gs-passthrough")
}

fn whole() -> usize {
    outcome(&passthrough()).1
}

#[test]
fn a_shader_that_never_kills_is_cut_off_at_the_greatest_number_of_vertices() {
    let (faults, pixels) = outcome(&passthrough().with("(ss)kill p0.x", "(ss)nop"));
    assert_eq!(faults, ["draw 1: geometry shader has not killed after 3 vertices: cut off"]);
    assert_eq!(pixels, whole());
}

#[test]
fn more_vertices_than_allowed_are_not_made() {
    let (faults, pixels) = outcome(&passthrough().with("PC_DRAW_TRIANGLES, 3, 1", "PC_DRAW_TRIANGLES, 2, 1"));
    assert_eq!(faults, ["draw 1: geometry shader makes more than the 2 vertices of PC_GS_PARAM: cut off"]);
    assert_eq!(pixels, 0);
}

#[test]
fn reads_outside_the_local_buffer_are_reported_once_and_read_zero() {
    let (faults, pixels) = outcome(&passthrough().with("l[r0.w], 3", "l[r0.w+0x7c0], 3"));
    assert_eq!(faults, ["draw 1: GS reads 12 bytes at 0x880 of a local vertex buffer of 0xf0"]);
    assert_eq!(pixels, whole(), "the position is right, the colour is black");
}

#[test]
fn an_endless_shader_ends() {
    let (faults, pixels) = outcome(&passthrough().with("(ss)kill p0.x", "(ss)jump #0"));
    assert_eq!(faults, ["draw 1: geometry shader cut off after 4194304 instructions"]);
    assert_eq!(pixels, 0);
    let hull = Scene::named("tess-barrier").with("(ss)bar.g", "(ss)jump #0");
    assert_eq!(outcome(&hull), (vec!["draw 1: hull shader cut off after 4194304 instructions".into()], 0));
}

/// A trial run, which only decides whether the shader would continue, does not change memory.
#[test]
fn trial_runs_of_geometry_shaders_do_not_store() {
    let scene = Scene::named("gs-passthrough")
        .with("buffer vertices", "buffer counter size 4096\nbuffer vertices")
        .with("(ss)kill p0.x", "mov.u32u32 r6.x, c13.x\nldg.f32 r5.x, g[r6.x], 1\n(sy)(ss)add.f r5.x, r5.x, (1.0)\nstg.f32 g[r6.x], r5.x, 1")
        .with("load GS.constants at 12 { u32 0, 3 * POSITION, 0, 0 }", "load GS.constants at 12 { u32 0, 3 * POSITION, 0, 0, counter, 0, 0, 0 }");
    let gpu = scene.play();
    assert_eq!(faults(&gpu), ["draw 1: geometry shader has not killed after 3 vertices: cut off"]);
    let (counter, _) = gpu.memory().buffers().find(|(_, length)| *length == 4096).unwrap();
    assert_eq!(floats(&gpu, counter, 1), [3.0]);
}

/// A trial run, which only decides whether a shader kills, reads its own stores: the shader kills with the
/// fourth number that it counts.
#[test]
fn a_run_that_only_asks_sees_its_own_stores() {
    let count = "mov.u32u32 r6.x, c13.x
        (rpt5)nop
        ldg.f32 r5.x, g[r6.x], 1
        (sy)(ss)add.f r5.x, r5.x, (1.0)
        (rpt5)nop
        stg.f32 g[r6.x], r5.x, 1
        (rpt5)nop
        ldg.f32 r5.y, g[r6.x], 1
        (sy)cmps.f.eq p0.x, r5.y, (4.0)
        (rpt5)nop
        kill p0.x";
    let constants = "load GS.constants at 12 { u32 0, 3 * POSITION, 0, 0";
    let scene = Scene::named("gs-passthrough")
        .with("buffer vertices", "buffer counter size 4096\nbuffer vertices")
        .with("(ss)kill p0.x", count)
        .with(&format!("{constants} }}"), &format!("{constants}, counter, 0, 0, 0 }}"));
    let gpu = scene.play();
    assert_eq!(
        faults(&gpu),
        ["draw 1: geometry shader makes more than the 3 vertices of PC_GS_PARAM: cut off"]
    );
    let (counter, _) = gpu.memory().buffers().find(|(_, length)| *length == 4096).unwrap();
    assert_eq!(floats(&gpu, counter, 1), [3.0]);
}

#[test]
fn a_rectangle_is_no_input() {
    let gpu = passthrough().with("DI_PT_TRILIST, 3", "DI_PT_RECTLIST, 3").play();
    let what: Vec<_> = gpu.report.unsupported_features().collect();
    assert_eq!(what, ["draw 1: a geometry shader of DI_PT_RECTLIST"]);
}

/// A scene of one patch of four vertices; `addition` comes before its draw.
fn patch(addition: &str) -> Scene {
    let draw = "use draw_patches(TESS_QUADS";
    Scene::named("tess-barrier").with(draw, &format!("{addition}\n    {draw}"))
}

#[test]
fn factors_in_no_buffer_cull() {
    let (faults, pixels) = outcome(&patch("PC_TESSFACTOR_ADDR = 0x70000000"));
    assert_eq!(faults, ["draw 1: the tessellation factors of patch 0 at 0x70000000 are in no buffer"]);
    assert_eq!(pixels, 0);
}

#[test]
fn factors_that_are_no_numbers_cull() {
    let constants = "4.0, 4.0, 4.0, 4.0 }";
    let nan = Scene::named("tess-barrier").with(constants, "4.0, 0x7fc00000, 4.0, 4.0 }");
    assert_eq!(outcome(&nan).1, 0, "only c3.x is a factor everywhere but in outer 1");
    let (faults, _) = outcome(&nan);
    assert_eq!(faults, ["draw 1: patch 0 has a tessellation factor of NaN, taken for 0"]);
}

#[test]
fn enormous_factors_are_clamped() {
    let constants = "4.0, 4.0, 4.0, 4.0 }";
    let (faults, pixels) = outcome(&Scene::named("tess-barrier").with(constants, "1e30, 1e30, 1e30, 1e30 }"));
    assert_eq!(faults, ["draw 1: patch 0 has a tessellation factor of 1e30, clamped"]);
    assert!(pixels > 40_000, "{pixels}");
}

#[test]
fn patches_have_1_to_32_vertices() {
    let fault = |value| {
        format!("draw 1: tessellation of PRIM_TYPE {value:#x}, which is no patch of 1 to 32 vertices")
    };
    let none = Scene::named("tess-barrier").with("DI_PT_PATCHES4, 4)", "DI_PT_PATCHES0, 4)");
    assert_eq!(outcome(&none), (vec![fault(0x1f)], 0));
    // 0x1f + 33 does not fit the field, which then holds 0.
    let many = Scene::named("tess-barrier").with("DI_PT_PATCHES4, 4)", "DI_PT_NONE, 4)");
    assert_eq!(outcome(&many), (vec![fault(0)], 0));
    for count in [0, 33] {
        let scene = patch(&format!("PC_HS_PARAM {{ VERTICES_OUT = {count} | CONNECTED }}"));
        let fault = format!("draw 1: a hull shader of {count} output vertices");
        assert_eq!(outcome(&scene), (vec![fault], 0));
    }
}

#[test]
fn patches_need_both_shaders() {
    for (register, stage) in [("HLSQ_HS_CONTROL_REG", "hull"), ("HLSQ_DS_CONTROL_REG", "domain")] {
        let (faults, pixels) = outcome(&patch(&format!("{register} = 0")));
        assert_eq!(faults, [format!("draw 1: patches without a {stage} shader")]);
        assert_eq!(pixels, 0);
    }
}
