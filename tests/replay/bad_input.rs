//! Any bytes: no panic, no hang, and no allocation that is not charged to the budget. Tests of hangs and
//! memory run in processes with limits on time and address space.

use a4emu_decoder::a4xx::regs::sp::SP_VS_OBJ_START;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::bits::Register;
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::{Cp, Renderer, Silent, Skip};
use a4emu_gpu::fault::Severity;
use a4emu_gpu::playback::Playback;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::stream::{STREAM, bytes, capture, draw, packet, section, write};
use crate::bounded::bounded;
use crate::seed::random_cases;

fn play(bytes: &[u8]) -> Playback {
    let mut playback = Playback::default();
    if let Ok(sections) = Sections::new(bytes) {
        playback.run(sections, &mut Skip::default(), &mut Silent);
    }
    playback
}

/// The reports of a severity, as text.
fn said(playback: &Playback, severity: Severity) -> Vec<String> {
    let troubles = playback.gpu.report.troubles.iter().map(|(trouble, ..)| trouble);
    troubles.filter(|trouble| trouble.severity() == severity).map(ToString::to_string).collect()
}

fn small() -> Vec<u8> {
    let call = 0x3000_0000;
    let first = [packet(0x3f, &[call, 9]), vec![0x8000_0000], draw(3)].concat();
    capture(&[(STREAM, first), (call, [write(0x2000, &[1, 2]), packet(0x46, &[6]), draw(3)].concat())])
}

#[test]
fn a_capture_cut_at_any_byte_runs_as_far_as_it_goes() {
    let whole = small();
    assert_eq!(play(&whole).gpu.at.draws, 2);
    for end in 0..whole.len() {
        let playback = play(&whole[..end]);
        assert!(playback.gpu.at.draws <= 2);
        assert!(end == 0 || playback.gpu.at.submit == 0, "the submit comes last");
    }
}

#[test]
fn lengths_that_lie_allocate_nothing() {
    bounded(module_path!(), "lengths_that_lie_allocate_nothing", lengths_that_lie);
}

fn lengths_that_lie() {
    let huge = [
        section(13, &420u32.to_le_bytes()),
        bytes(&[3, 8, STREAM, u32::MAX]),
        bytes(&[12, 0x7fff_fff0, 1, 2]),
    ];
    let playback = play(&huge.concat());
    assert_eq!(said(&playback, Severity::Damaged).len(), 1);
    let announced = [section(3, &bytes(&[0, u32::MAX])), section(6, &bytes(&[STREAM, u32::MAX]))].concat();
    let playback = play(&announced);
    assert_eq!(super::stream::faults(&playback.gpu).len(), 1);
}

/// Announces four gigabytes again and again at other addresses, with records of 16 bytes.
#[test]
fn announcing_all_addresses_again_and_again_is_cheap() {
    bounded(module_path!(), "announcing_all_addresses_again_and_again_is_cheap", || {
        let record =
            |at: u32| [section(3, &bytes(&[at, u32::MAX])), section(6, &bytes(&[STREAM, 1]))].concat();
        let many: Vec<u8> = (0..2000).flat_map(|n| record(n * 4)).collect();
        assert_eq!(play(&many).gpu.at.submit, 2000);
    });
}

/// Every packet loads 128 KB.
#[test]
fn loads_are_paid_for() {
    let load = packet(0x30, &[2 << 16 | 0xc << 18 | 1023 << 22, 0x3000_0000]);
    let mut gpu = super::stream::gpu();
    gpu.memory_mut().announce(0x3000_0000, 1023 * 128, Some(&[1; 1023 * 128]));
    let ten = Work::Copy16.price() * 1023 * 8 * 10;
    gpu.budget = Budget::new(ten);
    super::stream::run_on(&mut gpu, &vec![load; 20]);
    assert_eq!(gpu.budget.cut(), Some(Work::Copy16));
    assert!(gpu.budget.spent() > ten / 2, "{}", gpu.budget.spent());
}

