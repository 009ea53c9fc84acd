//! Checks of draws, dispatches and resolves: programs, vertices, indices, descriptors, targets.

use std::sync::LazyLock;

use a4emu_decoder::a6xx::enums::{BuffersLocation, DepthFormat, Format};
use a4emu_decoder::a6xx::regs::REGISTERS;
use a4emu_decoder::a6xx::regs::compute::{SP_CS_IBO_LO, SP_IBO_LO};
use a4emu_decoder::a6xx::regs::draw::*;
use a4emu_decoder::a6xx::regs::sets::A6XX_SP_XS_CONFIG;
use a4emu_decoder::a6xx::regs::tex::{SAMPLER, TEX_CONST_4, TEX_CONST_5, TEXTURE};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::Register;
use a4emu_gpu::a6xx::registers::StageRegisters;
use a4emu_gpu::cp::BindlessBase;
use a4emu_gpu::draw::{DrawCall, IndexSource};
use a4emu_gpu::gpu::{STAGES, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
use a4emu_gpu::settled::Synced;

use super::{agree, holds};
use crate::program::Checked;
use crate::programs::Programs;
use crate::rules::Id;
use crate::shader::{Named, Taken};
use crate::state::Violations;

/// Instructions in a unit of a program's length, and bytes of an instruction.
const GROUP: u32 = 16;
const INSTRUCTION: u32 = 8;

/// Registers of a resolve: its destination, its pitch, its last row, and what it does.
struct ResolveRegisters {
    base: u32,
    pitch: u32,
    end: u32,
    info: u32,
}

static RESOLVE: LazyLock<ResolveRegisters> = LazyLock::new(|| {
    let offset = |name: &str| REGISTERS.by_name(name).expect("a register of the A6xx");
    ResolveRegisters {
        base: offset("RB_BLIT_DST_LO"),
        pitch: offset("RB_BLIT_DST_PITCH"),
        end: offset("RB_BLIT_SCISSOR_BR"),
        info: offset("RB_BLIT_INFO"),
    }
});

/// Checks a draw with vertices that is about to run.
pub fn draw(gpu: Synced<'_>, call: &DrawCall, programs: &mut Programs, violations: &mut Violations) {
    let is_binning = call.pass == Pass::Binning;
    let runs = |stage: &Stage| match stage {
        Stage::CS => false,
        Stage::FS => !is_binning,
        _ => gpu.regs.read(StageRegisters::of(*stage).length) != 0 || *stage == Stage::VS,
    };
    STAGES.into_iter().filter(runs).for_each(|stage| program(gpu, stage, programs, violations));
    attributes(gpu, call, violations);
    indices(gpu, call, violations);
    if !is_binning {
        agree::check(&gpu.regs, violations);
        targets(gpu, violations);
    }
}

/// Checks a dispatch that is about to run.
pub fn dispatch(gpu: Synced<'_>, programs: &mut Programs, violations: &mut Violations) {
    program(gpu, Stage::CS, programs, violations);
}

/// Checks M7 for a program, the rules of programs, and its descriptors.
fn program(gpu: Synced<'_>, stage: Stage, programs: &mut Programs, violations: &mut Violations) {
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
    descriptors(gpu, &checked, violations);
}

/// Checks M3, M6, S28 and S29: what a program's instructions name by number.
fn descriptors(gpu: Synced<'_>, checked: &Checked, violations: &mut Violations) {
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
            resource(gpu, stage, named, (what, rule), violations);
        }
    }
}

