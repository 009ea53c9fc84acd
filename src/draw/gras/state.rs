//! The only place where a draw reads registers.

use std::sync::Arc;

use a4emu_decoder::bits::Register;
use a4emu_decoder::pm4::VGT_DRAW_INITIATOR_A4XX;
use a4emu_decoder::regs::enums::*;
use a4emu_decoder::regs::gras::*;
use a4emu_decoder::regs::groups::{ShaderOutput, used};
use a4emu_decoder::regs::hlsq::*;
use a4emu_decoder::regs::pc::*;
use a4emu_decoder::regs::sp::*;
use a4emu_decoder::regs::sp_geometry::*;
use a4emu_decoder::regs::vfd::*;
use a4emu_decoder::regs::vpc::*;

use crate::fault::Fault;
use crate::format::{Codec, Format, Transfer};
use crate::gpu::{Gpu, Stage};
use crate::regfile::RegFile;

use crate::draw::call::{DrawCall, IndexSource};
use crate::draw::gras::clip::{DepthClip, Viewport};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::{
    Face, FloatDepth, LinearWeights, PolygonMode, PolygonOffset, PrimitiveState, Winding,
};
use crate::draw::pc::topology::Provoking;
use crate::draw::rb::state::Targets;
use crate::draw::sp::memory::StageState;

/// Varying components that the VPC can hold.
pub const MAX_VARYINGS: usize = 128;

/// Everything that set-up, fragments and merging depend on, apart from memory.
pub struct DrawState {
    /// Assembly and set-up.
    pub primitive: PrimitiveState,
    /// Fragment inputs.
    pub fragment: FragmentState,
    /// Where results go.
    pub targets: Targets,
}

/// Index fetch, attributes and vertex shader.
pub struct VertexState {
    /// Vertices per instance.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// Where indices come from.
    pub indices: IndexSource,
    /// Index that ends a strip.
    pub restart: Option<u32>,
    /// Added to the index that attributes are fetched with.
    pub index_offset: i32,
    /// Added to the instance that attributes are fetched with.
    pub first_instance: u32,
    /// What is fetched.
    pub attributes: Vec<Attribute>,
    /// Register of the vertex id.
    pub vertex_id: Option<u32>,
    /// Register of the instance id.
    pub instance_id: Option<u32>,
    /// Register of the running vertex number.
    pub vertex_count: Option<u32>,
    /// The shader.
    pub stage: StageState,
    /// What it hands on.
    pub outputs: VertexOutputs,
}

/// Which registers of the last vertex stage go where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexOutputs {
    /// First of the four position registers.
    pub position: u32,
    /// Point size.
    pub point_size: Option<u32>,
    /// Register, and location of one varying component.
    pub varyings: Vec<(u32, usize)>,
    /// Varying components of a vertex.
    pub components: usize,
}

/// How often a fetch advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Every vertex.
    Vertex,
    /// Every n instances.
    Instance(u32),
}

/// One vertex attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Address of element 0.
    pub address: u32,
    /// Bytes that may be read from there.
    pub size: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// How it advances.
    pub rate: Rate,
    /// How its bytes become components.
    pub codec: Codec,
    /// Integers stay integers.
    pub integer: Integers,
    /// First register, and which of four are written.
    pub regid: u32,
    /// Registers that are written.
    pub write_mask: u32,
}

/// What happens to an attribute of an integer format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// The register gets the integer.
    Keep,
    /// The register gets its value as a float.
    Convert,
}

/// Which barycentrics a register pair receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barycentrics {
    /// With perspective.
    Perspective,
    /// Linear on the screen.
    Linear,
}

/// Fragment shader and its inputs.
pub struct FragmentState {
    /// The shader.
    pub stage: StageState,
    /// Registers of barycentrics.
    pub ij: Vec<(u32, Barycentrics)>,
    /// Registers of window x and y.
    pub xy: Option<u32>,
    /// Registers of window z and 1/w.
    pub zw: Option<u32>,
    /// Half register of the face.
    pub face: Option<u32>,
    /// Half register of the sample number.
    pub sample_id: Option<u32>,
    /// Register of the coverage.
    pub sample_mask: Option<u32>,
    /// By location.
    pub interpolation: [IntpMode; MAX_VARYINGS],
    /// By location: what replaces it in points.
    pub replacement: [ReplMode; MAX_VARYINGS],
}

