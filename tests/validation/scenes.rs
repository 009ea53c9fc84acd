//! A frame for each rule of sections 5 to 8 of docs/hardware/hazards.md (and one of 4.3) that renders here and breaks it: a
//! good one with a change.

use std::collections::BTreeSet;

use a4emu::cp::Renderer;
use a4emu::playback::Playback;
use a4emu::validate::{Watch, rules};
use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_decoder::capture::Sections;

use crate::{Good, NoFiles};

/// A rule, a good capture, and what is replaced in its text, wherever it stands, so that the rule is broken.
struct Scene(&'static str, &'static str, &'static str, &'static str);

/// A line in front of another.
macro_rules! before {
    ($line:literal, $new:literal) => {
        concat!($new, "\n    ", $line)
    };
}

/// In the order of the page.
const SCENES: &[Scene] = &[
    Scene(
        "F1",
        "triangle-by-hand",
        "CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST",
        before!("CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST", "CP_MEM_WRITE(0x10040000, 0xbf4ccccd)"),
    ),
    Scene("P1", "cube", "VPC_ATTR { TOTALATTR = 3 |", "VPC_ATTR { TOTALATTR = 7 |"),
    Scene("P2", "cube", "VAROUT = 1", "VAROUT = 0"),
    Scene("P3", "cube", "OUTLOC0 = 8", "OUTLOC0 = 12"),
    Scene("P4", "cube", "A_COMPMASK = 0x7", "A_COMPMASK = 0x5"),
    Scene(
        "P5",
        "cube",
        "{ FULLREGFOOTPRINT = 4 | SUPERTHREADMODE }",
        "{ FULLREGFOOTPRINT = 2 | SUPERTHREADMODE }",
    ),
    Scene("P6", "cube", "VPC_ATTR { TOTALATTR", "VPC_ATTR { PSIZE | TOTALATTR"),
    Scene("P7", "cube", "SP_FS_OUTPUT_REG { MRT = 1", "SP_FS_OUTPUT_REG { MRT = 2"),
    Scene("P8", "cube", "MRTFORMAT = RB4_R8G8B8A8_UNORM", "MRTFORMAT = RB4_R10G10B10A2_UNORM"),
    Scene("P9", "cube", "SP_FS_OUTPUT_REG { MRT = 1", "SP_FS_OUTPUT_REG { DEPTH_ENABLE | MRT = 1"),
    Scene("P10", "triangle-by-hand", "mov.f32f32 r1.y, (1.000000)", "kill p0.x"),
    Scene("P11", "cube", "Z_TEST_ENABLE | Z_WRITE_ENABLE", "Z_WRITE_ENABLE"),
    Scene("P12", "cube", "SP_FS_CTRL_REG1 { CONSTLENGTH = 62", "SP_FS_CTRL_REG1 { CONSTLENGTH = 61"),
    Scene("P13", "triangle-by-hand", "CONSTOBJECTOFFSET = 66", "CONSTOBJECTOFFSET = 32"),
    Scene("P14", "cube", "VS_BUFFER | FS_BUFFER", "FS_BUFFER"),
    Scene("P15", "cube", "FSTHREADSIZE = FOUR_QUADS", "FSTHREADSIZE = TWO_QUADS"),
    Scene("P16", "cube", "GRAS_CNTL { IJ_PERSP }", "GRAS_CNTL { 0 }"),
    Scene("P17", "triangle-by-hand", "STRMFETCHINSTRCNT = 2", "STRMFETCHINSTRCNT = 1"),
    Scene(
        "P18",
        "triangle-by-hand",
        "SP_VS_CTRL_REG0 { FULLREGFOOTPRINT = 4",
        "SP_VS_CTRL_REG0 { FULLREGFOOTPRINT = 1",
    ),
    Scene("P19", "cube", "INDX_SIZE = 72", "INDX_SIZE = 64"),
    Scene(
        "P20",
        "cube",
        "GRAS_DEPTH_CONTROL { FORMAT = DEPTH4_24_8 }",
        "GRAS_DEPTH_CONTROL { FORMAT = DEPTH4_16 }",
    ),
    Scene("P21", "blend", "READ_DEST_ENABLE | ", ""),
    Scene("P22", "cube", "RB_RENDER_CONTROL { DISABLE_COLOR_PIPE | 0xa }", "RB_RENDER_CONTROL { 0x8 }"),
    Scene("P23", "cube", "GRAS_SC_WINDOW_SCISSOR_BR { X = 255", "GRAS_SC_WINDOW_SCISSOR_BR { X = 511"),
    Scene("P24", "cube", "RB_RENDER_CONTROL2 { ", "RB_RENDER_CONTROL2 { MSAA_SAMPLES = 2 | "),
    Scene(
        "P24",
        "samples/msaa-4x",
        "GRAS_SC_CONTROL { MSAA_SAMPLES = 2 }",
        "GRAS_SC_CONTROL { MSAA_SAMPLES = 1 }",
    ),
    Scene("P25", "compute", "SP_SP_CTRL_REG { 0x860010 }", "SP_SP_CTRL_REG { 0x140010 }"),
    Scene("P26", "gather", "FMT = TFMT4_8_8_8_8_UNORM", "FMT = TFMT4_8_8_8_8_UINT"),
    Scene("M1", "triangle-by-hand", "SIZE = 0x3c }", "SIZE = 0x10000 }"),
    Scene("M2", "triangle-by-hand", "NUM_INDICES = 3)", "NUM_INDICES = 6)"),
    Scene("M3", "wrap", "HEIGHT = 16 | WIDTH = 16", "HEIGHT = 512 | WIDTH = 16"),
    Scene("M4", "triangle-by-hand", "COLOR_BUF_PITCH = 1024", "COLOR_BUF_PITCH = 1152"),
    Scene("M5", "cube", "RB_COPY_DEST_PITCH { PITCH = 1024 }", "RB_COPY_DEST_PITCH { PITCH = 512 }"),
    Scene("M6", "compute", "SSBO_1_0 { WIDTH = 4096 }", "SSBO_1_0 { WIDTH = 8192 }"),
    Scene("M7", "ubo", "load FS.constants from 0xfff61000", "load FS.constants from 0x10000000"),
    Scene(
        "M8",
        "triangle-by-hand",
        "@ 0x10040000 {\n  f32 -0.8, -0.8, 1.0, 0.0, 0.0, 0.8, -0.8, 0.0\n  f32 1.0, 0.0, 0.0, 0.8, 0.0, 0.0, 1.0\n}",
        "@ 0x10040000 size 0x3c",
    ),
    Scene(
        "M9",
        "triangle-by-hand",
        "CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST",
        before!(
            "CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST",
            "VPC_SO_BUF_CNTL = 1\n    VPC_SO[0].BUFFER_BASE = 0x10000000\n    VPC_SO[0].BUFFER_SIZE = 256"
        ),
    ),
    Scene(
        "T1",
        "cube",
        "RB_MODE_CONTROL { WIDTH = 256 | HEIGHT = 256 |",
        "RB_MODE_CONTROL { WIDTH = 1056 | HEIGHT = 256 |",
    ),
    Scene("T2", "cube", "CONTROL3 { STRIDE = 1024 }", "CONTROL3 { STRIDE = 512 }"),
    Scene("T2", "samples/msaa-4x", "CONTROL3 { STRIDE = 512 }", "CONTROL3 { STRIDE = 128 }"),
    Scene("T3", "cube", "RB_MRT[0].BASE = 0\n", "RB_MRT[0].BASE = 0x2000\n"),
    Scene(
        "T4",
        "cube",
        "RB_DEPTH_INFO { DEPTH_FORMAT = DEPTH4_24_8 | DEPTH_BASE = 0x40000 }",
        "RB_DEPTH_INFO { DEPTH_FORMAT = DEPTH4_24_8 | DEPTH_BASE = 0x20000 }",
    ),
    Scene("T5", "cube", "RB_DEPTH_PITCH = 1024", "RB_DEPTH_PITCH = 2048"),
    Scene("T6", "binned", "RB_BIN_OFFSET { X = 544 }", "RB_BIN_OFFSET { X = 512 }"),
    Scene(
        "T7",
        "cube",
        "RB_COPY_DEST_INFO { FORMAT = RB4_R8G8B8A8_UNORM | COMPONENT_ENABLE = 0xf }",
        "RB_COPY_DEST_INFO { FORMAT = RB4_R8G8B8A8_UNORM | COMPONENT_ENABLE = 0x7 }",
    ),
    Scene(
        "T8",
        "binned",
        "CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_RECTLIST | SOURCE_SELECT = DI_SRC_SEL_AUTO_INDEX | VIS_CULL = USE_VISIBILITY | INDEX_SIZE = INDEX4_SIZE_32_BIT }, NUM_INSTANCES = 1, NUM_INDICES = 2)",
        "CP_NOP(0, 0, 0)",
    ),
    Scene(
        "T9",
        "binned",
        "CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_RECTLIST | SOURCE_SELECT = DI_SRC_SEL_AUTO_INDEX }, NUM_INSTANCES = 1, NUM_INDICES = 2)",
        "CP_NOP(0, 0, 0)",
    ),
    Scene(
        "T10",
        "binned",
        "GRAS_SC_SCREEN_SCISSOR_BR { X = 1087 | Y = 639 }",
        "GRAS_SC_SCREEN_SCISSOR_BR { X = 1055 | Y = 639 }",
    ),
    Scene(
        "T11",
        "triangle-by-hand",
        "RB_DEPTH_CONTROL { 0 }",
        "RB_DEPTH_CONTROL { Z_TEST_ENABLE | ZFUNC = FUNC_ALWAYS | Z_READ_ENABLE }",
    ),
    Scene(
        "T12",
        "binned",
        "RB_RENDER_COMPONENTS { RT0 = 0xf }",
        before!("RB_RENDER_COMPONENTS { RT0 = 0xf }", "VPC_SO_BUF_CNTL = 1"),
    ),
    Scene("T4", "samples/rules", "DEPTH_BASE = 0x8000", "DEPTH_BASE = 0x2000"),
    Scene("T5", "samples/rules", "RB_DEPTH_PITCH = 512", "RB_DEPTH_PITCH = 128"),
    Scene(
        "T13",
        "triangle-by-hand",
        "COLOR_BUF_PITCH = 1024",
        "COLOR_TILE_MODE = TILE4_3 | COLOR_BUF_PITCH = 1024",
    ),
    Scene("R1", "occlusion", "OFFSET = 0xfa", "OFFSET = 0xee"),
    Scene("R1", "triangle-by-hand", "RB_ALPHA_CONTROL { 0 }", "UNKNOWN_20EE = 0"),
];

