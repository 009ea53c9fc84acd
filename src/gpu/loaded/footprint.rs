//! What some packets have to do with loaded state: what draws among them may have taken from it, and what they leave in
//! it.

use super::{CONSTANTS, CodeSource, INSTRUCTIONS, LoadedState, ShaderState, TEXTURES, fill};
use a4emu_decoder::load_state::Stage;

/// Stages whose state is looked at: who has others runs its packets each time.
const STAGES: [Stage; 2] = [Stage::VS, Stage::FS];

/// How much of the state of a stage draws take, from the first slot on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Vec4s of the constant file.
    pub constants: usize,
    /// Texture and sampler slots.
    pub textures: usize,
    /// Instructions in the store.
    pub code: usize,
}

impl Extent {
    const ALL: Self = Self { constants: CONSTANTS, textures: TEXTURES, code: INSTRUCTIONS };

    /// What holds both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            constants: self.constants.max(other.constants),
            textures: self.textures.max(other.textures),
            code: self.code.max(other.code),
        }
    }
}

/// What loaded state was before and after some packets, as far as they or their draws may have had to do with it. Where
/// it is the same as then, the same packets do the same.
#[derive(Clone)]
pub struct LoadedFootprint {
    before: [Part; 2],
    after: [Part; 2],
    /// How often SSBO descriptors had changed.
    ssbo_changes: u64,
}

/// The first slots of a stage's state.
#[derive(Clone, PartialEq, Eq)]
struct Part {
    constants: Vec<[u32; 4]>,
    textures: Vec<[u32; 8]>,
    samplers: Vec<[u32; 2]>,
    code: Vec<u64>,
    source: CodeSource,
}

/// A [`LoadedFootprint`] while it is noted.
#[derive(Clone)]
pub(super) struct Noting {
    before: [Part; 2],
    ssbo_changes: u64,
    /// What was loaded to each of the stages.
    loaded: [Extent; 2],
    /// Something else has changed.
    is_lost: bool,
}

impl Part {
    fn of(state: &ShaderState, extent: Extent) -> Self {
        Self {
            constants: state.constants[..extent.constants].to_vec(),
            textures: state.textures[..extent.textures].to_vec(),
            samplers: state.samplers[..extent.textures].to_vec(),
            code: state.code[..extent.code].to_vec(),
            source: state.source,
        }
    }

    /// The same of fewer slots.
    fn cut(&mut self, extent: Extent) {
        self.constants.truncate(extent.constants);
        self.textures.truncate(extent.textures);
        self.samplers.truncate(extent.textures);
        self.code.truncate(extent.code);
    }

    fn is_in(&self, state: &ShaderState) -> bool {
        self.source == state.source
            && state.constants.starts_with(&self.constants)
            && state.textures.starts_with(&self.textures)
            && state.samplers.starts_with(&self.samplers)
            && state.code.starts_with(&self.code)
    }

    fn leave_in(&self, state: &mut ShaderState) {
        fill(&mut state.constants, &mut state.changes.constants, 0, self.constants.as_flattened());
        fill(&mut state.textures, &mut state.changes.textures, 0, self.textures.as_flattened());
        fill(&mut state.samplers, &mut state.changes.textures, 0, self.samplers.as_flattened());
        if state.source != self.source || !state.code.starts_with(&self.code) {
            state.source = self.source;
            state.code[..self.code.len()].copy_from_slice(&self.code);
            state.changes.code += 1;
        }
    }
}

impl Noting {
    /// `extent` of the state of `stage` is loaded, or nothing that a footprint has.
    pub fn load(&mut self, loaded: Option<(Stage, Extent)>) {
        match loaded.and_then(|(stage, extent)| Some((number(stage)?, extent))) {
            Some((stage, extent)) => self.loaded[stage] = self.loaded[stage].union(extent),
            None => self.is_lost = true,
        }
    }
}

/// Which of [`STAGES`] it is.
fn number(stage: Stage) -> Option<usize> {
    STAGES.iter().position(|known| *known == stage)
}

impl LoadedState {
    /// From now on it is noted what packets have to do with this.
    pub fn begin_footprint(&mut self) {
        self.noting = Some(Box::new(Noting {
            before: STAGES.map(|stage| Part::of(self.stage(stage), Extent::ALL)),
            ssbo_changes: self.ssbo_3d.changes,
            loaded: [Extent::default(); 2],
            is_lost: false,
        }));
    }

