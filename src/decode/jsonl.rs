//! One JSON object a line, in execution order (docs/schema.md).

use std::io::{self, Write};

use a4emu_decoder::bits::FieldRow;
use a4emu_decoder::bits::value::{FieldValue, Value, fields};
use a4emu_decoder::load_state::StateKind;
use a4emu_decoder::packet::Packet;
use a4emu_decoder::pm4::{PacketRow, row};
use a4emu_decoder::regs::RegName;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::memo::Memo;
use super::output::{Hold, Output};
use super::primitive::Primitive;
use super::sink::{Code, Sink, Submit, instructions};
use super::text::rows_of;
use super::tracker::Tracker;
use crate::cp::Call;
use crate::cp::observer::Load;
use crate::fault::Trouble;
use crate::gpu::Gpu;

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Event<'a> {
    Submit {
        submit: u32,
        comm: &'a str,
        address: u32,
        dwords: u32,
    },
    Packet {
        submit: u32,
        address: u32,
        opcode: u8,
        name: PacketName,
        dwords: &'a [u32],
        fields: PacketFields<'a>,
    },
    Instr {
        submit: u32,
        stage: &'static str,
        address: u32,
        index: usize,
        hi: u32,
        lo: u32,
        text: Shown<Code>,
    },
    Draw {
        submit: u32,
        draw: u32,
        frame_draw: u32,
        primitive: Primitive,
        count: Option<u32>,
        instances: Option<u32>,
        pass: &'static str,
    },
    Dispatch {
        submit: u32,
        draw: u32,
        frame_draw: u32,
        groups: [u32; 3],
    },
    Query {
        submit: u32,
        draw: u32,
        frame_draw: u32,
        reg: u32,
        name: Shown<RegName>,
        value: Option<u32>,
        fields: Option<Fields>,
    },
    Error {
        submit: u32,
        address: u32,
        message: String,
    },
}

/// What an event `reg` says behind `kind`, `submit` and `address`.
#[derive(Serialize)]
struct Written {
    reg: u32,
    name: Shown<RegName>,
    value: u32,
    fields: Fields,
}

/// Serialized as what it displays.
struct Shown<T>(T);

impl<T: std::fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Name of an opcode, `UNKNOWN_xx` without one.
struct PacketName(u8);

impl Serialize for PacketName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match row(self.0) {
            Some(row) => serializer.serialize_str(row.name),
            None => serializer.collect_str(&format_args!("UNKNOWN_{:02X}", self.0)),
        }
    }
}

/// The fields of one word.
pub struct Fields {
    /// Which there are.
    pub rows: &'static [FieldRow],
    /// The word.
    pub word: u32,
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        put_fields::<S>(&mut map, self.rows, self.word)?;
        map.end()
    }
}

/// Fields that are zero or false are left out; enumerators are not.
fn put_fields<S: Serializer>(
    map: &mut S::SerializeMap,
    rows: &'static [FieldRow],
    word: u32,
) -> Result<(), S::Error> {
    for field in fields(rows, word) {
        match field.value() {
            Value::Name(name) => map.serialize_entry(field.row.name, name)?,
            _ if field.is_zero() => {}
            value => map.serialize_entry(field.row.name, &Scalar(value, field))?,
        }
    }
    Ok(())
}

/// A value as a JSON number or flag where JSON has it, as text where not.
struct Scalar(Value, FieldValue);

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Bool(value) => serializer.serialize_bool(value),
            Value::Uint(value) | Value::Hex(value) => serializer.serialize_u64(value),
            Value::Int(value) => serializer.serialize_i32(value),
            Value::Fixed(value) => serializer.serialize_f64(value),
            Value::Float(value, _) if value.is_finite() => serializer.serialize_f32(value),
            _ => serializer.collect_str(&self.1),
        }
    }
}

/// The fields of all dwords of a packet; those of entries that repeat are lists of maps.
struct PacketFields<'a> {
    row: Option<&'static PacketRow>,
    payload: &'a [u32],
}

impl Serialize for PacketFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(row) = self.row {
            for (dword, &word) in row.dwords.iter().zip(self.payload) {
                put_fields::<S>(&mut map, dword.fields, word)?;
            }
            let entries = self.payload.get(row.dwords.len()..).unwrap_or(&[]);
            if !row.repeat.is_empty() && !entries.is_empty() {
                let entries = entries.chunks(row.repeat.len());
                let entries: Vec<_> = entries.map(|entry| Entry { row, entry }).collect();
                map.serialize_entry("entries", &entries)?;
            }
        }
        map.end()
    }
}

