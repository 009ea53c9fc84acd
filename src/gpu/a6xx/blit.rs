//! Blits of an A6xx: the surfaces that CP_BLIT and the event BLIT name, and what of CP_BLIT runs. That is fills,
//! and copies between two surfaces of one format and size. A driver copies buffers so, as surfaces with one row. Source of the
//! registers: a6xx.xml, `fd6_blitter.cc` and `fd6_gmem.cc` of Mesa 25.0.7.

use a4emu_decoder::a6xx::enums::{BlitEventType, ColorSwap, Format, Ifmt2d, MsaaSamples, Rotation, TileMode};
use a4emu_decoder::a6xx::regs::blit::*;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::Register;
use a4emu_shader::format::arrangement::Tiling;
use a4emu_shader::format::{Codec, Transfer};

use super::{formats, tiling, tpl1};
use crate::fault::{Client, Fault, Miss, Trouble};
use crate::gpu::Gpu;
use crate::memory::Memory;
use crate::regfile::RegFile;

/// A surface in memory that a blit names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// The register of its address.
    pub register: &'static str,
    /// Address of its first texel.
    pub start: Address,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Columns and rows that are copied: those of the first texel, and those of the last one.
    pub corners: [[u32; 2]; 2],
    /// Number of rows from the first one of the surface to the last one that may be used.
    pub rows: u32,
    /// Format of a texel.
    pub format: Format,
    /// Order of its components.
    pub swap: ColorSwap,
    /// How texels are arranged.
    pub tile_mode: TileMode,
    /// Whether it is compressed (UBWC).
    pub has_flags: bool,
}

impl Surface {
    /// The surface that CP_BLIT reads. `None` if it fills with a colour.
    pub fn source(regs: &RegFile) -> Option<Self> {
        if regs.get::<RB_2D_BLIT_CNTL>().SOLID_COLOR() {
            return None;
        }
        let (info, size) = (regs.get::<SP_PS_2D_SRC_INFO>(), regs.get::<SP_PS_2D_SRC_SIZE>());
        let [left, right] = [regs.get::<GRAS_2D_SRC_TL_X>().VALUE(), regs.get::<GRAS_2D_SRC_BR_X>().VALUE()];
        let [top, bottom] = [regs.get::<GRAS_2D_SRC_TL_Y>().VALUE(), regs.get::<GRAS_2D_SRC_BR_Y>().VALUE()];
        Some(Self {
            register: "SP_PS_2D_SRC",
            start: regs.address(SP_PS_2D_SRC_LO::ROW.offset),
            pitch: regs.get::<SP_PS_2D_SRC_PITCH>().PITCH(),
            corners: [[left, top], [right, bottom]].map(|corner| corner.map(i32::cast_unsigned)),
            rows: size.HEIGHT(),
            format: info.COLOR_FORMAT(),
            swap: info.COLOR_SWAP(),
            tile_mode: info.TILE_MODE(),
            has_flags: info.FLAGS(),
        })
    }

    /// The surface that CP_BLIT writes.
    pub fn destination(regs: &RegFile) -> Self {
        let info = regs.get::<RB_2D_DST_INFO>();
        let (first, last) = (regs.get::<GRAS_2D_DST_TL>(), regs.get::<GRAS_2D_DST_BR>());
        Self {
            register: "RB_2D_DST",
            start: regs.address(RB_2D_DST_LO::ROW.offset),
            pitch: regs.get::<RB_2D_DST_PITCH>().VALUE(),
            corners: [[first.X(), first.Y()], [last.X(), last.Y()]],
            rows: last.Y() + 1,
            format: info.COLOR_FORMAT(),
            swap: info.COLOR_SWAP(),
            tile_mode: info.TILE_MODE(),
            has_flags: info.FLAGS(),
        }
    }

