//! CP_BLIT of an A6xx: fills of linear surfaces, and copies between two of one format. A driver copies buffers so, as surfaces
//! with one row. Source of the registers: a6xx.xml and `fd6_blitter.cc` of Mesa 25.0.7.

use std::sync::LazyLock;

use a4emu_decoder::a6xx::enums::{MsaaSamples, TileMode};
use a4emu_decoder::a6xx::regs::REGISTERS;
use a4emu_decoder::a6xx::regs::sets::{
    A6XX_2D_BLIT_CNTL, A6XX_2D_DST_SURF_INFO, A6XX_2D_SRC_SURF_INFO, A6XX_REG_XY,
};
use a4emu_decoder::adreno::address::Address;
use a4emu_shader::format::{Codec, Transfer};

use super::{formats, tpl1};
use crate::fault::{Client, Fault, Miss, Trouble};
use crate::gpu::Gpu;
use crate::regfile::RegFile;

/// Registers of a blit.
struct Places {
    control: u32,
    solid: u32,
    /// Information, low half of the address and pitch of the destination.
    destination: [u32; 3],
    /// The same of the source.
    source: [u32; 3],
    /// Left, right, top and bottom of the source, of which the last row and column belong to it.
    from: [u32; 4],
    /// Upper left and lower right corner of the destination; both belong to it.
    to: [u32; 2],
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let offset = |name| REGISTERS.by_name(name).expect("a register of the A6xx");
    Places {
        control: offset("RB_2D_BLIT_CNTL"),
        solid: offset("RB_2D_SRC_SOLID_C0"),
        destination: ["RB_2D_DST_INFO", "RB_2D_DST_LO", "RB_2D_DST_PITCH"].map(offset),
        source: ["SP_PS_2D_SRC_INFO", "SP_PS_2D_SRC_LO", "SP_PS_2D_SRC_PITCH"].map(offset),
        from: ["GRAS_2D_SRC_TL_X", "GRAS_2D_SRC_BR_X", "GRAS_2D_SRC_TL_Y", "GRAS_2D_SRC_BR_Y"].map(offset),
        to: ["GRAS_2D_DST_TL", "GRAS_2D_DST_BR"].map(offset),
    }
});

// Values of the fields ROTATE and IFMT of RB_2D_BLIT_CNTL.
const ROTATE_0: u32 = 0;
const R2D_FLOAT32: u32 = 4;
const R2D_INT8: u32 = 5;
const R2D_INT16: u32 = 6;
const R2D_INT32: u32 = 7;
const R2D_UNORM8: u32 = 16;

/// Units of pitches in bytes.
const PITCH: u32 = 64;

/// Rows of a linear surface.
#[derive(Clone, Copy, Debug)]
struct Rows {
    /// Address of the first texel of the first row.
    start: Address,
    /// Bytes from row to row.
    pitch: u64,
}

/// Where texels come from.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// All are this one.
    Texel(u128),
    Surface(Rows),
}

/// A blit.
#[derive(Clone, Copy, Debug)]
struct Blit {
    source: Source,
    destination: Rows,
    /// Texels of a row.
    width: u32,
    /// Number of rows.
    height: u32,
    /// Bytes of a texel.
    texel: u32,
}

/// Returns the blocks of 16 bytes that the blit of the registers `regs` moves. 0 if it is not supported.
pub fn cost(regs: &RegFile) -> u64 {
    Blit::of(regs).map_or(0, |blit| blit.row_bytes() as u64 * u64::from(blit.height) / 16 + 1)
}

/// Runs the blit of the registers. Returns false, and does nothing, if it is not supported: between formats, sizes and tiled
/// surfaces.
pub fn run(gpu: &mut Gpu) -> bool {
    let Some(blit) = Blit::of(&gpu.regs) else { return false };
    let mut bytes = vec![0; blit.row_bytes()];
    if let Source::Texel(texel) = blit.source {
        let one = texel.to_le_bytes();
        bytes.chunks_exact_mut(blit.texel as usize).for_each(|to| to.copy_from_slice(&one[..to.len()]));
    }
    for row in 0..u64::from(blit.height) {
        let memory = gpu.memory_mut();
        let to = memory.behind(blit.destination.start, row * blit.destination.pitch);
        let mut missing = None;
        if let Source::Surface(rows) = blit.source {
            let address = memory.behind(rows.start, row * rows.pitch);
            let known = memory.read(address, &mut bytes);
            missing = (!known).then_some(Miss { client: Client::Texture, address, len: bytes.len() as u32 });
        }
        let stored = memory.write(to, &bytes);
        missing.into_iter().for_each(|miss| gpu.machine.report.missing.note(miss));
        if !stored {
            let fault = Fault::Draw(format!(
                "a blit stores {} bytes at {to:#x}, outside of all buffers",
                bytes.len()
            ));
            gpu.machine.report.troubles.note(Trouble::Fault(fault), gpu.machine.at);
        }
    }
    true
}

