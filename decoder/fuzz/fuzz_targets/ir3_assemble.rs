//! Any text: the assembler ends with words or an error inside the source, and
//! what it accepts comes back from the disassembler.
#![no_main]

use a4emu_decoder::isa::ir3::{Instr, program};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    match program::assemble(source) {
        Err(error) => assert!(error.line >= 1 && error.line <= source.lines().count().max(1), "{error}"),
        Ok(words) => {
            for word in words {
                let text = Instr::decode(word).to_string();
                assert_eq!(program::assemble(&text).as_deref(), Ok(&[word][..]), "{text}");
            }
        }
    }
});
