//! What draws and dispatches ask of a generation of the chip: readers of its registers, loaded state and descriptors, which
//! make the neutral state of the blocks.
//!
//! [`readers`] is the one place that selects a generation for `draw` and `cp`. A generation is a folder such as
//! [`a4xx`] and its row here.

use std::sync::Arc;

use a4emu_decoder::adreno::address::Address;

use crate::draw::call::{DispatchCall, DrawCall};
use crate::draw::cs::state::DispatchState;
use crate::draw::ds::state::DomainState;
use crate::draw::fs::state::FragmentInputs;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::gras::state::Viewports;
use crate::draw::gs::state::GeometryState;
use crate::draw::pc::assembler::Provoking;
use crate::draw::pc::state::PatchState;
use crate::draw::pc::tessellator::Domain;
use crate::draw::rb::state::{ResolveState, Targets};
use crate::draw::sp::state::{StageReaders, StageState};
use crate::draw::topology::Topology;
use crate::draw::vfd::state::{Attribute, FetchState, Unplaced};
use crate::draw::vpc::state::{FeedbackState, Filled, VertexOutputs};
use crate::fault::Fault;
use crate::machine::{Chip, ChipView, Model, Stage};
use crate::pass::{Pass, Stages};
use crate::regfile::RegFile;
use crate::{a4xx, a6xx};

/// The attributes that a draw fetches.
type Attributes = Arc<[Attribute]>;

/// What a draw has, if the reader succeeds.
type Read<T> = Result<T, Fault>;

/// The control points of an input patch, and the domain.
type Patches = (usize, Domain);

/// The readers of a generation that runs dispatches.
#[derive(Debug)]
pub struct Readers {
    /// The state of a dispatch.
    pub dispatch: fn(&RegFile, &DispatchCall, &StageState) -> Read<DispatchState>,
    /// What the state of a stage is read with.
    pub stage: &'static StageReaders,
    /// What draws are read with, if the generation renders.
    pub draws: Option<&'static DrawReaders>,
}

/// The readers of a generation that renders. Readers with a list put into it what is not supported.
#[derive(Debug)]
pub struct DrawReaders {
    /// The pass that the registers are set up for.
    pub pass: fn(&RegFile) -> Pass,
    /// The stages that a draw of a pass runs, in order, given its initiator.
    pub stages: fn(Pass, &RegFile, Option<u32>) -> Stages,
    /// Whether there is a geometry shader.
    pub has_geometry_shader: fn(&RegFile) -> bool,
    /// Whether the rasteriser discards all primitives.
    pub discards: fn(&RegFile) -> bool,
    /// The restart index, if restart is enabled.
    pub restart: fn(&RegFile) -> Option<u32>,
    /// Which vertex of a primitive provides its flat values.
    pub provoking: fn(&RegFile) -> Provoking,
    /// The active attributes, without what usually changes between draws.
    pub attributes: fn(&RegFile, &mut Vec<String>) -> Box<[Unplaced]>,
    /// The attributes with their current address and size.
    pub placed: fn(&RegFile, &[Unplaced], Option<&Attributes>) -> Attributes,
    /// The fetch state of a draw with attributes and restart index.
    pub fetch: fn(&RegFile, &DrawCall, Option<u32>, Attributes, Model) -> FetchState,
    /// The linkage of a vertex stage.
    pub outputs: fn(&RegFile, Stage) -> VertexOutputs,
    /// Transform feedback, if a buffer is on.
    pub feedback: fn(ChipView<'_>) -> Option<FeedbackState>,
    /// The registers to write after a draw that filled buffers, and their values.
    pub filled: fn(&Filled) -> Vec<(u32, u32)>,
    /// The size of an input patch and its domain, if the draw has patches.
    pub patches: fn(&DrawCall) -> Read<Option<Patches>>,
    /// The patch state of a draw with this number and these patches. It fails without hull and domain shader.
    pub tessellation: fn(&RegFile, u32, Patches) -> Read<PatchState>,
    /// The state of a domain shader.
    pub domain: fn(&RegFile, Arc<StageState>) -> DomainState,
    /// The state of a geometry shader.
    pub geometry: fn(&RegFile, Arc<StageState>) -> GeometryState,
    /// The state of primitives of a type.
    pub primitive: fn(&RegFile, Topology, Viewports, Model) -> PrimitiveState,
    /// The inputs of the fragment shader.
    pub fragment_inputs: fn(&RegFile) -> FragmentInputs,
    /// The render targets and tests.
    pub targets: fn(&RegFile, &mut Vec<String>) -> Targets,
    /// The copy of a resolve, if it is supported.
    pub resolve: fn(&RegFile, &mut Vec<String>) -> Option<ResolveState>,
    /// The largest area of a resolve.
    pub resolve_bounds: fn(&RegFile) -> Rect,
    /// Address and length of the border colours of a stage's samplers.
    pub border_place: fn(&RegFile, Stage) -> (Address, u64),
}

/// The readers of each generation that runs, by its number. The first are those of a chip of another generation, which is
/// here only if the caller forces it.
static GENERATIONS: [(u32, &Readers); 2] = [(4, &a4xx::READERS), (6, &a6xx::READERS)];

/// The readers of the generation of `chip`.
pub fn readers(chip: Chip) -> &'static Readers {
    let number = chip.generation().number;
    GENERATIONS.iter().find(|(of, _)| *of == number).unwrap_or(&GENERATIONS[0]).1
}

/// The readers of draws of the generation of `chip`. Draws of a generation without any are left out before they are read
/// ([`Chip::renders`]).
pub fn draw_readers(chip: Chip) -> &'static DrawReaders {
    readers(chip).draws.unwrap_or(&a4xx::DRAWS)
}
