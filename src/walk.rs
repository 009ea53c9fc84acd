//! A walk over the command streams of a capture in execution order, executing
//! nothing: what `decode` and `info` show.
//!
//! Of memory only the buffers of one submit group are kept. Command buffers are
//! entered where they are called; draw-state groups run in group order before
//! the next draw; conditional packets are passed as if their condition held.

use std::io::{self, Read};
use std::ops::ControlFlow;

use a4emu_decoder::capture::{AddressRecord, Body, Section, SectionId, Sections};
use a4emu_decoder::error::CaptureError;
use a4emu_decoder::packet::{Packet, Packets};
use a4emu_decoder::pm4::{DrawStateGroup, IndirectBufferCall, Pm4, row};
use hashbrown::HashSet;

mod buffers;
mod problem;

pub use buffers::{Buffers, Extent};
pub use problem::Problem;

/// Calls inside calls. Hardware has two levels and one more for draw-state groups.
pub const MAX_DEPTH: usize = 8;

/// A submit may execute this many dwords for each dword captured: a stream runs
/// once per tile, and a frame has fewer tiles than this.
const REPEATS: u64 = 1024;

/// Most dwords that a submit may execute, however much is captured.
const MAX_DWORDS: u64 = 1 << 26;

/// Draw-state groups (5 bits).
const GROUPS: usize = 32;

/// One top-level command buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submit {
    /// From 0 over the capture.
    pub index: u64,
    /// The process, as the capture says it, e.g. `glxgears/23375: fence=7`.
    pub command: String,
    /// Where and how long.
    pub buffer: AddressRecord,
}

impl Submit {
    /// The name of the process alone.
    pub fn comm(&self) -> &str {
        self.command.rsplit_once('/').map_or(self.command.as_str(), |(comm, _)| comm)
    }
}

/// Where the walk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Submit, from 0 over the capture.
    pub submit: u64,
    /// Draws and dispatches already passed: the number of the one being set up.
    pub draw: u64,
    /// GPU address of the packet's header.
    pub address: u32,
    /// Calls around it: 0 in the buffer that was submitted.
    pub depth: usize,
    /// Inside a command buffer that this submit has already run.
    pub repeated: bool,
}

/// What a packet is, with its dwords.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Framing.
    pub packet: Packet<'a>,
    /// Typed body of a type-3 packet.
    pub body: Option<Pm4<'a>>,
    /// Header and payload.
    pub dwords: &'a [u32],
    /// Memory of the submit.
    pub buffers: &'a Buffers,
}

/// What a walk is for. Everything comes in execution order.
pub trait Visitor {
    /// The capture says which chip it is (a number such as 420).
    fn gpu(&mut self, id: u32) -> io::Result<()>;
    /// A submit begins. `Break` ends the walk.
    fn submit(&mut self, submit: &Submit, buffers: &Buffers) -> io::Result<ControlFlow<()>>;
    /// A packet, before what it calls.
    fn packet(&mut self, at: &At, seen: &Seen<'_>) -> io::Result<()>;
    /// Something is wrong; the walk goes on.
    fn problem(&mut self, at: &At, problem: &Problem) -> io::Result<()>;
}

/// Walks all of `sections`.
///
/// # Errors
/// Those of the visitor; damage of the capture goes to [`Visitor::problem`].
pub fn walk<R: Read>(sections: Sections<R>, visitor: &mut impl Visitor) -> io::Result<()> {
    let mut walker = Walker::default();
    for section in sections {
        if walker.section(section, visitor)?.is_break() {
            break;
        }
    }
    Ok(())
}

type Flow = io::Result<ControlFlow<()>>;

const CONTINUE: Flow = Ok(ControlFlow::Continue(()));

/// A walk that is fed section by section: its state between them.
#[derive(Default)]
pub struct Walker {
    buffers: Buffers,
    announced: Option<AddressRecord>,
    /// The last execution-type section was a command stream: the next buffer begins a group.
    executed: bool,
    command: String,
    gpu: Option<u32>,
    stream: Stream,
}

impl Walker {
    /// The next section, or what stands in its place. `Break` if the visitor wants no more.
    ///
    /// # Errors
    /// Those of the visitor.
    pub fn section(&mut self, section: Result<Section, CaptureError>, visitor: &mut impl Visitor) -> Flow {
        match section {
            Ok(section) => self.read(section, visitor),
            Err(error) => self.problem(error.into(), visitor),
        }
    }

    fn problem(&self, problem: Problem, visitor: &mut impl Visitor) -> Flow {
        visitor.problem(&self.stream.at, &problem)?;
        CONTINUE
    }

