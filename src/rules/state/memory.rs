//! Checks section 6 of the page: reads and writes of draws are inside of buffers. Also S28 and S29, texture
//! slots.

use std::collections::BTreeSet;

use a4emu_decoder::a4xx::enums::{TexClamp, TexFmt, TexSwiz, TexType};
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::a4xx::regs::tex::*;
use a4emu_decoder::a4xx::regs::tpl1::*;
use a4emu_decoder::a4xx::regs::vfd::*;
use a4emu_decoder::adreno::ir3::{Body, Cat5, Cat5Op};
use a4emu_decoder::bits::Register;

use super::{Extent, Scene, Violations};
use crate::program::{Checked, Value};
use crate::rules::Id;
use a4emu_gpu::a4xx::tpl1::{BORDER, border_colors};
use a4emu_gpu::a4xx::{self, formats};
use a4emu_gpu::draw::{DrawCall, IndexSource};
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;
use a4emu_shader::format::{Format, Layout, Type};

/// Alignment of surface addresses in bytes.
const ALIGNMENT: u32 = 32;

/// Adds violations of the rules for memory at a draw.
pub fn check(scene: &Scene<'_>, call: &DrawCall, highest: Option<u32>, violations: &mut Violations) {
    attributes(scene, call, highest, violations);
    index_buffer(scene, call, violations);
    resources(scene, violations);
    match scene.pass {
        Pass::Bypass => targets(scene, violations),
        Pass::Resolve => resolve(scene, violations),
        Pass::Binning | Pass::Gmem | Pass::Restore => {}
    }
}

/// Adds violations of the rules for memory at a dispatch.
pub fn check_dispatch(scene: &Scene<'_>, violations: &mut Violations) {
    resources(scene, violations);
}

fn resources(scene: &Scene<'_>, violations: &mut Violations) {
    for checked in &scene.programs {
        textures(scene, checked, violations);
        gathers(scene, checked, violations);
        srgb_alpha(scene, checked, violations);
        buffers(scene, checked, violations);
        pointers(scene, checked, violations);
    }
}

/// Whether the `bytes` from `address` on are in one buffer.
fn holds(scene: &Scene<'_>, address: u32, bytes: u64) -> bool {
    bytes == 0 || u64::from(scene.gpu.memory().room(address)) >= bytes
}

/// Checks M1 and M2.
fn attributes(scene: &Scene<'_>, call: &DrawCall, highest: Option<u32>, violations: &mut Violations) {
    let regs = scene.regs;
    let count = regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(VFD_DECODE_INSTR::ROW.len);
    for i in 0..count {
        let (fetch, base) = (regs.at::<VFD_FETCH_INSTR_0>(i), regs.at::<VFD_FETCH_INSTR_1>(i).VALUE());
        let size = regs.at::<VFD_FETCH_INSTR_2>(i).SIZE();
        violations.unless(holds(scene, base, size.into()), Id::M1, || {
            format!("attribute {i}: {size} bytes at {base:#010x} are in no one buffer")
        });
        let element = fetch.FETCHSIZE() + 1;
        violations.unless(size >= element, Id::M1, || {
            format!("attribute {i}: SIZE {size}, an element has {element}")
        });
        let instances = regs.at::<VFD_FETCH_INSTR_3>(i).STEPRATE().max(1);
        let last = match (&call.indices, fetch.INSTANCED()) {
            (_, true) => {
                u64::from(call.instances.saturating_sub(1) / instances)
                    + u64::from(first_instance(scene, call))
            }
            (IndexSource::Auto, false) => u64::from(call.count - 1) + u64::from(first_vertex(scene, call)),
            (_, false) => match highest.and_then(|index| last_vertex(scene, call, index)) {
                Some(last) => last,
                None => continue,
            },
        };
        let end = last * u64::from(fetch.BUFSTRIDE()) + u64::from(element);
        violations.unless(end <= size.into(), Id::M2, || {
            format!("attribute {i}: element {last} lies beyond SIZE {size}")
        });
    }
}

fn first_vertex(scene: &Scene<'_>, call: &DrawCall) -> u32 {
    call.base_vertex.unwrap_or(scene.regs.get::<VFD_INDEX_OFFSET>().VALUE().max(0) as u32)
}

