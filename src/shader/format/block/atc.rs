//! AMD's texture compression. Own code: texture2ddecoder differs from the specification
//! (GL_AMD_compressed_ATC_texture) in blocks with the mode bit.

/// Decodes 8 bytes of RGB.
pub(super) fn rgb(block: &[u8], rgba: &mut [u8; 64]) {
    let bytes = block.first_chunk::<8>().copied().unwrap_or_default();
    let word = u64::from_le_bytes(bytes);
    let palette = palette(word as u16, (word >> 16) as u16);
    for (i, texel) in rgba.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let [r, g, b] = palette[(word >> (32 + 2 * i)) as usize & 3];
        *texel = [r, g, b, 255];
    }
}

/// Decodes 8 bytes of 4-bit alpha, then RGB.
pub(super) fn explicit(block: &[u8], rgba: &mut [u8; 64]) {
    let (alpha, color) = block.split_at(block.len().min(8));
    rgb(color, rgba);
    let alpha = u64::from_le_bytes(alpha.first_chunk().copied().unwrap_or_default());
    for (i, texel) in rgba.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        texel[3] = (alpha >> (4 * i)) as u8 % 16 * 17;
    }
}

/// Decodes 8 bytes of alpha as in DXT5, then RGB.
pub(super) fn interpolated(block: &[u8], rgba: &mut [u8; 64]) {
    let (alpha, color) = block.split_at(block.len().min(8));
    rgb(color, rgba);
    let mut levels = [0; 16];
    bcdec_rs::bc4(alpha, &mut levels, 4, false);
    for (texel, level) in rgba.as_chunks_mut::<4>().0.iter_mut().zip(levels) {
        texel[3] = level;
    }
}

/// The four colours of a block, from a 555 endpoint whose top bit is the mode
/// and a 565 endpoint.
fn palette(low: u16, high: u16) -> [[u8; 3]; 4] {
    let first = [expand(low >> 10, 5), expand(low >> 5, 5), expand(low, 5)];
    let last = [expand(high >> 11, 5), expand(high >> 5, 6), expand(high, 5)];
    let mix = |a: u16, b: u16| std::array::from_fn(|c| ((a * first[c] + b * last[c]) / 8) as u8);
    if low < 0x8000 {
        return [mix(8, 0), mix(5, 3), mix(3, 5), mix(0, 8)];
    }
    let darker = std::array::from_fn(|c| first[c].saturating_sub(last[c] / 4) as u8);
    [[0; 3], darker, mix(8, 0), mix(0, 8)]
}

/// The low `bits` of `value` as 8 bits.
fn expand(value: u16, bits: u32) -> u16 {
    let top = (value << (8 - bits)) & 0xff;
    top | top >> bits
}
