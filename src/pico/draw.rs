//! PicoGpu's pipeline on the A4xx's stages: vertex shader, perspective division,
//! rasteriser, interpolation, fragment shader, depth test, framebuffer.
//!
//! Positions are in pixels after the division by w (there is no viewport), y down.
//! Unlike PicoGpu, which tests and interpolates at whole numbers, pixels have their
//! centre at .5 and attributes are interpolated with perspective by w: its
//! documents ask for pixel centres and leave the weights open.
use std::path::{Path, PathBuf};

use a4emu_decoder::isa::pico::{Io, LANES};
use a4emu_decoder::regs::enums::{
    ColorFmt, ColorSwap, CompareFunc, DepthFormat, IntpMode, PrimType, ReplMode,
};

use super::cut_status;
use super::scene::{Loaded, Reach, Scene};
use super::unit::Unit;
use crate::budget::{Budget, Work};
use crate::draw::gras::clip::{Sides, Viewport};
use crate::draw::gras::quad::{QUADS, Quad, covered_quads, halves, quad_order};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::samples::Samples;
use crate::draw::gras::setup::{
    self, Face, PolygonMode, PrimitiveState, ScreenPrimitive, WeightBase, Winding,
};
use crate::draw::pc::assembler::Provoking;
use crate::draw::rb::color::{ColorOutput, ColorTarget, Precision};
use crate::draw::rb::depth::{DepthStencil, DepthWrite, Words};
use crate::draw::rb::depth_target::{DepthLayout, DepthTarget};
use crate::draw::rb::surface::PixelRows;
use crate::draw::stop::MAX_HELD;
use crate::draw::vertices::{HEADER, Vertices};
use crate::draw::vpc::interpolate::{Source, WarpQuads, Weights};
use crate::draw::vpc::planes::Interpolated;
use crate::draw::vpc::state::MAX_VARYINGS;
use crate::format::{Codec, Format, Transfer, float_to_unorm};
use crate::options::Shared;
use crate::out_file::{Inputs, OutFile};
use crate::picture::Kind;
use crate::shader::{Lanes, Number, Warp};
use crate::status::Status;

/// `pico draw`: renders the scene at `path` to `png`.
///
/// # Errors
/// A scene or shader that cannot be used, or I/O.
pub fn draw(
    path: &Path,
    png: &Path,
    include: &[PathBuf],
    mut budget: Budget,
    shared: &Shared,
) -> anyhow::Result<Status> {
    let mut reach = Reach::new(path, include, &shared.inputs);
    let scene = Scene::read(path, &shared.inputs)?;
    let draws: Vec<_> = scene.draw.iter().map(|draw| draw.load(&mut reach)).collect::<Result<_, _>>()?;
    let mut framebuffer = Framebuffer::new(&scene);
    for (draw, loaded) in scene.draw.iter().zip(&draws) {
        let func = if draw.depth { CompareFunc::FUNC_LESS } else { CompareFunc::FUNC_ALWAYS };
        framebuffer.draw(loaded, func, MAX_HELD, &mut budget);
    }
    Ok(cut_status(&budget, shared).and(framebuffer.write(png, &shared.inputs)))
}

/// Pixels of work that one here is: each is tested and written on its own. Measured.
const PIXEL: u64 = 8;

/// Colour and depth of every pixel.
struct Framebuffer {
    width: u32,
    height: u32,
    color: Vec<u8>,
    depth: Vec<u8>,
}

/// RGBA8, red first.
fn rgba8() -> Codec {
    let format = Format::color(ColorFmt::RB4_R8G8B8A8_UNORM);
    format.and_then(|format| format.codec(ColorSwap::WZYX, Transfer::Linear)).expect("a format of the table")
}

/// The state of a draw that PicoGpu has no say in.
fn set_up(width: u32, height: u32) -> PrimitiveState {
    PrimitiveState {
        topology: PrimType::DI_PT_TRILIST,
        provoking: Provoking::First,
        viewport: Viewport { scale: [1.0; 3], offset: [0.0; 3] },
        depth_clip: None,
        cull: [None, None],
        front_winding: Winding::Clockwise,
        polygon_mode: [PolygonMode::Fill; 2],
        offset: None,
        linear: None,
        weight_base: WeightBase::Primitive,
        samples: Samples::ONE,
        line_width: 1.0,
        point_size: 1.0,
        point_range: [1.0; 2],
        sides: Rect { x0: 0, y0: 0, x1: width as i32, y1: height as i32 },
        cut: Sides::Pixels,
        others: Vec::new(),
    }
}