    /// What the event BLIT does, and its surface in memory. Of a clear, only format and part of the surface count.
    pub fn resolved(regs: &RegFile) -> (BlitEventType, Self) {
        let info = regs.get::<RB_BLIT_DST_INFO>();
        let (first, last) = (regs.get::<RB_BLIT_SCISSOR_TL>(), regs.get::<RB_BLIT_SCISSOR_BR>());
        let surface = Self {
            register: "RB_BLIT_DST",
            start: regs.address(RB_BLIT_DST_LO::ROW.offset),
            pitch: regs.get::<RB_BLIT_DST_PITCH>().VALUE(),
            corners: [[first.X(), first.Y()], [last.X(), last.Y()]],
            rows: last.Y() + 1,
            format: info.COLOR_FORMAT(),
            swap: info.COLOR_SWAP(),
            tile_mode: info.TILE_MODE(),
            has_flags: info.FLAGS(),
        };
        (regs.get::<RB_BLIT_INFO>().TYPE(), surface)
    }

    /// The first address and the one behind the rows that may be used.
    pub fn range(&self) -> (u64, u64) {
        let start = self.start.get();
        let rows = match self.tile_mode {
            TileMode::TILE6_LINEAR => self.rows,
            _ => self.rows.next_multiple_of(TILE_ROWS),
        };
        (start, start.saturating_add(u64::from(self.pitch) * u64::from(rows)))
    }
}

/// How many blocks of 16 bytes are copied while one texel is moved alone. A blit of 4096 x 4096 to tiles takes a second, one that
/// converts takes 0.6 s. The default budget is for 20 s.
const ALONE: u64 = 64;

/// How many blocks of 16 bytes are copied while the memory of a row is looked up, also where it is missing. Measure:
/// `scripts/prices`.
const ROW: u64 = 128;

/// The most rows of texels in a row of tiles.
const TILE_ROWS: u32 = 32;

/// Texels of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Texels {
    /// Address of the surface.
    start: Address,
    /// Bytes from row to row.
    pitch: u32,
    /// Order of texels.
    tiling: Tiling,
    /// The first of them.
    corner: [u32; 2],
}

impl Texels {
    /// The places of the `count` texels of a row, each with `size` bytes: offsets and lengths of parts that are in one piece.
    fn row(self, row: u32, count: u32, size: u32) -> impl Iterator<Item = (u64, usize)> {
        let [left, top] = self.corner;
        let (parts, texels) = if self.tiling == Tiling::Linear { (1, count) } else { (count, 1) };
        (0..parts).map(move |part| {
            let at = [left.saturating_add(part), top.saturating_add(row)];
            (self.tiling.offset(at, self.pitch, size), texels as usize * size as usize)
        })
    }
}

/// Where texels come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// All are this one.
    Texel(u128),
    /// The texels are those of a surface. The number is the bytes of one.
    Surface(Texels, u32, Conversion),
}

/// What happens to the texels of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conversion {
    /// The bytes of texels are copied.
    None,
    /// Texels are decoded as the first kind, and encoded as the second.
    Between(Kind, Kind),
}

/// Format of texels, and order of their components.
type Kind = (Format, ColorSwap);

/// The codec of texels. `None` if they are compressed, or their format is unknown.
fn codec((format, swap): Kind) -> Option<Codec> {
    formats::texture(format)?.codec(tpl1::swap(swap), Transfer::Linear)
}

/// Decodes the texels of the row `from`, and encodes them in `to`.
fn convert(from: &[u8], decoded: &Codec, to: &mut [u8], encoded: &Codec) {
    let texels = from.chunks_exact(decoded.bytes() as usize);
    for (from, to) in texels.zip(to.chunks_exact_mut(encoded.bytes() as usize)) {
        let mut bytes = [0; 16];
        bytes[..from.len()].copy_from_slice(from);
        let texel = encoded.encode(decoded.decode(decoded.load(&bytes))).to_le_bytes();
        to.copy_from_slice(&texel[..to.len()]);
    }
}

/// A fill or a copy that is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blit {
    source: Source,
    destination: Texels,
    /// Texels of a row.
    width: u32,
    /// Number of rows.
    height: u32,
    /// Bytes of a texel.
    texel: u32,
}

