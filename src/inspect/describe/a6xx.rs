//! The state of draws and dispatches of an A6xx: what its registers and descriptors say. Nothing is drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use a4emu_decoder::a6xx::enums::{BuffersLocation, DepthFormat, Format, TexType, TileMode};
use a4emu_decoder::a6xx::regs::compute::*;
use a4emu_decoder::a6xx::regs::draw::*;
use a4emu_decoder::a6xx::regs::sets::A6XX_SP_XS_CONFIG;
use a4emu_decoder::a6xx::regs::tex::*;
use a4emu_decoder::adreno::address::Address as GpuAddress;
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::bits::{Register, WordRow};
use a4emu_gpu::a6xx::formats;
use a4emu_gpu::a6xx::registers::StageRegisters;
use a4emu_gpu::a6xx::tpl1::{base, elements, swap, texture_state};
use a4emu_gpu::cp::{BindlessBase, Call, Surfaces};
use a4emu_gpu::draw::gras::clip::Viewport;
use a4emu_gpu::draw::rb::depth;
use a4emu_gpu::draw::tpl1::TextureError;
use a4emu_gpu::draw::{DrawCall, IndexSource};
use a4emu_gpu::gpu::{Gpu, STAGES, Stage};
use a4emu_gpu::memory::Memory;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
use a4emu_gpu::settled::Synced;
use a4emu_rules::shader::{Named, Shader, Shaders, Taken, Uses};
use a4emu_shader::format::Transfer;
use a4emu_shader::format::arrangement::Tiling;

use super::blits::Blit;
use super::draw::{AlphaTest, Draw, Tile};
use super::fetch::{Indices, VertexInput};
use super::name::{Address, components, name, register};
use super::raster::{Scissors, corners};
use super::stage::{Buffer, CONSTANTS, ShaderStage};
use super::target::{Blend, Depth, Equation, Stencil, StencilBuffer, StencilFace, SurfacePlace, Target};
use super::texture::{Sampler, Texture};

/// Instructions in a unit of a program's length.
const GROUP: usize = 16;

/// Targets of a draw, and vertex inputs.
const TARGETS: u32 = RB_MRT_CONTROL::ROW.len;
const INPUTS: u32 = VFD_DECODE_INSTR::ROW.len;

/// Names of components of a vector.
const VECTOR: [char; 4] = ['x', 'y', 'z', 'w'];

/// Element `index` of an array of addresses, whose low halves are `Low`.
fn wide_at<Low: Register>(regs: &RegFile, index: u32) -> GpuAddress {
    regs.address(Low::ROW.offset + index * Low::ROW.stride)
}

/// `bare` with the state of `call`.
pub(super) fn describe(bare: Draw, gpu: Synced<'_>, call: &Call, shaders: &mut Shaders) -> Draw {
    let regs = &gpu.regs;
    if let Call::Blit(call) = call {
        let runs = matches!(call.between, Surfaces::Memory(Some(_)));
        return Draw { blit: Some(Blit::of(regs, call)), runs, ..bare };
    }
    let stages = STAGES.into_iter().filter(|stage| runs(&gpu, call, *stage));
    let with_programs =
        Draw { shaders: stages.map(|stage| program(gpu, stage, shaders)).collect(), samples: None, ..bare };
    let Some(pass) = call.pass() else { return with_programs };
    let indices = match call {
        Call::Draw(call) => Some(indices(regs, call)),
        Call::Dispatch(_) | Call::Uncounted(_) | Call::Blit(_) => None,
    };
    let fetching = Draw {
        vertex_inputs: vertex_inputs(regs),
        indices,
        viewport: Some(viewport(regs)),
        scissors: Some(scissors(regs)),
        ..with_programs
    };
    if pass == Pass::Binning { fetching } else { with_targets(fetching, regs) }
}

/// Whether a stage runs: it has a program, and the pass is none that only finds the bins.
fn runs(gpu: &Gpu, call: &Call, stage: Stage) -> bool {
    let has_program = gpu.regs.read(StageRegisters::of(stage).length) != 0;
    match call.pass() {
        None => stage == Stage::CS,
        Some(Pass::Binning) => has_program && !matches!(stage, Stage::FS | Stage::CS),
        Some(_) => has_program && stage != Stage::CS,
    }
}

