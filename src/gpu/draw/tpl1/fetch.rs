//! Reads texels at positions, and converts them to components.
use bytemuck::Pod;
use multiversion::target::match_target;

use super::block_cache::BlockCache;
use super::descriptor::{Texels, Texture};
use super::layout::{Level, MAX_LEVELS, Pyramid};
use super::wrap::Pair;
use super::{Color, Floats, Ints, simd};
use a4emu_shader::format::Codec;
use a4emu_shader::format::arrangement::Arrangement;
use a4emu_shader::{LANES, Lanes, Mask};

/// Level of each lane, as one array per field.
pub(super) struct Images {
    pub width: Ints,
    pub height: Ints,
    pub depth: Ints,
    offset: [u32; LANES],
    pitch: [u32; LANES],
    slice: [u32; LANES],
}

/// One texel per lane; `z` is a slice, layer or face.
#[derive(Clone, Copy)]
pub(super) struct Texel<'a> {
    pub x: &'a Ints,
    pub y: &'a Ints,
    pub z: &'a Ints,
}

impl Images {
    /// Returns level `index[lane]` for each lane. A level that does not exist gives undefined values, so
    /// callers must check `index`.
    pub fn of(levels: &Pyramid, index: &Ints) -> Self {
        if levels.len() > 1 { pick(&levels.table, index) } else { Self::uniform(&levels[0]) }
    }

    /// Returns the same level for all lanes.
    pub fn uniform(level: &Level) -> Self {
        Self {
            width: [level.width as i32; LANES],
            height: [level.height as i32; LANES],
            depth: [level.depth as i32; LANES],
            offset: [level.offset; LANES],
            pitch: [level.pitch; LANES],
            slice: [level.slice; LANES],
        }
    }

    /// Returns the offset of row `y` of the first slice, in the level of `lane`.
    #[inline(always)]
    pub fn row(&self, lane: usize, y: u32) -> u32 {
        self.offset[lane].wrapping_add(y.wrapping_mul(self.pitch[lane]))
    }

    /// Returns the bytes from one row to the next, in the level of `lane`.
    #[inline(always)]
    pub fn pitch(&self, lane: usize) -> u32 {
        self.pitch[lane]
    }

    /// Returns the lanes whose texel does not exist.
    pub fn outside(&self, at: &Texel<'_>) -> Lanes {
        let mut outside = Lanes::ZERO;
        for i in 0..LANES {
            let inside = (at.x[i] as u32) < self.width[i] as u32
                && (at.y[i] as u32) < self.height[i] as u32
                && (at.z[i] as u32) < self.depth[i] as u32;
            outside.0[i] = u32::from(!inside);
        }
        outside
    }
}

/// Reads texels of one texture during one request.
pub(super) struct Fetcher<'a> {
    texels: &'a Texels,
    arrangement: Arrangement,
    bytes: &'a [u8],
    /// Required components: bit 0 is x.
    need: u32,
    blocks: Option<BlockCache>,
}

impl<'a> Fetcher<'a> {
    pub fn new(texture: &'a Texture, bytes: &'a [u8], need: u32) -> Self {
        let blocks = match texture.texels {
            Texels::Plain(_) => None,
            Texels::Block { compression, format, transfer, profile } => {
                Some(BlockCache::new(compression, format, transfer, profile))
            }
        };
        Self { texels: &texture.texels, arrangement: texture.arrangement, bytes, need, blocks }
    }

    /// Returns the number of texels decoded from blocks so far.
    pub fn decoded(&self) -> u64 {
        self.blocks.as_ref().map_or(0, BlockCache::decoded)
    }

    /// Reads components of `at`, from the first sample of multisampled textures. Missing memory reads as 0. A
    /// texel that does not exist gives undefined values, so callers must check [`Images::outside`].
    pub fn texels(&mut self, images: &Images, at: &Texel<'_>, out: &mut Color) {
        match self.texels {
            Texels::Plain(_) if self.arrangement != Arrangement::PLAIN => {
                self.samples(images, at, &[0; LANES], out);
            }
            Texels::Plain(codec) => plain(codec, self.bytes, self.need, images, at, out),
            Texels::Block { .. } => self.compressed(images, at, out),
        }
    }

