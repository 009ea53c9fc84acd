//! Calls, conditions, state groups and predicates.

use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::fault::Trouble;
use a4emu_gpu::gpu::Gpu;
use a4emu_support::status::{Status, Warnings};
use pretty_assertions::assert_eq;

use super::stream::{
    DATA, SCRATCH, STREAM, bytes, draw, faults, gpu, packet, run, run_on, unsupported, write,
};

/// A machine with one more buffer, for calls.
fn with_buffer(address: u32, packets: &[Vec<u32>]) -> Gpu {
    let mut gpu = gpu();
    let words = packets.concat();
    gpu.memory_mut().announce(address, words.len() as u32 * 4, Some(&bytes(&words)));
    gpu
}

const IB: u32 = 0x3000_0000;

/// The reports about limits, as text.
fn cuts(gpu: &Gpu) -> Vec<String> {
    let troubles = gpu.report.troubles.iter().map(|(trouble, ..)| trouble);
    troubles.filter(|trouble| matches!(trouble, Trouble::Cut(_))).map(ToString::to_string).collect()
}

#[test]
fn both_opcodes_call_and_return() {
    let mut gpu = with_buffer(IB, &[write(SCRATCH, &[1])]);
    run_on(&mut gpu, &[packet(0x3f, &[IB, 2]), write(SCRATCH + 1, &[2])]);
    assert_eq!((gpu.regs.read(SCRATCH), gpu.regs.read(SCRATCH + 1)), (1, 2));
    let mut gpu = with_buffer(IB, &[write(SCRATCH, &[1])]);
    run_on(&mut gpu, &[packet(0x37, &[IB, 2])]);
    assert_eq!(gpu.regs.read(SCRATCH), 1);
}

#[test]
fn a_call_into_nothing_is_reported_and_skipped() {
    let gpu = run(&[packet(0x3f, &[IB, 16]), write(SCRATCH, &[1])]);
    assert_eq!(faults(&gpu), ["command buffer of 16 dwords at 0x30000000 is in no buffer of the capture"]);
    assert_eq!(gpu.regs.read(SCRATCH), 1);
    assert_eq!(
        gpu.report.missing.iter().map(|miss| (miss.address, miss.len)).collect::<Vec<_>>(),
        [(IB.into(), 64)]
    );
}

#[test]
fn a_call_longer_than_its_buffer_runs_what_is_there() {
    let mut gpu = with_buffer(IB, &[write(SCRATCH, &[1])]);
    run_on(&mut gpu, &[packet(0x3f, &[IB, 100])]);
    assert_eq!(gpu.regs.read(SCRATCH), 1);
    assert_eq!(gpu.report.missing.iter().map(|miss| miss.len).sum::<u32>(), 98 * 4);
    assert_eq!(faults(&gpu), ["command buffer at 0x30000000 has 100 dwords, 2 of them captured"]);
}

#[test]
fn a_buffer_that_calls_itself_ends() {
    let gpu = run(&[write(SCRATCH, &[1]), packet(0x3f, &[STREAM, 5]), write(SCRATCH, &[2])]);
    assert_eq!(faults(&gpu), ["command buffer at 0x10000000 calls itself"]);
    assert_eq!(gpu.regs.read(SCRATCH), 2);
}

/// A chain of nested calls. The last of `calls` buffers writes the register.
fn chain(calls: u32) -> Gpu {
    let mut gpu = gpu();
    for n in 0..calls {
        let words = if n + 1 == calls {
            write(SCRATCH, &[9])
        } else {
            packet(0x3f, &[IB + (n + 1) * 64, if n + 2 == calls { 2 } else { 3 }])
        };
        gpu.memory_mut().announce(IB + n * 64, 64, Some(&bytes(&words)));
    }
    run_on(&mut gpu, &[packet(0x3f, &[IB, if calls == 1 { 2 } else { 3 }])]);
    gpu
}

#[test]
fn chains_are_eight_deep_at_most() {
    let eight = chain(8);
    assert_eq!((eight.regs.read(SCRATCH), faults(&eight)), (9, Vec::new()));
    let nine = chain(9);
    assert_eq!(nine.regs.read(SCRATCH), 0);
    assert_eq!(faults(&nine), ["command buffer at 0x30000200 is nested more than 8 deep"]);
}

/// Each buffer calls the next one many times: a few kilobytes that would run for years.
#[test]
fn a_bomb_of_calls_runs_out_of_work() {
    let mut gpu = gpu();
    let level = |n: u32| IB + n * 0x10_0000;
    for n in 0..3 {
        let words = packet(0x3f, &[level(n + 1), 30_000]).repeat(10_000);
        gpu.memory_mut().announce(level(n), words.len() as u32 * 4, Some(&bytes(&words)));
    }
    gpu.budget = Budget::new(Work::Packet.price() * 1_000_000);
    run_on(&mut gpu, &[packet(0x3f, &[level(0), 30_000]), write(SCRATCH, &[1])]);
    assert_eq!(cuts(&gpu).len(), 1, "{:?}", cuts(&gpu));
    assert_eq!(gpu.regs.read(SCRATCH), 0, "nothing runs after the cut");
    assert_eq!(Status::of_run(&gpu.report, Warnings::Pass), Status::Unsupported);
}

#[test]
fn a_damaged_buffer_ends_and_its_caller_goes_on() {
    let mut gpu = with_buffer(IB, &[write(SCRATCH, &[1]), vec![0x4fff_ffff], write(SCRATCH, &[9])]);
    run_on(&mut gpu, &[packet(0x3f, &[IB, 5]), write(SCRATCH + 1, &[2])]);
    assert_eq!((gpu.regs.read(SCRATCH), gpu.regs.read(SCRATCH + 1)), (1, 2));
    assert_eq!(faults(&gpu).len(), 1);
}