/// The program of a stage, and its address; none where the capture does not hold it.
fn shader(gpu: Synced<'_>, stage: Stage, shaders: &mut Shaders) -> (GpuAddress, Option<Arc<Shader>>) {
    let StageRegisters { start, length, .. } = *StageRegisters::of(stage);
    let address = gpu.regs.address(start);
    let room = gpu.memory().room(address) as usize / 8;
    let instructions = (gpu.regs.read(length) as usize).saturating_mul(GROUP).min(room);
    let dwords = gpu.memory().known_dwords(address, 2 * instructions);
    let words: Vec<u64> =
        dwords.as_chunks().0.iter().map(|[low, high]| u64::from(*high) << 32 | u64::from(*low)).collect();
    (address, (!words.is_empty()).then(|| shaders.get_of(Isa::A6xx, &words, &gpu.budget)))
}

/// A stage that `call` runs: its program, and the words of each descriptor that the program names.
pub(crate) struct Running {
    /// The stage.
    pub stage: Stage,
    /// The program.
    pub shader: Arc<Shader>,
    /// The rows of a descriptor, and its words.
    pub descriptors: Vec<(&'static [WordRow], Vec<u32>)>,
}

/// The stages that `call` runs and whose programs are in the capture.
pub(crate) fn running(gpu: Synced<'_>, call: &Call, shaders: &mut Shaders) -> Vec<Running> {
    let each = |stage: Stage| {
        let shader = shader(gpu, stage, shaders).1?;
        let bound = Bound::of(gpu, stage, &shader.uses);
        let words = |named: &Named| match named.taken {
            Taken::Texture | Taken::Buffer => Some((TEXTURE, bound.words::<16>(*named)?.to_vec())),
            Taken::Sampler => Some((SAMPLER, bound.words::<4>(*named)?.to_vec())),
            Taken::Uniforms => None,
        };
        let descriptors = bound.named.iter().filter_map(words).collect();
        Some(Running { stage, descriptors, shader })
    };
    STAGES.into_iter().filter(|stage| runs(&gpu, call, *stage)).filter_map(each).collect()
}

fn program(gpu: Synced<'_>, stage: Stage, shaders: &mut Shaders) -> ShaderStage {
    let (address, shader) = shader(gpu, stage, shaders);
    let none = Uses::default();
    let bound = Bound::of(gpu, stage, shader.as_ref().map_or(&none, |shader| &shader.uses));
    ShaderStage {
        textures: bound.textures(),
        samplers: bound.samplers(),
        buffers: bound.buffers(),
        ..ShaderStage::with_constants(gpu, stage, Address::of(address), shader)
    }
}

/// The descriptors that a stage's program names.
struct Bound<'g> {
    gpu: Synced<'g>,
    stage: Stage,
    named: BTreeSet<Named>,
    /// The samplers that each texture is used with, as far as instructions say.
    pairs: BTreeMap<(Option<u8>, u8), Vec<u32>>,
}

impl<'g> Bound<'g> {
    fn of(gpu: Synced<'g>, stage: Stage, uses: &Uses) -> Self {
        let mut bound = Self { gpu, stage, named: uses.descriptors.clone(), pairs: BTreeMap::new() };
        for (sampler, texture) in &uses.samples {
            bound.add_pair(None, *texture, *sampler);
        }
        if stage == Stage::FS {
            bound.add_prefetched();
        }
        let config = A6XX_SP_XS_CONFIG(gpu.regs.read(StageRegisters::of(stage).config));
        let relative = [
            (Taken::Texture, uses.relative_samples, config.NTEX()),
            (Taken::Sampler, uses.relative_samples, config.NSAMP()),
            (Taken::Buffer, uses.relative_buffers, config.NIBO()),
        ];
        for (taken, _, count) in relative.into_iter().filter(|(_, is_relative, _)| *is_relative) {
            let slots = 0..count.min(u8::MAX.into()) as u8;
            bound.named.extend(slots.map(|slot| Named { taken, base: None, slot }));
        }
        bound
    }

