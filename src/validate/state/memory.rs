//! Section 6 of the page: what draws read and write lies in memory; and S28, S29: texture slots.

use a4emu_decoder::bits::Register;
use a4emu_decoder::regs::enums::{TexClamp, TexFmt, TexType};
use a4emu_decoder::regs::rb::*;
use a4emu_decoder::regs::tex::*;
use a4emu_decoder::regs::tpl1::*;
use a4emu_decoder::regs::vfd::*;

use super::{Said, Scene};
use crate::draw::tpl1::state::border_colors;
use crate::draw::tpl1::{self, Border};
use crate::draw::{DrawCall, IndexSource};
use crate::format::Format;
use crate::gpu::Stage;
use crate::pass::Pass;
use crate::validate::program::Checked;
use crate::validate::rules::Id;

const TARGETS: u32 = 8;
/// Bytes that addresses of surfaces are multiples of.
const ALIGNMENT: u32 = 32;

/// Adds what breaks the rules of memory at a draw.
pub fn check(scene: &Scene<'_>, call: &DrawCall, said: &mut Said) {
    attributes(scene, call, said);
    index_buffer(scene, call, said);
    resources(scene, said);
    match scene.pass {
        Pass::Bypass => targets(scene, said),
        Pass::Resolve => resolve(scene, said),
        Pass::Binning | Pass::Gmem | Pass::Restore => {}
    }
}

/// The same at a dispatch.
pub fn check_dispatch(scene: &Scene<'_>, said: &mut Said) {
    resources(scene, said);
}

fn resources(scene: &Scene<'_>, said: &mut Said) {
    for checked in &scene.programs {
        textures(scene, checked, said);
        buffers(scene, checked, said);
    }
}

/// Whether `bytes` from `address` are in one buffer.
fn holds(scene: &Scene<'_>, address: u32, bytes: u64) -> bool {
    bytes == 0 || u64::from(scene.gpu.mem.room(address)) >= bytes
}

/// M1 and M2.
fn attributes(scene: &Scene<'_>, call: &DrawCall, said: &mut Said) {
    let regs = scene.regs;
    let count = regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(VFD_DECODE_INSTR::ROW.len);
    for i in 0..count {
        let (fetch, base) = (regs.at::<VFD_FETCH_INSTR_0>(i), regs.at::<VFD_FETCH_INSTR_1>(i).VALUE());
        let size = regs.at::<VFD_FETCH_INSTR_2>(i).SIZE();
        said.unless(holds(scene, base, size.into()), Id::M1, || {
            format!("attribute {i}: {size} bytes at {base:#010x} are in no one buffer")
        });
        let element = fetch.FETCHSIZE() + 1;
        said.unless(size >= element, Id::M1, || {
            format!("attribute {i}: SIZE {size}, an element has {element}")
        });
        let instances = regs.at::<VFD_FETCH_INSTR_3>(i).STEPRATE().max(1);
        let last = match (&call.indices, fetch.INSTANCED()) {
            (_, true) => {
                u64::from(call.instances.saturating_sub(1) / instances)
                    + u64::from(first_instance(scene, call))
            }
            (IndexSource::Auto, false) => u64::from(call.count - 1) + u64::from(first_vertex(scene, call)),
            _ => continue,
        };
        let end = last * u64::from(fetch.BUFSTRIDE()) + u64::from(element);
        said.unless(end <= size.into(), Id::M2, || {
            format!("attribute {i}: element {last} lies beyond SIZE {size}")
        });
    }
}

fn first_vertex(scene: &Scene<'_>, call: &DrawCall) -> u32 {
    call.base_vertex.unwrap_or(scene.regs.get::<VFD_INDEX_OFFSET>().VALUE().max(0) as u32)
}

fn first_instance(scene: &Scene<'_>, call: &DrawCall) -> u32 {
    call.first_instance.unwrap_or(scene.regs.get::<VFD_INSTANCE_START_OFFSET>().VALUE())
}

fn index_buffer(scene: &Scene<'_>, call: &DrawCall, said: &mut Said) {
    if let IndexSource::Memory { base, size, .. } = call.indices {
        said.unless(holds(scene, base, size.into()), Id::M7, || {
            format!("indices: {size} bytes at {base:#010x} are in no one buffer")
        });
    }
}

