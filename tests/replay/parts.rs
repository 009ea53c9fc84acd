//! A draw that is too large to be held in memory at once.

use a4emu_gpu::settled::Ended;

use crate::geometry::scene::{Scene, picture};

/// Points that cover the pixels of a square of 64, row by row, about 366 for each.
const SCENE: &str = r#"
    include "../setup.a4i"
    gpu_id 420
    const COUNT = 1500000
    buffer target size 16384
    buffer vs size 256 { shader {
        cov.u32f32 r1.x, r0.x
        (rpt2)nop
        mul.f r1.x, r1.x, c0.x
        (rpt2)nop
        floor.f r1.x, r1.x
        (rpt2)nop
        mul.f r1.y, r1.x, c0.y
        (rpt2)nop
        floor.f r1.y, r1.y
        (rpt2)nop
        mul.f r1.z, r1.y, c0.z
        (rpt2)nop
        add.f r1.x, r1.x, (neg)r1.z
        (rpt2)nop
        mul.f r0.x, r1.x, c1.x
        mul.f r0.y, r1.y, c1.x
        (rpt2)nop
        add.f r0.x, r0.x, c1.y
        add.f r0.y, r0.y, c1.y
        mov.f32f32 r0.z, (0.0)
        mov.f32f32 r0.w, (1.0)
        end
    } }
    WHITE
    buffer main {
        use frame(target, 64, 64)
        use program(vs, fs, r0.x, r0.x)
        use attributes(0, 0)
        VFD_CONTROL_1 { MAXSTORAGE = 129 | REGID4VTX = r0.x | REGID4INST = r63.x }
        GRAS_SU_POINT_MINMAX { MIN = 1.0 | MAX = 1.0 }
        + GRAS_SU_POINT_SIZE = 1.0
        load VS.constants { f32 4095.5 / COUNT, 0.015625, 64.0, 0.0, 0.03125, -0.984375, 0.0, 0.0 }
        DRAWS
    }
    submit main
"#;

/// The fragment shader of all scenes.
const WHITE: &str = "buffer fs size 128 { shader {
        (rpt3)mov.f32f32 r0.x, (1.0)
        end
    } }";

/// Plays a scene that must give no reports.
fn play(scene: &Scene) -> Ended {
    let gpu = scene.with("WHITE", WHITE).play();
    assert_eq!(gpu.report.troubles.total(), 0, "{:?}", gpu.report.troubles.iter().collect::<Vec<_>>());
    gpu
}

fn draws(draws: &str) -> Ended {
    play(&Scene::new(SCENE).with("DRAWS", draws))
}

/// The columns of the white pixels in tile memory.
fn lit(gpu: &Ended) -> Vec<usize> {
    let pixels = gpu.tile_memory().chunks_exact(4).take(64 * 64).enumerate();
    pixels.filter(|(_, pixel)| **pixel == [255; 4]).map(|(i, _)| i % 64).collect()
}

#[test]
fn all_of_it_is_drawn() {
    let gpu = draws("use draw(DI_PT_POINTLIST, COUNT)");
    let missing = picture(&gpu).chunks_exact(4).filter(|pixel| *pixel != [255; 4]).count();
    assert_eq!((missing, gpu.pipeline.stats.emulated.vertices), (0, 1_500_000));
}

/// One packet in two tiles. 366 of its points are on the screen.
#[test]
fn remaining_primitives_of_split_draws_are_cached_between_tiles() {
    let vertices = |between: &str| {
        let gpu = draws(&format!(
            "RB_MODE_CONTROL {{ ENABLE_GMEM | WIDTH = 64 | HEIGHT = 64 }}
            RB_MRT[0].BASE = 0
            load VS.constants {{ f32 4095.5 / COUNT, 0.015625, 64.0, 0.0, 2.0, -0.984375, 0.0, 0.0 }}
            CP_INDIRECT_BUFFER(points, 4)
            {between}
            CP_INDIRECT_BUFFER(points, 4)
        }}
        buffer points {{
            use draw(DI_PT_POINTLIST, COUNT)"
        ));
        (lit(&gpu).len(), gpu.pipeline.stats.emulated.vertices)
    };
    assert_eq!(vertices(""), (1, 1_500_000), "it is the same");
    let moved = "load VS.constants { f32 4095.5 / COUNT, 0.015625, 64.0, 0.0, 2.0, -0.484375, 0.0, 0.0 }";
    assert_eq!(vertices(moved), (2, 3_000_000), "it has moved");
}

/// A scene of points whose positions are read from a texture.
const TEXTURED: &str = r#"
    include "../setup.a4i"
    gpu_id 420
    buffer texels { u32 0x40 }
    buffer others { u32 0xc0 }
    buffer vs size 128 { shader {
        mov.u32u32 r1.x, 0
        mov.u32u32 r1.y, 0
        (rpt5)nop
        isam (f32)(xyzw)r0.x, r1.x, s#0, t#0
        (sy)mov.f32f32 r0.z, (0.0)
        mov.f32f32 r0.w, (1.0)
        end
    } }
    WHITE
    buffer main {
        use frame(0, 64, 64)
        RB_MODE_CONTROL { ENABLE_GMEM | WIDTH = 64 | HEIGHT = 64 }
        use program(vs, fs, r0.x, r0.x)
        use attributes(0, 0)
        load VS.samplers { TEX_SAMP_0 { 0 } TEX_SAMP_1 { 0 } }
        load VS.textures { TEXTURE }
        CP_INDIRECT_BUFFER(point, 4)
        BETWEEN
        CP_INDIRECT_BUFFER(point, 4)
    }
    buffer point {
        use draw(DI_PT_POINTLIST, 1)
    }
    submit main
"#;

const TEXTURE: &str = "
    TEX_CONST_0 { SWIZ_Y = A4XX_TEX_Y | SWIZ_Z = A4XX_TEX_Z | SWIZ_W = A4XX_TEX_W | FMT = TFMT4_8_8_8_8_UNORM | TYPE = A4XX_TEX_2D }
    TEX_CONST_1 { HEIGHT = 1 | WIDTH = 1 }
    TEX_CONST_2 { PITCHALIGN = 0 | PITCH = 4 }
    TEX_CONST_3 { 0 }
    TEX_CONST_4 { BASE = texels }
    TEX_CONST_5 0
    TEX_CONST_6 0
    TEX_CONST_7 0";

#[test]
fn vertices_that_textures_move_are_there_for_the_next_tile() {
    let vertices = |between: &str| {
        let gpu = play(&Scene::new(TEXTURED).with("BETWEEN", between).with("TEXTURE", TEXTURE));
        (lit(&gpu), gpu.pipeline.stats.emulated.vertices)
    };
    assert_eq!(vertices(""), (vec![40], 1), "it is the same");
    assert_eq!(vertices("CP_MEM_WRITE(texels, 0xc0)"), (vec![40, 56], 2), "another texel");
    let other = TEXTURE.replace("BASE = texels", "BASE = others");
    assert_eq!(vertices(&format!("load VS.textures {{ {other} }}")), (vec![40, 56], 2), "another texture");
}
