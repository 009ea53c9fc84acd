//! A stepper for shaders in the terminal: PicoGpu's and ir3's alike.
//!
//! It drives a program that was lowered one step per instruction
//! ([`Program::stepwise`]) and reads commands, one a line.
use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};

use crate::shader::{Environment, LANES, Lanes, Outcome, Program, Warp, step};

/// The commands, for `h`.
const HELP: &str = "\
s [N]    step N instructions (1); an empty line does the same
c        continue to a trap, a breakpoint or the end
b N      set or remove a breakpoint at instruction N
l N      look at lane N
r [NAME] registers of the lane that are not zero, or one (r0, hr2, a0, p0)
p        the program
q        quit";

/// What is known about one instruction of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What is shown: source line and text.
    pub text: String,
    /// Does execution stop here by itself?
    pub trap: bool,
}

/// A warp under the debugger.
pub struct Debugger<'a, E> {
    program: &'a Program,
    lines: &'a [Line],
    warp: Warp,
    environment: E,
    lane: usize,
    breakpoints: BTreeSet<u32>,
}

/// What to do after a command.
enum Next {
    Ask,
    Quit,
}

impl<'a, E: Environment> Debugger<'a, E> {
    /// `warp` of `program`, restarted and with its inputs in place; `lines` has one
    /// entry per instruction.
    pub fn new(program: &'a Program, lines: &'a [Line], warp: Warp, environment: E, lane: usize) -> Self {
        Self { program, lines, warp, environment, lane: lane.min(LANES - 1), breakpoints: BTreeSet::new() }
    }

    /// Reads commands from `input` until it ends, `q`, or the end of the warp.
    ///
    /// # Errors
    /// I/O on either side.
    pub fn interact(&mut self, input: impl BufRead, out: &mut impl Write) -> io::Result<()> {
        self.show_position(out)?;
        for line in input.lines() {
            if let Next::Quit = self.command(line?.trim(), out)? {
                break;
            }
            out.flush()?;
        }
        out.flush()
    }

    fn command(&mut self, line: &str, out: &mut impl Write) -> io::Result<Next> {
        let (word, argument) = line.split_once(' ').unwrap_or((line, ""));
        let number = argument.trim().parse::<u32>().ok();
        match (word, number) {
            ("" | "s", count) => return self.advance(count.unwrap_or(1), out),
            ("c", _) => return self.proceed(out),
            ("b", Some(at)) => self.toggle(at, out)?,
            ("l", Some(lane)) if (lane as usize) < LANES => {
                self.lane = lane as usize;
                writeln!(out, "lane {lane}")?;
            }
            ("r", _) => self.show_registers(argument.trim(), out)?,
            ("p", _) => self.show_program(out)?,
            ("q", _) => return Ok(Next::Quit),
            _ => writeln!(out, "{HELP}")?,
        }
        Ok(Next::Ask)
    }

    fn toggle(&mut self, at: u32, out: &mut impl Write) -> io::Result<()> {
        let set = !self.breakpoints.remove(&at);
        if set {
            self.breakpoints.insert(at);
        }
        writeln!(out, "breakpoint at {at} {}", if set { "set" } else { "removed" })
    }

    /// Up to `count` instructions.
    fn advance(&mut self, count: u32, out: &mut impl Write) -> io::Result<Next> {
        for _ in 0..count {
            if let Some(outcome) = self.step() {
                return finish(outcome, out);
            }
        }
        self.show_position(out)?;
        Ok(Next::Ask)
    }

    fn proceed(&mut self, out: &mut impl Write) -> io::Result<Next> {
        loop {
            if let Some(outcome) = self.step() {
                return finish(outcome, out);
            }
            let Some((at, _)) = self.warp.next_instruction(self.program) else { continue };
            if self.breakpoints.contains(&at) || self.line(at).is_some_and(|line| line.trap) {
                self.show_position(out)?;
                return Ok(Next::Ask);
            }
        }
    }

    /// One instruction, and the outcome if it was the last. A barrier is passed at once:
    /// there is one warp.
    fn step(&mut self) -> Option<Outcome> {
        let mut outcome = step(self.program, &mut self.warp, &mut self.environment);
        if outcome.is_none() && self.warp.next_instruction(self.program).is_none() {
            outcome = step(self.program, &mut self.warp, &mut self.environment);
        }
        outcome.filter(|outcome| *outcome != Outcome::Barrier)
    }

