//! Evaluates statements to bytes.
//!
//! The whole source is evaluated until the addresses of its labels no longer change. Two passes suffice
//! unless a size depends on a later label. The first pass takes unknown labels as [`value::Value::Unknown`];
//! in the last they are errors.

mod body;
mod container;
mod eval;
mod language;
mod state;
mod stream;
#[cfg(test)]
mod tests;
mod value;
mod words;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::ast::{Block, Kind, Macro, Span, Statement};
use super::diagnostic::{Diagnostic, Reason};
use super::ranges::Ranges;
use super::{Bounds, Files, Image, grammar};
use crate::generation::{DEFAULT, Generation};
use body::Body;
use container::Dump;
use value::Bound;

/// Largest depth of nested macros and includes.
const MAX_DEPTH: usize = 48;
/// Largest depth of nested blocks, with those of macros and includes around them.
const MAX_BLOCKS: usize = 256;
/// Bytes that one step of work moves.
const STEP_BYTES: usize = 16;
/// Steps of work for a statement. Most of the time goes into looking up its name.
const STATEMENT: usize = 8;
/// Steps of work for a shader instruction. Each pass parses its text again.
const INSTRUCTION: usize = 64;
/// The message when the work limit is reached.
const TOO_MUCH_WORK: &str = "too much work: the assembler stops here";

/// An error with the number of its file, not yet with its name.
#[derive(Debug)]
pub(super) struct Fail {
    file: usize,
    span: Span,
    message: String,
    reason: Reason,
}

type Result<T> = std::result::Result<T, Box<Fail>>;

/// The address and size of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    address: u64,
    /// Size in bytes, if the label has a block.
    bytes: Option<u64>,
}

/// A file of the source.
struct Source {
    name: String,
    text: String,
    block: Rc<Block>,
}

/// The state that all passes share.
struct Project<'f> {
    files: &'f mut dyn Files,
    sources: Vec<Source>,
    /// The number of each file, by name.
    by_name: BTreeMap<String, usize>,
    images: BTreeMap<String, Rc<Image>>,
    /// The parser's limits, which all files share.
    nest: grammar::Nest,
    bounds: Bounds,
    /// Steps of work that are left, for all passes together.
    work: Cell<u64>,
}

/// Whether a pass may use labels without a known address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Labels may be unknown.
    Layout,
    /// All labels are known.
    Final,
}

/// The results of a pass that the next pass uses.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    labels: BTreeMap<String, Extent>,
    /// Ranges of the buffers that have an address in the source.
    given: Ranges,
}

/// The output of a pass.
struct Passed {
    capture: Vec<u8>,
    known: Known,
    overlap: Option<Box<Fail>>,
}

/// One pass over the source.
struct Emitter<'p, 'f> {
    project: &'p mut Project<'f>,
    pass: Pass,
    /// The results of the previous pass.
    known: &'p Known,
    /// Labels of this pass.
    labels: BTreeMap<String, Extent>,
    /// Constants: first those of the whole source, then those of each macro and loop.
    scopes: Vec<BTreeMap<String, Bound>>,
    /// The definition of each macro, with the number of its file.
    macros: BTreeMap<String, (usize, Rc<Macro>)>,
    /// The files that are being evaluated, the innermost last.
    open: Vec<usize>,
    depth: usize,
    blocks: usize,
    capture: Vec<u8>,
    /// The payload of the open section, to which statements add.
    body: Option<Body>,
    /// The last dump of each buffer.
    dumps: BTreeMap<String, Dump>,
    /// First address to try for the next buffer without an address.
    origin: u64,
    /// Ranges of the buffers that have an address in the source: all, and those of the next submit.
    given: Ranges,
    submits: Ranges,
    /// Ranges of the buffers without an address in the source.
    placed: Ranges,
    /// The first buffer that overlaps another of its submit. It is an error in the last pass.
    overlap: Option<Box<Fail>>,
    /// Size of an address record in bytes.
    form: usize,
    /// The generation of the chip that the capture has named, if one has.
    chip: Option<&'static Generation>,
}

