//! PicoGpu's pipeline: vertex shader, division by w, rasteriser, fragment shader, depth test, framebuffer.
//! Every step follows PicoGpu's gpu/blocks, in its order of operations. docs/hardware/picogpu.md, section
//! "The pipeline", lists the files.
use std::io::Write;
use std::path::{Path, PathBuf};

use a4emu_decoder::isa::pico::LANES;

use super::cut_status;
use super::raster::{Area, Meets, Triangle};
use super::scene::{Loaded, Reach, Scene};
use super::unit::Unit;
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::picture::PixelType;
use a4emu_shader::format::float_to_unorm;
use a4emu_shader::{Lanes, Warp};
use a4emu_support::options::Shared;
use a4emu_support::out_file::{Inputs, OutFile};
use a4emu_support::status::{Failure, Status, WithErrors};

/// `pico draw`: renders the scene at `path` to `png`.
///
/// # Errors
/// The call fails if a scene or shader cannot be used, or on I/O errors.
pub fn draw(
    path: &Path,
    png: &Path,
    include: &[PathBuf],
    mut budget: Budget,
    shared: &Shared,
) -> anyhow::Result<Status> {
    let (scene, draws) = load(path, include, shared)?;
    let mut framebuffer = Framebuffer::new(&scene);
    let mut drawn = draws.iter().enumerate().map(|(n, loaded)| {
        let stopped = framebuffer.draw(loaded, &mut budget);
        stopped.map_err(|why| format!("{}: draw {n}, {why}", path.display()))
    });
    let stopped = drawn.find_map(Result::err);
    let status = cut_status(&budget, shared).and(framebuffer.write(png, &shared.inputs));
    let Some(message) = stopped else { return Ok(status) };
    Ok(status.and(Err(Failure { status: Status::Damaged, message })))
}

/// The scene at `path`, and its draws with their shaders.
///
/// # Errors
/// The call fails if a scene or shader cannot be used, or on I/O errors.
pub fn load(path: &Path, include: &[PathBuf], shared: &Shared) -> anyhow::Result<(Scene, Vec<Loaded>)> {
    let mut reach = Reach::new(path, include, shared);
    let scene = Scene::read(path, &shared.inputs)?;
    let draws = scene.draw.iter().map(|draw| draw.load(&mut reach)).collect::<Result<_, _>>()?;
    Ok((scene, draws))
}

/// Cost of testing a square besides its pixels, in pixels of work ([`Work::Pixel`]). Estimated from its
/// operations.
const SQUARE: u64 = 8;
/// Cost of a fragment besides its shader, for depth test and write, in pixels of work. Estimated in the same
/// way.
const FRAGMENT: u64 = 2;

/// Colour and depth of every pixel.
pub struct Framebuffer {
    width: u32,
    height: u32,
    /// RGBA8, red first.
    pub color: Vec<[u8; 4]>,
    depth: Vec<f32>,
    /// Number of fragments.
    pub fragments: u64,
    /// The pixels whose fragments are noted.
    pub asked: Vec<[u32; 2]>,
    /// The fragments of these pixels, in order, at most [`MOST_NOTED`].
    pub noted: Vec<Noted>,
}

/// The most fragments that are noted.
pub const MOST_NOTED: usize = 256;

/// A fragment of an asked pixel.
#[derive(Clone, Debug)]
pub struct Noted {
    /// The triangle of the draw, from 0.
    pub triangle: usize,
    /// The pixels of its warp, lane by lane.
    pub pixels: Vec<[u32; 2]>,
    /// Its lane.
    pub lane: usize,
    /// Inputs that the warp shares: x, y and z, and the attributes, of the corners.
    pub corners: Vec<u32>,
    /// Colour and depth that the shader put out.
    pub output: [f32; 5],
    /// Colour and depth of the pixel before.
    pub before: ([u8; 4], f32),
    /// The colour after, if the fragment passed the depth test.
    pub after: Option<[u8; 4]>,
}

/// The reason why a draw stops early, apart from its budget.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The vertex has w = 0.
    #[error("vertex {0}: w is 0, at which PicoGpu stops")]
    ZeroW(usize),
}