    fn read(&mut self, section: Section, visitor: &mut impl Visitor) -> Flow {
        if section.id == SectionId::BUFFER_CONTENTS {
            return self.contents(section, visitor);
        }
        match section.body() {
            Err(error) => return self.problem(error.into(), visitor),
            Ok(Body::GpuAddr(record)) => self.announce(record),
            Ok(Body::Cmd(command)) => self.command = command,
            Ok(Body::GpuId(id)) => self.identify(id, visitor)?,
            Ok(Body::ChipId(chip)) => self.identify(chip.gpu_id(), visitor)?,
            Ok(Body::CmdstreamAddr(record)) => return self.submit(record, visitor),
            Ok(_) => {}
        }
        CONTINUE
    }

    fn announce(&mut self, record: AddressRecord) {
        if std::mem::take(&mut self.executed) {
            self.buffers.clear();
        }
        self.buffers.announce(record);
        self.announced = Some(record);
    }

    fn contents(&mut self, section: Section, visitor: &mut impl Visitor) -> Flow {
        match self.announced.take() {
            Some(record) => self.buffers.fill(record, section.payload),
            None => return self.problem(Problem::Orphan { offset: section.offset }, visitor),
        }
        CONTINUE
    }

    /// The first chip that is named counts; 0 names none.
    fn identify(&mut self, id: u32, visitor: &mut impl Visitor) -> io::Result<()> {
        if id == 0 || self.gpu.is_some() {
            return Ok(());
        }
        self.gpu = Some(id);
        visitor.gpu(id)?;
        match id / 100 {
            4 => Ok(()),
            _ => visitor.problem(&self.stream.at, &Problem::OtherGpu { id }),
        }
    }

    fn submit(&mut self, buffer: AddressRecord, visitor: &mut impl Visitor) -> Flow {
        self.executed = true;
        let submit = Submit { index: self.stream.next, command: self.command.clone(), buffer };
        self.stream.begin(&submit, &self.buffers);
        if visitor.submit(&submit, &self.buffers)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.stream.run(&self.buffers, buffer, visitor)?;
        CONTINUE
    }
}

/// The state of command streams: it lasts from submit to submit.
#[derive(Default)]
struct Stream {
    at: At,
    /// Number of the next submit.
    next: u64,
    groups: [Option<DrawStateGroup>; GROUPS],
    /// Addresses of the buffers being run, outermost first.
    active: Vec<u64>,
    /// Buffers that this submit has run.
    seen: HashSet<(u64, u32)>,
    /// Dwords that this submit may still run, and could at its start.
    budget: u64,
    limit: u64,
}

impl Stream {
    fn begin(&mut self, submit: &Submit, buffers: &Buffers) {
        self.next += 1;
        self.at = At {
            submit: submit.index,
            draw: self.at.draw,
            address: submit.buffer.address as u32,
            ..At::default()
        };
        self.seen.clear();
        self.limit = (buffers.captured_bytes() / 4 * REPEATS).min(MAX_DWORDS);
        self.budget = self.limit;
    }

    /// Runs one command buffer, unless it cannot be.
    fn run(&mut self, buffers: &Buffers, call: AddressRecord, visitor: &mut impl Visitor) -> io::Result<()> {
        let AddressRecord { address, length } = call;
        let dwords = buffers.dwords(address, length);
        if let Some(problem) = self.refuses(call, &dwords) {
            visitor.problem(&self.at, &problem)?;
        }
        if dwords.is_empty() || self.active.contains(&address) || self.active.len() > MAX_DEPTH {
            return Ok(());
        }
        let outside = self.at;
        self.at.depth = self.active.len();
        self.at.repeated |= !self.seen.insert((address, length));
        self.active.push(address);
        self.packets(buffers, address as u32, &dwords, visitor)?;
        self.active.pop();
        self.at = At { draw: self.at.draw, ..outside };
        Ok(())
    }

    fn refuses(&self, call: AddressRecord, dwords: &[u32]) -> Option<Problem> {
        let AddressRecord { address, length } = call;
        if length == 0 {
            return None;
        }
        Some(match dwords.len() {
            _ if self.active.contains(&address) => Problem::SelfCall { address },
            _ if self.active.len() > MAX_DEPTH => Problem::TooDeep { address, limit: MAX_DEPTH },
            0 => Problem::NoBuffer { address, dwords: length },
            captured if captured < length as usize => {
                Problem::CutBuffer { address, dwords: length, captured }
            }
            _ => return None,
        })
    }

