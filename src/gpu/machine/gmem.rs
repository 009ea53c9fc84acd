//! Tile memory (GMEM).

use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

/// Bytes of a cache line of the host.
const LINE: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// The bytes of tile memory (GMEM). They are aligned to a cache line of the host, so that blocks of pixels
/// span no more lines than needed.
#[derive(Clone, Default)]
pub struct Gmem {
    lines: Vec<Line>,
    /// How often the bytes were lent for changes.
    changes: u64,
}

impl PartialEq for Gmem {
    fn eq(&self, other: &Self) -> bool {
        self.lines == other.lines
    }
}

impl Gmem {
    /// Tile memory of `bytes` zeros, rounded up to whole lines.
    pub fn new(bytes: usize) -> Self {
        let mut new = Self::default();
        new.resize(bytes);
        new
    }

    /// Changes the size to `bytes`, rounded up to whole lines. New bytes are zero.
    pub fn resize(&mut self, bytes: usize) {
        self.lines.resize(bytes.div_ceil(LINE), Line::zeroed());
    }

    /// How often the bytes were lent for changes. As long as this is the same, so are the bytes.
    pub fn changes(&self) -> u64 {
        self.changes
    }
}

impl Deref for Gmem {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.lines)
    }
}

impl DerefMut for Gmem {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.changes += 1;
        bytemuck::cast_slice_mut(&mut self.lines)
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

    #[test]
    fn changes_are_counted_and_reads_are_not() {
        let mut gmem = Gmem::new(1 << 10);
        let before = gmem.changes();
        assert_eq!((gmem[0], gmem.changes()), (0, before));
        gmem[1] = 1;
        assert_ne!(gmem.changes(), before);
    }
}
