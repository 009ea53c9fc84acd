//! The registers of the fragment shader's inputs.

use std::sync::Arc;

use a4emu_decoder::a4xx::enums::*;
use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::hlsq::*;
use a4emu_decoder::a4xx::regs::vpc::*;

use crate::draw::sp::state::StageState;
use crate::draw::vpc::planes::Interpolated;
use crate::draw::vpc::state::MAX_VARYINGS;
use crate::regfile::RegFile;

/// Type of barycentrics in a register pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barycentrics {
    /// Perspective-correct.
    Perspective,
    /// Linear on the screen.
    Linear,
}

/// Position of barycentrics in a pixel with several samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// At its centre, or at a covered sample if not all are.
    Centroid,
    /// At the sample that is shaded.
    Sample,
}

/// How often the shader runs for a pixel of several samples (guess `sample-shading`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Once.
    Pixel,
    /// For each covered sample.
    Sample,
}

/// Fragment shader and its inputs.
#[derive(Clone)]
pub struct FragmentState {
    /// The shader.
    pub stage: Arc<StageState>,
    /// Inputs of the shader.
    pub inputs: Arc<FragmentInputs>,
}

/// Fragment inputs, and how varyings are interpolated.
pub struct FragmentInputs {
    /// Registers of barycentrics.
    pub ij: Vec<(u32, Barycentrics)>,
    /// Barycentrics at other places than pixel centres, also present in `ij`.
    pub beside: Vec<(u32, Barycentrics, Spot)>,
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
    /// Interpolation mode, by location.
    pub interpolation: [IntpMode; MAX_VARYINGS],
    /// Replacement in point sprites, by location.
    pub replacement: [ReplMode; MAX_VARYINGS],
    /// Which locations are interpolated.
    pub interpolated: Interpolated,
}

impl FragmentInputs {
    /// Returns the register of perspective i and j, if the fragment has no other input.
    pub fn perspective_alone(&self) -> Option<u32> {
        let rest = [self.xy, self.zw, self.face, self.sample_id, self.sample_mask];
        match *self.ij.as_slice() {
            [(id, Barycentrics::Perspective)] if rest == [None; 5] => Some(id),
            _ => None,
        }
    }

    /// Takes a snapshot of the registers.
    pub fn snapshot(regs: &RegFile) -> Self {
        let (c1, c2) = (regs.get::<HLSQ_CONTROL_1_REG>(), regs.get::<HLSQ_CONTROL_2_REG>());
        let (c3, c4) = (regs.get::<HLSQ_CONTROL_3_REG>(), regs.get::<HLSQ_CONTROL_4_REG>());
        let beside = [
            (c3.IJ_PERSP_CENTROID(), Barycentrics::Perspective, Spot::Centroid),
            (c3.IJ_LINEAR_CENTROID(), Barycentrics::Linear, Spot::Centroid),
            (c4.IJ_PERSP_SAMPLE(), Barycentrics::Perspective, Spot::Sample),
            (c4.IJ_LINEAR_SAMPLE(), Barycentrics::Linear, Spot::Sample),
        ];
        let ij =
            [(c3.IJ_PERSP_PIXEL(), Barycentrics::Perspective), (c3.IJ_LINEAR_PIXEL(), Barycentrics::Linear)];
        let ij = ij.into_iter().chain(beside.map(|(id, weights, _)| (id, weights)));
        let interpolation = by_location(|i| regs.at::<VPC_VARYING_INTERP_MODE>(i).modes());
        let replacement = by_location(|i| regs.at::<VPC_VARYING_PS_REPL_MODE>(i).modes());
        Self {
            ij: ij.filter(|(id, _)| used(*id).is_some()).collect(),
            beside: beside.into_iter().filter(|(id, ..)| used(*id).is_some()).collect(),
            xy: used(c1.COORDREGID()),
            zw: used(c1.ZWCOORDREGID()),
            face: used(c2.FACEREGID()),
            sample_id: used(c2.SAMPLEID_REGID()),
            sample_mask: used(c2.SAMPLEMASK_REGID()),
            interpolated: Interpolated::of(&interpolation, &replacement),
            interpolation,
            replacement,
        }
    }
}

/// Combines registers of sixteen locations each into one list by location.
fn by_location<T: Copy>(register: impl Fn(u32) -> [T; 16]) -> [T; MAX_VARYINGS] {
    let registers: [[T; 16]; MAX_VARYINGS / 16] = std::array::from_fn(|i| register(i as u32));
    std::array::from_fn(|location| registers[location / 16][location % 16])
}

impl FragmentInputs {
    /// Returns how often the shader runs. It runs per sample if it uses the sample number or barycentrics at
    /// the sample.
    pub fn rate(&self) -> Rate {
        let of_sample = self.beside.iter().any(|(_, _, spot)| *spot == Spot::Sample);
        if of_sample || self.sample_id.is_some() { Rate::Sample } else { Rate::Pixel }
    }
}

impl FragmentState {
    /// Returns whether every pixel gets the same outputs: no inputs besides barycentrics, and no effects
    /// besides registers. The caller must check that barycentrics have no effect.
    pub fn is_uniform(&self) -> bool {
        let FragmentInputs { xy, zw, face, sample_id, sample_mask, .. } = &*self.inputs;
        [xy, zw, face, sample_id, sample_mask].iter().all(|id| id.is_none()) && self.stage.is_uniform()
    }
}
