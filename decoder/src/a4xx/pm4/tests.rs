//! Tests of the packet table, and of layouts that are easy to get wrong.

use pretty_assertions::assert_eq;

use super::*;
use crate::a4xx::A4XX;
use crate::a4xx::enums::*;
use crate::adreno::address::Address;
use crate::adreno::load_state::{Stage, StateKind, StateSource};
use crate::adreno::packet::{Packet, Packets};

#[test]
fn opcodes_and_names_are_unique_and_in_order() {
    assert!(PACKETS.rows().windows(2).all(|pair| pair[0].opcode < pair[1].opcode));
    let mut names: Vec<_> = PACKETS.rows().iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PACKETS.rows().len());
}

#[test]
fn fields_of_a_dword_do_not_overlap_and_names_are_unique_in_a_packet() {
    for packet in PACKETS.rows() {
        let mut names = Vec::new();
        for dword in packet.dwords.iter().chain(packet.repeat) {
            let masks = dword.fields.iter().map(|field| field.mask());
            assert!(masks.clone().fold(0u64, |sum, mask| sum + u64::from(mask)) <= u64::from(u32::MAX));
            assert_eq!(
                masks.clone().fold(0, |all, mask| all | mask),
                masks.fold(0u32, |all, mask| all.wrapping_add(mask))
            );
            names.extend(dword.fields.iter().map(|field| field.name));
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{}", packet.name);
    }
}

#[test]
fn lookup_finds_each_row_and_nothing_else() {
    for opcode in 0..=u8::MAX {
        let by_search = PACKETS.rows().iter().find(|row| row.opcode == opcode).map(|row| row.name);
        assert_eq!(PACKETS.row(opcode).map(|row| row.name), by_search, "{opcode:#x}");
    }
}

#[test]
fn short_payloads_are_told_from_unknown_opcodes() {
    for packet in PACKETS.rows() {
        let fixed = packet.dwords.len() - packet.optional;
        let payload = vec![0; fixed];
        assert!(!matches!(Pm4::parse(packet.opcode, &payload), Pm4::Short { .. } | Pm4::Unknown { .. }));
        if let Some(less) = fixed.checked_sub(1) {
            assert!(matches!(Pm4::parse(packet.opcode, &payload[..less]), Pm4::Short { .. }));
        }
    }
    assert!(matches!(Pm4::parse(0x7f, &[0]), Pm4::Unknown { opcode: 0x7f, .. }));
}

/// Hull and domain shaders have state blocks of their own
/// (docs/hardware/geometry-and-tessellation.md, section 3).
#[test]
fn traced_loads_of_hull_and_domain_code() {
    let source = |src: u32, block: u32, units: u32| src << 16 | block << 18 | units << 22;
    // A3xx fields STATE_SRC 6, STATE_BLOCK 4 and 2, 5 as the trace prints them: bits 18:16 and 21:19.
    let hull = [6 << 16 | 4 << 19 | 5 << 22, 0xc010_1000];
    let domain = [2 << 16 | 5 << 19 | 1 << 22, 0xc00e_a000];
    assert_eq!((hull[0], domain[0]), (source(2, 9, 5), source(2, 10, 1)));
    for (payload, stage, address, dwords) in
        [(hull, Stage::HS, 0xc010_1000, 160), (domain, Stage::DS, 0xc00e_a000, 32)]
    {
        let Pm4::LoadState4(load) = Pm4::parse(0x30, &payload) else { panic!("not a load") };
        assert_eq!(load.kind(), StateKind::Instructions(stage));
        assert_eq!(load.source(), StateSource::Memory { address: Address::new(address) });
        assert_eq!(load.dwords(), dwords);
    }
}

#[test]
fn load_state_inline_data_is_cut_to_what_is_there() {
    let payload = [4 << 18 | 2 << 22, 0, 1, 2, 3];
    let Pm4::LoadState4(load) = Pm4::parse(0x30, &payload) else { panic!("not a load") };
    assert_eq!(load.kind(), StateKind::Samplers(Stage::FS));
    assert_eq!((load.dwords(), load.source()), (4, StateSource::Inline(&[1, 2, 3])));
}

#[test]
fn set_constant_has_two_forms() {
    let writes = |payload: &[u32]| match Pm4::parse(0x2d, payload) {
        Pm4::SetConstant(packet) => format!("{:x?}", packet.writes()),
        other => panic!("{other:?}"),
    };
    assert_eq!(writes(&[0x4_00f3, 7, 8]), "Values { first: 20f3, values: [7, 8] }");
    assert_eq!(writes(&[0x8004_00fa, 0x57c, 2]), "Sum { register: 20fa, addend: 57c, constant: 2 }");
    assert_eq!(writes(&[0x1_00fa, 1]), "Nothing");
}

#[test]
fn tessellated_draws_in_either_description() {
    let draw = |word| VGT_DRAW_INITIATOR_A4XX(word);
    assert_eq!(draw(0x22 | 0xd << 20).domain(), Some(PatchType::TESS_TRIANGLES));
    assert_eq!(draw(0x22 | 0x12 << 20).domain(), Some(PatchType::TESS_ISOLINES));
    assert_eq!(draw(0x22 | 1 << 12 | 1 << 17).domain(), Some(PatchType::TESS_TRIANGLES));
    assert_eq!(draw(0x4 | 0xd << 20).domain(), None);
    assert_eq!(draw(0x22).patch_vertices(), Some(3));
    assert_eq!(draw(0x3f).patch_vertices(), Some(32));
}

#[test]
fn old_draws_say_the_same_in_the_new_form() {
    let old = VGT_DRAW_INITIATOR(4 | 1 << 9 | 1 << 11);
    let new = old.to_a4xx();
    assert_eq!(new.PRIM_TYPE(), PrimType::DI_PT_TRILIST);
    assert_eq!(new.VIS_CULL(), VisCullMode::USE_VISIBILITY);
    assert_eq!((new.INDEX_SIZE(), new.index_bytes()), (IndexSize::INDEX4_SIZE_32_BIT, 4));
    assert_eq!(VGT_DRAW_INITIATOR(1 << 13).to_a4xx().index_bytes(), 1);
    assert_eq!(VGT_DRAW_INITIATOR(0).to_a4xx().index_bytes(), 2);
}

#[test]
fn draw_state_groups_and_conditions() {
    let Pm4::SetDrawState(packet) = Pm4::parse(0x43, &[0x0307_0010, 0x1000, 5]) else { panic!() };
    let groups: Vec<_> = packet.groups().collect();
    assert_eq!(groups.len(), 1, "half an entry is none");
    assert_eq!(
        (groups[0].control.COUNT(), groups[0].control.GROUP_ID(), groups[0].address.get()),
        (16, 3, 0x1000)
    );
    let Pm4::CondRegExec(packet) = Pm4::parse(0x47, &[0x2000_0012, 0x34, 9]) else { panic!() };
    assert_eq!(packet.range(), Some(CondExecRange::Registers { reg0: 0x12, reg1: 0x34, dwords: 9 }));
}

#[test]
fn repeating_dwords_have_rows() {
    let row = PACKETS.row(0x43).unwrap();
    assert_eq!(row.dword(4).unwrap().fields[0].name, "COUNT");
    assert_eq!(row.dword(5).unwrap().fields[0].name, "ADDR");
    assert!(PACKETS.row(0x3d).unwrap().dword(3).is_none());
}

#[test]
fn packets_iterate_as_framed() {
    let stream = [0x0001_20a0, 1, 2, 0x8000_0000, 0x0001_a0a0, 3, 4, 0x4010_0203, 5, 6, 0xc000_1001, 7];
    let packets: Vec<_> = Packets::new(A4XX.framing, &stream).map(Result::unwrap).collect();
    let writes: Vec<_> = packets.iter().flat_map(Packet::writes).collect();
    assert_eq!(writes, [(0x20a0, 1), (0x20a1, 2), (0x20a0, 3), (0x20a0, 4), (0x203, 5), (0x100, 6)]);
    assert_eq!(packets[4], Packet::Command { opcode: 0x10, predicated: true, payload: &[7] });
}

#[test]
fn damage_says_what_and_where() {
    let error =
        |stream: &[u32]| Packets::new(A4XX.framing, stream).find_map(Result::err).unwrap().to_string();
    assert_eq!(error(&[0x8000_0000, 0x8000_0001]), "not a packet header: 0x80000001 at dword 0x1");
    assert_eq!(error(&[0xc000_9000, 0]), "not a packet header: 0xc0009000 at dword 0x0");
    assert_eq!(error(&[0x3fff_0000, 0]), "packet 0x3fff0000 at dword 0x0 needs 16384 dwords, 1 are left");
    // CP_NOP of A5xx: type 7, opcode 0x10 and count 1 with their parity bits.
    assert_eq!(error(&[0x7010_0001, 0]), "packet header 0x70100001 at dword 0x0 is of A5xx or later");
}
