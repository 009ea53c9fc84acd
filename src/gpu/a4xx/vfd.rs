//! The registers of vertex fetch: attributes, their memory and registers.

use std::sync::Arc;

use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::vfd::*;
use a4emu_shader::format::Transfer;

use super::enums::swap;
use super::formats;
use a4emu_decoder::adreno::address::Address;

use crate::draw::call::{DrawCall, IndexSource};
use crate::draw::vfd::state::{Attribute, Counting, FetchState, Integers, Rate, Unplaced};
use crate::machine::Model;
use crate::regfile::RegFile;

/// Reads the fetch state of `call` with `attributes` and the `restart` index.
pub fn fetch(
    regs: &RegFile,
    call: &DrawCall,
    restart: Option<u32>,
    attributes: Arc<[Attribute]>,
    model: Model,
) -> FetchState {
    let system = regs.get::<VFD_CONTROL_1>();
    let indexed = call.indices != IndexSource::Auto;
    FetchState {
        count: call.count,
        instances: call.instances,
        indices: call.indices.clone(),
        restart: restart.filter(|_| indexed),
        index_offset: call.base_vertex.map_or(regs.get::<VFD_INDEX_OFFSET>().VALUE(), |base| base as i32),
        first_instance: call.first_instance.unwrap_or(regs.get::<VFD_INSTANCE_START_OFFSET>().VALUE()),
        attributes,
        vertex_id: used(system.REGID4VTX()),
        instance_id: used(system.REGID4INST()),
        vertex_count: used(regs.get::<VFD_CONTROL_3>().REGID_VTXCNT()),
        counting: Counting::of(model),
    }
}

/// Returns the active attributes. Reports attributes of unknown formats in `unsupported`, and leaves them
/// out.
pub fn attributes(regs: &RegFile, unsupported: &mut Vec<String>) -> Box<[Unplaced]> {
    let count = regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(32);
    (0..count).filter_map(|i| attribute(regs, i, unsupported)).collect()
}

fn attribute(regs: &RegFile, number: u32, unsupported: &mut Vec<String>) -> Option<Unplaced> {
    let fetch = regs.at::<VFD_FETCH_INSTR_0>(number);
    let decode = regs.at::<VFD_DECODE_INSTR>(number);
    let format = formats::vertex(decode.FORMAT());
    let codec = format.and_then(|format| format.codec(swap(decode.SWAP()), Transfer::Linear));
    let Some(codec) = codec else {
        let (word, format) = (decode.0, decode.FORMAT());
        unsupported.push(format!("VFD_DECODE[{number}].INSTR = {word:#010x}: vertex format {format:?}"));
        return None;
    };
    let divisor = regs.at::<VFD_FETCH_INSTR_3>(number).STEPRATE();
    let attribute = Attribute {
        address: Address::default(),
        size: 0,
        stride: fetch.BUFSTRIDE(),
        rate: if fetch.INSTANCED() { Rate::Instance(divisor.max(1)) } else { Rate::Vertex },
        codec,
        integer: if decode.INT() { Integers::Keep } else { Integers::Convert },
        regid: decode.REGID(),
        write_mask: decode.WRITEMASK(),
    };
    Some(Unplaced { number, attribute })
}

/// Returns the attributes with their current address and size. These are `known` if they are the same, so that draws
/// that repeat make no list.
pub fn placed(regs: &RegFile, attributes: &[Unplaced], known: Option<&Arc<[Attribute]>>) -> Arc<[Attribute]> {
    let here = |Unplaced { number, attribute }: &Unplaced| Attribute {
        address: regs.at::<VFD_FETCH_INSTR_1>(*number).VALUE().into(),
        size: regs.at::<VFD_FETCH_INSTR_2>(*number).SIZE(),
        ..attribute.clone()
    };
    let is_it = |known: &&Arc<[Attribute]>| {
        let mut each = known.iter().zip(attributes);
        known.len() == attributes.len() && each.all(|(known, attribute)| *known == here(attribute))
    };
    known.filter(is_it).cloned().unwrap_or_else(|| attributes.iter().map(here).collect())
}
