//! State of the render backend: targets, depth, stencil, alpha test, blending, copies.

use a4emu_decoder::adreno::address::Address;

use a4emu_shader::Epilogue;
use a4emu_shader::format::arrangement::Arrangement;
use a4emu_shader::format::{Format, Swap};

use super::alpha_test::AlphaTest;
use super::color::{ColorOutput, ColorTarget};
use super::coverage::SampleControl;
use super::depth_target::DepthTarget;
use super::dither::Dither;
use super::rendered::{Content, Named};
use super::surface::{Location, Surface};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::samples::Samples;

/// Render targets and tests of a draw.
pub struct Targets {
    /// All surfaces. Targets refer to them by index.
    pub surfaces: Vec<Surface>,
    /// Colour targets with write access.
    pub color: Vec<ColorTarget>,
    /// Number of each colour target.
    pub color_index: Vec<u32>,
    /// Format of each colour target, for display.
    pub color_format: Vec<(Named<Format>, Swap)>,
    /// Depth and stencil, when a test is on.
    pub depth: Option<DepthTarget>,
    /// Register of the shader's depth output.
    pub depth_output: Option<u32>,
    /// Alpha test, when it is on.
    pub alpha_test: Option<AlphaTest>,
    /// Register of output 0, for the alpha test, and of output 1, for dual source.
    pub outputs: [ColorOutput; 2],
    /// Pixels that the draw may write.
    pub scissor: Rect,
    /// Size of the frame in pixels.
    pub size: [u32; 2],
    /// Whether tests must run after the shader.
    pub order: TestOrder,
    /// Samples per pixel of the surfaces.
    pub samples: Samples,
    /// Samples to write.
    pub sample_control: SampleControl,
    /// Whether dithering of a target depends on blending ("alpha off").
    pub alpha_off: Option<AlphaOff>,
}

/// Marker: dithering depends on "alpha off".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaOff;

/// Time of the depth and stencil tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOrder {
    /// Before the shader, if the shader allows it.
    Early,
    /// After the shader.
    Late,
}

impl Targets {
    /// Returns whether all surfaces are in tile memory.
    pub fn are_in_tile_memory(&self) -> bool {
        self.surfaces.iter().all(|surface| matches!(surface.location, Location::Gmem(_)))
    }

    /// Returns the cost of a pixel in the bounds of a primitive, in writes of one plain dword colour.
    pub fn pixel_price(&self) -> u64 {
        let colors: u64 = self.color.iter().map(ColorTarget::dwords).sum();
        let depth = u64::from(self.depth.is_some());
        (colors + depth).max(1) * self.samples.count() as u64
    }

    /// Returns the bits of a surface that the draw may change.
    pub fn written_bits(&self, surface: usize) -> u32 {
        let depth = self.depth.iter().flat_map(DepthTarget::written);
        let color = self.color.iter().map(|target| (target.surface, u32::MAX));
        depth.chain(color).filter(|(of, _)| *of == surface).fold(0, |all, (_, bits)| all | bits)
    }

    /// Returns the epilogue for compiled code, with its surface, if there is exactly one colour target. Pixels
    /// can be dropped between shader and epilogue: by the alpha of the colour, or by a depth that is not the
    /// shader's.
    pub fn epilogue(&self) -> Option<(Epilogue, usize)> {
        let Self { alpha_test, color, outputs, depth_output, .. } = self;
        let [target] = &color[..] else { return None };
        let is_known = alpha_test.is_none() || outputs[0] == target.output;
        if !is_known || depth_output.is_some() {
            return None;
        }
        Some((Epilogue { keeps_alpha: alpha_test.is_some(), ..target.epilogue()? }, target.surface))
    }
}

/// A copy of tile memory to memory in the resolve pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolveState {
    /// Screen position of the first pixel in tile memory.
    pub origin: [i32; 2],
    /// Offset of the first pixel in tile memory.
    pub gmem_base: u32,
    /// Bytes from row to row in tile memory.
    pub gmem_pitch: u32,
    /// Address for the first pixel of the screen in memory.
    pub base: Address,
    /// Bytes from row to row in memory.
    pub pitch: u32,
    /// Bytes of a pixel in memory.
    pub cpp: u32,
    /// Samples of a pixel in tile memory that become one in memory.
    pub samples: u32,
    /// Format of a pixel.
    pub format: Named<Format>,
    /// Order of its components.
    pub swap: Swap,
    /// Arrangement of the pixels in memory.
    pub arrangement: Arrangement,
    /// Dithering of averaged samples.
    pub dither: Option<Dither>,
    /// Content of the source.
    pub content: Content,
    /// Size of the whole surface in pixels.
    pub size: [u32; 2],
}
