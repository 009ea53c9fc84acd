//! A shader stage of a draw: the program, and the values of the resources it names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use a4emu_decoder::a4xx::regs::tex::*;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::name::{Address, STAGE_NAMES, components, name, slot_name};
use super::texture::{Sampler, Texture};
use a4emu_gpu::a4xx::sp::{code, place};
use a4emu_gpu::gpu::{ShaderState, SsboState, Stage};
use a4emu_gpu::memory::Memory;
use a4emu_gpu::settled::Synced;
use a4emu_rules::number::Number;
use a4emu_rules::shader::{Shader, Shaders, Uses};

/// First vec4 of the constant file that mirrors storage descriptors.
const SSBO_MIRROR: usize = 448;

/// The kind of a constant buffer.
pub(super) const CONSTANTS: &str = "constants";

/// A stage of a draw or dispatch.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderStage {
    /// The stage.
    pub stage: Stage,
    /// Address of its program in memory, as the registers have it.
    pub address: Address,
    /// The program; none if the capture does not hold it.
    pub shader: Option<Arc<Shader>>,
    /// The constants that the program names, in order.
    pub constants: Vec<Constant>,
    /// The textures that the program names.
    pub textures: Vec<Texture>,
    /// The samplers that the program names.
    pub samplers: Vec<Sampler>,
    /// The storage buffers and images that the program names.
    pub buffers: Vec<Buffer>,
}

/// A vec4 of the constant file.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// `n` of `c<n>`.
    pub index: u32,
    /// Components that the program names, such as `xz`.
    pub components: String,
    /// All four components, as bits.
    pub bits: [u32; 4],
    /// What the program takes each component for.
    pub numbers: [Option<Number>; 4],
}

impl Constant {
    /// All four components as text, by what the program takes them for.
    pub fn values(&self) -> [String; 4] {
        std::array::from_fn(|at| self.number(at).text(self.bits[at]))
    }

    /// What component `at` is taken for, or what it seems to be.
    pub fn number(&self, at: usize) -> Number {
        self.numbers[at].unwrap_or_else(|| Number::guess([self.bits[at]]))
    }
}

impl Serialize for Constant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Constant", 5)?;
        out.serialize_field("index", &self.index)?;
        out.serialize_field("components", &self.components)?;
        out.serialize_field("bits", &self.bits)?;
        // A value that is not finite is null in JSON.
        out.serialize_field("floats", &self.bits.map(f32::from_bits))?;
        out.serialize_field("values", &self.values())?;
        out.end()
    }
}

/// A storage buffer or image.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Buffer {
    /// The bindless base that the slot is of; none if it is one of the stage's bindings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<u8>,
    /// Slot.
    pub slot: u32,
    /// Address of its first byte.
    pub address: Address,
    /// Format of a pixel.
    pub format: String,
    /// Width and height of an image; for a buffer, the low and high half of its number of elements.
    pub size: [u32; 3],
    /// Bytes of a pixel.
    pub cpp: u32,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Bytes from layer to layer.
    pub layer_bytes: u32,
    /// What the descriptor of an A6xx describes: `buffer`, an image such as `2D`, or `constants`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Bytes that the descriptor of an A6xx describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Buffer {
    /// `buffer`, or `constant buffer`, which has numbers of its own.
    pub fn kind(&self) -> &'static str {
        if self.kind.as_deref() == Some(CONSTANTS) { "constant buffer" } else { "buffer" }
    }

    /// The name of the slot.
    pub fn slot_name(&self) -> String {
        slot_name(self.base, self.slot)
    }

    /// Bytes from its address on that are looked at: those that its descriptor describes, or up to the end of what the
    /// capture holds there.
    pub fn held(&self, memory: &Memory) -> u32 {
        let room = memory.room(self.address.gpu());
        self.bytes.map_or(room, |bytes| room.min(u32::try_from(bytes).unwrap_or(u32::MAX)))
    }
}

impl ShaderStage {
    /// Name of the stage.
    pub fn name(&self) -> &'static str {
        STAGE_NAMES[self.stage as usize]
    }

    /// Describes `stage` with the current state of `gpu`.
    pub(super) fn of(gpu: Synced<'_>, stage: Stage, shaders: &mut Shaders) -> Self {
        let address = Address::of(place(&gpu.regs, stage).0);
        let shader = code(gpu.view(), stage).ok().map(|words| shaders.get(&words, &gpu.budget));
        let none = Uses::default();
        let uses = shader.as_ref().map_or(&none, |shader| &shader.uses);
        let (loaded, ssbo) = (gpu.loaded.stage(stage), gpu.loaded.ssbo(stage));
        Self {
            stage,
            address,
            constants: constants(loaded, ssbo, uses),
            textures: textures(loaded, uses),
            samplers: samplers(loaded, uses),
            buffers: buffers(ssbo, uses),
            shader,
        }
    }
}

