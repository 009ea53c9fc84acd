//! The registers of single stages: hull, domain, geometry and fragment shaders, and dispatches.

use std::sync::Arc;

use a4emu_decoder::a4xx::enums::PaSuScDraw;
use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::hlsq::*;
use a4emu_decoder::a4xx::regs::pc::PC_GS_PARAM;
use a4emu_decoder::a4xx::regs::sp_geometry::SP_GS_PARAM_REG;
use a4emu_decoder::a4xx::regs::vfd::VFD_CONTROL_3;
use a4emu_decoder::a4xx::regs::vpc::{VPC_VARYING_INTERP_MODE, VPC_VARYING_PS_REPL_MODE};
use a4emu_decoder::a4xx::stage_words::{PRIMITIVE_WORD, STAGE_ENTRY};

use super::enums::{interpolation, replacement};
use super::pc::patch_state;
use super::vpc::outputs;
use crate::draw::call::DispatchCall;
use crate::draw::cs::state::{DispatchState, GroupId, checked_size, put};
use crate::draw::ds::state::DomainState;
use crate::draw::fs::state::{Barycentrics, FragmentInputs, Spot};
use crate::draw::gs::state::{GeometryState, Layers};
use crate::draw::pc::state::PatchState;
use crate::draw::pc::tessellator::Domain;
use crate::draw::sp::state::StageState;
use crate::draw::stage_words::{EntryLayout, PrimitiveWord, StageEntry};
use crate::draw::topology::Topology;
use crate::draw::vpc::planes::Interpolated;
use crate::draw::vpc::state::MAX_VARYINGS;
use crate::fault::Fault;
use crate::machine::Stage;
use crate::regfile::RegFile;

/// Maximum number of invocations of a workgroup that the register fields and the chips allow.
const MAX_LOCAL: u32 = 1024;

/// The word that geometry and hull shaders find in r0.x.
pub const ENTRY: EntryLayout = EntryLayout {
    word: |StageEntry { slot, invocation, vertex }| STAGE_ENTRY::new(slot, invocation, vertex).0,
    entry: |word| {
        let word = STAGE_ENTRY(word);
        StageEntry { slot: word.SLOT(), invocation: word.INVOCATION(), vertex: word.VERTEX() }
    },
    vertices: 1 << 10,
};

/// Returns what a geometry shader says of a vertex in its primitive word.
fn primitive_word(word: u32) -> PrimitiveWord {
    let fields = PRIMITIVE_WORD(word);
    let (viewport, stream) = (fields.VIEWPORT() as u8, fields.STREAM() as u8);
    PrimitiveWord { word, layer: fields.LAYER(), viewport, stream, cut: fields.CUT() }
}

/// Reads the patch state of a draw, as [`patch_state`] does.
///
/// # Errors
/// A fault if there is no hull or no domain shader, or when the output patch size is invalid.
pub fn tessellation(regs: &RegFile, draw: u32, patches: (usize, Domain)) -> Result<PatchState, Fault> {
    require_hull(regs, draw)?;
    require_domain(regs, draw)?;
    patch_state(regs, draw, patches)
}

/// Checks that draw `draw` has a hull shader for its patches.
///
/// # Errors
/// A fault if there is none.
fn require_hull(regs: &RegFile, draw: u32) -> Result<(), Fault> {
    let control = regs.get::<HLSQ_HS_CONTROL_REG>();
    match control.ENABLED() || control.INSTRLENGTH() != 0 {
        true => Ok(()),
        false => Err(Fault::Draw(format!("draw {draw}: patches without a hull shader"))),
    }
}

/// Checks that draw `draw` has a domain shader for its patches.
///
/// # Errors
/// A fault if there is none.
fn require_domain(regs: &RegFile, draw: u32) -> Result<(), Fault> {
    let control = regs.get::<HLSQ_DS_CONTROL_REG>();
    match control.ENABLED() || control.INSTRLENGTH() != 0 {
        true => Ok(()),
        false => Err(Fault::Draw(format!("draw {draw}: patches without a domain shader"))),
    }
}

/// Reads the state of the domain shader `stage`.
pub fn domain(regs: &RegFile, stage: Arc<StageState>) -> DomainState {
    let coordinate = regs.get::<VFD_CONTROL_3>();
    DomainState {
        stage,
        outputs: outputs(regs, Stage::DS),
        coordinate: [used(coordinate.REGID_TESSX()), used(coordinate.REGID_TESSY())],
    }
}

/// Reads the state of the geometry shader `stage`.
pub fn geometry(regs: &RegFile, stage: Arc<StageState>) -> GeometryState {
    let param = regs.get::<PC_GS_PARAM>();
    GeometryState {
        stage,
        outputs: outputs(regs, Stage::GS),
        entry: ENTRY,
        read_word: primitive_word,
        primitive_word: used(regs.get::<SP_GS_PARAM_REG>().PRIMREGID()),
        max_vertices: param.MAX_VERTICES() + 1,
        invocations: param.INVOCATIONS() + 1,
        topology: topology(param.PRIMTYPE()),
        layers: if param.LAYER() { Layers::Chosen } else { Layers::First },
    }
}