/// A corner of a triangle for the rasteriser: x, y and z divided by w, then the attributes.
fn corner(vertex: &[u32]) -> Option<Vec<f32>> {
    let mut values: Vec<f32> = vertex.iter().map(|bits| f32::from_bits(*bits)).collect();
    let w = values.remove(3);
    values[..3].iter_mut().for_each(|value| *value /= w);
    (w != 0.0).then_some(values)
}

impl Framebuffer {
    /// The framebuffer of `scene` before its first draw.
    pub fn new(scene: &Scene) -> Self {
        let pixels = scene.width as usize * scene.height as usize;
        Self {
            width: scene.width,
            height: scene.height,
            color: vec![scene.clear.map(|value| float_to_unorm(value, 8) as u8); pixels],
            depth: vec![scene.clear_depth; pixels],
            fragments: 0,
            asked: Vec::new(),
            noted: Vec::new(),
        }
    }

    fn write(&self, path: &Path, inputs: &Inputs) -> anyhow::Result<()> {
        let mut out = OutFile::create(path, inputs)?;
        self.write_png(&mut out)?;
        out.finish()
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// The call fails if it cannot be written.
    pub fn write_png(&self, out: impl Write) -> anyhow::Result<()> {
        let mut writer = PixelType::Rgba8.encoder(out, [self.width, self.height]).write_header()?;
        writer.write_image_data(self.color.as_flattened())?;
        Ok(writer.finish()?)
    }

    /// Draws triangles in order, as many as `budget` covers.
    ///
    /// # Errors
    /// The call fails at a vertex at which PicoGpu stops.
    pub fn draw(&mut self, loaded: &Loaded, budget: &mut Budget) -> Result<(), Stop> {
        let unit = Unit::in_a_draw(&loaded.vertex);
        let (vertices, _) = unit.run(&loaded.vertex_uniforms, &loaded.vertices, budget);
        let vertices: Vec<_> = vertices.chunks_exact(unit.output_dwords()).collect();
        let mut fragments = Fragments::new(loaded);
        for (n, triangle) in vertices.as_chunks::<3>().0.iter().enumerate() {
            let corners = triangle.map(corner);
            if let Some(at) = corners.iter().position(Option::is_none) {
                return Err(Stop::ZeroW(3 * n + at));
            }
            let corners = corners.map(Option::unwrap_or_default);
            fragments.triangle = n;
            if !self.triangle(&mut fragments, &corners, budget) {
                break;
            }
        }
        Ok(())
    }

    /// Draws one triangle. Returns whether `budget` covered the work.
    fn triangle(
        &mut self,
        fragments: &mut Fragments<'_>,
        corners: &[Vec<f32>; 3],
        budget: &mut Budget,
    ) -> bool {
        let triangle = Triangle::new(corners.each_ref().map(|corner| [corner[0], corner[1]]));
        fragments.begin(corners);
        let target = Area { x0: 0, y0: 0, x1: self.width, y1: self.height };
        let mut afforded = true;
        triangle.cover(target, |area, meets| {
            let tested = if meets == Meets::Some { area.count() } else { 0 };
            afforded = budget.take(Work::Pixel, SQUARE + tested);
            if meets != Meets::None {
                let mut hits = area.pixels().filter(|pixel| meets == Meets::All || triangle.hits(*pixel));
                afforded &= hits.all(|pixel| fragments.add(pixel, self, budget));
            }
            afforded
        });
        afforded && fragments.flush(self, budget)
    }
}

/// The fragment shader and the pixels that wait for it.
struct Fragments<'a> {
    loaded: &'a Loaded,
    unit: Unit,
    warp: Warp,
    /// x, y and z, and the attributes, of the triangle's corners.
    corners: Vec<u32>,
    /// Number of the triangle, from 0.
    triangle: usize,
    waiting: Vec<[u32; 2]>,
}

impl<'a> Fragments<'a> {
    fn new(loaded: &'a Loaded) -> Self {
        let unit = Unit::in_a_draw(&loaded.fragment);
        let warp = unit.warp(&loaded.fragment_uniforms);
        Self { loaded, unit, warp, corners: Vec::new(), triangle: 0, waiting: Vec::with_capacity(LANES) }
    }