/// Which viewports a draw can go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewports {
    /// The first.
    First,
    /// Any: a geometry shader chooses.
    Chosen,
}

impl DrawState {
    /// Takes what a draw whose primitives reach set-up as `topology` needs. What cannot be honoured is
    /// recorded; `Err` means that nothing can be drawn.
    ///
    /// # Errors
    /// A fault: a shader is missing or cannot be one.
    pub fn snapshot(gpu: &mut Gpu, topology: PrimType, viewports: Viewports) -> Result<Self, Fault> {
        let targets = Targets::snapshot(gpu);
        let mut primitive = primitive_state(&gpu.regs, topology);
        if viewports == Viewports::Chosen {
            primitive.others = other_viewports(&gpu.regs, &primitive);
        }
        Ok(Self { primitive, fragment: FragmentState::snapshot(gpu)?, targets })
    }
}

impl VertexState {
    /// What the vertex stage needs.
    ///
    /// # Errors
    /// A fault when there is no vertex shader.
    pub fn snapshot(gpu: &mut Gpu, call: &DrawCall) -> Result<Self, Fault> {
        let stage = StageState::snapshot(gpu, Stage::VS)?;
        let attributes = attributes(gpu);
        let regs = &gpu.regs;
        let system = regs.get::<VFD_CONTROL_1>();
        let restart = regs.get::<PC_PRIM_VTX_CNTL>().PRIMITIVE_RESTART();
        let indexed = call.indices != IndexSource::Auto;
        let restart = (restart && indexed).then(|| regs.get::<PC_RESTART_INDEX>().VALUE());
        Ok(Self {
            count: call.count,
            instances: call.instances,
            indices: call.indices.clone(),
            restart,
            index_offset: call.base_vertex.map_or(regs.get::<VFD_INDEX_OFFSET>().VALUE(), |base| base as i32),
            first_instance: call.first_instance.unwrap_or(regs.get::<VFD_INSTANCE_START_OFFSET>().VALUE()),
            attributes,
            vertex_id: used(system.REGID4VTX()),
            instance_id: used(system.REGID4INST()),
            vertex_count: used(regs.get::<VFD_CONTROL_3>().REGID_VTXCNT()),
            stage,
            outputs: VertexOutputs::snapshot(regs, Stage::VS),
        })
    }
}

impl VertexState {
    /// Entries of an instance in the list of vertices.
    pub fn list_len(&self) -> usize {
        self.count as usize
    }

    /// Whether the other state makes the same vertices of the same memory.
    pub fn is_same(&self, other: &Self) -> bool {
        let numbers = |s: &Self| (s.count, s.instances, s.restart, s.index_offset, s.first_instance);
        let registers = |s: &Self| (s.vertex_id, s.instance_id, s.vertex_count);
        numbers(self) == numbers(other)
            && registers(self) == registers(other)
            && self.indices == other.indices
            && self.attributes == other.attributes
            && self.outputs == other.outputs
            && Arc::ptr_eq(&self.stage.program, &other.stage.program)
            && self.stage.constants == other.stage.constants
    }
}

impl VertexOutputs {
    /// The output map of `stage`, one of VS, DS and GS.
    pub fn snapshot(regs: &RegFile, stage: Stage) -> Self {
        let (position, point_size, total) = outputs_of(regs, stage);
        let mut varyings = Vec::new();
        for output in 0..total.min(32) {
            let (source, location) = linkage(regs, stage, output);
            for c in (0..4).filter(|c| source.components & (1 << c) != 0) {
                if let Some(location) = (location + c).checked_sub(8) {
                    varyings.push((source.regid + c, location as usize));
                }
            }
        }
        varyings.retain(|(_, location)| *location < MAX_VARYINGS);
        let components = varyings.iter().map(|(_, location)| location + 1).max().unwrap_or(0);
        Self { position, point_size, varyings, components }
    }
}

