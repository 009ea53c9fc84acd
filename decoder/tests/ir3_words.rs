//! Words survive decoding, encoding, printing and parsing. The instructions of the captures print as in the
//! freedreno disassembler.

mod seed;

use a4emu_decoder::adreno::ir3::program::{assemble, assemble_in, disassemble_in};
use a4emu_decoder::adreno::ir3::{Body, Instr, Isa, parse};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use seed::random_cases;

/// A random word of one category. Bits that instructions ignore are mostly clear, so that most words are
/// instructions.
fn words() -> impl Strategy<Value = u64> {
    let sparse = (any::<u64>(), any::<u64>()).prop_map(|(a, b)| a & b);
    let bits = prop_oneof![any::<u64>(), sparse];
    (0u64..8, bits).prop_map(|(category, bits)| category << 61 | bits >> 3)
}

/// A generation of the instruction set.
fn isas() -> impl Strategy<Value = Isa> {
    prop::sample::select(&Isa::ALL[..])
}

proptest! {
    #![proptest_config(random_cases(100_000))]

    #[test]
    fn every_word_encodes_back_to_itself(isa in isas(), word in words()) {
        prop_assert_eq!(isa.decode(word).encode(), word);
    }

    #[test]
    fn every_text_parses_back_to_itself(isa in isas(), word in words()) {
        let instr = isa.decode(word);
        let text = instr.to_string();
        let back = isa.parse(&text, &mut |_| None);
        let back = back.map_err(|e| TestCaseError::fail(format!("{isa:?} {text}: {e}")))?;
        prop_assert_eq!(back, instr, "{}", text);
    }

    #[test]
    fn programs_assemble_back(isa in isas(), words in prop::collection::vec(words(), 0..20)) {
        let mut text = String::new();
        disassemble_in(isa, &words, &mut text).unwrap();
        let back = assemble_in(isa, &text).map_err(|e| TestCaseError::fail(format!("{isa:?}\n{text}\n{e}")))?;
        prop_assert_eq!(back, words);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = assemble(&text);
    }

    /// Texts of instructions with a few bytes replaced. They reach deeper into the grammar than random text.
    #[test]
    fn no_damaged_text_panics(isa in isas(), word in words(), at in 0usize..60, with in "\\PC{0,3}") {
        let mut text = isa.decode(word).to_string();
        let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        text.insert_str(at, &with);
        let _ = assemble_in(isa, &text);
    }
}

/// Rows of the table of every instruction in the captures, if the table exists.
fn facts() -> Option<Vec<(u64, String)>> {
    let shared = std::env::var("A4EMU_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared").into());
    let path = format!("{shared}/captures/facts/instructions.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: {path} is not there, so no instruction of the captures was checked");
        return None;
    };
    let rows = text.lines().map(|line| {
        let mut columns = line.splitn(3, '\t');
        let mut dword = || u64::from_str_radix(columns.next().unwrap(), 16).unwrap();
        let word = dword() << 32 | dword();
        (word, columns.next().unwrap().to_owned())
    });
    Some(rows.collect())
}

/// The index of a row in its program, computed from `#l22` and the offset.
fn place(instr: &Instr, text: &str) -> usize {
    match (&instr.body, text.rsplit_once("#l")) {
        (Body::Cat0(branch), Some((_, label))) => {
            usize::try_from(label.parse::<i64>().unwrap() - i64::from(branch.offset)).unwrap()
        }
        _ => 0,
    }
}

#[test]
fn captured_instructions_print_and_assemble_like_mesa() {
    let Some(rows) = facts() else { return };
    assert_eq!(rows.len(), 6388);
    let mut wrong = Vec::new();
    for (word, text) in &rows {
        let instr = Instr::decode(*word);
        let index = place(&instr, text);
        let shown = instr.in_program(index, usize::MAX).to_string();
        let mut label = |name: &str| Some(name.strip_prefix('l')?.parse::<i32>().ok()? - index as i32);
        let assembled = parse(text, &mut label).map(|instr| instr.encode());
        if shown != *text || assembled != Ok(*word) || instr.extra != 0 {
            wrong.push(format!("{word:016x} {text} | {shown} | {assembled:x?}"));
        }
    }
    // Mesa prints every row of this table correctly.
    assert_eq!(wrong, Vec::<String>::new());
}
