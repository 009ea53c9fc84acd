//! Layered targets and several viewports.

use a4emu_decoder::a4xx::regs::rb::RB_MRT_BASE;
use pretty_assertions::assert_eq;

use super::scene::{Scene, bytes, drawn, faults};
use a4emu_gpu::picture::Picture;

/// Two triangles. The geometry shader sends each to the layer of its number, 2 and 0.
fn scene() -> Scene {
    let size = "const LAYERS = 3\nconst BYTES = 65536 * 4\n";
    let text = format!(
        r#"
        {size}
        include "geometry.a4i"
        buffer layered size BYTES * LAYERS
        buffer vertices {{ f32 -0.9, -0.8, -0.1, -0.8, -0.5, 0.8, 0.1, -0.8, 0.9, -0.8, 0.5, 0.8 }}
        buffer gs {{
            use vertex_of(3, 3 * POSITION)
            shader {{
                shl.b r1.y, r0.z, 6
                add.u r1.x, r1.x, r1.y
                ldlw.u32 r2.x, l[r1.x], 4
                add.u r4.x, r0.y, 1
                and.b r4.x, r4.x, 1
                shl.b r4.x, r4.x, 8
                (rpt2)mov.f32f32 r3.x, (1.0)
                end
            }}
            align 128
        }}
        buffer main {{
            use cleared_frame()
            RB_MRT[0].BASE = layered
            use input(vs, paint, vertices, 6)
            use geometry(gs, PC_DRAW_TRIANGLES, 3, 1)
            PC_GS_PARAM {{ MAX_VERTICES = 2 | PRIMTYPE = PC_DRAW_TRIANGLES | LAYER }}
            use draw(DI_PT_TRILIST, 6)
        }}
        submit main
        "#
    );
    Scene::new(&text)
}

/// White pixels in the left and in the right half of every layer.
fn halves(scene: &Scene) -> Vec<[usize; 2]> {
    let gpu = scene.play();
    assert_eq!(faults(&gpu), Vec::<String>::new());
    let base = gpu.regs.at::<RB_MRT_BASE>(0).VALUE();
    let layer = |n: u32| {
        let bytes = bytes(&gpu, base + n * 65536 * 4, 65536 * 4);
        let side = |x: usize| {
            let white = |(i, pixel): (usize, &[u8])| i % 256 / 128 == x && pixel == [255; 4];
            bytes.chunks_exact(4).enumerate().filter(|(i, p)| white((*i, p))).count()
        };
        [side(0), side(1)]
    };
    (0..3).map(layer).collect()
}

#[test]
fn the_primitive_word_chooses_the_layer() {
    let got = halves(&scene());
    assert!(got[0][1] > 5000 && got[2][0] > 5000, "{got:?}");
    assert_eq!([got[0][0], got[1][0], got[1][1], got[2][1]], [0; 4]);
}

#[test]
fn without_the_bit_all_is_in_the_first_layer() {
    let got = halves(&scene().with(" | LAYER }", " }"));
    assert!(got[0][0] > 5000 && got[0][1] > 5000, "{got:?}");
    assert_eq!(got[1..], [[0; 2]; 2]);
}

#[test]
fn every_layer_that_was_drawn_to_is_a_surface() {
    let gpu = scene().play();
    let surfaces: Vec<_> = gpu.pipeline.surfaces.iter().collect();
    assert_eq!(surfaces.len(), 3, "the cleared target and two layers");
    assert_eq!(surfaces[1].address + 2 * 65536 * 4, surfaces[2].address);
    assert!(surfaces[1..].iter().all(|s| drawn(&Picture::of(s, gpu.memory()).unwrap().pixels()) > 0));
}

/// Two triangles use viewports 1 and 0, which are the lower and the upper half of the target.
#[test]
fn the_primitive_word_chooses_the_viewport() {
    let scene = scene().with("shl.b r4.x, r4.x, 8", "shl.b r4.x, r4.x, 3").with(
        "use geometry(gs",
        "GRAS_CL_VPORT_YOFFSET_0 = 64.0
            + GRAS_CL_VPORT_YSCALE_0 = -64.0
            GRAS_CL_VPORT_AFTER_0[0].XOFFSET = 128.0
            + GRAS_CL_VPORT_AFTER_0[0].XSCALE = 128.0
            + GRAS_CL_VPORT_AFTER_0[0].YOFFSET = 192.0
            + GRAS_CL_VPORT_AFTER_0[0].YSCALE = -64.0
            + GRAS_CL_VPORT_AFTER_0[0].ZOFFSET = 0.5
            + GRAS_CL_VPORT_AFTER_0[0].ZSCALE = 0.5
            use geometry(gs",
    );
    let gpu = scene.play();
    assert_eq!(faults(&gpu), Vec::<String>::new());
    let bytes = bytes(&gpu, gpu.regs.at::<RB_MRT_BASE>(0).VALUE(), 65536 * 4);
    let white = |y: usize, x: usize| {
        let inside = |i: usize| i / 256 / 128 == y && i % 256 / 128 == x;
        bytes.chunks_exact(4).enumerate().filter(|(i, pixel)| inside(*i) && *pixel == [255; 4]).count()
    };
    let quarters = [white(0, 0), white(0, 1), white(1, 0), white(1, 1)];
    assert!(quarters[1] > 2500 && quarters[2] > 2500, "{quarters:?}");
    assert_eq!((quarters[0], quarters[3]), (0, 0));
}
