//! Buffers of draws that run again for the next tile, done again without a look at each packet.
//!
//! What the packets of such a buffer take from the machine and leave in it is noted when they run for the second time, or
//! for the first if buffers of the frame before have run again. From then on, if all that they take is the same but for
//! what says where the tile is, their draws are drawn, and the machine is left as they leave it. Packets that do more
//! than that run each time.

use a4emu_decoder::packet::{Packet, Packets};
use a4emu_decoder::pm4::Pm4;
use a4emu_decoder::regs::enums::VgtEventType;

use super::Cp;
use super::effects::{Effect, effect, have_effects};
use super::stream::Step;
use crate::draw::{self, Resolves};
use crate::gpu::LoadedFootprint;
use crate::pass::Pass;
use crate::regfile;

/// Draws of a buffer from which on it is worth it.
const MANY: u32 = 16;

/// Dwords of a buffer that may have so many.
const LONG: usize = 256;

/// Buffers that are noted when they first run, after one has run again, until nobody hopes any more that they will: most
/// frames are like the one before.
const HOPE: u32 = 64;

/// Bytes that are kept of what all buffers did.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// What a buffer did.
pub(super) struct IbReplay {
    draws: draw::IbReplay,
    registers: regfile::Footprint,
    loaded: LoadedFootprint,
    /// What was OR-ed into draw initiators.
    init_flags: u32,
    /// Whether that was the first time.
    is_of_first: bool,
}

/// What is known of a buffer that has been run.
#[derive(Default)]
pub(super) enum IbHistory {
    /// It is to be run packet by packet.
    #[default]
    Not,
    /// It has been run once, and had so many draws.
    Once(u32),
    /// It did this.
    Known(Box<IbReplay>),
}

/// Whether a packet has to do with nothing but registers, loaded state and draws. Of a command, that is to be seen.
fn is_noted(packet: &Packet<'_>) -> bool {
    match *packet {
        Packet::Type0 { reg, one_reg: false, values } => {
            let is_noted = |register| matches!(effect(register), None | Some(Effect::ProgramInMemory(_)));
            !have_effects(reg, values.len()) || (reg..).take(values.len()).all(is_noted)
        }
        Packet::Type2 => true,
        Packet::Type3 { predicated, .. } => !predicated,
        Packet::Type0 { .. } | Packet::Type1 { .. } => false,
    }
}

