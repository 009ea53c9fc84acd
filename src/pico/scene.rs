//! A scene for `pico draw` (TOML): PicoGpu's draw state and memory.
use std::path::{Path, PathBuf};

use a4emu_decoder::isa::pico::{Io, Kind, Shader};
use anyhow::{Context, bail};
use serde::Deserialize;

use super::programs::shader_of;
use a4emu_support::folders::{Folders, parent, read_text, read_toml};
use a4emu_support::options::Shared;
use a4emu_support::out_file::Inputs;

/// Maximum size of a scene in bytes.
const MAX_SCENE: u64 = 1 << 24;
/// Maximum width and height of a framebuffer, as RB_FRAME_BUFFER_DIMENSION could hold it.
const MAX_SIDE: u32 = 4096;

/// A framebuffer and the draws into it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Colour before the first draw: red, green, blue, alpha in 0..1.
    #[serde(default)]
    pub clear: [f32; 4],
    /// Depth before the first draw.
    #[serde(default = "far")]
    pub clear_depth: f32,
    /// The draws, in order.
    pub draw: Vec<Draw>,
}

/// One draw.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draw {
    /// Source of the vertex shader, relative to the scene.
    vertex_shader: PathBuf,
    /// Source of the fragment shader, relative to the scene.
    fragment_shader: PathBuf,
    /// One row of input components per vertex. Three vertices make a triangle; one or two at the end are
    /// ignored.
    vertices: Vec<Vec<f32>>,
    /// The values of each uniform of the vertex shader.
    #[serde(default)]
    vertex_uniforms: Vec<Vec<f32>>,
    /// The values of each uniform of the fragment shader.
    #[serde(default)]
    fragment_uniforms: Vec<Vec<f32>>,
    /// Whether depth is tested and written. A nearer fragment passes.
    #[serde(default)]
    depth: bool,
}

/// A loaded and checked draw.
pub struct Loaded {
    /// The vertex shader.
    pub vertex: Shader,
    /// The fragment shader.
    pub fragment: Shader,
    /// Inputs of all vertices, in order.
    pub vertices: Vec<u32>,
    /// Uniforms of the vertex shader, in order.
    pub vertex_uniforms: Vec<u32>,
    /// Uniforms of the fragment shader, in order.
    pub fragment_uniforms: Vec<u32>,
    /// Whether depth is tested and written. A nearer fragment passes.
    pub depth: bool,
}

/// The files that a scene may name.
pub struct Reach<'a> {
    /// The folder of the scene.
    beside: PathBuf,
    folders: Folders,
    shared: &'a Shared,
}

impl<'a> Reach<'a> {
    /// The files for the scene at `path`: those in its folder and in `others`. Warnings about shaders go to
    /// `shared`.
    pub fn new(path: &Path, others: &[PathBuf], shared: &'a Shared) -> Self {
        let beside = parent(path).to_owned();
        Self { beside, folders: Folders::around(path, others), shared }
    }

    fn shader(&mut self, name: &Path) -> anyhow::Result<Shader> {
        let path = self.beside.join(name);
        let file = self.folders.open(&path, &self.shared.inputs)?;
        shader_of(&path, file, self.shared)
    }
}

fn far() -> f32 {
    1.0
}

impl Scene {
    /// Reads a scene, which becomes one of `inputs`.
    ///
    /// # Errors
    /// The call fails on I/O errors, if the TOML is no scene, or if the size of the framebuffer is invalid.
    pub fn read(path: &Path, inputs: &Inputs) -> anyhow::Result<Self> {
        let text = inputs.open(path).map_err(anyhow::Error::from).and_then(|file| read_text(file, MAX_SCENE));
        let text = text.with_context(|| format!("cannot read {}{}", path.display(), not_a_capture(path)))?;
        let scene: Self = read_toml(&text).with_context(|| path.display().to_string())?;
        let sides = 1..=MAX_SIDE;
        if !sides.contains(&scene.width) || !sides.contains(&scene.height) {
            bail!("{}: {}x{} is no framebuffer (1 to {MAX_SIDE})", path.display(), scene.width, scene.height);
        }
        Ok(scene)
    }
}

/// What to do with `path`, if its name is that of a capture.
fn not_a_capture(path: &Path) -> &'static str {
    let is_capture = path.extension().is_some_and(|ending| ["rd", "gz"].iter().any(|known| ending == *known));
    match is_capture {
        true => {
            " as a scene (TOML, such as captures/pico/triangle.toml; `a4emu replay CAPTURE --png FILE` draws a capture)"
        }
        false => "",
    }
}

impl Draw {
    /// Loads the shaders and checks that they fit together.
    ///
    /// # Errors
    /// The call fails if a source breaks a rule, if the shaders do not match, or if a count is wrong.
    pub fn load(&self, reach: &mut Reach<'_>) -> anyhow::Result<Loaded> {
        let vertex = reach.shader(&self.vertex_shader)?;
        let fragment = reach.shader(&self.fragment_shader)?;
        check_pair(&vertex, &fragment)?;
        let wanted = vertex.inputs.iter().map(|io| io.components).sum::<usize>();
        if let Some(n) = self.vertices.iter().position(|row| row.len() != wanted) {
            bail!("vertex {n} has {} components, the shader takes {wanted}", self.vertices[n].len());
        }
        Ok(Loaded {
            vertices: self.vertices.iter().flatten().map(|value| value.to_bits()).collect(),
            vertex_uniforms: uniforms(&self.vertex_uniforms, &vertex.uniforms).context("vertex_uniforms")?,
            fragment_uniforms: uniforms(&self.fragment_uniforms, &fragment.uniforms)
                .context("fragment_uniforms")?,
            vertex,
            fragment,
            depth: self.depth,
        })
    }
}

/// Checks that a fragment shader's inputs match the vertex shader's outputs (docs/hardware/picogpu.md).
fn check_pair(vertex: &Shader, fragment: &Shader) -> anyhow::Result<()> {
    if vertex.kind != Kind::Vertex || fragment.kind != Kind::Fragment {
        bail!("a draw takes a #vertexShader and a #fragmentShader, in this order");
    }
    let sizes = |list: &[Io]| list.iter().map(|io| io.components).collect::<Vec<_>>();
    let (out, taken) = (sizes(&vertex.outputs), sizes(&fragment.inputs));
    if out != taken {
        bail!("the vertex shader puts out {out:?} components, the fragment shader takes {taken:?}");
    }
    Ok(())
}

fn uniforms(given: &[Vec<f32>], declared: &[Io]) -> anyhow::Result<Vec<u32>> {
    let (have, want): (Vec<_>, Vec<_>) =
        (given.iter().map(Vec::len).collect(), declared.iter().map(|io| io.components).collect());
    if have != want {
        bail!("{have:?} components given, the shader declares {want:?}");
    }
    Ok(given.iter().flatten().map(|value| value.to_bits()).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn both_sides_of_a_framebuffer_have_a_limit() {
        let read = |width: u32, height: u32| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            write!(file, "width = {width}\nheight = {height}\ndraw = []\n").unwrap();
            Scene::read(file.path(), &Inputs::default())
        };
        assert!(read(1, MAX_SIDE).is_ok() && read(MAX_SIDE, 1).is_ok());
        for (width, height) in [(0, 1), (1, 0), (MAX_SIDE + 1, 1), (1, MAX_SIDE + 1)] {
            let wrong = read(width, height).unwrap_err().to_string();
            assert!(wrong.contains("is no framebuffer"), "{wrong}");
        }
    }
}
