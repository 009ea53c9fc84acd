//! From texel positions to components.
use super::block_cache::BlockCache;
use super::descriptor::{Texels, Texture};
use super::layout::Level;
use super::{Color, Ints};
use crate::format::Codec;
use crate::shader::{LANES, Lanes, Mask};

/// The level that each lane reads, field by field.
pub(super) struct Images {
    pub width: Ints,
    pub height: Ints,
    pub depth: Ints,
    offset: [u32; LANES],
    pitch: [u32; LANES],
    slice: [u32; LANES],
}

impl Images {
    /// Level `index[lane]` for each lane; indices beyond the last level mean the last.
    #[inline(always)]
    pub fn new(levels: &[Level], index: &Ints) -> Self {
        let mut differs = 0;
        for i in 0..LANES {
            differs |= index[i] ^ index[0];
        }
        let at = |i: usize| &levels[(index[i].max(0) as usize).min(levels.len() - 1)];
        if differs == 0 { Self::uniform(at(0)) } else { Self::varying(at) }
    }

    #[inline(always)]
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

    #[inline(always)]
    fn varying<'a>(at: impl Fn(usize) -> &'a Level) -> Self {
        let mut images = Self::uniform(at(0));
        for i in 1..LANES {
            let level = at(i);
            images.width[i] = level.width as i32;
            images.height[i] = level.height as i32;
            images.depth[i] = level.depth as i32;
            images.offset[i] = level.offset;
            images.pitch[i] = level.pitch;
            images.slice[i] = level.slice;
        }
        images
    }

    /// The lanes whose texel does not exist.
    #[inline(always)]
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

/// One texel per lane; `z` is a slice, layer or face.
#[derive(Clone, Copy)]
pub(super) struct Texel<'a> {
    pub x: &'a Ints,
    pub y: &'a Ints,
    pub z: &'a Ints,
}

/// Reads texels of one texture during one request.
pub(super) struct Fetcher<'a> {
    texels: &'a Texels,
    bytes: &'a [u8],
    /// Components that are wanted: bit 0 is x.
    need: u32,
    blocks: Option<BlockCache>,
}

impl<'a> Fetcher<'a> {
    pub fn new(texture: &'a Texture, bytes: &'a [u8], need: u32) -> Self {
        let blocks = match texture.texels {
            Texels::Plain(_) => None,
            Texels::Block { compression, format, transfer } => {
                Some(BlockCache::new(compression, format, transfer))
            }
        };
        Self { texels: &texture.texels, bytes, need, blocks }
    }

    /// Components of `at`. Texels that do not exist or are not in memory give
    /// something, or 0; whoever cares looks at [`Images::outside`].
    #[inline(always)]
    pub fn texels(&mut self, images: &Images, at: &Texel<'_>) -> Color {
        match self.texels {
            Texels::Plain(codec) if codec.bytes() <= 4 => words(codec, self.bytes, self.need, images, at),
            Texels::Plain(codec) => wide(codec, self.bytes, images, at),
            Texels::Block { .. } => self.compressed(images, at),
        }
    }

    #[inline(never)]
    fn compressed(&mut self, images: &Images, at: &Texel<'_>) -> Color {
        let mut out = [[0; LANES]; 4];
        let Some(blocks) = &mut self.blocks else { return out };
        let block = blocks.block();
        for i in 0..LANES {
            let (x, y, z) = (at.x[i].max(0) as u32, at.y[i].max(0) as u32, at.z[i].max(0) as u32);
            let start =
                (x / block.width).wrapping_mul(block.bytes).wrapping_add(row(images, i, y / block.height, z));
            let texel = blocks.texel(self.bytes, start, x % block.width, y % block.height);
            for (out, lane) in out.iter_mut().zip(texel) {
                out[i] = lane;
            }
        }
        out
    }
}

/// Offset of row of blocks `y` in slice `z`.
#[inline(always)]
fn row(images: &Images, lane: usize, y: u32, z: u32) -> u32 {
    let slice = z.wrapping_mul(images.slice[lane]);
    images.offset[lane].wrapping_add(slice).wrapping_add(y.wrapping_mul(images.pitch[lane]))
}

#[inline(always)]
fn offsets(size: u32, images: &Images, at: &Texel<'_>) -> [u32; LANES] {
    let mut out = [0; LANES];
    for i in 0..LANES {
        let row = row(images, i, at.y[i] as u32, at.z[i] as u32);
        out[i] = row.wrapping_add((at.x[i] as u32).wrapping_mul(size));
    }
    out
}

/// Texels of at most a dword.
#[inline(always)]
fn words(codec: &Codec, bytes: &[u8], need: u32, images: &Images, at: &Texel<'_>) -> Color {
    let offsets = offsets(codec.bytes(), images, at);
    let mut words = [0; LANES];
    for i in 0..LANES {
        words[i] = load_word(bytes, offsets[i] as usize);
    }
    let mut out = [[0; LANES]; 4];
    for (c, out) in out.iter_mut().enumerate() {
        if need >> c & 1 != 0 {
            *out = codec.decode_words_of(c, &words);
        }
    }
    out
}

/// The dword at `offset`; bytes beyond the end are 0.
#[inline(always)]
fn load_word(bytes: &[u8], offset: usize) -> u32 {
    match bytes.get(offset..).and_then(<[u8]>::first_chunk) {
        Some(word) => u32::from_le_bytes(*word),
        None => load_tail(bytes, offset),
    }
}

#[cold]
fn load_tail(bytes: &[u8], offset: usize) -> u32 {
    let mut word = [0; 4];
    let tail = bytes.get(offset..).unwrap_or_default();
    word.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    u32::from_le_bytes(word)
}

/// Texels of more than a dword.
#[inline(never)]
fn wide(codec: &Codec, bytes: &[u8], images: &Images, at: &Texel<'_>) -> Color {
    let offsets = offsets(codec.bytes(), images, at);
    let mut out = [[0; LANES]; 4];
    for i in 0..LANES {
        let texel = codec.load(bytes.get(offsets[i] as usize..).unwrap_or_default());
        for (out, lane) in out.iter_mut().zip(codec.decode(texel)) {
            out[i] = lane;
        }
    }
    out
}

/// Replaces the lanes of `which` (nonzero) by one colour.
#[inline(always)]
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
