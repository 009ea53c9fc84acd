//! Draws to tile memory queue their fragments. The results must not depend on it.

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::{Silent, Skip};
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Ended;

use crate::geometry::scene::Scene;

/// Pixels along a side of the target.
const SIZE: usize = 64;

/// Rectangles in tile memory whose colour is the dword at `word`: `LEFT` and `RIGHT` draw the halves.
/// A shader without inputs would run once, when the draw is issued.
const SCENE: &str = r#"
    include "../setup.a4i"
    gpu_id 420
    const SIZE = 64
    buffer word { u32 0x11, 0 }
    buffer samples size 256
    buffer left { f32 -1.0, 1.0, 0.0, -1.0 }
    buffer right { f32 0.0, 1.0, 1.0, -1.0 }
    buffer vs size 128 { shader {
        mov.f32f32 r0.z, (0.0)
        mov.f32f32 r0.w, (1.0)
        end
    } }
    buffer fs size 128 { shader {
        bary.f (ei)r2.x, 0, r0.x             // nothing, but in each pixel anew
        mov.u32u32 r1.x, c0.x
        ldg.u32 r0.x, g[r1.x], 1
        (sy)(ss)cov.u32f32 r0.x, r0.x
        mad.f32 r0.x, c0.y, r0.x, r2.x
        mov.f32f32 r0.y, (0.0)
        mov.f32f32 r0.z, (0.0)
        mov.f32f32 r0.w, (1.0)
        end
    } }
    buffer storing size 128 { shader {
        mov.u32u32 r1.x, c0.x
        mov.u32u32 r1.y, c0.z
        stg.u32 g[r1.x], r1.y, 1
        mov.f32f32 r0.x, (0.0)
        mov.f32f32 r0.y, (0.0)
        mov.f32f32 r0.z, (0.0)
        mov.f32f32 r0.w, (1.0)
        end
    } }
    buffer main {
        use frame(0, SIZE, SIZE)
        RB_MODE_CONTROL { ENABLE_GMEM | WIDTH = SIZE | HEIGHT = SIZE }
        use program(vs, fs, r0.x, r0.x)
        use attributes(1, 2)
        load FS.constants { u32 word f32 0.0039215689 u32 0x22, 0 }
        LEFT
        BETWEEN
        RIGHT
        AFTER
    }
    submit main
"#;

const LEFT: &str = "use attribute(0, left, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)\n use draw(DI_PT_RECTLIST, 2)";
const RIGHT: &str =
    "use attribute(0, right, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)\n use draw(DI_PT_RECTLIST, 2)";

fn play(between: &str, after: &str) -> Ended {
    let scene = Scene::new(SCENE).with("LEFT", LEFT).with("RIGHT", RIGHT);
    let gpu = scene.with("BETWEEN", between).with("AFTER", after).play();
    assert_eq!(gpu.report.troubles.total(), 0, "{:?}", gpu.report.troubles.iter().collect::<Vec<_>>());
    gpu
}

/// Red of a pixel in the left and one in the right half of the target at `base`.
fn halves(gpu: &Ended, base: usize) -> [u8; 2] {
    let row = base + 4 * SIZE * (SIZE / 2);
    [row + 4 * 8, row + 4 * (SIZE - 8)].map(|at| gpu.tile_memory()[at])
}

#[test]
fn they_are_done_at_the_end_of_the_submit() {
    assert_eq!(halves(&play("", ""), 0), [0x11, 0x11]);
}

#[test]
fn a_store_of_a_packet_comes_after_the_draws_before_it() {
    assert_eq!(halves(&play("CP_MEM_WRITE(ADDR = word, 0x33)", ""), 0), [0x11, 0x33]);
}