impl Blit {
    /// The blit of the registers `regs`. `None` if it is not supported.
    fn of(regs: &RegFile) -> Option<Self> {
        let at = &*PLACES;
        let control = A6XX_2D_BLIT_CNTL(regs.read(at.control));
        let info = A6XX_2D_DST_SURF_INFO(regs.read(at.destination[0]));
        let is_plain = control.ROTATE() == ROTATE_0
            && !control.SCISSOR()
            && !control.D24S8()
            && control.MASK() == 0xf
            && info.TILE_MODE() == TileMode::TILE6_LINEAR
            && info.SAMPLES() == MsaaSamples::MSAA_ONE
            && !info.FLAGS()
            && !info.SRGB();
        let format = formats::texture(info.COLOR_FORMAT()).filter(|_| is_plain)?;
        let codec = format.codec(tpl1::swap(info.COLOR_SWAP()), Transfer::Linear)?;
        let [first, last] = at.to.map(|corner| A6XX_REG_XY(regs.read(corner)));
        let width = (last.X() + 1).checked_sub(first.X()).filter(|width| *width > 0)?;
        let height = (last.Y() + 1).checked_sub(first.Y()).filter(|height| *height > 0)?;
        let rows = |low: u32, pitch: u32, [x, y]: [u32; 2]| {
            let offset = u64::from(y) * u64::from(pitch) + u64::from(x) * u64::from(codec.bytes());
            Rows { start: regs.address(low) + offset, pitch: pitch.into() }
        };
        let pitch = PITCH * (regs.read(at.destination[2]) & 0xffff);
        let destination = rows(at.destination[1], pitch, [first.X(), first.Y()]);
        let source = match control.SOLID_COLOR() {
            true => Source::Texel(solid(regs, &codec, control.IFMT())?),
            false => {
                let from = A6XX_2D_SRC_SURF_INFO(regs.read(at.source[0]));
                let same =
                    from.COLOR_FORMAT() == info.COLOR_FORMAT() && from.COLOR_SWAP() == info.COLOR_SWAP();
                let is_plain = from.TILE_MODE() == TileMode::TILE6_LINEAR
                    && from.SAMPLES() == MsaaSamples::MSAA_ONE
                    && !from.FLAGS()
                    && !from.SRGB();
                let [left, right, top, bottom] = at.from.map(|edge| regs.read(edge) >> 8 & 0x1_ffff);
                let fits = left + width == right + 1 && top + height == bottom + 1;
                (same && is_plain && fits).then_some(())?;
                let pitch = PITCH * (regs.read(at.source[2]) >> 9 & 0x7fff);
                Source::Surface(rows(at.source[1], pitch, [left, top]))
            }
        };
        Some(Self { source, destination, width, height, texel: codec.bytes() })
    }

    fn row_bytes(&self) -> usize {
        self.width as usize * self.texel as usize
    }
}

/// The texel of the colour registers, whose components are as `kind` says. `None` if a format cannot have such a colour.
fn solid(regs: &RegFile, codec: &Codec, kind: u32) -> Option<u128> {
    let lanes: [u32; 4] = std::array::from_fn(|n| regs.read(PLACES.solid + n as u32));
    match kind {
        R2D_INT32 | R2D_INT16 | R2D_INT8 if codec.is_integer() => Some(codec.encode(lanes)),
        R2D_FLOAT32 if !codec.is_integer() => Some(codec.encode(lanes)),
        R2D_UNORM8 if !codec.is_integer() => {
            Some(codec.encode(lanes.map(|lane| (lane as f32 / 255.0).to_bits())))
        }
        _ => None,
    }
}
