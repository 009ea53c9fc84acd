//! The cached state of a stage is rebuilt exactly if one of its inputs changes.

use std::sync::Arc;

use a4emu_decoder::a4xx::regs::sp::{SP_FS_LENGTH_REG, SP_FS_OBJ_START};
use a4emu_decoder::a4xx::regs::tpl1::TPL1_TP_FS_BORDER_COLOR_BASE_ADDR;
use a4emu_decoder::adreno::ir3::program::assemble;
use a4emu_decoder::adreno::load_state::{Pipe, StateKind};
use a4emu_decoder::bits::Register;
use a4emu_gpu::a4xx::sp::READERS;
use a4emu_gpu::draw::sp::programs::Programs;
use a4emu_gpu::draw::sp::stage_cache::{Request, StageCache};
use a4emu_gpu::gpu::{Chip, Gpu, Stage};

const CODE: u32 = 0x1000;
const BORDERS: u32 = 0x4000;

/// A machine with a fragment shader in memory that samples, and a sampler that clamps to its border.
fn machine() -> Gpu {
    let mut gpu = Gpu::new(Chip::default());
    gpu.memory_mut().announce(CODE, 0x2000, Some(&[0; 0x2000]));
    gpu.memory_mut().announce(BORDERS, 0x1000, Some(&[1; 0x1000]));
    put_code(&mut gpu, "sam (f32)(xyzw)r0.x, r0.x, s#0, t#0\nadd.f r1.x, c3.y, r1.x\nend\n");
    write(&mut gpu, SP_FS_OBJ_START::ROW.offset, CODE);
    write(&mut gpu, SP_FS_LENGTH_REG::ROW.offset, 1);
    write(&mut gpu, TPL1_TP_FS_BORDER_COLOR_BASE_ADDR::ROW.offset, BORDERS);
    gpu.loaded.load(StateKind::Samplers(Stage::FS), 0, &[3 << 5, 0]);
    gpu
}

fn put_code(gpu: &mut Gpu, text: &str) {
    for (i, word) in assemble(text).expect("text").iter().enumerate() {
        assert!(gpu.memory_mut().write(CODE + 8 * i as u32, &word.to_le_bytes()));
    }
}

fn write(gpu: &mut Gpu, offset: u32, value: u32) {
    gpu.regs.write(offset, value).expect("a register");
}

/// Whether `change` makes the cache build another state.
fn is_new_after(change: impl FnOnce(&mut Gpu)) -> bool {
    let (mut gpu, mut programs, mut kept) = (machine(), Programs::default(), StageCache::default());
    let mut get = |gpu: &mut Gpu| {
        kept.get(gpu.sync().view(), &mut programs, Request::of(&READERS, Stage::FS, 0))
            .ok()
            .expect("a program")
    };
    let before = get(&mut gpu);
    assert!(Arc::ptr_eq(&before, &get(&mut gpu)), "nothing changed");
    change(&mut gpu);
    !Arc::ptr_eq(&before, &get(&mut gpu))
}

#[test]
fn changed_inputs_rebuild_the_stage_state() {
    assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::Constants(Stage::FS), 3, &[1, 2, 3, 4])));
    assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::Textures(Stage::FS), 0, &[9; 8])));
    assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::Samplers(Stage::FS), 1, &[9; 2])));
    assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::SsboSizes(Pipe::Graphics), 0, &[9; 2])));
    assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::SsboDescriptors(Pipe::Graphics), 0, &[9; 4])));
    assert!(is_new_after(|gpu| write(gpu, TPL1_TP_FS_BORDER_COLOR_BASE_ADDR::ROW.offset, BORDERS + 64)));
    assert!(is_new_after(|gpu| assert!(gpu.memory_mut().write(BORDERS + 32, &[7; 4]))), "a border colour");
    assert!(is_new_after(|gpu| put_code(gpu, "nop\nend\n")), "a program in the place of another");
    assert!(is_new_after(|gpu| {
        let code: Vec<u32> = vec![1, 0x0300_0000];
        gpu.loaded.load(StateKind::Instructions(Stage::FS), 0, &code);
    }));
}

