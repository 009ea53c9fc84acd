//! Prints `load` statements.

use std::fmt::Write;

use super::super::pack::{self, StateTarget};
use super::out::Out;
use super::plan::Plan;
use super::{data, stream};
use crate::a4xx::load_state::unit_dwords;
use crate::a4xx::pm4::LoadState4;
use crate::a4xx::regs::tex;
use crate::adreno::ir3::Isa;
use crate::adreno::load_state::{StateKind, StateSource};
use crate::bits::WordRow;

const INDENT: &str = "    ";
const INNER: &str = "      ";

/// Writes `load ..` for a packet, if the statement gives the packet's dwords back. Returns whether it did.
pub(super) fn load(out: &mut Out<'_>, plan: &Plan, load: &LoadState4<'_>, payload: &[u32]) -> bool {
    let target = StateTarget::from((load.dst.STATE_BLOCK(), load.src.STATE_TYPE()));
    if target.kind() == StateKind::Unknown {
        return false;
    }
    let (first, units) = (load.dst.DST_OFF(), load.dst.NUM_UNIT());
    match load.source() {
        StateSource::Inline(data) => {
            let head = pack::load_state_inline(target, first, units);
            let same =
                head.is_ok_and(|head| payload.starts_with(&head)) && data.len() == load.dwords() as usize;
            let whole = same && !data.is_empty() && load.rest.len() == data.len();
            whole && inline(out, target, first, data)
        }
        StateSource::Memory { address } => {
            let Some(address) = address.narrow() else { return false };
            let head = pack::load_state_memory(target, first, units, address);
            let same = head.is_ok_and(|head| payload == head);
            same && memory(out, plan, target, first, units, address)
        }
    }
}

fn head(out: &mut Out<'_>, target: StateTarget, first: u32) {
    let _ = match first {
        0 => write!(out, "{INDENT}load {target}"),
        _ => write!(out, "{INDENT}load {target} at {first}"),
    };
}

fn memory(out: &mut Out<'_>, plan: &Plan, target: StateTarget, first: u32, units: u32, address: u32) -> bool {
    head(out, target, first);
    let unit = u64::from(unit_dwords(target.kind())) * 4;
    let label = plan.label(address.into(), u64::from(units) * unit);
    let _ = match label {
        Some(label) => writeln!(out, " from {label}"),
        None => writeln!(out, " from {address:#x} units {units}"),
    };
    true
}

fn inline(out: &mut Out<'_>, target: StateTarget, first: u32, dwords: &[u32]) -> bool {
    let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
    if let StateKind::Instructions(_) = target.kind() {
        return shader(out, target, first, &bytes);
    }
    head(out, target, first);
    out.push_str(" {\n");
    match target.kind() {
        StateKind::Samplers(_) => descriptors(out, tex::SAMPLER, dwords),
        StateKind::Textures(_) => descriptors(out, tex::TEXTURE, dwords),
        StateKind::SsboDescriptors(_) => descriptors(out, tex::SSBO_0, dwords),
        StateKind::SsboSizes(_) => descriptors(out, tex::SSBO_1, dwords),
        // One line for each vector, so that lines are constants.
        StateKind::Constants(_) => bytes.chunks(16).for_each(|vector| data::data(out, INNER, vector)),
        _ => data::data(out, INNER, &bytes),
    }
    let _ = writeln!(out, "{INDENT}}}");
    true
}

fn descriptors(out: &mut Out<'_>, words: &'static [WordRow], dwords: &[u32]) {
    for (&dword, row) in dwords.iter().zip(words.iter().cycle()) {
        let _ = write!(out, "{INNER}{} ", row.name);
        stream::word(out, row.fields, dword);
        out.push('\n');
    }
}

/// Prints the instructions. The zeros after them are restored by padding to whole groups.
fn shader(out: &mut Out<'_>, target: StateTarget, first: u32, bytes: &[u8]) -> bool {
    let words: Vec<u64> = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
    let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
    let group = unit_dwords(target.kind()) as usize / 2;
    // For a load with whole groups of zeros, the number of groups must show in the text.
    let used = used.max((words.len() / group).saturating_sub(1) * group + 1).min(words.len());
    let Some(lines) = data::shader_lines(Isa::A4xx, &words[..used]) else { return false };
    head(out, target, first);
    out.push_str(" {\n");
    data::indented(out, INDENT, &lines);
    let _ = writeln!(out, "{INDENT}}}");
    true
}