/// Runs the vertex shader; rows of position, point size and attributes.
fn shade_vertices(loaded: &Loaded, budget: &mut Budget) -> Vertices {
    let unit = Unit::new(&loaded.vertex);
    let (outputs, _) = unit.run(&loaded.vertex_uniforms, &loaded.vertices, budget);
    let stride = unit.output_dwords();
    let mut vertices = Vertices::new(stride - 4, outputs.len() / stride);
    let row = vertices.stride();
    for (row, vertex) in vertices.rows_mut().chunks_exact_mut(row).zip(outputs.chunks_exact(stride)) {
        row[..4].copy_from_slice(&vertex[..4]);
        row[HEADER..].copy_from_slice(&vertex[4..]);
    }
    vertices
}

impl Framebuffer {
    fn new(scene: &Scene) -> Self {
        let pixels = scene.width as usize * scene.height as usize;
        let color = scene.clear.map(|value| float_to_unorm(value, 8) as u8);
        Self {
            width: scene.width,
            height: scene.height,
            color: color.repeat(pixels),
            depth: scene.clear_depth.to_le_bytes().repeat(pixels),
        }
    }

    fn write(&self, path: &Path, inputs: &Inputs) -> anyhow::Result<()> {
        let mut out = OutFile::create(path, inputs)?;
        let mut writer = Kind::Rgba8.encoder(&mut out, [self.width, self.height]).write_header()?;
        writer.write_image_data(&self.color)?;
        writer.finish()?;
        out.finish()
    }

    /// As many triangles, in order, as `budget` has work for, and as there is `room` for, in bytes.
    fn draw(&mut self, loaded: &Loaded, func: CompareFunc, room: u64, budget: &mut Budget) {
        let mut vertices = shade_vertices(loaded, budget);
        let whole = vertices.len() as u32 / 3 * 3;
        let list: Vec<u32> = (0..whole).collect();
        let state = set_up(self.width, self.height);
        let assembled = setup::assemble_in(&state, &mut vertices, &list, &[], room);
        let assembled = assembled.expect("triangles can be assembled");
        if assembled.left_out > 0 {
            budget.exhaust(Work::Vertex);
        }
        let primitives = assembled.primitives;
        let mut fragments = Fragments::new(loaded, &vertices, &primitives, func);
        let pitch = self.width * 4;
        let mut surfaces = [
            PixelRows::new(&mut self.color, pitch, 4, [0, 0]),
            PixelRows::new(&mut self.depth, pitch, 4, [0, 0]),
        ];
        for (n, primitive) in primitives.iter().enumerate() {
            let pixels = primitive.shape.bounds.intersect(state.sides).area();
            if !afford(pixels, fragments.unit.instructions, budget) {
                return;
            }
            primitive
                .shape
                .cover(state.sides, |x, y, mask| fragments.block(n as u32, [x, y], mask, &mut surfaces));
            // Pixels of later triangles must find the depth of this one.
            fragments.flush(&mut surfaces);
        }
    }
}

/// Takes the work of a triangle that touches up to `pixels`, with a shader of so many `instructions`; says
/// whether it may be done.
fn afford(pixels: u64, instructions: u64, budget: &mut Budget) -> bool {
    let warps = pixels.div_ceil(LANES as u64);
    let works =
        [(Work::Pixel, PIXEL * pixels), (Work::Warp, warps), (Work::WarpInstruction, warps * instructions)];
    works.into_iter().all(|(work, count)| budget.take(work, count))
}

/// The fragment shader and the quads that wait for it.
struct Fragments<'a> {
    unit: Unit,
    warp: Warp,
    inputs: &'a [Io],
    vertices: &'a Vertices,
    primitives: &'a [ScreenPrimitive],
    color: ColorTarget,
    depth: DepthTarget,
    queue: Vec<Quad>,
}

