//! Tile memory (GMEM).

use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};

use crate::draw::rb::cells::UniformTiles;

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
    /// Known uniform tiles. A write through `DerefMut` discards this.
    cells: UniformTiles,
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

    /// Calls `write` with the bytes and the known uniform tiles. `write` returns the uniform tiles after its
    /// writes.
    pub fn write_known<R>(&mut self, write: impl FnOnce(&mut [u8], UniformTiles) -> (UniformTiles, R)) -> R {
        let cells = std::mem::take(&mut self.cells);
        let (cells, result) = write(bytemuck::cast_slice_mut(&mut self.lines), cells);
        self.cells = cells;
        result
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
        self.cells = UniformTiles::default();
        bytemuck::cast_slice_mut(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::gras::raster::Rect;
    use crate::draw::rb::surface::{Location, Surface};
    use a4emu_shader::format::arrangement::Tiling;

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
    fn uniform_cells_stay_known_until_another_write() {
        let surface = Surface {
            location: Location::Gmem(0),
            pitch: 256,
            cpp: 4,
            origin: [0, 0],
            layer: 0,
            tiling: Tiling::Linear,
        };
        let area = Rect { x0: 0, y0: 0, x1: 64, y1: 4 };
        // Counts the known cells, and then marks all cells as known.
        let mut gmem = Gmem::new(1 << 10);
        let known = |gmem: &mut Gmem, surface: Surface, area: Rect| {
            gmem.write_known(|_, cells| {
                let mut cells = cells.of(&[surface], area);
                let mut count = 0;
                for known in cells.rows().flatten().flat_map(|cells| cells.known) {
                    count += usize::from(known.pixel().is_some());
                    known.bits = u32::MAX;
                }
                (cells, count)
            })
        };
        assert_eq!([0, 2].map(|_| known(&mut gmem, surface, area)), [0, 2]);
        assert_eq!(gmem[0], 0, "who reads does no harm");
        assert_eq!(known(&mut gmem, surface, area), 2);
        gmem[1] = 1;
        assert_eq!([0, 2].map(|_| known(&mut gmem, surface, area)), [0, 2]);
        assert_eq!(known(&mut gmem, Surface { location: Location::Gmem(4), ..surface }, area), 0);
        assert_eq!(known(&mut gmem, surface, area), 0, "others may have had the same bytes");
        assert_eq!(known(&mut gmem, surface, Rect { y1: 3, ..area }), 0);
    }
}
