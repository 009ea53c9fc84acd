//! Collects programs, textures and vertices of draws, each once.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::extras::{Extras, PartOfTexture, VertexTables};
use super::frame::{Mesh, MeshOrWhy, Program, ShaderUse, Texture, Why};
use super::pack::base64;
use super::pictures::png;
use super::room::{DataKind, Room, kept};
use crate::describe::mesh::{self, Side};
use crate::describe::{self, Draw, Part, Read, ShaderStage};
use crate::memory::Starts;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::Gpu;

/// Maximum number of vertices of a draw whose mesh is shown.
const MAX_VERTICES: u64 = 4096;

/// Maximum number of texels of a texture that is shown.
const MAX_TEXELS: u64 = 1 << 22;

/// Maximum number of texels of a texture that are shown beside its first level.
const MAX_FURTHER_TEXELS: u64 = 1 << 20;

/// Maximum number of these parts.
const MAX_FURTHER_PARTS: u32 = 128;

/// The programs and textures of the draws.
#[derive(Default)]
pub struct Contents {
    /// Programs by hash.
    pub programs: BTreeMap<String, Program>,
    /// Textures by key. Equal textures share one key.
    pub textures: BTreeMap<String, Texture>,
    /// Further parts of textures, tables of vertices, and memory.
    pub extras: Extras,
    /// Keys of textures by descriptor and contents; none if there is no picture.
    known: HashMap<([u32; 16], u64), Option<String>>,
}

impl Contents {
    /// The programs of `draw`.
    pub fn shaders(&mut self, draw: &Draw, room: &mut Room) -> Vec<ShaderUse> {
        draw.shaders.iter().filter_map(|stage| self.shader(stage, draw.frame_draw, room)).collect()
    }

    fn shader(&mut self, stage: &ShaderStage, draw: u32, room: &mut Room) -> Option<ShaderUse> {
        let shader = stage.shader.as_ref()?;
        let hash = format!("{:016x}", shader.hash);
        if !self.programs.contains_key(&hash) {
            let text: Vec<String> = shader.lines().collect();
            if room.take(DataKind::Programs, text.iter().map(|line| kept(line)).sum(), draw) {
                self.programs.insert(hash.clone(), Program { stage: stage.name(), text });
            }
        }
        Some(ShaderUse { stage: stage.name(), hash, warps: Vec::new(), lanes: Vec::new() })
    }

    /// Keys of the textures that `draw` names, except those without a picture.
    pub fn textures(&mut self, draw: &Draw, gpu: &mut Gpu, room: &mut Room) -> Vec<String> {
        let mut keys = Vec::new();
        for stage in &draw.shaders {
            for texture in &stage.textures {
                keys.extend(self.texture((texture, stage.name()), draw, gpu, room));
            }
        }
        keys.dedup();
        keys
    }

