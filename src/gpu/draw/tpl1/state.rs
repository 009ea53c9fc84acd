//! State of the texture unit from registers: addresses of border colours.

use a4emu_decoder::a4xx::regs::tpl1::*;

use super::TextureBank;
use super::sampler::Border;
use crate::machine::{ChipView, Stage, TEXTURES};
use crate::regfile::RegFile;

/// Takes a snapshot of the textures of a stage, without empty slots at the end.
pub fn textures(chip: ChipView<'_>, stage: Stage) -> TextureBank {
    let loaded = chip.loaded.stage(stage);
    let textures = loaded.textures.iter().rposition(|d| *d != [0; 8]).map_or(0, |last| last + 1);
    let samplers = loaded.samplers.iter().rposition(|d| *d != [0; 2]).map_or(0, |last| last + 1);
    let border = border_colors(chip.regs, stage);
    let (textures, samplers) = (&loaded.textures[..textures], &loaded.samplers[..samplers]);
    TextureBank::new(textures, samplers, border, chip.model, chip.mem)
}

/// Returns address and length of the border colours of a stage's samplers.
pub fn border_place(regs: &RegFile, stage: Stage) -> (u32, u64) {
    (border_colors(regs, stage), TEXTURES as u64 * u64::from(Border::BYTES))
}

/// Returns the address of the border colours of a stage's samplers.
pub fn border_colors(regs: &RegFile, stage: Stage) -> u32 {
    match stage {
        Stage::VS => regs.get::<TPL1_TP_VS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::HS => regs.get::<TPL1_TP_HS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::DS => regs.get::<TPL1_TP_DS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::GS => regs.get::<TPL1_TP_GS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::FS => regs.get::<TPL1_TP_FS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::CS => regs.get::<TPL1_TP_CS_BORDER_COLOR_BASE_ADDR>().VALUE(),
    }
}
