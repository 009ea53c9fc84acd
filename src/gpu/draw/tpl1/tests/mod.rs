//! Tests with small hand-made textures, sampled through a bank as a draw does.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod code;
mod cube;
mod fetch;
mod filter;
mod hostile;
mod levels;
mod planar;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[path = "../../../../../decoder/tests/seed/mod.rs"]
mod seed;
mod shadow;

use a4emu_decoder::a4xx::enums::{TexClamp, TexFmt, TexType};
use a4emu_decoder::a4xx::regs::tex::*;
use a4emu_decoder::bits::FieldRow;

use super::{TextureBank, TextureError};
use crate::a4xx::tpl1::bank;
use crate::machine::Model;
use crate::memory::Memory;
use a4emu_shader::{ALL, Few, LANES, Lanes, Lod, Number, Query, Sample, SampleKind, Slots};

const BASE: u32 = 0x1000_0000;
const BORDERS: u32 = 0x2000_0000;

/// Returns a word with these (raw) values in its named fields.
pub fn word(fields: &[FieldRow], values: &[(&str, u32)]) -> u32 {
    let field = |name: &str| fields.iter().find(|field| field.name == name).expect("a field of the word");
    values.iter().fold(0, |word, (name, value)| word | (value << field(name).lo) & field(name).mask())
}

