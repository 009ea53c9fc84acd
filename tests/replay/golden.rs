//! Golden state: printing and parsing, hashes that detect changes, and comparison.

use a4emu_gpu::cp::{Cp, Skip};
use a4emu_inspect::golden::{Difference, Recorder, State, compare, parse};
use pretty_assertions::assert_eq;

use super::stream::{DATA, SCRATCH, STREAM, bytes, draw, gpu, packet, write};

/// RB_MRT[0].CONTROL
const CONTROL: u32 = 0x20a4;

fn state(packets: &[Vec<u32>]) -> State {
    let mut gpu = gpu();
    let words = packets.concat();
    gpu.memory_mut().announce(STREAM, words.len() as u32 * 4, Some(&bytes(&words)));
    let mut recorder = Recorder::new(State::default());
    Cp::new(&mut gpu, &mut Skip::default(), &mut recorder).submit(STREAM, words.len() as u32);
    recorder.end(&gpu)
}

fn load(value: u32) -> Vec<u32> {
    packet(0x30, &[2 | 0xc << 18 | 1 << 22, 1, value, 2, 3, 4])
}

fn sample() -> Vec<Vec<u32>> {
    vec![
        write(CONTROL, &[0x0f00_0c00]),
        load(1),
        draw(3),
        write(CONTROL, &[0x0f00_0c00, 0x0000_0013]),
        packet(0x33, &[0, 1, 2, 3]),
        write(SCRATCH, &[7]),
    ]
}

#[test]
fn a_record_holds_what_changed() {
    let text = state(&sample()).to_string();
    let expected = "a4emu state 2 gpu 420\n\
        \n\
        draw 0 f0 submit 0 bypass TRILIST count 3 instances 1 auto\n  \
          0x20a4 RB_MRT[0].CONTROL 0x0f000c00 { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0xf }\n  \
          FS constants 2 4 ";
    assert!(text.starts_with(expected), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[6..8], ["", "draw 1 f1 submit 0 compute groups 1 2 3"]);
    assert!(lines[8].starts_with("  0x20a5 RB_MRT[0].BUF_INFO 0x00000013 {"), "{text}");
    assert!(lines[9].starts_with("  written 2 state "), "the unchanged one counts as written: {text}");
    assert_eq!(lines[11], "draw 2 f2 submit 0 end");
    assert_eq!(lines[12], "  0x057d CP_SCRATCH[5].REG 0x00000007");
}

#[test]
fn text_reads_back() {
    let state = state(&sample());
    assert_eq!(parse(&state.to_string()).as_ref(), Ok(&state));
}

#[test]
fn other_texts_are_no_state() {
    assert!(parse("").is_err());
    assert!(parse("a4emu state 1 gpu 420\n").is_err());
    let wrong = "a4emu state 2 gpu 420\n\ndraw 0 f0 submit 0 end\n  0x2000\n";
    assert_eq!(parse(wrong).unwrap_err().to_string(), "line 4: `  0x2000` does not belong in a state file");
}

fn words(found: &[Difference]) -> Vec<String> {
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn a_changed_field_is_named_once_where_it_first_shows() {
    let mut changed = sample();
    changed[0] = write(CONTROL, &[0x0700_0c00]);
    changed[3] = write(CONTROL, &[0x0700_0c00, 0x0000_0013]);
    let found = compare(&state(&sample()), &state(&changed));
    assert_eq!(words(&found), ["draw 0 f0 submit 0: RB_MRT[0].CONTROL.COMPONENT_ENABLE: 0xf -> 0x7"]);
}

#[test]
fn a_difference_that_ends_and_returns_is_named_again() {
    let of = |values: [u32; 3]| state(&values.map(|value| [write(CONTROL, &[value]), draw(3)].concat()));
    let found = compare(&of([0xc00, 0xc00, 0xc00]), &of([0xc08, 0xc00, 0xc08]));
    let draws: Vec<u32> = found.iter().map(|difference| difference.draw).collect();
    assert_eq!(draws, [0, 2]);
}

#[test]
fn other_differences_are_named() {
    let base = state(&sample());
    let with = |index: usize, packet: Vec<u32>| {
        let mut packets = sample();
        packets[index] = packet;
        words(&compare(&base, &state(&packets)))
    };
    let loads = with(1, load(9));
    assert_eq!(loads.len(), 1);
    assert!(loads[0].starts_with("draw 0 f0 submit 0: FS constants 2: 4 dwords "), "{loads:?}");
    let call = with(2, draw(4));
    assert_eq!(
        call,
        [
            "draw 0 f0 submit 0: call: bypass TRILIST count 3 instances 1 auto -> bypass TRILIST count 4 instances 1 auto"
        ]
    );
    let gone = with(4, packet(0x10, &[0]));
    assert_eq!(gone[0], "draw 1 f1 submit 0: call: compute groups 1 2 3 -> end");
    let unnamed = with(5, write(SCRATCH, &[8]));
    assert_eq!(unnamed, ["draw 2 f2 submit 0: CP_SCRATCH[5].REG.VALUE: 0x7 -> 0x8"]);
}

#[test]
fn the_hash_notices_what_no_line_shows() {
    let hash = |packets: &[Vec<u32>]| state(packets).records.last().unwrap().hash;
    let base = hash(&sample());
    assert_eq!(base, hash(&sample()));
    let hidden = [
        packet(0x4a, &[SCRATCH]),
        packet(0x19, &[1]),
        packet(0x4b, &[1]),
        packet(0x43, &[2, DATA]),
        write(0x22eb, &[0]),
        packet(0x30, &[0x4 << 18 | 1 << 22, 0, 1, 0]),
        packet(0x30, &[0xf << 18 | 1 << 22, 2, 1, 0]),
    ];
    for packet in hidden {
        let packets = [sample(), vec![packet.clone()]].concat();
        assert_ne!(hash(&packets), base, "{packet:x?}");
    }
    let twice = [sample(), vec![write(SCRATCH, &[8]), write(SCRATCH, &[7])]].concat();
    assert_eq!(hash(&twice), base, "the way does not matter, the state does");
}