fn is_noted_command(packet: &Pm4<'_>) -> bool {
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
    /// Runs a buffer for the first time; and what is known of it then.
    pub(super) fn run_first(&mut self, base: u32, words: &[u32]) -> (Step, IbHistory) {
        let before = self.gpu.at.draws;
        let may_note = match self.gpu.pipeline.resolves {
            Resolves::Ahead => true,
            _ => {
                words.len() >= LONG
                    && self.gpu.pipeline.recording_credits > 0
                    && Pass::of(&self.gpu.regs) == Pass::Gmem
            }
        };
        if may_note && self.begins_noting() {
            let recording_credits = &mut self.gpu.pipeline.recording_credits;
            *recording_credits = recording_credits.saturating_sub(1);
            return self.run_noting(base, words, true);
        }
        let step = self.run(base, words, 0);
        (step, IbHistory::Once(self.gpu.at.draws - before))
    }

    /// Runs a buffer that has been run before, of which this is known; and what is known afterwards.
    pub(super) fn run_again(&mut self, base: u32, words: &[u32], noted: IbHistory) -> (Step, IbHistory) {
        let many = if self.gpu.pipeline.resolves == Resolves::Ahead { 1 } else { MANY };
        match noted {
            IbHistory::Known(mut rerun) => {
                if self.is_ready(&mut rerun) {
                    self.gpu.pipeline.recording_credits = HOPE;
                    return (self.rerun(base, words, &mut rerun), IbHistory::Known(rerun));
                }
                // For the first tile, what is left by the frame before may count.
                match rerun.is_of_first && self.begins_noting() {
                    true => self.run_noting(base, words, false),
                    false => (self.run(base, words, 0), IbHistory::Known(rerun)),
                }
            }
            IbHistory::Once(draws) if draws >= many && self.begins_noting() => {
                self.run_noting(base, words, false)
            }
            noted => (self.run(base, words, 0), noted),
        }
    }

    /// Begins to note what packets do, if nobody looks at each.
    fn begins_noting(&mut self) -> bool {
        if !self.is_plain() || !draw::rerun::begin(self.gpu, self.room) {
            return false;
        }
        self.notes = true;
        self.gpu.regs.begin_footprint();
        self.gpu.loaded.begin_footprint();
        true
    }

    /// Runs a buffer while it is noted what its packets do.
    fn run_noting(&mut self, base: u32, words: &[u32], is_of_first: bool) -> (Step, IbHistory) {
        let step = self.run(base, words, 0);
        let rerun = self.end_noting(is_of_first).filter(|_| step == Step::Next);
        (step, rerun.map_or(IbHistory::Not, |rerun| IbHistory::Known(rerun.into())))
    }

    /// Whether only the pipeline sees draws, and nothing has a say in them that is not noted.
    fn is_plain(&self) -> bool {
        let cp = &self.gpu.cp;
        let is_armed = cp.groups.iter().any(Option::is_some);
        !self.shows && self.engine.only_renders() && !is_armed && cp.draw_predicate.draws()
    }

    /// What was noted, if that is all there was.
    fn end_noting(&mut self, is_of_first: bool) -> Option<IbReplay> {
        if !std::mem::take(&mut self.notes) {
            return None;
        }
        let (draws, registers) = (draw::rerun::end(self.gpu), self.gpu.regs.end_footprint());
        let (loaded, init_flags) = (self.gpu.loaded.end_footprint(), self.gpu.cp.init_flags);
        let ((draws, room), registers, loaded) = (draws?, registers?, loaded?);
        self.room = room;
        Some(IbReplay { draws, registers, loaded, init_flags, is_of_first })
    }

    /// A packet is about to run: if it does more than is noted, nothing is.
    pub(super) fn note(&mut self, packet: &Packet<'_>) {
        if !is_noted(packet) {
            self.stop_noting();
        }
    }

    /// The same of a command.
    pub(super) fn note_command(&mut self, packet: &Pm4<'_>) {
        if !is_noted_command(packet) {
            self.stop_noting();
        }
    }

    /// Nothing of this buffer is noted.
    fn stop_noting(&mut self) {
        self.notes = false;
        draw::rerun::end(self.gpu);
        self.gpu.regs.end_footprint();
        self.gpu.loaded.end_footprint();
    }

    /// Whether the buffer would do the same now, but for where the tile is.
    fn is_ready(&mut self, rerun: &mut IbReplay) -> bool {
        self.is_plain()
            && rerun.init_flags == self.gpu.cp.init_flags
            && self.gpu.regs.is_input(&rerun.registers)
            && self.gpu.loaded.is_input(&rerun.loaded)
            && rerun.draws.make_ready(self.gpu, &mut self.room)
    }

    /// Does what the buffer did. From where that cannot be paid it runs packet by packet.
    fn rerun(&mut self, base: u32, words: &[u32], rerun: &mut IbReplay) -> Step {
        let draws = rerun.draws.run(self.gpu);
        self.observer.drawn_again(draws);
        if draws < rerun.draws.count() || !rerun.draws.pay_rest(self.gpu) {
            return self.go_on_behind(base, words, draws);
        }
        self.gpu.regs.leave(&rerun.registers);
        self.gpu.loaded.leave(&rerun.loaded);
        Step::Next
    }

    /// Runs what is behind so many draws of a buffer, all of whose packets are noted. Those before are paid.
    fn go_on_behind(&mut self, base: u32, words: &[u32], draws: usize) -> Step {
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