/// Dwords are charged before they are read, packets before they run.
#[test]
fn streams_are_paid_for() {
    let stream = vec![vec![0x8000_0000u32]; 10];
    for (units, cut, spent) in [
        (10 * Work::Dword.price() - 1, Some(Work::Dword), 0),
        (10 * Work::Dword.price() + 5 * Work::Packet.price(), Some(Work::Packet), 5 * Work::Packet.price()),
        (10 * Work::Dword.price() + 10 * Work::Packet.price(), None, 10 * Work::Packet.price()),
    ] {
        let mut gpu = super::stream::gpu();
        gpu.budget = Budget::new(units);
        super::stream::run_on(&mut gpu, &stream);
        let dwords = if cut == Some(Work::Dword) { 0 } else { 10 * Work::Dword.price() };
        assert_eq!((gpu.budget.cut(), gpu.budget.spent()), (cut, spent + dwords));
    }
}

/// Copies hundreds of registers to memory and back with each packet.
#[test]
fn copies_of_registers_are_paid_for() {
    for (opcode, count) in [(0x3e, 1000 << 18), (0x42, 1000 << 19)] {
        let copy = packet(opcode, &[count, super::stream::DATA]);
        let mut gpu = super::stream::gpu();
        super::stream::run_on(&mut gpu, std::slice::from_ref(&copy));
        let units = 1001 * Work::Packet.price() + copy.len() as u64 * Work::Dword.price();
        assert_eq!(gpu.budget.spent(), units, "{opcode:#x}");
        gpu.budget = Budget::new(1000 * Work::Packet.price());
        super::stream::run_on(&mut gpu, &[copy]);
        assert_eq!(gpu.budget.cut(), Some(Work::Packet));
    }
}

/// Programs are charged before they are lowered. If a draw's vertex program costs more than the rest of the
/// budget, it is not lowered.
#[test]
fn programs_are_paid_for() {
    const CODE: u32 = 0x6000_0000;
    let (instructions, end) = (16 * 16, [0, 0x0300_0000]);
    let code = bytes(&end.repeat(instructions));
    let price = instructions as u64 * Work::Lowering.price();
    for (units, is_cut) in [(price - 1, true), (2 * price, false)] {
        let mut gpu = super::stream::gpu();
        gpu.memory_mut().announce(CODE, code.len() as u32, Some(&code));
        let start = SP_VS_OBJ_START::ROW.offset;
        let stream = [write(start, &[CODE]), write(start + 4, &[16]), draw(3)].concat();
        gpu.memory_mut().announce(STREAM, stream.len() as u32 * 4, Some(&bytes(&stream)));
        gpu.budget = Budget::fixed(units);
        Cp::new(&mut gpu, &mut Renderer, &mut Silent).submit(STREAM, stream.len() as u32);
        assert_eq!(gpu.budget.cut(), is_cut.then_some(Work::Lowering));
        assert_eq!(gpu.budget.spent() < price, is_cut, "{}", gpu.budget.spent());
    }
}

/// Memory beyond the limit is reported at once: when a buffer is announced, also without a submit after it,
/// and when a submit writes, also at the end of the capture.
#[test]
fn memory_that_is_not_held_is_said_at_once() {
    let (buffer, blank) = ([section(3, &bytes(&[STREAM, 64])), section(12, &[1; 64])].concat(), 0x5000_0000);
    let write = capture(&[(STREAM, packet(0x3d, &[blank, 7]))]);
    let announced = section(3, &bytes(&[blank, 1 << 20]));
    for (capture, limit) in [(buffer, 63), ([announced, write].concat(), 1 << 16)] {
        let mut playback = Playback::default();
        playback.gpu.memory_mut().limit = limit;
        playback.run(Sections::new(&capture[..]).unwrap(), &mut Skip::default(), &mut Silent);
        let cuts = said(&playback, Severity::Unsupported);
        assert!(cuts.len() == 1 && cuts[0].contains("more than"), "{cuts:?}");
    }
}