    fn add_pair(&mut self, base: Option<u8>, texture: u8, sampler: Option<u8>) {
        self.named.insert(Named { taken: Taken::Texture, base, slot: texture });
        let samplers = self.pairs.entry((base, texture)).or_default();
        if let Some(slot) = sampler {
            samplers.push(slot.into());
            self.named.insert(Named { taken: Taken::Sampler, base, slot });
        }
    }

    /// Adds the textures that are sampled before the fragment shader begins. Of a bindless one, the numbers in
    /// SP_FS_PREFETCH are the bases (ir3_compiler_nir.c, `collect_tex_prefetches`).
    fn add_prefetched(&mut self) {
        let gpu = self.gpu;
        let regs = &gpu.regs;
        let count = regs.get::<SP_FS_PREFETCH_CNTL>().COUNT().min(SP_FS_PREFETCH_CMD::ROW.len);
        let each = |at| (regs.at::<SP_FS_PREFETCH_CMD>(at), regs.at::<SP_FS_BINDLESS_PREFETCH_CMD>(at));
        for (bound, bindless) in (0..count).map(each) {
            if !bound.BINDLESS() {
                self.add_pair(None, bound.TEX_ID() as u8, Some(bound.SAMP_ID() as u8));
                continue;
            }
            let texture = (Taken::Texture, bound.TEX_ID(), bindless.TEX_ID());
            for (taken, base, slot) in [texture, (Taken::Sampler, bound.SAMP_ID(), bindless.SAMP_ID())] {
                let slot = u8::try_from(slot).unwrap_or(u8::MAX);
                self.named.insert(Named { taken, base: Some(base as u8), slot });
            }
        }
    }

    /// Where a descriptor is; none if its bindless base does not exist.
    fn place(&self, named: Named) -> Option<GpuAddress> {
        let regs = &self.gpu.regs;
        let (is_compute, slot) = (self.stage == Stage::CS, u64::from(named.slot));
        if let Some(base) = named.base {
            let base = BindlessBase::of(regs, Some(self.stage), base.into())?;
            return Some(self.gpu.memory().behind(base.start, slot * base.stride));
        }
        let StageRegisters { textures, samplers, .. } = *StageRegisters::of(self.stage);
        let images = if is_compute { SP_CS_IBO_LO::ROW.offset } else { SP_IBO_LO::ROW.offset };
        let (low, words) = match named.taken {
            Taken::Texture => (textures, TEXTURE.len()),
            Taken::Sampler => (samplers, SAMPLER.len()),
            Taken::Buffer => (images, TEXTURE.len()),
            Taken::Uniforms => return None,
        };
        Some(self.gpu.memory().behind(regs.address(low), slot * 4 * words as u64))
    }

    /// The words of a descriptor; none if the capture does not hold all of them.
    fn words<const N: usize>(&self, named: Named) -> Option<[u32; N]> {
        if named.taken == Taken::Uniforms && named.base.is_none() {
            let loaded = self.gpu.loaded.stage(self.stage).ubos.get(usize::from(named.slot));
            return loaded.and_then(|words| words.get(..N)?.try_into().ok());
        }
        self.gpu.memory().known_dwords(self.place(named)?, N).try_into().ok()
    }

    fn all(&self, taken: Taken) -> impl Iterator<Item = Named> {
        self.named.iter().copied().filter(move |it| it.taken == taken)
    }

    fn textures(&self) -> Vec<Texture> {
        let each = |it: Named| {
            let samplers = self.pairs.get(&(it.base, it.slot)).cloned().unwrap_or_default();
            texture(it, samplers, self.words(it), self.gpu.memory())
        };
        self.all(Taken::Texture).map(each).collect()
    }

    fn samplers(&self) -> Vec<Sampler> {
        self.all(Taken::Sampler).map(|it| sampler(it, self.words(it).unwrap_or_default())).collect()
    }

    fn buffers(&self) -> Vec<Buffer> {
        let images = self.all(Taken::Buffer).map(|it| image(it, self.words(it).unwrap_or_default()));
        let uniforms = self.all(Taken::Uniforms).map(|it| uniforms(it, self.words(it).unwrap_or_default()));
        images.chain(uniforms).collect()
    }
}

