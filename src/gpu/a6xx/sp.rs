//! The registers and descriptors of a shader stage: where its program is, storage buffers and images.

use a4emu_decoder::a6xx::enums::TexType;
use a4emu_decoder::a6xx::regs::compute::{
    SP_CS_CONFIG, SP_CS_CTRL_REG0, SP_CS_IBO_LO, SP_CS_INSTRLEN, SP_CS_OBJ_START_LO, SP_CS_PVT_MEM_PARAM,
};
use a4emu_decoder::a6xx::regs::tex::*;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::bits::Register;

use a4emu_shader::format::Transfer;
use a4emu_shader::{Dialect, Halves, Program, SyncFlag};

use super::{formats, tiling, tpl1};
use crate::bindless::{BindlessBase, DescriptorWords};
use crate::draw::sp::buffer::{Buffer, Place};
use crate::draw::sp::descriptors::DescriptorPlaces;
use crate::draw::sp::memory::PRIVATE_BYTES;
use crate::draw::sp::state::StageReaders;
use crate::draw::tpl1::TextureError;
use crate::machine::{ChipView, Stage};

/// Instructions per unit of the length registers.
const LENGTH_UNIT: u32 = 16;

/// Bytes of a descriptor of an image or a buffer.
pub const DESCRIPTOR: u64 = 64;

/// What a stage is read with.
pub static READERS: StageReaders = StageReaders {
    place,
    textures: tpl1::textures,
    buffer: |_| Buffer { size: [0; 3], elements: 0, codec: None, place: None },
    descriptors: Some(descriptors),
    private_bytes: |chip| {
        (chip.regs.get::<SP_CS_PVT_MEM_PARAM>().MEMSIZEPERITEM() as usize).max(PRIVATE_BYTES)
    },
    mirror: 0,
    dialect,
};

/// Returns address and length in instructions of a stage's program. Only dispatches run.
fn place(chip: ChipView<'_>, _: Stage) -> (Address, u32) {
    let units = chip.regs.get::<SP_CS_INSTRLEN>().VALUE();
    let start = chip.regs.address(SP_CS_OBJ_START_LO::ROW.offset);
    (start, units.saturating_mul(LENGTH_UNIT).min(Program::MAX_INSTRUCTIONS as u32))
}

/// Returns what the words of a stage's program mean. Only dispatches run.
fn dialect(chip: ChipView<'_>, _: Stage) -> Dialect {
    let halves = if chip.regs.get::<SP_CS_CTRL_REG0>().MERGEDREGS() { Halves::Merged } else { Halves::Apart };
    Dialect { isa: Isa::A6xx, halves, sync: SyncFlag::Scheduling }
}

/// Returns where the programs of a stage find their descriptors. Only dispatches run.
fn descriptors(chip: ChipView<'_>, stage: Stage) -> DescriptorPlaces {
    let regs = chip.regs;
    DescriptorPlaces {
        images: BindlessBase { start: regs.address(SP_CS_IBO_LO::ROW.offset), stride: DESCRIPTOR },
        image_count: regs.get::<SP_CS_CONFIG>().NIBO(),
        bases: std::array::from_fn(|base| BindlessBase::of(regs, Some(stage), base as u32)),
        uniforms: chip.loaded.stage(stage).ubos.as_slice().into(),
        borders: tpl1::borders(regs),
        model: chip.model,
        decode: buffer,
        named: tpl1::named,
    }
}

/// Decodes the descriptor of a storage buffer or image.
///
/// # Errors
/// The order of the image's texels is not known.
fn buffer(words: &DescriptorWords) -> Result<Buffer, TextureError> {
    let (c0, c1, c2) = (TEX_CONST_0(words[0]), TEX_CONST_1(words[1]), TEX_CONST_2(words[2]));
    let (c3, c5) = (TEX_CONST_3(words[3]), TEX_CONST_5(words[5]));
    let format = formats::texture(c0.FMT());
    let tiling = tiling(c0.TILE_MODE(), format.map_or(0, |format| format.block().bytes));
    let tiling = tiling.ok_or_else(|| tpl1::unknown_order(c0))?;
    let (width, layer) = (c1.WIDTH(), c3.ARRAY_PITCH());
    // The second coordinate of an array of rows is the layer: Mesa's compiler gives one row no coordinate.
    let (size, pitch) = match c2.TYPE() {
        TexType::A6XX_TEX_1D => ([width, c5.DEPTH(), 0], layer),
        _ => ([width, c1.HEIGHT(), c5.DEPTH()], c2.PITCH()),
    };
    Ok(Buffer {
        size,
        elements: tpl1::elements(words).unwrap_or(width),
        codec: format.and_then(|format| format.codec(tpl1::swap(c0.SWAP()), Transfer::Linear)),
        place: Some(Place { base: tpl1::base(words), pitch, layer, tiling }),
    })
}
