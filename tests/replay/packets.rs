//! Packets that move values: registers, scratch, memory, events, loaded state.

use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_gpu::gpu::{CodeSource, Stage};
use a4emu_gpu::regfile::RegFile;
use pretty_assertions::assert_eq;

use super::stream::{DATA, SCRATCH, faults, packet, run, unsupported, write};

fn regs(packets: &[Vec<u32>]) -> RegFile {
    let gpu = run(packets);
    assert_eq!((faults(&gpu), unsupported(&gpu)), (vec![], vec![]));
    gpu.machine.regs
}

#[test]
fn type_0_writes_consecutive_registers_or_one() {
    let one_reg = vec![0x0001_8000 | SCRATCH, 5, 6];
    let regs = regs(&[write(0x2000, &[1, 2, 3]), one_reg, vec![0x8000_0000]]);
    assert_eq!(
        [0x1fff, 0x2000, 0x2001, 0x2002, 0x2003].map(|reg| regs.written(reg)),
        [None, Some(1), Some(2), Some(3), None]
    );
    assert_eq!((regs.written(SCRATCH), regs.written(SCRATCH + 1)), (Some(6), None));
}

#[test]
fn set_constant_writes_context_registers_or_a_sum() {
    let add = packet(0x2d, &[0x8004_00cd, SCRATCH, 0x8000_0010]);
    let regs = regs(&[packet(0x2d, &[0x0004_0010, 7, 8]), write(SCRATCH, &[0x9000_0000]), add]);
    assert_eq!([0x2010, 0x2011].map(|reg| regs.read(reg)), [7, 8]);
    assert_eq!(regs.read(0x20cd), 0x1000_0010);
    let gpu = run(&[packet(0x2d, &[0x0000_0010, 7])]);
    assert_eq!(unsupported(&gpu), ["CP_SET_CONSTANT of A2xx constants"]);
}

#[test]
fn reg_rmw_masks_rotates_and_combines() {
    let start = || write(SCRATCH, &[0xf00f]);
    let rmw = |control: u32, src0, src1| {
        regs(&[start(), write(SCRATCH + 1, &[0xff]), packet(0x21, &[control | SCRATCH, src0, src1])])
            .read(SCRATCH)
    };
    assert_eq!(rmw(0, 0xf000, 0x3), 0xf003);
    assert_eq!(rmw(4 << 24, 0xffff, 0x1), 0xf00f1);
    assert_eq!(rmw(28 << 24, 0xf, 0), 0xf000_0000);
    assert_eq!(rmw(1 << 29, 0xffff, 0xffff_ffff), 0xf00e);
    assert_eq!(rmw(1 << 30, 0, SCRATCH + 1), 0xff);
    assert_eq!(rmw(1 << 31, SCRATCH + 1, 0x100), 0x10f);
}

#[test]
fn registers_go_to_memory_and_back() {
    let mut gpu = run(&[
        write(SCRATCH, &[1, 2, 3]),
        packet(0x3e, &[SCRATCH, DATA]),
        packet(0x3e, &[SCRATCH | 2 << 18, DATA + 8]),
        packet(0x42, &[0x2000 | 2 << 19, DATA + 8]),
        packet(0x42, &[0x2010 | 1 << 30, DATA + 12]),
    ]);
    assert_eq!(gpu.settle().memory().read_dwords(DATA, 4), Some(vec![1, 0, 1, 2]));
    assert_eq!([0x2000, 0x2001, 0x2002, 0x2010].map(|reg| gpu.regs.read(reg)), [1, 2, 0, 8]);
}

#[test]
fn reg_to_mem_accumulates_and_carries() {
    let mut gpu = run(&[
        packet(0x3d, &[DATA, 0xffff_ffff, 1, 10]),
        write(SCRATCH, &[2, 0]),
        packet(0x3e, &[SCRATCH | 2 << 18 | 1 << 30 | 1 << 31, DATA]),
        packet(0x3e, &[SCRATCH | 1 << 31, DATA + 8]),
    ]);
    assert_eq!(gpu.settle().memory().read_dwords(DATA, 3), Some(vec![1, 2, 12]));
}

/// Source: the time-elapsed query, which stores a 64-bit result at a computed address.
#[test]
fn nrt_data_stores_low_then_high_half() {
    let mut gpu = run(&[
        packet(0x3d, &[DATA, DATA + 0x100, 7, 8]),
        packet(0x42, &[0x20c, DATA]),
        packet(0x42, &[0x20d, DATA + 4]),
        packet(0x42, &[0x20d, DATA + 8]),
    ]);
    assert_eq!(gpu.settle().memory().read_dwords(DATA + 0x100, 3), Some(vec![7, 8, 0]));
}