    fn line(&self, at: u32) -> Option<&Line> {
        self.lines.get(at as usize)
    }

    fn show_position(&mut self, out: &mut impl Write) -> io::Result<()> {
        match self.warp.next_instruction(self.program) {
            Some((at, lanes)) => {
                let text = self.line(at).map_or("(end)", |line| line.text.as_str());
                writeln!(out, "{at:4}  {text}   [lanes {lanes:#010x}]")
            }
            None => writeln!(out, "      (waiting)"),
        }
    }

    fn show_program(&self, out: &mut impl Write) -> io::Result<()> {
        self.lines.iter().enumerate().try_for_each(|(at, line)| writeln!(out, "{at:4}  {}", line.text))
    }

    /// `rN`, `hrN`, or all registers that are not zero in the lane.
    fn show_registers(&self, name: &str, out: &mut impl Write) -> io::Result<()> {
        let full = (0..48).map(|n| (format!("r{n}"), self.components(n, Warp::full)));
        let half = (0..48).map(|n| (format!("hr{n}"), self.components(n, Warp::half)));
        let flow = [("a0".into(), self.warp.a0()), ("p0".into(), self.warp.p0())];
        let flow = flow.map(|(name, row)| (name, [row[self.lane], 0, 0, 0]));
        for (register, values) in full.chain(half).chain(flow) {
            if if name.is_empty() { values != [0; 4] } else { register == name } {
                show_register(&register, values, out)?;
            }
        }
        Ok(())
    }

    /// The lane's x, y, z and w of register `number` of a file.
    fn components(&self, number: u32, file: fn(&Warp, u32) -> &Lanes) -> [u32; 4] {
        std::array::from_fn(|c| file(&self.warp, 4 * number + c as u32)[self.lane])
    }
}

/// A line: bits, and what they are as floats.
fn show_register(name: &str, values: [u32; 4], out: &mut impl Write) -> io::Result<()> {
    write!(out, "{name:<3}")?;
    for bits in values {
        match name.strip_prefix('h') {
            Some(_) => write!(out, "  {bits:04x} {:<12?}", half::f16::from_bits(bits as u16).to_f32())?,
            None => write!(out, "  {bits:08x} {:<12?}", f32::from_bits(bits))?,
        }
    }
    writeln!(out)
}

fn finish(outcome: Outcome, out: &mut impl Write) -> io::Result<Next> {
    match outcome {
        Outcome::Ended | Outcome::Barrier => writeln!(out, "ended")?,
        Outcome::Fault(fault) => writeln!(out, "stopped: {fault}")?,
    }
    Ok(Next::Quit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_decoder::isa::ir3::program::assemble;

    fn session(source: &str, commands: &str) -> String {
        let code = assemble(source).unwrap();
        let program = Program::stepwise(&code).unwrap();
        let lines: Vec<Line> = source.lines().map(|text| Line { text: text.into(), trap: false }).collect();
        let mut warp = Warp::new(&program, &[]);
        warp.restart(&program, 3, 0);
        warp.full_mut(0).0[1] = 7;
        let mut out = Vec::new();
        Debugger::new(&program, &lines, warp, (), 1).interact(commands.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const SOURCE: &str = "mov.u32u32 r1.x, r0.x\nadd.u r1.y, r1.x, r0.x\nend";

    #[test]
    fn steps_and_shows_registers() {
        let out = session(SOURCE, "s\n\nr r1\ns\n");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], "   0  mov.u32u32 r1.x, r0.x   [lanes 0x00000003]");
        assert_eq!(lines[2], "   2  end   [lanes 0x00000003]");
        assert!(lines[3].starts_with("r1   00000007") && lines[3].contains("0000000e"), "{}", lines[3]);
        assert_eq!(lines.last(), Some(&"ended"));
    }

    #[test]
    fn stops_at_breakpoints() {
        let out = session(SOURCE, "b 1\nc\nl 0\nr\nc\n");
        let lines: Vec<&str> = out.lines().skip(1).collect();
        let expected =
            ["breakpoint at 1 set", "   1  add.u r1.y, r1.x, r0.x   [lanes 0x00000003]", "lane 0", "ended"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn an_endless_program_ends() {
        assert!(session("jump #0\nend", "c\n").contains("stopped: shader cut off"));
    }
}
