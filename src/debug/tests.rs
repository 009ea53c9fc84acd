//! Tests of debugger sessions with small programs.

use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::ir3::program::assemble;

use super::editor::Commands;
use super::session::Session;
use super::subject::{Subject, lane_names};
use super::terminal::Terminal;
use a4emu_shader::{Dialect, Environment, Granularity, Lanes, Mask, Op, Program, Refused, Warp};

/// A memory word that counts its reads and returns the count.
#[derive(Default)]
struct Counter(u32);

impl Environment for Counter {
    fn perform(&mut self, _: &Op<&Lanes>, _: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        self.0 += 1;
        out[0] = Lanes::splat(self.0);
        Ok(())
    }
}

/// The output of a session, and the number of memory accesses.
fn session(source: &str, commands: &'static str) -> (String, u32) {
    let code = assemble(source).unwrap();
    let program = Program::lowered(Dialect::A4XX, Granularity::Instructions, &code).unwrap();
    let mut warp = Warp::new(&program, &[0, 1.5f32.to_bits()]);
    warp.restart(&program, 3, 0);
    warp.full_mut(0).0[1] = 7;
    let subject = Subject::ir3("test".into(), (Isa::A4xx, &code), 1, lane_names(&warp, None, None));
    let (mut machine, mut out) = (Counter::default(), Vec::new());
    let session = Session::new(&program, &subject.lines, warp, &mut machine);
    let commands = Commands::Piped(Box::new(commands.as_bytes()));
    Terminal::new(session, &subject, &mut out).interact(commands).unwrap();
    (String::from_utf8(out).unwrap(), machine.0)
}

fn lines(source: &str, commands: &'static str) -> Vec<String> {
    session(source, commands).0.lines().map(str::to_owned).collect()
}

const SOURCE: &str = "mov.u32u32 r1.x, r0.x\nadd.u r1.y, r1.x, r0.x\nend";

/// A program that adds 1 to r1.x ten times.
const LOOP: &str =
    "loop:\nadd.u r1.x, r1.x, 1\ncmps.u.lt p0.x, r1.x, 10\nbr p0.x, #loop\nmov.u32u32 r2.x, r1.x\nend";

#[test]
fn steps_and_shows_registers() {
    let lines = lines(SOURCE, "s\n\nr r1\ns\nr r1.y\ns\nq\n");
    assert_eq!(lines[0], "   0  mov.u32u32 r1.x, r0.x   [lanes 0x00000003]");
    assert_eq!(lines[2], "   2  end   [lanes 0x00000003]");
    assert!(lines[3].starts_with("r1   00000007") && lines[3].contains("0000000e"), "{}", lines[3]);
    assert_eq!(lines[4], "ended");
    assert!(lines[5].starts_with("r1.y  0000000e"), "outputs can be read at the end: {}", lines[5]);
    assert!(lines[6].starts_with("ended before"), "{}", lines[6]);
}

#[test]
fn stops_at_breakpoints_of_the_program_and_refuses_others() {
    let lines = lines(SOURCE, "b 3\nb 1\nb\nc\nl 0\nc\n");
    let expected = [
        "no instruction 3: the program has 0 to 2",
        "breakpoint at 1 set",
        "*  1  add.u r1.y, r1.x, r0.x",
        "   1  add.u r1.y, r1.x, r0.x   [lanes 0x00000003]",
        "lane 0",
        "ended",
    ];
    assert_eq!(lines[1..], expected);
}

#[test]
fn says_what_it_did_not_understand() {
    let lines = lines(SOURCE, "foo\nr q9\nb x\ns x\nl 99\nc 5\nwatch r99\n");
    for (line, word) in
        lines[1..].iter().zip(["`foo`", "`q9`", "no instruction x", "`x`", "`99`", "`c 5`", "`r99`"])
    {
        assert!(line.contains(word), "{line}");
    }
    assert_eq!(lines.len(), 8);
}

#[test]
fn an_endless_program_ends() {
    for commands in ["c\n", "s 18446744073709551615\n"] {
        assert!(session("jump #0\nend", commands).0.contains("stopped: shader cut off"));
    }
}

#[test]
fn constants_predicates_and_inputs_are_shown() {
    let lines =
        lines("mov.f32f32 r1.x, c0.y\ncmps.u.eq p0.x, r0.x, 7\nend", "k\nr c0.y\ni\ns 2\nr p0.x\nr\n");
    for start in ["c0   00000000 0.0", "c0.y  3fc00000 1.5", "r0.x  00000007", "p0.x  00000001", "r1 "] {
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}: {lines:#?}");
    }
}

#[test]
fn a_watched_register_stops_it_forward_and_back() {
    let lines = lines(LOOP, "watch r1.x\nc\nc\nc\nrc\nr r1.x\nrc\nrc\nrc\nr r1.x\n");
    assert_eq!(lines[1], "r1.x of lane 1 is watched");
    let changes: Vec<&String> = lines.iter().filter(|line| line.starts_with("r1.x of lane 1:")).collect();
    assert!(changes[0].ends_with("(0x00000001)") && changes[2].ends_with("(0x00000003)"), "{changes:?}");
    assert!(changes[3].ends_with("(0x00000002)"), "before it changed: {changes:?}");
    assert!(lines.last().unwrap().starts_with("r1.x  00000000"), "{lines:?}");
}

/// Steps back and forward again at every place of a run with breakpoints in a loop.
#[test]
fn stepping_back_and_forward_repeats_register_values() {
    let forward = lines(LOOP, "s\ns\ns\ns\ns\ns\ns\ns\ns\ns\ns\ns\nr\n");
    let there_and_back = lines(LOOP, "c\nbs 20\nrc\ns 8\nbs 3\ns 2\ns 5\nr\n");
    assert_eq!(forward.last(), there_and_back.last());
    let stops = lines(LOOP, "b 3\nc\nr r1.x\nb 3\nb 0\nrc\nr r1.x\nrc\nr r1.x\n");
    let values: Vec<&str> = stops.iter().filter(|line| line.starts_with("r1.x")).map(|l| &l[6..14]).collect();
    assert_eq!(values, ["0000000a", "00000009", "00000008"]);
}

#[test]
fn the_machine_is_asked_once_however_often_it_runs_again() {
    let source = "ldg.u32 r2.x, g[r0.x], 1\nldg.u32 r3.x, g[r0.x], 1\nend";
    let (out, asked) = session(source, "s 2\nr r3.x\nbs 2\ns\ns\nr r3.x\nr r2.x\n");
    assert_eq!(asked, 2, "{out}");
    let values: Vec<&str> = out.lines().filter(|line| line.starts_with("r")).map(|l| &l[6..14]).collect();
    assert_eq!(values, ["00000002", "00000002", "00000001"]);
    assert!(out.contains("      g[0x7] -> ("), "what came back is shown: {out}");
}
