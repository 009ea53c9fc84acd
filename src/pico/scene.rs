//! A scene for `pico draw`: what PicoGpu's draw state and memory would hold (TOML).
use std::path::{Path, PathBuf};

use a4emu_decoder::isa::pico::{Io, Kind, Shader};
use anyhow::{Context, bail};
use serde::Deserialize;

use super::programs::shader_of;
use a4emu_inspect::folders::{Folders, parent, read_text, read_toml};
use a4emu_inspect::options::Shared;
use a4emu_inspect::out_file::Inputs;

/// A scene larger than this is a mistake.
const MAX_SCENE: u64 = 1 << 24;
/// The largest side of a framebuffer, as RB_FRAME_BUFFER_DIMENSION could say it.
const MAX_SIDE: u32 = 4096;

/// A framebuffer and what is drawn into it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
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
    /// Source of the vertex shader, beside the scene.
    vertex_shader: PathBuf,
    /// Source of the fragment shader, beside the scene.
    fragment_shader: PathBuf,
    /// One row of input components per vertex; three vertices a triangle, one or two that are left over none.
    vertices: Vec<Vec<f32>>,
    /// One list per uniform.
    #[serde(default)]
    vertex_uniforms: Vec<Vec<f32>>,
    /// One list per uniform.
    #[serde(default)]
    fragment_uniforms: Vec<Vec<f32>>,
    /// Test and write depth: nearer passes.
    #[serde(default)]
    depth: bool,
}

/// A draw with everything loaded and checked.
pub struct Loaded {
    /// The vertex shader.
    pub vertex: Shader,
    /// The fragment shader.
    pub fragment: Shader,
    /// Inputs of all vertices, one after the other.
    pub vertices: Vec<u32>,
    /// Uniforms of the vertex shader, one after the other.
    pub vertex_uniforms: Vec<u32>,
    /// Uniforms of the fragment shader, one after the other.
    pub fragment_uniforms: Vec<u32>,
    /// Test and write depth: nearer passes.
    pub depth: bool,
}

/// The files that a scene may name.
pub struct Reach<'a> {
    /// Where the scene is.
    beside: PathBuf,
    folders: Folders,
    shared: &'a Shared,
}

impl<'a> Reach<'a> {
    /// Of the scene at `path`: those in its folder and in `others`. `shared` hears the warnings of their shaders.
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
    /// I/O, TOML that is no scene, or a framebuffer of an impossible size.
    pub fn read(path: &Path, inputs: &Inputs) -> anyhow::Result<Self> {
        let text = inputs.open(path).map_err(anyhow::Error::from).and_then(|file| read_text(file, MAX_SCENE));
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        let scene: Self = read_toml(&text).with_context(|| path.display().to_string())?;
        let sides = 1..=MAX_SIDE;
        if !sides.contains(&scene.width) || !sides.contains(&scene.height) {
            bail!("{}: {}x{} is no framebuffer (1 to {MAX_SIDE})", path.display(), scene.width, scene.height);
        }
        Ok(scene)
    }
}

impl Draw {
    /// Loads the shaders and checks that everything fits together.
    ///
    /// # Errors
    /// A source that breaks a rule, shaders that do not match, or wrong counts.
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

/// docs/hardware/picogpu.md: a fragment shader's inputs match what the vertex shader puts out.
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