    /// Reads components of sample `sample` of each texel. A sample that does not exist means the last.
    pub fn samples(&mut self, images: &Images, at: &Texel<'_>, sample: &Ints, out: &mut Color) {
        let Texels::Plain(codec) = self.texels else { return self.texels(images, at, out) };
        let Arrangement { samples, tiling } = self.arrangement;
        let (mut x, mut y) = ([0; LANES], [0; LANES]);
        for i in 0..LANES {
            let tiling = tiling.of_level(images.width[i] as u32);
            let [column, row] = tiling.in_rows([at.x[i] as u32, at.y[i] as u32], images.pitch(i));
            let sample = (sample[i] as u32).min(samples - 1);
            (x[i], y[i]) = (column.wrapping_mul(samples).wrapping_add(sample) as i32, row as i32);
        }
        plain(codec, self.bytes, self.need, images, &Texel { x: &x, y: &y, z: at.z }, out);
    }

    /// Returns the codec for single texels, if they are in row order.
    pub fn codec(&self) -> Option<&'a Codec> {
        match self.texels {
            Texels::Plain(codec) if self.arrangement == Arrangement::PLAIN => Some(codec),
            Texels::Plain(_) | Texels::Block { .. } => None,
        }
    }

    /// Blends the four texels around a position. The result is equal to blending results of
    /// [`Fetcher::texels`].
    pub fn bilinear(&self, codec: &Codec, images: &Images, [x, y]: [&Pair; 2], z: &Ints, out: &mut Color) {
        bilinear(codec, self.bytes, self.need, images, [x, y], z, out);
    }

    fn compressed(&mut self, images: &Images, at: &Texel<'_>, out: &mut Color) {
        let Some(blocks) = &mut self.blocks else { return };
        let (block, tiling) = (blocks.block(), self.arrangement.tiling);
        for i in 0..LANES {
            let (x, y, z) = (at.x[i].max(0) as u32, at.y[i].max(0) as u32, at.z[i].max(0) as u32);
            let tiling = tiling.of_level(images.width[i] as u32);
            let [column, line] = tiling.in_rows([x / block.width, y / block.height], images.pitch(i));
            let start = column.wrapping_mul(block.bytes).wrapping_add(row(images, i, line, z));
            let texel = blocks.texel(self.bytes, start, x % block.width, y % block.height);
            for (out, lane) in out.iter_mut().zip(texel) {
                out[i] = lane;
            }
        }
    }
}

simd! {
    /// Returns the level of each lane: number `index[lane]` in `table`.
    fn pick(table: &[[u32; MAX_LEVELS]; 6], index: &Ints) -> Images {
        let pick = |field: usize| match_target! {
            "x86_64+avx512f" => pick_at_once(&table[field], index),
            _ => pick_each(&table[field], index),
        };
        let [width, height, depth, offset, pitch, slice] = std::array::from_fn(pick);
        let ints = |field: [u32; LANES]| bytemuck::cast(field);
        Images { width: ints(width), height: ints(height), depth: ints(depth), offset, pitch, slice }
    }
}

/// Returns for each lane the number selected by the last four bits of `index`.
#[inline(always)]
fn pick_each(table: &[u32; MAX_LEVELS], index: &Ints) -> [u32; LANES] {
    let mut out = [0; LANES];
    for i in 0..LANES {
        out[i] = table[index[i] as usize % MAX_LEVELS];
    }
    out
}

/// Selects numbers as [`pick_each`] does, with one instruction per 16 lanes. The compiler does not generate
/// it from a loop.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn pick_at_once(table: &[u32; MAX_LEVELS], index: &Ints) -> [u32; LANES] {
    let table = bytemuck::cast(*table);
    let mut out = [0; LANES];
    for (out, index) in out.as_chunks_mut::<16>().0.iter_mut().zip(index.as_chunks::<16>().0) {
        *out = bytemuck::cast(std::arch::x86_64::_mm512_permutexvar_epi32(bytemuck::cast(*index), table));
    }
    out
}

simd! {
    fn plain(codec: &Codec, bytes: &[u8], need: u32, images: &Images, at: &Texel<'_>, out: &mut Color) {
        let at = offsets(codec, at.x, &rows(images, at.y, at.z));
        let (mut words, mut held) = ([0; LANES], None);
        for c in 0..4 {
            if need >> c & 1 == 0 {
                continue;
            }
            if held != Some(codec.dword(c)) {
                held = Some(codec.dword(c));
                gather(codec, c, bytes, &at, &mut words);
            }
            out[c] = codec.decode_component_of(c, &words);
        }
    }
}