#[test]
fn unrelated_changes_keep_the_stage_state() {
    assert!(
        !is_new_after(|gpu| gpu.loaded.load(StateKind::Samplers(Stage::FS), 0, &[3 << 5, 0])),
        "the same"
    );
    assert!(!is_new_after(|gpu| gpu.loaded.load(StateKind::Constants(Stage::VS), 0, &[1; 4])), "another's");
    assert!(!is_new_after(|gpu| gpu.loaded.load(StateKind::Constants(Stage::FS), 4, &[1; 4])), "not read");
    assert!(!is_new_after(|gpu| gpu.loaded.load(StateKind::SsboSizes(Pipe::Compute), 0, &[9; 2])));
    assert!(!is_new_after(|gpu| write(gpu, 0x2000, 77)), "a register that it does not read");
    assert!(!is_new_after(|gpu| assert!(gpu.memory_mut().write(CODE + 0x1000, &[7; 4]))), "memory behind it");
}

/// Constants that the program does not read, such as those from a tile's other draws, do not change its
/// state.
#[test]
fn the_same_is_made_of_constants_that_differ_where_the_program_does_not_read() {
    let changed = |text: &str, vec4: u32| {
        let (mut gpu, mut programs, mut kept) = (machine(), Programs::default(), StageCache::default());
        put_code(&mut gpu, text);
        let mut get = |gpu: &mut Gpu| {
            kept.get(gpu.sync().view(), &mut programs, Request::of(&READERS, Stage::FS, 0))
                .ok()
                .expect("a program")
        };
        let before = get(&mut gpu);
        gpu.loaded.load(StateKind::Constants(Stage::FS), vec4, &[1, 2, 3, 4]);
        let after = get(&mut gpu);
        assert_eq!(Arc::ptr_eq(&before, &after), before.is_same(&after));
        !before.is_same(&after)
    };
    let direct = "add.f r0.x, c5.y, r0.x\nadd.f hr0.y, hc6.x, hr0.x\nend\n";
    assert_eq!([4, 5, 6, 7].map(|vec4| changed(direct, vec4)), [false, true, true, false]);
    let relative = "mov.f32f32 r0.x, c<a0.x + 4>\nend\n";
    assert_eq!([0, 5, 90].map(|vec4| changed(relative, vec4)), [true; 3], "any of them");
}

/// A packet that runs again finds its state, also after other packets. Its constants are those that its
/// program reads.
#[test]
fn packets_find_their_states_again() {
    let (mut gpu, mut programs, mut kept) = (machine(), Programs::default(), StageCache::default());
    let mut tile = || {
        [7, 8].map(|value| {
            gpu.loaded.load(StateKind::Constants(Stage::FS), 3, &[value; 4]);
            let slot = value as usize;
            let state = kept
                .get(gpu.sync().view(), &mut programs, Request::of(&READERS, Stage::FS, slot))
                .ok()
                .expect("a program");
            assert_eq!(state.constants[13..], [value]);
            state
        })
    };
    let [first, second] = [tile(), tile()];
    assert!(first.iter().zip(&second).all(|(first, second)| Arc::ptr_eq(first, second)));
    assert!(!Arc::ptr_eq(&first[0], &first[1]));
}

#[test]
fn descriptors_stand_above_the_constants_in_their_place() {
    let (mut gpu, mut programs, mut kept) = (machine(), Programs::default(), StageCache::default());
    put_code(&mut gpu, "add.f r0.x, c448.y, r0.x\nend\n");
    let mut scalar = |gpu: &mut Gpu| {
        let state = kept
            .get(gpu.sync().view(), &mut programs, Request::of(&READERS, Stage::FS, 0))
            .ok()
            .expect("a program");
        state.constants[4 * 448 + 1]
    };
    gpu.loaded.load(StateKind::SsboDescriptors(Pipe::Graphics), 0, &[1, 5, 1, 1]);
    assert_eq!(scalar(&mut gpu), 5);
    gpu.loaded.load(StateKind::Constants(Stage::FS), 448, &[5; 4]);
    gpu.loaded.load(StateKind::SsboDescriptors(Pipe::Graphics), 0, &[1, 9, 1, 1]);
    assert_eq!(scalar(&mut gpu), 9);
}
