//! State of the fragment shader's inputs.

use std::sync::Arc;

use crate::draw::sp::state::StageState;
use crate::draw::vpc::planes::Interpolated;
use crate::draw::vpc::state::{Interpolation, MAX_VARYINGS, Replacement};

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
    pub interpolation: [Interpolation; MAX_VARYINGS],
    /// Replacement in point sprites, by location.
    pub replacement: [Replacement; MAX_VARYINGS],
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