    /// What was noted since then, for draws that take `extents` of the state of [`Stage::VS`] and [`Stage::FS`]. `None`
    /// if there was more.
    pub fn end_footprint(&mut self, extents: [Extent; 2]) -> Option<LoadedFootprint> {
        let Noting { mut before, ssbo_changes, loaded, is_lost } = *self.noting.take()?;
        if is_lost || self.ssbo_3d.changes != ssbo_changes {
            return None;
        }
        let extents = [0, 1].map(|number| loaded[number].union(extents[number]));
        before.iter_mut().zip(extents).for_each(|(part, extent)| part.cut(extent));
        let after = [0, 1].map(|number| Part::of(self.stage(STAGES[number]), extents[number]));
        Some(LoadedFootprint { before, after, ssbo_changes })
    }

    /// Whether the packets of `footprint` would find the same now.
    pub fn is_input(&self, footprint: &LoadedFootprint) -> bool {
        self.ssbo_3d.changes == footprint.ssbo_changes
            && footprint.before.iter().zip(STAGES).all(|(part, stage)| part.is_in(self.stage(stage)))
    }

    /// State is what the packets of `footprint` leave of it.
    pub fn leave(&mut self, footprint: &LoadedFootprint) {
        for (part, stage) in footprint.after.iter().zip(STAGES) {
            part.leave_in(self.stage_mut(stage));
        }
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::load_state::{Pipe, StateKind};

    use super::*;

    /// What is noted of `packets`, whose draws take two vec4s of the vertex stage's constants.
    fn noted(state: &mut LoadedState, packets: impl FnOnce(&mut LoadedState)) -> Option<LoadedFootprint> {
        state.begin_footprint();
        packets(state);
        state.end_footprint([Extent { constants: 2, ..Extent::default() }, Extent::default()])
    }

    /// Loads one unit of this to all of its dwords.
    fn load(state: &mut LoadedState, kind: StateKind, first: u32, value: u32) {
        state.load(kind, first, &vec![value; kind.unit_dwords() as usize]);
    }

    #[test]
    fn what_draws_may_have_taken_has_to_be_the_same() {
        use StateKind::*;
        let mut state = LoadedState::default();
        let load_all = |state: &mut LoadedState| {
            load(state, Textures(Stage::FS), 1, 4);
            load(state, Instructions(Stage::VS), 0, 9);
        };
        let footprint = noted(&mut state, load_all).expect("it is known");
        assert!(!state.is_input(&footprint), "it has been loaded");
        let before = LoadedState::default();
        assert!(before.is_input(&footprint));
        let others = [
            (Constants(Stage::VS), 1, false),
            (Constants(Stage::VS), 2, true),
            (Textures(Stage::FS), 0, false),
            (Textures(Stage::FS), 1, false),
            (Samplers(Stage::FS), 1, false),
            (Samplers(Stage::FS), 2, true),
            (Instructions(Stage::VS), 0, false),
            (Instructions(Stage::FS), 0, false),
            (Constants(Stage::HS), 0, true),
            (SsboSizes(Pipe::Graphics), 0, false),
            (SsboSizes(Pipe::Compute), 0, true),
        ];
        for (kind, first, is_input) in others {
            let mut other = before.clone();
            load(&mut other, kind, first, 7);
            assert_eq!(other.is_input(&footprint), is_input, "{kind:?} {first}");
        }
    }

    #[test]
    fn state_is_left_as_packets_leave_it_and_counts_as_changed() {
        use StateKind::*;
        let mut state = LoadedState::default();
        let footprint = noted(&mut state, |state| {
            load(state, Constants(Stage::VS), 3, 1);
            load(state, Samplers(Stage::FS), 0, 2);
            load(state, Instructions(Stage::FS), 1, 3);
        });
        let footprint = footprint.expect("it is known");
        let mut other = LoadedState::default();
        load(&mut other, Constants(Stage::VS), 4, 8);
        other.leave(&footprint);
        let (vertex, fragment) = (other.stage(Stage::VS), other.stage(Stage::FS));
        assert_eq!(vertex.constants[2..5], [[0; 4], [1; 4], [8; 4]], "what is behind it stays");
        assert_eq!(
            (fragment.samplers[0], fragment.code[16], fragment.source),
            ([2; 2], 0x3_0000_0003, CodeSource::Store)
        );
        let changes =
            |state: &ShaderState| (state.changes.constants, state.changes.textures, state.changes.code);
        assert_eq!((changes(vertex), changes(fragment)), ((2, 0, 0), (0, 1, 1)));
        other.leave(&footprint);
        assert_eq!(
            (changes(other.stage(Stage::VS)), changes(other.stage(Stage::FS))),
            ((2, 0, 0), (0, 1, 1))
        );
    }

    #[test]
    fn who_has_other_stages_is_not_known() {
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
        assert!(
            noted(&mut state, |state| state.take_code_from_memory(Stage::DS)).is_some(),
            "it is there already"
        );
    }
}
