//! Playback of a capture on a chip: sections in file order become memory and submits.
//!
//! Source: docs/hardware/capture-format.md, sections 4 and 5.

use a4emu_decoder::adreno::address::Address;
use std::ops::RangeInclusive;

use a4emu_decoder::adreno::capture::{
    AddressRecord, Body, Foreign, NamedChip, OfProcess, ProcessPattern, Registers, Section, SectionId,
};
use a4emu_decoder::error::CaptureError;
use a4emu_decoder::generation::Generation;

use crate::ambient::hold;
use crate::budget::{BASE, Work, in_brackets};
use crate::cp::observer::Announced;
use crate::cp::{Cp, Engine, Flow, HangSearch, Observer};
use crate::fault::Trouble;
use crate::gpu::Gpu;
use crate::machine::{Chip, Kind, refusal};
use crate::memory::Snapshots;
use crate::settled::Running;

mod novelty;

use novelty::NewDwordCounter;

/// Units of work that each new dword of contents adds to the budget. Measured: games need some thousands. A
/// recording of any length has ten times what it needs.
const UNITS_PER_DWORD: u64 = 1 << 16;

/// Offsets of the registers that a kernel dump gives a value at the start: VSC, GRAS, RB, PC, VFD, VPC, UCHE,
/// HLSQ, SP and TPL1 without their contexts. Registers of contexts (from 0x2000 on) are set by each submit, and
/// a dump does not say which draw their values belong to. RBBM and CP (below) are the state of the hang.
const SETUP: RangeInclusive<u32> = 0x0c00..=0x0fff;

/// Number of sections that an unreadable section is charged as, because it makes a message.
const DAMAGED: u64 = 8;

/// Units spent before contents add to the budget. Counting new dwords takes as long as unpacking them, and
/// the initial budget is enough for most runs.
const SPENT_BEFORE: u64 = BASE / 64;

/// A chip, and the state of the playback of a capture.
pub struct Playback {
    /// The chip.
    pub gpu: Gpu,
    /// The last announced buffer. Its contents may follow.
    announced: Option<AddressRecord>,
    /// Whether the last section executed commands. The next buffer then begins a new group.
    executed: bool,
    /// Counts the new dwords of the contents.
    novelty: NewDwordCounter,
    /// How to treat a capture of another generation.
    pub foreign: Foreign,
    /// The process whose sections are played, if not all are.
    process: Option<OfProcess>,
    /// Bytes of the container that are already charged.
    read: u64,
    /// What the file is.
    file: Kind,
}

impl Default for Playback {
    fn default() -> Self {
        let (announced, novelty, foreign, process, read, file) = Default::default();
        Self {
            gpu: Gpu::new(Chip::default()),
            announced,
            executed: true,
            novelty,
            foreign,
            process,
            read,
            file,
        }
    }
}

impl Playback {
    /// Plays the submits of the processes that `pattern` names, with the memory that these have dumped. Other
    /// processes have other address spaces: their submits are counted and do not run.
    pub fn play_only(&mut self, pattern: ProcessPattern) {
        self.gpu.process = Some(pattern.clone());
        self.process = Some(OfProcess::new(pattern));
    }

    /// Runs a capture to its end. `observer`, `engine` or the end of the budget can stop it earlier.
    pub fn run(
        &mut self,
        sections: impl IntoIterator<Item = Result<Section, CaptureError>>,
        engine: &mut dyn Engine,
        observer: &mut dyn Observer,
    ) -> Flow {
        for section in sections {
            let flow = match section {
                Ok(section) => self.section(&section, engine, observer),
                Err(error) => {
                    self.damaged(error, observer);
                    Flow::Continue
                }
            };
            if flow == Flow::Stop {
                return flow;
            }
            if self.gpu.budget.cut().is_some() {
                break;
            }
        }
        self.flush_announcement(None, observer);
        // The container may have ended at the time limit.
        self.charge(Work::Section, 0, observer);
        if self.gpu.budget.is_full() {
            let option = in_brackets(self.gpu.budget.names.memory);
            let what = format!("what is kept of the run takes more room than there is{option}");
            self.trouble(Trouble::Cut(what), observer);
        }
        let unmet = self.process.as_ref().and_then(OfProcess::unmet);
        if let Some(what) = unmet.filter(|_| self.gpu.budget.cut().is_none()) {
            self.trouble(Trouble::NoProcess(what), observer);
        }
        Flow::Continue
    }

    /// Takes `count` of `work` from the budget, and reports a refusal.
    fn charge(&mut self, work: Work, count: u64, observer: &mut dyn Observer) -> bool {
        let granted = self.gpu.budget.take(work, count);
        if let Some(notice) = self.gpu.budget.take_cut_notice() {
            self.trouble(Trouble::Cut(notice), observer);
        }
        granted
    }

