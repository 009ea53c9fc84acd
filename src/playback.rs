//! A capture driving a chip: sections in file order become memory and submits.
//!
//! Source: docs/hardware/capture-format.md, sections 4 and 5.

use std::io::Read;

use a4emu_decoder::capture::{AddressRecord, Body, Section, Sections};
use a4emu_decoder::error::CaptureError;

use crate::cp::{Cp, Flow, Observer};
use crate::gpu::{Chip, Gpu};

/// A chip, and how far the capture has got.
pub struct Playback {
    /// The chip.
    pub gpu: Gpu,
    /// The last announced buffer, whose contents may follow.
    announced: Option<AddressRecord>,
    /// The last section executed something: the next buffer begins a new group.
    executed: bool,
    /// The capture has said which chip it is.
    chip_known: bool,
    /// What was wrong with the container, in file order.
    pub damage: Vec<CaptureError>,
    /// What the container says that no A4xx has, in file order.
    pub warnings: Vec<String>,
}

impl Default for Playback {
    fn default() -> Self {
        Self {
            gpu: Gpu::new(Chip::default()),
            announced: None,
            executed: true,
            chip_known: false,
            damage: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Playback {
    /// Runs a capture to its end, or to where `observer` stops it.
    pub fn run<R: Read>(&mut self, sections: Sections<R>, observer: &mut dyn Observer) -> Flow {
        for section in sections {
            let flow = match section {
                Ok(section) => self.section(&section, observer),
                Err(error) => {
                    self.damage.push(error);
                    Flow::Continue
                }
            };
            if flow == Flow::Stop {
                return flow;
            }
        }
        self.flush_announcement(None);
        Flow::Continue
    }

    /// One section.
    pub fn section(&mut self, section: &Section, observer: &mut dyn Observer) -> Flow {
        match section.body() {
            Ok(Body::GpuAddr(record)) => self.announce(record),
            Ok(Body::BufferContents(bytes)) => self.contents(bytes),
            Ok(Body::CmdstreamAddr(record)) => return self.submit(record, observer),
            Ok(Body::GpuId(id)) => self.chip(id),
            Ok(Body::ChipId(id)) => self.chip(id.gpu_id()),
            Ok(_) => {}
            Err(error) => self.damage.push(error),
        }
        Flow::Continue
    }

    /// The first number that is not "unknown" decides; later ones are ignored.
    fn chip(&mut self, id: u32) {
        if self.chip_known || id == 0 {
            return;
        }
        self.chip_known = true;
        let chip = Chip { id };
        if !chip.is_a4xx() {
            self.warnings.push(format!("gpu {id} is not an A4xx; taken for one"));
        }
        self.gpu.chip = chip;
        self.gpu.gmem.resize(chip.gmem_bytes(), 0);
    }

    fn announce(&mut self, record: AddressRecord) {
        self.flush_announcement(None);
        if self.executed {
            self.executed = false;
            self.gpu.mem.begin_group();
        }
        self.announced = Some(record);
    }

    fn contents(&mut self, bytes: &[u8]) {
        if self.announced.is_none() {
            self.warnings.push(format!("{} bytes of contents belong to no buffer", bytes.len()));
        }
        self.flush_announcement(Some(bytes));
    }

    /// Maps the announced buffer, now that it is known whether contents follow.
    fn flush_announcement(&mut self, contents: Option<&[u8]>) {
        let Some(AddressRecord { address, length }) = self.announced.take() else { return };
        let Ok(address) = u32::try_from(address) else {
            self.warnings.push(format!("buffer at {address:#x} is out of the reach of an A4xx"));
            return;
        };
        self.gpu.cp.credit(contents.map_or(0, |bytes| bytes.len() as u64 / 4));
        self.gpu.mem.announce(address, length, contents);
    }

    fn submit(&mut self, record: AddressRecord, observer: &mut dyn Observer) -> Flow {
        self.flush_announcement(None);
        self.executed = true;
        let flow = match u32::try_from(record.address) {
            Ok(address) => Cp::new(&mut self.gpu, observer).submit(address, record.length),
            Err(_) => {
                self.warnings.push(format!("submit at {:#x} is out of the reach of an A4xx", record.address));
                Flow::Continue
            }
        };
        self.gpu.at.submit += 1;
        flow
    }
}
