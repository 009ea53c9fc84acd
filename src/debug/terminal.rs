//! The debugger's terminal interface: one command a line.

use std::io::{self, Write};

use super::editor::Commands;
use super::scalar::{Name, REGISTERS, Scalar};
use super::session::{Session, Stopped, Watch};
use super::subject::Subject;
use a4emu_shader::{LANES, Outcome};

/// The help text of the command `h`.
const HELP: &str = "\
s [N]        step N instructions (1); an empty line does the same
n            step until the lane has executed an instruction
c            continue to a trap, a breakpoint, a change of what is watched, or the end
bs [N]       step back N instructions (1)
rc           continue backwards
b [N]        set or remove a breakpoint at instruction N; without N: list them
watch [NAME] stop when the lane's NAME changes, or no longer; without NAME: list them
l [N]        look at lane N; without N: what the lanes are
r [NAME]     registers of the lane that are not zero, or one (r0, hr2.x, a0, p0, c3)
x ADDR [N]   N bytes of memory (64) at an address or at the value of a register: x 0x1040000 16, x r1.x
k            constants that are not zero
i            the lane's inputs: registers that are read before they are written, at the start
p            the program
h            this list
q            quit";

/// Most bytes that one command prints.
const MOST_MEMORY: usize = 1 << 16;

/// What follows a command.
#[derive(PartialEq, Eq)]
enum Next {
    Ask,
    Quit,
}

/// A session with the lane that is displayed.
pub struct Terminal<'s, 'a, W> {
    session: Session<'a>,
    subject: &'s Subject,
    lane: usize,
    out: Counted<W>,
}