    fn texture(
        &mut self,
        (texture, stage): (&describe::Texture, &'static str),
        draw: &Draw,
        gpu: &mut Gpu,
        room: &mut Room,
    ) -> Option<String> {
        let [width, height] = texture.level_size(0);
        let bytes = u32::try_from(texture.bytes).ok()?;
        let is_small = u64::from(width) * u64::from(height) <= MAX_TEXELS;
        if !is_small || !gpu.budget.take(Work::Copy16, texture.bytes / 16) {
            return None;
        }
        let held = Read { what: String::new(), address: texture.address, bytes };
        let hash = xxh3_64(&held.contents(gpu.sync().memory()));
        if let Some(known) = self.known.get(&(texture.words, hash)) {
            return known.clone();
        }
        let label =
            format!("{stage}{} {width}x{height} {} at {}", texture.slot, texture.format, texture.address);
        let texels = texture.texels(0, 0, gpu).ok();
        let png = texels.as_ref().and_then(|texels| png(&texels.image(), room, draw.frame_draw));
        let key = png.zip(texels).map(|(png, texels)| {
            let key = format!("t{}", self.textures.len());
            let layers = (0..texture.levels).map(|level| texture.layers(level)).collect();
            let number = texels.number();
            let (exact, places) = (texels.are_bytes(), texture.places());
            if !exact {
                self.extras.put(format!("{key}/0/0/0"), &PartOfTexture::new(&texels), &gpu.budget);
            }
            self.further_parts(&key, texture, gpu);
            let (kind, seen) = (texture.kind.clone(), (draw.draw, stage, texture.slot));
            let made = Texture { label, png, width, height, exact, number, kind, layers, places, seen };
            self.textures.insert(key.clone(), made);
            key
        });
        self.known.insert((texture.words, hash), key.clone());
        key
    }

    /// Adds the first bytes of the memory that `draw`, which is about to run, names.
    pub fn memory(&mut self, draw: &Draw, gpu: &mut Gpu) {
        let starts = Starts::of(draw, gpu.sync());
        if !starts.is_empty() {
            self.extras.put_starts(format!("b{}", draw.frame_draw), starts, &gpu.budget);
        }
    }

    /// Adds the levels, layers and samples behind the first, if they are not large.
    fn further_parts(&mut self, key: &str, texture: &describe::Texture, gpu: &mut Gpu) {
        let samples = texture.places().map_or(1, |places| places.samples);
        let (mut left, mut parts) = (MAX_FURTHER_TEXELS, 0);
        for level in 0..texture.levels {
            let texels = texture.level_size(level).map(u64::from).iter().product::<u64>();
            for layer in 0..texture.layers(level) {
                for sample in (0..samples).filter(|sample| [level, layer, *sample] != [0; 3]) {
                    let Some(rest) = left.checked_sub(texels).filter(|_| parts < MAX_FURTHER_PARTS) else {
                        return;
                    };
                    let Ok(part) = texture.part(Part { level, layer, sample }, gpu) else { return };
                    let part_key = format!("{key}/{level}/{layer}/{sample}");
                    self.extras.put(part_key, &PartOfTexture::new(&part), &gpu.budget);
                    (left, parts) = (rest, parts + 1);
                }
            }
        }
    }
}

/// The vertices of `call`, or the reason why they are not shown. They are shown if they are few. What the
/// shaders store for that is discarded.
pub fn mesh(draw: &Draw, gpu: &mut Gpu, call: &Call, (extras, room): (&mut Extras, &mut Room)) -> MeshOrWhy {
    let made = primitives(draw, gpu, call, room).map(|(mesh, tables)| {
        extras.put_vertices(format!("m{}", draw.frame_draw), tables, &gpu.budget);
        mesh
    });
    made.map_or_else(MeshOrWhy::why, MeshOrWhy::Mesh)
}

/// The vertices of `call` as tables, of any number. What the shaders store for that is discarded.
///
/// # Errors
/// The call fails if it has no vertices.
pub fn tables(gpu: &mut Gpu, call: &Call) -> Result<VertexTables, Why> {
    let Call::Draw(call) = call else { return Err(Why { why: "this command has no vertices".into() }) };
    let made = mesh::Mesh::of(gpu, call).map_err(|stop| Why { why: stop.to_string() })?;
    Ok(VertexTables::new(&made))
}

fn primitives(
    draw: &Draw,
    gpu: &mut Gpu,
    call: &Call,
    room: &mut Room,
) -> Result<(Mesh, VertexTables), String> {
    let Call::Draw(call) = call else { return Err("this command has no vertices".into()) };
    let vertices = u64::from(call.count) * u64::from(call.instances);
    if draw.resolve.is_some() {
        return Err("this command copies tile memory".into());
    }
    if vertices > MAX_VERTICES {
        return Err(format!("it has {vertices} vertices, and a mesh of a report at most {MAX_VERTICES}"));
    }
    // Troubles of this run are dropped: they occur again when the draw runs.
    let report = std::mem::take(&mut gpu.report);
    let made = mesh::Mesh::of(gpu, call);
    gpu.report = report;
    let made = made.map_err(|stop| stop.to_string())?;
    let (size, indices) = made.primitive_list(Side::Outputs);
    // Where stages between lose all of them, their tables say where.
    if indices.is_empty() && made.is_plain {
        return Err("no point, line or triangle of it reaches the rasteriser".into());
    }
    // Stages behind the vertex shader make other vertices than it has.
    let (in_size, in_indices) =
        if made.is_plain { (0, Vec::new()) } else { made.primitive_list(Side::Inputs) };
    let (inputs, out) = (made.fetched_positions(), made.clip_positions());
    let numbers = indices.len() + in_indices.len() + 3 * inputs.as_ref().map_or(0, Vec::len) + 4 * out.len();
    if !room.take(DataKind::Meshes, 4 * numbers, draw.frame_draw) {
        return Err("the meshes before it have taken all room".into());
    }
    let list = |list: &[u32]| base64(bytemuck::cast_slice(list));
    let mesh = Mesh {
        inputs: inputs.map(|inputs| base64(bytemuck::cast_slice(&inputs))),
        out: Some(base64(bytemuck::cast_slice(&out))),
        size,
        indices: list(&indices),
        in_size: if made.is_plain { size } else { in_size },
        in_indices: (!made.is_plain).then(|| list(&in_indices)),
    };
    Ok((mesh, VertexTables::of_report(&made)))
}
