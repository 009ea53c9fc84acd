//! Transform feedback through the inferred stream-out registers.

use pretty_assertions::assert_eq;

use super::scene::{FIRST, SETTINGS, Scene, drawn, faults, floats, picture};

/// Registers that write positions x, y of stream `stream` to 64 bytes at `got + 64 * buffer`.
fn buffer(buffer: u32, size: u32) -> String {
    format!(
        "VPC_SO[{buffer}].BUFFER_BASE = got + {buffer} * 64
        VPC_SO[{buffer}].BUFFER_SIZE = {size}
        VPC_SO[{buffer}].NCOMP = 2
        VPC_SO[{buffer}].BUFFER_OFFSET = 0\n"
    )
}

/// A scene with the single draw `draw`, and feedback of x and y to buffer 0 of `size` bytes.
pub fn plain(draw: &str, size: u32) -> Scene {
    let registers = buffer(0, size);
    Scene::new(&format!(
        r#"
        buffer got size 4096
        include "geometry.a4i"
        buffer vertices {{ f32 0.0, 0.1, 1.0, 1.1, 2.0, 2.1, 3.0, 3.1 }}
        buffer main {{
            use cleared_frame()
            use input(vs, paint, vertices, 4)
            {registers}
            VPC_SO_FLUSH_WADDR_0 = got + 256
            VPC_SO_BUF_CNTL = 1
            VPC_SO_OVERRIDE = 0
            VPC_SO_CNTL = 0
            VPC_SO_PROG {{ A_EN | A_OFF = 0 | B_EN | B_OFF = 4 }}
            use draw({draw})
        }}
        submit main
        "#
    ))
}

fn xs(scene: &Scene, count: usize) -> Vec<f32> {
    let gpu = scene.play();
    assert_eq!(faults(&gpu), Vec::<String>::new());
    floats(&gpu, FIRST, 2 * count).chunks(2).map(|xy| xy[0]).collect()
}

#[test]
fn strips_are_taken_apart() {
    assert_eq!(xs(&plain("DI_PT_TRISTRIP, 4", 64), 7), [0.0, 1.0, 2.0, 2.0, 1.0, 3.0, 0.0]);
    assert_eq!(xs(&plain("DI_PT_LINESTRIP, 3", 64), 5), [0.0, 1.0, 1.0, 2.0, 0.0]);
    assert_eq!(xs(&plain("DI_PT_POINTLIST, 4", 64), 5), [0.0, 1.0, 2.0, 3.0, 0.0]);
}

#[test]
fn a_primitive_that_does_not_fit_is_not_written() {
    let scene = plain("DI_PT_TRISTRIP, 4", 47);
    assert_eq!(xs(&scene, 4), [0.0, 1.0, 2.0, 0.0]);
    let flushed = scene.play().memory().slice(FIRST + 256, 4).unwrap().to_vec();
    assert_eq!(flushed, 24u32.to_le_bytes());
}

#[test]
fn the_offset_goes_on_with_the_next_draw() {
    let twice = plain("DI_PT_POINTLIST, 2", 64).with("submit main", "submit main\nsubmit again_main");
    let again = twice
        .with("buffer main {", "buffer again_main { use draw(DI_PT_POINTLIST, 1) }\n        buffer main {");
    assert_eq!(xs(&again, 4), [0.0, 1.0, 0.0, 0.0]);
}

#[test]
fn an_override_turns_it_off() {
    let scene = plain("DI_PT_POINTLIST, 4", 64).with("VPC_SO_OVERRIDE = 0", "VPC_SO_OVERRIDE = 1");
    assert_eq!(xs(&scene, 2), [0.0, 0.0]);
}

/// Each point becomes four, one for each stream; only stream 0 is drawn. Buffer 1 receives stream 3, buffers
/// 2 and 3 streams 1 and 2.
#[test]
fn points_go_to_the_buffer_of_their_stream() {
    let buffers: String = (0..4).map(|i| buffer(i, 64)).collect();
    let scene = Scene::new(&format!(
        r#"
        buffer got size 4096
        include "geometry.a4i"
        buffer points {{ f32 -0.5, 0.5, 0.25, 0.75 }}
        buffer gs {{
            use vertex_of(4, POSITION)
            shader {{
                ldlw.u32 r2.x, l[r1.x], 4
                cov.u32f32 r3.x, r0.z
                (ss)add.f r2.x, r2.x, r3.x
                mov.u32u32 r4.x, r0.z
                mov.f32f32 r4.y, (1.0)
                end
            }}
            align 128
        }}
        buffer main {{
            use cleared_frame()
            use input(vs, paint, points, 2)
            use geometry(gs, PC_DRAW_POINTS, 4, 1)
            {buffers}
            VPC_SO_BUF_CNTL = {streams}
            VPC_SO_CNTL = 0
            VPC_SO_PROG {{ A_EN | A_BUF = BUFFER | A_OFF = 0 | B_EN | B_BUF = BUFFER | B_OFF = 4 }}
            use draw(DI_PT_POINTLIST, 2)
        }}
        submit main
        "#,
        streams = 1 | 4 << 3 | 2 << 6 | 3 << 9
    ));
    let alone = |stream: u32| {
        let constant = format!("const BUFFER = {stream}\n        buffer got size 4096");
        let scene = scene.with("buffer got size 4096", &constant);
        let got = SETTINGS.map(|setting| {
            let gpu = scene.play_as(setting);
            assert_eq!(faults(&gpu), Vec::<String>::new());
            assert_eq!(drawn(&picture(&gpu)), 2, "stream 0 alone is drawn");
            floats(&gpu, FIRST + 64 * stream, 6)
        });
        assert!(got.iter().all(|floats| *floats == got[0]), "{got:?}");
        got[0].clone()
    };
    assert_eq!(alone(0), [-0.5, 0.5, 0.25, 0.75, 0.0, 0.0]);
    assert_eq!(alone(1), [2.5, 0.5, 3.25, 0.75, 0.0, 0.0]);
    assert_eq!(alone(2), [0.5, 0.5, 1.25, 0.75, 0.0, 0.0]);
    assert_eq!(alone(3), [1.5, 0.5, 2.25, 0.75, 0.0, 0.0]);
}

/// The output of a domain shader: the corners of the patch.
#[test]
fn tessellated_triangles_are_fed_back() {
    let scene = Scene::named("tess-tri-one").with("buffer vertices", "buffer got size 4096\nbuffer vertices");
    let registers = format!(
        "{}
        VPC_SO_BUF_CNTL = 1
        VPC_SO_CNTL = 0
        VPC_SO_PROG {{ A_EN | A_OFF = 0 | B_EN | B_OFF = 4 }}
        use bent_triangles",
        buffer(0, 64)
    );
    let gpu = scene.with("use bent_triangles", &registers).play();
    assert_eq!(faults(&gpu), Vec::<String>::new());
    let base = gpu.regs.get::<a4emu_decoder::a4xx::regs::vpc::VPC_SO_BUFFER_BASE>().VALUE();
    assert_eq!(floats(&gpu, base, 8), [0.7, -0.6, 0.0, 0.8, -0.525, -0.450_000_02, 0.0, 0.0]);
}
