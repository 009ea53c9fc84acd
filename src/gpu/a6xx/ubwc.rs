//! Compressed surfaces (UBWC). a4emu holds their texels as if they were not compressed, and leaves their flags as they are: zero.
//! On a chip each block that is written gets a flag, and texels are compressed. Those are not read here.

use a4emu_decoder::a6xx::regs::tex::{TEX_CONST_3, TEX_CONST_7, TEX_CONST_8, TEX_CONST_9, TEX_CONST_10};
use a4emu_decoder::adreno::address::Address;

use crate::bindless::DescriptorWords;
use crate::memory::Memory;

/// Most bytes of flags that are looked at.
const LOOKED_AT: u32 = 4096;

/// Returns whether the `bytes` flags at `start` are zero, so that no texel is compressed. Flags that are in no buffer say nothing.
pub fn is_plain(memory: &Memory, start: Address, bytes: u32) -> bool {
    let mut flags = vec![0; bytes.min(LOOKED_AT) as usize];
    !memory.read(start, &mut flags) || flags.iter().all(|flag| *flag == 0)
}

/// Returns whether no texel of the texture or image that `words` describe is compressed.
pub fn is_plain_texture(memory: &Memory, words: &DescriptorWords) -> bool {
    let start = Address::wide(TEX_CONST_7(words[7]).FLAG_LO(), TEX_CONST_8(words[8]).FLAG_HI());
    let (layer, row) =
        (TEX_CONST_9(words[9]).FLAG_BUFFER_ARRAY_PITCH(), TEX_CONST_10(words[10]).FLAG_BUFFER_PITCH());
    !TEX_CONST_3(words[3]).FLAG() || is_plain(memory, start, layer.max(row))
}
