//! Checks the programs of a run, each once.

use std::sync::Arc;

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::ir3::access::FileReg;
use hashbrown::{HashMap, HashSet};

use super::finding::Broken;
use super::program::{self, Checked, Regs};
use a4emu_gpu::a4xx::sp::{code, code_place};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::draw::sp::state::CodePlace;
use a4emu_gpu::gpu::{STAGES, Stage};
use a4emu_gpu::settled::Synced;
use a4emu_shader::{Chooser, Chosen, Program, Way};

/// Maximum number of cached programs. A full cache is emptied.
const MAX_PROGRAMS: usize = 4096;

/// Maximum number of instructions of the cached programs. Each takes some hundreds of bytes.
const MAX_INSTRUCTIONS: usize = 1 << 18;

/// Maximum number of analysis steps for all programs of a run: some ten seconds.
const MAX_STEPS: u64 = 1 << 30;

/// Maximum number of steps that follow unset registers through one program.
const MAX_TAINT: u64 = 1 << 20;

/// A cache of checked programs by stage and words.
#[derive(Default)]
pub struct Programs {
    known: HashMap<(Stage, Vec<u64>), Arc<Checked>>,
    /// Number of instructions of all cached programs.
    instructions: usize,
    /// The last program of each stage, and its place.
    last: [Option<Last>; STAGES.len()],
    /// Violations of S34, by stage, hash of the program, unset registers and outputs.
    unset: HashMap<(Stage, u64, Regs, Regs), Arc<[Broken]>>,
    /// Registers that a0.x had selected at the last check.
    chosen: Chosen,
    /// Violations that are reported already for them.
    placed: HashSet<Broken>,
    /// The instruction set of the run's chip.
    isa: Isa,
    steps: u64,
    /// Whether some programs were not checked completely.
    pub cut: bool,
}

struct Last {
    place: CodePlace,
    time: u64,
    checked: Arc<Checked>,
}

impl Programs {
    /// The program of `stage`; none if the capture does not hold it.
    pub fn of(&mut self, gpu: Synced<'_>, stage: Stage) -> Option<Arc<Checked>> {
        let place = code_place(gpu.view(), stage);
        if let Some(last) = &self.last[stage as usize]
            && last.place == place
            && place.is_unchanged(gpu.memory(), last.time)
        {
            return Some(last.checked.clone());
        }
        if !place.is_known(gpu.memory()) {
            return None;
        }
        // A program of zeros never ends. It counts as a program only if a length was set.
        let words =
            code(gpu.view(), stage).or_else(|miss| if miss.len > 0 { Ok(Vec::new()) } else { Err(miss) });
        self.isa = gpu.chip.generation().isa();
        let checked = self.get(stage, &words.ok()?, &gpu.budget)?;
        self.last[stage as usize] = Some(Last { place, time: gpu.memory().now(), checked: checked.clone() });
        Some(checked)
    }

    /// The program of `instructions` at `address`, of a chip whose programs are all in memory; none if the capture does
    /// not hold it.
    pub fn at(
        &mut self,
        gpu: Synced<'_>,
        stage: Stage,
        address: Address,
        instructions: u32,
    ) -> Option<Arc<Checked>> {
        let place = CodePlace::Memory(address, instructions.min(Program::MAX_INSTRUCTIONS as u32));
        if let Some(last) = &self.last[stage as usize]
            && last.place == place
            && place.is_unchanged(gpu.memory(), last.time)
        {
            return Some(last.checked.clone());
        }
        let (start, bytes) = place.in_memory()?;
        let dwords = gpu.memory().known_dwords(start, bytes as usize / 4);
        if dwords.len() * 4 < bytes as usize {
            return None;
        }
        let words: Vec<u64> =
            dwords.as_chunks().0.iter().map(|[low, high]| u64::from(*high) << 32 | u64::from(*low)).collect();
        self.isa = gpu.chip.generation().isa();
        let checked = self.get(stage, &words, &gpu.budget)?;
        self.last[stage as usize] = Some(Last { place, time: gpu.memory().now(), checked: checked.clone() });
        Some(checked)
    }

    /// Violations of S34: uses of the registers `unset`, which no command wrote, with `outputs` read at the
    /// program's end.
    pub fn unset(&mut self, checked: &Checked, unset: Regs, outputs: Regs, budget: &Budget) -> Arc<[Broken]> {
        let key = (checked.program.stage, checked.program.shader.hash, unset, outputs);
        if let Some(known) = self.unset.get(&key) {
            return known.clone();
        }
        if self.unset.len() >= MAX_PROGRAMS {
            self.unset.clear();
        }
        let most = MAX_TAINT.min(MAX_STEPS.saturating_sub(self.steps));
        let mut steps = most;
        let broken: Arc<[Broken]> = program::unset(&checked.program, unset, &outputs, &mut steps).into();
        self.steps += most - steps;
        budget.observe(Work::Analysis, most - steps);
        self.cut |= steps == 0;
        self.unset.insert(key, broken.clone());
        broken
    }

    /// New violations by the registers that a0.x has selected.
    pub fn placed(&mut self, chosen: &Chosen) -> Vec<Broken> {
        if *chosen == self.chosen {
            return Vec::new();
        }
        let mut by_program: HashMap<u64, Vec<(usize, Way, FileReg)>> = HashMap::new();
        for (Chooser { program, at, way }, regs) in chosen.iter() {
            by_program.entry(program).or_default().extend(regs.map(|reg| (at as usize, way, reg)));
        }
        self.chosen = chosen.clone();
        let hash = |((_, words), _): &(&(Stage, Vec<u64>), _)| Program::hash_of(words);
        let mut known: Vec<_> =
            self.known.iter().filter(|known| by_program.contains_key(&hash(known))).collect();
        known.sort_by_key(|known| (hash(known), known.0.0 as usize));
        let mut said = Vec::new();
        for ((stage, words), checked) in known {
            if self.steps >= MAX_STEPS {
                self.cut = true;
                break;
            }
            let choices = by_program[&Program::hash_of(words)].iter().copied();
            let (broken, steps) = program::placed(*stage, self.isa, words, choices);
            self.steps += steps;
            said.extend(broken.into_iter().filter(|broken| !checked.broken.contains(broken)));
        }
        said.retain(|broken| self.placed.insert(broken.clone()));
        said
    }

    fn get(&mut self, stage: Stage, words: &[u64], budget: &Budget) -> Option<Arc<Checked>> {
        budget.observe(Work::Copy16, words.len() as u64);
        if let Some(known) = self.known.get(&(stage, words.to_vec())) {
            return Some(known.clone());
        }
        if self.steps >= MAX_STEPS {
            self.cut = true;
            return None;
        }
        if self.known.len() >= MAX_PROGRAMS || self.instructions + words.len() > MAX_INSTRUCTIONS {
            self.known.clear();
            self.instructions = 0;
        }
        self.instructions += words.len();
        let checked = Arc::new(Checked::new(stage, self.isa, words));
        budget.observe(Work::Analysis, checked.steps);
        budget.observe(Work::Lowering, words.len() as u64);
        self.steps += checked.steps + words.len() as u64;
        self.cut |= checked.cut;
        self.known.insert((stage, words.to_vec()), checked.clone());
        Some(checked)
    }
}
