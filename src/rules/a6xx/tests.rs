//! Each rule is broken by one change of a stream that keeps all of them.

use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::asm::{Bounds, FileError, Files, Image, assemble};

use crate::{Watch, found_in};
use a4emu_gpu::cp::Renderer;
use a4emu_gpu::playback::Playback;

const STREAM: &str = include_str!("draw.a4");

/// A rule, a part of the stream, and what breaks the rule in its place. With T4 both targets are at one place.
const BROKEN: [(&str, &str, &str); 23] = [
    ("P7", "SP_FS_OUTPUT_CNTL1 { MRT = 1 }", "SP_FS_OUTPUT_CNTL1 { MRT = 2 }"),
    (
        "P8",
        "SP_FS_MRT[0].REG { COLOR_FORMAT = FMT6_8_8_8_8_UNORM }",
        "SP_FS_MRT[0].REG { COLOR_FORMAT = FMT6_8_8_8_8_UINT }",
    ),
    ("P15", "HLSQ_FS_CNTL_0 { THREADSIZE = THREAD128 }", "HLSQ_FS_CNTL_0 { THREADSIZE = THREAD64 }"),
    ("P17", "VFD_DECODE[0].INSTR { IDX = 0", "VFD_DECODE[0].INSTR { IDX = 1"),
    ("P19", "MAX_INDICES = 6", "MAX_INDICES = 5"),
    (
        "P20",
        "GRAS_SU_DEPTH_BUFFER_INFO { DEPTH_FORMAT = DEPTH6_32 }",
        "GRAS_SU_DEPTH_BUFFER_INFO { DEPTH_FORMAT = DEPTH6_16 }",
    ),
    ("P24", "RB_RAS_MSAA_CNTL { SAMPLES = MSAA_FOUR }", "RB_RAS_MSAA_CNTL { SAMPLES = MSAA_TWO }"),
    ("M1", "VFD_FETCH[0].SIZE = 64", "VFD_FETCH[0].SIZE = 0x1001"),
    ("M2", "VFD_FETCH[0].SIZE = 64", "VFD_FETCH[0].SIZE = 32"),
    ("M4", "RB_MRT[0].BASE = target", "RB_MRT[0].BASE = target + 0xfff"),
    ("M5", "RB_BLIT_DST = target", "RB_BLIT_DST = 0x900000000"),
    ("M7", "SP_VS_OBJ_START = program", "SP_VS_OBJ_START = program + 0xfc0"),
    ("M7", "SP_FS_INSTRLEN = 1", "SP_FS_INSTRLEN = 0"),
    ("M7", "INDX_BASE = indices", "INDX_BASE = indices + 0xffe"),
    ("M7", "{ vertices & 0xffffffff }", "{ (vertices + 0xff8) & 0xffffffff }"),
    ("T4", "BUFFERS_IN_SYSMEM", "BUFFERS_IN_GMEM"),
    ("S28", "SP_FS_OBJ_START = program", "SP_FS_OBJ_START = sampling"),
    (
        "S29",
        "SP_FS_OBJ_START = program\n    SP_FS_INSTRLEN = 1\n    SP_FS_CONFIG { NTEX = 0 }",
        "SP_FS_OBJ_START = sampling\n    SP_FS_INSTRLEN = 1\n    SP_FS_CONFIG { NTEX = 1 | NSAMP = 1 }",
    ),
    ("C20", "PC_POWER_CNTL = 1", "CP_RB_CNTL = 1"),
    ("C21", "PC_POWER_CNTL = 1", "opcode_7e(1)"),
    (
        "C22",
        "CP_LOAD_STATE6_FRAG({ NUM_UNIT = 1 | STATE_BLOCK = SB6_CS_SHADER",
        "CP_LOAD_STATE6_FRAG({ NUM_UNIT = 2 | STATE_BLOCK = SB6_CS_SHADER",
    ),
    ("C31", "IB_BASE = called, { 1 }", "IB_BASE = called, { 0 }"),
    ("C34", "PC_POWER_CNTL = 1", "UNKNOWN_7FFF = 1"),
];