impl<'a> Fragments<'a> {
    fn new(
        loaded: &'a Loaded,
        vertices: &'a Vertices,
        primitives: &'a [ScreenPrimitive],
        func: CompareFunc,
    ) -> Self {
        let regid = u32::from(loaded.fragment.outputs[0].register) * 4;
        let codec = rgba8();
        let unit = Unit::new(&loaded.fragment);
        let write = if func == CompareFunc::FUNC_ALWAYS { DepthWrite::Keep } else { DepthWrite::Store };
        Self {
            warp: unit.warp(&loaded.fragment_uniforms),
            unit,
            inputs: &loaded.fragment.inputs,
            vertices,
            primitives,
            color: ColorTarget {
                surface: 0,
                output: ColorOutput { regid, precision: Precision::Full, number: Number::Float },
                codec,
                blend: None,
                rop: None,
                writable: codec.bits(0xf),
                unorm8: Some([0, 1, 2, 3]),
                dither: None,
            },
            depth: DepthTarget {
                state: DepthStencil {
                    format: DepthFormat::DEPTH4_32,
                    depth: Some((func, write)),
                    limits: [f32::MIN, f32::MAX],
                    stencil: None,
                },
                layout: DepthLayout::Separate { depth: Some(1), stencil: None },
            },
            queue: Vec::with_capacity(QUADS),
        }
    }

    /// The quads of an 8x8 block whose first pixel is `first`.
    fn block(&mut self, primitive: u32, first: [i32; 2], mask: u64, surfaces: &mut [PixelRows<'_>; 2]) {
        for (at, mask) in halves(first, mask) {
            for quad in covered_quads(primitive, at, quad_order(mask)) {
                self.queue.push(quad);
                if self.queue.len() == QUADS {
                    self.flush(surfaces);
                }
            }
        }
    }

    /// Tests, shades and writes what waits.
    fn flush(&mut self, surfaces: &mut [PixelRows<'_>; 2]) {
        let quads = std::mem::take(&mut self.queue);
        if quads.is_empty() {
            return;
        }
        let source = Source {
            primitives: self.primitives,
            vertices: self.vertices,
            interpolation: &[IntpMode::SMOOTH; MAX_VARYINGS],
            replacement: &[ReplMode::Other(0); MAX_VARYINGS],
            interpolated: Interpolated::ALL,
        };
        let pieces = WarpQuads::new(&quads, &source);
        let covered = quads.iter().enumerate().fold(0, |mask, (q, quad)| mask | quad.mask << (4 * q));
        let weights = pieces.weights();
        let passed = self.depth.test(surfaces, &pieces.quads, Face::Front, &weights.z, covered);
        let colors = self.shade(&pieces, &weights);
        let colors = colors.each_ref();
        self.color.write(&mut surfaces[0], &pieces.quads, passed, &colors, &colors);
    }

    /// Position and attributes of every pixel through the fragment shader.
    fn shade(&mut self, pieces: &WarpQuads<'_>, weights: &Weights) -> [Words; 4] {
        let [i, j] = weights.perspective.map(Lanes::from);
        let w = weights.inv_w.map(|inv_w| 1.0 / inv_w);
        let mut inputs = vec![Lanes::from(weights.x), weights.y.into(), weights.z.into(), w.into()];
        let attributes: usize = self.inputs[1..].iter().map(|io| io.components).sum();
        for location in 0..attributes {
            let mut value = Lanes::ZERO;
            pieces.varying(location, &i, &j, &mut value);
            inputs.push(value);
        }
        self.unit.run_lanes(&mut self.warp, &inputs).map(|lanes| lanes.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_without_room_are_not_lost_silently() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/captures/pico"));
        let path = folder.join("triangle.toml");
        let scene = Scene::read(&path, &Inputs::default()).unwrap();
        let loaded = scene.draw[0].load(&mut Reach::new(&path, &[], &Inputs::default())).unwrap();
        for (room, cut) in [(MAX_HELD, None), (1, Some(Work::Vertex))] {
            let mut budget = Budget::default();
            Framebuffer::new(&scene).draw(&loaded, CompareFunc::FUNC_ALWAYS, room, &mut budget);
            assert_eq!(budget.cut(), cut);
        }
    }

    #[test]
    fn a_triangle_costs_its_pixels_and_its_warps() {
        let units = |work: Work, count: u64| work.price() * count;
        let cost =
            units(Work::Pixel, PIXEL * 33) + units(Work::Warp, 2) + units(Work::WarpInstruction, 2 * 5);
        let mut budget = Budget::new(cost);
        assert!(afford(33, 5, &mut budget));
        assert_eq!(budget.spent(), cost);
        assert!(!afford(1, 1, &mut budget));
    }
}
