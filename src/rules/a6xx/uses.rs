//! The memory that draws, dispatches and blits of an A6xx read and write.

use std::fmt;

use a4emu_decoder::a6xx::enums::BlitEventType;
use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::a6xx::blit::Surface;
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::regfile::RegFile;

/// The half of CCU that a target is written through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Of colour targets, and of CP_BLIT.
    Color,
    /// Of depth and stencil.
    Depth,
}

/// A target that a draw may write.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The half of CCU that holds it, where it is in memory.
    pub half: Half,
    /// Its place in memory.
    pub base: Address,
    /// Its place in tile memory.
    pub gmem: u32,
    /// Bytes from row to row in memory.
    pub pitch: u32,
    /// Number of rows up to the end of the window scissor.
    pub rows: u32,
    /// Bytes of a pixel with all samples; none of a format that is not known.
    pub pixel: Option<u32>,
}

impl Target {
    /// The first address in memory, and one behind all rows but the end of the last one, which may be shorter.
    pub fn range(&self) -> (u64, u64) {
        let start = self.base.get();
        (start, start.saturating_add(bytes_of_rows(self.pitch, self.rows)))
    }
}

/// The bytes that so many rows surely have: the last row may be shorter than the pitch.
pub fn bytes_of_rows(pitch: u32, rows: u32) -> u64 {
    u64::from(pitch) * u64::from(rows.saturating_sub(1)) + 1
}

/// Memory that a draw, dispatch or blit reads through UCHE.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The stage whose program names it.
    pub stage: Option<Stage>,
    /// What it is.
    pub what: &'static str,
    /// Number of the slot, and its bindless base.
    pub slot: Option<(u32, Option<u8>)>,
    /// First address, and the one behind the last that is surely read.
    pub range: (u64, u64),
}

impl Fetched {
    /// The source of a blit.
    pub fn of_surface(surface: &Surface) -> Self {
        Self { stage: None, what: surface.register, slot: None, range: surface.range() }
    }
}

impl fmt::Display for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stage.iter().try_for_each(|stage| write!(f, "{} ", stage.name()))?;
        f.write_str(self.what)?;
        match self.slot {
            Some((slot, Some(base))) => write!(f, " base{base}.{slot}"),
            Some((slot, None)) => write!(f, " {slot}"),
            None => Ok(()),
        }
    }
}

/// The surface that the event BLIT stores to, if it does.
pub fn stored(regs: &RegFile) -> Option<Surface> {
    let (does, surface) = Surface::resolved(regs);
    let stores = [BlitEventType::BLIT_EVENT_STORE, BlitEventType::BLIT_EVENT_STORE_AND_CLEAR].contains(&does);
    stores.then_some(surface)
}