/// The length of a buffer neither costs nor adds budget. Only its contents do.
#[test]
fn buffers_are_paid_for_and_contents_pay() {
    let buffer = [section(3, &bytes(&[STREAM, 1 << 20])), section(12, &[1; 400])].concat();
    let spent_on = |capture: &[u8]| {
        let mut playback = Playback::default();
        playback.run(Sections::new(capture).unwrap(), &mut Skip::default(), &mut Silent);
        playback.gpu.budget.spent()
    };
    let whole = spent_on(&buffer);
    assert!(whole > Work::Buffer.price(), "the container is paid for as well");
    let left_after = |spent: u64| {
        let mut playback = Playback::default();
        playback.gpu.budget = Budget::new(whole);
        playback.gpu.budget.grow(spent);
        assert!(playback.gpu.budget.take(Work::Copy16, spent));
        playback.run(Sections::new(&buffer[..]).unwrap(), &mut Skip::default(), &mut Silent);
        assert_eq!(playback.gpu.budget.cut(), None);
        playback.gpu.budget.share(Work::Copy16, 1)
    };
    // The contents add budget only after much of it is spent.
    let before = (1 << 28) - (whole - Work::Buffer.price());
    assert_eq!([before - 1, before].map(left_after), [0, 1 << 16]);
    let mut playback = Playback::default();
    let two = [&buffer[..], &buffer].concat();
    playback.gpu.budget = Budget::fixed(spent_on(&two) - 1);
    playback.run(Sections::new(&two[..]).unwrap(), &mut Skip::default(), &mut Silent);
    assert_eq!(playback.gpu.budget.cut(), Some(Work::Buffer));
    assert_eq!(said(&playback, Severity::Unsupported).len(), 1, "and it is said");
}

#[test]
fn odd_sections_are_warned_of() {
    let orphan = section(12, &[1; 16]);
    let far = section(3, &bytes(&[STREAM, 16, 1]));
    let playback = play(&[orphan, far, section(6, &bytes(&[STREAM, 4, 9]))].concat());
    assert_eq!(
        said(&playback, Severity::Warning),
        [
            "16 bytes of contents belong to no address",
            "buffer at 0x110000000 is out of the reach of an A4xx",
            "submit at 0x910000000 is out of the reach of an A4xx",
        ]
    );
}

#[test]
fn a_count_past_the_end_ends_the_buffer() {
    let playback = play(&capture(&[(STREAM, [write(0x2000, &[1]), vec![0x3fff_2001, 5]].concat())]));
    assert_eq!((playback.gpu.regs.read(0x2000), playback.gpu.regs.written(0x2001)), (1, None));
    assert_eq!(super::stream::faults(&playback.gpu).len(), 1);
}

/// Dwords that are mostly headers of packets with an effect.
fn stream() -> impl Strategy<Value = Vec<u32>> {
    let opcodes = prop_oneof![0x10u32..0x80, Just(0x3f), Just(0x30), Just(0x43), Just(0x73), Just(0x38)];
    let address = prop_oneof![Just(STREAM), Just(STREAM + 64), Just(0xffff_fff0u32), any::<u32>()];
    let small = (opcodes, proptest::collection::vec(prop_oneof![address, 0u32..64, any::<u32>()], 1..9))
        .prop_map(|(opcode, payload)| packet(opcode, &payload));
    let registers =
        (0u32..0x8000, proptest::collection::vec(any::<u32>(), 1..5)).prop_map(|(r, v)| write(r, &v));
    let noise = any::<u32>().prop_map(|word| vec![word]);
    let packets = prop_oneof![8 => small, 3 => registers, 1 => noise];
    proptest::collection::vec(packets, 1..40).prop_map(|packets| packets.concat())
}

#[test]
fn any_stream_ends() {
    bounded(module_path!(), "any_stream_ends", || {
        proptest!(random_cases(400), |(words in stream())| {
            let playback = play(&capture(&[(STREAM, words)]));
            prop_assert_eq!(playback.gpu.at.submit, 1);
        });
    });
}

#[test]
fn any_bytes_end() {
    bounded(module_path!(), "any_bytes_end", || {
        proptest!(random_cases(400), |(bytes in proptest::collection::vec(any::<u8>(), 0..600))| {
            play(&bytes);
        });
    });
}

#[test]
fn a_damaged_capture_ends() {
    bounded(module_path!(), "a_damaged_capture_ends", || {
        proptest!(random_cases(400), |(at in 0usize..200, value: u8)| {
            let mut bytes = small();
            let at = at % bytes.len();
            bytes[at] = value;
            play(&bytes);
        });
    });
}
