//! The `jsonl` format: one JSON object a line, in execution order (docs/schema.md).

use std::fmt;
use std::io::{self, Write};

use a4emu_decoder::adreno::capture::{Hang, IbPlace};
use a4emu_decoder::adreno::load_state::{Stage, StateKind};
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::adreno::pm4::{PacketName, PacketRow};
use a4emu_decoder::adreno::registers::RegName;
use a4emu_decoder::bits::FieldRow;
use a4emu_decoder::bits::value::{FieldValue, Value, fields};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::lines::Lines;
use super::loaded::Units;
use super::memo::Memo;
use super::output::Hold;
use super::primitive::Primitive;
use super::sink::{Code, Sink, Submit, instructions};
use super::tracker::Tracker;
use crate::subjects::{Source, Subject};
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::Call;
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::fault::Trouble;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Event<'a> {
    Submit {
        submit: u32,
        comm: &'a str,
        address: u64,
        dwords: u32,
    },
    Packet {
        submit: u32,
        address: u64,
        opcode: u8,
        name: Shown<PacketName>,
        dwords: &'a [u32],
        fields: PacketFields<'a>,
    },
    State {
        submit: u32,
        address: u64,
        what: &'static str,
        stage: Option<&'static str>,
        first: u32,
        units: Units<'a>,
        missing: u32,
    },
    Instr {
        submit: u32,
        stage: &'static str,
        address: u64,
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
    Blit {
        submit: u32,
        draw: u32,
        frame_draw: u32,
        name: &'static str,
        pass: Option<&'static str>,
    },
    Query {
        submit: u32,
        draw: u32,
        frame_draw: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        reg: Option<u32>,
        name: String,
        value: Option<u32>,
        fields: Option<Fields>,
    },
    Values {
        #[serde(skip_serializing_if = "Option::is_none")]
        reg: Option<u32>,
        name: String,
        value: Option<u32>,
        fields: Option<Fields>,
        draws: u64,
        first: DrawPlace,
        last: DrawPlace,
    },
    Hang {
        submit: u32,
        address: u64,
        last_fence: u32,
        retired_fence: u32,
        rptr: u32,
        wptr: u32,
        rbbm_status: u32,
        ib1: Option<Ib>,
        ib2: Option<Ib>,
    },
    Error {
        submit: u32,
        address: u64,
        message: String,
    },
}

/// The place of the command processor in an indirect buffer.
#[derive(Serialize)]
struct Ib {
    base: u64,
    left: u32,
}

impl Ib {
    /// Nothing if the dump does not say which buffer.
    fn new(IbPlace { base, left }: IbPlace) -> Option<Self> {
        (base != 0).then_some(Self { base, left })
    }
}

/// The part of a `reg` event after `kind`, `submit` and `address`.
#[derive(Serialize)]
struct Written {
    reg: u32,
    name: Shown<RegName>,
    value: u32,
    fields: Fields,
}

/// A value that is serialized as its displayed text.
struct Shown<T>(T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// The fields of one word, as a JSON map.
pub struct Fields {
    /// The known fields.
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

/// Writes the fields of `word`. Fields that are zero or false are left out; enumerators are not.
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

/// A value as a JSON number or flag if possible, otherwise as text.
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

/// The fields of all dwords of a packet. The fields of repeated entries are a list of maps.
pub struct PacketFields<'a> {
    /// The database row of the packet, if known.
    pub row: Option<&'static PacketRow>,
    /// The dwords of the packet.
    pub payload: &'a [u32],
}

impl Serialize for PacketFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(row) = self.row.map(|row| row.laid_out(self.payload)) {
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

/// One repeated entry at the end of a packet.
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

/// Whether instructions are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaders {
    /// One `instr` event for each instruction.
    Show,
    /// Only the packet that loads the instructions.
    Hide,
}

/// The name of the state that a load fills, if it is no program.
fn what(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Instructions(_) => "instructions",
        StateKind::Constants(_) => "constants",
        StateKind::SharedConstants(_) => "shared-constants",
        StateKind::Samplers(_) => "samplers",
        StateKind::Textures(_) => "textures",
        StateKind::Ubos(_) => "ubos",
        StateKind::SsboDescriptors(_) => "ssbos",
        StateKind::SsboSizes(_) => "ssbo-sizes",
        StateKind::SsboAddresses(_) => "ssbo-addresses",
        StateKind::Unknown => "unknown",
    }
}

/// The `jsonl` format.
pub struct Jsonl<'a> {
    lines: Lines<'a>,
    shaders: Shaders,
    memo: Memo,
}

impl<'a> Jsonl<'a> {
    /// Makes the format with `lines` as output.
    pub fn new(lines: Lines<'a>, shaders: Shaders) -> Self {
        Self { lines, shaders, memo: Memo::default() }
    }

    fn put(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.lines.put(event)
    }

    fn instructions(&mut self, gpu: &Gpu, stage: Stage, load: &Load<'_>) -> io::Result<()> {
        for code in instructions(load) {
            let Code { index, hi, lo, .. } = code;
            let address = load.generation.behind(load.address, index as u64 * 8).get();
            let (submit, stage, text) = (gpu.at.submit, stage.name(), Shown(code));
            self.put(&Event::Instr { submit, stage, address, index, hi, lo, text })?;
        }
        Ok(())
    }
}

/// The offset of the register that `subject` is, if it is one.
fn register(subject: &Subject) -> Option<u32> {
    match subject.source {
        Source::Register(register) => Some(register.offset),
        Source::Dword(..) | Source::Word(_) => None,
    }
}

