//! Writes the textures and vertices of a draw to files.

use std::io::{Cursor, Write};
use std::path::Path;

use anyhow::{Context, bail, ensure};
use exr::prelude::{Image as ExrImage, SpecificChannels, Vec2, WritableImage};

use a4emu_gpu::gpu::Gpu;
use a4emu_inspect::describe::canvas::Image;
use a4emu_inspect::describe::mesh::{Mesh, Side};
use a4emu_inspect::describe::{Channels, Draw, NoTexels, Part, Range, Texels, Texture};
use a4emu_support::out_file::{self, Inputs, OutFile};

/// Maximum number of pictures of a draw's textures.
const MAX_PICTURES: u32 = 4096;

/// The parts of textures that `--textures` writes, and how they become pictures.
#[derive(clap::Args, Clone, Debug)]
pub struct TextureView {
    /// Of --textures: this level alone
    #[arg(long, value_name = "LEVEL", requires = "textures")]
    level: Option<u32>,
    /// Of --textures: this layer, face of a cube or slice alone
    #[arg(long, value_name = "LAYER", requires = "textures")]
    layer: Option<u32>,
    /// Of --textures: this sample of each texel
    #[arg(long, value_name = "SAMPLE", requires = "textures", default_value_t = 0)]
    sample: u32,
    /// Of --textures: these channels, such as RGB; one alone is grey (default: RGBA)
    #[arg(long, value_name = "RGBA", requires = "textures")]
    channels: Option<Channels>,
    /// Of --textures: the values that become black and white: MIN..MAX, or `fit` for the least and greatest
    /// (default: `whole`, which is 0..1, and 0..255 for integers)
    #[arg(long, value_name = "RANGE", requires = "textures")]
    range: Option<Range>,
}

impl TextureView {
    /// The parts of `texture` that are written.
    fn parts(&self, texture: &Texture) -> impl Iterator<Item = Part> {
        let (level, layer, sample) = (self.level, self.layer, self.sample);
        let levels = (0..texture.levels).filter(move |at| level.is_none_or(|level| level == *at));
        let layers = move |level: u32, all: u32| {
            let layers = (0..all).filter(move |at| layer.is_none_or(|layer| layer == *at));
            layers.map(move |layer| Part { level, layer, sample })
        };
        let texture = texture.clone();
        levels.flat_map(move |level| layers(level, texture.layers(level)))
    }

    fn image(&self, texels: &Texels) -> Image {
        match (self.channels, self.range) {
            (None, None) => texels.image(),
            (channels, range) => {
                texels.image_of(channels.unwrap_or(Channels::ALL), range.unwrap_or(Range::Whole))
            }
        }
    }
}

/// Writes each chosen level and layer of the textures that `draw` names, as `FS0-level1-layer2.png`.
///
/// # Errors
/// The call fails if a file cannot be written.
pub fn write_textures(
    draw: &Draw,
    gpu: &mut Gpu,
    (directory, view): (&Path, &TextureView),
    inputs: &Inputs,
) -> anyhow::Result<()> {
    let mut pictures = Pictures { directory, view, inputs, left: MAX_PICTURES };
    for stage in &draw.shaders {
        for texture in &stage.textures {
            pictures.write(texture, gpu, &format!("{}{}", stage.name(), texture.slot))?;
        }
    }
    Ok(())
}

/// The folder of the pictures, and the number of further ones.
struct Pictures<'a> {
    directory: &'a Path,
    view: &'a TextureView,
    inputs: &'a Inputs,
    left: u32,
}

impl Pictures<'_> {
    /// Writes all levels and layers of `texture`, to files that begin with `name`.
    fn write(&mut self, texture: &Texture, gpu: &mut Gpu, name: &str) -> anyhow::Result<()> {
        for part @ Part { level, layer, .. } in self.view.parts(texture) {
            let Some(left) = self.left.checked_sub(1) else {
                gpu.cut(format!("no more than {MAX_PICTURES} pictures of textures are written"));
                return Ok(());
            };
            let texels = match texture.part(part, gpu) {
                Ok(texels) => texels,
                Err(why) => {
                    note(gpu, &format!("texture {name}: {why}"), &why);
                    return Ok(());
                }
            };
            let layers = if texture.layers(0) > 1 { format!("-layer{layer}") } else { String::new() };
            let path = self.directory.join(format!("{name}-level{level}{layers}"));
            write_texels(&texels, &self.view.image(&texels), &path, self.inputs)?;
            self.left = left;
        }
        Ok(())
    }
}

/// Reports why a texture has no picture.
fn note(gpu: &mut Gpu, what: &str, why: &NoTexels) {
    match why {
        NoTexels::Unsupported(_) => gpu.unsupported(what),
        NoTexels::Size(..) | NoTexels::NoBudget => gpu.cut(what),
    }
}

fn write_texels(texels: &Texels, image: &Image, path: &Path, inputs: &Inputs) -> anyhow::Result<()> {
    let mut out = OutFile::create(&path.with_added_extension("png"), inputs)?;
    image.write_png(&mut out).with_context(|| format!("cannot write {}", path.display()))?;
    out.finish()?;
    if texels.are_floats() {
        let bytes = exr(texels).with_context(|| format!("cannot write {}", path.display()))?;
        out_file::write(&path.with_added_extension("exr"), &bytes, inputs)?;
    }
    Ok(())
}

/// Encodes the texels as an EXR picture of 32-bit floats.
fn exr(texels: &Texels) -> anyhow::Result<Vec<u8>> {
    let [width, height] = texels.size.map(|side| side as usize);
    let channels = SpecificChannels::rgba(|Vec2(x, y)| {
        let [r, g, b, a] = texels.floats(x as u32, y as u32);
        (r, g, b, a)
    });
    let mut bytes = Cursor::new(Vec::new());
    ExrImage::from_channels((width, height), channels).write().non_parallel().to_buffered(&mut bytes)?;
    Ok(bytes.into_inner())
}

/// Writes vertices in the format of the file's extension.
///
/// # Errors
/// The call fails if the extension is unknown, or if the file cannot be written.
pub fn write_mesh(mesh: &Mesh, side: Side, path: &Path, inputs: &Inputs) -> anyhow::Result<()> {
    if let Side::Stage(part) = side {
        let stages = &mesh.stages;
        let what = || stages.left_out.clone().unwrap_or_else(|| format!("the draw has no `{}`", part.name()));
        ensure!(stages.get(part).is_some(), "no vertices: {}", what());
    }
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    if let Side::Stage(part) = side
        && !part.has_positions()
        && ["obj", "ply"].contains(&extension.as_str())
    {
        bail!("{}: `{}` has no positions, and is written as .csv", path.display(), part.name());
    }
    let mut out = OutFile::create(path, inputs)?;
    let written = match extension.as_str() {
        "csv" => mesh.write_csv(side, &mut out),
        "" if path == Path::new("-") => mesh.write_csv(side, &mut out),
        "obj" => mesh.write_obj(side, &mut out),
        "ply" => mesh.write_ply(side, &mut out),
        _ => bail!("{}: a mesh is written as .csv, .obj or .ply", path.display()),
    };
    written.and_then(|()| out.flush()).with_context(|| format!("cannot write {}", path.display()))?;
    out.finish()
}
