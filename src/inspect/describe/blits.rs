//! What a blit of an A6xx copies: from where, to where, and how. Chips before it draw their copies.

use a4emu_decoder::a6xx::enums::BlitEventType;
use a4emu_decoder::a6xx::regs::blit::{RB_2D_BLIT_CNTL, RB_2D_SRC_SOLID_C0, RB_BLIT_BASE_GMEM};
use a4emu_decoder::bits::Register;
use a4emu_gpu::a6xx::blit::Surface;
use a4emu_gpu::cp::{BlitCall, Surfaces};
use a4emu_gpu::regfile::RegFile;
use serde::Serialize;

use super::draw::Tile;
use super::name::{Address, name};
use super::target::SurfacePlace;

/// A copy between surfaces, a fill, or a load, store or clear of tile memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blit {
    /// What it reads; none for a fill and a clear.
    pub source: Option<BlitSurface>,
    /// What it writes.
    pub destination: BlitSurface,
    /// The bits of the four components that fill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<[u32; 4]>,
}

/// A surface of a blit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlitSurface {
    /// The register of its address.
    pub register: &'static str,
    /// Format.
    pub format: String,
    /// Order of components in memory.
    pub swap: String,
    /// Tile mode in memory.
    pub tile_mode: String,
    /// Whether it is compressed (UBWC).
    pub ubwc: bool,
    /// Place of its first texel.
    #[serde(flatten)]
    pub place: SurfacePlace,
    /// Bytes from row to row; 0 in tile memory.
    pub pitch: u32,
    /// Bytes of the rows that it may use; 0 in tile memory.
    pub bytes: u64,
    /// The part that is copied.
    pub rectangle: Tile,
}

impl BlitSurface {
    fn of(surface: &Surface) -> Self {
        let [[left, top], [right, bottom]] = surface.corners;
        let side = |first: u32, last: u32| last.wrapping_sub(first).wrapping_add(1);
        let (start, end) = surface.range();
        Self {
            register: surface.register,
            format: name(surface.format),
            swap: name(surface.swap),
            tile_mode: name(surface.tile_mode),
            ubwc: surface.has_flags,
            place: SurfacePlace::Address(Address::of(surface.start)),
            pitch: surface.pitch,
            bytes: end - start,
            rectangle: Tile { x: left, y: top, width: side(left, right), height: side(top, bottom) },
        }
    }

    /// The surface in tile memory with the pixels of this one.
    fn in_tiles(self, regs: &RegFile) -> Self {
        let place = SurfacePlace::Gmem(regs.get::<RB_BLIT_BASE_GMEM>().VALUE());
        Self { register: "RB_BLIT_BASE_GMEM", place, pitch: 0, bytes: 0, ..self }
    }
}

/// What `call` does: `copy` or `fill` of CP_BLIT; `store`, `store_and_clear`, `clear` or `load` of the event BLIT.
pub(super) fn does(regs: &RegFile, call: &BlitCall) -> String {
    match call.between {
        Surfaces::Memory(_) if regs.get::<RB_2D_BLIT_CNTL>().SOLID_COLOR() => "fill".to_owned(),
        Surfaces::Memory(_) => "copy".to_owned(),
        Surfaces::TileMemory => {
            let event = name(Surface::resolved(regs).0);
            event.strip_prefix("BLIT_EVENT_").unwrap_or(&event).to_lowercase()
        }
    }
}

impl Blit {
    /// What `call` does with the registers `regs`.
    pub(super) fn of(regs: &RegFile, call: &BlitCall) -> Self {
        match call.between {
            Surfaces::Memory(_) => Self::between_surfaces(regs),
            Surfaces::TileMemory => Self::of_tiles(regs),
        }
    }

    fn between_surfaces(regs: &RegFile) -> Self {
        let source = Surface::source(regs);
        let color = std::array::from_fn(|n| regs.read(RB_2D_SRC_SOLID_C0::ROW.offset + n as u32));
        Self {
            color: source.is_none().then_some(color),
            source: source.as_ref().map(BlitSurface::of),
            destination: BlitSurface::of(&Surface::destination(regs)),
        }
    }

    fn of_tiles(regs: &RegFile) -> Self {
        let (event, surface) = Surface::resolved(regs);
        let memory = BlitSurface::of(&surface);
        let (source, destination) = match event {
            BlitEventType::BLIT_EVENT_CLEAR => (None, memory.in_tiles(regs)),
            BlitEventType::BLIT_EVENT_LOAD => (Some(memory.clone()), memory.in_tiles(regs)),
            _ => (Some(memory.clone().in_tiles(regs)), memory),
        };
        Self { source, destination, color: None }
    }
}
