//! Footprints of loaded state: what draws read (inputs) and what packets load (outputs).

use a4emu_decoder::load_state::{Stage, StateKind};

use super::{CONSTANTS, CodeSource, INSTRUCTIONS, LoadedState, ShaderState, TEXTURES};

/// Stages that a footprint covers. A buffer that loads state of other stages is not replayed.
const STAGES: [Stage; 2] = [Stage::VS, Stage::FS];

/// The inputs and outputs of packets in loaded state. If the inputs have the same values, the packets have
/// the same effect.
#[derive(Clone, Default)]
pub struct LoadedFootprint {
    /// Inputs of each of the stages.
    taken: [Part; 2],
    left: [Part; 2],
    /// Change count of the SSBO descriptors.
    ssbo_changes: u64,
}

/// Slots of a stage's state, by number.
#[derive(Clone, Default)]
struct Part {
    constants: Vec<(usize, [u32; 4])>,
    textures: Vec<(usize, [u32; 8])>,
    samplers: Vec<(usize, [u32; 2])>,
    code: Vec<(usize, u64)>,
    source: Option<CodeSource>,
}

/// A [`LoadedFootprint`] that is being recorded.
#[derive(Clone, Default)]
pub(super) struct Recorder {
    footprint: LoadedFootprint,
    stages: [Marks; 2],
    /// Whether state changed that a footprint does not cover.
    is_lost: bool,
}

/// Slots that are already recorded as inputs, or that packets have loaded.
#[derive(Clone)]
struct Marks {
    constants: [Mark; CONSTANTS],
    textures: [Mark; TEXTURES],
    samplers: [Mark; TEXTURES],
    code: [Mark; INSTRUCTIONS],
    source: Mark,
}

/// The flags of one slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Mark {
    is_taken: bool,
    is_loaded: bool,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            constants: [Mark::default(); CONSTANTS],
            textures: [Mark::default(); TEXTURES],
            samplers: [Mark::default(); TEXTURES],
            code: [Mark::default(); INSTRUCTIONS],
            source: Mark::default(),
        }
    }
}

/// Marks `slots` as read. New inputs are added to `taken`.
fn take<T: Copy>(
    slots: impl IntoIterator<Item = usize>,
    held: &[T],
    marks: &mut [Mark],
    taken: &mut Vec<(usize, T)>,
) {
    for slot in slots {
        let (Some(mark), Some(value)) = (marks.get_mut(slot), held.get(slot)) else { continue };
        if !mark.is_taken && !mark.is_loaded {
            taken.push((slot, *value));
        }
        mark.is_taken = true;
    }
}

/// Marks `count` slots from `first` on as loaded.
fn load(marks: &mut [Mark], first: usize, count: usize) {
    marks.iter_mut().skip(first).take(count).for_each(|mark| mark.is_loaded = true);
}

/// The loaded slots with their values.
fn left<T: Copy>(marks: &[Mark], held: &[T]) -> Vec<(usize, T)> {
    let slots = marks.iter().zip(held).enumerate().filter(|(_, (mark, _))| mark.is_loaded);
    slots.map(|(slot, (_, value))| (slot, *value)).collect()
}

/// Whether `held` contains these values.
fn are_in<T: PartialEq>(values: &[(usize, T)], held: &[T]) -> bool {
    values.iter().all(|(slot, value)| held[*slot] == *value)
}

/// Sets these values in `held`. Returns whether one of them changed.
fn put<T: Copy + PartialEq>(values: &[(usize, T)], held: &mut [T]) -> bool {
    let is_new = !are_in(values, held);
    values.iter().for_each(|(slot, value)| held[*slot] = *value);
    is_new
}

impl Part {
    fn is_in(&self, state: &ShaderState) -> bool {
        self.source.is_none_or(|source| source == state.source)
            && are_in(&self.constants, &state.constants)
            && are_in(&self.textures, &state.textures)
            && are_in(&self.samplers, &state.samplers)
            && are_in(&self.code, &state.code)
    }

    fn put_in(&self, state: &mut ShaderState) {
        let source = self.source.unwrap_or(state.source);
        let is_elsewhere = std::mem::replace(&mut state.source, source) != source;
        let [textures, samplers] =
            [put(&self.textures, &mut state.textures), put(&self.samplers, &mut state.samplers)];
        let changes = &mut state.changes;
        changes.constants += u64::from(put(&self.constants, &mut state.constants));
        changes.textures += u64::from(textures || samplers);
        changes.code += u64::from(put(&self.code, &mut state.code) || is_elsewhere);
    }
}

impl Recorder {
    /// Notes a load of `dwords` of `kind`, from unit `first` on.
    pub fn load(&mut self, kind: StateKind, first: u32, dwords: usize) {
        use StateKind::*;
        let (first, stage) = (first as usize, kind.stage().and_then(number));
        let count = dwords / kind.unit_dwords() as usize;
        let Some(marks) = stage.map(|stage| &mut self.stages[stage]) else {
            self.is_lost = true;
            return;
        };
        match kind {
            Instructions(_) => {
                marks.source.is_loaded = true;
                load(&mut marks.code, first.saturating_mul(16), dwords / 2);
            }
            Constants(_) => load(&mut marks.constants, first, count),
            Textures(_) => load(&mut marks.textures, first, count),
            Samplers(_) => load(&mut marks.samplers, first, count),
            // No stage reads them.
            Ubos(_) => {}
            SsboDescriptors(_) | SsboSizes(_) | SsboAddresses(_) | Unknown => self.is_lost = true,
        }
    }

