//! One JSON object a line, in execution order (docs/schema.md).

use std::io::{self, Write};

use a4emu_decoder::bits::FieldRow;
use a4emu_decoder::bits::value::{FieldValue, Value, fields};
use a4emu_decoder::load_state::StateKind;
use a4emu_decoder::packet::Packet;
use a4emu_decoder::pm4::{PacketRow, Pm4, row};
use a4emu_decoder::regs::RegName;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::output::Output;
use super::sink::{Code, Loaded, Sink};
use super::text::rows_of;
use super::tracker::{Tracker, writes};
use super::work::{Primitive, Work, primitive};
use crate::walk::{At, Problem, Seen, Submit};

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Event<'a> {
    Submit {
        submit: u64,
        comm: &'a str,
        address: u64,
        dwords: u32,
    },
    Reg {
        submit: u64,
        address: u32,
        reg: u32,
        name: Shown<RegName>,
        value: u32,
        fields: Fields,
    },
    Packet {
        submit: u64,
        address: u32,
        opcode: u8,
        name: PacketName,
        dwords: &'a [u32],
        fields: PacketFields<'a>,
    },
    Instr {
        submit: u64,
        stage: &'static str,
        address: u32,
        index: usize,
        hi: u32,
        lo: u32,
        text: Shown<Code>,
    },
    Draw {
        submit: u64,
        draw: u64,
        primitive: Primitive,
        count: Option<u32>,
        instances: Option<u32>,
        pass: &'static str,
    },
    Dispatch {
        submit: u64,
        draw: u64,
        groups: Option<[u32; 3]>,
    },
    Query {
        submit: u64,
        draw: u64,
        reg: u32,
        name: Shown<RegName>,
        value: Option<u32>,
        fields: Option<Fields>,
    },
    Error {
        submit: u64,
        address: u32,
        message: String,
    },
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
struct Fields {
    rows: &'static [FieldRow],
    word: u32,
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
}

impl<'a> Jsonl<'a> {
    /// Writes to `out`.
    pub fn new(out: Output<'a>, shaders: Shaders) -> Self {
        Self { out, shaders }
    }

    fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, event)?;
        self.out.write_all(b"\n")
    }

    fn reg(&mut self, at: &At, reg: u32, value: u32) -> io::Result<()> {
        self.put(&Event::Reg {
            submit: at.submit,
            address: at.address,
            reg,
            name: Shown(RegName { offset: reg }),
            value,
            fields: Fields { rows: rows_of(reg), word: value },
        })
    }

    fn instructions(&mut self, at: &At, loaded: &Loaded) -> io::Result<()> {
        let StateKind::Instructions(stage) = loaded.kind else { return Ok(()) };
        for code in loaded.instructions() {
            let Code { index, hi, lo, .. } = code;
            let address = loaded.address.wrapping_add(index as u32 * 8);
            let (submit, stage, text) = (at.submit, stage.name(), Shown(code));
            self.put(&Event::Instr { submit, stage, address, index, hi, lo, text })?;
        }
        Ok(())
    }
}

/// Puts out what a register holds at a draw; `null` if nobody has written it.
///
/// # Errors
/// Those of `out`.
pub fn put_query(out: &mut Output<'_>, at: &At, reg: u32, value: Option<u32>) -> io::Result<()> {
    let (submit, draw, name) = (at.submit, at.draw, Shown(RegName { offset: reg }));
    let fields = value.map(|word| Fields { rows: rows_of(reg), word });
    serde_json::to_writer(&mut *out, &Event::Query { submit, draw, reg, name, value, fields })?;
    out.write_all(b"\n")
}

impl Sink for Jsonl<'_> {
    fn gpu(&mut self, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn submit(&mut self, submit: &Submit) -> io::Result<()> {
        self.put(&Event::Submit {
            submit: submit.index,
            comm: submit.comm(),
            address: submit.buffer.address,
            dwords: submit.buffer.length,
        })
    }

    fn packet(&mut self, at: &At, seen: &Seen<'_>, _: &Tracker) -> io::Result<()> {
        if let Packet::Type3 { opcode, payload, .. } = seen.packet {
            let fields = PacketFields { row: row(opcode), payload };
            let name = PacketName(opcode);
            self.put(&Event::Packet {
                submit: at.submit,
                address: at.address,
                opcode,
                name,
                dwords: payload,
                fields,
            })?;
        }
        for (reg, value) in writes(seen) {
            self.reg(at, reg, value)?;
        }
        match (self.shaders, &seen.body) {
            (Shaders::Show, Some(Pm4::LoadState4(load))) => {
                self.instructions(at, &Loaded::find(load, at, seen.buffers))
            }
            _ => Ok(()),
        }
    }

    fn work(&mut self, at: &At, work: &Work, tracker: &Tracker) -> io::Result<()> {
        let At { submit, draw, .. } = *at;
        self.put(&match *work {
            Work::Draw { initiator, count, instances } => Event::Draw {
                submit,
                draw,
                primitive: primitive(initiator),
                count,
                instances,
                pass: tracker.pass().name(),
            },
            Work::Dispatch { groups } => Event::Dispatch { submit, draw, groups },
        })
    }

    fn problem(&mut self, at: &At, problem: &Problem) -> io::Result<()> {
        let message = problem.to_string();
        self.put(&Event::Error { submit: at.submit, address: at.address, message })
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.out.finish()
    }
}
