//! Tests of the framing, of the packet table, and of layouts that are easy to get wrong.

use pretty_assertions::assert_eq;

use super::*;
use crate::a6xx::A6XX;
use crate::a6xx::load_state::Source;
use crate::a6xx::regs::REGISTERS;
use crate::adreno::address::Address;
use crate::adreno::load_state::{Pipe, Stage, StateKind};
use crate::adreno::packet::{Packet, Packets};
use crate::bits::value::{Show, WordText};

fn error(stream: &[u32]) -> String {
    Packets::new(A6XX.framing, stream).find_map(Result::err).unwrap().to_string()
}

/// From tinygrad's and Mesa's streams: CP_WAIT_FOR_IDLE has no payload, and parity bits are odd.
#[test]
fn packets_iterate_as_framed() {
    let stream = [0x7026_8000, 0x48a9_b402, 0x1000, 1, 0x70e5_0001, 8, 0x4080_0280, 0x70e5_0001, 1];
    let packets: Vec<_> = Packets::new(A6XX.framing, &stream).map_while(Result::ok).collect();
    assert_eq!(packets[0], Packet::Command { opcode: 0x26, predicated: false, payload: &[] });
    assert_eq!(packets[1], Packet::Registers { reg: 0xa9b4, one_reg: false, values: &[0x1000, 1] });
    assert_eq!(packets[1].writes().collect::<Vec<_>>(), [(0xa9b4, 0x1000), (0xa9b5, 1)]);
    assert_eq!(packets[2], Packet::Command { opcode: 0x65, predicated: false, payload: &[8] });
}

/// A single wrong bit below the type is always noticed, and so is a payload that does not fit.
#[test]
fn damage_says_what_and_where() {
    for header in [0x7026_8000u32, 0x48a9_b402] {
        for bit in 0..28 {
            let wrong = header ^ 1 << bit;
            assert_eq!(error(&[wrong, 0, 0]), format!("not a packet header: {wrong:#010x} at dword 0x0"));
        }
    }
    assert_eq!(error(&[0x48a9_b402, 1]), "packet 0x48a9b402 at dword 0x0 needs 2 dwords, 1 are left");
    assert_eq!(error(&[0x7026_8000, 0]), "not a packet header: 0x00000000 at dword 0x1");
    assert_eq!(error(&[0xc000_1000, 0]), "packet header 0xc0001000 at dword 0x0 is of A4xx or earlier");
}

#[test]
fn opcodes_and_names_are_unique_and_in_order() {
    assert!(PACKETS.rows().windows(2).all(|pair| pair[0].opcode < pair[1].opcode));
    let mut names: Vec<_> = PACKETS.rows().iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PACKETS.rows().len());
}

#[test]
fn short_payloads_are_told_from_unknown_opcodes() {
    for packet in PACKETS.rows() {
        let fixed = packet.dwords.len() - packet.optional;
        let payload = vec![0; fixed];
        assert!(!matches!(Pm4::parse(packet.opcode, &payload), Pm4::Short { .. } | Pm4::Unknown { .. }));
        if let Some(less) = fixed.checked_sub(1) {
            assert!(
                matches!(Pm4::parse(packet.opcode, &payload[..less]), Pm4::Short { .. }),
                "{}",
                packet.name
            );
        }
    }
    assert!(matches!(Pm4::parse(0x7f, &[0]), Pm4::Unknown { opcode: 0x7f, .. }));
}