/// One repetition at the end of a packet.
struct Entry<'a> {
    row: &'static PacketRow,
    entry: &'a [u32],
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (dword, &word) in self.row.repeat.iter().zip(self.entry) {
            put_fields::<S>(&mut map, dword.fields, word)?;
        }
        map.end()
    }
}

/// Whether instructions are put out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaders {
    /// One `instr` event each.
    Show,
    /// Only the packet that loads them.
    Hide,
}

/// The `jsonl` format.
pub struct Jsonl<'a> {
    out: Output<'a>,
    shaders: Shaders,
    memo: Memo,
}

impl<'a> Jsonl<'a> {
    /// Writes to `out`.
    pub fn new(out: Output<'a>, shaders: Shaders) -> Self {
        Self { out, shaders, memo: Memo::default() }
    }

    fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, event)?;
        self.out.write_all(b"\n")
    }
}

/// Puts out what a register holds at a draw; `null` if nobody has written it.
///
/// # Errors
/// Those of `out`.
pub fn put_query(out: &mut Output<'_>, call: &Call, reg: u32, value: Option<u32>) -> io::Result<()> {
    let event = Event::Query {
        submit: call.submit(),
        draw: call.number(),
        frame_draw: call.frame_draw(),
        reg,
        name: Shown(RegName { offset: reg }),
        value,
        fields: value.map(|word| Fields { rows: rows_of(reg), word }),
    };
    serde_json::to_writer(&mut *out, &event)?;
    out.write_all(b"\n")
}

impl Sink for Jsonl<'_> {
    fn lists_packets(&self) -> bool {
        true
    }

    fn hold(&mut self, hold: Hold) -> io::Result<()> {
        self.out.hold(hold)
    }

    fn submit(&mut self, submit: &Submit) -> io::Result<()> {
        let Submit { index, address, dwords, .. } = *submit;
        self.put(&Event::Submit { submit: index, comm: submit.comm(), address, dwords })
    }

    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>) -> io::Result<()> {
        let Packet::Type3 { opcode, payload, .. } = *packet else { return Ok(()) };
        self.put(&Event::Packet {
            submit: gpu.at.submit,
            address: gpu.at.address,
            opcode,
            name: PacketName(opcode),
            dwords: payload,
            fields: PacketFields { row: row(opcode), payload },
        })
    }

    fn register(&mut self, gpu: &Gpu, offset: u32) -> io::Result<()> {
        let value = gpu.regs.read(offset);
        let written = self.memo.get(offset, value, |text| {
            let (name, fields) = (Shown(RegName { offset }), Fields { rows: rows_of(offset), word: value });
            Ok(serde_json::to_writer(text, &Written { reg: offset, name, value, fields })?)
        })?;
        // One object: where, and the members of what comes again and again.
        let members = written.strip_prefix(b"{").unwrap_or(written);
        let (submit, address) = (gpu.at.submit, gpu.at.address);
        write!(self.out, r#"{{"kind":"reg","submit":{submit},"address":{address},"#)?;
        self.out.write_all(members)?;
        self.out.write_all(b"\n")
    }

    fn load(&mut self, gpu: &Gpu, load: &Load<'_>) -> io::Result<()> {
        let (Shaders::Show, StateKind::Instructions(stage)) = (self.shaders, load.kind) else {
            return Ok(());
        };
        for code in instructions(load) {
            let Code { index, hi, lo, .. } = code;
            let address = load.address.wrapping_add(index as u32 * 8);
            let (submit, stage, text) = (gpu.at.submit, stage.name(), Shown(code));
            self.put(&Event::Instr { submit, stage, address, index, hi, lo, text })?;
        }
        Ok(())
    }

    fn call(&mut self, _: &Gpu, call: &Call, _: &Tracker) -> io::Result<()> {
        let (submit, draw, frame_draw) = (call.submit(), call.number(), call.frame_draw());
        self.put(&match call {
            Call::Draw(call) => Event::Draw {
                submit,
                draw,
                frame_draw,
                primitive: Primitive::of(call.initiator),
                count: Some(call.count),
                instances: Some(call.instances),
                pass: call.pass.name(),
            },
            Call::Uncounted(call) => Event::Draw {
                submit,
                draw,
                frame_draw,
                primitive: Primitive::of(call.initiator.unwrap_or_default()),
                count: None,
                instances: call.instances,
                pass: call.pass.name(),
            },
            Call::Dispatch(call) => Event::Dispatch { submit, draw, frame_draw, groups: call.groups },
        })
    }

    fn trouble(&mut self, gpu: &Gpu, trouble: &Trouble) -> io::Result<()> {
        let message = trouble.to_string();
        self.put(&Event::Error { submit: gpu.at.submit, address: gpu.at.address, message })
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.finish()
    }
}