/// A texture and sampler under construction.
#[derive(Clone, Debug)]
pub struct Scene {
    pub fmt: TexFmt,
    pub ty: TexType,
    pub size: (u32, u32, u32),
    pub levels: u32,
    pub pitch: u32,
    /// log2 of the pitch alignment, less 5.
    pub pitch_align: u32,
    pub layer_size: u32,
    pub swizzle: [u32; 4],
    pub bytes: Vec<u8>,
    pub sampler0: Vec<(&'static str, u32)>,
    pub sampler1: Vec<(&'static str, u32)>,
    pub border: [f32; 4],
    pub model: Model,
}

impl Scene {
    /// Creates a 2D texture of `bytes`, rows without gaps, nearest and repeating.
    pub fn new(fmt: TexFmt, width: u32, height: u32, texel: u32, bytes: Vec<u8>) -> Self {
        Self {
            fmt,
            ty: TexType::A4XX_TEX_2D,
            size: (width, height, 0),
            levels: 1,
            pitch: width * texel,
            pitch_align: 0,
            layer_size: 0x1000,
            swizzle: [0, 1, 2, 3],
            bytes,
            sampler0: vec![],
            // An upper limit without effect.
            sampler1: vec![("MAX_LOD", 14 << 8)],
            border: [0.0; 4],
            model: Model::Board,
        }
    }

    /// Creates a single row of one byte per texel, as unorm.
    pub fn row(texels: &[u8]) -> Self {
        // A pitch is a multiple of 32 bytes. The texels fill the first ones.
        let mut bytes = texels.to_vec();
        bytes.resize(32, 0);
        Self { pitch: 32, ..Self::new(TexFmt::TFMT4_8_UNORM, texels.len() as u32, 1, 1, bytes) }
    }

    /// Creates `rows` of one byte per texel, as unorm.
    pub fn grid<const N: usize>(rows: &[[u8; N]]) -> Self {
        let row =
            |row: &[u8; N]| row.iter().copied().chain(std::iter::repeat(0)).take(32).collect::<Vec<_>>();
        let bytes = rows.iter().flat_map(row).collect();
        Self { pitch: 32, ..Self::new(TexFmt::TFMT4_8_UNORM, N as u32, rows.len() as u32, 1, bytes) }
    }

    pub fn linear(mut self) -> Self {
        self.sampler0.extend([("XY_MAG", 1), ("XY_MIN", 1)]);
        self
    }

    pub fn wrapped(mut self, wrap: TexClamp) -> Self {
        let wrap = wrap.to_bits();
        self.sampler0.extend([("WRAP_S", wrap), ("WRAP_T", wrap), ("WRAP_R", wrap)]);
        self
    }

    pub fn sampler(mut self, word0: &[(&'static str, u32)], word1: &[(&'static str, u32)]) -> Self {
        self.sampler0.extend(word0);
        self.sampler1.extend(word1);
        self
    }

    pub fn texture_words(&self) -> [u32; 8] {
        let [x, y, z, w] = self.swizzle;
        let (width, height, depth) = self.size;
        let c0 = [
            ("FMT", self.fmt.to_bits()),
            ("TYPE", self.ty.to_bits()),
            ("MIPLVLS", self.levels - 1),
            ("SWIZ_X", x),
            ("SWIZ_Y", y),
            ("SWIZ_Z", z),
            ("SWIZ_W", w),
        ];
        let c2 = [("PITCHALIGN", self.pitch_align), ("PITCH", self.pitch)];
        let c3 = [("LAYERSZ", self.layer_size / 4096), ("DEPTH", depth)];
        [
            word(TEX_CONST_0::FIELDS, &c0),
            word(TEX_CONST_1::FIELDS, &[("WIDTH", width), ("HEIGHT", height)]),
            word(TEX_CONST_2::FIELDS, &c2),
            word(TEX_CONST_3::FIELDS, &c3),
            BASE,
            0,
            0,
            0,
        ]
    }

    pub fn sampler_words(&self) -> [u32; 2] {
        [word(TEX_SAMP_0::FIELDS, &self.sampler0), word(TEX_SAMP_1::FIELDS, &self.sampler1)]
    }

    fn memory(&self) -> Memory {
        let mut memory = Memory::new();
        memory.announce(BASE, self.bytes.len() as u32, Some(&self.bytes));
        let mut record = [0; 64];
        for (to, value) in record[32..48].as_chunks_mut::<4>().0.iter_mut().zip(self.border) {
            *to = value.to_le_bytes();
        }
        memory.announce(BORDERS, 64, Some(&record));
        memory
    }

    pub fn bank(&self, memory: &Memory) -> TextureBank {
        bank(&[self.texture_words()], &[self.sampler_words()], BORDERS, self.model, memory)
    }

    /// Runs `request` in both ways, and compares the results.
    pub fn ask(&self, request: &Sample<&Lanes>) -> [Lanes; 4] {
        let memory = self.memory();
        let bank = self.bank(&memory);
        let (mut out, mut through) = ([Lanes::ZERO; 4], [Lanes::ZERO; 4]);
        assert_eq!(bank.bind(&memory).sample(request, ALL, &mut out).used, 1);
        bank.sample(&memory, request, ALL, &mut through);
        assert_eq!(out, through);
        out
    }

    /// Returns the colour at one place, with the same coordinates in all lanes.
    pub fn at(&self, coords: &[f32]) -> [f32; 4] {
        self.colors(&coords.iter().map(|&c| [c; LANES]).collect::<Vec<_>>())[0]
    }

    /// Returns the colours of the 32 lanes.
    pub fn colors(&self, coords: &[[f32; LANES]]) -> [[f32; 4]; LANES] {
        let lanes: Vec<Lanes> = coords.iter().map(|&c| Lanes::from(c)).collect();
        let refs: Vec<&Lanes> = lanes.iter().collect();
        by_lane(&self.ask(&request(&refs)))
    }

    pub fn query(&self, request: &Query<&Lanes>) -> [u32; 4] {
        let memory = self.memory();
        let mut out = [Lanes::ZERO; 4];
        self.bank(&memory).query(request, ALL, &mut out);
        out.map(|lanes| lanes[0])
    }
}

/// Creates a filtered request of all lanes with implicit level of detail.
pub fn request<'a>(coords: &'a [&'a Lanes]) -> Sample<&'a Lanes> {
    Sample {
        kind: SampleKind::Filter,
        lod: Lod::Implicit,
        number: Number::Float,
        components: 0xf,
        slots: Slots::Uniform { sampler: 0, texture: 0 },
        coords: Few::new(coords),
        layer: None,
        reference: None,
        projector: None,
        offsets: None,
        sample: None,
    }
}

pub fn by_lane(out: &[Lanes; 4]) -> [[f32; 4]; LANES] {
    std::array::from_fn(|i| std::array::from_fn(|c| f32::from_bits(out[c][i])))
}

/// Converts a colour to steps of 1/255, the units of `Scene::row`.
pub fn steps(color: f32) -> f32 {
    (color * 255.0 * 256.0).round() / 256.0
}