    /// Charges the reading of the container up to the end of `section`.
    fn pay_container(&mut self, section: &Section, observer: &mut dyn Observer) -> bool {
        let end = section.offset + section.payload.len() as u64;
        let bytes = end.saturating_sub(self.read);
        self.read = self.read.max(end);
        self.charge(Work::Section, 1, observer) && self.charge(Work::Unpacked16, bytes.div_ceil(16), observer)
    }

    /// Runs one section. `engine` and `observer` run with Rust's floating-point control, independent of this
    /// thread's.
    pub fn section(
        &mut self,
        section: &Section,
        engine: &mut dyn Engine,
        observer: &mut dyn Observer,
    ) -> Flow {
        let _control = hold();
        if !self.pay_container(section, observer) {
            return Flow::Continue;
        }
        if self.process.as_mut().is_some_and(|process| !process.takes(section)) {
            self.gpu.at.submit += u32::from(section.id == SectionId::CMDSTREAM_ADDR);
            return Flow::Continue;
        }
        match section.body() {
            Ok(Body::GpuAddr(record)) => self.announce(record, observer),
            Ok(Body::BufferContents(bytes)) => self.contents(bytes, observer),
            Ok(Body::CmdstreamAddr(record)) => return self.submit(record, engine, observer),
            Ok(Body::Cmd(command)) => observer.process(&command),
            Ok(Body::Devcore(text)) => {
                self.file = Kind::Devcore;
                observer.devcore(&text);
            }
            Ok(Body::DevcoreRegisters(registers)) => self.registers(registers),
            Ok(Body::Hang(hang)) => {
                self.gpu.hang = Some(HangSearch::new(hang));
                observer.hang(&mut Running::of(&mut self.gpu));
            }
            Ok(Body::ExactContents) => self.gpu.mem.snapshots = Snapshots::Exact,
            Ok(body) => {
                if let Some(name) = NamedChip::of(&body) {
                    return self.chip(name, observer);
                }
            }
            Err(error) => self.damaged(error, observer),
        }
        Flow::Continue
    }

    fn damaged(&mut self, error: CaptureError, observer: &mut dyn Observer) {
        self.gpu.budget.charge_later(Work::Section, DAMAGED);
        self.trouble(error.into(), observer);
    }

    fn trouble(&mut self, trouble: Trouble, observer: &mut dyn Observer) {
        observer.trouble(&mut Running::of(&mut self.gpu), &trouble);
        self.gpu.machine.report.troubles.note(trouble, self.gpu.machine.at);
    }

    /// Sets the chip. The first name counts; later ones are ignored. A capture of another generation ends here
    /// unless it is interpreted, or `observer` looks at the container.
    fn chip(&mut self, name: NamedChip, observer: &mut dyn Observer) -> Flow {
        if self.gpu.named.is_some() {
            return Flow::Continue;
        }
        self.gpu.named = Some(name);
        self.gpu.machine.become_chip(Chip::named(name));
        observer.chip(&mut Running::of(&mut self.gpu));
        if let Some(refusal) = refusal(name, self.file, self.foreign, self.gpu.budget.names) {
            self.trouble(refusal, observer);
        }
        if self.passes_over() && !observer.reads_container() { Flow::Stop } else { Flow::Continue }
    }

    /// Takes the registers of a kernel dump as the state at the start, as far as they have one value for all
    /// draws: those of the kernel's setup ([`SETUP`]).
    fn registers(&mut self, registers: Registers<'_>) {
        for (offset, value) in registers.iter().filter(|(offset, _)| SETUP.contains(offset)) {
            // Offsets outside of the file are not in the range.
            let _ = self.gpu.regs.write(offset, value);
        }
    }

    /// Whether commands are skipped because they are of another generation.
    fn passes_over(&self) -> bool {
        self.foreign == Foreign::PassOver && self.gpu.named.is_some_and(|name| Generation::of(name).is_none())
    }

    fn announce(&mut self, record: AddressRecord, observer: &mut dyn Observer) {
        self.flush_announcement(None, observer);
        if self.executed {
            self.executed = false;
            self.gpu.mem.begin_group();
        }
        self.announced = Some(record);
    }

    fn contents(&mut self, bytes: &[u8], observer: &mut dyn Observer) {
        if self.announced.is_none() {
            let what = format!("{} bytes of contents belong to no address", bytes.len());
            self.trouble(Trouble::OddSection(what), observer);
        }
        self.flush_announcement(Some(bytes), observer);
    }

