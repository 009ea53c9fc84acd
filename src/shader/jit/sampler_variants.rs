//! Variants of code that contain texture reads, for draws with suitable textures ([`Reading`]). The kind of
//! read is part of the code, so there are several variants.
use std::sync::OnceLock;

use super::super::alu::Row;
use super::super::effect::Effect;
use super::super::lowered::Lowered;
use super::super::ops::{Plain, Precision};
use super::super::reading::Reading;
use super::Routine;
use super::coded::Coded;
use super::executable::SEQUENTIAL_GATHER;
use super::machine::Machine;
use crate::limits::SAMPLER_VARIANTS;

/// Variants of the code of a program with different texture reads.
pub struct SamplerVariants {
    machine: Machine,
    /// Texture and sampler slot of each sample that can be in the code.
    pub requests: Vec<[u32; 2]>,
    /// The steps of these samples.
    steps: Vec<u32>,
    ways: Box<[OnceLock<Way>; SAMPLER_VARIANTS]>,
}

/// One variant.
struct Way {
    readings: Vec<Option<Reading>>,
    routine: Option<Routine>,
}

impl SamplerVariants {
    /// The variants for `program` and `machine`, if the program has samples that can be in the code.
    pub fn new(program: &Lowered, machine: Machine) -> Option<Self> {
        let (requests, steps, ways) = Default::default();
        let mut all = Self { machine, requests, steps, ways };
        for (step, effect) in (0..).zip(program.steps.iter().map(|step| &step.effect)) {
            if let Some(Plain { texture, sampler, .. }) = request(effect) {
                all.requests.push([texture, sampler]);
                all.steps.push(step);
            }
        }
        (!all.steps.is_empty()).then_some(all)
    }

    /// The number of the variant with these readings. A sample without a reading goes through the texture
    /// unit. `None` if there is no code for it.
    pub fn number(&self, program: &Lowered, readings: &[Option<Reading>]) -> Option<usize> {
        if readings.iter().all(Option::is_none) {
            return None;
        }
        let make = || Way {
            readings: readings.to_vec(),
            routine: Routine::with(program, self.machine, self.coded(readings)),
        };
        let number = self.ways.iter().position(|way| way.get_or_init(make).readings == readings)?;
        self.get(number).is_some().then_some(number)
    }

    /// The code of variant `number`.
    pub fn get(&self, number: usize) -> Option<&Routine> {
        self.ways.get(number)?.get()?.routine.as_ref()
    }

    /// The code of all existing variants.
    pub fn all(&self) -> impl Iterator<Item = &Routine> {
        self.ways.iter().filter_map(|way| way.get()?.routine.as_ref())
    }

    pub(super) fn coded(&self, readings: &[Option<Reading>]) -> Coded {
        let mut coded = Coded { gather_pairs: *SEQUENTIAL_GATHER, ..Coded::default() };
        for (step, reading) in self.steps.iter().zip(readings) {
            if let Some(reading) = reading {
                coded.numbers.insert(*step, coded.readings.len());
                coded.readings.push(*reading);
            }
        }
        coded
    }
}

/// The sample of an effect, if it can be in the code.
fn request(effect: &Effect) -> Option<Plain<Row>> {
    match effect {
        Effect::Op(_, destination) if destination.precision == Precision::Full => effect.plain(),
        _ => None,
    }
}