/// A writer that counts the bytes.
struct Counted<W> {
    out: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<'s, 'a, W: Write> Terminal<'s, 'a, W> {
    /// Makes an interface that prints to `out`.
    pub fn new(session: Session<'a>, subject: &'s Subject, out: W) -> Self {
        Self { session, subject, lane: subject.lane, out: Counted { out, bytes: 0 } }
    }

    /// Executes `commands` until their end or `q`.
    ///
    /// # Errors
    /// The call fails on I/O errors of either side, and where the session's budget ends.
    pub fn interact(&mut self, mut commands: Commands) -> io::Result<()> {
        self.show_position()?;
        self.out.flush()?;
        while let Some(line) = commands.next()? {
            if self.command(line.trim())? == Next::Quit {
                break;
            }
            self.out.flush()?;
            let bytes = line.len() as u64 + std::mem::take(&mut self.out.bytes);
            self.session.pay_command(bytes)?;
        }
        self.out.flush()
    }

    fn command(&mut self, line: &str) -> io::Result<Next> {
        let (word, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim();
        match word {
            "" | "s" | "step" => self.counted(argument, Session::advance)?,
            "bs" | "back" => self.counted(argument, Session::back)?,
            "q" | "quit" => return Ok(Next::Quit),
            "b" | "break" => self.toggle_breakpoint(argument)?,
            "watch" | "w" => self.toggle_watch(argument)?,
            "l" | "lane" => self.choose_lane(argument)?,
            "r" | "registers" => self.show_registers(argument)?,
            "x" | "mem" | "memory" => self.show_memory(argument)?,
            _ if !argument.is_empty() => self.not_understood(line)?,
            "n" | "next" => self.go(|session, lane| session.forward_in(lane))?,
            "c" | "continue" => self.go(|session, _| session.run())?,
            "rc" => self.go(|session, _| session.run_back())?,
            "k" | "constants" => self.show_constants()?,
            "i" | "inputs" => self.show_inputs()?,
            "p" | "program" => self.show_program()?,
            "h" | "help" | "?" => writeln!(self.out, "{HELP}")?,
            _ => self.not_understood(line)?,
        }
        Ok(Next::Ask)
    }

    fn not_understood(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.out, "`{line}` is no command (h lists them)")
    }

    /// Executes a command with a count.
    fn counted(&mut self, argument: &str, go: fn(&mut Session<'a>, u64) -> Stopped) -> io::Result<()> {
        match argument {
            "" => self.go(|session, _| go(session, 1)),
            text => match text.parse() {
                Ok(count) => self.go(|session, _| go(session, count)),
                Err(_) => writeln!(self.out, "`{text}` is no number of instructions"),
            },
        }
    }

    /// Moves the warp with `go`, and prints the position and the reason of the stop.
    fn go(&mut self, go: impl FnOnce(&mut Session<'a>, usize) -> Stopped) -> io::Result<()> {
        let (before, was_at_end) = (self.session.position(), self.session.end().is_some());
        let stopped = go(&mut self.session, self.lane);
        if let Some(access) = self.session.access(self.lane) {
            writeln!(self.out, "      {access}")?;
        }
        match stopped {
            Stopped::End(_) if was_at_end && self.session.position() == before => {
                return writeln!(self.out, "ended before (r shows registers, bs steps back, q quits)");
            }
            Stopped::End(Outcome::Fault(fault)) => return writeln!(self.out, "stopped: {fault}"),
            Stopped::End(_) => return writeln!(self.out, "ended"),
            Stopped::Watch(watch) => {
                let value = watch.scalar.text(self.session.value(watch.scalar, watch.lane));
                writeln!(self.out, "{} of lane {}: {value}", watch.scalar, watch.lane)?;
            }
            Stopped::Start if self.session.position() > 0 => {
                writeln!(self.out, "what was before is forgotten")?;
            }
            Stopped::Start | Stopped::Step | Stopped::Breakpoint => {}
        }
        self.show_position()
    }

    fn toggle_breakpoint(&mut self, argument: &str) -> io::Result<()> {
        let count = self.session.lines().len();
        match argument.parse::<u32>() {
            Ok(at) if (at as usize) < count => {
                let set = !self.session.breakpoints.remove(&at);
                if set {
                    self.session.breakpoints.insert(at);
                }
                writeln!(self.out, "breakpoint at {at} {}", if set { "set" } else { "removed" })
            }
            Err(_) if argument.is_empty() => {
                let list = self.session.breakpoints.clone();
                list.into_iter().try_for_each(|at| self.show_line(at))
            }
            _ => writeln!(self.out, "no instruction {argument}: the program has 0 to {}", count.max(1) - 1),
        }
    }

    fn toggle_watch(&mut self, argument: &str) -> io::Result<()> {
        if argument.is_empty() {
            let watches = self.session.watches.clone();
            return watches.into_iter().try_for_each(|watch| self.say_watch(watch, "is watched"));
        }
        let scalars = match argument.parse::<Name>() {
            Ok(Name(scalars)) => scalars,
            Err(message) => return writeln!(self.out, "{message}"),
        };
        for scalar in scalars {
            let watch = Watch { lane: self.lane, scalar };
            match self.session.watches.remove(&watch) {
                true => self.say_watch(watch, "is no longer watched")?,
                false => {
                    self.session.watches.insert(watch);
                    self.say_watch(watch, "is watched")?;
                }
            }
        }
        Ok(())
    }

    fn say_watch(&mut self, watch: Watch, what: &str) -> io::Result<()> {
        writeln!(self.out, "{} of lane {} {what}", watch.scalar, watch.lane)
    }

    fn choose_lane(&mut self, argument: &str) -> io::Result<()> {
        match argument.parse::<usize>() {
            Ok(lane) if lane < LANES => {
                self.lane = lane;
                writeln!(self.out, "{}", self.subject.lane_name(lane))
            }
            Err(_) if argument.is_empty() => {
                let (program, lanes) = (self.session.program(), self.session.lanes());
                for lane in lanes {
                    let at = self.session.warp().instruction_of(program, lane);
                    let at = at.map_or("ended".into(), |at| format!("at {at}"));
                    writeln!(self.out, "{} {at}", self.subject.lane_name(lane))?;
                }
                Ok(())
            }
            _ => writeln!(self.out, "no lane `{argument}`: there are 0 to {}", LANES - 1),
        }
    }

    fn show_position(&mut self) -> io::Result<()> {
        match self.session.next() {
            Some((at, lanes)) => {
                let text = self.session.lines().get(at as usize).map_or("(end)", |line| line.text.as_str());
                writeln!(self.out, "{at:4}  {text}   [lanes {lanes:#010x}]")
            }
            None => writeln!(self.out, "ended"),
        }
    }

    fn show_program(&mut self) -> io::Result<()> {
        (0..self.session.lines().len() as u32).try_for_each(|at| self.show_line(at))
    }

    fn show_line(&mut self, at: u32) -> io::Result<()> {
        let mark = if self.session.breakpoints.contains(&at) { '*' } else { ' ' };
        match self.session.lines().get(at as usize) {
            Some(line) => writeln!(self.out, "{mark}{at:3}  {}", line.text),
            None => Ok(()),
        }
    }

    /// Prints a vec4, a scalar, or all registers of the lane that are not zero.
    fn show_registers(&mut self, name: &str) -> io::Result<()> {
        if !name.is_empty() {
            return match name.parse::<Name>() {
                Ok(Name(scalars)) => self.show(name, &scalars),
                Err(message) => writeln!(self.out, "{message}"),
            };
        }
        let vec4 = |scalar: fn(u32) -> Scalar| {
            (0..REGISTERS).map(move |n| (0..4).map(|c| scalar(4 * n + c)).collect::<Vec<_>>())
        };
        let flow = [vec![Scalar::Address], (0..4).map(Scalar::Predicate).collect()];
        let vectors: Vec<_> = vec4(Scalar::Full).chain(vec4(Scalar::Half)).chain(flow).collect();
        self.show_nonzero(vectors)
    }

    fn show_constants(&mut self) -> io::Result<()> {
        let count = self.session.warp().constants().len().div_ceil(4) as u32;
        self.show_nonzero((0..count).map(|n| (0..4).map(|c| Scalar::Constant(4 * n + c)).collect()).collect())
    }

    /// Prints the registers of `vectors` that are not zero in the lane.
    fn show_nonzero(&mut self, vectors: Vec<Vec<Scalar>>) -> io::Result<()> {
        for scalars in vectors {
            if scalars.iter().any(|scalar| self.session.value(*scalar, self.lane) != 0) {
                let name = scalars[0].to_string();
                self.show(name.trim_end_matches(".x"), &scalars)?;
            }
        }
        Ok(())
    }

    /// Prints dwords of memory, four a line. Bytes that the capture does not hold are question marks.
    fn show_memory(&mut self, argument: &str) -> io::Result<()> {
        let (place, count) = argument.split_once(char::is_whitespace).unwrap_or((argument, "64"));
        let Some(address) = self.address(place) else {
            return writeln!(
                self.out,
                "`{place}` is no address (0x1040000) and no register or constant (r1.x, c3.y)"
            );
        };
        let Some(count) = count.trim().parse().ok().filter(|count| *count <= MOST_MEMORY) else {
            return writeln!(self.out, "`{}` is no number of bytes up to {MOST_MEMORY}", count.trim());
        };
        let bytes = self.session.memory(address, count);
        for (row, bytes) in bytes.chunks(16).enumerate() {
            write!(self.out, "{:#010x} ", address + 16 * row as u64)?;
            for word in bytes.chunks(4) {
                let digits = |byte: &Option<u8>| byte.map_or("??".to_owned(), |byte| format!("{byte:02x}"));
                write!(self.out, " {}", word.iter().rev().map(digits).collect::<String>())?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// The address that `text` means: a number, or the value of a register or constant in the lane.
    fn address(&self, text: &str) -> Option<u64> {
        if let Some(digits) = text.strip_prefix("0x") {
            return u64::from_str_radix(digits, 16).ok();
        }
        let Name(scalars) = text.parse().ok()?;
        match scalars[..] {
            [scalar] => Some(self.session.value(scalar, self.lane).into()),
            _ => None,
        }
    }

    fn show_inputs(&mut self) -> io::Result<()> {
        for (scalar, bits) in self.session.inputs(self.lane) {
            writeln!(self.out, "{:<5} {bits:08x} {:?}", scalar.to_string(), f32::from_bits(bits))?;
        }
        Ok(())
    }

    /// Prints a line with the bits and their float values.
    fn show(&mut self, name: &str, scalars: &[Scalar]) -> io::Result<()> {
        write!(self.out, "{name:<3}")?;
        for scalar in scalars {
            let bits = self.session.value(*scalar, self.lane);
            match scalar {
                Scalar::Half(_) => {
                    let value = half::f16::from_bits(bits as u16).to_f32();
                    write!(self.out, "  {bits:04x} {value:<12?}")?;
                }
                _ => write!(self.out, "  {bits:08x} {:<12?}", f32::from_bits(bits))?,
            }
        }
        writeln!(self.out)
    }
}