#[test]
fn an_address_has_two_dwords() {
    let Pm4::RegToMem(copy) = Pm4::parse(0x3e, &[0x4000_0980, 0x1000, 0x12]) else { panic!() };
    assert_eq!(
        (copy.control.REG(), copy.control._64B(), copy.DEST),
        (0x980, true, Address::new(0x12_0000_1000))
    );
    let names = |opcode: u8| -> Vec<&str> {
        PACKETS.row(opcode).unwrap().dwords.iter().map(|dword| dword.fields[0].name).collect()
    };
    assert_eq!(names(0x3e), ["REG", "DEST", "DEST_HI"]);
    assert_eq!(names(0x46), ["EVENT", "ADDR_0_LO", "ADDR_0_HI", "DATA"]);
    let event = |payload: &[u32]| match Pm4::parse(0x46, payload) {
        Pm4::EventWrite(event) => (event.ADDR_0, event.DATA),
        other => panic!("{other:?}"),
    };
    assert_eq!(event(&[4]), (None, None));
    assert_eq!(event(&[4, 0x1000]), (None, None), "half an address is none");
    assert_eq!(event(&[4, 0x1000, 1, 7]), (Some(Address::new(0x1_0000_1000)), Some(7)));
    let call = |opcode| Pm4::parse(opcode, &[0x1000, 1, 5]).call();
    let called = IndirectBufferCall { address: Address::new(0x1_0000_1000), dwords: 5 };
    assert_eq!([0x3f, 0x37, 0x57, 0x10].map(call), [Some(called), Some(called), Some(called), None]);
}

#[test]
fn loads_say_kind_size_and_source() {
    let load = |opcode, kind: u32, src: u32, block: u32, units: u32, rest: &'static [u32]| {
        let payload = [&[3 | kind << 14 | src << 16 | block << 18 | units << 22], rest].concat();
        let payload: &'static [u32] = Box::leak(payload.into_boxed_slice());
        let Some(load) = Pm4::parse(opcode, payload).load() else { panic!("not a load") };
        assert_eq!((outline(opcode, payload), load.dst.DST_OFF()), (Outline::Load, 3));
        (load.kind(), load.dwords(), load.source())
    };
    let at = |address| Source::Memory { address: Address::new(address) };
    let code = load(0x34, 0, 2, 0xd, 2, &[0x1000, 1]);
    assert_eq!(code, (StateKind::Instructions(Stage::CS), 64, at(0x1_0000_1000)));
    let constants = load(0x32, 1, 0, 0x8, 1, &[0, 0, 1, 2, 3, 4, 5]);
    assert_eq!(constants, (StateKind::Constants(Stage::VS), 4, Source::Inline(&[1, 2, 3, 4])));
    let textures = load(0x34, 1, 1, 0x4, 1, &[0x2000_0010, 0]);
    assert_eq!(textures, (StateKind::Textures(Stage::FS), 16, Source::Bindless { base: 2, offset: 0x10 }));
    let images = load(0x34, 3, 2, 0xd, 1, &[0x1000, 0]);
    assert_eq!(images, (StateKind::SsboDescriptors(Pipe::Compute), 16, at(0x1000)));
    let shared = load(0x36, 0, 2, 0xe, 1, &[0x1000, 0]);
    assert_eq!(shared, (StateKind::SsboDescriptors(Pipe::Graphics), 16, at(0x1000)));
    let ubo = load(0x32, 1, 3, 0x9, 1, &[0xe_0000, 0]);
    assert_eq!(ubo, (StateKind::Constants(Stage::HS), 4, Source::Ubo { ubo: 14, offset: 0 }));
    assert_eq!(load(0x32, 2, 0, 0x0, 1, &[0, 0]).0, StateKind::Ubos(Stage::VS));
    for (opcode, kind, pipe) in [(0x34, 2, Pipe::Compute), (0x36, 1, Pipe::Graphics)] {
        let shared = load(opcode, kind, 0, 0xe, 2, &[0, 0, 7, 8, 9]);
        assert_eq!(shared, (StateKind::SharedConstants(pipe), 2, Source::Inline(&[7, 8])));
    }
}

