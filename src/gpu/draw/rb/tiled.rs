//! Tiled surfaces in memory. A draw works on a copy in row order.

use a4emu_decoder::adreno::address::Address;

use crate::draw::gras::raster::Rect;
use crate::draw::rb::surface::{Surface, extent};
use crate::memory::Memory;

/// Bytes of a surface in memory, extended to whole tile rows around `area`.
struct Bands {
    /// Offset of the first byte from the surface's start.
    start: u64,
    bytes: Vec<u8>,
}

impl Bands {
    /// Reads the bytes as far as there is memory. Unknown bytes are zero.
    fn read(surface: &Surface, base: Address, area: Rect, mem: &Memory) -> Self {
        let rows = surface.tiling.rows();
        let row = |y: i32| u32::try_from(y - surface.origin[1]).unwrap_or(0);
        let (first, last) = (row(area.y0) / rows * rows, row(area.y1).next_multiple_of(rows));
        let start = u64::from(first) * u64::from(surface.pitch);
        let wanted = u64::from(last - first) * u64::from(surface.pitch);
        let address = mem.behind(base, start);
        let mut bytes = vec![0; wanted.min(mem.room(address).into()) as usize];
        let _known_or_zero = mem.read(address, &mut bytes);
        Self { start, bytes }
    }

    /// Calls `each` with every pixel of the rows of `area`, up to its last column: its offset in row order,
    /// and its bytes. Returns whether all pixels are in memory.
    fn each(&mut self, surface: &Surface, area: Rect, mut each: impl FnMut(usize, &mut [u8])) -> bool {
        let cpp = surface.cpp as usize;
        let columns = (surface.pitch / surface.cpp.max(1)).min((area.x1 - surface.origin[0]).max(0) as u32);
        let mut whole = true;
        for (number, y) in (area.y0..area.y1).enumerate() {
            let Ok(row) = u32::try_from(y - surface.origin[1]) else { continue };
            for x in 0..columns {
                let at = (surface.tiling.offset([x, row], surface.pitch, surface.cpp) - self.start) as usize;
                match self.bytes.get_mut(at..at + cpp) {
                    Some(pixel) => each(number * surface.pitch as usize + x as usize * cpp, pixel),
                    None => whole = false,
                }
            }
        }
        whole
    }
}

/// Returns the rows of `area` in row order, and whether all of them are in memory.
pub fn rows(surface: &Surface, base: Address, area: Rect, mem: &Memory) -> (Vec<u8>, bool) {
    let mut bands = Bands::read(surface, base, area, mem);
    let room = bands.bytes.len() as u64;
    let range = extent(surface, area);
    let mut rows = vec![0; (range.end - range.start).min(room) as usize];
    let whole = bands.each(surface, area, |at, pixel| {
        if let Some(to) = rows.get_mut(at..at + pixel.len()) {
            to.copy_from_slice(pixel);
        }
    });
    (rows, whole)
}

/// Stores rows from [`rows`] back.
pub fn store(surface: &Surface, base: Address, area: Rect, rows: &[u8], mem: &mut Memory) {
    let mut bands = Bands::read(surface, base, area, mem);
    let _rest_is_nowhere = bands.each(surface, area, |at, pixel| {
        if let Some(from) = rows.get(at..at + pixel.len()) {
            pixel.copy_from_slice(from);
        }
    });
    let stored = mem.write(mem.behind(base, bands.start), &bands.bytes);
    debug_assert!(stored, "room was asked for");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::rb::surface::Location;
    use a4emu_shader::format::arrangement::Tiling;

    const SURFACE: Surface = Surface {
        location: Location::Memory(Address::new(0x1000)),
        pitch: 16,
        cpp: 2,
        origin: [0, 0],
        layer: 0,
        tiling: Tiling::Squares(4),
    };

    #[test]
    fn rows_go_back_to_where_they_came_from() {
        let mut mem = Memory::new();
        let before: Vec<u8> = (0..128).collect();
        mem.announce(0x1000, 128, Some(&before));
        let area = Rect { x0: 3, y0: 3, x1: 8, y1: 6 };
        let (mut copy, whole) = rows(&SURFACE, Address::new(0x1000), area, &mem);
        // Row 3 starts after three rows of the first square; its columns 4 and on are in the second.
        assert_eq!((&copy[..10], whole), (&[24, 25, 26, 27, 28, 29, 30, 31, 56, 57][..], true));
        assert_eq!(copy[16..20], [64, 65, 66, 67]);
        copy[2 * 16 + 2 * 5] = 200;
        store(&SURFACE, Address::new(0x1000), area, &copy, &mut mem);
        let after = mem.slice(0x1000, 128).expect("announced");
        let changed: Vec<usize> = (0..128).filter(|i| after[*i] != before[*i]).collect();
        assert_eq!(changed, [64 + 32 + 8 + 2], "row 5, column 5");
    }

    #[test]
    fn rows_report_pixels_outside_of_memory() {
        let mut mem = Memory::new();
        mem.announce(0x1000, 40, Some(&[1; 40]));
        let (copy, whole) = rows(&SURFACE, Address::new(0x1000), Rect { x0: 0, y0: 0, x1: 8, y1: 4 }, &mem);
        assert!(!whole && copy.len() <= 64);
    }
}