/// Checks that the descriptor of a texture, image or buffer is bound, and that its memory is there.
fn resource(
    gpu: Synced<'_>,
    stage: Stage,
    named: Named,
    (what, rule): (&str, Id),
    violations: &mut Violations,
) {
    let Some(place) = place(gpu, stage, named) else { return };
    let words = gpu.memory().known_dwords(place, TEXTURE.len());
    let Some([low, high]) = words.get(4..6).and_then(|words| <[u32; 2]>::try_from(words).ok()) else {
        return;
    };
    let (name, slot) = (stage.name(), named.slot);
    if words.iter().all(|word| *word == 0) {
        return violations.report(Id::S29, format!("{name}: {what} {slot} is not bound"));
    }
    let base = Address::wide(TEX_CONST_4(low).BASE_LO(), TEX_CONST_5(high).BASE_HI());
    violations
        .unless(holds(gpu, base, 1), rule, || format!("{name}: {what} {slot} at {base} is in no buffer"));
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
fn attributes(gpu: Synced<'_>, call: &DrawCall, violations: &mut Violations) {
    let regs = &gpu.regs;
    let counts = regs.get::<VFD_CONTROL_0>();
    let fetches = counts.FETCH_CNT().min(VFD_FETCH_SIZE::ROW.len);
    for fetch in 0..fetches {
        let (base, size) =
            (wide_at::<VFD_FETCH_BASE_LO>(regs, fetch), regs.at::<VFD_FETCH_SIZE>(fetch).VALUE());
        violations.unless(holds(gpu, base, size.into()), Id::M1, || {
            format!("vertex buffer {fetch}: {size} bytes at {base} are in no one buffer")
        });
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
fn indices(gpu: Synced<'_>, call: &DrawCall, violations: &mut Violations) {
    let IndexSource::Memory { base, size, width, first } = call.indices else { return };
    violations.unless(holds(gpu, base, size.into()), Id::M7, || {
        format!("indices: {size} bytes at {base} are in no one buffer")
    });
    let bytes = (u64::from(first) + u64::from(call.count)) * u64::from(width);
    violations.unless(u64::from(size) >= bytes, Id::P19, || {
        format!("the index buffer has {size} bytes, indices have {bytes}")
    });
}

/// Checks T4 for targets in tile memory, and M4 for those in memory.
fn targets(gpu: Synced<'_>, violations: &mut Violations) {
    let regs = &gpu.regs;
    let in_tiles = regs.get::<RB_BIN_CONTROL>().BUFFERS_LOCATION() == BuffersLocation::BUFFERS_IN_GMEM;
    let rows = regs.get::<GRAS_SC_WINDOW_SCISSOR_BR>().Y();
    let mut places: Vec<(String, u32)> = Vec::new();
    let mut add = |name: String, gmem: u32, base: Address, pitch: u32, violations: &mut Violations| {
        if !in_tiles {
            // The last row may be shorter than the pitch.
            let bytes = u64::from(pitch) * u64::from(rows) + 1;
            return violations.unless(holds(gpu, base, bytes), Id::M4, || {
                format!("{name}: {bytes} bytes at {base} are in no one buffer")
            });
        }
        if let Some((other, _)) = places.iter().find(|(_, place)| *place == gmem) {
            violations.report(Id::T4, format!("{other} and {name} are both at {gmem:#x} of tile memory"));
        }
        places.push((name, gmem));
    };
    let components = regs.read(RB_RENDER_COMPONENTS::ROW.offset);
    for index in 0..regs.get::<RB_FS_OUTPUT_CNTL1>().MRT().min(RB_MRT_CONTROL::ROW.len) {
        let is_none = regs.at::<RB_MRT_BUF_INFO>(index).COLOR_FORMAT() == Format::FMT6_NONE;
        if components >> (4 * index) & 0xf != 0 && !is_none {
            let (gmem, pitch) = (regs.at::<RB_MRT_BASE_GMEM>(index), regs.at::<RB_MRT_PITCH>(index));
            let base = wide_at::<RB_MRT_BASE_LO>(regs, index);
            add(format!("target {index}"), gmem.VALUE(), base, pitch.VALUE(), violations);
        }
    }
    if regs.get::<RB_DEPTH_BUFFER_INFO>().DEPTH_FORMAT() != DepthFormat::DEPTH6_NONE
        && regs.get::<RB_DEPTH_CNTL>().Z_TEST_ENABLE()
    {
        let (gmem, pitch) = (regs.get::<RB_DEPTH_BUFFER_BASE_GMEM>(), regs.get::<RB_DEPTH_BUFFER_PITCH>());
        let base = regs.address(RB_DEPTH_BUFFER_BASE_LO::ROW.offset);
        add("depth".to_owned(), gmem.VALUE(), base, pitch.VALUE(), violations);
    }
}

/// Checks M5: the event BLIT copies between tile memory and memory.
pub fn resolve(gpu: Synced<'_>, violations: &mut Violations) {
    // Bits 1:0 of RB_BLIT_INFO are 0 and 1 for a copy out of tile memory, BLIT_EVENT_STORE and BLIT_EVENT_STORE_AND_CLEAR.
    if gpu.regs.read(RESOLVE.info) & 3 > 1 {
        return;
    }
    let (base, pitch) = (gpu.regs.address(RESOLVE.base), gpu.regs.read(RESOLVE.pitch) << 6);
    let rows = gpu.regs.read(RESOLVE.end) >> 16 & 0x3fff;
    let bytes = u64::from(pitch) * u64::from(rows) + 1;
    violations.unless(holds(gpu, base, bytes), Id::M5, || {
        format!("resolve: {bytes} bytes at {base} are in no one buffer")
    });
}
