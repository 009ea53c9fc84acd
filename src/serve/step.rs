//! A lane of a warp, from the first instruction to the last: what `debug` shows of each.

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
use a4emu_inspect::limits::Limits;
use a4emu_inspect::options::Shared;
use a4emu_shader::Outcome;

/// Instructions of the lane that are told.
const MAX_STEPS: usize = 2000;

/// Instructions of the warp that run.
const MAX_INSTRUCTIONS: u64 = 1 << 16;

/// What a lane did.
#[derive(Debug, Serialize)]
pub struct Walk {
    /// Draw and stage.
    name: String,
    /// Which lane, and what it is.
    lane: String,
    /// What it began with.
    inputs: Vec<Held>,
    steps: Vec<Step>,
    /// How it ended; nothing where there is more than is told.
    end: Option<String>,
}

/// An instruction that it executed.
#[derive(Debug, Serialize)]
struct Step {
    /// Its number in the program.
    at: u32,
    text: String,
    /// What it names or has changed.
    registers: Vec<Held>,
    /// What it asked of memory or textures, and what came back.
    access: Option<String>,
}

/// What stood in a register.
#[derive(Debug, Serialize)]
struct Held {
    name: String,
    before: String,
    /// If that was something else.
    after: Option<String>,
}

/// The lane that `query` names, by `draw` (`3` or `f3`), `stage`, and what else `debug` knows a warp by.
///
/// # Errors
/// There is no such lane.
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

/// The arguments of a launch request are those of a question.
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
            Outcome::Ended | Outcome::Barrier => "ended".to_owned(),
        });
        Self { name: subject.name.clone(), lane: subject.lane_name(lane).to_owned(), inputs, steps, end }
    }
}

impl Step {
    /// Executes instruction `at`, which is next.
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

/// All that an instruction can write.
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