/// The rectangle of the storing shader covers the right half. The next draw covers the left half again, at
/// another target.
#[test]
fn a_store_of_a_shader_comes_after_the_draws_before_it() {
    let between = format!("use program(vs, storing, r0.x, r0.x)\n{RIGHT}\nuse program(vs, fs, r0.x, r0.x)");
    assert_eq!(halves(&play(&between, ""), 0), [0x11, 0x22]);
    let in_vertices = format!(
        "use program(vs_storing, fs, r0.x, r0.x)\nload VS.constants {{ u32 word, 0, 0x44, 0 }}\n{RIGHT}\nuse program(vs, fs, r0.x, r0.x)"
    );
    let scene = Scene::new(SCENE)
        .with("LEFT", LEFT)
        .with("RIGHT", "")
        .with("AFTER", "")
        .with("BETWEEN", &in_vertices)
        .with(
            "buffer storing",
            "buffer vs_storing size 128 { shader {
                mov.u32u32 r1.x, c0.x
                mov.u32u32 r1.y, c0.z
                stg.u32 g[r1.x], r1.y, 1
                mov.f32f32 r0.z, (0.0)
                mov.f32f32 r0.w, (1.0)
                end
            } }
            buffer storing",
        );
    assert_eq!(halves(&scene.play(), 0), [0x11, 0x44]);
}

/// The value of a counter in `samples`.
fn counted(gpu: &Ended) -> u32 {
    counted_in(gpu, 256)
}

/// The value of a counter in the buffer of this length.
fn counted_in(gpu: &Ended, bytes: u32) -> u32 {
    let at = gpu.memory().buffers().find(|(_, len)| *len == bytes).expect("the buffer of the counter").0;
    gpu.memory().read_u32(at).expect("a count")
}

#[test]
fn counters_count_the_draws_before_them() {
    let count = "RB_SAMPLE_COUNT_CONTROL { COPY | ADDR = samples }\nCP_EVENT_WRITE({ EVENT = ZPASS_DONE })";
    let half = (SIZE * SIZE / 2) as u32;
    assert_eq!(counted(&play(count, "")), half);
    assert_eq!(counted(&play("", count)), 2 * half);
    assert_eq!(counted(&play("CP_EVENT_WRITE({ EVENT = RST_PIX_CNT })", count)), half);
}

/// Without a clock, a replay counts work. A counter of another event does not change.
#[test]
fn ticks_go_on_with_the_draws_before_them() {
    let read = "CP_REG_TO_MEM({ REG = 0x9c | CNT = 2 | 64B }, samples)";
    let (left, all) = (counted(&play(read, "")), play("", read));
    let half = (SIZE * SIZE / 2) as u32;
    assert!(left > half && counted(&all) - left > half, "{left} {}", counted(&all));
    let rest = all.budget.spent() - u64::from(counted(&all));
    assert!(rest < 100, "{rest} units after all draws");
}

/// A counter that is not counted is a trouble where a packet reads it, with the name of what it should count.
#[test]
fn counters_that_are_not_counted_are_refused() {
    let sel = "CP_PERFCTR_CP_SEL_0 = CP_BUSY\n SP_PERFCTR_SP_SEL_1 = SP_BUSY_CYCLES\n RBBM_PERFCTR_CTL = 1";
    let cp = "counter RBBM_PERFCTR_CP_0_LO with CP_PERFCTR_CP_SEL_0 = CP_BUSY is not supported yet";
    let sp = "counter RBBM_PERFCTR_SP_1_LO with SP_PERFCTR_SP_SEL_1 = SP_BUSY_CYCLES is not supported yet";
    let power = "counter RBBM_PERFCTR_PWR_0_LO is not supported yet";
    let not_selected = "counter RBBM_PERFCTR_HLSQ_0_LO with HLSQ_PERFCTR_HLSQ_SEL_0 = HLSQ_SP_VS_STAGE_CONSTANT is not supported yet";
    for (read, says) in [
        ("CP_REG_TO_MEM({ REG = 0x9c | CNT = 2 | 64B }, samples)", Some(cp)),
        ("CP_REG_TO_MEM({ REG = 0x126 | CNT = 2 | 64B }, samples)", Some(sp)),
        ("CP_REG_TO_SCRATCH({ REG = 0x126 | SCRATCH = 0 | CNT = 0 })", Some(sp)),
        ("CP_REG_TO_MEM({ REG = 0x166 | CNT = 2 | 64B }, samples)", Some(power)),
        ("CP_REG_TO_MEM({ REG = 0xd4 | CNT = 2 | 64B }, samples)", Some(not_selected)),
        // A stopped counter that has counted an event which is not supported.
        ("RBBM_PERFCTR_CTL = 0\nCP_REG_TO_MEM({ REG = 0x126 | CNT = 2 | 64B }, samples)", Some(sp)),
        ("CP_REG_TO_MEM({ REG = 0x170 | CNT = 1 }, samples)", None),
    ] {
        let scene = Scene::new(SCENE).with("LEFT", LEFT).with("RIGHT", RIGHT);
        let gpu = scene.with("BETWEEN", sel).with("AFTER", read).play();
        let said: Vec<String> = gpu.report.troubles.iter().map(|(it, ..)| it.to_string()).collect();
        assert_eq!(said, says.into_iter().collect::<Vec<_>>(), "{read}");
    }
}

