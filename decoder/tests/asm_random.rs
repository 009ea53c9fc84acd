//! Random captures and sources. A capture disassembles to a source that gives equal bytes; a bad source gives
//! an error and no panic.

mod seed;

use a4emu_decoder::asm::{Bounds, Files, Image, Unreadable, assemble, disassemble};
use proptest::collection::vec;
use proptest::prelude::*;
use seed::random_cases;

/// Files for a source without includes.
struct NoFiles;

impl Files for NoFiles {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.into()
    }
    fn text(&mut self, name: &str) -> Result<String, Unreadable> {
        Err(Unreadable(format!("no file `{name}`")))
    }
    fn image(&mut self, name: &str) -> Result<Image, Unreadable> {
        Err(Unreadable(format!("no file `{name}`")))
    }
}

fn section(id: u32, payload: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes(), &(payload.len() as u32).to_le_bytes(), payload].concat()
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Few different addresses, so that buffers overlap.
fn address() -> impl Strategy<Value = u32> {
    prop_oneof![(0u32..8).prop_map(|page| 0x1000 + page * 0x40), any::<u32>()]
}

fn record(address: u32, length: u32) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => Just(bytes_of(&[address, length, 0])),
        2 => Just(bytes_of(&[address, length])),
        1 => any::<u32>().prop_map(move |high| bytes_of(&[address, length, high])),
        1 => Just(bytes_of(&[address])),
    ]
}

/// A packet with any payload. Existing opcodes and registers, calls and loads are more frequent.
fn packet() -> impl Strategy<Value = Vec<u32>> {
    let type0 = (0u32..0x8000, any::<bool>(), vec(any::<u32>(), 1..6)).prop_map(|(reg, one, values)| {
        [&[(values.len() as u32 - 1) << 16 | u32::from(one) << 15 | reg], &values[..]].concat()
    });
    let type3 = |opcode: BoxedStrategy<u32>| {
        (opcode, any::<bool>(), vec(any::<u32>(), 1..12)).prop_map(|(opcode, predicated, payload)| {
            let header = 3 << 30 | (payload.len() as u32 - 1) << 16 | opcode << 8 | u32::from(predicated);
            [&[header], &payload[..]].concat()
        })
    };
    let call = (address(), 0u32..24).prop_map(|(address, dwords)| vec![0xc001_3f00, address, dwords]);
    let inline = (0u32..16, 0u32..3, 0u32..4, any::<u32>()).prop_map(|(block, kind, units, fill)| {
        let data = vec![fill; units as usize * 32];
        let header = 3 << 30 | (data.len() as u32 + 1) << 16 | 0x30 << 8;
        [&[header, units << 22 | block << 18, kind], &data[..]].concat()
    });
    let memory = (0u32..16, 0u32..3, 0u32..4, address()).prop_map(|(block, kind, units, address)| {
        vec![0xc001_3000, units << 22 | block << 18 | 2 << 16, (address & !3) | kind]
    });
    prop_oneof![
        4 => type0,
        3 => type3((0u32..0x80).boxed()),
        2 => call,
        2 => inline,
        2 => memory,
        1 => Just(vec![0x8000_0000]),
        1 => vec(any::<u32>(), 1..3),
    ]
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let commands = || vec(packet(), 0..8).prop_map(|packets| bytes_of(&packets.concat()));
    let contents = prop_oneof![
        3 => commands(),
        1 => vec(any::<u8>(), 0..200),
        1 => (0usize..2000, any::<u8>()).prop_map(|(count, byte)| vec![byte; count]),
        1 => vec(prop_oneof![Just(0u32), Just(1.5f32.to_bits()), any::<u32>()], 0..64).prop_map(|words| bytes_of(&words)),
    ];
    let dump = (address(), contents)
        .prop_flat_map(|(address, contents)| (record(address, contents.len() as u32), Just(contents)))
        .prop_map(|(record, contents)| [section(3, &record), section(12, &contents)].concat());
    let announced = (address(), any::<u32>())
        .prop_flat_map(|(address, size)| record(address, size))
        .prop_map(|record| section(3, &record));
    let submit = (address(), 0u32..40)
        .prop_flat_map(|(address, dwords)| record(address, dwords))
        .prop_map(|record| section(6, &record));
    prop_oneof![
        5 => dump,
        1 => announced,
        3 => submit,
        1 => Just(vec![0xff; 8]),
        1 => (0u32..20, vec(any::<u8>(), 0..16)).prop_map(|(id, payload)| section(id, &payload)),
        1 => Just(section(13, &420u32.to_le_bytes())),
    ]
}

fn round_trips(capture: &[u8]) {
    let source = disassemble(capture).text;
    let again = assemble("source", &source, &mut NoFiles, Bounds::default())
        .unwrap_or_else(|error| panic!("{error}\n{source}"));
    assert!(again == capture, "{again:02x?}\n{capture:02x?}\n{source}");
}

proptest! {
    #![proptest_config(random_cases(400))]

    #[test]
    fn captures_round_trip(pieces in vec(piece(), 0..14), tail in vec(any::<u8>(), 0..12)) {
        round_trips(&[pieces.concat(), tail].concat());
    }

    #[test]
    fn dumping_twice_round_trips(pieces in vec(piece(), 1..8), other in piece()) {
        round_trips(&[pieces.concat(), other, pieces.concat()].concat());
    }

    #[test]
    fn any_bytes_round_trip(bytes in vec(any::<u8>(), 0..200)) {
        round_trips(&bytes);
    }

    #[test]
    fn broken_sources_fail_quietly(pieces in vec(piece(), 0..4), cut in any::<prop::sample::Index>(), insert in "[-{}()\\[\\]|+:,.@\"a-z0-9 \n]{0,6}") {
        let mut source = disassemble(&pieces.concat()).text;
        let mut at = cut.index(source.len() + 1);
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        source.insert_str(at, &insert);
        let _ = assemble("source", &source, &mut NoFiles, Bounds::default()).map_err(|error| error.to_string());
        source.truncate(at);
        let _ = assemble("source", &source, &mut NoFiles, Bounds::default()).map_err(|error| error.to_string());
    }
}
