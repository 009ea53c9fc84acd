//! Command buffers of draws that are replayed whole for the next tile. Results must not change, and a change
//! of the draws' inputs must prevent the replay.

use std::fs;
use std::path::{Path, PathBuf};

use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Call, Flow, Observer, Silent};
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::fault::{Place, Trouble};
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::settled::{Ended, Running};

use super::{difference, observed, paid, root};

/// Number of draws in the command buffer.
const DRAWS: u32 = 24;

/// A frame of four tiles, each of which calls the command buffer `draws`.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Packets in the command buffer, after its initial state.
    first: &'static str,
    /// Packets in the middle of the command buffer's draws.
    amid: &'static str,
    /// Packets before the third tile.
    between: &'static str,
    /// Packets before the fourth tile.
    late: &'static str,
    /// Packets after the last tile.
    after: &'static str,
}

impl Frame {
    /// The source of the frame. Each draw covers the previous ones except for some columns.
    fn source(&self) -> String {
        let Self { first, amid, between, late, after } = self;
        let draws: String = (0..DRAWS)
            .map(|draw| {
                let amid = if draw == DRAWS / 2 { amid } else { "" };
                // The first draw uses the constants that are already loaded.
                let colour = match draw {
                    0 => String::new(),
                    _ => format!("load FS.constants {{ f32 {draw} / 255.0, 0.25, 0.5, 0.75 }}"),
                };
                // Some draws are only in the left tiles: the second tile has no pixels of them.
                let right = if draw % 3 == 1 { 31 } else { 63 };
                format!(
                    "GRAS_SC_WINDOW_SCISSOR_BR {{ X = {right} | Y = 63 }}
                    + GRAS_SC_WINDOW_SCISSOR_TL {{ X = {} | Y = {draw} }}
                    use attribute(0, triangles + {}, 24, 8, VFMT4_32_32_FLOAT, 2, r0.x)
                    {colour}
                    use draw(DI_PT_TRILIST, 3)
                    {amid}
                    ",
                    draw,
                    24 * (draw % 2),
                )
            })
            .collect();
        let capture = |path: &str| root().join("captures").join(path).display().to_string();
        format!(
            r#"include "{samples}"

gpu_id 420
cmd "rerun/1: fence=1\0"

const PITCH = 256
buffer target size PITCH * 64
buffer beside size PITCH * 64
buffer words {{ f32 0.5, 0.5, 0.5, 0.5 }}
buffer triangles {{ f32 -1.0, -1.0, 3.0, -1.0, -1.0, 3.0, -1.0, -1.0, 3.0, -1.0, -1.0, 3.0 }}

macro tile(x, y) {{
    use samples(0)
    RB_MODE_CONTROL {{ WIDTH = 32 | HEIGHT = 32 | ENABLE_GMEM }}
    RB_BIN_OFFSET {{ X = x | Y = y }}
    GRAS_SC_SCREEN_SCISSOR_TL {{ X = x | Y = y }}
    + GRAS_SC_SCREEN_SCISSOR_BR {{ X = x + 31 | Y = y + 31 }}
    call draws
    use leave(target)
}}

macro leave(at) {{
    GRAS_SC_WINDOW_SCISSOR_BR {{ X = 63 | Y = 63 }}
    + GRAS_SC_WINDOW_SCISSOR_TL {{ X = 0 | Y = 0 }}
    use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use resolve(at, PITCH, MSAA_ONE)
}}

// The fragment shader samples this.
macro reads(texels) {{
    load FS.samplers {{ TEX_SAMP_0 {{ 0 }} TEX_SAMP_1 {{ 0 }} }}
    load FS.textures {{
        TEX_CONST_0 {{ SWIZ_Y = A4XX_TEX_Y | SWIZ_Z = A4XX_TEX_Z | SWIZ_W = A4XX_TEX_W | FMT = TFMT4_8_8_8_8_UNORM | TYPE = A4XX_TEX_2D }}
        TEX_CONST_1 {{ HEIGHT = 64 | WIDTH = 64 }}
        TEX_CONST_2 {{ PITCHALIGN = 0 | PITCH = PITCH }}
        TEX_CONST_3 {{ 0 }}
        TEX_CONST_4 {{ BASE = texels }}
        TEX_CONST_5 0
        TEX_CONST_6 0
        TEX_CONST_7 0
    }}
}}
buffer fs_read size 128 {{ shader {{
    mov.f32f32 r0.x, (0.0)
    mov.f32f32 r0.y, (0.0)
    (rpt5)nop
    isam (f32)(xyzw)r1.x, r0.x, s#0, t#0
    (sy)(rpt3)mov.f32f32 r0.x, (r)r1.x
    end
}} }}
buffer fs_red size 128 {{ shader {{
    mov.f32f32 r0.x, (1.0)
    (rpt2)mov.f32f32 r0.y, (0.0)
    end
}} }}

buffer nested {{ CP_NOP(0) }}
buffer draws {{
    use sampled(vs, fs, r0.x, r0.x, 0)
    use attributes(1, 2)
    {first}
    {draws}
}}
buffer main {{
    use frame(target, 64, 64)
    load FS.constants {{ f32 0.125, 0.25, 0.5, 1.0 }}
    use tile(0, 0)
    use tile(32, 0)
    {between}
    use tile(0, 32)
    {late}
    use tile(32, 32)
    {after}
}}
submit main
"#,
            samples = capture("samples/samples.a4i"),
        )
    }
}

