//! Every shared capture replays to the end, and its registers equal those of an independent walk.

use std::path::{Path, PathBuf};

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Call, Flow, Observer, Silent, Skip};
use a4emu_gpu::fault::Trouble;
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Running;
use pretty_assertions::assert_eq;
use rayon::prelude::*;

use super::walk::{Walk, unpacked};

/// The shared captures. Prints a message if there are none.
fn captures() -> Vec<PathBuf> {
    let default = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("A4EMU_SHARED").map_or_else(default, PathBuf::from);
    let mut found = Vec::new();
    collect(&shared.join("captures"), &mut found);
    found.sort();
    if found.is_empty() {
        eprintln!("SKIPPED: no captures in {}; set A4EMU_SHARED", shared.display());
    }
    found
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.to_string_lossy().ends_with(".rd.gz") {
            found.push(path);
        }
    }
}

/// The reports of a replay without rendering, except for missing memory and values that depend on draws.
fn complaints(path: &Path) -> Vec<String> {
    let mut playback = Playback::default();
    let bytes = unpacked(path);
    playback.run(Sections::new(&bytes[..]).unwrap(), &mut Skip::default(), &mut Silent);
    let troubles = playback.gpu.report.troubles.iter().map(|(trouble, ..)| trouble);
    let all = troubles.filter(|trouble| !matches!(trouble, Trouble::Stale(_)));
    all.map(|text| format!("{}: {text}", path.display())).collect()
}

#[test]
fn all_replay_to_the_end_with_nothing_unsupported() {
    let complaints: Vec<String> = captures().par_iter().flat_map(|path| complaints(path)).collect();
    assert_eq!(complaints, Vec::<String>::new());
}

/// Compares every register at every draw with the walk.
struct Against<'a> {
    walk: &'a Walk,
    draw: usize,
    registers: Vec<Option<u32>>,
    wrong: Vec<String>,
}

impl Observer for Against<'_> {
    fn call(&mut self, gpu: &mut Running<'_>, _: &Call) -> Flow {
        for (register, value) in &self.walk.draws[self.draw] {
            self.registers[*register as usize] = Some(*value);
        }
        for (offset, expected) in self.registers.iter().enumerate() {
            let found = gpu.regs.written(offset as u32);
            if found != *expected {
                self.wrong.push(format!("draw {}: {offset:#x} is {found:x?}, not {expected:x?}", self.draw));
            }
        }
        self.draw += 1;
        Flow::Continue
    }
}

#[test]
fn every_register_at_every_draw_is_the_last_one_written() {
    let checked: Vec<(usize, usize)> = captures().par_iter().map(|path| hold_against_walk(path)).collect();
    let draws: usize = checked.iter().map(|(draws, _)| draws).sum();
    let dwords: usize = checked.iter().map(|(_, dwords)| dwords).sum();
    eprintln!("{} captures, {draws} draws, {dwords} dwords agree", checked.len());
    assert!(checked.is_empty() || draws > 4000);
}

fn hold_against_walk(path: &Path) -> (usize, usize) {
    let bytes = unpacked(path);
    let walk = Walk::of(&bytes);
    let mut against = Against {
        walk: &walk,
        draw: 0,
        registers: vec![None; a4emu_decoder::a4xx::regs::SPACE],
        wrong: Vec::new(),
    };
    Playback::default().run(Sections::new(&bytes[..]).unwrap(), &mut Skip::default(), &mut against);
    assert_eq!(against.wrong, Vec::<String>::new(), "{}", path.display());
    assert_eq!(against.draw, walk.draws.len(), "{}", path.display());
    (walk.draws.len(), walk.dwords)
}

/// Drivers extend a command buffer by chaining chunks. The second chunk must run too.
#[test]
fn a_command_buffer_in_chunks_runs_whole() {
    let name = "glsl-1.30@execution@fs-textureGrad-miplevels.rd.gz";
    let Some(path) = captures().into_iter().find(|path| path.ends_with(name)) else { return };
    let walk = Walk::of(&unpacked(&path));
    assert_eq!(walk.dwords, 0x151 + 0x3f8 + 0x31d);
    hold_against_walk(&path);
}

/// A kernel dump of command buffers without other buffers: the list of missing memory is long.
#[test]
fn missing_memory_of_glxgears_is_listed() {
    let Some(path) = captures().into_iter().find(|path| path.ends_with("glxgears-a420.rd.gz")) else {
        return;
    };
    let mut playback = Playback::default();
    let bytes = unpacked(&path);
    playback.run(Sections::new(&bytes[..]).unwrap(), &mut Skip::default(), &mut Silent);
    let gpu = playback.gpu.settle();
    assert_eq!((gpu.at.submit, gpu.at.draws), (245, 2507));
    assert!(!gpu.report.missing.is_empty());
    assert!(gpu.report.missing.iter().all(|miss| gpu.memory().read_u32(miss.address).is_none()));
}
