//! Copies tile memory to memory, as the copy hardware of the RB does.

use a4emu_decoder::adreno::address::Address;

use rayon::prelude::*;

use super::dither::Dither;
use super::rendered::{Content, Written};
use super::state::ResolveState;
use super::surface::{Location, Surface};
use super::tiled;
use crate::ambient::hold;
use crate::draw::gras::raster::Rect;
use crate::fault::{Client, Fault};
use crate::limits::RESOLVE_ROWS;
use crate::memory::{Memory, PAGE};
use crate::work_trace::{Activity, begin};
use a4emu_shader::format::arrangement::{Tiling, resolved};
use a4emu_shader::format::{Codec, Transfer};

/// Conversion of the samples of a pixel to one value (guess `resolve-average`).
enum Merge {
    /// Average of the samples.
    Average(Codec, Option<Dither>),
    /// The first sample.
    First,
}

/// Converts samples to pixels.
pub struct Copier {
    merge: Merge,
    samples: usize,
    cpp: usize,
}

impl Copier {
    /// Converts the samples of a row of pixels to pixels. The first pixel is at (x, y).
    pub fn row(&self, [x, y]: [i32; 2], from: &[u8], to: &mut [u8]) {
        if self.samples == 1 {
            return to.copy_from_slice(from);
        }
        let pixels = from.chunks_exact(self.cpp * self.samples).zip(to.chunks_exact_mut(self.cpp));
        pixels.zip(x..).for_each(|((samples, pixel), x)| self.merge.pixel([x, y], samples, pixel));
    }
}

impl Merge {
    fn pixel(&self, at: [i32; 2], samples: &[u8], pixel: &mut [u8]) {
        match self {
            Self::Average(codec, dither) => {
                let color = resolved(codec, samples).map(f32::from_bits);
                let color = dither.map_or(color, |dither| dither.moved(at, color));
                codec.store(codec.encode(color.map(f32::to_bits)), pixel);
            }
            Self::First => pixel.copy_from_slice(&samples[..pixel.len()]),
        }
    }
}

/// Returns the fault for missing memory at `address`.
fn lost(address: Address) -> Fault {
    let byte = address.get();
    Fault::Store { client: Client::Resolve, page: Address::new(byte - byte % u64::from(PAGE)) }
}

impl ResolveState {
    /// Returns the bytes of a row.
    fn row_bytes(&self, area: Rect) -> usize {
        (area.x1 - area.x0).max(0) as usize * self.cpp as usize
    }

    /// Returns the cost of copying `area`, in blocks of 16 bytes. Samples and tiled surfaces are copied pixel
    /// by pixel.
    pub fn blocks(&self, area: Rect) -> u64 {
        let bytes = area.area() * u64::from(self.cpp) / 16;
        let plain = self.samples == 1 && self.arrangement.tiling == Tiling::Linear;
        if plain { bytes } else { area.area() * u64::from(self.samples) }
    }

    /// Returns whether the pixels of `area` lie in the `gmem_bytes` of tile memory, in separate rows.
    /// Otherwise rows can overlap or be missing.
    pub fn has_rows(&self, area: Rect, gmem_bytes: usize) -> bool {
        let [left, top] = self.origin;
        let bytes = |pixels: i32| pixels as u64 * u64::from(self.cpp) * u64::from(self.samples);
        if area.is_empty() || area.x0 < left || area.y0 < top {
            return false;
        }
        let row = bytes(area.x1 - left);
        let last = u64::from(self.gmem_base) + (area.y1 - 1 - top) as u64 * u64::from(self.gmem_pitch);
        row <= self.gmem_pitch.into() && last + row <= gmem_bytes as u64
    }

    /// Copies the pixels of `area`. Skips rows that are missing.
    ///
    /// # Errors
    /// A fault when the destination is outside all memory.
    pub fn run(&self, area: Rect, gmem: &[u8], mem: &mut Memory) -> Result<(), Fault> {
        if area.is_empty() {
            return Ok(());
        }
        match self.arrangement.tiling {
            Tiling::Linear => self.run_rows(area, gmem, mem),
            Tiling::Squares(_) | Tiling::Macrotiles { .. } => self.run_tiled(area, gmem, mem),
        }
    }