/// M3, S28 and S29.
fn textures(scene: &Scene<'_>, checked: &Checked, said: &mut Said) {
    let stage = checked.program.stage;
    let loaded = scene.gpu.loaded.stage(stage);
    let counts = counts(scene, stage);
    for &(sampler, slot) in &checked.program.shader.uses.samples {
        let words = loaded.textures.get(usize::from(slot)).copied().unwrap_or_default();
        said.unless(u32::from(slot) < counts, Id::S28, || {
            format!("{}: texture {slot}, TPL1 has {counts}", stage.name())
        });
        if words == [0; 8] {
            said.say(Id::S29, format!("{}: texture {slot} is not bound", stage.name()));
        } else {
            texture(scene, stage, slot, words, said);
        }
        if let Some(sampler) = sampler {
            let words = loaded.samplers.get(usize::from(sampler)).copied().unwrap_or_default();
            border(scene, stage, sampler, words, said);
            doubtful(scene, stage, [slot, sampler], said);
        }
    }
}

fn counts(scene: &Scene<'_>, stage: Stage) -> u32 {
    let (most, fs) = (scene.regs.get::<TPL1_TP_TEX_COUNT>(), scene.regs.get::<TPL1_TP_FS_TEX_COUNT>());
    match stage {
        Stage::VS => most.VS(),
        Stage::HS => most.HS(),
        Stage::DS => most.DS(),
        Stage::GS => most.GS(),
        Stage::FS => fs.FS(),
        Stage::CS => fs.CS(),
    }
}

fn texture(scene: &Scene<'_>, stage: Stage, slot: u8, words: [u32; 8], said: &mut Said) {
    let Ok(texture) = tpl1::Texture::new(&words, scene.gpu.model) else { return };
    let (bytes, base) = (texture.bytes_spanned(), TEX_CONST_4(words[4]).BASE());
    said.unless(holds(scene, base, bytes), Id::M3, || {
        format!("{}: texture {slot} has {bytes} bytes at {base:#010x}, in no one buffer", stage.name())
    });
    let (c0, c2) = (TEX_CONST_0(words[0]), TEX_CONST_2(words[2]));
    let is_buffer = c2.BUFFER() || c0.TYPE() == TexType::A4XX_TEX_BUFFER;
    let aligned = c2.PITCH() % c2.least_pitch() == 0;
    said.unless(is_buffer || aligned, Id::M3, || {
        format!("{}: texture {slot} has a pitch of {} bytes", stage.name(), c2.PITCH())
    });
}

/// P26: what drivers leave alone because it is said not to work.
fn doubtful(scene: &Scene<'_>, stage: Stage, [slot, sampler]: [u8; 2], said: &mut Said) {
    let loaded = scene.gpu.loaded.stage(stage);
    let (Some(words), Some(state)) =
        (loaded.textures.get(usize::from(slot)), loaded.samplers.get(usize::from(sampler)))
    else {
        return;
    };
    let (c0, c1, samp) = (TEX_CONST_0(words[0]), TEX_CONST_1(words[1]), TEX_SAMP_0(state[0]));
    let mirrors = [samp.WRAP_S(), samp.WRAP_T(), samp.WRAP_R()].contains(&TexClamp::A4XX_TEX_MIRROR_CLAMP);
    let whole = c1.WIDTH().is_power_of_two() && c1.HEIGHT().is_power_of_two();
    said.unless(!mirrors || whole, Id::P26, || {
        format!("{}: texture {slot} is mirrored and clamped, and its size is no power of two", stage.name())
    });
    let wide = matches!(
        c0.FMT(),
        TexFmt::TFMT4_32_32_32_FLOAT | TexFmt::TFMT4_32_32_32_UINT | TexFmt::TFMT4_32_32_32_SINT
    );
    said.unless(!wide || c0.TYPE() == TexType::A4XX_TEX_BUFFER, Id::P26, || {
        format!("{}: texture {slot} has 96 bits and is no buffer", stage.name())
    });
}