/// Assembles `main`, whose text is `text`.
pub(super) fn assemble(
    main: &str,
    text: &str,
    files: &mut dyn Files,
    bounds: Bounds,
) -> std::result::Result<Vec<u8>, Box<Diagnostic>> {
    let mut project = Project::new(files, bounds);
    let added = project.add(main.into(), text.into());
    let made = added.and_then(|main| project.passes(main));
    made.map_err(|fail| Box::new(project.diagnostic(*fail)))
}

/// Assembles the statements `block` of `main`, whose text is `text`.
pub(super) fn assemble_block(
    main: &str,
    text: &str,
    block: Block,
    files: &mut dyn Files,
    bounds: Bounds,
) -> std::result::Result<Vec<u8>, Box<Diagnostic>> {
    let mut project = Project::new(files, bounds);
    let main = project.take(main.into(), text.into(), block);
    project.passes(main).map_err(|fail| Box::new(project.diagnostic(*fail)))
}

/// Parses `text`, the file called `name`, into statements.
pub(super) fn parse(name: &str, text: &str) -> std::result::Result<Block, Box<Diagnostic>> {
    grammar::parse(text, &grammar::Nest::default()).map_err(|trouble| {
        let at = text.len().saturating_sub(trouble.left);
        Box::new(Diagnostic {
            file: name.into(),
            range: at..at,
            source: text.into(),
            message: trouble.message,
            reason: Reason::Source,
        })
    })
}

impl<'f> Project<'f> {
    fn new(files: &'f mut dyn Files, bounds: Bounds) -> Self {
        Self {
            files,
            sources: Vec::new(),
            by_name: BTreeMap::new(),
            images: BTreeMap::new(),
            nest: grammar::Nest::default(),
            bounds,
            work: Cell::new(bounds.steps),
        }
    }

    /// Parses a file and adds it. Returns its number.
    fn add(&mut self, name: String, text: String) -> Result<usize> {
        let (parsed, steps) = match self.work_with(&text).checked_sub((text.len() / STEP_BYTES) as u64) {
            Some(steps) => {
                let fault = |trouble: grammar::Trouble| (trouble.left, trouble.message, Reason::Source);
                (grammar::parse(&text, &self.nest).map_err(fault), steps)
            }
            None => (Err((text.len(), TOO_MUCH_WORK.into(), Reason::Work)), 0),
        };
        let (block, fault) = parsed.map_or_else(|fault| (Vec::new(), Some(fault)), |block| (block, None));
        let file = self.take(name, text, block);
        self.work.set(steps);
        fault.map_or(Ok(file), |(left, message, reason)| {
            Err(Box::new(Fail { file, span: Span { start: left, end: left }, message, reason }))
        })
    }

    /// The work that is left, with what `text` earns.
    fn work_with(&self, text: &str) -> u64 {
        self.work.get().saturating_add(text.len() as u64 * self.bounds.steps_per_byte)
    }

    /// Adds a file that is parsed already. Returns its number.
    fn take(&mut self, name: String, text: String, block: Block) -> usize {
        self.work.set(self.work_with(&text));
        let file = self.sources.len();
        self.by_name.insert(name.clone(), file);
        self.sources.push(Source { name, text, block: Rc::new(block) });
        file
    }

    fn passes(&mut self, main: usize) -> Result<Vec<u8>> {
        let mut known = self.pass(main, Pass::Layout, &Known::default())?.known;
        for _ in 0..self.bounds.passes {
            let passed = self.pass(main, Pass::Final, &known)?;
            if passed.known == known {
                return passed.overlap.map_or(Ok(passed.capture), Err);
            }
            known = passed.known;
        }
        let message = "the addresses of labels depend on each other and never stand still".into();
        Err(Box::new(Fail { file: main, span: Span::default(), message, reason: Reason::Source }))
    }

    fn pass(&mut self, main: usize, pass: Pass, known: &Known) -> Result<Passed> {
        let block = self.sources[main].block.clone();
        let mut emitter = Emitter::new(self, pass, known, main);
        emitter.block(&block)?;
        let Emitter { capture, labels, given, overlap, .. } = emitter;
        Ok(Passed { capture, known: Known { labels, given }, overlap })
    }

    fn diagnostic(&self, fail: Fail) -> Diagnostic {
        let source = &self.sources[fail.file];
        let at = |left: usize| source.text.len().saturating_sub(left);
        Diagnostic {
            file: source.name.clone(),
            range: at(fail.span.start)..at(fail.span.end),
            source: source.text.clone(),
            message: fail.message,
            reason: fail.reason,
        }
    }
}