/// The name of an enumerator without the prefix that all of the texture's have.
fn texture_name(enumerator: impl Debug) -> String {
    let name = name(enumerator);
    name.strip_prefix("A6XX_TEX_").map(str::to_owned).unwrap_or(name)
}

/// What the words say that textures, images and buffers have in common.
struct View {
    address: Address,
    kind: String,
    size: [u32; 3],
    pitch: u32,
    layer_bytes: u32,
    format: Format,
}

impl View {
    fn of(words: &[u32; 16]) -> Self {
        let (c0, c1, c2, c3) =
            (TEX_CONST_0(words[0]), TEX_CONST_1(words[1]), TEX_CONST_2(words[2]), TEX_CONST_3(words[3]));
        let high = TEX_CONST_5(words[5]);
        let elements = elements(words);
        let kind = match c2.TYPE() {
            _ if elements.is_some() => "buffer".to_owned(),
            TexType::A6XX_TEX_CUBE => "cube".to_owned(),
            other => texture_name(other),
        };
        Self {
            address: Address::of(base(words)),
            kind,
            size: match elements {
                Some(count) => [count, 1, 1],
                None => [c1.WIDTH(), c1.HEIGHT(), high.DEPTH().max(1)],
            },
            pitch: if elements.is_some() { 0 } else { c2.PITCH() },
            layer_bytes: c3.ARRAY_PITCH(),
            format: c0.FMT(),
        }
    }

    /// Bytes of the first level of all layers; of a buffer, of all elements. 0 if the format has no plain elements.
    fn bytes(&self) -> u64 {
        let [width, height, depth] = self.size.map(u64::from);
        let layers = if self.kind == "cube" { 6 * depth } else { depth };
        match (self.layer_bytes, self.pitch) {
            (0, 0) => width * height * u64::from(format_bytes(self.format)),
            (0, pitch) => u64::from(pitch) * height * layers,
            (layer, _) => u64::from(layer) * layers,
        }
    }
}

/// Why the texels of a texture are not read.
fn unread(words: &[u32; 16], why: TextureError) -> String {
    let mode = TEX_CONST_0(words[0]).TILE_MODE();
    match (TEX_CONST_3(words[3]).FLAG(), mode) {
        (true, _) => format!("{} with UBWC, not read", name(mode)),
        (false, TileMode::TILE6_LINEAR) => why.to_string(),
        (false, _) => format!("{} tiles, not read", name(mode)),
    }
}

fn texture(named: Named, samplers: Vec<u32>, words: Option<[u32; 16]>, memory: &Memory) -> Texture {
    let state = match words {
        Some(words) => texture_state(&words, memory).map_err(|why| unread(&words, why)),
        None => Err("its descriptor is not in the capture".to_owned()),
    };
    let words = words.unwrap_or_default();
    let (view, c0) = (View::of(&words), TEX_CONST_0(words[0]));
    let swizzle = [c0.SWIZ_X(), c0.SWIZ_Y(), c0.SWIZ_Z(), c0.SWIZ_W()].map(|from| match texture_name(from) {
        name if name == "ZERO" => "0".to_owned(),
        name if name == "ONE" => "1".to_owned(),
        name if name.len() == 1 && !name.as_bytes()[0].is_ascii_digit() => name.to_lowercase(),
        number => format!("({number})"),
    });
    let [width, height, depth] = view.size;
    Texture {
        base: named.base,
        slot: named.slot.into(),
        samplers,
        address: view.address,
        bytes: view.bytes(),
        format: name(view.format),
        width,
        height,
        depth,
        levels: c0.MIPLVLS() + 1,
        pitch: view.pitch,
        layer_bytes: view.layer_bytes,
        tiling: if c0.TILE_MODE() == TileMode::TILE6_LINEAR { "linear" } else { "tiled" },
        srgb: c0.SRGB(),
        swap: name(c0.SWAP()),
        swizzle: swizzle.concat(),
        unsupported: state.as_ref().err().cloned(),
        state: state.ok(),
        kind: view.kind,
        words,
    }
}