/// Reads the counter whose low half is `register`.
fn read_of(register: u32) -> String {
    format!("CP_REG_TO_MEM({{ REG = {register:#x} | CNT = 2 | 64B }}, samples)")
}

/// The left half is drawn before the select. Each half has 32 x 64 pixels: 64 warps of 32. Its rectangle has two
/// vertices: one warp. The fragment shader has nine instructions: `bary.f`, two `mov`, `cov`, `mad` and two more `mov` are
/// arithmetic, the others `ldg` and `end`; the vertex shader has three: two `mov` and `end`.
#[test]
fn counters_count_what_is_drawn_after_their_select() {
    for (select, register, count) in [
        ("SP_PERFCTR_SP_SEL_0 = SP_FS_INSTRUCTIONS", 0x124, 64 * 9),
        ("SP_PERFCTR_SP_SEL_11 = SP_VS_INSTRUCTIONS", 0x13a, 3),
        ("SP_PERFCTR_SP_SEL_1 = SP_FS_STAGE_FULL_ALU_INSTRUCTIONS", 0x126, 64 * 7),
        ("SP_PERFCTR_SP_SEL_1 = SP_FS_STAGE_CFLOW_INSTRUCTIONS", 0x126, 64),
        ("SP_PERFCTR_SP_SEL_1 = SP_FS_STAGE_HALF_ALU_INSTRUCTIONS", 0x126, 0),
        ("SP_PERFCTR_SP_SEL_1 = SP_FS_STAGE_EFU_INSTRUCTIONS", 0x126, 0),
        ("SP_PERFCTR_SP_SEL_1 = SP_FS_STAGE_TEX_INSTRUCTIONS", 0x126, 0),
        ("SP_PERFCTR_SP_SEL_1 = SP_VS_STAGE_FULL_ALU_INSTRUCTIONS", 0x126, 2),
        ("HLSQ_PERFCTR_HLSQ_SEL_0 = HLSQ_PIXELS", 0xd4, 32 * 64),
        ("HLSQ_PERFCTR_HLSQ_SEL_7 = HLSQ_VERTICES", 0xe2, 2),
        ("VFD_PERFCTR_VFD_SEL_0 = VFD_NUM_VERTICES_TOTAL", 0xc4, 2),
        ("RB_PERFCTR_RB_SEL_0 = RB_TOTAL_PASS", 0x13c, 32 * 64),
    ] {
        assert_eq!(counted(&play(select, &read_of(register))), count, "{select}");
        let wait = format!("CP_REG_TO_SCRATCH({{ REG = {register:#x} | SCRATCH = 2 | CNT = 0 }})");
        assert_eq!(play(select, &wait).cp.scratch[2], count, "{select}");
    }
}

