//! Handles the requests of a session.

use std::collections::BTreeSet;

use anyhow::{Context, bail};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};

use super::variables::{resolve, scopes, variables};
use crate::debug::scalar::{Name, Scalar};
use crate::debug::session::{Session, Stopped, Watch};
use crate::debug::subject::Subject;
use a4emu_shader::{LANES, Outcome};

/// Size of an instruction in bytes, which is the unit of addresses.
const INSTRUCTION: i64 = 8;

/// Maximum number of frames of a lane: the lane itself and its nested calls.
const FRAMES: u64 = 128;

/// Most bytes of memory that one request reads.
const MOST_MEMORY: u64 = 1 << 20;

/// Reference of the disassembly, the source that is no file.
const DISASSEMBLY: u64 = 1;

/// An answer, or the reason of a failure.
type Answer = anyhow::Result<Value>;

/// A session together with the state of its client.
pub struct Adapter<'s, 'a> {
    session: Session<'a>,
    subject: &'s Subject,
    /// Number of the first line: 0 or 1.
    lines_from: u32,
    by_source: BTreeSet<u32>,
    by_instruction: BTreeSet<u32>,
    events: Vec<(&'static str, Value)>,
}

impl<'s, 'a> Adapter<'s, 'a> {
    /// Makes an adapter for `session`. The client counts lines from `lines_from`.
    pub fn new(session: Session<'a>, subject: &'s Subject, lines_from: u32) -> Self {
        let (by_source, by_instruction) = Default::default();
        Self { session, subject, lines_from, by_source, by_instruction, events: Vec::new() }
    }

    /// Takes the events since the last call.
    pub fn events(&mut self) -> Vec<(&'static str, Value)> {
        std::mem::take(&mut self.events)
    }

    /// The event that the warp has stopped before the first instruction.
    pub fn entry(&self) -> Value {
        stopped("entry", self.subject.lane, None)
    }

    /// Runs from the first instruction, if it has no breakpoint. Returns the event of the stop.
    pub fn start(&mut self) -> Value {
        let is_there = self.session.next().is_some_and(|(at, _)| self.session.breakpoints.contains(&at));
        let why = if is_there { Stopped::Breakpoint } else { self.session.run() };
        self.why(why, self.subject.lane)
    }

    /// Executes a request.
    pub fn answer(&mut self, command: &str, arguments: &Value) -> Answer {
        match command {
            "setBreakpoints" => Ok(self.set_breakpoints(arguments)),
            "setInstructionBreakpoints" => Ok(self.set_instruction_breakpoints(arguments)),
            "dataBreakpointInfo" => self.data_breakpoint_info(arguments),
            "setDataBreakpoints" => Ok(self.set_data_breakpoints(arguments)),
            "setExceptionBreakpoints" => Ok(json!({ "breakpoints": [] })),
            "threads" => Ok(self.threads()),
            "stackTrace" => self.stack_trace(arguments),
            "scopes" => Ok(json!({ "scopes": scopes(frame_lane(arguments, self.subject)?) })),
            "variables" => self.variables(arguments),
            "evaluate" => self.evaluate(arguments),
            "source" => Ok(json!({ "content": self.text(), "mimeType": "text/x-asm" })),
            "disassemble" => self.disassemble(arguments),
            "readMemory" => self.read_memory(arguments),
            "continue" => {
                self.go(arguments, |session, _| session.run())?;
                Ok(json!({ "allThreadsContinued": true }))
            }
            "next" | "stepIn" => self.go(arguments, |session, lane| session.forward_in(lane)),
            "stepOut" => self.go(arguments, step_out),
            "stepBack" => self.go(arguments, |session, lane| session.back_in(lane)),
            "reverseContinue" => self.go(arguments, |session, _| session.run_back()),
            "pause" => self.go(arguments, |_, _| Stopped::Step),
            "disconnect" | "terminate" => Ok(Value::Null),
            _ => bail!("`{command}` is not supported"),
        }
    }