    /// Begins the triangle with these corners.
    fn begin(&mut self, corners: &[Vec<f32>; 3]) {
        self.corners.clear();
        self.corners.extend(corners.iter().flatten().map(|value| value.to_bits()));
        self.waiting.clear();
    }

    /// Adds a waiting pixel. A full warp runs at once. Returns whether `budget` covered that.
    fn add(&mut self, pixel: [u32; 2], target: &mut Framebuffer, budget: &mut Budget) -> bool {
        self.waiting.push(pixel);
        self.waiting.len() < LANES || self.flush(target, budget)
    }

    /// Shades, tests and writes the waiting pixels. Returns whether `budget` covered the work.
    fn flush(&mut self, target: &mut Framebuffer, budget: &mut Budget) -> bool {
        if self.waiting.is_empty() {
            return true;
        }
        let pixels = std::mem::take(&mut self.waiting);
        let works = [
            (Work::Warp, 1),
            (Work::WarpInstruction, self.unit.instructions),
            (Work::Pixel, FRAGMENT * pixels.len() as u64),
        ];
        let afforded = works.into_iter().all(|(work, count)| budget.take(work, count));
        if afforded {
            self.shade(&pixels, target);
        }
        self.waiting = pixels;
        self.waiting.clear();
        afforded
    }

    fn shade(&mut self, pixels: &[[u32; 2]], target: &mut Framebuffer) {
        let mut position = [Lanes::ZERO; 2];
        for (lane, pixel) in pixels.iter().enumerate() {
            position.iter_mut().zip(pixel).for_each(|(row, value)| row[lane] = (*value as f32).to_bits());
        }
        let outputs: [Lanes; 5] = self.unit.run_lanes(&mut self.warp, &self.corners, &position);
        let outputs = outputs.map(|row| row.floats());
        for (lane, [x, y]) in pixels.iter().enumerate() {
            let [r, g, b, a, z] = outputs.each_ref().map(|row| row[lane]);
            let at = *y as usize * target.width as usize + *x as usize;
            let before = (target.color[at], target.depth[at]);
            let passes = !(self.loaded.depth && z >= before.1);
            if passes {
                if self.loaded.depth {
                    target.depth[at] = z;
                }
                target.color[at] = [r, g, b, a].map(channel);
            }
            if target.asked.contains(&[*x, *y]) && target.noted.len() < MOST_NOTED {
                target.noted.push(Noted {
                    triangle: self.triangle,
                    pixels: pixels.to_vec(),
                    lane,
                    corners: self.corners.clone(),
                    output: [r, g, b, a, z],
                    before,
                    after: passes.then(|| target.color[at]),
                });
            }
        }
        target.fragments += pixels.len() as u64;
    }
}

/// A colour component in 8 bits, truncated and not rounded (`packRgbaToUint` in
/// gpu/blocks/fragment_shader.cpp). NaN gives 0, like the conversion of an x86.
fn channel(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_cut_off_to_8_bits() {
        let cases = [
            (0.5, 127),
            (0.999, 254),
            (1.0, 255),
            (7.0, 255),
            (-1.0, 0),
            (f32::NAN, 0),
            (f32::INFINITY, 255),
        ];
        for (value, expected) in cases {
            assert_eq!(channel(value), expected, "{value}");
        }
    }

    #[test]
    fn a_triangle_ends_where_its_budget_does() {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/captures/pico"));
        let path = folder.join("triangle.toml");
        let scene = Scene::read(&path, &Inputs::default()).unwrap();
        let loaded = scene.draw[0].load(&mut Reach::new(&path, &[], &Shared::default())).unwrap();
        let drawn = |budget: &mut Budget| {
            let mut framebuffer = Framebuffer::new(&scene);
            assert_eq!(framebuffer.draw(&loaded, budget), Ok(()));
            let background = framebuffer.color[0];
            framebuffer.color.iter().filter(|color| **color != background).count()
        };
        let mut whole = Budget::default();
        let pixels = drawn(&mut whole);
        assert_eq!((pixels, whole.cut()), (20_493, None));
        let mut half = Budget::new(whole.spent() / 2);
        assert!((1..pixels).contains(&drawn(&mut half)));
        assert!(half.cut().is_some());
        let mut exact = Budget::new(whole.spent());
        assert_eq!((drawn(&mut exact), exact.cut()), (pixels, None));
    }
}
