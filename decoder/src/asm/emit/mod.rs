//! Statements to bytes.
//!
//! The whole source is evaluated until the addresses of its labels stand still
//! (two passes, unless a size depends on a later label): the first pass takes
//! labels that it has not met as [`value::Value::Unknown`], the last as errors.

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
use body::Body;
use container::Dump;
use value::Bound;

/// Macros and includes inside each other.
const MAX_DEPTH: usize = 48;
/// Blocks inside each other, those of macros and includes on the way with them.
const MAX_BLOCKS: usize = 256;
/// Bytes that are moved in a step.
const STEP_BYTES: usize = 16;
/// Steps of a statement, whatever it says: looking up its name takes longest.
const STATEMENT: usize = 8;
/// Steps of an instruction of a shader: its text is parsed anew each time.
const INSTRUCTION: usize = 64;
/// What an exhausted limit of work says.
const TOO_MUCH_WORK: &str = "too much work: the assembler stops here";

/// An error before its file is looked up.
#[derive(Debug)]
pub(super) struct Fail {
    file: usize,
    span: Span,
    message: String,
    reason: Reason,
}

type Result<T> = std::result::Result<T, Box<Fail>>;

/// What a label stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    address: u64,
    /// Bytes, if the label has a block.
    bytes: Option<u64>,
}

/// A file of the source.
struct Source {
    name: String,
    text: String,
    block: Rc<Block>,
}

/// What survives from pass to pass.
struct Project<'f> {
    files: &'f mut dyn Files,
    sources: Vec<Source>,
    /// Number of each file by name.
    by_name: BTreeMap<String, usize>,
    images: BTreeMap<String, Rc<Image>>,
    /// How much of them there is.
    nest: grammar::Nest,
    bounds: Bounds,
    /// Work that may still be done, in all passes together.
    work: Cell<u64>,
}

/// How certain labels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// Labels may be missing.
    Layout,
    /// All labels are known.
    Final,
}

/// What a pass finds out for the next.
#[derive(Debug, Default, PartialEq, Eq)]
struct Known {
    labels: BTreeMap<String, Extent>,
    /// What buffers with an address take.
    given: Ranges,
}

/// What a pass gives.
struct Passed {
    capture: Vec<u8>,
    known: Known,
    overlap: Option<Box<Fail>>,
}

/// One pass over the source.
struct Emitter<'p, 'f> {
    project: &'p mut Project<'f>,
    pass: Pass,
    /// What the pass before found out.
    known: &'p Known,
    /// Labels of this pass.
    labels: BTreeMap<String, Extent>,
    /// Constants: of the whole source first, then of each macro and loop.
    scopes: Vec<BTreeMap<String, Bound>>,
    /// Where each macro was defined.
    macros: BTreeMap<String, (usize, Rc<Macro>)>,
    /// The files that are being evaluated, innermost last.
    open: Vec<usize>,
    depth: usize,
    blocks: usize,
    capture: Vec<u8>,
    /// The section payload that statements add to, inside one.
    body: Option<Body>,
    /// What each buffer held last.
    dumps: BTreeMap<String, Dump>,
    /// Where the next buffer without an address goes, if there is room.
    origin: u64,
    /// What buffers with an address take, and those of them that belong to the next submit.
    given: Ranges,
    submits: Ranges,
    /// What buffers without an address take.
    placed: Ranges,
    /// The first buffer that overlaps another of its submit: wrong if addresses stand still.
    overlap: Option<Box<Fail>>,
    /// Bytes of an address record.
    form: usize,
}

/// Assembles `main`, whose text is `text`.
pub(super) fn assemble(
    main: &str,
    text: &str,
    files: &mut dyn Files,
    bounds: Bounds,
) -> std::result::Result<Vec<u8>, Box<Diagnostic>> {
    assemble_block(main, text, parse(main, text)?, files, bounds)
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

/// The statements of `text`, the file called `name`.
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

    /// Parses a file; its number.
    fn add(&mut self, name: String, text: String) -> Result<usize> {
        match grammar::parse(&text, &self.nest) {
            Ok(block) => Ok(self.take(name, text, block)),
            Err(trouble) => {
                let file = self.take(name, text, Vec::new());
                let span = Span { start: trouble.left, end: trouble.left };
                Err(Box::new(Fail { file, span, message: trouble.message, reason: Reason::Source }))
            }
        }
    }

    /// Takes a file that is parsed already; its number.
    fn take(&mut self, name: String, text: String, block: Block) -> usize {
        let earned = text.len() as u64 * self.bounds.steps_per_byte;
        self.work.set(self.work.get().saturating_add(earned));
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
        }
    }

    fn file(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }

    fn fail<T>(&self, span: Span, message: impl Into<String>) -> Result<T> {
        Err(Box::new(Fail { file: self.file(), span, message: message.into(), reason: Reason::Source }))
    }

    /// `result`, with its message placed at `span`.
    fn at<T, E: std::fmt::Display>(&self, span: Span, result: std::result::Result<T, E>) -> Result<T> {
        result.or_else(|error| self.fail(span, error.to_string()))
    }

    /// Takes `steps` of work, a step being about that of a token or of 16 bytes; fails when
    /// there are no more.
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

    /// Takes the work of moving `bytes`.
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
