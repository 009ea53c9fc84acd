//! Code with requests for texels in it, for draws some of whose textures can be read so ([`Reading`]). How they are read
//! is part of the code, so that there may be several ways.
use std::sync::OnceLock;

use hashbrown::HashMap;

use super::super::alu::Row;
use super::super::effect::Effect;
use super::super::finish::Finish;
use super::super::ops::{Plain, Precision};
use super::super::program::Program;
use super::super::reading::Reading;
use super::Routine;
use super::line::plain;
use super::machine::Machine;
use super::wall::GATHERS_ONE_BY_ONE;

/// Ways of reading for which a program has code at most. Draws that read otherwise ask the texture unit.
const WAYS: usize = 4;

/// The code that a program has for different ways of reading its textures.
pub struct SamplerVariants {
    /// Texture and sampler of each request that can be in the code.
    pub requests: Vec<[u32; 2]>,
    /// The steps that they are.
    steps: Vec<u32>,
    ways: Box<[OnceLock<Way>; WAYS]>,
}

/// One of them.
struct Way {
    readings: Vec<Option<Reading>>,
    routine: Option<Routine>,
}

/// What is in some code beside operations.
#[derive(Clone, Default)]
pub struct Coded {
    /// Requests for texels, by the steps that they are.
    numbers: HashMap<u32, usize>,
    /// By number.
    pub readings: Vec<Reading>,
    /// What becomes of the colour at the end, if that is in the code.
    pub finish: Option<Finish>,
    /// Texels that lie side by side are read together: that is quicker on some processors.
    pub by_pairs: bool,
}

impl Coded {
    /// The number of the request that `step` is, if that is in the code.
    pub fn number(&self, step: u32) -> Option<usize> {
        self.numbers.get(&step).copied()
    }
}

impl SamplerVariants {
    /// For `program`, if it has requests that can be in the code for `machine`.
    pub fn new(program: &Program, machine: Machine) -> Option<Self> {
        let (requests, steps, ways) = Default::default();
        let mut all = Self { requests, steps, ways };
        for (step, effect) in (0..).zip(program.steps.iter().map(|step| &step.effect)) {
            if let Some(Plain { texture, sampler, .. }) = request(effect) {
                all.requests.push([texture, sampler]);
                all.steps.push(step);
            }
        }
        (machine == Machine::Avx512 && !all.steps.is_empty()).then_some(all)
    }

    /// The number of the way that reads each request so, or asks the texture unit, if there is code for it.
    pub fn number(&self, program: &Program, readings: &[Option<Reading>]) -> Option<usize> {
        if readings.iter().all(Option::is_none) {
            return None;
        }
        let make = || Way {
            readings: readings.to_vec(),
            routine: Routine::with(program, Machine::Avx512, self.coded(readings)),
        };
        let number = self.ways.iter().position(|way| way.get_or_init(make).readings == readings)?;
        self.get(number).is_some().then_some(number)
    }

    /// The code with this number.
    pub fn get(&self, number: usize) -> Option<&Routine> {
        self.ways.get(number)?.get()?.routine.as_ref()
    }

    /// The code of all ways that there are.
    pub fn all(&self) -> impl Iterator<Item = &Routine> {
        self.ways.iter().filter_map(|way| way.get()?.routine.as_ref())
    }

    pub(super) fn coded(&self, readings: &[Option<Reading>]) -> Coded {
        let mut coded = Coded { by_pairs: *GATHERS_ONE_BY_ONE, ..Coded::default() };
        for (step, reading) in self.steps.iter().zip(readings) {
            if let Some(reading) = reading {
                coded.numbers.insert(*step, coded.readings.len());
                coded.readings.push(*reading);
            }
        }
        coded
    }
}

/// The request that an effect is, if it can be in the code.
fn request(effect: &Effect) -> Option<Plain<Row>> {
    match effect {
        Effect::Op(_, destination) if destination.precision == Precision::Full => plain(effect),
        _ => None,
    }
}
