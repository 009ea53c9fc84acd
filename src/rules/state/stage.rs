//! Reads the registers of a shader stage.

use a4emu_decoder::a4xx::enums::ThreadSize;
use a4emu_decoder::a4xx::regs::groups::{ShaderOutput, used};
use a4emu_decoder::a4xx::regs::hlsq::*;
use a4emu_decoder::a4xx::regs::sp::*;
use a4emu_decoder::a4xx::regs::sp_geometry::*;
use a4emu_decoder::a4xx::regs::vfd::*;
use a4emu_decoder::adreno::ir3::Reg;
use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::bits::Register;

use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;

/// SP_xS_CTRL_REG0; none if the register has no public name and is unwritten.
pub fn control0(regs: &RegFile, stage: Stage) -> Option<SP_VS_CTRL_REG0> {
    match stage {
        Stage::VS => Some(regs.get::<SP_VS_CTRL_REG0>()),
        Stage::FS => Some(*regs.get::<SP_FS_CTRL_REG0>()),
        Stage::CS => Some(*regs.get::<SP_CS_CTRL_REG0>()),
        Stage::HS => written::<SP_HS_CTRL_REG0>(regs).map(|reg| *reg),
        Stage::DS => written::<SP_DS_CTRL_REG0>(regs).map(|reg| *reg),
        Stage::GS => written::<SP_GS_CTRL_REG0>(regs).map(|reg| *reg),
    }
}

fn written<R: Register>(regs: &RegFile) -> Option<R> {
    regs.written(R::ROW.offset).map(R::from_word)
}

/// HLSQ_xS_CONTROL_REG of the stage.
pub fn hlsq(regs: &RegFile, stage: Stage) -> HLSQ_VS_CONTROL_REG {
    match stage {
        Stage::VS => regs.get::<HLSQ_VS_CONTROL_REG>(),
        Stage::HS => *regs.get::<HLSQ_HS_CONTROL_REG>(),
        Stage::DS => *regs.get::<HLSQ_DS_CONTROL_REG>(),
        Stage::GS => *regs.get::<HLSQ_GS_CONTROL_REG>(),
        Stage::FS => *regs.get::<HLSQ_FS_CONTROL_REG>(),
        Stage::CS => *regs.get::<HLSQ_CS_CONTROL_REG>(),
    }
}

/// Address of the stage's private memory, if it is set.
pub fn private_memory(regs: &RegFile, stage: Stage) -> Option<u32> {
    let offset = match stage {
        Stage::VS => SP_VS_PVT_MEM_ADDR::ROW.offset,
        Stage::HS => SP_HS_PVT_MEM_ADDR::ROW.offset,
        Stage::DS => SP_DS_PVT_MEM_ADDR::ROW.offset,
        Stage::GS => SP_GS_PVT_MEM_ADDR::ROW.offset,
        Stage::FS => SP_FS_PVT_MEM_ADDR::ROW.offset,
        Stage::CS => SP_CS_PVT_MEM_ADDR::ROW.offset,
    };
    regs.written(offset).filter(|address| *address != 0)
}

/// Whether a warp of the stage has four quads.
pub fn has_four_quads(control: SP_VS_CTRL_REG0) -> bool {
    control.THREADSIZE() == ThreadSize::FOUR_QUADS
}

