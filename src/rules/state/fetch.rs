//! Checks P16 to P19: the inputs of the shaders.

use a4emu_decoder::a4xx::regs::gras::GRAS_CNTL;
use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::hlsq::{HLSQ_CONTROL_1_REG, HLSQ_CONTROL_2_REG, HLSQ_CONTROL_3_REG};
use a4emu_decoder::a4xx::regs::rb::RB_RENDER_CONTROL2;
use a4emu_decoder::a4xx::regs::sp::SP_FS_CTRL_REG1;
use a4emu_decoder::a4xx::regs::vfd::*;
use a4emu_decoder::adreno::ir3::Reg;
use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::bits::Register;

use super::{Scene, Violations};
use crate::rules::Id;
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::draw::{DrawCall, IndexSource};
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;

/// Adds violations of P16 to P19.
pub fn check(scene: &Scene<'_>, call: &DrawCall, violations: &mut Violations) {
    if scene.pass != Pass::Binning {
        produced(scene, violations);
    }
    attributes(scene, violations);
    indices(call, violations);
}

/// Checks P16, in this direction only: an older driver produces more inputs than its shaders read.
fn produced(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (first, second) = (regs.get::<HLSQ_CONTROL_1_REG>(), regs.get::<HLSQ_CONTROL_2_REG>());
    let (third, shader) = (regs.get::<HLSQ_CONTROL_3_REG>(), regs.get::<SP_FS_CTRL_REG1>());
    let (gras, rb) = (regs.get::<GRAS_CNTL>(), regs.get::<RB_RENDER_CONTROL2>());
    let linear = [third.IJ_LINEAR_PIXEL(), third.IJ_LINEAR_CENTROID()];
    let is_linear = linear.into_iter().any(|id| used(id).is_some());
    let pairs = [
        (first.ZWCOORDREGID(), gras.IJ_PERSP() || is_linear, "ZWCOORDREGID", "GRAS_CNTL.IJ_PERSP"),
        (second.FACEREGID(), gras.IJ_PERSP() || is_linear, "FACEREGID", "GRAS_CNTL.IJ_PERSP"),
        (third.IJ_PERSP_PIXEL(), gras.IJ_PERSP(), "IJ_PERSP_PIXEL", "GRAS_CNTL.IJ_PERSP"),
        (third.IJ_PERSP_CENTROID(), gras.IJ_PERSP(), "IJ_PERSP_CENTROID", "GRAS_CNTL.IJ_PERSP"),
        (linear[0], gras.IJ_LINEAR(), "IJ_LINEAR_PIXEL", "GRAS_CNTL.IJ_LINEAR"),
        (linear[1], gras.IJ_LINEAR(), "IJ_LINEAR_CENTROID", "GRAS_CNTL.IJ_LINEAR"),
        (third.IJ_PERSP_PIXEL(), rb.IJ_PERSP_PIXEL(), "IJ_PERSP_PIXEL", "RB_RENDER_CONTROL2.IJ_PERSP_PIXEL"),
        (third.IJ_PERSP_CENTROID(), rb.IJ_PERSP_CENTROID(), "IJ_PERSP_CENTROID", "RB_RENDER_CONTROL2"),
        (linear[0], rb.SIZE(), "IJ_LINEAR_PIXEL", "RB_RENDER_CONTROL2.SIZE"),
        (linear[1], rb.SIZE(), "IJ_LINEAR_CENTROID", "RB_RENDER_CONTROL2.SIZE"),
        (first.COORDREGID(), rb.COORD_MASK() != 0, "COORDREGID", "RB_RENDER_CONTROL2.COORD_MASK"),
        (first.COORDREGID(), shader.FRAGCOORD(), "COORDREGID", "SP_FS_CTRL_REG1.FRAGCOORD"),
        (first.ZWCOORDREGID(), shader.FRAGCOORD(), "ZWCOORDREGID", "SP_FS_CTRL_REG1.FRAGCOORD"),
        (second.FACEREGID(), rb.FACENESS(), "FACEREGID", "RB_RENDER_CONTROL2.FACENESS"),
        (second.FACEREGID(), shader.FACENESS(), "FACEREGID", "SP_FS_CTRL_REG1.FACENESS"),
        (second.SAMPLEID_REGID(), rb.SAMPLEID(), "SAMPLEID_REGID", "RB_RENDER_CONTROL2.SAMPLEID"),
        (second.SAMPLEMASK_REGID(), rb.SAMPLEMASK(), "SAMPLEMASK_REGID", "RB_RENDER_CONTROL2.SAMPLEMASK"),
    ];
    for (id, produced, name, producer) in pairs {
        violations.unless(used(id).is_none() || produced, Id::P16, || format!("{name} without {producer}"));
    }
    let (xy, zw) = (used(first.COORDREGID()), used(first.ZWCOORDREGID()));
    for (component, id) in [xy, xy.map(|id| id + 1), zw, zw.map(|id| id + 1)].into_iter().enumerate() {
        let missing = id.filter(|id| rb.COORD_MASK() >> component & 1 == 0 && takes(scene, *id));
        violations.unless(missing.is_none(), Id::P16, || {
            let name = ["x", "y", "z", "w"][component];
            format!("window {name} is read, and RB_RENDER_CONTROL2.COORD_MASK lacks it")
        });
    }
    violations.unless(zw.is_none() || xy.is_none() || zw == xy.map(|xy| xy + 2), Id::P16, || {
        "ZWCOORDREGID is not COORDREGID + 2".to_owned()
    });
}

