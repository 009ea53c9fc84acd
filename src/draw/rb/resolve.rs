//! Tile memory to memory: a sibling of a draw, made by the copy hardware of the RB.

use rayon::prelude::*;

use super::rendered::Written;
use super::state::ResolveState;
use super::surface::{Location, Surface};
use crate::draw::gras::raster::Rect;
use crate::fault::{Client, Fault};
use crate::memory::Memory;

/// Rows that one job copies.
const ROWS: usize = 32;

impl ResolveState {
    /// Bytes of a row.
    fn row_bytes(&self, area: Rect) -> usize {
        (area.x1 - area.x0).max(0) as usize * self.cpp as usize
    }

    /// Copies the pixels of `area`.
    ///
    /// # Errors
    /// A fault when the destination is in no memory.
    pub fn run(&self, area: Rect, gmem: &[u8], mem: &mut Memory) -> Result<(), Fault> {
        if area.is_empty() {
            return Ok(());
        }
        let len = self.row_bytes(area);
        let offset = |y: i32| u64::from(self.pitch) * y as u64 + u64::from(self.cpp) * area.x0 as u64;
        let first = offset(area.y0);
        let all = (offset(area.y1 - 1) - first) as usize + len;
        let address = self.base.wrapping_add(first as u32);
        let lost = Fault::Store { client: Client::Resolve, page: address - address % crate::memory::PAGE };
        let Some(to) = mem.slice_mut(address, all) else { return Err(lost) };
        let pitch = (self.pitch as usize).max(1);
        let rows = to.par_chunks_mut(pitch * ROWS).enumerate();
        let copied = rows.try_for_each(|(index, rows)| {
            let first = area.y0 + (index * ROWS) as i32;
            for y in first..area.y1.min(first + ROWS as i32) {
                let from = self.source(area, y);
                let at = (y - first) as usize * pitch;
                rows.get_mut(at..at + len)?.copy_from_slice(gmem.get(from..from + len)?);
            }
            Some(())
        });
        copied.ok_or(lost)
    }

    /// Byte of tile memory where the row at screen row `y` starts.
    fn source(&self, area: Rect, y: i32) -> usize {
        let (x, y) = ((area.x0 - self.origin[0]) as usize, (y - self.origin[1]) as usize);
        self.gmem_base as usize + y * self.gmem_pitch as usize + x * self.cpp as usize
    }

    /// The surface that it copies from.
    pub fn from(&self) -> Surface {
        let location = Location::Gmem(self.gmem_base);
        Surface { location, pitch: self.gmem_pitch, cpp: self.cpp, origin: self.origin, layer: 0 }
    }

    /// The surface that it copies to.
    pub fn to(&self) -> Surface {
        let location = Location::Memory(self.base);
        Surface { location, pitch: self.pitch, cpp: self.cpp, origin: [0, 0], layer: 0 }
    }

    /// What draw `draw` of submit `submit` has written then.
    pub fn written(&self, submit: u32, draw: u32) -> Written {
        let [width, height] = self.size;
        Written {
            submit,
            draw,
            address: self.base,
            width,
            height,
            pitch: self.pitch,
            format: self.format,
            swap: self.swap,
            content: self.content,
        }
    }
}