simd! {
    fn bilinear(
        codec: &Codec,
        bytes: &[u8],
        need: u32,
        images: &Images,
        [x, y]: [&Pair; 2],
        z: &Ints,
        out: &mut Color,
    ) {
        let (top, bottom) = (rows(images, &y.near, z), rows(images, &y.far, z));
        let at = [
            offsets(codec, &x.near, &top),
            offsets(codec, &x.far, &top),
            offsets(codec, &x.near, &bottom),
            offsets(codec, &x.far, &bottom),
        ];
        let (mut words, mut held) = ([[0; LANES]; 4], None);
        let side_by_side = codec.bytes() == 4 && are_next(&x.near, &x.far);
        for c in 0..4 {
            if need >> c & 1 == 0 {
                continue;
            }
            if held != Some(codec.dword(c)) {
                held = Some(codec.dword(c));
                for taps in [0, 2] {
                    let [left, right] = [&at[taps], &at[taps + 1]];
                    let [.., a, b] = &mut words[..taps + 2] else { unreachable!("two of four") };
                    if !(side_by_side && gather_pairs(bytes, left, a, b)) {
                        gather(codec, c, bytes, left, a);
                        gather(codec, c, bytes, right, b);
                    }
                }
            }
            mix_taps(codec, c, &words, &x.weight, &y.weight, &mut out[c]);
        }
    }
}

/// Mixes one component of four texels, in x and then in y.
#[inline(always)]
fn mix_taps(
    codec: &Codec,
    c: usize,
    words: &[[u32; LANES]; 4],
    x: &Floats,
    y: &Floats,
    out: &mut [u32; LANES],
) {
    let left_top = codec.decode_component_of(c, &words[0]);
    let right_top = codec.decode_component_of(c, &words[1]);
    let left_bottom = codec.decode_component_of(c, &words[2]);
    let right_bottom = codec.decode_component_of(c, &words[3]);
    for i in 0..LANES {
        let top = mix(f32::from_bits(left_top[i]), f32::from_bits(right_top[i]), x[i]);
        let bottom = mix(f32::from_bits(left_bottom[i]), f32::from_bits(right_bottom[i]), x[i]);
        out[i] = mix(top, bottom, y[i]).to_bits();
    }
}

/// Mixes two numbers, as all linear filters do.
#[inline(always)]
pub(super) fn mix(a: f32, b: f32, weight: f32) -> f32 {
    a + weight * (b - a)
}

/// Mixes `far` into `near`, lane by lane.
#[inline(always)]
pub(super) fn mix_all(near: &mut [u32; LANES], far: &[u32; LANES], weight: &Floats) {
    for i in 0..LANES {
        near[i] = mix(f32::from_bits(near[i]), f32::from_bits(far[i]), weight[i]).to_bits();
    }
}

/// Returns the offset of block row `y` in slice `z`. Hostile sizes wrap; the reader checks the offset against
/// the bytes.
#[inline(always)]
fn row(images: &Images, lane: usize, y: u32, z: u32) -> u32 {
    let slice = z.wrapping_mul(images.slice[lane]);
    images.offset[lane].wrapping_add(slice).wrapping_add(y.wrapping_mul(images.pitch[lane]))
}

#[inline(always)]
fn rows(images: &Images, y: &Ints, z: &Ints) -> [u32; LANES] {
    let mut out = [0; LANES];
    for i in 0..LANES {
        out[i] = row(images, i, y[i] as u32, z[i] as u32);
    }
    out
}

#[inline(always)]
fn offsets(codec: &Codec, x: &Ints, rows: &[u32; LANES]) -> [u32; LANES] {
    let size = codec.bytes();
    let mut at = [0; LANES];
    for i in 0..LANES {
        at[i] = rows[i].wrapping_add((x[i] as u32).wrapping_mul(size));
    }
    at
}

/// Reads texels of `size` bytes (1, 2 or 4) at these offsets. Texels outside `bytes` are 0.
#[inline(always)]
pub(super) fn gather_texels(size: u32, bytes: &[u8], at: &[u32; LANES], out: &mut [u32; LANES]) {
    match size {
        1 => gather_units::<u8>(bytes, 0, at, out),
        2 => gather_units::<u16>(bytes, 0, at, out),
        _ => gather_units::<u32>(bytes, 0, at, out),
    }
}

