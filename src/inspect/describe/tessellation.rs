//! The tessellation of a draw.

use serde::Serialize;

use super::draw::Draw;
use super::name::Address;
use a4emu_gpu::a4xx::pc::{patch_state, patches};
use a4emu_gpu::cp::Call;
use a4emu_gpu::draw::call::DrawCall;
use a4emu_gpu::draw::pc::tessellator::{Connection, Domain, Factors, Spacing};
use a4emu_gpu::draw::pipeline::look::{MAX_FACTORS, factors_of};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::regfile::RegFile;

/// The tessellation of a draw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tessellation {
    /// `quads`, `triangles` or `isolines`.
    pub domain: &'static str,
    /// `equal`, `fractional odd` or `fractional even`.
    pub spacing: &'static str,
    /// `points`, `lines`, `triangles cw` or `triangles ccw`.
    pub output: &'static str,
    /// Vertices of an input patch.
    pub vertices_in: usize,
    /// Vertices of an output patch.
    pub vertices_out: usize,
    /// Where the hull shader stores the factors.
    pub address: Address,
    /// The factors of the first patches, as the hull shader makes them.
    pub factors: Vec<PatchFactors>,
}

/// The factors of a patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatchFactors {
    /// Factors of the edges.
    pub outer: Vec<f32>,
    /// Factors of the inside.
    pub inner: Vec<f32>,
}

impl Tessellation {
    /// The tessellation of `call`, if it has patches. It has no factors yet.
    pub(super) fn of(regs: &RegFile, call: &DrawCall) -> Option<Self> {
        let found = patches(call).ok()??;
        let state = patch_state(regs, call.number, found).ok()?;
        let domain = state.tessellator.domain;
        Some(Self {
            domain: match domain {
                Domain::Quads => "quads",
                Domain::Triangles => "triangles",
                Domain::Isolines => "isolines",
            },
            spacing: match state.tessellator.spacing {
                Spacing::Equal => "equal",
                Spacing::FractionalOdd => "fractional odd",
                Spacing::FractionalEven => "fractional even",
            },
            output: match (state.tessellator.connection, domain) {
                (Connection::Points, _) => "points",
                (_, Domain::Isolines) => "lines",
                (Connection::Clockwise, _) => "triangles cw",
                (Connection::CounterClockwise, _) => "triangles ccw",
            },
            vertices_in: state.vertices_in,
            vertices_out: state.vertices_out,
            address: Address::of(state.factors),
            factors: Vec::new(),
        })
    }
}

impl PatchFactors {
    fn new(domain: Domain, Factors { outer, inner }: &Factors) -> Self {
        let [outers, inners] = domain.factors();
        Self { outer: outer[..outers].to_vec(), inner: inner[..inners].to_vec() }
    }
}

impl Draw {
    /// Adds the factors of the first patches, if the draw has patches. Its vertex and hull shader run for that,
    /// and what they store is discarded.
    pub fn add_factors(&mut self, gpu: &mut Gpu, call: &Call) {
        let (Some(tessellation), Call::Draw(call)) = (&mut self.tessellation, call) else { return };
        // Troubles of this run are dropped: they occur again when the draw runs.
        let report = std::mem::take(&mut gpu.report);
        let found = factors_of(&mut gpu.draws(), call);
        gpu.report = report;
        let Ok(Some((domain, all))) = found else { return };
        tessellation.factors =
            all.iter().take(MAX_FACTORS).map(|factors| PatchFactors::new(domain, factors)).collect();
    }
}
