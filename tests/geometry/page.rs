//! The examples of docs/hardware/geometry-and-tessellation.md, section 1.3.

use a4emu_decoder::adreno::ir3::program::assemble;
use pretty_assertions::assert_eq;

use super::scene::{FIRST, Scene, faults, floats, row};

/// "This particular example was reading all 4 components of the 3rd vertex's gl_Position."
const EXAMPLE: [u64; 2] = [0x6201_8003_1030_9024, 0xc286_000b_0480_c001];

#[test]
fn the_printed_instructions_are_what_the_page_says() {
    let text = "mad.u24 r0.w, c9.x, (r)r0.w, c12.x\nldlw.u32 r2.w, l[r0.w], 4";
    assert_eq!(assemble(text).unwrap(), EXAMPLE);
}

/// Two triangles, c9.x = 0xc0, c12.x = 0x80, r0.w the primitive's place. Each triangle becomes one point at
/// its third vertex, and feedback captures the result.
#[test]
fn the_printed_instructions_read_the_third_vertex() {
    let scene = Scene::new(
        r#"
        buffer got size 4096
        include "geometry.a4i"
        buffer vertices { f32 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.625 }
        buffer gs {
            shader {
                and.b r0.w, r0.x, 31
            }
            u32 0x10309024, 0x62018003, 0x0480c001, 0xc286000b
            shader {
                shr.b r4.x, r0.x, 15
                cmps.u.eq p0.x, r4.x, 0
                (ss)kill p0.x
                end
            }
            align 128
        }
        buffer main {
            use cleared_frame()
            use input(vs, paint, vertices, 6)
            use geometry(gs, PC_DRAW_POINTS, 1, 1)
            SP_GS_PARAM_REG { POSREGID = r2.w | PRIMREGID = r63.x }
            load GS.constants at 9 { u32 0xc0, 0, 0, 0 }
            load GS.constants at 12 { u32 0x80, 0, 0, 0 }
            VPC_SO_BUF_CNTL = 1
            VPC_SO_CNTL = 0
            VPC_SO_PROG { A_EN | A_OFF = 0 | B_EN | B_OFF = 4 }
            VPC_SO_PROG { A_EN | A_OFF = 8 | B_EN | B_OFF = 12 }
            VPC_SO[0].BUFFER_BASE = got
            VPC_SO[0].BUFFER_SIZE = 64
            VPC_SO[0].NCOMP = 4
            use draw(DI_PT_TRILIST, 6)
        }
        submit main
        "#,
    );
    let gpu = scene.play();
    assert_eq!(faults(&gpu), Vec::<String>::new());
    assert_eq!(floats(&gpu, FIRST, 9), [5.0, 6.0, 0.0, 1.0, 0.5, 0.625, 0.0, 1.0, 0.0]);
}

/// A scene in which a point becomes a strip of `count` vertices.
fn many(make: &str, count: u32) -> Scene {
    Scene::new(&format!(
        r#"
        include "many.a4i"
        use {make}(gs, {count})
        buffer main {{
            use cleared_frame()
            use draw_many(gs, {count}, 1)
        }}
        submit main
        "#
    ))
}

/// "Each primitive will execute O(vertices * instructions) instructions" for each of its vertices' runs. With
/// the rewrite, the cost of a run does not depend on the vertex that it makes.
#[test]
fn the_emulation_costs_the_square_and_the_rewrite_does_not() {
    let cost = |make: &str, count: u32| {
        let row = row(&many(make, count).play());
        assert_eq!(row.cost.vertices, 5 * u64::from(count));
        row.cost.lane_instructions as f64 / row.cost.vertices as f64
    };
    let grows = cost("many_by_emit_vertex", 64) / cost("many_by_emit_vertex", 4);
    assert!((8.0..17.0).contains(&grows), "{grows}");
    let stays = cost("many", 64) / cost("many", 4);
    assert!((0.5..1.1).contains(&stays), "{stays}");
}