/// A register that the hardware fills or reads, and its purpose.
pub type Named = (FileReg, &'static str);

fn run(id: u32, half: bool, count: u32, name: &'static str) -> impl Iterator<Item = Named> {
    let ids =
        used(id).into_iter().flat_map(move |id| (id..id + count).filter_map(|id| u8::try_from(id).ok()));
    let of_file = if half { FileReg::half } else { FileReg::full };
    ids.filter_map(move |id| of_file(Reg(id))).map(move |reg| (reg, name))
}

/// Registers that the hardware fills before the stage's first instruction.
pub fn delivered(regs: &RegFile, stage: Stage) -> Vec<Named> {
    match stage {
        Stage::VS => attributes(regs).chain(vertex_ids(regs)).collect(),
        Stage::DS => {
            let control = regs.get::<VFD_CONTROL_3>();
            let [x, y] = [control.REGID_TESSX(), control.REGID_TESSY()];
            [x, y].into_iter().flat_map(|id| run(id, false, 1, "tessellation coordinate")).collect()
        }
        Stage::FS => fragment_inputs(regs),
        Stage::CS => run(regs.get::<HLSQ_CL_CONTROL_0>().LOCALIDREGID(), false, 3, "local id").collect(),
        Stage::HS | Stage::GS => Vec::new(),
    }
}

fn attributes(regs: &RegFile) -> impl Iterator<Item = Named> {
    let count = regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(VFD_DECODE_INSTR::ROW.len);
    (0..count).flat_map(|i| {
        let decode = regs.at::<VFD_DECODE_INSTR>(i);
        let components = u32::BITS - decode.WRITEMASK().leading_zeros();
        run(decode.REGID(), false, components, "attribute")
    })
}

fn vertex_ids(regs: &RegFile) -> impl Iterator<Item = Named> {
    let (first, third) = (regs.get::<VFD_CONTROL_1>(), regs.get::<VFD_CONTROL_3>());
    let ids = [
        (first.REGID4VTX(), "vertex id"),
        (first.REGID4INST(), "instance id"),
        (third.REGID_VTXCNT(), "vertex count"),
    ];
    ids.into_iter().flat_map(|(id, name)| run(id, false, 1, name))
}

fn fragment_inputs(regs: &RegFile) -> Vec<Named> {
    let (first, second) = (regs.get::<HLSQ_CONTROL_1_REG>(), regs.get::<HLSQ_CONTROL_2_REG>());
    barycentrics(regs)
        .into_iter()
        .flat_map(|(id, name)| run(id, false, 2, name))
        .chain(run(first.COORDREGID(), false, 2, "window coordinate"))
        .chain(run(first.ZWCOORDREGID(), false, 2, "window z and w"))
        .chain(run(second.FACEREGID(), true, 1, "face"))
        .chain(run(second.SAMPLEID_REGID(), true, 1, "sample id"))
        .chain(run(second.SAMPLEMASK_REGID(), false, 1, "sample mask"))
        .collect()
}

/// Register ids of the barycentric coordinates i and j, by kind.
pub fn barycentrics(regs: &RegFile) -> [(u32, &'static str); 6] {
    let (third, fourth) = (regs.get::<HLSQ_CONTROL_3_REG>(), regs.get::<HLSQ_CONTROL_4_REG>());
    [
        (third.IJ_PERSP_PIXEL(), "IJ_PERSP_PIXEL"),
        (third.IJ_LINEAR_PIXEL(), "IJ_LINEAR_PIXEL"),
        (third.IJ_PERSP_CENTROID(), "IJ_PERSP_CENTROID"),
        (third.IJ_LINEAR_CENTROID(), "IJ_LINEAR_CENTROID"),
        (fourth.IJ_PERSP_SAMPLE(), "IJ_PERSP_SAMPLE"),
        (fourth.IJ_LINEAR_SAMPLE(), "IJ_LINEAR_SAMPLE"),
    ]
}

/// Registers that the hardware reads at the stage's end, in a draw of `pass`.
pub fn outputs(regs: &RegFile, stage: Stage, pass: Pass) -> Vec<Named> {
    match stage {
        Stage::VS | Stage::DS | Stage::GS => vertex_outputs(regs, stage, pass),
        Stage::FS => fragment_outputs(regs),
        Stage::HS | Stage::CS => Vec::new(),
    }
}

fn vertex_outputs(regs: &RegFile, stage: Stage, pass: Pass) -> Vec<Named> {
    let position = run(position(regs, stage), false, 4, "position");
    let size = run(point_size(regs, stage), false, 1, "point size");
    let binning = pass == Pass::Binning;
    let varyings = linkage(regs, stage).into_iter().filter(|_| !binning).flat_map(|link| {
        let components = u32::BITS - link.source.components.leading_zeros();
        run(link.source.regid, link.source.half, components, "varying")
    });
    position.chain(size).chain(varyings).collect()
}

/// POSREGID of the stage.
pub fn position(regs: &RegFile, stage: Stage) -> u32 {
    match stage {
        Stage::DS => regs.get::<SP_DS_PARAM_REG>().POSREGID(),
        Stage::GS => regs.get::<SP_GS_PARAM_REG>().POSREGID(),
        _ => regs.get::<SP_VS_PARAM_REG>().POSREGID(),
    }
}

/// PSIZEREGID of the stage; for a geometry shader, the register of the primitive word.
fn point_size(regs: &RegFile, stage: Stage) -> u32 {
    match stage {
        Stage::DS => Reg::NONE.0.into(),
        Stage::GS => regs.get::<SP_GS_PARAM_REG>().PRIMREGID(),
        _ => regs.get::<SP_VS_PARAM_REG>().PSIZEREGID(),
    }
}

/// An output of a vertex stage, and its location.
#[derive(Clone, Copy)]
pub struct Link {
    /// The source registers.
    pub source: ShaderOutput,
    /// OUTLOC: location of the first component, plus 8.
    pub location: u32,
}

/// Maximum number of outputs that the registers describe.
pub const OUTPUTS: u32 = 2 * SP_VS_OUT::ROW.len;

/// Number of outputs of the stage: TOTALVSOUTVAR or TOTALGSOUTVAR.
pub fn output_count(regs: &RegFile, stage: Stage) -> u32 {
    match stage {
        Stage::DS => regs.get::<SP_DS_PARAM_REG>().TOTALGSOUTVAR(),
        Stage::GS => regs.get::<SP_GS_PARAM_REG>().TOTALGSOUTVAR(),
        _ => regs.get::<SP_VS_PARAM_REG>().TOTALVSOUTVAR(),
    }
}

/// The outputs of a vertex stage.
pub fn linkage(regs: &RegFile, stage: Stage) -> Vec<Link> {
    let at = |j: u32| -> (SP_VS_OUT, SP_VS_VPC_DST) {
        match stage {
            Stage::DS => (*regs.at::<SP_DS_OUT>(j / 2), *regs.at::<SP_DS_VPC_DST>(j / 4)),
            Stage::GS => (*regs.at::<SP_GS_OUT>(j / 2), *regs.at::<SP_GS_VPC_DST>(j / 4)),
            _ => (regs.at::<SP_VS_OUT>(j / 2), regs.at::<SP_VS_VPC_DST>(j / 4)),
        }
    };
    let link = |j: u32| {
        let (out, dst) = at(j);
        Link { source: out.outputs()[j as usize % 2], location: dst.locations()[j as usize % 4] }
    };
    (0..output_count(regs, stage).min(OUTPUTS)).map(link).collect()
}

fn fragment_outputs(regs: &RegFile) -> Vec<Named> {
    let output = regs.get::<SP_FS_OUTPUT_REG>();
    let colors = (0..output.MRT().min(SP_FS_MRT::ROW.len)).flat_map(|i| {
        let target = regs.at::<SP_FS_MRT>(i);
        run(target.REGID(), target.HALF_PRECISION(), 4, "colour")
    });
    let depth = output.DEPTH_ENABLE().then(|| run(output.DEPTH_REGID(), false, 1, "depth"));
    colors.chain(depth.into_iter().flatten()).collect()
}