    /// Maps the announced buffer. `contents` are those that follow it, if any.
    fn flush_announcement(&mut self, contents: Option<&[u8]>, observer: &mut dyn Observer) {
        let Some(AddressRecord { address, length }) = self.announced.take() else { return };
        let held = contents.map_or(&[][..], |bytes| &bytes[..bytes.len().min(length as usize)]);
        let address = Address::new(address);
        let announced = Announced { address, bytes: length, captured: held.len() as u32 };
        if self.passes_over() {
            return observer.buffer(&mut Running::of(&mut self.gpu), announced);
        }
        if let Some(trouble) = self.out_of_reach("buffer", address) {
            return self.trouble(trouble, observer);
        }
        observer.buffer(&mut Running::of(&mut self.gpu), announced);
        if self.gpu.budget.spent() >= SPENT_BEFORE {
            self.gpu.budget.grow(self.novelty.count(held) * UNITS_PER_DWORD);
        }
        if self.charge(Work::Buffer, 1, observer) {
            self.gpu.mem.announce(address, length, contents);
            self.tell_cut_memory();
        }
    }

    /// The trouble that the chip does not reach `address`, where `what` is.
    fn out_of_reach(&self, what: &str, address: Address) -> Option<Trouble> {
        let generation = self.gpu.chip.generation();
        let text =
            || format!("{what} at {:#x} is out of the reach of an A{}xx", address.get(), generation.number);
        (!generation.reaches(address)).then(|| Trouble::OddSection(text()))
    }

    /// Reports memory that the limit left out.
    fn tell_cut_memory(&mut self) {
        if self.gpu.mem.was_cut() {
            let limit = self.gpu.mem.limit;
            let option = in_brackets(self.gpu.budget.names.memory);
            let what = format!("more than {limit} bytes of memory at a time{option}");
            self.gpu.machine.cut(what);
        }
    }

    fn submit(
        &mut self,
        record: AddressRecord,
        engine: &mut dyn Engine,
        observer: &mut dyn Observer,
    ) -> Flow {
        self.flush_announcement(None, observer);
        self.executed = true;
        if self.passes_over() {
            observer.passed_over(&mut Running::of(&mut self.gpu), record);
            self.gpu.at.submit += 1;
            return Flow::Continue;
        }
        let address = Address::new(record.address);
        let flow = match self.out_of_reach("submit", address) {
            None => Cp::new(&mut self.gpu, engine, observer).submit(address, record.length),
            Some(trouble) => {
                self.trouble(trouble, observer);
                Flow::Continue
            }
        };
        if flow == Flow::Stop {
            return flow;
        }
        self.tell_cut_memory();
        let flow = observer.submitted(&mut Running::of(&mut self.gpu));
        self.gpu.at.submit += 1;
        flow
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::adreno::capture::SectionId;

    use super::*;
    use crate::budget::Budget;
    use crate::cp::{Renderer, Silent};

    fn section(offset: u64, payload: usize) -> Section {
        Section { offset, id: SectionId::TEST, payload: vec![0; payload] }
    }

    /// How many of these sections a run with a budget of `units` reads, and what it spends.
    fn taken(units: u64, sections: &[Section]) -> (usize, u64) {
        let mut playback = Playback::default();
        playback.gpu.budget = Budget::fixed(units);
        let mut taken = 0;
        let sections = sections.iter().cloned().inspect(|_| taken += 1).map(Ok);
        playback.run(sections, &mut Renderer, &mut Silent);
        (taken, playback.gpu.budget.spent())
    }

    #[test]
    fn a_recording_says_that_its_contents_are_exact() {
        let mut playback = Playback::default();
        assert_eq!(playback.gpu.mem.snapshots, Snapshots::Merged);
        let exact = Section { id: SectionId::EXACT_CONTENTS, ..section(0, 0) };
        playback.run([Ok(exact)], &mut Renderer, &mut Silent);
        assert_eq!(playback.gpu.mem.snapshots, Snapshots::Exact);
    }

    #[test]
    fn sections_are_charged_and_reading_ends_with_the_budget() {
        let sections: Vec<Section> = (0..10).map(|at| section(at * 1024, 1024 - 8)).collect();
        let price = Work::Section.price() + 64 * Work::Unpacked16.price();
        assert_eq!(taken(u64::MAX, &sections), (10, 10 * price), "bytes up to the end of each payload");
        assert_eq!(
            taken(3 * price, &sections).0,
            4,
            "the first that cannot be paid is the last that is read"
        );
        let far = [section(0, 0), section(1 << 40, 0)];
        assert_eq!(taken(1 << 34, &far).0, 2, "what was passed over before a section counts");
        assert!(taken(u64::MAX, &far).1 > 1 << 40);
    }
}
