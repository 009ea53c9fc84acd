//! Input that is nearly right, made by rules: it gets further than the random bytes of `fuzz.rs`.

mod seed;

use a4emu_decoder::capture::{MAX_PAYLOAD, Sections};
use a4emu_decoder::isa::ir3::program;
use a4emu_decoder::packet::{Packet, Packets};
use a4emu_decoder::pm4::{Pm4, row};
use proptest::prelude::*;
use seed::random_cases;

/// Bytes that look like sections: small ids, sizes near what follows, markers.
fn sections() -> impl Strategy<Value = Vec<u8>> {
    let header =
        (0u32..20, prop_oneof![0u32..64, any::<u32>()], proptest::collection::vec(any::<u8>(), 0..64));
    let marker = Just((u32::MAX, u32::MAX, vec![]));
    proptest::collection::vec(prop_oneof![4 => header, 1 => marker], 0..12).prop_map(|parts| {
        let bytes = parts.into_iter().flat_map(|(id, size, payload)| {
            [id.to_le_bytes().to_vec(), size.to_le_bytes().to_vec(), payload].concat()
        });
        bytes.collect()
    })
}

/// Dwords that look like packets: any header, short counts, the opcodes that exist.
fn stream() -> impl Strategy<Value = Vec<u32>> {
    let type3 = (0u32..8, 0u32..0x80, any::<bool>())
        .prop_map(|(count, opcode, predicated)| 3 << 30 | count << 16 | opcode << 8 | u32::from(predicated));
    let type0 = (0u32..8, 0u32..0x10000).prop_map(|(count, reg)| count << 16 | reg);
    let dword = prop_oneof![3 => type3, 2 => type0, 1 => Just(0x8000_0000), 2 => any::<u32>()];
    proptest::collection::vec(dword, 0..64)
}

/// Text that looks like assembly.
fn source() -> impl Strategy<Value = String> {
    let word = "(\\(rpt[0-9]\\)|\\(sy\\)|nop|add\\.f|mov\\.f32f32|br|end|sam|ldg|r[0-9]{1,3}\\.[xyzw]|c[0-9]{1,4}\\.x|#l?-?[0-9]{1,9}|[,;:() \\n-])";
    proptest::collection::vec(word, 0..24).prop_map(|words| words.join(" "))
}

fn check_sections(input: &[u8]) {
    let Ok(mut sections) = Sections::new(input) else { return };
    let mut kept = 0;
    while let Some(section) = sections.next() {
        match section {
            Ok(section) => {
                kept += section.payload.len() as u64;
                assert!(section.payload.len() <= MAX_PAYLOAD as usize);
                let _ = section.body().map(|body| format!("{body:?}"));
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        assert!(kept <= sections.offset());
    }
}

fn check_stream(dwords: &[u32]) {
    let mut packets = Packets::new(dwords);
    let mut before = 0;
    while let Some(Ok(packet)) = packets.next() {
        assert!(packets.offset() > before && packets.offset() <= dwords.len());
        before = packets.offset();
        let Packet::Type3 { opcode, payload, .. } = packet else {
            assert_eq!(packet.writes().count() == 0, packet == Packet::Type2);
            continue;
        };
        let body = Pm4::parse(opcode, payload);
        assert_eq!(row(opcode).is_none(), matches!(body, Pm4::Unknown { .. }));
        if let Pm4::LoadState4(load) = body {
            assert_eq!(load.dwords() % load.kind().unit_dwords(), 0);
        }
    }
}

proptest! {
    #![proptest_config(random_cases(2000))]

    #[test]
    fn near_captures_are_read_to_their_damage(input in sections()) {
        check_sections(&input);
    }

    #[test]
    fn any_dwords_are_packets_or_an_error(input in stream()) {
        check_stream(&input);
    }

    #[test]
    fn any_text_assembles_or_says_where_not(source in source()) {
        if let Err(error) = program::assemble(&source) {
            prop_assert!(error.line >= 1 && error.line <= source.lines().count().max(1), "{error}");
        }
    }
}