#[test]
fn scratch_ram_keeps_registers() {
    let gpu = run(&[
        write(SCRATCH, &[4, 5]),
        packet(0x4a, &[SCRATCH | 6 << 20 | 1 << 24]),
        packet(0x4d, &[0x2000 | 6 << 20 | 1 << 24]),
        packet(0x4a, &[SCRATCH | 7 << 20 | 7 << 24]),
    ]);
    assert_eq!([0x2000, 0x2001, 0x2002].map(|reg| gpu.regs.read(reg)), [4, 5, 0]);
    assert_eq!(gpu.cp.scratch, [0, 0, 0, 0, 0, 0, 4, 4]);
}

#[test]
fn wide_and_context_free_writes_write() {
    let regs = regs(&[packet(0x74, &[0x3000, 1, 2]), packet(0x78, &[0x2000, 9])]);
    assert_eq!([0x3000, 0x3001, 0x2000].map(|reg| regs.read(reg)), [1, 2, 9]);
}

#[test]
fn a_register_that_does_not_exist_is_a_fault() {
    let gpu = run(&[packet(0x74, &[0x3fff, 1, 2]), write(0x7fff, &[3])]);
    assert_eq!(gpu.regs.read(0x3fff), 1);
    assert_eq!(
        faults(&gpu),
        ["write to 0x4000, which is no register", "write to 0x7fff, which is no register"]
    );
}

#[test]
fn mem_to_mem_sums_and_negates() {
    let start = packet(0x3d, &[DATA, 5, 0xffff_ffff, 3, 1]);
    let sum = |flags, sources: &[u32]| {
        let copy = packet(0x73, &[&[flags, DATA + 0x20], sources].concat());
        run(&[start.clone(), copy]).settle().memory().read_dwords(DATA + 0x20, 2)
    };
    assert_eq!(sum(0, &[DATA]), Some(vec![5, 0]));
    assert_eq!(sum(2, &[DATA, DATA + 8]), Some(vec![2, 0]));
    assert_eq!(sum(1, &[DATA, DATA + 4, DATA + 8]), Some(vec![0xffff_fffd, 0]));
    assert_eq!(sum(1 << 29, &[DATA, DATA + 8]), Some(vec![8, 0]));
}

#[test]
fn cond_write_compares_all_ways() {
    let written = |function: u32, value: u32| {
        let gpu =
            run(&[write(SCRATCH, &[value]), packet(0x45, &[function, SCRATCH, 5, 0xff, SCRATCH + 1, 1])]);
        gpu.regs.read(SCRATCH + 1) == 1
    };
    let row = |function| [0x104, 0x105, 0x106].map(|value| written(function, value));
    assert_eq!(row(0), [true, true, true]);
    assert_eq!(row(1), [true, false, false]);
    assert_eq!(row(2), [true, true, false]);
    assert_eq!(row(3), [false, true, false]);
    assert_eq!(row(4), [true, false, true]);
    assert_eq!(row(5), [false, true, true]);
    assert_eq!(row(6), [false, false, true]);
    let mut memory = run(&[packet(0x3d, &[DATA, 5]), packet(0x45, &[0x113, DATA, 5, !0, DATA + 4, 77])]);
    assert_eq!(memory.settle().memory().read_u32(DATA + 4), Some(77));
}

#[test]
fn a_wait_that_cannot_end_is_a_fault_and_goes_on() {
    let after = || write(SCRATCH, &[1]);
    let gpu = run(&[packet(0x3c, &[0x13, DATA, 7, 0xff, 16]), after()]);
    assert_eq!(faults(&gpu), ["wait on 0x20000000 cannot end: 0x0 against 0x7"]);
    assert_eq!(gpu.regs.read(SCRATCH), 1);
    let signed = run(&[write(0x2000, &[0xffff_fff0]), packet(0x3c, &[0x9, 0x2000, 1, !0, 16])]);
    assert_eq!(faults(&signed), Vec::<String>::new());
    let unsigned = run(&[write(0x2000, &[0xffff_fff0]), packet(0x3c, &[0x1, 0x2000, 1, !0, 16])]);
    assert_eq!(faults(&unsigned).len(), 1);
}

#[test]
fn events_store_values_and_sample_counts() {
    let mut gpu = super::stream::gpu();
    gpu.counters_mut().samples_passed = 0x1_0000_0002;
    let control = |copy: u32| write(0x20fa, &[DATA + 0x80 + copy]);
    super::stream::run_on(
        &mut gpu,
        &[
            packet(0x3d, &[DATA + 0x84, 9, 9]),
            packet(0x46, &[4, DATA, 0x55]),
            packet(0x5b, &[22, DATA + 4, 0x66]),
            packet(0x46, &[1 << 30 | 4, DATA + 8, 0x77]),
            control(0),
            packet(0x46, &[21]),
        ],
    );
    assert_eq!(gpu.settle().memory().read_dwords(DATA, 3), Some(vec![0x55, 0x66, 1]));
    assert_eq!(gpu.settle().memory().read_u32(DATA + 0x84), Some(9), "without COPY nothing is written");
    super::stream::run_on(&mut gpu, &[control(2), packet(0x46, &[21])]);
    assert_eq!(gpu.settle().memory().read_dwords(DATA + 0x80, 3), Some(vec![2, 1, 0]));
}

