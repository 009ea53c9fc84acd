//! The findings of a run. Each distinct one is kept once, with a count.

use std::collections::BTreeSet;
use std::fmt;

use hashbrown::HashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::rules::{Confidence, Id, Severity};
use a4emu_gpu::a4xx;
use a4emu_gpu::gpu::{Gpu, STAGES, Stage};
use a4emu_gpu::pass::Pass;

/// Maximum number of findings; further ones are only counted.
const MAX_FINDINGS: usize = 10_000;

/// Maximum number of pairs of a command and a finding.
const MAX_MET: usize = 1 << 18;

/// A violation of a rule, without its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Broken {
    /// The broken rule.
    pub rule: Id,
    /// Description of the violation, with the values.
    pub what: String,
    /// The instruction that breaks the rule, if any.
    pub instruction: Option<Instruction>,
}

/// An instruction of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// The stage of the program.
    pub stage: Stage,
    /// Hash of the program, as listings show it.
    pub program: u64,
    /// Index of the instruction in the program.
    pub index: u32,
    /// Text of the instruction.
    pub text: String,
}

impl Broken {
    /// A violation of `rule` by state or packets.
    pub fn new(rule: Id, what: impl Into<String>) -> Self {
        Self { rule, what: what.into(), instruction: None }
    }
}

/// A violation with its count and first place.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The violation.
    pub broken: Broken,
    /// Number of occurrences.
    pub count: u64,
    /// Place of the first occurrence.
    pub place: Where,
}

/// A place in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Where {
    /// Number of the submit.
    pub submit: u32,
    /// Number of the running draw, or of the next one.
    pub draw: u32,
    /// Number of its frame draw.
    pub frame_draw: u32,
    /// Address of the packet.
    pub address: u64,
    /// The pass that the registers are set up for.
    #[serde(serialize_with = "pass_name", deserialize_with = "pass_named")]
    pub pass: Pass,
}

fn pass_name<S: Serializer>(pass: &Pass, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(pass.name())
}

fn pass_named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pass, D::Error> {
    let name = String::deserialize(deserializer)?;
    Pass::ALL.into_iter().find(|pass| pass.name() == name).ok_or_else(|| de::Error::custom("no such pass"))
}

impl Where {
    /// The current place of the command processor.
    pub fn of(gpu: &Gpu) -> Self {
        let at = gpu.at;
        let pass = match gpu.chip.generation().number {
            6 => gpu.cp.pass(),
            _ => a4xx::pass::pass(&gpu.regs),
        };
        Self { submit: at.submit, draw: at.draws, frame_draw: at.frame_draw, address: at.address.get(), pass }
    }
}

/// All findings of a run, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
    known: HashMap<Broken, usize>,
    /// Pairs of a command's number and the index of a finding at it.
    met: BTreeSet<(u32, u32)>,
    /// Number of findings without room.
    pub left_out: u64,
}

impl Findings {
    /// Adds a violation, or counts it if it is known.
    pub fn add(&mut self, gpu: &Gpu, broken: Broken) {
        let index = if let Some(&index) = self.known.get(&broken) {
            self.all[index].count += 1;
            index
        } else if self.all.len() < MAX_FINDINGS {
            self.known.insert(broken.clone(), self.all.len());
            self.all.push(Finding { broken, count: 1, place: Where::of(gpu) });
            self.all.len() - 1
        } else {
            self.left_out += 1;
            return;
        };
        if self.met.len() < MAX_MET || self.all[index].count == 1 {
            self.met.insert((gpu.at.frame_draw, index as u32));
        }
    }

    /// Indices of the findings at any of these commands, or between it and the command before.
    pub fn at_any(&self, frame_draws: impl IntoIterator<Item = u32>) -> BTreeSet<u32> {
        let at = |number: u32| self.met.range((number, 0)..=(number, u32::MAX)).map(|(_, index)| *index);
        frame_draws.into_iter().flat_map(at).collect()
    }

    /// All findings, in order.
    pub fn into_all(self) -> Vec<Finding> {
        self.all
    }

    /// All findings, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Finding> {
        self.all.iter()
    }
}

/// A finding in the form of `--json`.
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
    /// Makes the line of a finding in `file`, if there are several files. `suppressed` is the reason why it
    /// does not count.
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

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Line::new(self, None, None).serialize(serializer)
    }
}

/// The parsed fields of a [`Line`]. The rest follows from the rule.
#[derive(Deserialize)]
struct Record {
    rule: String,
    what: String,
    count: u64,
    #[serde(flatten)]
    place: Where,
    shader: Option<ShaderRecord>,
}

#[derive(Deserialize)]
struct ShaderRecord {
    stage: String,
    hash: String,
    instruction: u32,
    text: String,
}

impl ShaderRecord {
    fn instruction(self) -> Option<Instruction> {
        let stage = STAGES.into_iter().find(|stage| stage.name() == self.stage)?;
        let program = u64::from_str_radix(&self.hash, 16).ok()?;
        Some(Instruction { stage, program, index: self.instruction, text: self.text })
    }
}

/// Parses the form of `--json`.
impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Record { rule, what, count, place, shader } = Record::deserialize(deserializer)?;
        let rule = Id::named(&rule).ok_or_else(|| de::Error::custom("no such rule"))?;
        let instruction = shader.and_then(ShaderRecord::instruction);
        Ok(Self { broken: Broken { rule, what, instruction }, count, place })
    }
}

/// Displays the violation in one line.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Line::new(self, None, None).write_head(f)
    }
}

impl Line<'_> {
    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.rule, self.severity)?;
        if let Some(shader) = &self.shader {
            write!(f, " {} {} at {}", shader.stage, &shader.hash[..8], shader.instruction)?;
        }
        write!(f, ": {}", self.what)?;
        if self.count > 1 { write!(f, " ({} times)", self.count) } else { Ok(()) }
    }
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Where { submit, frame_draw, address, pass, .. } = self.place;
        self.file.iter().try_for_each(|file| write!(f, "{file}: "))?;
        self.write_head(f)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_round_trip_through_json() {
        let place = Where { submit: 1, draw: 2, frame_draw: 3, address: 0x1000, pass: Pass::Resolve };
        let text = "add.f r0.x, r1.x, c0.x".to_owned();
        let instruction = Instruction { stage: Stage::GS, program: 0x0123_4567_89ab_cdef, index: 7, text };
        for instruction in [None, Some(instruction)] {
            let broken = Broken { rule: Id::D1, what: "reads \"r0\"".to_owned(), instruction };
            let finding = Finding { broken, count: 5, place };
            let json = serde_json::to_string(&finding).expect("plain data");
            assert_eq!(serde_json::from_str::<Finding>(&json).expect(&json), finding);
        }
        assert!(serde_json::from_str::<Finding>("{\"rule\": \"D77\"}").is_err());
    }
}