impl Blit {
    /// The blit of the registers `regs`. `None` if it is not supported: between integers and other numbers or between sizes, of
    /// tiles whose order is not known, and of texels that a chip has compressed.
    pub fn of(regs: &RegFile, memory: &Memory) -> Option<Self> {
        let (control, info) = (regs.get::<RB_2D_BLIT_CNTL>(), regs.get::<RB_2D_DST_INFO>());
        let is_plain = control.ROTATE() == Rotation::ROTATE_0
            && !control.SCISSOR()
            && !control.D24S8()
            && control.MASK() == 0xf
            && info.SAMPLES() == MsaaSamples::MSAA_ONE
            && !info.SRGB();
        let kind = (info.COLOR_FORMAT(), info.COLOR_SWAP());
        let written = codec(kind).filter(|_| is_plain)?;
        let (first, last) = (regs.get::<GRAS_2D_DST_TL>(), regs.get::<GRAS_2D_DST_BR>());
        let width = (last.X() + 1).checked_sub(first.X()).filter(|width| *width > 0)?;
        let height = (last.Y() + 1).checked_sub(first.Y()).filter(|height| *height > 0)?;
        let destination = Texels {
            start: regs.address(RB_2D_DST_LO::ROW.offset),
            pitch: regs.get::<RB_2D_DST_PITCH>().VALUE(),
            tiling: tiling(info.TILE_MODE(), written.bytes())?,
            corner: [first.X(), first.Y()],
        };
        let source = match control.SOLID_COLOR() {
            true => Source::Texel(solid(regs, &written, control.IFMT())?),
            false => {
                let from = regs.get::<SP_PS_2D_SRC_INFO>();
                let is_plain = from.SAMPLES() == info.SAMPLES() && !from.SRGB();
                let of_source = (from.COLOR_FORMAT(), from.COLOR_SWAP());
                let read = codec(of_source).filter(|_| is_plain)?;
                let conversion = match of_source == kind {
                    true => Conversion::None,
                    false if read.is_integer() == written.is_integer() => {
                        Conversion::Between(of_source, kind)
                    }
                    false => return None,
                };
                let start = regs.address(SP_PS_2D_SRC_LO::ROW.offset);
                if from.FLAGS() && memory.is_of_a_chip(start) {
                    return None;
                }
                let texels = Texels {
                    start,
                    pitch: regs.get::<SP_PS_2D_SRC_PITCH>().PITCH(),
                    tiling: tiling(from.TILE_MODE(), read.bytes())?,
                    corner: source_corner(regs, [width, height])?,
                };
                Source::Surface(texels, read.bytes(), conversion)
            }
        };
        Some(Self { source, destination, width, height, texel: written.bytes() })
    }

    /// Returns the blocks of 16 bytes that it moves. A texel that is moved alone, since it is in tiles or is converted, counts as
    /// many as take that long.
    pub fn cost(&self) -> u64 {
        let is_tiled = |texels: &Texels| texels.tiling != Tiling::Linear;
        let from_alone = match &self.source {
            Source::Texel(_) => false,
            Source::Surface(texels, _, conversion) => is_tiled(texels) || *conversion != Conversion::None,
        };
        let row = match from_alone || is_tiled(&self.destination) {
            true => 16 * ALONE * u64::from(self.width),
            false => self.row_bytes() as u64,
        };
        (row / 16 + ROW) * u64::from(self.height)
    }

    /// Moves the texels.
    pub fn run(&self, gpu: &mut Gpu) {
        let (mut bytes, mut lost) = (vec![0; self.row_bytes()], Lost::default());
        match self.source {
            Source::Texel(texel) => {
                let one = texel.to_le_bytes();
                bytes
                    .chunks_exact_mut(self.texel as usize)
                    .for_each(|to| to.copy_from_slice(&one[..to.len()]));
                (0..self.height).for_each(|row| self.write_row(row, &bytes, gpu, &mut lost));
            }
            Source::Surface(texels, _, Conversion::None) => {
                for row in 0..self.height {
                    self.read_row(texels, row, self.texel, &mut bytes, gpu);
                    self.write_row(row, &bytes, gpu, &mut lost);
                }
            }
            Source::Surface(texels, texel, Conversion::Between(decoded, encoded)) => {
                let [decoded, encoded] =
                    [decoded, encoded].map(|kind| codec(kind).expect("a codec, since Blit::of found it"));
                let mut read = vec![0; self.width as usize * texel as usize];
                for row in 0..self.height {
                    self.read_row(texels, row, texel, &mut read, gpu);
                    convert(&read, &decoded, &mut bytes, &encoded);
                    self.write_row(row, &bytes, gpu, &mut lost);
                }
            }
        }
        lost.report(gpu);
    }