    fn run_rows(&self, area: Rect, gmem: &[u8], mem: &mut Memory) -> Result<(), Fault> {
        let len = self.row_bytes(area);
        let offset = |y: i32| u64::from(self.pitch) * y as u64 + u64::from(self.cpp) * area.x0 as u64;
        let first = offset(area.y0);
        let all = (offset(area.y1 - 1) - first) as usize + len;
        let address = mem.behind(self.base, first);
        let Some(to) = mem.slice_mut(address, all) else { return Err(lost(address)) };
        let pitch = (self.pitch as usize).max(1);
        let rows = to.par_chunks_mut(pitch * RESOLVE_ROWS).enumerate();
        let copier = self.copier();
        // Each job copies as far as it can, whatever the result of other jobs, so the bytes do not depend on
        // threads.
        let copied = rows.map(|(index, rows)| {
            let (_control, _active) = (hold(), begin(Activity::Resolves));
            let first = area.y0 + (index * RESOLVE_ROWS) as i32;
            for y in first..area.y1.min(first + RESOLVE_ROWS as i32) {
                let at = (y - first) as usize * pitch;
                copier.row([area.x0, y], self.source(area, y, gmem)?, rows.get_mut(at..at + len)?);
            }
            Some(())
        });
        copied.reduce(|| Some(()), Option::and).ok_or(lost(address))
    }

    /// Copies to a tiled surface.
    fn run_tiled(&self, area: Rect, gmem: &[u8], mem: &mut Memory) -> Result<(), Fault> {
        let to = self.to();
        let (mut rows, whole) = tiled::rows(&to, self.base, area, mem);
        let copier = self.copier();
        for (number, y) in (area.y0..area.y1).enumerate() {
            let at = number * self.pitch as usize + area.x0 as usize * self.cpp as usize;
            let row = rows.get_mut(at..at + self.row_bytes(area)).filter(|_| whole);
            let (Some(from), Some(row)) = (self.source(area, y, gmem), row) else {
                return Err(lost(self.base));
            };
            copier.row([area.x0, y], from, row);
        }
        tiled::store(&to, self.base, area, &rows, mem);
        Ok(())
    }

    /// Returns the converter from samples to pixels.
    pub fn copier(&self) -> Copier {
        let format = Some(self.format.value).filter(|_| self.content == Content::Color);
        let merge = match format.and_then(|format| format.codec(self.swap, Transfer::Linear)) {
            Some(codec) if !codec.is_integer() => Merge::Average(codec, self.dither),
            _ => Merge::First,
        };
        Copier { merge, samples: self.samples as usize, cpp: self.cpp as usize }
    }

    /// Returns the bytes of tile memory to copy for screen row `y`.
    fn source<'g>(&self, area: Rect, y: i32, gmem: &'g [u8]) -> Option<&'g [u8]> {
        let x = usize::try_from(area.x0 - self.origin[0]).ok()?;
        let y = usize::try_from(y - self.origin[1]).ok()?;
        let samples = self.samples as usize;
        let from = self.gmem_base as usize + y * self.gmem_pitch as usize + x * self.cpp as usize * samples;
        gmem.get(from..from + self.row_bytes(area) * samples)
    }

    /// Returns the source surface.
    pub fn from(&self) -> Surface {
        let location = Location::Gmem(self.gmem_base);
        let (cpp, tiling) = (self.cpp * self.samples, Tiling::Linear);
        Surface { location, pitch: self.gmem_pitch, cpp, origin: self.origin, layer: 0, tiling }
    }

    /// Returns the destination surface.
    pub fn to(&self) -> Surface {
        let location = Location::Memory(self.base);
        let tiling = self.arrangement.tiling;
        Surface { location, pitch: self.pitch, cpp: self.cpp, origin: [0, 0], layer: 0, tiling }
    }

    /// Returns the record of this copy as a write of draw `draw` in submit `submit`.
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
            arrangement: self.arrangement,
            content: self.content,
        }
    }
}