/// Registers of position and point size, and the number of other outputs. No register is
/// known to name a domain shader's point size.
fn outputs_of(regs: &RegFile, stage: Stage) -> (u32, Option<u32>, u32) {
    match stage {
        Stage::GS => {
            let param = regs.get::<SP_GS_PARAM_REG>();
            let size = used(param.PRIMREGID()).map(|word| word + 1);
            (param.POSREGID(), size, param.TOTALGSOUTVAR())
        }
        Stage::DS => {
            let param = regs.get::<SP_DS_PARAM_REG>();
            (param.POSREGID(), None, param.TOTALGSOUTVAR())
        }
        Stage::VS | Stage::HS | Stage::FS | Stage::CS => {
            let param = regs.get::<SP_VS_PARAM_REG>();
            (param.POSREGID(), used(param.PSIZEREGID()), param.TOTALVSOUTVAR())
        }
    }
}

/// Source of output `j`, and where its first component goes.
fn linkage(regs: &RegFile, stage: Stage, j: u32) -> (ShaderOutput, u32) {
    let (half, quarter) = (j as usize % 2, j as usize % 4);
    match stage {
        Stage::GS => (
            regs.at::<SP_GS_OUT>(j / 2).outputs()[half],
            regs.at::<SP_GS_VPC_DST>(j / 4).locations()[quarter],
        ),
        Stage::DS => (
            regs.at::<SP_DS_OUT>(j / 2).outputs()[half],
            regs.at::<SP_DS_VPC_DST>(j / 4).locations()[quarter],
        ),
        Stage::VS | Stage::HS | Stage::FS | Stage::CS => (
            regs.at::<SP_VS_OUT>(j / 2).outputs()[half],
            regs.at::<SP_VS_VPC_DST>(j / 4).locations()[quarter],
        ),
    }
}

/// The active attributes; those of unknown formats are recorded and left out.
fn attributes(gpu: &mut Gpu) -> Vec<Attribute> {
    let count = gpu.regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(32);
    (0..count).filter_map(|i| attribute(gpu, i)).collect()
}

fn attribute(gpu: &mut Gpu, i: u32) -> Option<Attribute> {
    let fetch = gpu.regs.at::<VFD_FETCH_INSTR_0>(i);
    let decode = gpu.regs.at::<VFD_DECODE_INSTR>(i);
    let codec = Format::vertex(decode.FORMAT()).and_then(|f| f.codec(decode.SWAP(), Transfer::Linear));
    let Some(codec) = codec else {
        let what = format!("VFD_DECODE[{i}].INSTR = {:#010x}: vertex format {:?}", decode.0, decode.FORMAT());
        gpu.report.unsupported(what, gpu.at);
        return None;
    };
    let divisor = gpu.regs.at::<VFD_FETCH_INSTR_3>(i).STEPRATE();
    Some(Attribute {
        address: gpu.regs.at::<VFD_FETCH_INSTR_1>(i).VALUE(),
        size: gpu.regs.at::<VFD_FETCH_INSTR_2>(i).SIZE(),
        stride: fetch.BUFSTRIDE(),
        rate: if fetch.INSTANCED() { Rate::Instance(divisor.max(1)) } else { Rate::Vertex },
        codec,
        integer: if decode.INT() { Integers::Keep } else { Integers::Convert },
        regid: decode.REGID(),
        write_mask: decode.WRITEMASK(),
    })
}