#[test]
fn draw_state_groups_and_conditions() {
    let Pm4::SetDrawState(packet) = Pm4::parse(0x43, &[0x0370_0010, 0x1000, 1, 5, 6]) else { panic!() };
    let groups: Vec<_> = packet.groups().collect();
    assert_eq!(groups.len(), 1, "a part of an entry is none");
    let control = groups[0].control;
    assert_eq!((control.COUNT(), control.GROUP_ID(), groups[0].address.get()), (16, 3, 0x1_0000_1000));
    assert!(control.BINNING() && control.GMEM() && control.SYSMEM());
    let range = |payload: &[u32]| match Pm4::parse(0x47, payload) {
        Pm4::CondRegExec(packet) => packet.range(),
        other => panic!("{other:?}"),
    };
    let bit = CondExecRange::Predicate { bit: 1, dwords: 4 };
    assert_eq!(range(&[0x1004_0000, 4]), Some(bit));
    assert_eq!(
        range(&[0x2000_0012, 0x34, 9]),
        Some(CondExecRange::Registers { reg0: 0x12, reg1: 0x34, dwords: 9 })
    );
    assert_eq!(range(&[0x2000_0012, 0x34]), None);
    let Some(CondExecRange::Pass { passes, dwords: 9 }) = range(&[0x3800_0000, 9]) else { panic!() };
    assert_eq!((passes.SYSMEM(), passes.GMEM(), passes.BINNING()), (true, false, false));
    assert_eq!(range(&[0xf000_0000, 9]), None);
}

#[test]
fn indirect_draws_have_four_layouts() {
    let layout = |opcode: u32, rest: &[u32]| match Pm4::parse(0x2a, &[&[0, opcode, 9], rest].concat()) {
        Pm4::DrawIndirectMulti(draws) => draws.layout(),
        other => panic!("{other:?}"),
    };
    let [parameters, indexed, count] = [0x1_0000_1000, 0x2_0000_2000, 0x3_0000_3000].map(Address::new);
    let plain = IndirectDraws { indices: None, parameters, count: None, stride: 16 };
    assert_eq!(layout(2, &[0x1000, 1, 16]), Some(plain));
    assert_eq!(layout(6, &[0x1000, 1, 0x3000, 3, 16]), Some(IndirectDraws { count: Some(count), ..plain }));
    let indices = Some((indexed, 7));
    assert_eq!(layout(4, &[0x2000, 2, 7, 0x1000, 1, 16]), Some(IndirectDraws { indices, ..plain }));
    let all = IndirectDraws { indices, count: Some(count), ..plain };
    assert_eq!(layout(7, &[0x2000, 2, 7, 0x1000, 1, 0x3000, 3, 16]), Some(all));
    assert_eq!([layout(7, &[0x2000, 2, 7, 0x1000, 1, 0x3000, 3]), layout(3, &[0; 8])], [None; 2]);
}

#[test]
fn dwords_of_indirect_draws_have_the_names_of_their_form() {
    let row = PACKETS.row(0x2a).unwrap();
    let names = |opcode: u32| {
        let dwords = row.laid_out(&[0, opcode]).dwords.iter().skip(2);
        dwords.map(|dword| dword.fields[0].name).collect::<Vec<_>>()
    };
    assert_eq!(names(2), ["DRAW_COUNT", "INDIRECT_LO", "INDIRECT_HI", "STRIDE"]);
    let indexed =
        ["DRAW_COUNT", "INDEX_LO", "INDEX_HI", "MAX_INDICES", "INDIRECT_LO", "INDIRECT_HI", "STRIDE"];
    assert_eq!(names(4), indexed);
    let counted = ["INDIRECT_COUNT_LO", "INDIRECT_COUNT_HI", "STRIDE"];
    assert_eq!(names(6), [&["DRAW_COUNT", "INDIRECT_LO", "INDIRECT_HI"][..], &counted].concat());
    assert_eq!(names(7), [&indexed[..6], &counted].concat());
    assert_eq!(names(3), ["DRAW_COUNT"], "an unknown form has the dwords that all have");
}

#[test]
fn values_of_shifted_registers_are_those_of_their_bits() {
    let text = |offset: u32, word: u32| {
        let rows = REGISTERS.fields(offset);
        WordText { rows, word, show: Show::Full }.to_string()
    };
    assert_eq!(text(0x8402, 95 << 8), "{ VALUE = 95 }", "GRAS_2D_SRC_BR_X");
    assert_eq!(text(0x8404, 0x1ff_ff00), "{ VALUE = -1 }", "GRAS_2D_SRC_BR_Y");
    assert_eq!(text(0x8811, 0x10), "{ VALUE = 0x1 }", "RB_UNKNOWN_8811");
}
