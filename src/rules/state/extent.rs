//! The size of the memory that registers and descriptors name.

use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::a4xx::regs::tex::*;

use super::Scene;
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::a4xx::gras::sample_counts;
use a4emu_gpu::a4xx::rb::copied_samples;
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::regfile::RegFile;

/// Binary logarithm of the maximum number of samples per pixel.
pub const MAX_LOG_SAMPLES: u32 = 2;

/// Number of samples per pixel in the targets.
pub fn held_samples(regs: &RegFile) -> u32 {
    1 << sample_counts(regs)[0].min(MAX_LOG_SAMPLES)
}

/// A range of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Extent {
    /// Address of the first byte.
    pub base: u32,
    /// Length in bytes.
    pub bytes: u64,
}

impl Extent {
    /// Whether the two ranges share a byte.
    pub fn meets(self, other: Self) -> bool {
        let end = |extent: Self| u64::from(extent.base) + extent.bytes;
        u64::from(self.base) < end(other) && u64::from(other.base) < end(self)
    }

    /// The range from the first to the last pixel of a surface.
    fn of_rows(base: u32, pitch: u32, rows: u32, row: u32) -> Self {
        Self { base, bytes: u64::from(pitch) * u64::from(rows.saturating_sub(1)) + u64::from(row) }
    }

    /// The memory of colour target `i`.
    pub fn of_target(regs: &RegFile, i: u32) -> Option<Self> {
        let (frame, info) = (regs.get::<RB_FRAME_BUFFER_DIMENSION>(), regs.at::<RB_MRT_BUF_INFO>(i));
        let row = frame.WIDTH() * formats::color(info.COLOR_FORMAT())?.block().bytes * held_samples(regs);
        Some(Self::of_rows(regs.at::<RB_MRT_BASE>(i).VALUE(), info.COLOR_BUF_PITCH(), frame.HEIGHT(), row))
    }

    /// The memory that a resolve writes.
    pub fn of_resolve(regs: &RegFile) -> Option<Self> {
        let frame = regs.get::<RB_FRAME_BUFFER_DIMENSION>();
        let [_, kept] = copied_samples(regs, regs.get::<RB_COPY_CONTROL>());
        let row =
            frame.WIDTH() * formats::color(regs.get::<RB_COPY_DEST_INFO>().FORMAT())?.block().bytes * kept;
        let (base, pitch) =
            (regs.get::<RB_COPY_DEST_BASE>().BASE(), regs.get::<RB_COPY_DEST_PITCH>().PITCH());
        Some(Self::of_rows(base, pitch, frame.HEIGHT(), row))
    }

    /// The memory of a storage buffer; none for images.
    pub fn of_storage(scene: &Scene<'_>, stage: Stage, slot: u8) -> Option<Self> {
        let (at, ssbo) = (usize::from(slot), scene.gpu.loaded.ssbo(stage));
        let (words, sizes) = (ssbo.descriptors.get(at)?, ssbo.sizes.get(at)?);
        let elements = SSBO_1_0(sizes[0]).elements(SSBO_1_1(sizes[1]));
        let is_buffer = SSBO_0_1(words[1]).PITCH() == 0;
        is_buffer.then(|| Self { base: SSBO_0_0(words[0]).BASE(), bytes: u64::from(elements) * 4 })
    }
}