/// Whether the fragment shader reads the full register `id` as the hardware filled it.
fn takes(scene: &Scene<'_>, id: u32) -> bool {
    let reg = u8::try_from(id).ok().and_then(|id| FileReg::full(Reg(id)));
    let checked = scene.program(Stage::FS).zip(reg);
    checked.is_some_and(|(checked, reg)| checked.facts.taken.has(reg))
}

/// Checks P17.
fn attributes(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let control = regs.get::<VFD_CONTROL_0>();
    let (fetches, decodes) = (control.STRMFETCHINSTRCNT(), control.STRMDECINSTRCNT());
    violations.unless(fetches == decodes && fetches > 0, Id::P17, || {
        format!("{fetches} fetch and {decodes} decode entries")
    });
    let count = decodes.min(VFD_DECODE_INSTR::ROW.len);
    let components: u32 = (0..count).map(|i| regs.at::<VFD_DECODE_INSTR>(i).WRITEMASK().count_ones()).sum();
    let total = control.TOTALATTRTOVS();
    violations
        .unless(total == components, Id::P17, || format!("TOTALATTRTOVS {total}, masks have {components}"));
    let (first, third) = (regs.get::<VFD_CONTROL_1>(), regs.get::<VFD_CONTROL_3>());
    let ids = [first.REGID4VTX(), first.REGID4INST(), third.REGID_VTXCNT()];
    let system = ids.into_iter().any(|id| used(id).is_some());
    (0..count).for_each(|i| attribute(scene, i, i + 1 == count && !system, violations));
}

fn attribute(scene: &Scene<'_>, i: u32, last: bool, violations: &mut Violations) {
    let regs = scene.regs;
    let (fetch, decode) = (regs.at::<VFD_FETCH_INSTR_0>(i), regs.at::<VFD_DECODE_INSTR>(i));
    let next = [fetch.SWITCHNEXT(), decode.SWITCHNEXT()];
    violations.unless(next == [!last; 2], Id::P17, || format!("attribute {i}: SWITCHNEXT is {next:?}"));
    let size = fetch.FETCHSIZE() + 1;
    let format = formats::vertex(decode.FORMAT()).map(|format| format.block().bytes);
    let sizes = [Some(decode.SHIFTCNT()), format];
    violations.unless(sizes.into_iter().flatten().all(|other| other == size), Id::P17, || {
        format!("attribute {i}: {size} bytes are fetched, SHIFTCNT and {:?} have {sizes:?}", decode.FORMAT())
    });
    let rate = regs.at::<VFD_FETCH_INSTR_3>(i).STEPRATE();
    violations.unless(rate > 0, Id::P17, || format!("attribute {i}: STEPRATE 0"));
}

/// Checks P19.
fn indices(call: &DrawCall, violations: &mut Violations) {
    let IndexSource::Memory { base, size, width, first } = call.indices else { return };
    let bytes = (u64::from(first) + u64::from(call.count)) * u64::from(width);
    violations.unless(u64::from(size) >= bytes, Id::P19, || {
        format!("INDX_SIZE {size}, indices have {bytes} bytes")
    });
    violations.unless(base.get() % u64::from(width) == 0, Id::P19, || {
        format!("INDX_BASE {base} of {width}-byte indices")
    });
}