/// The event of a query: `subject` at `call`; `value` is null if it is a register that is unwritten.
pub(super) fn query(call: &Call, subject: &Subject, value: Option<u32>) -> impl Serialize {
    let fields = value.map(|word| Fields { rows: subject.fields(), word });
    Event::Query {
        submit: call.submit(),
        draw: call.number(),
        frame_draw: call.frame_draw(),
        reg: register(subject),
        name: subject.source.name(),
        value,
        fields,
    }
}

/// The event that there was no room for `more` values before `call`.
pub(super) fn without_room(call: &Call, more: u64) -> impl Serialize {
    Event::Error {
        submit: call.submit(),
        address: 0,
        message: format!("draw {}: and {more} more", call.number()),
    }
}

/// A draw or dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct DrawPlace {
    /// Number of the submit.
    pub submit: u32,
    /// Number of the run.
    pub draw: u32,
    /// Number of the frame draw.
    pub frame_draw: u32,
}

impl DrawPlace {
    /// The place of `call`.
    pub fn of(call: &Call) -> Self {
        Self { submit: call.submit(), draw: call.number(), frame_draw: call.frame_draw() }
    }
}

impl fmt::Display for DrawPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{} (submit {}, run {})", self.frame_draw, self.submit, self.draw)
    }
}

/// The event of a value of `subject`: the number of `draws`, the first and the last.
pub(super) fn value(
    subject: &Subject,
    value: Option<u32>,
    draws: u64,
    [first, last]: [DrawPlace; 2],
) -> impl Serialize {
    let fields = value.map(|word| Fields { rows: subject.fields(), word });
    let name = subject.source.name();
    Event::Values { reg: register(subject), name, value, fields, draws, first, last }
}

/// The event that `draws` draws have values of `subject` that are not listed.
pub(super) fn others(subject: &Subject, draws: u64) -> impl Serialize {
    let name = subject.source.name();
    Event::Error { submit: 0, address: 0, message: format!("{name}: {draws} runs with further values") }
}

impl Sink for Jsonl<'_> {
    fn lists_packets(&self) -> bool {
        true
    }

    fn pay(&mut self, budget: &Budget) {
        self.lines.out.pay(budget);
    }

    fn hold(&mut self, hold: Hold) -> io::Result<()> {
        self.lines.out.hold(hold)
    }

    fn submit(&mut self, submit: &Submit) -> io::Result<()> {
        let Submit { index, address, dwords, .. } = *submit;
        self.put(&Event::Submit { submit: index, comm: submit.comm(), address: address.get(), dwords })
    }

    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>) -> io::Result<()> {
        if let Some(search) = gpu.hang.as_ref().filter(|search| search.is_here()) {
            let Hang { last_fence, retired_fence, rptr, wptr, rbbm_status, ib1, ib2, .. } = search.hang;
            self.put(&Event::Hang {
                submit: gpu.at.submit,
                address: gpu.at.address.get(),
                last_fence,
                retired_fence,
                rptr,
                wptr,
                rbbm_status,
                ib1: Ib::new(ib1),
                ib2: Ib::new(ib2),
            })?;
        }
        let Packet::Command { opcode, payload, .. } = *packet else { return Ok(()) };
        let packets = gpu.chip.generation().packets;
        self.put(&Event::Packet {
            submit: gpu.at.submit,
            address: gpu.at.address.get(),
            opcode,
            name: Shown(packets.name(opcode)),
            dwords: payload,
            fields: PacketFields { row: packets.row(opcode), payload },
        })
    }

    fn register(&mut self, gpu: &Gpu, offset: u32) -> io::Result<()> {
        let (value, registers) = (gpu.regs.read(offset), gpu.chip.generation().registers);
        let written = self.memo.get(offset, value, |text| {
            let (name, fields) =
                (Shown(registers.name(offset)), Fields { rows: registers.fields(offset), word: value });
            Ok(serde_json::to_writer(text, &Written { reg: offset, name, value, fields })?)
        })?;
        // The object has two parts: the place, and the cached members.
        let members = written.strip_prefix(b"{").unwrap_or(written);
        let (submit, address) = (gpu.at.submit, gpu.at.address.get());
        write!(self.lines.out, r#"{{"kind":"reg","submit":{submit},"address":{address},"#)?;
        self.lines.raw(members)
    }

    fn load(&mut self, gpu: &Gpu, load: &Load<'_>) -> io::Result<()> {
        if let StateKind::Instructions(stage) = load.kind {
            return match self.shaders {
                Shaders::Show => self.instructions(gpu, stage, load),
                Shaders::Hide => Ok(()),
            };
        }
        self.put(&Event::State {
            submit: gpu.at.submit,
            address: load.address.get(),
            what: what(load.kind),
            stage: load.kind.stage().map(Stage::name),
            first: load.first,
            units: Units::of(load),
            missing: load.announced.saturating_sub(load.data.len() as u32),
        })
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
            Call::Blit(call) => {
                Event::Blit { submit, draw, frame_draw, name: call.name(), pass: call.pass.map(Pass::name) }
            }
        })
    }

    fn trouble(&mut self, gpu: &Gpu, trouble: &Trouble) -> io::Result<()> {
        let message = trouble.to_string();
        self.put(&Event::Error { submit: gpu.at.submit, address: gpu.at.address.get(), message })
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.lines.out.finish()
    }
}
