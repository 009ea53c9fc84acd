//! Tessellation: hull shader, tessellator, domain shader.
//!
//! Source: wiki page A4xx-Tessellation-Shaders and seeds/README.md. The draw's primitives are
//! patches. The hull shader runs once per vertex of the patch that goes out and stores what it
//! makes; of that the hardware reads the factors, from which the [`tessellator`] makes points of
//! the domain, and the domain shader a vertex of each.
//!
//! [`tessellator`]: super::tessellator

use a4emu_decoder::pm4::{PatchType, TESS_MODE_BITS, VGT_DRAW_INITIATOR_A4XX};
use a4emu_decoder::regs::enums::PrimType;
use a4emu_decoder::regs::groups::used;
use a4emu_decoder::regs::hlsq::{HLSQ_DS_CONTROL_REG, HLSQ_HS_CONTROL_REG};
use a4emu_decoder::regs::pc::{PC_HS_PARAM, PC_TESSFACTOR_ADDR};
use a4emu_decoder::regs::vfd::VFD_CONTROL_3;

use crate::fault::Fault;
use crate::gpu::{Gpu, Stage};

use crate::draw::call::DrawCall;
use crate::draw::gras::state::VertexOutputs;
use crate::draw::pc::assembler::Input;
use crate::draw::pc::tessellator::{Connection, Domain, Spacing, Tessellation};
use crate::draw::pipeline::note_reports;
use crate::draw::sp::memory::StageState;
use crate::draw::vertices::Vertices;

/// Vertices of a patch at most, coming in or going out.
const MAX_PATCH: u32 = 32;

/// What tessellation needs of the registers.
pub struct TessellationState {
    /// The hull shader.
    pub hull: StageState,
    /// The domain shader.
    pub domain: StageState,
    /// What the domain shader hands on.
    pub outputs: VertexOutputs,
    /// Registers of u and v.
    pub coordinate: [Option<u32>; 2],
    /// Vertices of a patch that comes in: 1 to 32.
    pub vertices_in: usize,
    /// Vertices of a patch that goes out, a lane each: 1 to 32.
    pub vertices_out: usize,
    /// What the tessellator does.
    pub tessellator: Tessellation,
    /// Where the hull shader leaves the factors.
    pub factors: u32,
    /// Number of the draw.
    pub draw: u32,
}

/// What tessellation makes of a draw.
pub struct Tessellated {
    /// A vertex per point of the domains.
    pub vertices: Vertices,
    /// The primitives; their ids are those of the patches.
    pub input: Input,
}

/// What tessellation cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Cost {
    /// Patches.
    pub patches: u64,
    /// Those of them without points.
    pub culled: u64,
    /// Domain points.
    pub points: u64,
    /// Points, lines and triangles that came out.
    pub primitives: u64,
}

impl TessellationState {
    /// The stages as registers and draw have them; `None` when the draw is not of patches.
    ///
    /// # Errors
    /// A fault when a patch has no size, or a shader is missing.
    pub fn snapshot(gpu: &mut Gpu, call: &DrawCall) -> Result<Option<Self>, Fault> {
        let draw = call.number;
        let Some((vertices_in, domain)) = patches(call)? else { return Ok(None) };
        let (hull_on, domain_on) =
            (gpu.regs.get::<HLSQ_HS_CONTROL_REG>(), gpu.regs.get::<HLSQ_DS_CONTROL_REG>());
        require(draw, "hull", hull_on.ENABLED(), hull_on.INSTRLENGTH())?;
        require(draw, "domain", domain_on.ENABLED(), domain_on.INSTRLENGTH())?;
        let param = gpu.regs.get::<PC_HS_PARAM>();
        if !(1..=MAX_PATCH).contains(&param.VERTICES_OUT()) {
            let count = param.VERTICES_OUT();
            return Err(Fault::Draw(format!("draw {draw}: a hull shader of {count} output vertices")));
        }
        let connection = connection(domain, param);
        let coordinate = gpu.regs.get::<VFD_CONTROL_3>();
        Ok(Some(Self {
            hull: StageState::snapshot(gpu, Stage::HS)?,
            domain: StageState::snapshot(gpu, Stage::DS)?,
            outputs: VertexOutputs::snapshot(&gpu.regs, Stage::DS),
            coordinate: [used(coordinate.REGID_TESSX()), used(coordinate.REGID_TESSY())],
            vertices_in,
            vertices_out: param.VERTICES_OUT() as usize,
            tessellator: Tessellation { domain, spacing: Spacing::new(param.SPACING()), connection },
            factors: gpu.regs.get::<PC_TESSFACTOR_ADDR>().VALUE(),
            draw,
        }))
    }

