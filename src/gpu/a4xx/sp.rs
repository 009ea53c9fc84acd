//! The registers and descriptors of a shader stage: where its program is, storage buffers and images.

use a4emu_decoder::a4xx::regs::sp::*;
use a4emu_decoder::a4xx::regs::sp_geometry::*;
use a4emu_decoder::a4xx::regs::tex::{SSBO_1_0, SSBO_1_1};
use a4emu_decoder::adreno::address::Address;

use a4emu_shader::format::{Swap, Transfer};
use a4emu_shader::{Dialect, Program, SyncFlag};

use super::{formats, tpl1};
use crate::draw::sp::buffer::Buffer;
use crate::draw::sp::memory::PRIVATE_BYTES;
use crate::draw::sp::state::{self, CodePlace, StageReaders};
use crate::fault::Miss;
use crate::machine::{ChipView, Stage};
use crate::regfile::RegFile;

/// Instructions per unit of the length registers.
const LENGTH_UNIT: u32 = 16;

/// First vec4 of the constant file that mirrors SSBO descriptors (docs/hardware/ir3-isa.md, section 9.3).
const SSBO_MIRROR: usize = 448;

/// What a stage is read with.
pub static READERS: StageReaders = StageReaders {
    place: program_place,
    textures: tpl1::textures,
    buffer,
    descriptors: None,
    private_bytes: |_| PRIVATE_BYTES,
    mirror: SSBO_MIRROR,
    dialect,
};

/// Returns what the words of a stage's program mean. In a hull shader, an (ss) after a store is a barrier between the
/// invocations of a patch (docs/hardware/ir3-isa.md, section 10.3).
fn dialect(_: ChipView<'_>, stage: Stage) -> Dialect {
    let sync = if stage == Stage::HS { SyncFlag::Barrier } else { SyncFlag::Scheduling };
    Dialect { sync, ..Dialect::A4XX }
}

/// Returns where the program of `stage` is.
pub fn code_place(chip: ChipView<'_>, stage: Stage) -> CodePlace {
    CodePlace::of(&READERS, chip, stage)
}

/// Returns the instructions of `stage`, as [`state::code`] does.
///
/// # Errors
/// The address that should have them, when there are none.
pub fn code(chip: ChipView<'_>, stage: Stage) -> Result<Vec<u64>, Miss> {
    state::code(&READERS, chip, stage)
}

fn program_place(chip: ChipView<'_>, stage: Stage) -> (Address, u32) {
    let (start, length) = place(chip.regs, stage);
    (start.into(), length)
}

/// Returns address and length in instructions of a stage's program.
pub fn place(regs: &RegFile, stage: Stage) -> (u32, u32) {
    let (start, units) = match stage {
        Stage::VS => (regs.get::<SP_VS_OBJ_START>().VALUE(), regs.get::<SP_VS_LENGTH_REG>().VALUE()),
        Stage::FS => (regs.get::<SP_FS_OBJ_START>().VALUE(), regs.get::<SP_FS_LENGTH_REG>().VALUE()),
        Stage::CS => (regs.get::<SP_CS_OBJ_START>().VALUE(), regs.get::<SP_CS_LENGTH_REG>().VALUE()),
        Stage::HS => (regs.get::<SP_HS_OBJ_START>().VALUE(), regs.get::<SP_HS_LENGTH_REG>().VALUE()),
        Stage::DS => (regs.get::<SP_DS_OBJ_START>().VALUE(), regs.get::<SP_DS_LENGTH_REG>().VALUE()),
        Stage::GS => (regs.get::<SP_GS_OBJ_START>().VALUE(), regs.get::<SP_GS_LENGTH_REG>().VALUE()),
    };
    (start, units.saturating_mul(LENGTH_UNIT).min(Program::MAX_INSTRUCTIONS as u32))
}

/// Decodes the two words of SSBO_1 of a storage buffer or image.
fn buffer(words: [u32; 2]) -> Buffer {
    let (size_0, size_1) = (SSBO_1_0(words[0]), SSBO_1_1(words[1]));
    let format = formats::color(size_0.FMT());
    Buffer {
        size: [size_0.WIDTH(), size_1.HEIGHT(), size_1.DEPTH()],
        elements: size_0.elements(size_1),
        codec: format.and_then(|format| format.codec(Swap::WZYX, Transfer::Linear)),
        place: None,
    }
}