/// An observer of packets. It prevents replays of whole command buffers.
struct Looking;

impl Observer for Looking {}

/// Options for playing a frame.
#[derive(Clone, Copy)]
struct Way {
    schedule: Schedule,
    /// Whether an observer of packets is present.
    is_watched: bool,
    budget: Option<u64>,
}

fn play(capture: &Path, Way { schedule, is_watched, budget }: Way) -> Ended {
    let budget = budget.map_or_else(Budget::default, Budget::fixed);
    let observer: &mut dyn Observer = if is_watched { &mut Looking } else { &mut Silent };
    paid(capture, schedule, budget, observer)
}

/// Writes the source of `frame` to a file.
fn written(frame: &Frame, folder: &Path) -> PathBuf {
    let path = folder.join("rerun.a4");
    fs::write(&path, frame.source()).unwrap();
    path
}

/// All reports, with their places.
fn said(gpu: &Ended) -> Vec<(Trouble, Place, u64)> {
    gpu.report.troubles.iter().cloned().collect()
}

/// Number of draws of `frame` that are replayed, with [`Schedule::Deferred`] and with [`Schedule::Stress`].
/// The second records each command buffer when it first runs. All results must be equal.
fn both_reruns(frame: &Frame) -> [u64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = written(frame, folder.path());
    let way = |schedule, is_watched| play(&path, Way { schedule, is_watched, budget: None });
    let plain = way(Schedule::InOrder, false);
    assert_eq!(said(&plain), []);
    assert_eq!(plain.pipeline.stats.replayed, 0);
    [Schedule::Deferred, Schedule::Stress].map(|schedule| {
        let (watched, alone) = (way(schedule, true), way(schedule, false));
        assert_eq!((difference(&plain, &watched), difference(&plain, &alone)), (None, None), "{schedule:?}");
        assert_eq!(watched.pipeline.stats.replayed, 0);
        assert_eq!(watched.pipeline.stats.draws, alone.pipeline.stats.draws);
        assert_eq!(watched.at, alone.at);
        alone.pipeline.stats.replayed
    })
}

/// Number of draws of `frame` that are replayed.
fn replayed(frame: &Frame) -> u64 {
    let [late, ahead] = both_reruns(frame);
    assert!(ahead >= late, "{ahead}, {late}");
    late
}

/// Number of draws in two tiles.
const BOTH: u64 = 2 * DRAWS as u64;

