//! Draw and dispatch packets become calls.

use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::cp::{Call, Engine, Renderer};
use a4emu_gpu::draw::topology::Topology;
use a4emu_gpu::draw::{DispatchCall, DrawCall, IndexSource, UncountedDraw};
use a4emu_gpu::pass::Pass;
use pretty_assertions::assert_eq;

use super::stream::{DATA, bytes, gpu, packet, run_on, unsupported, write};

fn only(packets: &[Vec<u32>]) -> Call {
    let mut calls = run_on(&mut gpu(), packets);
    assert_eq!(calls.len(), 1);
    calls.remove(0)
}

fn expected() -> DrawCall {
    DrawCall {
        number: 0,
        frame_draw: 0,
        submit: 0,
        pass: Pass::Bypass,
        topology: Topology::Triangles,
        initiator: 0x84,
        count: 3,
        instances: 2,
        indices: IndexSource::Auto,
        base_vertex: None,
        first_instance: None,
    }
}

#[test]
fn draw_indx_offset_with_and_without_a_buffer() {
    assert_eq!(only(&[packet(0x38, &[0x84, 2, 3])]), Call::Draw(expected()));
    let indices = IndexSource::Memory { base: Address::new(0x5000), size: 6, width: 2, first: 1 };
    let call = DrawCall { initiator: 0x404, indices, ..expected() };
    assert_eq!(only(&[packet(0x38, &[0x404, 2, 3, 1, 0x5000, 6])]), Call::Draw(call));
}

#[test]
fn indirect_draws_read_their_parameters() {
    let parameters = packet(0x3d, &[DATA, 3, 2, 5, 6, 7]);
    let call = DrawCall { base_vertex: Some(5), first_instance: Some(6), ..expected() };
    assert_eq!(only(&[parameters.clone(), packet(0x28, &[0x84, DATA])]), Call::Draw(call));
    let indices = IndexSource::Memory { base: Address::new(0x5000), size: 64, width: 4, first: 5 };
    let call =
        DrawCall { initiator: 0x804, indices, base_vertex: Some(6), first_instance: Some(7), ..expected() };
    assert_eq!(only(&[parameters, packet(0x29, &[0x804, 0x5000, 64, DATA])]), Call::Draw(call));
}

#[test]
fn indirect_parameters_that_are_missing_draw_nothing_and_say_so() {
    let mut gpu = gpu();
    let calls = run_on(&mut gpu, &[packet(0x28, &[0x84, 0x4000_0000])]);
    let Call::Draw(call) = &calls[0] else { panic!("{calls:?}") };
    assert_eq!((call.count, call.instances), (0, 0));
    let missing: Vec<_> = gpu.report.missing.iter().map(|miss| (miss.client.to_string(), miss.len)).collect();
    assert_eq!(missing, [("indirect parameters".to_owned(), 16)]);
}

#[test]
fn early_draws_become_a4xx_draws() {
    let old = 2 << 24 | 1 << 11 | 4;
    let indices = IndexSource::Memory { base: Address::new(0x5000), size: 12, width: 4, first: 0 };
    let call = DrawCall { initiator: 0x804, indices, ..expected() };
    assert_eq!(only(&[packet(0x22, &[0, old, 3, 0x5000, 12])]), Call::Draw(call));
    let inline = 1 << 13 | 1 << 6 | 4;
    let indices = IndexSource::Immediate(vec![1, 2, 3, 4]);
    let call = DrawCall { initiator: 0x44, instances: 1, indices, ..expected() };
    assert_eq!(only(&[packet(0x36, &[0, inline, 3, 0x0403_0201])]), Call::Draw(call));
}

#[test]
fn init_flags_are_ored_in() {
    let call = only(&[packet(0x4b, &[0x100]), packet(0x38, &[0x84, 2, 3])]);
    assert_eq!(call, Call::Draw(DrawCall { initiator: 0x184, ..expected() }));
}

#[test]
fn dispatches_take_their_groups_from_packet_memory_or_registers() {
    let call = |groups, local_size| {
        Call::Dispatch(DispatchCall { number: 0, frame_draw: 0, submit: 0, groups, local_size })
    };
    assert_eq!(only(&[packet(0x33, &[0, 1, 2, 3])]), call([1, 2, 3], None));
    let local = 7 << 2 | 3 << 12;
    let indirect = [packet(0x3d, &[DATA, 4, 5, 6]), packet(0x41, &[0, DATA, local])];
    assert_eq!(only(&indirect), call([4, 5, 6], Some([8, 4, 1])));
    let groups: Vec<Vec<u32>> =
        (0..3).map(|n| write(group_register(n), &[7 + n])).chain([packet(0x31, &[0])]).collect();
    assert_eq!(only(&groups), call([7, 8, 9], None));
}

fn group_register(axis: u32) -> u32 {
    let name = format!("HLSQ_CL_KERNEL_GROUP_{}", ["X", "Y", "Z"][axis as usize]);
    a4emu_decoder::a4xx::regs::REGISTERS.by_name(&name).unwrap()
}

#[test]
fn calls_are_numbered_over_the_capture() {
    let mut gpu = gpu();
    let draw = || packet(0x38, &[0x84, 1, 3]);
    run_on(&mut gpu, &[draw(), packet(0x33, &[0, 1, 1, 1])]);
    gpu.at.submit = 1;
    let calls = run_on(&mut gpu, &[draw()]);
    assert_eq!(calls[0].number(), 2);
}

/// The vertex count of CP_DRAW_AUTO is not known. The packet is numbered like every draw, and the engine that
/// would draw it reports it.
#[test]
fn a_draw_without_a_count_is_a_draw() {
    let auto = || packet(0x24, &[0x84, 2]);
    let mut gpu = gpu();
    let calls = run_on(&mut gpu, &[auto(), auto(), packet(0x38, &[0x84, 1, 3])]);
    let uncounted = |number| {
        Call::Uncounted(UncountedDraw {
            number,
            frame_draw: number,
            submit: 0,
            pass: Pass::Bypass,
            packet: "CP_DRAW_AUTO",
            initiator: Some(0x84),
            instances: Some(2),
        })
    };
    assert_eq!(calls[..2], [uncounted(0), uncounted(1)]);
    assert_eq!(calls[2].number(), 2);
    assert!(unsupported(&gpu).is_empty(), "nobody wanted it drawn");
    Renderer.run(&mut gpu, &calls[0]);
    assert_eq!(unsupported(&gpu), ["CP_DRAW_AUTO"]);
}

/// A buffer of two draws runs for two tiles: four runs, two frame draws. The next submit has other frame
/// draws, at any address.
#[test]
fn runs_of_a_packet_for_several_tiles_are_one_frame_draw() {
    let mut gpu = gpu();
    let ib = 0x3000_0000;
    let draw = || packet(0x38, &[0x84, 1, 3]);
    let words = [draw(), draw()].concat();
    gpu.memory_mut().announce(ib, words.len() as u32 * 4, Some(&bytes(&words)));
    let call = || packet(0x3f, &[ib, words.len() as u32]);
    let of = |calls: &[Call]| calls.iter().map(|call| (call.number(), call.frame_draw())).collect::<Vec<_>>();
    assert_eq!(of(&run_on(&mut gpu, &[call(), call(), draw()])), [(0, 0), (1, 1), (2, 0), (3, 1), (4, 2)]);
    assert_eq!(of(&run_on(&mut gpu, &[call()])), [(5, 3), (6, 4)]);
}