impl FragmentState {
    fn snapshot(gpu: &mut Gpu) -> Result<Self, Fault> {
        let stage = StageState::snapshot(gpu, Stage::FS)?;
        let regs = &gpu.regs;
        let (c1, c2) = (regs.get::<HLSQ_CONTROL_1_REG>(), regs.get::<HLSQ_CONTROL_2_REG>());
        let (c3, c4) = (regs.get::<HLSQ_CONTROL_3_REG>(), regs.get::<HLSQ_CONTROL_4_REG>());
        let ij = [
            (c3.IJ_PERSP_PIXEL(), Barycentrics::Perspective),
            (c3.IJ_LINEAR_PIXEL(), Barycentrics::Linear),
            (c3.IJ_PERSP_CENTROID(), Barycentrics::Perspective),
            (c3.IJ_LINEAR_CENTROID(), Barycentrics::Linear),
            (c4.IJ_PERSP_SAMPLE(), Barycentrics::Perspective),
            (c4.IJ_LINEAR_SAMPLE(), Barycentrics::Linear),
        ];
        Ok(Self {
            stage,
            ij: ij.into_iter().filter(|(id, _)| used(*id).is_some()).collect(),
            xy: used(c1.COORDREGID()),
            zw: used(c1.ZWCOORDREGID()),
            face: used(c2.FACEREGID()),
            sample_id: used(c2.SAMPLEID_REGID()),
            sample_mask: used(c2.SAMPLEMASK_REGID()),
            interpolation: std::array::from_fn(|i| {
                regs.at::<VPC_VARYING_INTERP_MODE>(i as u32 / 16).modes()[i % 16]
            }),
            replacement: std::array::from_fn(|i| {
                regs.at::<VPC_VARYING_PS_REPL_MODE>(i as u32 / 16).modes()[i % 16]
            }),
        })
    }
}

impl FragmentState {
    /// Whether every pixel gets the same outputs: no inputs and no effect but registers.
    pub fn is_uniform(&self) -> bool {
        let inputs = [self.xy, self.zw, self.face, self.sample_id, self.sample_mask];
        inputs.iter().all(Option::is_none) && self.stage.is_uniform()
    }
}

/// What a draw's primitive type is.
pub fn topology(call: &DrawCall) -> PrimType {
    VGT_DRAW_INITIATOR_A4XX(call.initiator).PRIM_TYPE()
}

/// Which vertex of a primitive gives what all of it shares.
pub fn provoking(regs: &RegFile) -> Provoking {
    match regs.get::<PC_PRIM_VTX_CNTL>().PROVOKING_VTX_LAST() {
        true => Provoking::Last,
        false => Provoking::First,
    }
}

/// Set-up's share of the registers, for primitives of type `topology`.
pub fn primitive_state(regs: &RegFile, topology: PrimType) -> PrimitiveState {
    let mode = regs.get::<GRAS_SU_MODE_CONTROL>();
    let clip = regs.get::<GRAS_CL_CLIP_CNTL>();
    let viewport = viewport(regs);
    let depth_clip = (!clip.CLIP_DISABLE()).then(|| DepthClip {
        near: !clip.ZNEAR_CLIP_DISABLE(),
        far: !clip.ZFAR_CLIP_DISABLE(),
        zero_to_one: clip.ZERO_GB_SCALE_Z(),
    });
    let points = regs.get::<GRAS_SU_POINT_MINMAX>();
    PrimitiveState {
        topology,
        provoking: provoking(regs),
        sides: if depth_clip.is_some() { sides(topology, &viewport) } else { Rect::ALL },
        viewport,
        others: Vec::new(),
        depth_clip,
        cull: [mode.CULL_FRONT().then_some(Face::Front), mode.CULL_BACK().then_some(Face::Back)],
        front_winding: if mode.FRONT_CW() { Winding::Clockwise } else { Winding::CounterClockwise },
        polygon_mode: polygon_modes(regs),
        offset: mode.POLY_OFFSET().then(|| polygon_offset(regs)),
        linear: regs.get::<GRAS_CNTL>().IJ_LINEAR().then_some(LinearWeights),
        line_width: mode.LINEHALFWIDTH() * 2.0,
        point_size: regs.get::<GRAS_SU_POINT_SIZE>().VALUE(),
        point_range: [points.MIN(), points.MAX()],
    }
}