#[test]
fn cond_exec_passes_over_dwords() {
    let value = |first, second| {
        let gpu = run(&[
            packet(0x3d, &[DATA, first, second]),
            packet(0x44, &[DATA, DATA + 4, 5, 2]),
            write(SCRATCH, &[1]),
            write(SCRATCH + 1, &[2]),
        ]);
        assert_eq!(gpu.regs.read(SCRATCH + 1), 2);
        gpu.regs.read(SCRATCH)
    };
    assert_eq!([value(1, 4), value(0, 4), value(1, 5), value(1, 0xffff_fff0)], [1, 0, 0, 1]);
}

#[test]
fn cond_reg_exec_compares_registers() {
    let value = |other| {
        let gpu = run(&[
            write(0x2000, &[7, other]),
            packet(0x47, &[2 << 28 | 0x2000, 0x2001, 2]),
            write(SCRATCH, &[1]),
        ]);
        gpu.regs.read(SCRATCH)
    };
    assert_eq!((value(7), value(8)), (1, 0));
    let predicate = run(&[packet(0x47, &[1 << 28, 2]), write(SCRATCH, &[1])]);
    assert_eq!(predicate.regs.read(SCRATCH), 1, "nobody has set the predicate");
    let skip_too_much = run(&[write(0x2000, &[7, 8]), packet(0x47, &[2 << 28 | 0x2000, 0x2001, 0xff_ffff])]);
    assert_eq!(faults(&skip_too_much), Vec::<String>::new());
}

#[test]
fn predicated_packets_run_unless_the_predicate_is_false() {
    let mut mem_write = packet(0x3d, &[DATA, 5]);
    mem_write[0] |= 1;
    let mut gpu = gpu();
    run_on(&mut gpu, &[mem_write.clone()]);
    assert_eq!(gpu.settle().memory().read_u32(DATA), Some(5));
    gpu.cp.predicate = Some(false);
    mem_write[2] = 6;
    run_on(&mut gpu, &[mem_write]);
    assert_eq!(gpu.settle().memory().read_u32(DATA), Some(5));
}

fn set_group(id: u32, count: u32, flags: u32, address: u32) -> Vec<u32> {
    packet(0x43, &[id << 24 | flags << 16 | count, address])
}

#[test]
fn groups_run_before_the_draw_in_their_order() {
    let mut gpu = gpu();
    for (n, value) in [(0, 10), (1, 11)] {
        gpu.memory_mut().announce(IB + n * 8, 8, Some(&bytes(&write(SCRATCH, &[value]))));
    }
    let calls = run_on(
        &mut gpu,
        &[
            set_group(5, 2, 0, IB),
            set_group(2, 2, 0, IB + 8),
            write(SCRATCH, &[9]),
            draw(3),
            write(SCRATCH, &[8]),
            draw(3),
        ],
    );
    assert_eq!(calls.len(), 2);
    assert_eq!(gpu.regs.read(SCRATCH), 8, "a group runs once");
    run_on(&mut gpu, &[set_group(5, 2, 0, IB), set_group(2, 2, 0, IB + 8), write(SCRATCH, &[9]), draw(3)]);
    assert_eq!(gpu.regs.read(SCRATCH), 10, "group 2 ran, then group 5, both after the write");
}

#[test]
fn groups_are_dropped_or_run_at_once() {
    let mut gpu = with_buffer(IB, &[write(SCRATCH, &[1])]);
    run_on(&mut gpu, &[set_group(3, 2, 0, IB), set_group(3, 2, 1 << 1, IB), draw(1)]);
    run_on(&mut gpu, &[set_group(3, 2, 0, IB), set_group(0, 0, 1 << 2, 0), draw(1)]);
    assert_eq!(gpu.regs.read(SCRATCH), 0);
    run_on(&mut gpu, &[set_group(3, 2, 1 << 3, IB)]);
    assert_eq!(gpu.regs.read(SCRATCH), 1);
    assert!(gpu.cp.groups.iter().all(Option::is_none));
}

#[test]
fn the_draw_predicate_gates_draws() {
    let draws = |packets: &[Vec<u32>]| run_on(&mut gpu(), packets).len();
    let set = |test: u32| packet(0x4e, &[5 << 4 | test << 8, DATA]);
    let (global, local) = (|on| packet(0x19, &[on]), |on| packet(0x1a, &[on]));
    assert_eq!(draws(&[set(0), draw(1)]), 1, "neither switch is on");
    assert_eq!(draws(&[global(1), set(0), draw(1)]), 0);
    assert_eq!(draws(&[global(1), set(1), draw(1)]), 1);
    assert_eq!(draws(&[global(1), set(0), local(0), draw(1), local(1), draw(1)]), 1);
    assert_eq!(draws(&[global(1), set(0), global(1), draw(1)]), 1, "enabling resets the predicate");
}

#[test]
fn guesses_are_said() {
    let mut gpu = with_buffer(IB, &[write(SCRATCH, &[1])]);
    run_on(&mut gpu, &[packet(0x3a, &[0, IB, 2]), packet(0x47, &[3 << 28, 2])]);
    assert_eq!(gpu.regs.read(SCRATCH), 1);
    assert_eq!(
        unsupported(&gpu),
        ["the condition of CP_COND_INDIRECT_BUFFER_PFE", "CP_COND_REG_EXEC mode Other(3)"]
    );
}