/// Vertex of the highest index; none if it is before the first.
fn last_vertex(scene: &Scene<'_>, call: &DrawCall, index: u32) -> Option<u64> {
    let base = call.base_vertex.map_or(scene.regs.get::<VFD_INDEX_OFFSET>().VALUE(), |base| base as i32);
    u64::try_from(i64::from(index) + i64::from(base)).ok()
}

fn first_instance(scene: &Scene<'_>, call: &DrawCall) -> u32 {
    call.first_instance.unwrap_or(scene.regs.get::<VFD_INSTANCE_START_OFFSET>().VALUE())
}

fn index_buffer(scene: &Scene<'_>, call: &DrawCall, violations: &mut Violations) {
    if let IndexSource::Memory { base, size, .. } = call.indices {
        let base_is_held = base.narrow().is_some_and(|base| holds(scene, base, size.into()));
        violations
            .unless(base_is_held, Id::M7, || format!("indices: {size} bytes at {base} are in no one buffer"));
    }
}

/// Checks M3, S28 and S29.
fn textures(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let stage = checked.program.stage;
    let loaded = scene.gpu.loaded.stage(stage);
    let counts = counts(scene, stage);
    for &(sampler, slot) in &checked.program.shader.uses.samples {
        let words = loaded.textures.get(usize::from(slot)).copied().unwrap_or_default();
        violations.unless(u32::from(slot) < counts, Id::S28, || {
            format!("{}: texture {slot}, TPL1 has {counts}", stage.name())
        });
        if words == [0; 8] {
            violations.report(Id::S29, format!("{}: texture {slot} is not bound", stage.name()));
        } else {
            texture(scene, stage, slot, words, violations);
        }
        if let Some(sampler) = sampler {
            let words = loaded.samplers.get(usize::from(sampler)).copied().unwrap_or_default();
            border(scene, stage, sampler, words, violations);
            doubtful(scene, stage, [slot, sampler], violations);
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

fn texture(scene: &Scene<'_>, stage: Stage, slot: u8, words: [u32; 8], violations: &mut Violations) {
    let Ok(texture) = a4xx::tpl1::texture(&words, scene.gpu.model) else { return };
    let (bytes, base) = (texture.bytes_spanned(), TEX_CONST_4(words[4]).BASE());
    violations.unless(holds(scene, base, bytes), Id::M3, || {
        format!("{}: texture {slot} has {bytes} bytes at {base:#010x}, in no one buffer", stage.name())
    });
    let (c0, c2) = (TEX_CONST_0(words[0]), TEX_CONST_2(words[2]));
    let is_buffer = c2.BUFFER() || c0.TYPE() == TexType::A4XX_TEX_BUFFER;
    let aligned = c2.PITCH() % c2.least_pitch() == 0;
    violations.unless(is_buffer || aligned, Id::M3, || {
        format!("{}: texture {slot} has a pitch of {} bytes", stage.name(), c2.PITCH())
    });
}

/// Checks P26: features that drivers avoid because they are reported not to work.
fn doubtful(scene: &Scene<'_>, stage: Stage, [slot, sampler]: [u8; 2], violations: &mut Violations) {
    let loaded = scene.gpu.loaded.stage(stage);
    let (Some(words), Some(state)) =
        (loaded.textures.get(usize::from(slot)), loaded.samplers.get(usize::from(sampler)))
    else {
        return;
    };
    let (c0, c1, samp) = (TEX_CONST_0(words[0]), TEX_CONST_1(words[1]), TEX_SAMP_0(state[0]));
    let mirrors = [samp.WRAP_S(), samp.WRAP_T(), samp.WRAP_R()].contains(&TexClamp::A4XX_TEX_MIRROR_CLAMP);
    let whole = c1.WIDTH().is_power_of_two() && c1.HEIGHT().is_power_of_two();
    violations.unless(!mirrors || whole, Id::P26, || {
        format!("{}: texture {slot} is mirrored and clamped, and its size is no power of two", stage.name())
    });
    let wide = matches!(
        c0.FMT(),
        TexFmt::TFMT4_32_32_32_FLOAT | TexFmt::TFMT4_32_32_32_UINT | TexFmt::TFMT4_32_32_32_SINT
    );
    violations.unless(!wide || c0.TYPE() == TexType::A4XX_TEX_BUFFER, Id::P26, || {
        format!("{}: texture {slot} has 96 bits and is no buffer", stage.name())
    });
}

/// Checks M11. Gathers from components of 32 bits work.
fn gathers(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let stage = checked.program.stage;
    let read = texels(scene, checked).filter(|read| is_gather(read.cat5.op));
    let slots: BTreeSet<u8> = read.flat_map(|read| read.slots).collect();
    for slot in slots {
        let words = scene.gpu.loaded.stage(stage).textures.get(usize::from(slot));
        let format = words.and_then(|words| formats::texture(TEX_CONST_0(words[0]).FMT()));
        violations.unless(!format.is_some_and(holds_small_integers), Id::M11, || {
            format!(
                "{}: gather from texture {slot}, which holds integers of fewer than 32 bits",
                stage.name()
            )
        });
    }
}

/// Whether the components are integers of fewer than 32 bits.
fn holds_small_integers(format: Format) -> bool {
    let narrow = matches!(format.layout, Layout::Fields { widths, .. } if !widths.contains(&32));
    narrow && matches!(format.ty, Type::Uint | Type::Sint)
}

fn is_gather(op: Cat5Op) -> bool {
    matches!(op, Cat5Op::Gather4r | Cat5Op::Gather4g | Cat5Op::Gather4b | Cat5Op::Gather4a)
}

/// Checks M10: the chip's alpha of an sRGB texture in ASTC blocks.
fn srgb_alpha(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    if scene.gpu.chip.row().is_none_or(|row| row.astc_srgb_alpha) {
        return;
    }
    let textures = &scene.gpu.loaded.stage(checked.program.stage).textures;
    for read in texels(scene, checked) {
        for slot in read.slots {
            let Some(words) = textures.get(usize::from(slot)) else { continue };
            let c0 = TEX_CONST_0(words[0]);
            let is_astc = a4xx::tpl1::texture(words, scene.gpu.model).is_ok_and(|texture| texture.is_astc());
            if c0.SRGB() && is_astc && takes_alpha(read.cat5, c0) {
                let what = format!("alpha of texture {slot}, which is ASTC and SRGB");
                violations.add(checked.program.broken(Id::M10, read.index, what));
            }
        }
    }
}

/// An instruction that reads texels, and the texture slots that it may take them from.
struct Texels<'a> {
    index: usize,
    cat5: &'a Cat5,
    slots: BTreeSet<u8>,
}

/// The instructions of a program that read texels. A slot that is computed belongs to an array of textures: it
/// may be any bound one that no instruction names by number.
fn texels<'a>(scene: &'a Scene<'_>, checked: &'a Checked) -> impl Iterator<Item = Texels<'a>> {
    let loaded = scene.gpu.loaded.stage(checked.program.stage);
    let limit = counts(scene, checked.program.stage);
    let named = |slot: u8| checked.program.shader.uses.samples.iter().any(|(_, texture)| *texture == slot);
    let unnamed = move || {
        let bound = (0u8..).zip(&loaded.textures).filter(|(_, words)| **words != [0; 8]);
        bound.map(|(slot, _)| slot).filter(|slot| u32::from(*slot) < limit && !named(*slot)).collect()
    };
    // The register has 16 bits.
    let value = |value: &Value| match *value {
        Value::Immediate(slot) => u8::try_from(slot & 0xffff).ok(),
        Value::Constant(scalar) => {
            let vector = loaded.constants.get(usize::from(scalar / 4)).copied().unwrap_or_default();
            u8::try_from(vector[usize::from(scalar % 4)] & 0xffff).ok()
        }
    };
    checked.facts.texels.iter().filter_map(move |(index, slots)| {
        let Body::Cat5(cat5) = &checked.program.instrs[*index].body else { return None };
        let slots = slots.as_ref().map_or_else(unnamed, |values| values.iter().filter_map(value).collect());
        Some(Texels { index: *index, cat5, slots })
    })
}

