//! Any bytes, raw or gzip: sections end, no payload is longer than the input
//! unpacked to, and every body parses or says why not.
#![no_main]

use a4emu_decoder::capture::{MAX_PAYLOAD, Sections};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(mut sections) = Sections::new(input) else { return };
    let mut kept = 0;
    while let Some(section) = sections.next() {
        match section {
            Ok(section) => {
                kept += section.payload.len() as u64;
                assert!(section.payload.len() <= MAX_PAYLOAD as usize);
                let _ = section.body().map(|body| format!("{body:?}"));
            }
            Err(error) => drop(error.to_string()),
        }
        assert!(kept <= sections.offset());
    }
});