fn sampler(named: Named, words: [u32; 4]) -> Sampler {
    let (s0, s1) = (TEX_SAMP_0(words[0]), TEX_SAMP_1(words[1]));
    Sampler {
        base: named.base,
        slot: named.slot.into(),
        mag: name(s0.XY_MAG()),
        min: name(s0.XY_MIN()),
        mip: if s0.MIPFILTER_LINEAR_NEAR() { "LINEAR" } else { "NEAREST" },
        wrap: [name(s0.WRAP_S()), name(s0.WRAP_T()), name(s0.WRAP_R())],
        aniso: name(s0.ANISO()),
        compare: name(s1.COMPARE_FUNC()),
        lod_bias: s0.LOD_BIAS(),
        min_lod: s1.MIN_LOD(),
        max_lod: s1.MAX_LOD(),
        seamless: !s1.CUBEMAPSEAMLESSFILTOFF(),
        unnormalized: s1.UNNORM_COORDS(),
        words: [0; 2],
    }
}

fn image(named: Named, words: [u32; 16]) -> Buffer {
    let view = View::of(&words);
    Buffer {
        base: named.base,
        slot: named.slot.into(),
        bytes: Some(view.bytes()),
        address: view.address,
        format: name(view.format),
        size: view.size,
        cpp: format_bytes(view.format),
        pitch: view.pitch,
        layer_bytes: view.layer_bytes,
        kind: Some(view.kind),
    }
}

/// A constant buffer, whose elements are vectors of 16 bytes.
fn uniforms(named: Named, words: [u32; 2]) -> Buffer {
    let (low, high) = (UBO_0(words[0]).BASE_LO(), UBO_1(words[1]));
    Buffer {
        base: named.base,
        slot: named.slot.into(),
        kind: Some(CONSTANTS.to_owned()),
        bytes: Some(16 * u64::from(high.SIZE())),
        address: Address::of(GpuAddress::wide(low, high.BASE_HI())),
        format: name(Format::FMT6_32_32_32_32_UINT),
        size: [high.SIZE(), 1, 1],
        cpp: 16,
        pitch: 0,
        layer_bytes: 0,
    }
}

/// Bytes of an element of a plain format, whose name has the bits of each component; 0 of others.
fn format_bytes(format: Format) -> u32 {
    let name = name(format);
    let bits = name.split('_').skip(1).filter_map(|part| {
        let digits = part.strip_prefix(['A', 'L', 'X', 'E', 'Z', 'S']).unwrap_or(part);
        digits.parse::<u32>().ok().filter(|bits| *bits <= 32)
    });
    bits.sum::<u32>() / 8
}

fn vertex_inputs(regs: &RegFile) -> Vec<VertexInput> {
    let count = regs.get::<VFD_CONTROL_0>().DECODE_CNT().min(INPUTS);
    (0..count).map(|index| vertex_input(regs, index)).collect()
}

fn vertex_input(regs: &RegFile, index: u32) -> VertexInput {
    let (decode, dest) = (regs.at::<VFD_DECODE_INSTR>(index), regs.at::<VFD_DEST_CNTL_INSTR>(index));
    let (fetch, offset) = (decode.IDX(), decode.OFFSET());
    let divisor = regs.at::<VFD_DECODE_STEP_RATE>(index).VALUE().max(1);
    VertexInput {
        index,
        address: Address::of(wide_at::<VFD_FETCH_BASE_LO>(regs, fetch) + u64::from(offset)),
        bytes: regs.at::<VFD_FETCH_SIZE>(fetch).VALUE().saturating_sub(offset),
        stride: regs.at::<VFD_FETCH_STRIDE>(fetch).VALUE(),
        divisor: if decode.INSTANCED() { divisor } else { 0 },
        format: name(decode.FORMAT()),
        element_bytes: format_bytes(decode.FORMAT()),
        swap: name(decode.SWAP()),
        integer: !decode.FLOAT(),
        register: register(dest.REGID()),
        components: components(dest.WRITEMASK(), VECTOR),
        codec: formats::texture(decode.FORMAT())
            .and_then(|format| format.codec(swap(decode.SWAP()), Transfer::Linear)),
    }
}

fn indices(regs: &RegFile, call: &DrawCall) -> Indices {
    let restarts = regs.get::<PC_PRIMITIVE_CNTL_0>().PRIMITIVE_RESTART() && call.indices != IndexSource::Auto;
    let base_vertex = regs.get::<VFD_INDEX_OFFSET>().VALUE().cast_signed();
    let first_instance = regs.get::<VFD_INSTANCE_START_OFFSET>().VALUE();
    Indices::new(call, base_vertex, first_instance, restarts.then(|| regs.get::<PC_RESTART_INDEX>().VALUE()))
}