impl Serialize for ShaderStage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ShaderStage", 8)?;
        out.serialize_field("stage", self.name())?;
        out.serialize_field("address", &self.address)?;
        out.serialize_field("hash", &self.shader.as_ref().map(|shader| format!("{:016x}", shader.hash)))?;
        let code: Option<Vec<String>> = self.shader.as_ref().map(|shader| shader.lines().collect());
        out.serialize_field("instructions", &code)?;
        out.serialize_field("constants", &self.constants)?;
        out.serialize_field("textures", &self.textures)?;
        out.serialize_field("samplers", &self.samplers)?;
        out.serialize_field("buffers", &self.buffers)?;
        out.end()
    }
}

impl ShaderStage {
    /// A stage whose program is at `address`, with the constants that it names. Its descriptors are not described.
    pub(super) fn with_constants(
        gpu: Synced<'_>,
        stage: Stage,
        address: Address,
        shader: Option<Arc<Shader>>,
    ) -> Self {
        let none = Uses::default();
        let uses = shader.as_ref().map_or(&none, |shader| &shader.uses);
        let constants = constants(gpu.loaded.stage(stage), &SsboState::default(), uses);
        let (textures, samplers, buffers) = Default::default();
        Self { stage, address, constants, textures, samplers, buffers, shader }
    }
}

/// Number of slots up to the last one that is not zero.
fn filled<const N: usize>(slots: &[[u32; N]]) -> usize {
    slots.iter().rposition(|slot| *slot != [0; N]).map_or(0, |last| last + 1)
}

fn constants(loaded: &ShaderState, ssbo: &SsboState, uses: &Uses) -> Vec<Constant> {
    let mut masks = BTreeMap::new();
    for scalar in uses.constants.keys() {
        *masks.entry(usize::from(scalar / 4)).or_insert(0) |= 1 << (scalar % 4);
    }
    if uses.relative_constants {
        masks.extend((0..filled(&loaded.constants)).map(|index| (index, 0xf)));
    }
    let value =
        |index: usize| match index.checked_sub(SSBO_MIRROR).and_then(|slot| ssbo.descriptors.get(slot)) {
            Some(descriptor) if index < SSBO_MIRROR + filled(&ssbo.descriptors) => *descriptor,
            _ => loaded.constants.get(index).copied().unwrap_or_default(),
        };
    let constant = |(index, mask): (usize, u32)| {
        let bits = value(index);
        let components = components(mask, ['x', 'y', 'z', 'w']);
        let taken = |at: usize| match index.checked_sub(SSBO_MIRROR) {
            // Constants that mirror a descriptor are addresses and sizes.
            Some(slot) if slot < filled(&ssbo.descriptors) => Some(Number::Bits),
            _ => uses.constants.get(&((4 * index + at) as u16)).and_then(|taken| taken.number()),
        };
        Constant { index: index as u32, components, bits, numbers: std::array::from_fn(taken) }
    };
    masks.into_iter().map(constant).collect()
}

fn textures(loaded: &ShaderState, uses: &Uses) -> Vec<Texture> {
    let mut slots: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (sampler, texture) in &uses.samples {
        slots.entry((*texture).into()).or_default().extend(sampler.map(u32::from));
    }
    if uses.relative_samples {
        for slot in 0..filled(&loaded.textures) as u32 {
            slots.entry(slot).or_default();
        }
    }
    let texture = |(slot, samplers): (u32, Vec<u32>)| {
        let words = loaded.textures.get(slot as usize).copied().unwrap_or_default();
        Texture::new(slot, samplers, words)
    };
    slots.into_iter().map(texture).collect()
}

fn samplers(loaded: &ShaderState, uses: &Uses) -> Vec<Sampler> {
    let named = uses.samples.iter().filter_map(|(sampler, _)| sampler.map(u32::from));
    let mut slots: BTreeSet<u32> = named.collect();
    if uses.relative_samples {
        slots.extend(0..filled(&loaded.samplers) as u32);
    }
    let words = |slot: u32| loaded.samplers.get(slot as usize).copied().unwrap_or_default();
    slots.into_iter().map(|slot| Sampler::new(slot, words(slot))).collect()
}

fn buffers(ssbo: &SsboState, uses: &Uses) -> Vec<Buffer> {
    let mut slots: BTreeSet<u32> = uses.buffers.iter().map(|slot| (*slot).into()).collect();
    if uses.relative_buffers {
        slots.extend(0..filled(&ssbo.descriptors) as u32);
    }
    slots.into_iter().map(|slot| buffer(ssbo, slot)).collect()
}

fn buffer(ssbo: &SsboState, slot: u32) -> Buffer {
    let at = slot as usize;
    let [base, pitch, layer, cpp] = ssbo.descriptors.get(at).copied().unwrap_or_default();
    let [size_0, size_1] = ssbo.sizes.get(at).copied().unwrap_or_default();
    let (size_0, size_1) = (SSBO_1_0(size_0), SSBO_1_1(size_1));
    Buffer {
        base: None,
        kind: None,
        bytes: None,
        slot,
        address: Address::of(SSBO_0_0(base).BASE()),
        format: name(size_0.FMT()),
        size: [size_0.WIDTH(), size_1.HEIGHT(), size_1.DEPTH()],
        cpp: SSBO_0_3(cpp).CPP(),
        pitch: SSBO_0_1(pitch).PITCH(),
        layer_bytes: SSBO_0_2(layer).ARRAY_PITCH(),
    }
}