    /// Moves the warp with `go`, and adds the event of the stop.
    fn go(&mut self, arguments: &Value, go: impl FnOnce(&mut Session<'a>, usize) -> Stopped) -> Answer {
        let lane = thread_lane(arguments)?;
        let why = go(&mut self.session, lane);
        if let Some(access) = self.session.access(lane) {
            let text = format!("lane {lane}: {access}\n");
            self.events.push(("output", json!({ "category": "console", "output": text })));
        }
        let event = self.why(why, lane);
        self.events.push(("stopped", event));
        Ok(Value::Null)
    }

    /// The event with the reason of a stop.
    fn why(&mut self, why: Stopped, lane: usize) -> Value {
        let running = self.session.next().map_or(0, |(_, lanes)| lanes);
        let at = match running {
            0 => lane,
            _ if running >> lane & 1 != 0 => lane,
            _ => running.trailing_zeros() as usize,
        };
        match why {
            Stopped::Step => stopped("step", lane, None),
            Stopped::Start => stopped(
                "entry",
                lane,
                Some("this is the first instruction that is shown: there is no step back".into()),
            ),
            Stopped::Breakpoint => stopped("breakpoint", at, None),
            Stopped::Watch(watch) => {
                stopped("data breakpoint", watch.lane, Some(format!("{} changes", watch.scalar)))
            }
            Stopped::End(Outcome::Fault(fault)) => stopped("exception", lane, Some(fault.to_string())),
            Stopped::End(_) => stopped("end", lane, Some("the program has ended".into())),
        }
    }

    fn threads(&self) -> Value {
        let thread = |lane: usize| json!({ "id": lane + 1, "name": self.subject.lane_name(lane) });
        json!({ "threads": self.session.lanes().map(thread).collect::<Vec<_>>() })
    }

    fn stack_trace(&self, arguments: &Value) -> Answer {
        let lane = thread_lane(arguments)?;
        let (warp, program) = (self.session.warp(), self.session.program());
        let here = warp.instruction_of(program, lane).filter(|_| self.session.end().is_none());
        let places: Vec<Option<u32>> = match here {
            Some(at) => [at].into_iter().chain(warp.returns_of(program, lane)).map(Some).collect(),
            None => vec![None],
        };
        let frames = places.iter().enumerate().map(|(depth, at)| self.frame(lane, depth as u64, *at));
        Ok(json!({ "stackFrames": frames.collect::<Vec<_>>(), "totalFrames": places.len() }))
    }

    fn frame(&self, lane: usize, depth: u64, at: Option<u32>) -> Value {
        let id = lane as u64 * FRAMES + depth + 1;
        let line = at.and_then(|at| self.session.lines().get(at as usize));
        let source = line.and_then(|line| line.source).map_or(0, |line| line - 1 + self.lines_from);
        match at {
            Some(at) => json!({
                "id": id, "name": format!("{} +{at}", self.subject.name), "line": source, "column": 1,
                "source": self.source(), "instructionPointerReference": address(i64::from(at)),
            }),
            None => {
                json!({ "id": id, "name": format!("{} (ended)", self.subject.name), "line": 0, "column": 0 })
            }
        }
    }

    fn source(&self) -> Value {
        match &self.subject.file {
            Some(file) => json!({ "name": self.subject.name, "path": file }),
            None => json!({ "name": self.subject.name, "sourceReference": DISASSEMBLY }),
        }
    }

    /// The text of the disassembly.
    fn text(&self) -> String {
        self.session.lines().iter().map(|line| format!("{}\n", line.text)).collect()
    }

    fn variables(&self, arguments: &Value) -> Answer {
        let reference = arguments["variablesReference"].as_u64().unwrap_or(0);
        let (lane, scope) = resolve(reference).context("no such variables")?;
        Ok(json!({ "variables": variables(&self.session, lane, scope) }))
    }

    fn evaluate(&self, arguments: &Value) -> Answer {
        let lane = frame_lane(arguments, self.subject)?;
        let Name(scalars) = arguments["expression"]
            .as_str()
            .unwrap_or_default()
            .trim()
            .parse()
            .map_err(anyhow::Error::msg)?;
        let text = |scalar: &Scalar| scalar.text(self.session.value(*scalar, lane));
        let result = scalars.iter().map(text).collect::<Vec<_>>().join(", ");
        Ok(json!({ "result": result, "variablesReference": 0 }))
    }

    fn set_breakpoints(&mut self, arguments: &Value) -> Value {
        let lines = arguments["breakpoints"].as_array().cloned().unwrap_or_default();
        let lines = lines.iter().map(|wanted| wanted["line"].as_u64().unwrap_or(0) as u32);
        let found: Vec<Option<u32>> = lines.map(|line| self.instruction_at(line)).collect();
        self.by_source = found.iter().flatten().copied().collect();
        self.use_breakpoints();
        let breakpoint = |at: &Option<u32>| match at.and_then(|at| Some((at, self.line_of(at)?))) {
            Some((at, line)) => json!({
                "verified": true, "line": line, "instructionReference": address(i64::from(at)),
                "source": self.source(),
            }),
            None => json!({ "verified": false, "message": "no instruction comes from there" }),
        };
        json!({ "breakpoints": found.iter().map(breakpoint).collect::<Vec<_>>() })
    }

    /// The first instruction that comes from this line of the client or from a later one.
    fn instruction_at(&self, line: u32) -> Option<u32> {
        let line = (line + 1).checked_sub(self.lines_from)?;
        let lines = self.session.lines().iter().enumerate();
        let sources = lines.filter_map(|(at, known)| Some((known.source?, at as u32)));
        sources.filter(|(source, _)| *source >= line).min().map(|(_, at)| at)
    }

    fn line_of(&self, at: u32) -> Option<u32> {
        Some(self.session.lines().get(at as usize)?.source? - 1 + self.lines_from)
    }

    fn set_instruction_breakpoints(&mut self, arguments: &Value) -> Value {
        let wanted = arguments["breakpoints"].as_array().cloned().unwrap_or_default();
        let count = self.session.lines().len() as i64;
        let at = |wanted: &Value| {
            let at = instruction(&wanted["instructionReference"], &wanted["offset"])?;
            (0..count).contains(&at).then_some(at as u32)
        };
        let found: Vec<Option<u32>> = wanted.iter().map(at).collect();
        self.by_instruction = found.iter().flatten().copied().collect();
        self.use_breakpoints();
        let breakpoint = |at: &Option<u32>| match at {
            Some(at) => json!({ "verified": true, "instructionReference": address(i64::from(*at)) }),
            None => json!({ "verified": false, "message": "the program has no such instruction" }),
        };
        json!({ "breakpoints": found.iter().map(breakpoint).collect::<Vec<_>>() })
    }

    fn use_breakpoints(&mut self) {
        self.session.breakpoints = &self.by_source | &self.by_instruction;
    }

    fn data_breakpoint_info(&self, arguments: &Value) -> Answer {
        let lane = match arguments["variablesReference"].as_u64().and_then(resolve) {
            Some((lane, _)) => lane,
            None => frame_lane(arguments, self.subject)?,
        };
        let name = arguments["name"].as_str().unwrap_or_default();
        Ok(match name.parse() {
            Ok(Name(scalars)) if scalars.len() == 1 => json!({
                "dataId": format!("{lane}:{name}"), "description": format!("{name} of lane {lane}"),
                "accessTypes": ["write"],
            }),
            _ => json!({ "dataId": null, "description": format!("`{name}` is no register's component") }),
        })
    }

    fn set_data_breakpoints(&mut self, arguments: &Value) -> Value {
        let wanted = arguments["breakpoints"].as_array().cloned().unwrap_or_default();
        let found: Vec<Option<Watch>> = wanted.iter().map(|it| watch(it["dataId"].as_str()?)).collect();
        self.session.watches = found.iter().flatten().copied().collect();
        let verified: Vec<Value> = found.iter().map(|it| json!({ "verified": it.is_some() })).collect();
        json!({ "breakpoints": verified })
    }

    /// Bytes of global memory, up to the first that is not known. A reference is the address, as `variables` gives it.
    fn read_memory(&self, arguments: &Value) -> Answer {
        let text = arguments["memoryReference"].as_str().unwrap_or_default();
        let start = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let offset = arguments["offset"].as_i64().unwrap_or(0);
        let address =
            start.and_then(|start| start.checked_add_signed(offset)).context("no such place in memory")?;
        let count = arguments["count"].as_u64().unwrap_or(0).min(MOST_MEMORY);
        let bytes = self.session.memory(address, count as usize);
        let known: Vec<u8> = bytes.into_iter().map_while(|byte| byte).collect();
        let unreadable = count - known.len() as u64;
        Ok(
            json!({ "address": format!("{address:#x}"), "data": BASE64_STANDARD.encode(known), "unreadableBytes": unreadable }),
        )
    }

    fn disassemble(&self, arguments: &Value) -> Answer {
        let first = instruction(&arguments["memoryReference"], &arguments["offset"]);
        let first = first.context("no such place in memory")?;
        let first = first.saturating_add(arguments["instructionOffset"].as_i64().unwrap_or(0));
        let count = arguments["instructionCount"].as_u64().unwrap_or(0).min(1 << 16) as i64;
        let row = |at: i64| {
            let line = usize::try_from(at).ok().and_then(|at| self.session.lines().get(at));
            match line {
                Some(line) => json!({
                    "address": address(at), "instruction": line.text, "location": self.source(),
                    "line": line.source.map(|source| source - 1 + self.lines_from),
                }),
                None => json!({
                    "address": address(at), "instruction": "(no instruction)", "presentationHint": "invalid",
                }),
            }
        };
        let rows: Vec<Value> = (first..first.saturating_add(count)).map(row).collect();
        Ok(json!({ "instructions": rows }))
    }
}

/// Runs until `lane` has returned from its current call. Without a call, it runs to the end.
fn step_out(session: &mut Session<'_>, lane: usize) -> Stopped {
    let depth = |session: &Session<'_>| session.warp().returns_of(session.program(), lane).len();
    let outside = depth(session);
    if outside == 0 {
        return session.run();
    }
    loop {
        let why = session.forward_in(lane);
        if why != Stopped::Step || depth(session) < outside {
            return why;
        }
    }
}

fn stopped(reason: &str, lane: usize, text: Option<String>) -> Value {
    let mut event = json!({ "reason": reason, "threadId": lane + 1, "allThreadsStopped": true });
    if let Some(text) = text {
        event["text"] = text.clone().into();
        event["description"] = text.into();
    }
    event
}

/// The lane of `threadId`.
fn thread_lane(arguments: &Value) -> anyhow::Result<usize> {
    let thread = arguments["threadId"].as_u64().context("threadId is missing")?;
    lane(thread.checked_sub(1)).with_context(|| format!("no thread {thread}"))
}

/// The lane of `frameId`; without one, the lane that was selected at the start.
fn frame_lane(arguments: &Value, subject: &Subject) -> anyhow::Result<usize> {
    let Some(frame) = arguments["frameId"].as_u64() else { return Ok(subject.lane) };
    lane(frame.checked_sub(1).map(|frame| frame / FRAMES)).with_context(|| format!("no frame {frame}"))
}

fn lane(index: Option<u64>) -> Option<usize> {
    index.and_then(|index| usize::try_from(index).ok()).filter(|lane| *lane < LANES)
}

/// The address of instruction `at` for the client.
fn address(at: i64) -> String {
    match at < 0 {
        true => format!("-{:#x}", -at * INSTRUCTION),
        false => format!("{:#x}", at * INSTRUCTION),
    }
}

/// The instruction at an address plus an offset in bytes.
fn instruction(reference: &Value, offset: &Value) -> Option<i64> {
    let text = reference.as_str()?;
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let bytes = match digits.strip_prefix("0x") {
        Some(hex) => i64::from(u32::from_str_radix(hex, 16).ok()?),
        None => i64::from(digits.parse::<u32>().ok()?),
    };
    let bytes = (sign * bytes).checked_add(offset.as_i64().unwrap_or(0))?;
    Some(bytes.div_euclid(INSTRUCTION))
}

fn watch(id: &str) -> Option<Watch> {
    let (lane, name) = id.split_once(':')?;
    let Name(scalars) = name.parse().ok()?;
    let lane = lane.parse().ok().filter(|lane| *lane < LANES)?;
    Some(Watch { lane, scalar: *scalars.first()? })
}
