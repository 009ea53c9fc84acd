//! Tests of the bounds, with limits so small that short sources reach them.

use super::super::FileError;
use super::super::pack::MAX_COUNT;
use super::*;

/// Files for a source without includes.
struct Nothing;

impl Files for Nothing {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.into()
    }
    fn text(&mut self, _: &str) -> std::result::Result<String, FileError> {
        Err(FileError("there is nothing".into()))
    }
    fn image(&mut self, _: &str) -> std::result::Result<Image, FileError> {
        Err(FileError("there is nothing".into()))
    }
}

/// Number of bytes in the capture, or the error.
fn size(text: &str, bounds: Bounds) -> std::result::Result<usize, String> {
    assemble("s", text, &mut Nothing, bounds).map(|capture| capture.len()).map_err(|wrong| wrong.message)
}

#[test]
fn a_section_has_its_bound_however_it_is_filled() {
    let bounds = Bounds { section: 64, ..Bounds::default() };
    let sources: [fn(usize) -> String; 4] = [
        |size| format!("section 0 {{ zero {size} }}"),
        |size| format!("section 0 {{ repeat {} {{ u32 1 }} }}", size / 4),
        |size| format!("buffer b size {size} {{ u32 1 }}"),
        |size| format!("section 0 {{ at {} u32 1 }}", size - 4),
    ];
    for source in sources {
        assert!(size(&source(64), bounds).is_ok(), "{}", source(64));
        let wrong = size(&source(68), bounds).unwrap_err();
        assert!(wrong.contains("more than 0x40 bytes in one section"), "{wrong}");
    }
}

#[test]
fn a_capture_is_as_large_as_there_is_work() {
    // A step moves 16 bytes, and there are two passes.
    for (source, bytes) in [("marker 100000", 800_000), ("section 0 { zero 799992 }", 800_000)] {
        assert_eq!(size(source, Bounds::default()), Ok(bytes));
        assert_eq!(size(source, Bounds::of_steps(90_000)).unwrap_err(), TOO_MUCH_WORK, "{source}");
    }
    assert_eq!(size("marker 0xffffffff", Bounds::default()).unwrap_err(), TOO_MUCH_WORK);
}

#[test]
fn a_source_earns_its_own_work() {
    let source = format!("marker // {}", "long ".repeat(100));
    assert_eq!(size(&source, Bounds { steps: 0, ..Bounds::default() }), Ok(8));
    assert_eq!(size(&source, Bounds::of_steps(0)).unwrap_err(), TOO_MUCH_WORK);
}

/// Text that makes nothing is read too.
#[test]
fn a_source_is_charged_for_its_text() {
    for nothing in [" ", "\n", "; no statements\n", "\r\n"] {
        let source = nothing.repeat(3200 / nothing.len());
        let size = |steps| size(&source, Bounds::of_steps(steps));
        assert_eq!((size(199).unwrap_err().as_str(), size(200)), (TOO_MUCH_WORK, Ok(0)), "{nothing:?}");
    }
}

/// If a statement's size depends on a later label, it moves that label. Here each pass moves one more label,
/// or moves one label back and forth.
#[test]
fn labels_have_so_many_passes_to_stand_still() {
    let chain = "buffer b @ 0 { zero (p > 8) * 4 zero (p > 4) * 4 zero (p > 0) * 4 u32 1 p: { u32 1 } }";
    let never = "buffer b @ 0 { zero (p < 4) * 4 p: { u32 1 } }";
    let passes = |passes| Bounds { passes, ..Bounds::of_steps(1000) };
    let wrong = "the addresses of labels depend on each other and never stand still";
    let least = (1..9).find(|least| size(chain, passes(*least)).is_ok());
    assert!(least.is_some_and(|least| least > 2 && least <= Bounds::default().passes), "{least:?}");
    assert_eq!(size(never, passes(8)).unwrap_err(), wrong);
    assert_eq!(size(never, passes(100)).unwrap_err(), TOO_MUCH_WORK, "passes are work");
}

#[test]
fn macros_that_follow_each_other_are_not_inside_each_other() {
    let source = "macro m(n) { marker n }\n".to_owned() + &"use m(1)\n".repeat(2 * MAX_DEPTH);
    assert_eq!(size(&source, Bounds::default()), Ok(8 * 2 * MAX_DEPTH));
}

#[test]
fn a_packet_has_as_many_dwords_as_its_header_can_count() {
    let command = |dwords| format!("section 0 {{ CP_NOP {{ zero 4 * {dwords} }} }}");
    let (most, header) = (MAX_COUNT as usize, 4 + 8);
    assert_eq!(size(&command(MAX_COUNT), Bounds::default()), Ok(4 * most + header));
    assert!(size(&command(MAX_COUNT + 1), Bounds::default()).unwrap_err().contains("dwords in one packet"));
}

/// The fewest steps that a source needs.
fn steps(source: &str) -> u64 {
    let enough = |steps: u64| size(source, Bounds::of_steps(steps)).is_ok();
    let (mut low, mut high) = (0, 1 << 20);
    assert!(enough(high), "{source}");
    while high - low > 1 {
        let middle = low.midpoint(high);
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

/// Two passes of 160,000 bytes each cost 10,000 steps each.
#[test]
fn all_that_is_copied_is_work() {
    let text = |bytes| steps(&format!("cmd \"{}\"", "x".repeat(bytes)));
    assert!(text(160_000) - text(16) >= 2 * 9_999, "put out");
    assert!(steps("buffer b size 160000 { u32 1 }") >= 2 * 20_000, "filled, and put out");
    let again = steps("buffer b { zero 160000 } again b") - steps("buffer b { zero 160000 }");
    assert!(again >= 2 * 20_000, "taken, and put out: {again}");
}

/// A header can count all registers, so a run of registers needs no limit of its own.
#[test]
fn a_run_of_registers_is_as_long_as_its_header_can_count() {
    let register = |offset: u32| crate::a4xx::regs::REGISTERS.name(offset).to_string();
    let more: String = (1..MAX_COUNT).map(|offset| format!("+ {} = 0\n", register(offset))).collect();
    let run = format!("section 0 {{ {} = 0\n{more}", register(0));
    assert_eq!(size(&format!("{run} }}"), Bounds::default()), Ok(8 + 4 + 4 * MAX_COUNT as usize));
    let wrong = size(&format!("{run} + {} = 0 }}", register(MAX_COUNT)), Bounds::default()).unwrap_err();
    assert!(wrong.contains("is called"), "{wrong}");
}