#[test]
fn draws_run_again_as_a_whole_if_nothing_but_the_tile_has_changed() {
    let frame = Frame::default();
    assert_eq!(replayed(&frame), BOTH);
    let nops = "CP_NOP(0)\nCP_WAIT_FOR_IDLE\nCP_EVENT_WRITE({ EVENT = HLSQ_FLUSH })";
    assert_eq!(replayed(&Frame { amid: nops, ..frame }), BOTH);
    let back = "GRAS_CL_VPORT_XSCALE_0 = 16.0\nGRAS_CL_VPORT_XSCALE_0 = 32.0";
    assert_eq!(replayed(&Frame { between: back, ..frame }), BOTH, "what is as it was");
}

/// A recording from the first tile can be replayed if the command buffer reads no earlier state.
#[test]
fn buffers_are_noted_when_they_first_run_if_others_have_run_again() {
    assert_eq!(both_reruns(&Frame::default()), [BOTH, BOTH], "the first draw takes constants");
    let frame = Frame { first: "load FS.constants from words units 1", ..Frame::default() };
    assert_eq!(both_reruns(&frame), [BOTH, BOTH + BOTH / 2]);
    let again = Frame { after: "}\nbuffer second {\nuse tile(0, 0)\nuse tile(32, 0)", ..frame };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.a4");
    let source = again.source();
    for (submits, late) in [("submit main", BOTH), ("submit main\nsubmit second", BOTH + BOTH / 2)] {
        fs::write(&path, source.replace("submit main", submits)).unwrap();
        let way = |schedule| play(&path, Way { schedule, is_watched: false, budget: None });
        let (plain, alone) = (way(Schedule::InOrder), way(Schedule::Deferred));
        assert_eq!((difference(&plain, &alone), alone.pipeline.stats.replayed), (None, late));
    }
}

/// State that only places pixels in the target is computed again for each replay.
#[test]
fn targets_follow_their_registers() {
    let half = "RB_MRT[0].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0x5 }";
    let whole = "RB_MRT[0].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0xf }";
    let frame = Frame { between: half, late: whole, ..Frame::default() };
    assert_eq!(replayed(&frame), BOTH);
    // A tile like the recorded one, after one that differs.
    let after = "use tile(32, 0)";
    assert_eq!(replayed(&Frame { after, ..Frame::default() }), BOTH + BOTH / 2);
    // Without a target fewer registers are read, so the packets must run.
    let none = "RB_MRT[0].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0 }";
    assert_eq!(replayed(&Frame { between: none, ..frame }), BOTH / 2);
    // A draw after a write of an equal value uses that value, not the one of the previous draw.
    let again =
        "RB_MRT[0].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0xf }\nuse draw(DI_PT_TRILIST, 3)";
    let late = "RB_MRT[0].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0x5 }";
    assert_eq!(replayed(&Frame { amid: again, between: half, late, after: "", first: "" }), BOTH + 2);
    // A register that the command buffer writes after half of its draws.
    assert_eq!(replayed(&Frame { amid: half, ..frame }), BOTH);
    assert_eq!(replayed(&Frame { first: half, ..frame }), BOTH);
}

#[test]
fn changed_inputs_of_draws_prevent_the_replay() {
    let changes = [
        ("a register", "", "GRAS_CL_VPORT_XSCALE_0 = 16.0"),
        ("vertices", "", "CP_MEM_WRITE(triangles + 4, 0)"),
        ("a program", "", "CP_MEM_WRITE(fs, 0, 0x03000000)"),
        ("what is loaded", "load FS.constants from words units 1", "CP_MEM_WRITE(words, 0)"),
        ("storage", "", "load SSBO.addresses { u32 1, 2 }"),
        ("flags of draws", "", "CP_SET_DRAW_INIT_FLAGS(0x100)"),
    ];
    for (what, first, between) in changes {
        let frame = Frame { first, between, ..Frame::default() };
        assert_eq!(replayed(&Frame { between: "", ..frame }), BOTH, "{what}: nothing has changed");
        assert_eq!(replayed(&frame), 0, "{what}");
    }
    // After the command buffer, the constants have the old values again.
    let between = "load FS.constants { f32 0.0, 1.0, 0.0, 1.0 }";
    assert_eq!(replayed(&Frame { between, ..Frame::default() }), BOTH / 2, "constants");
}

