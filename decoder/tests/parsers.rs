//! Random bytes, dwords, instruction words and text: no input causes a panic, and decoded input can be
//! written again.
//!
//! `cargo test` runs each target on random input and prints its seed on failure. It also runs the inputs kept
//! under `__fuzz__`. `scripts/fuzz` runs the targets under libFuzzer.

mod seed;

use std::time::Duration;

use a4emu_decoder::a4xx::A4XX;
use a4emu_decoder::a4xx::load_state::unit_dwords;
use a4emu_decoder::a4xx::pm4::{PACKETS, Pm4};
use a4emu_decoder::adreno::capture::{MAX_PAYLOAD, Sections};
use a4emu_decoder::adreno::ir3::{Instr, program};
use a4emu_decoder::adreno::packet::{Packet, Packets};
use a4emu_decoder::asm::{Bounds, FileError, Files, Image, assemble, disassemble};
use a4emu_decoder::isa::pico;
use bolero::check;
use proptest::prelude::*;
use seed::random_cases;

/// Time for each target under `cargo test`.
const TIME: Duration = Duration::from_secs(3);

/// Files for a source without includes.
struct Nothing;

impl Files for Nothing {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.into()
    }
    fn text(&mut self, _: &str) -> Result<String, FileError> {
        Err(FileError("there is nothing".into()))
    }
    fn image(&mut self, _: &str) -> Result<Image, FileError> {
        Err(FileError("there is nothing".into()))
    }
}

fn words<const N: usize>(input: &[u8]) -> impl Iterator<Item = [u8; N]> {
    input.as_chunks().0.iter().copied()
}

/// The reader of sections ends. No payload is longer than the unpacked input, and every body parses or gives
/// an error.
#[test]
fn capture() {
    check!().with_test_time(TIME).for_each(check_sections);
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

/// Each packet advances and ends inside the buffer. Every body, register and loaded state prints.
#[test]
fn packets() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        check_stream(&words(input).map(u32::from_le_bytes).collect::<Vec<_>>());
    });
}

fn check_stream(dwords: &[u32]) {
    let mut packets = Packets::new(A4XX.framing, dwords);
    let mut before = 0;
    while let Some(packet) = packets.next() {
        let Ok(packet) = packet else { break };
        assert!(packets.offset() > before && packets.offset() <= dwords.len());
        before = packets.offset();
        let Packet::Command { opcode, payload, .. } = packet else {
            assert_eq!(packet.writes().count() == 0, packet == Packet::Filler);
            continue;
        };
        let body = Pm4::parse(opcode, payload);
        assert!(!format!("{body:?} {:?}", body.call()).is_empty());
        assert_eq!(PACKETS.row(opcode).is_none(), matches!(body, Pm4::Unknown { .. }));
        if let Pm4::LoadState4(load) = body {
            assert_eq!(load.dwords() % unit_dwords(load.kind()), 0);
        }
    }
}

/// encode(decode(x)) = x, and the text assembles to the word.
#[test]
fn ir3_words() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        for word in words(input).map(u64::from_le_bytes) {
            let instr = Instr::decode(word);
            assert_eq!(instr.encode(), word);
            let text = instr.to_string();
            assert_eq!(program::assemble(&text).as_deref(), Ok(&[word][..]), "{text}");
        }
    });
}

/// Shader text gives words, or an error with a position inside the source.
#[test]
fn ir3_text() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        check_shader(&String::from_utf8_lossy(input));
    });
}

fn check_shader(source: &str) {
    if let Err(error) = program::assemble(source) {
        assert!(error.line >= 1 && error.line <= source.lines().count().max(1), "{error}");
    }
}

/// The source of a capture gives bytes, or an error with a position inside the source.
#[test]
fn source() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        if let Err(diagnostic) = assemble("input", &text, &mut Nothing, Bounds::default()) {
            assert!(diagnostic.range.start <= text.len(), "{diagnostic:?}");
        }
    });
}

/// Any bytes disassemble to a source. Its sections have equal bytes.
#[test]
fn round_trip() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let source = disassemble(input);
        let again = assemble("input", &source.text, &mut Nothing, Bounds::default()).expect("our own text");
        assert_eq!(again, input, "{}", source.text);
    });
}

/// PicoGpu's assembler and its command streams on random input.
#[test]
fn pico_text() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        drop(pico::assemble(&text).map_err(|error| error.to_string()));
    });
}

// Input that is almost valid reaches deeper than random bytes.

/// Bytes similar to sections: small ids, plausible sizes, markers.
fn near_sections() -> impl Strategy<Value = Vec<u8>> {
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

/// Dwords similar to packets: any header, short counts, existing opcodes.
fn near_stream() -> impl Strategy<Value = Vec<u32>> {
    let type3 = (0u32..8, 0u32..0x80, any::<bool>())
        .prop_map(|(count, opcode, predicated)| 3 << 30 | count << 16 | opcode << 8 | u32::from(predicated));
    let type0 = (0u32..8, 0u32..0x10000).prop_map(|(count, reg)| count << 16 | reg);
    let dword = prop_oneof![3 => type3, 2 => type0, 1 => Just(0x8000_0000), 2 => any::<u32>()];
    proptest::collection::vec(dword, 0..64)
}

/// Text similar to assembly.
fn near_shader() -> impl Strategy<Value = String> {
    let word = "(\\(rpt[0-9]\\)|\\(sy\\)|nop|add\\.f|mov\\.f32f32|br|end|sam|ldg|r[0-9]{1,3}\\.[xyzw]|c[0-9]{1,4}\\.x|#l?-?[0-9]{1,9}|[,;:() \\n-])";
    proptest::collection::vec(word, 0..24).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(random_cases(2000))]

    #[test]
    fn near_captures_are_read_to_their_damage(input in near_sections()) {
        check_sections(&input);
    }

    #[test]
    fn any_dwords_are_packets_or_an_error(input in near_stream()) {
        check_stream(&input);
    }

    #[test]
    fn any_text_assembles_or_says_where_not(source in near_shader()) {
        check_shader(&source);
    }
}