/// A shader of one colour runs once for a draw, a warp of which has two instructions: `mov` (repeated) and `end`.
#[test]
fn counters_count_warps_that_the_emulator_does_not_run() {
    let solid = "buffer solid size 128 { shader {\n(rpt3)mov.f32f32 r0.x, (0.5)\nend\n} }\nbuffer storing";
    for (select, register, count) in [
        ("SP_PERFCTR_SP_SEL_0 = SP_FS_INSTRUCTIONS", 0x124, 64 * 2),
        ("SP_PERFCTR_SP_SEL_0 = SP_FS_STAGE_FULL_ALU_INSTRUCTIONS", 0x124, 64),
        ("HLSQ_PERFCTR_HLSQ_SEL_0 = HLSQ_PIXELS", 0xd4, 32 * 64),
    ] {
        let between = format!("use program(vs, solid, r0.x, r0.x)\n{select}");
        let scene = Scene::new(SCENE).with("buffer storing", solid).with("LEFT", LEFT).with("RIGHT", RIGHT);
        let gpu = scene.with("BETWEEN", &between).with("AFTER", &read_of(register)).play();
        assert_eq!((counted(&gpu), gpu.report.troubles.total()), (count, 0), "{select}");
        let emulated = gpu.pipeline.stats.emulated;
        assert!(emulated.warps < gpu.pipeline.stats.warps, "{emulated:?}");
    }
}

/// Each of both shaders has one instruction of each class more: 64 warps of fragments, and one of vertices.
#[test]
fn counters_count_each_class() {
    let more = "add.f hr6.x, hr6.y, hr6.z\nrcp r7.x, r7.y\ndsx (f32)(x)r7.z, r7.w\n";
    let add = |scene: Scene, buffer: &str| {
        let begin = format!("buffer {buffer} size 128 {{ shader {{");
        scene.with(&begin, &format!("{begin}\n{more}"))
    };
    for (stage, warps) in [("FS", 64), ("VS", 1)] {
        for class in ["HALF_ALU", "EFU", "TEX", "CFLOW"] {
            let select = format!("SP_PERFCTR_SP_SEL_0 = SP_{stage}_STAGE_{class}_INSTRUCTIONS");
            let scene = Scene::new(SCENE).with("LEFT", LEFT).with("RIGHT", RIGHT).with("BETWEEN", &select);
            let gpu = add(add(scene.with("AFTER", &read_of(0x124)), "vs"), "fs").play();
            assert_eq!((counted(&gpu), gpu.report.troubles.total()), (warps, 0), "{select}");
        }
    }
}

/// A counter is compared by CP_COND_REG_EXEC after the draws before it, also those that wait in the queue. The right half has
/// 64 warps of nine instructions. A draw that the condition leaves out is not counted, and one that it lets run is.
#[test]
fn counters_and_conditions() {
    let select = "SP_PERFCTR_SP_SEL_0 = SP_FS_INSTRUCTIONS";
    for (expected, written) in [(64 * 9, 0x77), (64 * 9 - 1, 1)] {
        let between = format!("{select}\nCP_SCRATCH[2].REG = {expected}");
        let after = "CP_MEM_WRITE(ADDR = samples, 1)\nCP_COND_REG_EXEC({ REG0 = 0x124 | MODE = REG_COMPARE }, 0x57a, 3)\nCP_MEM_WRITE(ADDR = samples, 0x77)";
        assert_eq!(counted(&play(&between, after)), written, "{expected}");
    }
    for (other, count) in [(5, 2 * 64 * 9), (6, 64 * 9)] {
        let half = format!("buffer half {{ {LEFT} }}\nbuffer main {{");
        let scene = Scene::new(SCENE).with("buffer main {", &half).with("LEFT\n        BETWEEN", "BETWEEN");
        let between = format!("{select}\nCP_SCRATCH[2].REG = 5\n+ CP_SCRATCH[3].REG = {other}");
        let gated = "CP_COND_REG_EXEC({ REG0 = 0x57a | MODE = REG_COMPARE }, 0x57b, 3)\ncall half";
        let scene = scene.with("RIGHT", RIGHT).with("BETWEEN", &between);
        let gpu = scene.with("AFTER", &format!("{gated}\n{}", read_of(0x124))).play();
        assert_eq!((counted(&gpu), gpu.report.troubles.total()), (count, 0), "{other}");
    }
}