#[test]
fn packets_with_other_effects_prevent_the_replay() {
    let packets = [
        ("memory", "CP_MEM_WRITE(words, 0x3f800000)"),
        ("a counter", "CP_EVENT_WRITE({ EVENT = RST_PIX_CNT })"),
        ("a register of others", "CP_REG_TO_MEM({ REG = 0x578 | CNT = 1 }, words)"),
        ("a call", "call nested"),
        ("a draw of nothing", "use draw(DI_PT_TRILIST, 0)"),
    ];
    for (what, amid) in packets {
        assert_eq!(replayed(&Frame { amid, ..Frame::default() }), 0, "{what}");
    }
}

/// An unsupported feature is reported for each draw in each tile.
#[test]
fn draws_of_which_something_is_said_run_each_time() {
    let first = "RB_RENDER_COMPONENTS { RT0 = 0xf | RT1 = 0xf }
        SP_FS_OUTPUT_REG { MRT = 2 | DEPTH_REGID = r63.x }
        RB_MRT[1].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0xf }
        + RB_MRT[1].BUF_INFO 0x3f";
    let folder = tempfile::tempdir().unwrap();
    let after = "use tile(32, 0)";
    let path = written(&Frame { first, after, ..Frame::default() }, folder.path());
    let way = |schedule| play(&path, Way { schedule, is_watched: false, budget: None });
    let (plain, alone) = (way(Schedule::InOrder), way(Schedule::Deferred));
    assert_eq!((difference(&plain, &alone), alone.pipeline.stats.replayed), (None, 0));
    assert!(plain.report.troubles.total() >= 5 * u64::from(DRAWS) && said(&plain) == said(&alone));
}

/// Draws with more different targets than the limit are not replayed.
#[test]
fn draws_are_noted_as_long_as_their_targets_are_few() {
    let replayed = |others: u32| {
        let draws: String = (0..others)
            .map(|draw| {
                let (x, y) = (draw % 32, draw / 32);
                format!(
                    "GRAS_SC_WINDOW_SCISSOR_TL {{ X = {x} | Y = {} }}\nuse draw(DI_PT_TRILIST, 3)\n",
                    32 + y
                )
            })
            .collect();
        let late = replayed(&Frame { amid: draws.leak(), ..Frame::default() });
        (late, 2 * u64::from(DRAWS + others))
    };
    let (late, all) = replayed(256 - DRAWS);
    assert_eq!(late, all);
    assert_eq!(replayed(257 - DRAWS).0, 0);
}

/// The draws of the command buffer read memory that a queued copy writes.
#[test]
fn queued_copies_finish_before_replayed_draws_read_them() {
    let amid = "use sampled(vs, fs_read, r0.x, r0.x, 0)\nuse attributes(1, 2)\nuse reads(beside)";
    let frame = Frame { amid, ..Frame::default() };
    assert_eq!(replayed(&frame), BOTH);
    // A draw that reads the old contents does not wait for the copy.
    let between = "CP_MEM_TO_REG({ REG = 0x578 }, target)\nuse leave(beside)";
    assert_eq!(replayed(&Frame { between, ..frame }), BOTH / 2);
}

#[test]
fn a_predicate_has_a_say() {
    let off = "CP_DRAW_PRED_ENABLE_GLOBAL({ ENABLE })\nCP_DRAW_PRED_SET({ SRC = PRED_SRC_MEM | TEST = EQ_0_PASS }, words)";
    let on = "CP_DRAW_PRED_ENABLE_GLOBAL({ 0 })";
    let frame = Frame { between: off, late: on, ..Frame::default() };
    assert_eq!(replayed(&frame), BOTH / 2);
}

