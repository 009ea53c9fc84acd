//! Recording and replay of indirect buffers (IBs) that run again for the next tile.
//!
//! A recording holds the inputs and outputs of the packets of one IB. It is made when the IB runs for the
//! second time, or for the first time if IBs of earlier frames have run again. From then on the IB is
//! replayed if its inputs are unchanged, except those that give the position of the tile. A replay runs the
//! draws, and then sets registers and loaded state to the recorded outputs. An IB with packets that do more
//! than that runs packet by packet.

use a4emu_decoder::packet::{Packet, Packets};
use a4emu_decoder::pm4::Pm4;
use a4emu_decoder::regs::enums::VgtEventType;

use super::Cp;
use super::effects::{Effect, effect, have_effects};
use super::stream::Step;
use crate::draw::{self, Schedule};
use crate::machine::LoadedFootprint;
use crate::pass::Pass;
use crate::regfile;

/// Fewest draws of an IB for which a recording is made.
const MIN_DRAWS: u32 = 16;

/// Fewest dwords of an IB that may have that many draws.
const MIN_DWORDS: usize = 256;

/// Number of IBs that are recorded at their first run after a replay. Most frames are like the frame before,
/// so such an IB probably runs again. Without a further replay, recording at first runs ends.
const FIRST_RUN_CREDITS: u32 = 64;

/// Most bytes kept for all recordings.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// The recording of an IB.
pub(super) struct IbReplay {
    draws: draw::IbReplay,
    registers: regfile::Footprint,
    loaded: LoadedFootprint,
    /// Flags that were OR-ed into draw initiators.
    init_flags: u32,
    /// Whether the recording is of the first run.
    is_of_first: bool,
}

/// The history of an IB that has run.
#[derive(Default)]
pub(super) enum IbHistory {
    /// Always run it packet by packet.
    #[default]
    PacketByPacket,
    /// The IB has run once, with this number of draws.
    Once(u32),
    /// The IB has a recording.
    Recorded(Box<IbReplay>),
}

/// Whether a recording covers the packet: it changes only registers, loaded state and draws. For a type-3
/// packet, [`is_recordable_command`] decides.
fn is_recordable(packet: &Packet<'_>) -> bool {
    match *packet {
        Packet::Type0 { reg, one_reg: false, values } => {
            let is_recordable =
                |register| matches!(effect(register), None | Some(Effect::ProgramInMemory(_)));
            !have_effects(reg, values.len()) || (reg..).take(values.len()).all(is_recordable)
        }
        Packet::Type2 => true,
        Packet::Type3 { predicated, .. } => !predicated,
        Packet::Type0 { .. } | Packet::Type1 { .. } => false,
    }
}

fn is_recordable_command(packet: &Pm4<'_>) -> bool {
    match packet {
        Pm4::LoadState4(_) | Pm4::DrawIndxOffset(_) | Pm4::Nop(_) | Pm4::WaitForIdle(_) => true,
        Pm4::EventWrite(packet) => {
            let counts = matches!(packet.event.EVENT(), VgtEventType::ZPASS_DONE | VgtEventType::RST_PIX_CNT);
            packet.ADDR.is_none() && !counts
        }
        _ => false,
    }
}