fn viewport(regs: &RegFile) -> Viewport {
    Viewport {
        scale: [
            regs.get::<GRAS_CL_VPORT_XSCALE>().VALUE(),
            regs.get::<GRAS_CL_VPORT_YSCALE>().VALUE(),
            regs.get::<GRAS_CL_VPORT_ZSCALE>().VALUE(),
        ],
        offset: [
            regs.get::<GRAS_CL_VPORT_XOFFSET>().VALUE(),
            regs.get::<GRAS_CL_VPORT_YOFFSET>().VALUE(),
            regs.get::<GRAS_CL_VPORT_ZOFFSET>().VALUE(),
        ],
    }
}

/// The window scissor is the tile, or all of the targets in memory; the application sets the screen scissor.
fn scissors(regs: &RegFile) -> Scissors {
    let (tl, br) = (regs.get::<GRAS_SC_SCREEN_SCISSOR_TL>(), regs.get::<GRAS_SC_SCREEN_SCISSOR_BR>());
    let screen = corners((tl.X(), tl.Y()), (br.X(), br.Y()));
    let (tl, br) = (regs.get::<GRAS_SC_WINDOW_SCISSOR_TL>(), regs.get::<GRAS_SC_WINDOW_SCISSOR_BR>());
    let window = corners((tl.X(), tl.Y()), (br.X(), br.Y()));
    let side = |at: usize| {
        let start = screen[at].max(window[at]);
        let end = (screen[at] + screen[at + 2]).min(window[at] + window[at + 2]);
        (start, end.saturating_sub(start))
    };
    let [(x, width), (y, height)] = [side(0), side(1)];
    Scissors { screen, window, effective: [x, y, width, height] }
}

/// Where targets are drawn: RB_BIN_CONTROL says whether in tile memory.
fn place(regs: &RegFile, base: GpuAddress, gmem: u32) -> SurfacePlace {
    match regs.get::<RB_BIN_CONTROL>().BUFFERS_LOCATION() {
        BuffersLocation::BUFFERS_IN_GMEM => SurfacePlace::Gmem(gmem),
        _ => SurfacePlace::Address(Address::of(base)),
    }
}

fn with_targets(draw: Draw, regs: &RegFile) -> Draw {
    let [x, y, width, height] = scissors(regs).window;
    let is_tile = matches!(place(regs, GpuAddress::default(), 0), SurfacePlace::Gmem(_));
    let alpha = regs.get::<RB_ALPHA_CONTROL>();
    let constant = [
        regs.get::<RB_BLEND_RED_F32>().VALUE(),
        regs.get::<RB_BLEND_GREEN_F32>().VALUE(),
        regs.get::<RB_BLEND_BLUE_F32>().VALUE(),
        regs.get::<RB_BLEND_ALPHA_F32>().VALUE(),
    ];
    Draw {
        tile: is_tile.then_some(Tile { x, y, width, height }),
        frame: (!is_tile).then_some([x + width, y + height]),
        alpha_test: alpha.ALPHA_TEST().then(|| AlphaTest {
            func: name(alpha.ALPHA_TEST_FUNC()),
            reference: alpha.ALPHA_REF() as f32 / 255.0,
        }),
        depth: depth(regs),
        stencil: stencil(regs),
        blend_constant: Some(constant),
        targets: targets(regs),
        ..draw
    }
}

/// The targets that the shader has outputs for.
fn targets(regs: &RegFile) -> Vec<Target> {
    let count = regs.get::<RB_FS_OUTPUT_CNTL1>().MRT().min(TARGETS);
    (0..count).filter_map(|index| target(regs, index)).collect()
}