/// Whether a component that the instruction writes is the texel's alpha.
fn takes_alpha(cat5: &Cat5, c0: TEX_CONST_0) -> bool {
    let swizzle = [c0.SWIZ_X(), c0.SWIZ_Y(), c0.SWIZ_Z(), c0.SWIZ_W()];
    match cat5.op {
        op if is_gather(op) => op == Cat5Op::Gather4a,
        _ => (0..4).any(|i| cat5.wrmask >> i & 1 != 0 && swizzle[i] == TexSwiz::A4XX_TEX_W),
    }
}

fn shows_border(words: [u32; 2]) -> bool {
    let sampler = TEX_SAMP_0(words[0]);
    [sampler.WRAP_S(), sampler.WRAP_T(), sampler.WRAP_R()].contains(&TexClamp::A4XX_TEX_CLAMP_TO_BORDER)
}

/// Whether a sampler that the program names clamps to the border.
pub fn clamps_to_border(scene: &Scene<'_>, checked: &Checked) -> bool {
    let samplers = &scene.gpu.loaded.stage(checked.program.stage).samplers;
    let mut named = checked.program.shader.uses.samples.iter().filter_map(|(sampler, _)| *sampler);
    named.any(|slot| samplers.get(usize::from(slot)).is_some_and(|words| shows_border(*words)))
}

