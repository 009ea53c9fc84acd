//! The programs of a run, each checked once.

use std::sync::Arc;

use hashbrown::HashMap;

use super::program::Checked;
use crate::draw::sp::state::{CodePlace, code};
use crate::gpu::{Gpu, STAGES, Stage};

/// Programs kept before the cache starts over.
const MAX_PROGRAMS: usize = 4096;

/// Steps of analysis that all programs of a run may take together: some ten seconds.
const MAX_STEPS: u64 = 1 << 30;

/// Programs by stage and words.
#[derive(Default)]
pub struct Programs {
    known: HashMap<(Stage, Vec<u64>), Arc<Checked>>,
    /// What each stage ran last, and where that stands.
    last: [Option<Last>; STAGES.len()],
    steps: u64,
    /// Not all of them could be looked at.
    pub cut: bool,
}

struct Last {
    place: CodePlace,
    time: u64,
    checked: Arc<Checked>,
}

impl Programs {
    /// The program of `stage`; nothing where the capture does not hold it.
    pub fn of(&mut self, gpu: &Gpu, stage: Stage) -> Option<Arc<Checked>> {
        let place = CodePlace::of(gpu, stage);
        if let Some(last) = &self.last[stage as usize]
            && last.place == place
            && place.is_unchanged(&gpu.mem, last.time)
        {
            return Some(last.checked.clone());
        }
        if !place.is_known(&gpu.mem) {
            return None;
        }
        // Nothing but zeros: a program that never ends, unless nobody said that there is one.
        let words = code(gpu, stage).or_else(|miss| if miss.len > 0 { Ok(Vec::new()) } else { Err(miss) });
        let checked = self.get(stage, &words.ok()?)?;
        self.last[stage as usize] = Some(Last { place, time: gpu.mem.now(), checked: checked.clone() });
        Some(checked)
    }

    fn get(&mut self, stage: Stage, words: &[u64]) -> Option<Arc<Checked>> {
        if let Some(known) = self.known.get(&(stage, words.to_vec())) {
            return Some(known.clone());
        }
        if self.steps >= MAX_STEPS {
            self.cut = true;
            return None;
        }
        if self.known.len() >= MAX_PROGRAMS {
            self.known.clear();
        }
        let checked = Arc::new(Checked::new(stage, words));
        self.steps += checked.steps + words.len() as u64;
        self.cut |= checked.cut;
        self.known.insert((stage, words.to_vec()), checked.clone());
        Some(checked)
    }
}