fn target(regs: &RegFile, index: u32) -> Option<Target> {
    let (control, info) = (regs.at::<RB_MRT_CONTROL>(index), regs.at::<RB_MRT_BUF_INFO>(index));
    if matches!(info.COLOR_FORMAT(), Format::FMT6_NONE | Format::Other(_)) {
        return None;
    }
    let written = control.COMPONENT_ENABLE() & regs.read(RB_RENDER_COMPONENTS::ROW.offset) >> (4 * index);
    let (base, gmem) = (wide_at::<RB_MRT_BASE_LO>(regs, index), regs.at::<RB_MRT_BASE_GMEM>(index).VALUE());
    Some(Target {
        index,
        format: name(info.COLOR_FORMAT()),
        swap: name(info.COLOR_SWAP()),
        tile_mode: Some(name(info.COLOR_TILE_MODE())),
        srgb: regs.read(RB_SRGB_CNTL::ROW.offset) >> index & 1 != 0,
        place: place(regs, base, gmem),
        pitch: regs.at::<RB_MRT_PITCH>(index).VALUE(),
        register: register(regs.at::<SP_FS_OUTPUT_REG>(index).REGID()),
        write_mask: components(written, ['r', 'g', 'b', 'a']),
        blend: control.BLEND().then(|| blend(regs.at(index))),
        rop: control.ROP_ENABLE().then(|| name(control.ROP_CODE())),
        pixel: None,
        tiling: Tiling::Linear,
    })
}

fn blend(control: RB_MRT_BLEND_CONTROL) -> Blend {
    Blend {
        rgb: Equation::new(control.RGB_BLEND_OPCODE(), control.RGB_SRC_FACTOR(), control.RGB_DEST_FACTOR()),
        alpha: Equation::new(
            control.ALPHA_BLEND_OPCODE(),
            control.ALPHA_SRC_FACTOR(),
            control.ALPHA_DEST_FACTOR(),
        ),
    }
}

fn depth(regs: &RegFile) -> Option<Depth> {
    let (format, control) = (regs.get::<RB_DEPTH_BUFFER_INFO>().DEPTH_FORMAT(), regs.get::<RB_DEPTH_CNTL>());
    let pixel = match format {
        DepthFormat::DEPTH6_16 => depth::DepthFormat::Unorm16,
        DepthFormat::DEPTH6_24_8 => depth::DepthFormat::Unorm24Stencil8,
        DepthFormat::DEPTH6_32 => depth::DepthFormat::Float32,
        DepthFormat::DEPTH6_NONE | DepthFormat::Other(_) => return None,
    };
    let base = regs.address(RB_DEPTH_BUFFER_BASE_LO::ROW.offset);
    Some(Depth {
        format: name(format),
        place: place(regs, base, regs.get::<RB_DEPTH_BUFFER_BASE_GMEM>().VALUE()),
        pitch: regs.get::<RB_DEPTH_BUFFER_PITCH>().VALUE(),
        test: control.Z_TEST_ENABLE(),
        write: control.Z_WRITE_ENABLE(),
        func: name(control.ZFUNC()),
        pixel,
    })
}

fn stencil(regs: &RegFile) -> Option<Stencil> {
    let control = regs.get::<RB_STENCIL_CONTROL>();
    let (reference, mask, write) =
        (regs.get::<RB_STENCILREF>(), regs.get::<RB_STENCILMASK>(), regs.get::<RB_STENCILWRMASK>());
    let front = StencilFace::new(
        control.FUNC(),
        [control.FAIL(), control.ZFAIL(), control.ZPASS()],
        [reference.REF(), mask.MASK(), write.WRMASK()],
    );
    let back = StencilFace::new(
        control.FUNC_BF(),
        [control.FAIL_BF(), control.ZFAIL_BF(), control.ZPASS_BF()],
        [reference.BFREF(), mask.BFMASK(), write.BFWRMASK()],
    );
    let back = if control.STENCIL_ENABLE_BF() { back } else { front.clone() };
    let base = regs.address(RB_STENCIL_BUFFER_BASE_LO::ROW.offset);
    let separate = regs.get::<RB_STENCIL_INFO>().SEPARATE_STENCIL().then(|| StencilBuffer {
        place: place(regs, base, regs.get::<RB_STENCIL_BUFFER_BASE_GMEM>().VALUE()),
        pitch: regs.get::<RB_STENCIL_BUFFER_PITCH>().VALUE(),
    });
    control.STENCIL_ENABLE().then_some(Stencil { separate, front, back })
}