fn viewport(regs: &RegFile) -> Viewport {
    Viewport {
        scale: [
            regs.get::<GRAS_CL_VPORT_XSCALE_0>().VALUE(),
            regs.get::<GRAS_CL_VPORT_YSCALE_0>().VALUE(),
            regs.get::<GRAS_CL_VPORT_ZSCALE_0>().VALUE(),
        ],
        offset: [
            regs.get::<GRAS_CL_VPORT_XOFFSET_0>().VALUE(),
            regs.get::<GRAS_CL_VPORT_YOFFSET_0>().VALUE(),
            regs.get::<GRAS_CL_VPORT_ZOFFSET_0>().VALUE(),
        ],
    }
}

/// Viewports 1 to 15, among which a geometry shader chooses.
fn other_viewports(regs: &RegFile, primitive: &PrimitiveState) -> Vec<(Viewport, Rect)> {
    let other = |i: u32| Viewport {
        scale: [
            regs.at::<GRAS_CL_VPORT_AFTER_0_XSCALE>(i).VALUE(),
            regs.at::<GRAS_CL_VPORT_AFTER_0_YSCALE>(i).VALUE(),
            regs.at::<GRAS_CL_VPORT_AFTER_0_ZSCALE>(i).VALUE(),
        ],
        offset: [
            regs.at::<GRAS_CL_VPORT_AFTER_0_XOFFSET>(i).VALUE(),
            regs.at::<GRAS_CL_VPORT_AFTER_0_YOFFSET>(i).VALUE(),
            regs.at::<GRAS_CL_VPORT_AFTER_0_ZOFFSET>(i).VALUE(),
        ],
    };
    let with_sides = |viewport: Viewport| {
        let clipped = primitive.depth_clip.is_some();
        let inside = if clipped { sides(primitive.topology, &viewport) } else { Rect::ALL };
        (viewport, inside)
    };
    (0..GRAS_CL_VPORT_AFTER_0_XOFFSET::ROW.len).map(|i| with_sides(other(i))).collect()
}

/// The pixels inside the sides of the view volume: clipping against them is a scissor.
/// Points reach beyond (GL clips their centre; the guard band of the chip is not known).
fn sides(topology: PrimType, viewport: &Viewport) -> Rect {
    if matches!(topology, PrimType::DI_PT_POINTLIST | PrimType::DI_PT_POINTLIST_PSIZE) {
        return Rect::ALL;
    }
    let side = |axis: usize, sign: f32| {
        let at = viewport.offset[axis] + sign * viewport.scale[axis].abs();
        if at.is_finite() { (at - 0.5).ceil().clamp(0.0, 32768.0) as i32 } else { 0 }
    };
    Rect { x0: side(0, -1.0), y0: side(1, -1.0), x1: side(0, 1.0), y1: side(1, 1.0) }
}

fn polygon_modes(regs: &RegFile) -> [PolygonMode; 2] {
    let control = regs.get::<PC_PRIM_VTX_CNTL2>();
    let mode = |draw| match draw {
        PaSuScDraw::PC_DRAW_POINTS => PolygonMode::Points,
        PaSuScDraw::PC_DRAW_LINES => PolygonMode::Lines,
        _ => PolygonMode::Fill,
    };
    match control.POLYMODE_ENABLE() {
        true => [mode(control.POLYMODE_FRONT_PTYPE()), mode(control.POLYMODE_BACK_PTYPE())],
        false => [PolygonMode::Fill; 2],
    }
}

/// The register's unit is half of GL's r (registers.md, section 5).
fn polygon_offset(regs: &RegFile) -> PolygonOffset {
    let units = regs.get::<GRAS_SU_POLY_OFFSET_OFFSET>().VALUE();
    let format = regs.get::<GRAS_DEPTH_CONTROL>().FORMAT();
    let (units, float_depth) = match format {
        DepthFormat::DEPTH4_16 => (units / 65535.0, None),
        DepthFormat::DEPTH4_24_8 => (units / 16_777_215.0, None),
        _ => (units, Some(FloatDepth)),
    };
    PolygonOffset {
        scale: regs.get::<GRAS_SU_POLY_OFFSET_SCALE>().VALUE(),
        units,
        float_depth,
        clamp: regs.get::<GRAS_SU_POLY_OFFSET_CLAMP>().VALUE(),
    }
}