/// Reads the counter whose low half is `register` after the draw of a scene of `captures/geometry`.
fn count_of_scene(scene: &str, draw: &str, select: &str, register: u32) -> u32 {
    let after = format!("{draw}\n{}", read_of(register));
    let scene = Scene::named(scene).with("buffer main {", "buffer samples size 2000\nbuffer main {");
    let gpu = scene.with(draw, &format!("{select}\n{after}")).play();
    assert_eq!(gpu.report.troubles.total(), 0, "{select}");
    counted_in(&gpu, 2000)
}

/// A patch of a triangle, all factors 4, equally spaced. Its points lie on rings of 4, 2 and 0 segments a side: 12 + 6 + 1
/// points. Between the first two rings there are 4 + 2 triangles a side, between the others 2: 3 * 6 + 3 * 2. The points are
/// one warp.
///
/// Repeated instructions count once. The domain shader has 28 in a row: 5 of `control_points`, 6 of `between_three`, 17 of
/// its own. In the hull shader the lanes 1 and 2 end in `first_invocation` (4 instructions with that `end`) and lane 0 goes
/// on: 8 of `hull_addresses`, 10 of `pass_position`, then `nop`, 2 `mov`, 3 of `store_factors`, `end`.
#[test]
fn counters_of_tessellation() {
    let draw = "use draw_patches(TESS_TRIANGLES, DI_PT_PATCHES3, 3)";
    for (select, register, count) in [
        ("PC_PERFCTR_PC_SEL_0 = PC_HS_INVOCATIONS", 0xb4, 1),
        ("PC_PERFCTR_PC_SEL_0 = PC_DS_INVOCATIONS", 0xb4, 19),
        ("PC_PERFCTR_PC_SEL_0 = PC_DS_PRIMITIVES", 0xb4, 24),
        ("SP_PERFCTR_SP_SEL_0 = SP_DS_INSTRUCTIONS", 0x124, 28),
        ("SP_PERFCTR_SP_SEL_0 = SP_HS_INSTRUCTIONS", 0x124, 29),
    ] {
        assert_eq!(count_of_scene("tess-tri-equal", draw, select, register), count, "{select}");
    }
}

/// The geometry shader has 20 instructions, and one warp runs it for the three vertices of a triangle. The compute shader
/// has five, in two groups of one warp each.
#[test]
fn counters_of_other_stages() {
    let select = "SP_PERFCTR_SP_SEL_0 = SP_GS_INSTRUCTIONS";
    assert_eq!(count_of_scene("gs-passthrough", "use draw(DI_PT_TRILIST, 3)", select, 0x124), 20);
    let select = "PC_PERFCTR_PC_SEL_0 = PC_GS_PRIMITIVES";
    assert_eq!(
        count_of_scene("gs-explode", "use draw(DI_PT_TRILIST, 3)", select, 0xb4),
        3,
        "three strips of three"
    );
    let program = "buffer cs size 128 { shader {
        mov.u32u32 r1.x, c0.x
        mov.u32u32 r1.y, 5
        (rpt5)nop
        add.u r1.x, r1.x, r1.y
        end
    } }
    buffer main {";
    let dispatch = "SP_PERFCTR_SP_SEL_0 = SP_CS_INSTRUCTIONS
        SP_CS_CTRL_REG0 { THREADMODE = MULTI | FULLREGFOOTPRINT = 4 | THREADSIZE = TWO_QUADS }
        SP_CS_LENGTH_REG = groups(cs)
        SP_CS_OBJ_START = cs
        HLSQ_CS_CONTROL_REG { ENABLED | INSTRLENGTH = groups(cs) }
        HLSQ_CL_NDRANGE_0 { KERNELDIM = 3 | LOCALSIZEX = 0 | LOCALSIZEY = 0 | LOCALSIZEZ = 0 }
        HLSQ_CL_CONTROL_0 { LOCALIDREGID = r0.x }
        load CS.shader from cs
        CP_EXEC_CS(0, NGROUPS_X = 2, NGROUPS_Y = 1, NGROUPS_Z = 1)";
    let scene = Scene::new(SCENE).with("buffer main {", program).with("LEFT", LEFT).with("RIGHT", dispatch);
    let gpu = scene.with("BETWEEN", "").with("AFTER", &read_of(0x124)).play();
    assert_eq!((counted(&gpu), gpu.report.troubles.total()), (2 * 5, 0));
}