impl<'p, 'f> Emitter<'p, 'f> {
    fn new(project: &'p mut Project<'f>, pass: Pass, known: &'p Known, main: usize) -> Self {
        Self {
            project,
            pass,
            known,
            labels: BTreeMap::new(),
            scopes: vec![BTreeMap::new()],
            macros: BTreeMap::new(),
            open: vec![main],
            depth: 0,
            blocks: 0,
            capture: Vec::new(),
            body: None,
            dumps: BTreeMap::new(),
            origin: super::DEFAULT_ORIGIN,
            given: Ranges::default(),
            submits: Ranges::default(),
            placed: Ranges::default(),
            overlap: None,
            form: super::WIDE_RECORD,
            chip: None,
        }
    }

    /// The generation whose registers and packets statements name.
    fn generation(&self) -> &'static Generation {
        self.chip.unwrap_or(DEFAULT)
    }

    fn file(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }

    fn fail<T>(&self, span: Span, message: impl Into<String>) -> Result<T> {
        Err(Box::new(Fail { file: self.file(), span, message: message.into(), reason: Reason::Source }))
    }

    /// Gives the error of `result` the place `span`.
    fn at<T, E: std::fmt::Display>(&self, span: Span, result: std::result::Result<T, E>) -> Result<T> {
        result.or_else(|error| self.fail(span, error.to_string()))
    }

    /// Charges `steps` of work; fails if too few are left. A step is about one token or 16 bytes.
    fn charge(&self, span: Span, steps: usize) -> Result<()> {
        match self.project.work.get().checked_sub(steps as u64) {
            Some(left) => {
                self.project.work.set(left);
                Ok(())
            }
            None => {
                let message = TOO_MUCH_WORK.into();
                Err(Box::new(Fail { file: self.file(), span, message, reason: Reason::Work }))
            }
        }
    }

    /// Charges the work of moving `bytes`.
    fn charge_bytes(&self, span: Span, bytes: usize) -> Result<()> {
        self.charge(span, bytes / STEP_BYTES)
    }

    fn block(&mut self, block: &[Statement]) -> Result<()> {
        let Some(first) = block.first() else { return Ok(()) };
        if self.blocks == MAX_BLOCKS {
            return self.fail(first.span, format!("blocks, macros and includes {MAX_BLOCKS} deep"));
        }
        self.blocks += 1;
        block.iter().try_for_each(|statement| self.statement(statement))?;
        self.blocks -= 1;
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        let span = statement.span;
        self.charge(span, STATEMENT)?;
        match &statement.kind {
            Kind::Include(path) => self.include(span, path),
            Kind::Const(name, value) => self.constant(name, value),
            Kind::Macro(name, body) => self.definition(name, body),
            Kind::Use(name, arguments) => self.invocation(name, arguments),
            Kind::For(name, first, end, block) => self.for_each(name, first, end, block),
            Kind::Repeat(count, block) => self.repeat(count, block),
            Kind::If(condition, then, otherwise) => {
                let holds = self.value(condition)?.holds();
                self.block(if holds { then } else { otherwise })
            }
            Kind::GpuId(_)
            | Kind::ChipId(_)
            | Kind::Text(..)
            | Kind::Form(_)
            | Kind::Origin(_)
            | Kind::Marker(_)
            | Kind::Section(..)
            | Kind::Raw(_)
            | Kind::Buffer(_)
            | Kind::Again(..)
            | Kind::Submit(..) => self.container(span, &statement.kind),
            Kind::Label(..)
            | Kind::Numbers(..)
            | Kind::Bytes(_)
            | Kind::Zero(_)
            | Kind::Fill(..)
            | Kind::Align(_)
            | Kind::At(_)
            | Kind::Png(..)
            | Kind::Shader(_) => self.data(span, &statement.kind),
            Kind::Write(..)
            | Kind::More(..)
            | Kind::OneReg(..)
            | Kind::Packet(_)
            | Kind::Load(..)
            | Kind::Call(_)
            | Kind::Pad => self.stream(span, &statement.kind),
        }
    }
}
