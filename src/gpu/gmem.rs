//! Tile memory.

use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

/// Bytes of a line of this computer's caches.
const LINE: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// The bytes of tile memory. They begin where a line of this computer's caches does, so that blocks of pixels do not
/// lie in one line more than they must.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Gmem(Vec<Line>);

impl Gmem {
    /// So many bytes, all of them zero; a number of whole lines.
    pub fn new(bytes: usize) -> Self {
        let mut new = Self::default();
        new.resize(bytes);
        new
    }

    /// Makes it so many bytes, those that are new zero; a number of whole lines.
    pub fn resize(&mut self, bytes: usize) {
        self.0.resize(bytes.div_ceil(LINE), Line::zeroed());
    }
}

impl Deref for Gmem {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

impl DerefMut for Gmem {
    fn deref_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tile_memory_begins_with_a_line_and_what_is_new_is_zero() {
        let mut gmem = Gmem::new(1 << 10);
        assert_eq!(gmem.as_ptr().addr() % LINE, 0);
        gmem.fill(7);
        gmem.resize(3 << 10);
        assert_eq!((gmem.len(), gmem.as_ptr().addr() % LINE), (3 << 10, 0));
        assert!(
            gmem[..1 << 10].iter().all(|byte| *byte == 7) && gmem[1 << 10..].iter().all(|byte| *byte == 0)
        );
    }
}