/// A stopped counter keeps its value, a loaded one goes on from there. Both halves of a counter are read. Half of the
/// target has 64 warps of nine instructions.
#[test]
fn counters_stop_and_are_loaded() {
    let select = "SP_PERFCTR_SP_SEL_0 = SP_FS_INSTRUCTIONS";
    let read = read_of(0x124);
    let stopped = format!("RBBM_PERFCTR_CTL = 0\n{LEFT}\n{read}");
    assert_eq!(counted(&play(select, &stopped)), 64 * 9, "of the right half alone");
    let begun = format!("RBBM_PERFCTR_CTL = 1\n{LEFT}\n{read}");
    assert_eq!(counted(&play(&format!("{select}\nRBBM_PERFCTR_CTL = 0"), &begun)), 64 * 9, "of the left one");
    // SP's first counter has number 68: bit 4 of the third command.
    let load = "RBBM_PERFCTR_LOAD_VALUE_LO = 0xffffffff\n+ RBBM_PERFCTR_LOAD_VALUE_HI = 6\nRBBM_PERFCTR_LOAD_CMD2 = 0x10";
    let gpu = play(&format!("{select}\n{load}"), &read);
    let at = gpu.memory().buffers().find(|(_, len)| *len == 256).expect("the buffer of the counter").0;
    assert_eq!([0, 4].map(|half| gpu.memory().read_u32(at + half)), [Some(64 * 9 - 1), Some(7)]);
    // Another counter is not loaded.
    assert_eq!(counted(&play(&format!("{select}\n{}", load.replace("0x10", "0x20")), &read)), 64 * 9);
}

/// The right half is drawn to a target that begins four rows into the target of the left half.
#[test]
fn surfaces_that_overlap_are_drawn_in_order() {
    let base = 4 * 4 * SIZE;
    let between = format!("CP_MEM_WRITE(ADDR = word, 0x33)\nRB_MRT[0].BASE = {base}");
    let gpu = play(&between, LEFT);
    assert_eq!(halves(&gpu, base), [0x33, 0x33]);
    assert_eq!(gpu.tile_memory()[4 * 8], 0x11, "rows before it are as they were");
    let without_store = play(&format!("RB_MRT[0].BASE = {base}"), "");
    assert_eq!(halves(&without_store, base), [0x11, 0x11]);
}

/// A draw straight to memory copies its surface in and out. The budget is charged for the rows that it
/// touches, in blocks of 16 bytes, both ways.
#[test]
fn copies_of_surfaces_in_memory_are_paid_for() {
    let tile =
        Scene::new(SCENE).with("LEFT", LEFT).with("RIGHT", RIGHT).with("BETWEEN", "").with("AFTER", "");
    let memory = tile
        .with("buffer word", "buffer target size SIZE * SIZE * 4\nbuffer word")
        .with("use frame(0,", "use frame(target,")
        .with("RB_MODE_CONTROL { ENABLE_GMEM | WIDTH = SIZE | HEIGHT = SIZE }", "");
    let listed = |scene: &Scene| {
        let mut playback = Playback::default();
        let capture = scene.capture();
        playback.run(Sections::new(&capture[..]).unwrap(), &mut Skip::default(), &mut Silent);
        playback.gpu.budget.spent()
    };
    // Subtracts the work of reading and listing the captures, which differs: one has one more buffer.
    let [tile, memory] = [tile, memory].map(|scene| scene.play().budget.spent() - listed(&scene));
    let (row, rows) = (4 * SIZE, SIZE);
    let (left, right) = ((rows - 1) * row + row / 2, rows * row);
    let copied = (2 * left / 16 + 2 * right / 16) as u64 * Work::Copy16.price();
    // The second draw looks up its target among the written surfaces.
    let looked_up = 2 * Work::Copy16.price();
    assert_eq!(memory - tile, copied + looked_up);
}