impl Cp<'_> {
    /// Runs a buffer for the first time. Also returns its history for the next run.
    pub(super) fn run_first(&mut self, base: u32, words: &[u32]) -> (Step, IbHistory) {
        let before = self.gpu.at.draws;
        let may_record = match self.gpu.pipeline.schedule {
            Schedule::Stress => true,
            _ => {
                words.len() >= MIN_DWORDS
                    && self.gpu.pipeline.recording_credits > 0
                    && Pass::of(&self.gpu.regs) == Pass::Gmem
            }
        };
        if may_record && self.begin_recording() {
            let recording_credits = &mut self.gpu.pipeline.recording_credits;
            *recording_credits = recording_credits.saturating_sub(1);
            return self.run_recording(base, words, true);
        }
        let step = self.run(base, words, 0);
        (step, IbHistory::Once(self.gpu.at.draws - before))
    }

    /// Runs a buffer that has run before, with history `noted`. Also returns its history for the next run.
    pub(super) fn run_again(&mut self, base: u32, words: &[u32], noted: IbHistory) -> (Step, IbHistory) {
        let many = if self.gpu.pipeline.schedule == Schedule::Stress { 1 } else { MIN_DRAWS };
        match noted {
            IbHistory::Recorded(mut recording) => {
                if self.is_ready(&mut recording) {
                    self.gpu.pipeline.recording_credits = FIRST_RUN_CREDITS;
                    return (self.replay(base, words, &mut recording), IbHistory::Recorded(recording));
                }
                // For the first tile, state that the frame before left may be an input.
                match recording.is_of_first && self.begin_recording() {
                    true => self.run_recording(base, words, false),
                    false => (self.run(base, words, 0), IbHistory::Recorded(recording)),
                }
            }
            IbHistory::Once(draws) if draws >= many && self.begin_recording() => {
                self.run_recording(base, words, false)
            }
            noted => (self.run(base, words, 0), noted),
        }
    }

    /// Begins a recording, if no observer sees single packets.
    fn begin_recording(&mut self) -> bool {
        if !self.is_plain() || !draw::ib_replay::begin(self.gpu, self.room) {
            return false;
        }
        self.is_recording = true;
        self.gpu.regs.begin_footprint();
        self.gpu.loaded.begin_footprint();
        true
    }

    /// Runs a buffer and records it.
    fn run_recording(&mut self, base: u32, words: &[u32], is_of_first: bool) -> (Step, IbHistory) {
        let step = self.run(base, words, 0);
        let recording = self.end_recording(is_of_first).filter(|_| step == Step::Next);
        (step, recording.map_or(IbHistory::PacketByPacket, |recording| IbHistory::Recorded(recording.into())))
    }

    /// Whether only the pipeline sees draws, and every input of a draw can be recorded.
    fn is_plain(&self) -> bool {
        let cp = &self.gpu.cp;
        let is_armed = cp.groups.iter().any(Option::is_some);
        !self.shows_packets && self.engine.only_renders() && !is_armed && cp.draw_predicate.draws()
    }

    /// Ends the recording and returns it, if it is complete.
    fn end_recording(&mut self, is_of_first: bool) -> Option<IbReplay> {
        if !std::mem::take(&mut self.is_recording) {
            return None;
        }
        let (draws, registers) = (draw::ib_replay::end(self.gpu), self.gpu.regs.end_footprint());
        let (loaded, init_flags) = (self.gpu.loaded.end_footprint(), self.gpu.cp.init_flags);
        let ((draws, room), registers, loaded) = (draws?, registers?, loaded?);
        self.room = room;
        Some(IbReplay { draws, registers, loaded, init_flags, is_of_first })
    }

    /// Stops the recording if it does not cover `packet`, which is about to run.
    pub(super) fn note(&mut self, packet: &Packet<'_>) {
        if !is_recordable(packet) {
            self.discard_recording();
        }
    }

    /// Stops the recording if it does not cover the type-3 packet.
    pub(super) fn check_command(&mut self, packet: &Pm4<'_>) {
        if !is_recordable_command(packet) {
            self.discard_recording();
        }
    }

    /// Discards the recording of this buffer.
    fn discard_recording(&mut self) {
        self.is_recording = false;
        draw::ib_replay::end(self.gpu);
        self.gpu.regs.end_footprint();
        self.gpu.loaded.end_footprint();
    }

    /// Whether a replay has the effect of running the buffer now. The position of the tile may differ.
    fn is_ready(&mut self, recording: &mut IbReplay) -> bool {
        self.is_plain()
            && recording.init_flags == self.gpu.cp.init_flags
            && self.gpu.regs.inputs_match(&recording.registers)
            && self.gpu.loaded.inputs_match(&recording.loaded)
            && recording.draws.make_ready(self.gpu, &mut self.room)
    }

    /// Replays the buffer. If the budget does not allow a draw, the buffer runs packet by packet from there.
    fn replay(&mut self, base: u32, words: &[u32], recording: &mut IbReplay) -> Step {
        let draws = recording.draws.run(self.gpu);
        self.observer.draws_replayed(draws);
        if draws < recording.draws.count() || !recording.draws.pay_rest(self.gpu) {
            return self.run_after_draws(base, words, draws);
        }
        self.gpu.regs.apply_outputs(&recording.registers);
        self.gpu.loaded.apply_outputs(&recording.loaded);
        Step::Next
    }

    /// Runs the rest of a recorded buffer after its first `draws` draws. The packets before are already
    /// charged.
    fn run_after_draws(&mut self, base: u32, words: &[u32], draws: usize) -> Step {
        let mut packets = Packets::new(words);
        let mut left = draws;
        while left > 0
            && let Some(Ok(packet)) = packets.next()
        {
            match packet {
                Packet::Type0 { reg, values, .. } => self.write_regs(reg, values),
                Packet::Type3 { opcode, payload, .. } => match Pm4::parse(opcode, payload) {
                    Pm4::LoadState4(packet) => self.load_paid(&packet),
                    Pm4::DrawIndxOffset(_) => left -= 1,
                    _ => {}
                },
                _ => {}
            }
        }
        self.run(base, words, packets.offset())
    }
}
