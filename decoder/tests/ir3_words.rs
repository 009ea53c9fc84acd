//! Words survive decoding and encoding.
use a4emu_decoder::isa::ir3::{Body, Instr};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn every_word_encodes_back_to_itself(word: u64) {
        prop_assert_eq!(Instr::decode(word).encode(), word);
    }
}

/// Rows of the table of every instruction in the captures, when it is there.
fn facts() -> Option<String> {
    let shared = std::env::var("A4EMU_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared").into());
    let path = format!("{shared}/captures/facts/instructions.tsv");
    let text = std::fs::read_to_string(&path);
    if text.is_err() {
        eprintln!("SKIPPED: the {path} test, because the file is not there");
    }
    text.ok()
}

#[test]
fn compiled_words_have_no_ignored_bits() {
    let Some(text) = facts() else { return };
    let mut bad = Vec::new();
    for line in text.lines() {
        let mut columns = line.split('\t');
        let mut dword = || u64::from_str_radix(columns.next().unwrap(), 16).unwrap();
        let word = dword() << 32 | dword();
        let instr = Instr::decode(word);
        assert_eq!(instr.encode(), word);
        if instr.extra != 0 || instr.body == Body::Unknown {
            bad.push(format!("{line} {:x}", instr.extra));
        }
    }
    assert!(bad.is_empty(), "{}\n{}", bad.len(), bad.join("\n"));
}
