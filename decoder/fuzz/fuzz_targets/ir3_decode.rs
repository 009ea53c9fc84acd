//! Any words: encode(decode(x)) = x, and the text assembles to the same word.
#![no_main]

use a4emu_decoder::isa::ir3::{Instr, program};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let (words, _) = input.as_chunks();
    for word in words.iter().map(|&word| u64::from_le_bytes(word)) {
        let instr = Instr::decode(word);
        assert_eq!(instr.encode(), word);
        let text = instr.to_string();
        assert_eq!(program::assemble(&text).as_deref(), Ok(&[word][..]), "{text}");
    }
});
