//! Cache of the compressed blocks that one request has decoded.
//!
//! The cache exists only during a request. So it cannot become stale, needs no lock, and has a limited size for any
//! texture.
use crate::limits::DECODED_BLOCKS;
use a4emu_shader::format::{Block, Compression, Format, Profile, Transfer};

/// An offset without a block. Valid offsets are multiples of the block size.
const NOWHERE: u32 = u32::MAX;

pub(super) struct BlockCache {
    compression: Compression,
    format: Format,
    transfer: Transfer,
    profile: Profile,
    /// Offset of each cached block.
    places: [u32; DECODED_BLOCKS],
    /// Next slot to replace.
    next: usize,
    /// Texels of the cached blocks, block by block.
    texels: Vec<[u32; 4]>,
    /// Number of texels decoded so far.
    decoded: u64,
}

impl BlockCache {
    pub fn new(compression: Compression, format: Format, transfer: Transfer, profile: Profile) -> Self {
        let (places, texels) = ([NOWHERE; DECODED_BLOCKS], Vec::new());
        Self { compression, format, transfer, profile, places, next: 0, texels, decoded: 0 }
    }

    /// Returns the number of texels decoded so far.
    pub fn decoded(&self) -> u64 {
        self.decoded
    }

    pub fn block(&self) -> Block {
        self.compression.block()
    }

    /// Returns texel (`x`, `y`) of the block at `offset`. Blocks outside `bytes` are 0.
    pub fn texel(&mut self, bytes: &[u8], offset: u32, x: u32, y: u32) -> [u32; 4] {
        let block = self.block();
        let kept = self.places.iter().position(|&place| place == offset);
        let slot = match kept {
            Some(slot) => slot,
            None => match bytes.get(offset as usize..).and_then(|rest| rest.get(..block.bytes as usize)) {
                Some(data) => self.decode(data, offset),
                None => return [0; 4],
            },
        };
        let at = slot * (block.width * block.height) as usize + (y * block.width + x) as usize;
        self.texels.get(at).copied().unwrap_or_default()
    }

    /// Decodes a block into the next slot.
    fn decode(&mut self, data: &[u8], offset: u32) -> usize {
        let block = self.block();
        let size = (block.width * block.height) as usize;
        let slot = self.next;
        self.decoded += size as u64;
        self.texels.resize(DECODED_BLOCKS * size, [0; 4]);
        let mut texels = self.texels[slot * size..][..size].iter_mut();
        self.compression.decode(data, self.format.ty, self.transfer, self.profile, |lanes| {
            if let Some(texel) = texels.next() {
                *texel = lanes;
            }
        });
        self.places[slot] = offset;
        self.next = (slot + 1) % DECODED_BLOCKS;
        slot
    }
}