    /// Notes that the program of `stage` is in memory from now on. `is_new` tells whether it was in the store
    /// before.
    pub fn take_code_from_memory(&mut self, stage: Stage, is_new: bool) {
        match number(stage) {
            Some(stage) => self.stages[stage].source.is_loaded = true,
            None => self.is_lost |= is_new,
        }
    }
}

/// The index of `stage` in [`STAGES`].
fn number(stage: Stage) -> Option<usize> {
    STAGES.iter().position(|known| *known == stage)
}

impl LoadedState {
    /// Starts to record which state is read and loaded.
    pub fn begin_footprint(&mut self) {
        let ssbo_changes = self.ssbo_3d.changes;
        let footprint = LoadedFootprint { ssbo_changes, ..LoadedFootprint::default() };
        self.noting = Some(Box::new(Recorder { footprint, ..Recorder::default() }));
    }

    /// Notes what a draw reads of `stage`: these scalars of its constants, its first texture and sampler
    /// slots, and its first instructions in the store.
    pub fn note_taken(
        &mut self,
        stage: Stage,
        scalars: impl IntoIterator<Item = usize>,
        textures: usize,
        instructions: usize,
    ) {
        let Some((noting, stage)) = self.noting.as_mut().zip(number(stage)) else { return };
        let (state, marks) = (&self.stages[STAGES[stage] as usize], &mut noting.stages[stage]);
        let taken = &mut noting.footprint.taken[stage];
        let vectors = scalars.into_iter().map(|scalar| scalar / 4);
        take(vectors, &state.constants, &mut marks.constants, &mut taken.constants);
        take(0..textures, &state.textures, &mut marks.textures, &mut taken.textures);
        take(0..textures, &state.samplers, &mut marks.samplers, &mut taken.samplers);
        take(0..instructions, &state.code, &mut marks.code, &mut taken.code);
        let mut source = Vec::new();
        take([0], &[state.source], std::slice::from_mut(&mut marks.source), &mut source);
        taken.source = taken.source.or(source.first().map(|(_, source)| *source));
    }

    /// Ends the recording. `None` if the packets changed other state too.
    pub fn end_footprint(&mut self) -> Option<LoadedFootprint> {
        let Recorder { mut footprint, stages, is_lost } = *self.noting.take()?;
        for ((stage, marks), part) in STAGES.into_iter().zip(&stages).zip(&mut footprint.left) {
            let state = self.stage(stage);
            *part = Part {
                constants: left(&marks.constants, &state.constants),
                textures: left(&marks.textures, &state.textures),
                samplers: left(&marks.samplers, &state.samplers),
                code: left(&marks.code, &state.code),
                source: marks.source.is_loaded.then_some(state.source),
            };
        }
        let is_all = !is_lost && self.ssbo_3d.changes == footprint.ssbo_changes;
        is_all.then_some(footprint)
    }

    /// Whether the inputs of `footprint` have their recorded values.
    pub fn inputs_match(&self, footprint: &LoadedFootprint) -> bool {
        self.ssbo_3d.changes == footprint.ssbo_changes
            && footprint.taken.iter().zip(STAGES).all(|(part, stage)| part.is_in(self.stage(stage)))
    }

