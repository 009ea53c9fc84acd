//! A draw that is too large to be held at once.

use super::scene::{Scene, picture};

/// Points that go through the pixels of a square of 64, row by row, about 366 to each.
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
    buffer fs size 128 { shader {
        (rpt3)mov.f32f32 r0.x, (1.0)
        end
    } }
    buffer main {
        use frame(target, 64, 64)
        use program(vs, fs, r0.x, r0.x)
        use attributes(0, 0)
        VFD_CONTROL_1 { MAXSTORAGE = 129 | REGID4VTX = r0.x | REGID4INST = r63.x }
        GRAS_SU_POINT_MINMAX { MIN = 1.0 | MAX = 1.0 }
        + GRAS_SU_POINT_SIZE = 1.0
        load VS.constants { f32 4095.5 / COUNT, 0.015625, 64.0, 0.0, 0.03125, -0.984375, 0.0, 0.0 }
        use draw(DI_PT_POINTLIST, COUNT)
    }
    submit main
"#;

#[test]
fn all_of_it_is_drawn() {
    let gpu = Scene::new(SCENE).play();
    let troubles: Vec<_> = gpu.report.troubles.iter().collect();
    assert!(troubles.is_empty(), "{troubles:?}");
    let missing = picture(&gpu).chunks_exact(4).filter(|pixel| *pixel != [255; 4]).count();
    assert_eq!((missing, gpu.pipeline.stats.vertices), (0, 1_500_000));
}