/// Returns the list type of an output type. Points have their own size.
fn topology(kind: PaSuScDraw) -> Topology {
    match kind {
        PaSuScDraw::PC_DRAW_POINTS => Topology::SizedPoints,
        PaSuScDraw::PC_DRAW_LINES => Topology::LineStrip,
        PaSuScDraw::PC_DRAW_TRIANGLES | PaSuScDraw::Other(_) => Topology::TriangleStrip,
    }
}

/// Reads the inputs of the fragment shader, and how varyings are interpolated.
pub fn fragment_inputs(regs: &RegFile) -> FragmentInputs {
    let (c1, c2) = (regs.get::<HLSQ_CONTROL_1_REG>(), regs.get::<HLSQ_CONTROL_2_REG>());
    let (c3, c4) = (regs.get::<HLSQ_CONTROL_3_REG>(), regs.get::<HLSQ_CONTROL_4_REG>());
    let beside = [
        (c3.IJ_PERSP_CENTROID(), Barycentrics::Perspective, Spot::Centroid),
        (c3.IJ_LINEAR_CENTROID(), Barycentrics::Linear, Spot::Centroid),
        (c4.IJ_PERSP_SAMPLE(), Barycentrics::Perspective, Spot::Sample),
        (c4.IJ_LINEAR_SAMPLE(), Barycentrics::Linear, Spot::Sample),
    ];
    let ij = [(c3.IJ_PERSP_PIXEL(), Barycentrics::Perspective), (c3.IJ_LINEAR_PIXEL(), Barycentrics::Linear)];
    let ij = ij.into_iter().chain(beside.map(|(id, weights, _)| (id, weights)));
    let modes = by_location(|i| regs.at::<VPC_VARYING_INTERP_MODE>(i).modes().map(interpolation));
    let replaced = by_location(|i| regs.at::<VPC_VARYING_PS_REPL_MODE>(i).modes().map(replacement));
    FragmentInputs {
        ij: ij.filter(|(id, _)| used(*id).is_some()).collect(),
        beside: beside.into_iter().filter(|(id, ..)| used(*id).is_some()).collect(),
        xy: used(c1.COORDREGID()),
        zw: used(c1.ZWCOORDREGID()),
        face: used(c2.FACEREGID()),
        sample_id: used(c2.SAMPLEID_REGID()),
        sample_mask: used(c2.SAMPLEMASK_REGID()),
        interpolated: Interpolated::of(&modes, &replaced),
        interpolation: modes,
        replacement: replaced,
    }
}

/// Combines registers of sixteen locations each into one list by location.
fn by_location<T: Copy>(register: impl Fn(u32) -> [T; 16]) -> [T; MAX_VARYINGS] {
    let registers: [[T; 16]; MAX_VARYINGS / 16] = std::array::from_fn(|i| register(i as u32));
    std::array::from_fn(|location| registers[location / 16][location % 16])
}

/// Reads the state of a dispatch of the shader `stage`.
///
/// # Errors
/// A fault when the workgroup size is not valid.
pub fn dispatch(regs: &RegFile, call: &DispatchCall, stage: &StageState) -> Result<DispatchState, Fault> {
    let range = regs.get::<HLSQ_CL_NDRANGE_0>();
    let local = || [range.LOCALSIZEX() + 1, range.LOCALSIZEY() + 1, range.LOCALSIZEZ() + 1];
    let size = checked_size(call, call.local_size.unwrap_or_else(local), MAX_LOCAL)?;
    let control = regs.get::<HLSQ_CL_CONTROL_0>();
    let size_constant = regs.get::<HLSQ_CL_CONTROL_1>().WORKGROUPSIZECONSTID();
    let groups_constant = regs.get::<HLSQ_CL_KERNEL_CONST>().NUMWGCONSTID();
    let mut stage = stage.clone();
    let constants = Arc::make_mut(&mut stage.constants);
    put(constants, used(control.KERNELDIMCONSTID()), &[range.KERNELDIM()]);
    put(constants, used(size_constant), &size);
    put(constants, used(groups_constant), &call.groups);
    let group = used(control.WGIDCONSTID()).map(GroupId::Constant);
    let local_id = used(control.LOCALIDREGID());
    let (linear_id, wave) = (None, 1);
    Ok(DispatchState { stage, groups: call.groups, size, wave, group, local_id, linear_id, rests: &[] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_group_is_as_large_as_the_chip_allows() {
        let fits = |size: [u32; 3]| {
            let call =
                DispatchCall { number: 0, frame_draw: 0, submit: 0, groups: [1; 3], local_size: Some(size) };
            dispatch(&RegFile::default(), &call, &StageState::of("end\n")).is_ok()
        };
        assert!(fits([1024, 1, 1]) && fits([8, 8, 16]));
        for size in [[1025, 1, 1], [0, 1, 1], [8, 8, 17], [1 << 16, 1 << 16, 1], [u32::MAX; 3]] {
            assert!(!fits(size), "{size:?}");
        }
    }
}