/// Draws after the command buffer use the state that it leaves: registers, constants, a program, textures.
#[test]
fn the_machine_is_left_as_packets_leave_it() {
    let amid = "use sampled(vs, fs_red, r0.x, r0.x, 0)
        use attributes(1, 2)
        use reads(target)
        CP_NOP(0)";
    // Packets between the tiles change the stages' programs and the loaded state.
    let between = "use sampled(vs, fs, r0.x, r0.x, 0)
        load FS.constants at 3 { f32 1.0, 1.0, 1.0, 1.0 }
        load FS.samplers { TEX_SAMP_0 { 0 } TEX_SAMP_1 { 0 } }";
    let after = "use attribute(0, triangles, 24, 8, VFMT4_32_32_FLOAT, 2, r0.x)
        GRAS_SC_CONTROL { MSAA_DISABLE }
        RB_FS_OUTPUT_REG { MRT = 1 }
        SP_FS_OUTPUT_REG { MRT = 1 | DEPTH_REGID = r63.x }
        GRAS_SC_WINDOW_SCISSOR_BR { X = 40 | Y = 40 }
        use draw(DI_PT_TRILIST, 3)
        use leave(beside)
        use sampled(vs, fs, r0.x, r0.x, 0)
        use attributes(1, 2)
        use attribute(0, triangles, 24, 8, VFMT4_32_32_FLOAT, 2, r0.x)
        GRAS_SC_CONTROL { MSAA_DISABLE }
        use draw(DI_PT_TRILIST, 3)
        use leave(beside)";
    assert_eq!(replayed(&Frame { after, ..Frame::default() }), BOTH);
    assert_eq!(replayed(&Frame { amid, after, ..Frame::default() }), BOTH);
    assert_eq!(replayed(&Frame { amid, between, after, ..Frame::default() }), BOTH);
}

/// An observer that only counts draws.
#[derive(Default)]
struct Counting(usize);

impl Observer for Counting {
    fn ignores_packets(&self) -> bool {
        true
    }

    fn call(&mut self, _: &mut Running<'_>, _: &Call) -> Flow {
        self.0 += 1;
        Flow::Continue
    }

    fn draws_replayed(&mut self, draws: usize) {
        self.0 += draws;
    }
}

#[test]
fn observers_count_every_replayed_draw() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&Frame::default(), folder.path());
    let counts = [Schedule::InOrder, Schedule::Deferred].map(|schedule| {
        let mut counting = Counting::default();
        let played = observed(&path, schedule, &mut counting);
        (counting.0, played.at.draws as usize)
    });
    assert_eq!(counts, [(counts[0].1, counts[0].1); 2]);
}

/// The loaded state of the stages.
fn loaded(gpu: &Ended) -> impl PartialEq {
    [Stage::VS, Stage::FS].map(|stage| {
        let state = gpu.loaded.stage(stage);
        let descriptors = (state.textures.clone(), state.samplers.clone());
        (state.constants.clone(), descriptors, state.code.clone(), state.source)
    })
}

/// At the end of the budget the rest is skipped, with equal reports with and without replays.
#[test]
fn a_run_is_cut_off_where_its_packets_would_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&Frame { amid: "CP_NOP(0)", ..Frame::default() }, folder.path());
    for schedule in [Schedule::Deferred, Schedule::Stress] {
        let way = |is_watched, budget| play(&path, Way { schedule, is_watched, budget });
        let all = way(true, None).budget.spent();
        let (mut cut, mut within) = (0, 0);
        for budget in (0..all).step_by(all as usize / 400) {
            let [watched, alone] = [true, false].map(|is_watched| way(is_watched, Some(budget)));
            assert_eq!(difference(&watched, &alone), None, "{budget}");
            assert!(loaded(&watched) == loaded(&alone), "{budget}");
            assert_eq!((said(&watched), watched.at), (said(&alone), alone.at), "{budget}");
            cut += u64::from(alone.budget.cut().is_some());
            within += u64::from(alone.pipeline.stats.replayed % u64::from(DRAWS) != 0);
        }
        assert!(cut >= 399 && within > 10, "{cut} are cut off, {within} amid what runs again");
    }
}
