//! Checks of draws, dispatches and resolves: programs, vertices, indices, descriptors, targets.

use a4emu_decoder::a6xx::enums::{BuffersLocation, DepthFormat, Format, MsaaSamples, TileMode};
use a4emu_decoder::a6xx::regs::compute::{SP_CS_IBO_LO, SP_IBO_LO};
use a4emu_decoder::a6xx::regs::draw::*;
use a4emu_decoder::a6xx::regs::sets::A6XX_SP_XS_CONFIG;
use a4emu_decoder::a6xx::regs::tex::{SAMPLER, TEX_CONST_0, TEX_CONST_1, TEX_CONST_2, TEXTURE};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::Register;
use a4emu_gpu::a6xx::registers::StageRegisters;
use a4emu_gpu::a6xx::{formats, tpl1};
use a4emu_gpu::cp::{BindlessBase, BlitCall, Surfaces};
use a4emu_gpu::draw::tpl1::TextureKind;
use a4emu_gpu::draw::{DrawCall, IndexSource};
use a4emu_gpu::gpu::{STAGES, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
use a4emu_gpu::settled::Synced;
use a4emu_shader::format::{Swap, Transfer};

use super::traffic::Traffic;
use super::uses::{Fetched, Half, Target, bytes_of_rows, stored};
use super::{agree, holds};
use crate::program::Checked;
use crate::programs::Programs;
use crate::rules::Id;
use crate::shader::{Named, Taken};
use crate::state::Violations;

/// Instructions in a unit of a program's length, and bytes of an instruction.
const GROUP: u32 = 16;
const INSTRUCTION: u32 = 8;

/// Checks a draw with vertices that is about to run.
pub fn draw(
    gpu: Synced<'_>,
    call: &DrawCall,
    programs: &mut Programs,
    traffic: &mut Traffic,
    violations: &mut Violations,
) {
    let is_binning = call.pass == Pass::Binning;
    let runs = |stage: &Stage| match stage {
        Stage::CS => false,
        Stage::FS => !is_binning,
        _ => gpu.regs.read(StageRegisters::of(*stage).length) != 0 || *stage == Stage::VS,
    };
    let mut fetched = Vec::new();
    STAGES.into_iter().filter(runs).for_each(|stage| program(gpu, stage, programs, &mut fetched, violations));
    attributes(gpu, call, &mut fetched, violations);
    indices(gpu, call, &mut fetched, violations);
    let mut written = Vec::new();
    if !is_binning {
        agree::check(&gpu.regs, violations);
        let targets = targets(&gpu.regs);
        if gpu.regs.get::<RB_BIN_CONTROL>().BUFFERS_LOCATION() == BuffersLocation::BUFFERS_IN_GMEM {
            in_tile_memory(&gpu.regs, &targets, violations);
        } else {
            in_memory(gpu, &targets, violations);
            written = targets;
        }
    }
    traffic.fetch(gpu, &fetched, violations);
    traffic.draw(call.pass, &written, violations);
}

/// Checks a dispatch that is about to run.
pub fn dispatch(
    gpu: Synced<'_>,
    programs: &mut Programs,
    traffic: &mut Traffic,
    violations: &mut Violations,
) {
    let mut fetched = Vec::new();
    program(gpu, Stage::CS, programs, &mut fetched, violations);
    traffic.fetch(gpu, &fetched, violations);
    traffic.dispatch(gpu);
}

/// Checks M7 for a program, the rules of programs, and its descriptors. Adds what these name to `fetched`.
fn program(
    gpu: Synced<'_>,
    stage: Stage,
    programs: &mut Programs,
    fetched: &mut Vec<Fetched>,
    violations: &mut Violations,
) {
    let StageRegisters { start, length, .. } = *StageRegisters::of(stage);
    let (address, groups) = (gpu.regs.address(start), gpu.regs.read(length));
    if groups == 0 {
        return violations.report(Id::M7, format!("{}: there is no program", stage.name()));
    }
    let instructions = groups.saturating_mul(GROUP);
    let bytes = u64::from(instructions) * u64::from(INSTRUCTION);
    violations.unless(holds(gpu, address, bytes), Id::M7, || {
        format!("{}: the program's {bytes} bytes at {address} are in no one buffer", stage.name())
    });
    let Some(checked) = programs.at(gpu, stage, address, instructions) else { return };
    checked.broken.iter().for_each(|broken| violations.add(broken.clone()));
    descriptors(gpu, &checked, fetched, violations);
}

/// Checks M3, M6, S28 and S29: what a program's instructions name by number.
fn descriptors(gpu: Synced<'_>, checked: &Checked, fetched: &mut Vec<Fetched>, violations: &mut Violations) {
    let stage = checked.program.stage;
    let config = A6XX_SP_XS_CONFIG(gpu.regs.read(StageRegisters::of(stage).config));
    let uses = &checked.program.shader.uses;
    let pairs = uses.samples.iter().flat_map(|(sampler, texture)| {
        let of = |taken: Taken, slot: u8| Named { taken, base: None, slot };
        std::iter::once(of(Taken::Texture, *texture)).chain(sampler.map(|slot| of(Taken::Sampler, slot)))
    });
    for named in uses.descriptors.iter().copied().chain(pairs) {
        let (what, count, rule) = match named.taken {
            Taken::Texture => ("texture", config.NTEX(), Id::M3),
            Taken::Sampler => ("sampler", config.NSAMP(), Id::M3),
            Taken::Buffer => ("image or buffer", config.NIBO(), Id::M6),
            Taken::Uniforms => continue,
        };
        let (name, slot) = (stage.name(), named.slot);
        violations.unless(named.base.is_some() || u32::from(slot) < count, Id::S28, || {
            format!("{name}: {what} {slot}, SP_{name}_CONFIG has {count}")
        });
        if named.taken != Taken::Sampler {
            fetched.extend(resource(gpu, stage, named, (what, rule), violations));
        }
    }
}

/// Checks that the descriptor of a texture, image or buffer is bound, and that its memory is there. Returns that memory.
fn resource(
    gpu: Synced<'_>,
    stage: Stage,
    named: Named,
    (what, rule): (&'static str, Id),
    violations: &mut Violations,
) -> Option<Fetched> {
    let words = gpu.memory().known_dwords(place(gpu, stage, named)?, TEXTURE.len());
    let words: [u32; 16] = words.try_into().ok()?;
    let (size, pitch) = (TEX_CONST_1(words[1]), TEX_CONST_2(words[2]));
    let (name, slot) = (stage.name(), named.slot);
    if words.iter().all(|word| *word == 0) {
        violations.report(Id::S29, format!("{name}: {what} {slot} is not bound"));
        return None;
    }
    let base = tpl1::base(&words);
    // Rows of the first level and layer. A buffer has no pitch: its first byte. Padding of tiles is not known.
    let is_buffer = tpl1::kind(pitch.TYPE()) == Ok(TextureKind::Buffer);
    let (pitch, rows) = (if is_buffer { 0 } else { pitch.PITCH() }, size.HEIGHT());
    let is_linear = TEX_CONST_0(words[0]).TILE_MODE() == TileMode::TILE6_LINEAR;
    let needed = if is_linear { bytes_of_rows(pitch, rows) } else { 1 };
    violations.unless(holds(gpu, base, needed), rule, || match needed {
        1 => format!("{name}: {what} {slot} at {base} is in no buffer"),
        bytes => format!("{name}: {what} {slot}: {bytes} bytes at {base} are in no one buffer"),
    });
    let bytes = u64::from(pitch) * u64::from(rows);
    let range = (base.get(), base.get().saturating_add(bytes.max(1)));
    Some(Fetched { stage: Some(stage), what, slot: Some((slot.into(), named.base)), range })
}

/// Where a descriptor is; none if its bindless base does not exist.
fn place(gpu: Synced<'_>, stage: Stage, named: Named) -> Option<Address> {
    let slot = u64::from(named.slot);
    if let Some(base) = named.base {
        let base = BindlessBase::of(&gpu.regs, Some(stage), base.into())?;
        return Some(gpu.memory().behind(base.start, slot * base.stride));
    }
    let StageRegisters { textures, samplers, .. } = *StageRegisters::of(stage);
    let images = if stage == Stage::CS { SP_CS_IBO_LO::ROW.offset } else { SP_IBO_LO::ROW.offset };
    let (low, words) = match named.taken {
        Taken::Texture => (textures, TEXTURE.len()),
        Taken::Sampler => (samplers, SAMPLER.len()),
        Taken::Buffer => (images, TEXTURE.len()),
        Taken::Uniforms => return None,
    };
    Some(gpu.memory().behind(gpu.regs.address(low), slot * 4 * words as u64))
}

/// The address whose low half is element `index` of `Low`.
fn wide_at<Low: Register>(regs: &RegFile, index: u32) -> Address {
    regs.address(Low::ROW.offset + index * Low::ROW.stride)
}

/// Checks M1, M2 and P17.
fn attributes(gpu: Synced<'_>, call: &DrawCall, fetched: &mut Vec<Fetched>, violations: &mut Violations) {
    let regs = &gpu.regs;
    let counts = regs.get::<VFD_CONTROL_0>();
    let fetches = counts.FETCH_CNT().min(VFD_FETCH_SIZE::ROW.len);
    for fetch in 0..fetches {
        let (base, size) =
            (wide_at::<VFD_FETCH_BASE_LO>(regs, fetch), regs.at::<VFD_FETCH_SIZE>(fetch).VALUE());
        violations.unless(holds(gpu, base, size.into()), Id::M1, || {
            format!("vertex buffer {fetch}: {size} bytes at {base} are in no one buffer")
        });
        let range = (base.get(), base.get().saturating_add(size.into()));
        fetched.push(Fetched { stage: None, what: "vertex buffer", slot: Some((fetch, None)), range });
    }
    for attribute in 0..counts.DECODE_CNT().min(VFD_DECODE_INSTR::ROW.len) {
        let decode = regs.at::<VFD_DECODE_INSTR>(attribute);
        let fetch = decode.IDX();
        violations.unless(fetch < fetches, Id::P17, || {
            format!("attribute {attribute}: vertex buffer {fetch}, VFD_CONTROL_0 has {fetches}")
        });
        if decode.INSTANCED() || call.indices != IndexSource::Auto || fetch >= fetches {
            continue;
        }
        let size = u64::from(regs.at::<VFD_FETCH_SIZE>(fetch).VALUE());
        let first = u64::from(call.base_vertex.unwrap_or(regs.get::<VFD_INDEX_OFFSET>().VALUE()));
        let last = first + u64::from(call.count - 1);
        let at = last * u64::from(regs.at::<VFD_FETCH_STRIDE>(fetch).VALUE()) + u64::from(decode.OFFSET());
        violations.unless(size == 0 || at < size, Id::M2, || {
            format!("attribute {attribute}: element {last} lies beyond SIZE {size}")
        });
    }
}

/// Checks M7 and P19 for indices.
fn indices(gpu: Synced<'_>, call: &DrawCall, fetched: &mut Vec<Fetched>, violations: &mut Violations) {
    let IndexSource::Memory { base, size, width, first } = call.indices else { return };
    violations.unless(holds(gpu, base, size.into()), Id::M7, || {
        format!("indices: {size} bytes at {base} are in no one buffer")
    });
    let range = (base.get(), base.get().saturating_add(size.into()));
    fetched.push(Fetched { stage: None, what: "indices", slot: None, range });
    let bytes = (u64::from(first) + u64::from(call.count)) * u64::from(width);
    violations.unless(u64::from(size) >= bytes, Id::P19, || {
        format!("the index buffer has {size} bytes, indices have {bytes}")
    });
}

/// The targets that a draw may write.
fn targets(regs: &RegFile) -> Vec<Target> {
    let rows = regs.get::<GRAS_SC_WINDOW_SCISSOR_BR>().Y() + 1;
    let samples = match regs.get::<RB_DEST_MSAA_CNTL>().SAMPLES() {
        MsaaSamples::MSAA_TWO => 1,
        MsaaSamples::MSAA_FOUR => 2,
        MsaaSamples::MSAA_EIGHT => 3,
        MsaaSamples::MSAA_ONE | MsaaSamples::Other(_) => 0,
    };
    let components = regs.read(RB_RENDER_COMPONENTS::ROW.offset);
    let mut all = Vec::new();
    for index in 0..regs.get::<RB_FS_OUTPUT_CNTL1>().MRT().min(RB_MRT_CONTROL::ROW.len) {
        let format = regs.at::<RB_MRT_BUF_INFO>(index).COLOR_FORMAT();
        if components >> (4 * index) & 0xf != 0 && format != Format::FMT6_NONE {
            let codec = formats::texture(format).and_then(|it| it.codec(Swap::WZYX, Transfer::Linear));
            all.push(Target {
                name: format!("target {index}"),
                half: Half::Color,
                base: wide_at::<RB_MRT_BASE_LO>(regs, index),
                gmem: regs.at::<RB_MRT_BASE_GMEM>(index).VALUE(),
                pitch: regs.at::<RB_MRT_PITCH>(index).VALUE(),
                rows,
                pixel: codec.map(|codec| codec.bytes() << samples),
            });
        }
    }
    let bytes = match regs.get::<RB_DEPTH_BUFFER_INFO>().DEPTH_FORMAT() {
        DepthFormat::DEPTH6_16 => 2,
        DepthFormat::DEPTH6_24_8 | DepthFormat::DEPTH6_32 => 4,
        DepthFormat::DEPTH6_NONE | DepthFormat::Other(_) => return all,
    };
    if regs.get::<RB_DEPTH_CNTL>().Z_TEST_ENABLE() {
        all.push(Target {
            name: "depth".to_owned(),
            half: Half::Depth,
            base: regs.address(RB_DEPTH_BUFFER_BASE_LO::ROW.offset),
            gmem: regs.get::<RB_DEPTH_BUFFER_BASE_GMEM>().VALUE(),
            pitch: regs.get::<RB_DEPTH_BUFFER_PITCH>().VALUE(),
            rows,
            pixel: Some(bytes << samples),
        });
    }
    all
}

/// Checks M4.
fn in_memory(gpu: Synced<'_>, targets: &[Target], violations: &mut Violations) {
    for target in targets {
        let (start, behind) = target.range();
        let (name, base, bytes) = (&target.name, target.base, behind - start);
        violations.unless(holds(gpu, base, bytes), Id::M4, || {
            format!("{name}: {bytes} bytes at {base} are in no one buffer")
        });
    }
}

/// Checks T4: each target has a bin of its own in tile memory.
fn in_tile_memory(regs: &RegFile, targets: &[Target], violations: &mut Violations) {
    let bin = regs.get::<RB_BIN_CONTROL>();
    let pixels = u64::from(bin.BINW()) * u64::from(bin.BINH());
    let range = |it: &Target| {
        let bytes = pixels * u64::from(it.pixel.unwrap_or(1));
        (u64::from(it.gmem), u64::from(it.gmem) + bytes.max(1))
    };
    for (index, target) in targets.iter().enumerate() {
        let (first, behind) = range(target);
        let others = targets[..index].iter();
        for other in others.filter(|other| first < range(other).1 && range(other).0 < behind) {
            let (name, other) = (&target.name, &other.name);
            violations.report(Id::T4, format!("{other} and {name} share {first:#x} of tile memory"));
        }
    }
}

/// Checks a blit that is about to run. M5: the event BLIT copies out of tile memory.
pub fn blit(gpu: Synced<'_>, call: &BlitCall, traffic: &mut Traffic, violations: &mut Violations) {
    if let (Surfaces::TileMemory, Some(surface)) = (call.between, stored(&gpu.regs)) {
        let bytes = bytes_of_rows(surface.pitch, surface.rows);
        violations.unless(holds(gpu, surface.start, bytes), Id::M5, || {
            format!("resolve: {bytes} bytes at {} are in no one buffer", surface.start)
        });
    }
    traffic.blit(gpu, call, violations);
}
