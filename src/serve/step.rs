//! Lists the steps of a lane from the first instruction to the last, as `debug` shows them.

use std::io;

use anyhow::Context;
use serde::Serialize;
use serde_json::{Map, Value};

use super::query::Query;
use crate::debug::scalar::{Name, REGISTERS, Scalar};
use crate::debug::session::Session;
use crate::debug::subject::Subject;
use crate::debug::target::Target;
use crate::flags::Flags;
use a4emu_inspect::describe::Capture;
use a4emu_shader::Outcome;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;

/// Maximum number of listed instructions of the lane.
const MAX_STEPS: usize = 2000;

/// Maximum number of executed instructions of the warp.
const MAX_INSTRUCTIONS: u64 = 1 << 16;

/// The steps of a lane.
#[derive(Debug, Serialize)]
pub struct Walk {
    /// Name of the draw and stage.
    name: String,
    /// Number and description of the lane.
    lane: String,
    /// Initial values of the input registers.
    inputs: Vec<Held>,
    steps: Vec<Step>,
    /// How the program ended; none if the list was cut.
    end: Option<String>,
}

/// An executed instruction.
#[derive(Debug, Serialize)]
struct Step {
    /// Index of the instruction in the program.
    at: u32,
    text: String,
    /// Registers that the instruction names or has changed.
    registers: Vec<Held>,
    /// The memory or texture access of the instruction, with its result.
    access: Option<String>,
}

/// The value of a register.
#[derive(Debug, Serialize)]
struct Held {
    name: String,
    before: String,
    /// The value after the instruction, if it changed.
    after: Option<String>,
}

/// The steps of the lane that `query` selects: by `draw` (`3` or `f3`), `stage`, and the other parameters of
/// `debug`.
///
/// # Errors
/// The call fails if there is no such lane.
pub fn walk(capture: &Capture, limits: Limits, query: &Query, shared: &Shared) -> anyhow::Result<Walk> {
    let mut walked = None;
    let target = target(limits, query)?;
    target.reach_in(
        capture.name(),
        |budget| capture.sections(budget, shared),
        shared,
        |session, subject| {
            walked = Some(Walk::of(session, subject));
            io::Result::Ok(())
        },
    )?;
    walked.context("no such shader ran")
}

/// Makes the target from the parameters, which are those of a launch request.
fn target(limits: Limits, query: &Query) -> anyhow::Result<Target> {
    let mut arguments = Map::new();
    for name in ["draw", "stage"] {
        arguments.insert(name.to_owned(), query.get::<String>(name)?.into());
    }
    for name in ["primitive", "sample", "vertex", "warp", "lane"] {
        arguments.insert(name.to_owned(), query.get::<u32>(name)?.into());
    }
    for name in ["pixel", "invocation"] {
        let numbers = query.get::<String>(name)?.map(|text| {
            let numbers = text.split(',').map(str::parse);
            numbers
                .collect::<Result<Vec<u32>, _>>()
                .with_context(|| format!("{name}: `{text}` is no list of numbers"))
        });
        arguments.insert(name.to_owned(), numbers.transpose()?.into());
    }
    let bare = Target {
        capture: None,
        draw: None,
        stage: None,
        pixel: None,
        primitive: None,
        sample: None,
        vertex: None,
        invocation: None,
        warp: None,
        lane: None,
        limits: Flags(limits),
    };
    bare.with(&Value::Object(arguments))
}

impl Walk {
    fn of(mut session: Session<'_>, subject: &Subject) -> Self {
        let lane = subject.lane;
        let held = |(scalar, bits): (Scalar, u32)| Held::new(scalar, [bits; 2]);
        let inputs = session.inputs(lane).into_iter().map(held).collect();
        let mut steps = Vec::new();
        while let Some((at, lanes)) = session.next() {
            if steps.len() >= MAX_STEPS || session.position() >= MAX_INSTRUCTIONS {
                break;
            }
            if lanes >> lane & 1 != 0 {
                steps.push(Step::of(&mut session, at, lane));
            } else {
                session.forward();
            }
        }
        let end = session.end().map(|outcome| match outcome {
            Outcome::Fault(fault) => format!("stopped: {fault}"),
            Outcome::Ended | Outcome::Barrier | Outcome::Wave => "ended".to_owned(),
        });
        Self { name: subject.name.clone(), lane: subject.lane_name(lane).to_owned(), inputs, steps, end }
    }
}

impl Step {
    /// Executes instruction `at`, which is the next one.
    fn of(session: &mut Session<'_>, at: u32, lane: usize) -> Self {
        let text = session.lines().get(at as usize).map_or(String::new(), |line| line.text.clone());
        let before: Vec<u32> = written().map(|scalar| session.value(scalar, lane)).collect();
        let named: Vec<(Scalar, u32)> =
            named(&text).into_iter().map(|scalar| (scalar, session.value(scalar, lane))).collect();
        session.forward();
        let mut registers: Vec<Held> = named
            .iter()
            .map(|&(scalar, old)| Held::new(scalar, [old, session.value(scalar, lane)]))
            .collect();
        let others =
            written().zip(before).filter(|(scalar, _)| !named.iter().any(|(known, _)| known == scalar));
        let others = others.map(|(scalar, old)| (scalar, [old, session.value(scalar, lane)]));
        registers.extend(
            others.filter(|(_, [old, new])| old != new).map(|(scalar, both)| Held::new(scalar, both)),
        );
        Self { at, text, registers, access: session.access(lane) }
    }
}

impl Held {
    fn new(scalar: Scalar, [before, after]: [u32; 2]) -> Self {
        let changed = (before != after).then(|| scalar.text(after));
        Self { name: scalar.to_string(), before: scalar.text(before), after: changed }
    }
}

/// All registers that an instruction can write.
fn written() -> impl Iterator<Item = Scalar> {
    let files = (0..4 * REGISTERS).flat_map(|id| [Scalar::Full(id), Scalar::Half(id)]);
    files.chain([Scalar::Address]).chain((0..4).map(Scalar::Predicate))
}

/// The registers and constants that an instruction names.
fn named(text: &str) -> Vec<Scalar> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').skip(1);
    let mut named: Vec<Scalar> =
        words.filter_map(|word| word.parse::<Name>().ok()).flat_map(|Name(scalars)| scalars).collect();
    named.sort();
    named.dedup();
    named
}