#[test]
fn loads_go_to_their_stage_and_slot() {
    let gpu = run(&[
        write(0x22eb, &[0x1234_5000]),
        packet(0x30, &[2 | 0xc << 18 | 1 << 22, 1, 1, 2, 3, 4]),
        packet(0x30, &[&[1 | 0x4 << 18 | 1 << 22, 0, 0x11, 0x22][..]].concat()),
        packet(0x30, &[&[3 | 0x4 << 18 | 1 << 22, 1][..], &[7; 8]].concat()),
        packet(0x30, &[&[5 | 0xf << 18 | 1 << 22, 0][..], &[8; 4]].concat()),
        packet(0x30, &[&[1 | 0xc << 18 | 1 << 22, 0][..], &[9; 32]].concat()),
    ]);
    let fs = gpu.loaded.stage(Stage::FS);
    assert_eq!((fs.constants[1], fs.constants[2]), ([0; 4], [1, 2, 3, 4]));
    assert_eq!((fs.samplers[1], fs.textures[3]), ([0x11, 0x22], [7; 8]));
    assert_eq!(gpu.loaded.ssbo(Stage::CS).descriptors[5], [8; 4]);
    assert_eq!(gpu.loaded.ssbo(Stage::FS).descriptors[5], [0; 4]);
    assert_eq!((fs.code[15], fs.code[16], fs.code[31]), (0, 0x9_0000_0009, 0x9_0000_0009));
    assert_eq!(fs.source, CodeSource::Store);
    assert_eq!(gpu.loaded.stage(Stage::VS).constants[2], [0; 4]);
}

#[test]
fn code_is_taken_from_what_was_said_last() {
    let load = packet(0x30, &[&[0xc << 18 | 1 << 22, 0][..], &[9; 32]].concat());
    let start = write(0x22eb, &[0x1234_5000]);
    let source = |packets: &[Vec<u32>]| run(packets).loaded.stage(Stage::FS).source;
    assert_eq!(source(&[start.clone(), load.clone()]), CodeSource::Store);
    assert_eq!(source(&[load, start]), CodeSource::Memory);
}

#[test]
fn an_indirect_load_takes_what_is_there_and_reports_the_rest() {
    let end = DATA + super::stream::DATA_BYTES;
    let load = packet(0x30, &[2 << 16 | 0x8 << 18 | 2 << 22, (end - 16) | 1]);
    let mut gpu = super::stream::gpu();
    assert!(gpu.memory_mut().write(end - 16, &[1; 16]));
    gpu.loaded.load(StateKind::Constants(Stage::VS), 1, &[6; 4]);
    super::stream::run_on(&mut gpu, &[load]);
    let vs = gpu.loaded.stage(Stage::VS);
    assert_eq!((vs.constants[0], vs.constants[1]), ([0x0101_0101; 4], [6; 4]));
    let missing: Vec<_> = gpu.report.missing.iter().map(|miss| (miss.address, miss.len)).collect();
    assert_eq!(missing, [(end.into(), 16)]);
}

#[test]
fn slots_past_the_end_are_dropped() {
    let far = packet(0x30, &[&[0x3fff | 0xc << 18 | 1 << 22, 1][..], &[9; 4]].concat());
    let last = packet(0x30, &[&[511 | 0xc << 18 | 2 << 22, 1][..], &[9; 8]].concat());
    let gpu = run(&[far, last]);
    assert_eq!(gpu.loaded.stage(Stage::FS).constants[511], [9; 4]);
}

#[test]
fn unknown_packets_are_counted_and_passed_over() {
    let gpu =
        run(&[packet(0x7f, &[1, 2]), packet(0x7f, &[1]), packet(0x71, &[1, 2, 3, 4]), write(SCRATCH, &[3])]);
    let rows: Vec<_> = gpu.report.troubles.iter().map(|(what, _, n)| (what.to_string(), *n)).collect();
    let named = |name: &str| format!("{name} is not supported yet");
    assert_eq!(rows, [(named("opcode 0x7f"), 2), (named("CP_TEST_TWO_MEMS"), 1)]);
    assert_eq!(gpu.regs.read(SCRATCH), 3);
    let short = run(&[packet(0x3d, &[DATA]), packet(0x73, &[0])]);
    assert_eq!(faults(&short), ["CP_MEM_TO_MEM with 1 dwords is too short"]);
}