/// What is said of a capture that is rendered, and whether its last picture has more than one colour.
fn rendered(capture: &[u8]) -> (BTreeSet<&'static str>, bool) {
    let (mut playback, mut watch) = (Playback::default(), Watch::default());
    playback.run(Sections::new(capture).unwrap(), &mut Renderer, &mut watch);
    watch.finish(&mut playback.gpu);
    let said = watch.findings().map(|finding| finding.broken.rule.rule().id).collect();
    let hung = playback.gpu.budget.cut().is_some();
    (said, playback.gpu.at.draws > 0 && !hung)
}

/// Each of them renders and is flagged, and the good capture is not.
#[test]
fn each_rule_of_state_has_a_scene() {
    let mut failed = Vec::new();
    for name in SCENES.iter().map(|Scene(_, name, ..)| *name).collect::<BTreeSet<_>>() {
        let good = Good::named(name);
        let bytes = assemble("good", &good.text, &mut NoFiles, Bounds::default()).unwrap();
        let (before, _) = rendered(&bytes);
        for Scene(rule, _, from, to) in SCENES.iter().filter(|Scene(_, of, ..)| *of == name) {
            if !good.text.contains(from) {
                failed.push(format!("{rule}: no `{from}` in {name}"));
                continue;
            }
            let text = good.text.replace(from, to);
            match assemble("scene", &text, &mut NoFiles, Bounds::default()) {
                Err(error) => failed.push(format!("{rule}: {error}")),
                Ok(bytes) => {
                    let (after, renders) = rendered(&bytes);
                    let flagged = after.contains(rule) && !before.contains(rule) && renders;
                    if !flagged {
                        failed.push(format!("{rule} of {name}: said {after:?}, before {before:?}"));
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn no_rule_of_state_is_without_a_scene() {
    let with: BTreeSet<&str> = SCENES.iter().map(|Scene(rule, ..)| *rule).collect();
    let ids = rules::all().map(|id| id.rule().id);
    let without: Vec<&str> =
        ids.filter(|id| id.starts_with(['P', 'M', 'T', 'R']) && !with.contains(id)).collect();
    assert!(without.is_empty(), "{without:?}");
}