    /// Sets the outputs of `footprint` to their recorded values.
    pub fn apply_outputs(&mut self, footprint: &LoadedFootprint) {
        for (part, stage) in footprint.left.iter().zip(STAGES) {
            part.put_in(self.stage_mut(stage));
        }
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::load_state::Pipe;

    use super::super::StateChanges;
    use super::*;

    /// The footprint of `packets`.
    fn noted(state: &mut LoadedState, packets: impl FnOnce(&mut LoadedState)) -> Option<LoadedFootprint> {
        state.begin_footprint();
        packets(state);
        state.end_footprint()
    }

    /// Loads one unit of `kind` with `value` in all of its dwords.
    fn load(state: &mut LoadedState, kind: StateKind, first: u32, value: u32) {
        state.load(kind, first, &vec![value; kind.unit_dwords() as usize]);
    }

    /// State that draws read before a packet loads it is an input.
    #[test]
    fn state_read_before_a_load_is_an_input() {
        use StateKind::*;
        let mut state = LoadedState::default();
        let footprint = noted(&mut state, |state| {
            load(state, Constants(Stage::VS), 1, 4);
            load(state, Textures(Stage::FS), 1, 4);
            state.note_taken(Stage::VS, [3, 4, 8], 0, 17);
            state.note_taken(Stage::FS, [], 3, 0);
            load(state, Constants(Stage::VS), 2, 5);
            load(state, Instructions(Stage::VS), 0, 9);
            state.note_taken(Stage::VS, [3, 4, 8], 0, 17);
            state.note_taken(Stage::GS, [0], 3, 3);
        });
        let footprint = footprint.expect("it is known");
        assert!(!state.inputs_match(&footprint), "it has been loaded");
        let before = LoadedState::default();
        assert!(before.inputs_match(&footprint));
        let others = [
            (Constants(Stage::VS), 0, false),
            (Constants(Stage::VS), 1, true),
            (Constants(Stage::VS), 2, false),
            (Constants(Stage::VS), 3, true),
            (Constants(Stage::FS), 0, true),
            (Textures(Stage::FS), 0, false),
            (Textures(Stage::FS), 1, true),
            (Textures(Stage::FS), 3, true),
            (Textures(Stage::VS), 0, true),
            (Samplers(Stage::FS), 1, false),
            (Samplers(Stage::FS), 3, true),
            (Instructions(Stage::VS), 0, false),
            (Instructions(Stage::VS), 2, false),
            (Instructions(Stage::FS), 3, false),
            (Constants(Stage::HS), 0, true),
            (SsboSizes(Pipe::Graphics), 0, false),
            (SsboSizes(Pipe::Compute), 0, true),
        ];
        for (kind, first, is_input) in others {
            let mut other = before.clone();
            load(&mut other, kind, first, 7);
            assert_eq!(other.inputs_match(&footprint), is_input, "{kind:?} {first}");
        }
    }

    #[test]
    fn code_source_is_an_input_until_packets_set_it() {
        let loads = |state: &mut LoadedState| load(state, StateKind::Instructions(Stage::VS), 9, 1);
        let mut state = LoadedState::default();
        let takes = |state: &mut LoadedState| state.note_taken(Stage::VS, [], 0, 1);
        let before = noted(&mut state, takes).expect("it is known");
        let behind = noted(&mut state, |state| {
            state.take_code_from_memory(Stage::VS);
            takes(state);
            loads(state);
        });
        let behind = behind.expect("it is known");
        let mut other = LoadedState::default();
        loads(&mut other);
        assert_eq!([&before, &behind].map(|footprint| other.inputs_match(footprint)), [false, true]);
        other.take_code_from_memory(Stage::VS);
        assert_eq!([&before, &behind].map(|footprint| other.inputs_match(footprint)), [true, true]);
        other.apply_outputs(&behind);
        assert_eq!(other.stage(Stage::VS).source, CodeSource::Store);
    }

    #[test]
    fn state_is_left_as_packets_leave_it_and_counts_as_changed() {
        use StateKind::*;
        let mut state = LoadedState::default();
        let footprint = noted(&mut state, |state| {
            load(state, Constants(Stage::VS), 3, 1);
            load(state, Samplers(Stage::FS), 0, 2);
            load(state, Textures(Stage::FS), 5, 2);
            load(state, Instructions(Stage::FS), 1, 3);
        });
        let footprint = footprint.expect("it is known");
        let mut other = LoadedState::default();
        load(&mut other, Constants(Stage::VS), 4, 8);
        other.apply_outputs(&footprint);
        let (vertex, fragment) = (other.stage(Stage::VS), other.stage(Stage::FS));
        assert_eq!(vertex.constants[2..5], [[0; 4], [1; 4], [8; 4]], "what is beside it stays");
        assert_eq!((fragment.samplers[0], fragment.textures[5]), ([2; 2], [2; 8]));
        assert_eq!((fragment.code[15], fragment.code[16]), (0, 0x3_0000_0003));
        assert_eq!(fragment.source, CodeSource::Store);
        let changes = |state: &LoadedState| {
            [Stage::VS, Stage::FS].map(|stage| {
                let StateChanges { constants, textures, code } = state.stage(stage).changes;
                [constants, textures, code]
            })
        };
        assert_eq!(changes(&other), [[2, 0, 0], [0, 1, 1]]);
        other.apply_outputs(&footprint);
        assert_eq!(changes(&other), [[2, 0, 0], [0, 1, 1]], "nothing is new");
        load(&mut other, Samplers(Stage::FS), 0, 9);
        other.apply_outputs(&footprint);
        assert_eq!(changes(&other)[1], [0, 3, 1]);
    }

    #[test]
    fn loads_of_uncovered_state_prevent_a_footprint() {
        use StateKind::*;
        for kind in [Constants(Stage::GS), SsboDescriptors(Pipe::Graphics), Instructions(Stage::CS), Unknown]
        {
            let mut state = LoadedState::default();
            assert!(noted(&mut state, |state| load(state, kind, 0, 7)).is_none(), "{kind:?}");
        }
        let mut state = LoadedState::default();
        load(&mut state, Instructions(Stage::DS), 0, 7);
        assert!(noted(&mut state, |_| ()).is_some());
        assert!(noted(&mut state, |state| state.take_code_from_memory(Stage::DS)).is_none());
        assert!(noted(&mut state, |state| state.take_code_from_memory(Stage::DS)).is_some(), "it is there");
    }
}