/// The half of M7 that is about border colours.
fn border(scene: &Scene<'_>, stage: Stage, slot: u8, words: [u32; 2], said: &mut Said) {
    let sampler = TEX_SAMP_0(words[0]);
    let wraps = [sampler.WRAP_S(), sampler.WRAP_T(), sampler.WRAP_R()];
    if !wraps.contains(&TexClamp::A4XX_TEX_CLAMP_TO_BORDER) {
        return;
    }
    let base = border_colors(scene.regs, stage);
    let bytes = u64::from((u32::from(slot) + 1) * Border::BYTES);
    said.unless(holds(scene, base, bytes), Id::M7, || {
        format!("{}: the border colour of sampler {slot} is in no buffer", stage.name())
    });
}

/// M6 and X10.
fn buffers(scene: &Scene<'_>, checked: &Checked, said: &mut Said) {
    let stage = checked.program.stage;
    let ssbo = scene.gpu.loaded.ssbo(stage);
    for &slot in &checked.program.shader.uses.buffers {
        let at = usize::from(slot);
        let (Some(words), Some(sizes)) = (ssbo.descriptors.get(at), ssbo.sizes.get(at)) else { continue };
        let (base, pitch) = (SSBO_0_0(words[0]).BASE(), SSBO_0_1(words[1]).PITCH());
        let is_buffer = pitch == 0;
        let elements = SSBO_1_0(sizes[0]).elements(SSBO_1_1(sizes[1]));
        let bytes = u64::from(elements) * 4;
        said.unless(!is_buffer || holds(scene, base, bytes), Id::M6, || {
            format!(
                "{}: storage buffer {slot} has {bytes} bytes at {base:#010x}, in no one buffer",
                stage.name()
            )
        });
        let dropped = words[0] - base;
        said.unless(dropped == 0, Id::X10, || {
            format!("{}: storage buffer {slot} at {:#010x}, read from {base:#010x}", stage.name(), words[0])
        });
    }
}

/// M4.
fn targets(scene: &Scene<'_>, said: &mut Said) {
    let regs = scene.regs;
    let height = regs.get::<RB_FRAME_BUFFER_DIMENSION>();
    let components = regs.get::<RB_RENDER_COMPONENTS>();
    for i in (0..TARGETS).filter(|i| components.target(*i) != 0) {
        let info = regs.at::<RB_MRT_BUF_INFO>(i);
        let Some(format) = Format::color(info.COLOR_FORMAT()) else { continue };
        let (cpp, pitch) = (format.block().bytes, info.COLOR_BUF_PITCH());
        let base = regs.at::<RB_MRT_BASE>(i).VALUE();
        let bytes = span(pitch, height.HEIGHT(), height.WIDTH() * cpp);
        said.unless(holds(scene, base, bytes), Id::M4, || {
            format!("target {i}: {bytes} bytes at {base:#010x} are in no one buffer")
        });
        let aligned = base.is_multiple_of(ALIGNMENT) && pitch.is_multiple_of(ALIGNMENT * cpp);
        said.unless(aligned, Id::M4, || format!("target {i} at {base:#010x} with a pitch of {pitch}"));
    }
}

/// Bytes from the first to behind the last pixel.
fn span(pitch: u32, rows: u32, row: u32) -> u64 {
    u64::from(pitch) * u64::from(rows.saturating_sub(1)) + u64::from(row)
}

/// M5.
fn resolve(scene: &Scene<'_>, said: &mut Said) {
    let regs = scene.regs;
    let frame = regs.get::<RB_FRAME_BUFFER_DIMENSION>();
    let (base, pitch) = (regs.get::<RB_COPY_DEST_BASE>().BASE(), regs.get::<RB_COPY_DEST_PITCH>().PITCH());
    let Some(format) = Format::color(regs.get::<RB_COPY_DEST_INFO>().FORMAT()) else { return };
    let row = frame.WIDTH() * format.block().bytes;
    let bytes = span(pitch, frame.HEIGHT(), row);
    said.unless(holds(scene, base, bytes), Id::M5, || {
        format!("resolve: {bytes} bytes at {base:#010x} are in no one buffer")
    });
    said.unless(pitch >= row, Id::M5, || format!("resolve: pitch {pitch}, a row has {row}"));
}