    fn packets(
        &mut self,
        buffers: &Buffers,
        start: u32,
        dwords: &[u32],
        visitor: &mut impl Visitor,
    ) -> io::Result<()> {
        let mut packets = Packets::new(dwords);
        while self.budget > 0 {
            let (offset, rest) = (packets.offset(), packets.rest());
            self.at.address = start.wrapping_add(offset as u32 * 4);
            let packet = match packets.next() {
                None => return Ok(()),
                Some(Err(error)) => {
                    return visitor.problem(&self.at, &Problem::Packet { error, buffer: start });
                }
                Some(Ok(packet)) => packet,
            };
            let dwords = &rest[..packets.offset() - offset];
            self.spend(dwords.len() as u64, visitor)?;
            self.packet(&Seen { packet, body: body(&packet), dwords, buffers }, visitor)?;
        }
        Ok(())
    }

    fn spend(&mut self, dwords: u64, visitor: &mut impl Visitor) -> io::Result<()> {
        self.budget = self.budget.saturating_sub(dwords);
        match self.budget {
            0 => visitor.problem(&self.at, &Problem::Runaway { limit: self.limit }),
            _ => Ok(()),
        }
    }

    fn packet(&mut self, seen: &Seen<'_>, visitor: &mut impl Visitor) -> io::Result<()> {
        let Some(body) = seen.body else { return visitor.packet(&self.at, seen) };
        if starts_work(&body) {
            self.run_groups(seen.buffers, visitor)?;
        }
        visitor.packet(&self.at, seen)?;
        if let Some(problem) = problem_of(&body) {
            visitor.problem(&self.at, &problem)?;
        }
        if let Some(IndirectBufferCall { address, dwords }) = body.call() {
            let call = AddressRecord { address: u64::from(address), length: dwords };
            return self.run(seen.buffers, call, visitor);
        }
        if let Pm4::SetDrawState(state) = body {
            for group in state.groups() {
                self.set_group(group, seen.buffers, visitor)?;
            }
        }
        self.at.draw += u64::from(starts_work(&body));
        Ok(())
    }

    fn set_group(
        &mut self,
        group: DrawStateGroup,
        buffers: &Buffers,
        visitor: &mut impl Visitor,
    ) -> io::Result<()> {
        let slot = group.control.GROUP_ID() as usize;
        if group.control.DISABLE_ALL_GROUPS() {
            self.groups = [None; GROUPS];
        } else if group.control.DISABLE() {
            self.groups[slot] = None;
        } else if group.control.LOAD_IMMED() {
            self.groups[slot] = None;
            return self.run(buffers, group_call(group), visitor);
        } else {
            self.groups[slot] = Some(group);
        }
        Ok(())
    }

    /// Runs the armed groups, lowest first; each runs once.
    fn run_groups(&mut self, buffers: &Buffers, visitor: &mut impl Visitor) -> io::Result<()> {
        for group in std::mem::take(&mut self.groups).into_iter().flatten() {
            self.run(buffers, group_call(group), visitor)?;
        }
        Ok(())
    }
}

fn group_call(group: DrawStateGroup) -> AddressRecord {
    AddressRecord { address: u64::from(group.address), length: group.control.COUNT() }
}

fn body<'a>(packet: &Packet<'a>) -> Option<Pm4<'a>> {
    match *packet {
        Packet::Type3 { opcode, payload, .. } => Some(Pm4::parse(opcode, payload)),
        Packet::Type0 { .. } | Packet::Type1 { .. } | Packet::Type2 => None,
    }
}

/// Whether the packet is a draw or a dispatch: what draws are counted by.
pub fn starts_work(body: &Pm4<'_>) -> bool {
    matches!(
        body,
        Pm4::DrawIndx(_)
            | Pm4::DrawIndx2(_)
            | Pm4::DrawIndxOffset(_)
            | Pm4::DrawIndirect(_)
            | Pm4::DrawIndxIndirect(_)
            | Pm4::DrawAuto(_)
            | Pm4::DrawIndxBin(_)
            | Pm4::DrawIndx2Bin(_)
            | Pm4::ExecCs(_)
            | Pm4::ExecCsIndirect(_)
            | Pm4::RunOpencl(_)
    )
}

fn problem_of(body: &Pm4<'_>) -> Option<Problem> {
    match *body {
        Pm4::Unknown { opcode, .. } => Some(Problem::UnknownOpcode { opcode }),
        Pm4::Short { opcode, payload } => {
            row(opcode).map(|row| Problem::ShortPacket { name: row.name, dwords: payload.len() })
        }
        _ => None,
    }
}
