//! What was found, once for each thing that is wrong.

use std::fmt;

use hashbrown::HashMap;
use serde::Serialize;

use super::rules::{Confidence, Id, Severity};
use crate::gpu::{Gpu, Stage};
use crate::pass::Pass;

/// Findings kept; of more only the number.
const MAX_FINDINGS: usize = 10_000;

/// A rule that is broken, before it is known where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Broken {
    /// Which rule.
    pub rule: Id,
    /// How, with the values.
    pub what: String,
    /// The instruction that breaks it, if one does.
    pub instruction: Option<Instruction>,
}

/// An instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// Of which stage.
    pub stage: Stage,
    /// Hash of the program, as listings show it.
    pub program: u64,
    /// Its number.
    pub index: u32,
    /// Its text.
    pub text: String,
}

impl Broken {
    /// `rule` is broken by state or packets.
    pub fn new(rule: Id, what: impl Into<String>) -> Self {
        Self { rule, what: what.into(), instruction: None }
    }
}

/// A finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is wrong.
    pub broken: Broken,
    /// How often it was met.
    pub count: u64,
    /// Where it was met first.
    pub place: Where,
}

/// Where in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Where {
    /// Submit.
    pub submit: u32,
    /// Draw that runs, or the next one.
    pub draw: u32,
    /// Its number among those of the frame.
    pub frame_draw: u32,
    /// Address of the packet.
    pub address: u32,
    /// The pass that the registers are set up for.
    #[serde(serialize_with = "pass_name")]
    pub pass: Pass,
}

fn pass_name<S: serde::Serializer>(pass: &Pass, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(pass.name())
}

impl Where {
    /// Where the command processor is.
    pub fn of(gpu: &Gpu) -> Self {
        let at = gpu.at;
        let pass = Pass::of(&gpu.regs);
        Self { submit: at.submit, draw: at.draws, frame_draw: at.frame_draw, address: at.address, pass }
    }
}

/// All findings of a run, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
    known: HashMap<Broken, usize>,
    /// Those for which there was no room.
    pub left_out: u64,
}

impl Findings {
    /// Adds one, or counts it if it is known.
    pub fn add(&mut self, gpu: &Gpu, broken: Broken) {
        if let Some(&index) = self.known.get(&broken) {
            self.all[index].count += 1;
        } else if self.all.len() < MAX_FINDINGS {
            self.known.insert(broken.clone(), self.all.len());
            self.all.push(Finding { broken, count: 1, place: Where::of(gpu) });
        } else {
            self.left_out += 1;
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.all.iter()
    }
}

/// The form of `--json`.
#[derive(Serialize)]
pub struct Line<'a> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    rule: &'static str,
    severity: Severity,
    confidence: Confidence,
    what: &'a str,
    count: u64,
    #[serde(flatten)]
    place: Where,
    #[serde(skip_serializing_if = "Option::is_none")]
    shader: Option<ShaderLine<'a>>,
    says: &'static str,
    mend: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    suppressed: Option<&'a str>,
}

#[derive(Serialize)]
struct ShaderLine<'a> {
    stage: &'static str,
    hash: String,
    instruction: u32,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// Of a finding in `file`, if there are several; `suppressed` is the reason why it does not count.
    pub fn new(finding: &'a Finding, file: Option<&'a str>, suppressed: Option<&'a str>) -> Self {
        let (broken, rule) = (&finding.broken, finding.broken.rule.rule());
        Self {
            kind: "finding",
            file,
            rule: rule.id,
            severity: rule.severity,
            confidence: rule.confidence,
            what: &broken.what,
            count: finding.count,
            place: finding.place,
            shader: broken.instruction.as_ref().map(|at| ShaderLine {
                stage: at.stage.name(),
                hash: format!("{:016x}", at.program),
                instruction: at.index,
                text: &at.text,
            }),
            says: rule.says,
            mend: rule.mend,
            suppressed,
        }
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Where { submit, frame_draw, address, pass, .. } = self.place;
        let file = self.file.map(|file| format!("{file}: ")).unwrap_or_default();
        write!(f, "{file}{} {}", self.rule, self.severity)?;
        if let Some(shader) = &self.shader {
            write!(f, " {} {} at {}", shader.stage, &shader.hash[..8], shader.instruction)?;
        }
        write!(f, ": {}", self.what)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        write!(
            f,
            "\n    submit {submit}, f{frame_draw} ({pass}), packet {address:#010x}; {}",
            self.confidence
        )?;
        if let Some(shader) = &self.shader {
            write!(f, "\n    {}", shader.text)?;
        }
        match self.suppressed {
            Some(reason) => write!(f, "\n    suppressed: {reason}"),
            None => write!(f, "\n    {}.\n    Mend: {}.", self.says, self.mend),
        }
    }
}