    /// Vertices of a patch that comes in.
    pub fn vertices_in(&self) -> usize {
        self.vertices_in
    }

    /// Type of the list that comes out.
    pub fn topology(&self) -> PrimType {
        match self.tessellator.primitive_vertices() {
            1 => PrimType::DI_PT_POINTLIST,
            2 => PrimType::DI_PT_LINELIST,
            _ => PrimType::DI_PT_TRILIST,
        }
    }
}

/// Vertices of a patch and its domain, if the draw is of patches.
fn patches(call: &DrawCall) -> Result<Option<(usize, Domain)>, Fault> {
    let initiator = VGT_DRAW_INITIATOR_A4XX(call.initiator);
    let asked = TESS_MODE_BITS(call.initiator).ENABLE() != 0;
    let kind = initiator.PRIM_TYPE();
    let Some((size, domain)) = initiator.patch_vertices().zip(initiator.domain()) else {
        if asked || kind == PrimType::DI_PT_PATCHES0 {
            let what = "which is no patch of 1 to 32 vertices";
            return Err(Fault::Draw(format!(
                "draw {}: tessellation of PRIM_TYPE {:#x}, {what}",
                call.number,
                kind.to_bits()
            )));
        }
        return Ok(None);
    };
    let domain = match domain {
        PatchType::TESS_QUADS => Domain::Quads,
        PatchType::TESS_TRIANGLES => Domain::Triangles,
        PatchType::TESS_ISOLINES => Domain::Isolines,
        PatchType::Other(value) => {
            return Err(Fault::Draw(format!("draw {}: tessellation domain {value}", call.number)));
        }
    };
    Ok(Some((size as usize, domain)))
}

fn require(draw: u32, stage: &str, enabled: bool, instructions: u32) -> Result<(), Fault> {
    match enabled || instructions != 0 {
        true => Ok(()),
        false => Err(Fault::Draw(format!("draw {draw}: patches without a {stage} shader"))),
    }
}

/// For isolines the winding's bit means connected (the wiki page says so).
fn connection(domain: Domain, param: PC_HS_PARAM) -> Connection {
    match (domain, param.CONNECTED(), param.CW()) {
        (Domain::Isolines, _, true) => Connection::CounterClockwise,
        (Domain::Isolines, _, false) | (_, false, _) => Connection::Points,
        (_, true, true) => Connection::Clockwise,
        (_, true, false) => Connection::CounterClockwise,
    }
}

/// Runs the three stages for the patches in `list`.
///
/// # Errors
/// A fault when there are more points than any real draw has.
pub fn run(
    gpu: &mut Gpu,
    state: &TessellationState,
    vertices: &Vertices,
    patches: &Input,
) -> Result<Tessellated, Fault> {
    let reports = crate::draw::hs::shade(state, vertices, patches, &mut gpu.mem);
    let failed = reports.fault.is_some();
    note_reports(gpu, reports);
    let count = if failed { 0 } else { patches.len() };
    let (factors, problems) = crate::draw::pc::factors::read(state, count, &gpu.mem);
    problems.misses.into_iter().for_each(|miss| gpu.report.missing.note(miss));
    problems.faults.into_iter().for_each(|fault| gpu.report.fault(fault, gpu.at));
    let points = crate::draw::ds::points(state, &patches.ids, &factors)?;
    let (shaded, reports) = crate::draw::ds::shade(state, &points, &mut gpu.mem);
    note_reports(gpu, reports);
    let cost = &mut gpu.pipeline.tessellation;
    cost.patches += patches.len() as u64;
    cost.culled += points.culled + (patches.len() - count) as u64;
    cost.points += points.jobs.len() as u64;
    cost.primitives += points.input.len() as u64;
    Ok(Tessellated { vertices: shaded, input: points.input })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit 23 is CW, bit 24 CONNECTED.
    #[test]
    fn the_winding_bit_of_isolines_means_connected() {
        let of = |domain, bits: u32| connection(domain, PC_HS_PARAM(bits << 23));
        for domain in [Domain::Quads, Domain::Triangles] {
            assert_eq!(of(domain, 0b00), Connection::Points);
            assert_eq!(of(domain, 0b01), Connection::Points);
            assert_eq!(of(domain, 0b10), Connection::CounterClockwise);
            assert_eq!(of(domain, 0b11), Connection::Clockwise);
        }
        assert_eq!(of(Domain::Isolines, 0b10), Connection::Points);
        assert_eq!(of(Domain::Isolines, 0b01), Connection::CounterClockwise);
    }
}