/// Checks the part of M7 about border colours.
fn border(scene: &Scene<'_>, stage: Stage, slot: u8, words: [u32; 2], violations: &mut Violations) {
    if !shows_border(words) {
        return;
    }
    let base = border_colors(scene.regs, stage);
    let bytes = u64::from((u32::from(slot) + 1) * BORDER.bytes);
    violations.unless(holds(scene, base, bytes), Id::M7, || {
        format!("{}: the border colour of sampler {slot} is in no buffer", stage.name())
    });
}

/// Checks S29 for uniform buffers. The driver writes 0xbadN0000 for an unbound one, an older driver all
/// ones.
fn pointers(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let stage = checked.program.stage;
    let constants = &scene.gpu.loaded.stage(stage).constants;
    for &scalar in &checked.facts.pointers {
        let value =
            constants.get(usize::from(scalar / 4)).map_or(0, |vector| vector[usize::from(scalar % 4)]);
        let unbound = value & 0xfff0_ffff == 0xbad0_0000 || value == u32::MAX;
        violations.unless(!unbound, Id::S29, || {
            let (vector, component) = (scalar / 4, ['x', 'y', 'z', 'w'][usize::from(scalar % 4)]);
            format!(
                "{}: ldg from c{vector}.{component}, {value:#010x}: the buffer is not bound",
                stage.name()
            )
        });
    }
}

/// Checks M6 and X10.
fn buffers(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let stage = checked.program.stage;
    for &slot in &checked.program.shader.uses.buffers {
        if let Some(Extent { base, bytes }) = Extent::of_storage(scene, stage, slot) {
            violations.unless(holds(scene, base, bytes), Id::M6, || {
                format!(
                    "{}: storage buffer {slot} has {bytes} bytes at {base:#010x}, in no one buffer",
                    stage.name()
                )
            });
        }
        let Some(words) = scene.gpu.loaded.ssbo(stage).descriptors.get(usize::from(slot)) else { continue };
        let base = SSBO_0_0(words[0]).BASE();
        violations.unless(words[0] == base, Id::X10, || {
            format!("{}: storage buffer {slot} at {:#010x}, read from {base:#010x}", stage.name(), words[0])
        });
    }
}

/// Checks M4.
fn targets(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let components = regs.get::<RB_RENDER_COMPONENTS>();
    for i in (0..TARGETS).filter(|i| components.target(*i) != 0) {
        let info = regs.at::<RB_MRT_BUF_INFO>(i);
        let (Some(format), Some(Extent { base, bytes })) =
            (formats::color(info.COLOR_FORMAT()), Extent::of_target(regs, i))
        else {
            continue;
        };
        let (cpp, pitch) = (format.block().bytes, info.COLOR_BUF_PITCH());
        violations.unless(holds(scene, base, bytes), Id::M4, || {
            format!("target {i}: {bytes} bytes at {base:#010x} are in no one buffer")
        });
        let aligned = base.is_multiple_of(ALIGNMENT) && pitch.is_multiple_of(ALIGNMENT * cpp);
        violations.unless(aligned, Id::M4, || format!("target {i} at {base:#010x} with a pitch of {pitch}"));
    }
}

/// Checks M5.
fn resolve(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let Some(Extent { base, bytes }) = Extent::of_resolve(regs) else { return };
    let Some(format) = formats::color(regs.get::<RB_COPY_DEST_INFO>().FORMAT()) else { return };
    let (pitch, row) = (
        regs.get::<RB_COPY_DEST_PITCH>().PITCH(),
        regs.get::<RB_FRAME_BUFFER_DIMENSION>().WIDTH() * format.block().bytes,
    );
    violations.unless(holds(scene, base, bytes), Id::M5, || {
        format!("resolve: {bytes} bytes at {base:#010x} are in no one buffer")
    });
    violations.unless(pitch >= row, Id::M5, || format!("resolve: pitch {pitch}, a row has {row}"));
}
