//! Any input at all: bytes, dwords, instruction words and text are answered without a panic,
//! and what is read can be written again.
//!
//! `cargo test` runs each target on random input, the seed of which it prints when it fails,
//! and on the inputs kept under `__fuzz__`; `scripts/fuzz` runs them under libFuzzer.

use std::time::Duration;

use a4emu_decoder::asm::{Files, Image, MAX_WORK, assemble, disassemble};
use a4emu_decoder::capture::{MAX_PAYLOAD, Sections};
use a4emu_decoder::isa::ir3::{Instr, program};
use a4emu_decoder::isa::pico;
use a4emu_decoder::packet::{Packet, Packets};
use a4emu_decoder::pm4::{Pm4, row};
use bolero::check;

/// Time that a target has under `cargo test`.
const TIME: Duration = Duration::from_secs(3);

/// A source that refers to nothing.
struct Nothing;

impl Files for Nothing {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.into()
    }
    fn text(&mut self, _: &str) -> Result<String, String> {
        Err("there is nothing".into())
    }
    fn image(&mut self, _: &str) -> Result<Image, String> {
        Err("there is nothing".into())
    }
}

fn words<const N: usize>(input: &[u8]) -> impl Iterator<Item = [u8; N]> {
    input.as_chunks().0.iter().copied()
}

/// Sections end, no payload is longer than what the input unpacked to, and every body parses
/// or says why not.
#[test]
fn capture() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
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
    });
}

/// Packets advance, none reaches past the end, and every body, register and loaded state prints.
#[test]
fn packets() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let dwords: Vec<u32> = words(input).map(u32::from_le_bytes).collect();
        let mut packets = Packets::new(&dwords);
        let mut before = 0;
        while let Some(packet) = packets.next() {
            let Ok(packet) = packet else { break };
            assert!(packets.offset() > before && packets.offset() <= dwords.len());
            before = packets.offset();
            let _ = packet.writes().count();
            let Packet::Type3 { opcode, payload, .. } = packet else { continue };
            let body = Pm4::parse(opcode, payload);
            assert!(!format!("{body:?} {:?}", body.call()).is_empty());
            assert_eq!(row(opcode).is_none(), matches!(body, Pm4::Unknown { .. }));
            if let Pm4::LoadState4(load) = body {
                assert_eq!(load.dwords() % load.kind().unit_dwords(), 0);
            }
        }
    });
}

/// encode(decode(x)) = x, and the text assembles to the same word.
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

/// Shader text ends as words or as an error inside the source.
#[test]
fn ir3_text() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let source = String::from_utf8_lossy(input);
        if let Err(error) = program::assemble(&source) {
            assert!(error.line >= 1 && error.line <= source.lines().count().max(1), "{error}");
        }
    });
}

/// The source of a capture ends as bytes or as an error inside the source.
#[test]
fn source() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        if let Err(diagnostic) = assemble("input", &text, &mut Nothing, MAX_WORK) {
            assert!(diagnostic.range.start <= text.len(), "{diagnostic:?}");
        }
    });
}

/// Any bytes disassemble to a source of the same bytes, as far as they are sections.
#[test]
fn round_trip() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let source = disassemble(input);
        let again = assemble("input", &source.text, &mut Nothing, MAX_WORK).expect("our own text");
        assert_eq!(again, input, "{}", source.text);
    });
}

/// PicoGpu's assembler and its command streams.
#[test]
fn pico_text() {
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        let text = String::from_utf8_lossy(input);
        drop(pico::assemble(&text).map_err(|error| error.to_string()));
    });
}