/// A source names no other files here.
struct NoFiles;

impl Files for NoFiles {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.to_owned()
    }

    fn text(&mut self, name: &str) -> Result<String, FileError> {
        Err(FileError(name.to_owned()))
    }

    fn image(&mut self, name: &str) -> Result<Image, FileError> {
        Err(FileError(name.to_owned()))
    }
}

fn assembled(source: &str) -> Vec<u8> {
    assemble("it.a4", source, &mut NoFiles, Bounds::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The rules that a stream breaks, each once.
fn broken(source: &str) -> Vec<&'static str> {
    let (watch, _) = found_in(&assembled(source), Default::default());
    rules(&watch)
}

fn rules(watch: &Watch) -> Vec<&'static str> {
    let mut rules: Vec<_> = watch.findings().map(|finding| finding.broken.rule.rule().id).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

#[test]
fn a_stream_keeps_all_rules_and_each_change_breaks_its_own() {
    assert_eq!(broken(STREAM), [""; 0]);
    for (rule, from, to) in BROKEN {
        assert!(STREAM.contains(from), "{from}");
        let found = broken(&STREAM.replace(from, to));
        assert!(found.contains(&rule), "{rule}: {from} -> {to}: {found:?}");
        // A program that is cut, or that samples without a sampler, breaks two.
        assert!(found.len() == 1 || ["M7", "S28"].contains(&rule), "{rule}: {from} -> {to}: {found:?}");
    }
}

/// What depends on buffers is not said of a capture that does not name whole ones.
#[test]
fn memory_is_not_judged_where_buffers_are_not_whole() {
    let parts = STREAM
        .replace("zero 0x1000", "zero 0xff0")
        .replace("zero 0xff8", "zero 0xf8")
        .replace("zero 0xff0", "zero 0xf0");
    assert_eq!(broken(&parts.replace("VFD_FETCH[0].SIZE = 64", "VFD_FETCH[0].SIZE = 0x2000")), [""; 0]);
}

const TRAFFIC: &str = include_str!("traffic.a4");

/// A part of a comment at the line of a flush, invalidation or wait, and the rule that is broken without it.
const NEEDED: [(&str, &str); 18] = [
    ("(packet to packet)", "F6"),
    ("(poll)", "F6"),
    ("(blit to packet)", "F7"),
    ("(blit to packet, flushed)", "F7"),
    ("(blit to texture)", "F8"),
    ("(blit to texture, flushed)", "F8"),
    ("(blit to texture, invalidated)", "F8"),
    ("(target to blit)", "F8"),
    ("(blit to mode)", "F10"),
    ("(flush to mode)", "F10"),
    ("(binning)", "F7"),
    ("(binning, flushed)", "F7"),
    ("(binning, arrived)", "F7"),
    ("(bin to texture)", "F8"),
    ("(bin to texture, invalidated)", "F8"),
    ("(shader to shader)", "F9"),
    ("(shader to packet)", "F7"),
    ("(shader to packet, flushed)", "F7"),
];

/// The rules that a stream breaks when its dispatches run.
fn broken_in_a_run(source: &str) -> Vec<&'static str> {
    let (capture, mut playback) = (assembled(source), Playback::default());
    let mut watch = Watch::of_device(&mut playback.gpu);
    playback.run(Sections::new(capture.as_slice()).unwrap(), &mut Renderer, &mut watch);
    watch.finish(&mut playback.gpu);
    rules(&watch)
}

#[test]
fn each_flush_invalidation_and_wait_is_needed() {
    assert_eq!(broken_in_a_run(TRAFFIC), [""; 0]);
    for (comment, rule) in NEEDED {
        let lines: Vec<&str> = TRAFFIC.lines().filter(|line| !line.contains(comment)).collect();
        assert_eq!(lines.len() + 1, TRAFFIC.lines().count(), "{comment}");
        assert_eq!(broken_in_a_run(&lines.join("\n")), [rule], "{comment}");
    }
}