    /// Reads a row of the source, whose texels have `texel` bytes.
    fn read_row(&self, texels: Texels, row: u32, texel: u32, bytes: &mut [u8], gpu: &mut Gpu) {
        let memory = gpu.memory_mut();
        let (mut rest, mut missing) = (bytes, None);
        for (offset, len) in texels.row(row, self.width, texel) {
            let address = memory.behind(texels.start, offset);
            let Some(part) = rest.split_off_mut(..len) else { break };
            if !memory.read(address, part) {
                missing = missing.or(Some(Miss { client: Client::Texture, address, len: len as u32 }));
            }
        }
        missing.into_iter().for_each(|miss| gpu.machine.report.missing.note(miss));
    }

    /// Writes a row of the destination. Adds to `lost` what is in no buffer.
    fn write_row(&self, row: u32, bytes: &[u8], gpu: &mut Gpu, lost: &mut Lost) {
        let memory = gpu.memory_mut();
        let (mut rest, mut first) = (bytes, None);
        for (offset, len) in self.destination.row(row, self.width, self.texel) {
            let to = memory.behind(self.destination.start, offset);
            let Some(part) = rest.split_off(..len) else { break };
            if !memory.write(to, part) {
                first = first.or(Some((to, len)));
            }
        }
        lost.rows += u32::from(first.is_some());
        lost.first = lost.first.or(first);
    }

    fn row_bytes(&self) -> usize {
        self.width as usize * self.texel as usize
    }
}

/// What a blit stores outside of all buffers.
#[derive(Default)]
struct Lost {
    /// Address and length of the first bytes.
    first: Option<(Address, usize)>,
    /// Number of rows that have some.
    rows: u32,
}

impl Lost {
    /// Reports it, if there is any.
    fn report(&self, gpu: &mut Gpu) {
        let Some((to, len)) = self.first else { return };
        let more =
            if self.rows > 1 { format!(", and in {} more rows", self.rows - 1) } else { String::new() };
        let what = format!("a blit stores {len} bytes at {to:#x}, outside of all buffers{more}");
        gpu.machine.report.troubles.note(Trouble::Fault(Fault::Draw(what)), gpu.machine.at);
    }
}

/// The upper left corner of the source. `None` if it does not have this size, or lies outside.
fn source_corner(regs: &RegFile, [width, height]: [u32; 2]) -> Option<[u32; 2]> {
    let (left, top) = (regs.get::<GRAS_2D_SRC_TL_X>().VALUE(), regs.get::<GRAS_2D_SRC_TL_Y>().VALUE());
    let (right, bottom) = (regs.get::<GRAS_2D_SRC_BR_X>().VALUE(), regs.get::<GRAS_2D_SRC_BR_Y>().VALUE());
    let fits = i64::from(left) + i64::from(width) == i64::from(right) + 1
        && i64::from(top) + i64::from(height) == i64::from(bottom) + 1;
    Some([left.try_into().ok()?, top.try_into().ok()?]).filter(|_| fits)
}

/// The texel of the colour registers, whose components are as `kind` says. `None` if a format cannot have such a colour.
fn solid(regs: &RegFile, codec: &Codec, kind: Ifmt2d) -> Option<u128> {
    let lanes: [u32; 4] = std::array::from_fn(|n| regs.read(RB_2D_SRC_SOLID_C0::ROW.offset + n as u32));
    match kind {
        Ifmt2d::R2D_INT32 | Ifmt2d::R2D_INT16 | Ifmt2d::R2D_INT8 if codec.is_integer() => {
            Some(codec.encode(lanes))
        }
        Ifmt2d::R2D_FLOAT32 if !codec.is_integer() => Some(codec.encode(lanes)),
        Ifmt2d::R2D_UNORM8 if !codec.is_integer() => {
            Some(codec.encode(lanes.map(|lane| (lane as f32 / 255.0).to_bits())))
        }
        _ => None,
    }
}
