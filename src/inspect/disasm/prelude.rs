//! Makes commands that restore the state of a chip.
//!
//! Predicates and the counters of queries are not restored: no driver relies on them from submit to submit.

use a4emu_decoder::a4xx::regs::cp::CP_ME_NRT_DATA;
use a4emu_decoder::asm::pack::{self, StateTarget};
use a4emu_decoder::bits::Register;
use a4emu_decoder::generation::Framing;

use a4emu_gpu::gpu::{CodeSource, Gpu, STAGES, ShaderState, SsboState};

/// Instructions in a unit of a load.
const GROUP: usize = 16;

/// The commands for a chip in its initial state.
pub(super) fn commands(gpu: &Gpu) -> Vec<u32> {
    let mut words = Vec::new();
    registers(&mut words, gpu);
    if gpu.chip.generation().framing != Framing::Types0To3 {
        return words;
    }
    // After the registers: a write of OBJ_START makes memory the source of a program again.
    for stage in STAGES {
        shader(&mut words, &format!("{stage:?}"), gpu.loaded.stage(stage));
    }
    ssbos(&mut words, "SSBO", &gpu.loaded.ssbo_3d);
    ssbos(&mut words, "CS_SSBO", &gpu.loaded.ssbo_compute);
    words
}

/// Writes runs of written registers, except the register whose write stores to memory.
fn registers(words: &mut Vec<u32>, gpu: &Gpu) {
    let framing = gpu.chip.generation().framing;
    let [most, _] = pack::most(framing);
    let stores = |offset: u32| framing == Framing::Types0To3 && offset == CP_ME_NRT_DATA::ROW.offset;
    let mut run: Vec<u32> = Vec::new();
    let mut first = 0;
    let written = gpu.regs.iter().filter(|(offset, _)| !stores(*offset));
    for (offset, value) in written {
        if offset != first + run.len() as u32 || run.len() as u32 == most {
            flush(words, framing, first, &run);
            run.clear();
            first = offset;
        }
        run.push(value);
    }
    flush(words, framing, first, &run);
}

fn flush(words: &mut Vec<u32>, framing: Framing, first: u32, values: &[u32]) {
    if !values.is_empty() {
        words.push(pack::writes(framing, first, values.len() as u32));
        words.extend_from_slice(values);
    }
}

fn shader(words: &mut Vec<u32>, stage: &str, state: &ShaderState) {
    load(words, &format!("{stage}.constants"), &state.constants);
    load(words, &format!("{stage}.textures"), &state.textures);
    load(words, &format!("{stage}.samplers"), &state.samplers);
    if state.source == CodeSource::Store {
        let groups: Vec<[u32; 2 * GROUP]> = state.code.as_chunks::<GROUP>().0.iter().map(group).collect();
        load(words, &format!("{stage}.shader"), &groups);
    }
}

/// 16 instructions as dwords, the low dword first.
fn group(instructions: &[u64; GROUP]) -> [u32; 2 * GROUP] {
    bytemuck::cast(*instructions)
}

fn ssbos(words: &mut Vec<u32>, owner: &str, state: &SsboState) {
    load(words, &format!("{owner}.descriptors"), &state.descriptors);
    load(words, &format!("{owner}.sizes"), &state.sizes);
    load(words, &format!("{owner}.addresses"), &state.addresses);
}

/// Writes one load of the slots from the first to the last that is not zero.
fn load<const N: usize>(words: &mut Vec<u32>, target: &str, slots: &[[u32; N]]) {
    let used = |slot: &[u32; N]| *slot != [0; N];
    let (Some(first), Some(last)) = (slots.iter().position(used), slots.iter().rposition(used)) else {
        return;
    };
    let target = StateTarget::by_name(target).expect("every slot has a target");
    let slots = &slots[first..=last];
    if let Ok(head) = pack::load_state_inline(target, first as u32, slots.len() as u32) {
        let payload = [&head, slots.as_flattened()].concat();
        words.push(pack::type3(pack::LOAD_STATE4, payload.len() as u32));
        words.extend_from_slice(&payload);
    }
}
