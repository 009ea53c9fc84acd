//! The A4xx for the blocks of `draw`: reads its registers, loaded state and descriptors into their neutral state.
//!
//! Each file is called after the block whose state it makes. [`enums`] has the enumerations of the registers, and
//! [`formats`] the formats of texels, as rows: a value of the A4xx, and what it means to the blocks.
//!
//! Nothing else in `draw` names a register or an enumeration of the A4xx (`tests/house.rs`). So another generation is a
//! folder beside this one.
pub mod enums;
pub mod formats;
pub mod gras;
pub mod pass;
pub mod pc;
pub mod rb;
pub mod sp;
pub mod stages;
pub mod tpl1;
pub mod vfd;
pub mod vpc;

use crate::generation::{DrawReaders, Readers};

/// What dispatches of an A4xx are read with.
pub static READERS: Readers =
    Readers { dispatch: stages::dispatch, stage: &sp::READERS, draws: Some(&DRAWS) };

/// What draws of an A4xx are read with.
pub static DRAWS: DrawReaders = DrawReaders {
    pass: pass::pass,
    stages: pass::stages,
    has_geometry_shader: pass::has_geometry_shader,
    discards: rb::discards,
    restart: pc::restart,
    provoking: pc::provoking,
    attributes: vfd::attributes,
    placed: vfd::placed,
    fetch: vfd::fetch,
    outputs: vpc::outputs,
    feedback: vpc::feedback,
    filled: vpc::filled,
    patches: pc::patches,
    tessellation: stages::tessellation,
    domain: stages::domain,
    geometry: stages::geometry,
    primitive: gras::primitive,
    fragment_inputs: stages::fragment_inputs,
    targets: rb::targets,
    resolve: rb::resolve,
    resolve_bounds: rb::resolve_bounds,
    border_place: tpl1::border_place,
};