/// Reads the dwords with component `c` of the texels at these offsets. Dwords outside `bytes` are 0.
#[inline(always)]
fn gather(codec: &Codec, c: usize, bytes: &[u8], at: &[u32; LANES], out: &mut [u32; LANES]) {
    match codec.bytes() {
        1 => gather_units::<u8>(bytes, 0, at, out),
        2 => gather_units::<u16>(bytes, 0, at, out),
        _ => gather_units::<u32>(bytes, codec.dword(c), at, out),
    }
}

/// Reads the `T` that is `plus` units after each offset. Offsets are multiples of its size. The host is
/// little-endian like the chip.
#[inline(always)]
fn gather_units<T: Pod + Into<u32>>(bytes: &[u8], plus: u32, at: &[u32; LANES], out: &mut [u32; LANES]) {
    let size = size_of::<T>();
    let whole = bytes.len() - bytes.len() % size;
    let units: &[T] = bytemuck::try_cast_slice(&bytes[..whole]).unwrap_or_default();
    for i in 0..LANES {
        let index = (at[i] / size as u32).wrapping_add(plus) as usize;
        // The early return prevents the compiler from using a vector gather, which is slower than 32 loads on
        // the CPUs that we measured.
        match units.get(index) {
            Some(&unit) => out[i] = unit.into(),
            None => return gather_bytes(bytes, plus, at, size, out),
        }
    }
}

/// Returns whether each position in `far` is one after the position in `near`.
#[inline(always)]
fn are_next(near: &Ints, far: &Ints) -> bool {
    let mut others = 0;
    for i in 0..LANES {
        others |= far[i] ^ (near[i] + 1);
    }
    others == 0
}

/// Reads the dword at each offset and the one after it, with one load. Returns false when one is outside
/// `bytes`.
#[inline(always)]
pub(super) fn gather_pairs(
    bytes: &[u8],
    at: &[u32; LANES],
    first: &mut [u32; LANES],
    second: &mut [u32; LANES],
) -> bool {
    let mut pairs = [0; LANES];
    if !load_pairs(bytes, at, &mut pairs) {
        return false;
    }
    for i in 0..LANES {
        (first[i], second[i]) = (pairs[i] as u32, (pairs[i] >> 32) as u32);
    }
    true
}

simd! {
    /// Reads the two dwords at each offset; returns false when one is outside. A separate function, because
    /// inlined for 32 lanes it would need more registers than the host has.
    fn load_pairs(bytes: &[u8], at: &[u32; LANES], pairs: &mut [u64; LANES]) -> bool {
        let Some(last) = bytes.len().checked_sub(PAIR) else { return false };
        let mut highest = 0;
        for i in 0..LANES {
            highest = highest.max(at[i]);
        }
        if highest as usize > last {
            return false;
        }
        for i in 0..LANES {
            // All are at most `last`, so this changes nothing. It is cheaper than a bounds check per load.
            let first = (at[i] as usize).min(last);
            if let Some(pair) = bytes[first..].first_chunk() {
                pairs[i] = u64::from_le_bytes(*pair);
            }
        }
        true
    }
}

/// Size of two dwords in bytes.
const PAIR: usize = 8;

/// Reads as [`gather_units`] does, for memory at an odd host address and for texels outside the bytes.
#[cold]
fn gather_bytes(bytes: &[u8], plus: u32, at: &[u32; LANES], size: usize, out: &mut [u32; LANES]) {
    for (out, &at) in out.iter_mut().zip(at) {
        let mut word = [0; 4];
        let index = (at / size as u32).wrapping_add(plus) as usize;
        if let Some(unit) = bytes.get(index.saturating_mul(size)..).and_then(|rest| rest.get(..size)) {
            word[..size].copy_from_slice(unit);
        }
        *out = u32::from_le_bytes(word);
    }
}

/// Replaces the lanes of `which` (nonzero) with one colour.
pub(super) fn replace(color: &mut Color, which: &Lanes, by: &[u32; 4]) {
    if which.nonzero() == Mask::default() {
        return;
    }
    for (out, &by) in color.iter_mut().zip(by) {
        for i in 0..LANES {
            out[i] = if which[i] != 0 { by } else { out[i] };
        }
    }
}
