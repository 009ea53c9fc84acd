//! Buffers and rings of a dump, and the sections that are made of them.

use super::ring::{Pending, Ring, call_of};
use super::{Devcore, lines};
use crate::adreno::capture::hang::{Hang, IbPlace};
use crate::adreno::capture::{MAX_PAYLOAD, SectionId};
use crate::adreno::generation::IbRegisters;
use crate::generation::{DEFAULT, Generation};

/// Value of the key `data`: the next line has the contents.
const ASCII85: &str = "!!ascii85 |";

/// Size of a ring that does not say its own, in bytes (MSM_GPU_RINGBUFFER_SZ of msm_gpu.h).
const RING: usize = 32 << 10;

/// Largest ring in bytes.
const MAX_RING: usize = 1 << 20;

/// Most zeros in bytes that are put behind contents of a dump. The kernel leaves out zeros at the end of a
/// buffer. Past this limit the rest of a buffer is not in the capture.
const MAX_PADDING: usize = 64 << 20;

/// The part of the dump that a line belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Part {
    /// The kernel, the process, the chip.
    #[default]
    Header,
    /// The fault of the IOMMU that led to the dump.
    Fault,
    Ring,
    Bos,
    Registers,
    /// A part that A4xx dumps do not have, or that is not known.
    Other,
}

/// A buffer.
#[derive(Debug, Default)]
pub(super) struct Bo {
    iova: u64,
    size: u64,
    /// `None` if the kernel did not copy them, or if all are zero: dumps do not say which.
    contents: Option<Vec<u8>>,
}

/// The first ring.
#[derive(Debug, Default)]
pub(super) struct RingEntry {
    /// Number of rings so far. An A4xx has one.
    count: u32,
    iova: u64,
    last_fence: u32,
    retired_fence: u32,
    rptr: u32,
    wptr: u32,
    size: Option<usize>,
    contents: Vec<u8>,
}

impl RingEntry {
    fn bytes(&self) -> usize {
        self.size.unwrap_or(RING).min(MAX_RING)
    }
}

impl Devcore {
    pub(super) fn ring_line(&mut self, is_entry: bool, key: &str, value: &str) {
        if is_entry {
            self.ring.count += 1;
        }
        if self.ring.count > 1 {
            if key == "data" {
                self.reader.expect_nothing();
            }
            return;
        }
        match key {
            "data" if value == ASCII85 => self.reader.expect_contents(self.ring.bytes()),
            "data" => self.broken("contents in a form that is not known"),
            "iova" | "last-fence" | "retired-fence" | "rptr" | "wptr" | "size" => {
                let Some(number) = self.number(key, value) else { return };
                let ring = &mut self.ring;
                match key {
                    "iova" => ring.iova = number,
                    "last-fence" => ring.last_fence = number as u32,
                    "retired-fence" => ring.retired_fence = number as u32,
                    "rptr" => ring.rptr = number as u32,
                    "wptr" => ring.wptr = number as u32,
                    _ => ring.size = Some(usize::try_from(number).unwrap_or(MAX_RING)),
                }
            }
            _ => {}
        }
    }

    pub(super) fn bo_line(&mut self, is_entry: bool, key: &str, value: &str) {
        if is_entry {
            self.end_bo();
            self.bo = Some(Bo::default());
        }
        match key {
            "data" if value == ASCII85 => {
                let size = self.bo.as_ref().map_or(0, |bo| bo.size);
                self.reader.expect_contents(size.min(MAX_PAYLOAD.into()) as usize);
            }
            "data" => self.broken("contents in a form that is not known"),
            "iova" | "size" => {
                let (number, Some(bo)) = (lines::number(value), &mut self.bo) else { return };
                match (number, key) {
                    (Ok((_, number)), "iova") => bo.iova = number,
                    (Ok((_, number)), _) => bo.size = number,
                    (Err(_), _) => drop(self.number(key, value)),
                }
            }
            _ => {}
        }
    }

    /// Takes the contents that were expected.
    pub(super) fn contents(&mut self, bytes: Vec<u8>, bad: Option<String>) {
        match (self.part, &mut self.bo) {
            (Part::Ring, _) => self.ring.contents = bytes,
            (_, Some(bo)) => bo.contents = Some(bytes),
            (_, None) => {}
        }
        if let Some(bad) = bad {
            self.broken(&bad);
        }
    }

    /// Makes sections of the buffer that ends here.
    pub(super) fn end_bo(&mut self) {
        let Some(Bo { iova, size, contents }) = self.bo.take() else { return };
        let Ok(length) = u32::try_from(size) else {
            return self.broken(&format!("a buffer of {size} bytes before this line is too large"));
        };
        let contents = contents.map(|mut bytes| {
            let zeros = (size as usize).min(MAX_PAYLOAD as usize).saturating_sub(bytes.len());
            if self.padding + zeros <= MAX_PADDING {
                self.padding += zeros;
                bytes.resize(bytes.len() + zeros, 0);
            }
            bytes
        });
        self.announce(iova, length, contents);
    }

    fn announce(&mut self, address: u64, length: u32, contents: Option<Vec<u8>>) {
        self.end = self.end.max(address.saturating_add(length.into()));
        self.put_record(SectionId::GPUADDR, address, length);
        if let Some(contents) = contents {
            self.put(SectionId::BUFFER_CONTENTS, contents);
        }
    }

    fn put_record(&mut self, id: SectionId, address: u64, length: u32) {
        let dwords = [address as u32, length, (address >> 32) as u32];
        self.put(id, dwords.into_iter().flat_map(u32::to_le_bytes).collect());
    }

    /// Makes sections of what is known only at the end: the ring, registers, the place of the hang, the submit.
    pub(super) fn finish(&mut self) {
        self.is_over = true;
        self.end_bo();
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text).into_bytes();
            self.put(SectionId::DEVCORE, text);
        }
        let registers = std::mem::take(&mut self.registers);
        let pairs = registers.iter().flat_map(|(offset, value)| [*offset, *value]);
        let bytes: Vec<u8> = pairs.flat_map(u32::to_le_bytes).collect();
        let submit = self.ring_sections();
        let [ib1, ib2] = match self.generation {
            Some(generation) => generation.dumps.ibs.map(|ib| place_of(generation, ib, &registers)),
            None => [IbPlace::default(); 2],
        };
        let mut hang = Hang {
            last_fence: self.ring.last_fence,
            retired_fence: self.ring.retired_fence,
            rptr: self.ring.rptr,
            wptr: self.ring.wptr,
            rbbm_status: self.rbbm_status,
            ring_at: 0,
            ib1,
            ib2,
        };
        if let Some((address, pending)) = &submit {
            hang.ring_at = ring_at(self.generation.unwrap_or(DEFAULT), *address, pending, &hang);
        }
        if !registers.is_empty() {
            self.put(SectionId::DEVCORE_REGISTERS, bytes);
        }
        let fence = self.ring.retired_fence.wrapping_add(1);
        self.put(SectionId::CMD, format!("{}/?: fence={fence}\0", self.comm).into_bytes());
        self.put(SectionId::HANG, hang.to_bytes());
        if let Some((address, pending)) = submit {
            self.put_record(SectionId::CMDSTREAM_ADDR, address, pending.dwords.len() as u32);
        }
    }

    /// Makes sections of the ring. Returns the address of the submits that have not ended, if there are any.
    fn ring_sections(&mut self) -> Option<(u64, Pending)> {
        let ring = &self.ring;
        let mut bytes = ring.contents.clone();
        if bytes.is_empty() {
            return None;
        }
        bytes.resize(ring.bytes(), 0);
        let dwords: Vec<u32> = bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let RingEntry { iova, rptr, wptr, retired_fence, .. } = *ring;
        let generation = self.generation.unwrap_or(DEFAULT);
        let pending = Ring { generation, dwords: &dwords, rptr, wptr, retired_fence }.pending();
        self.announce(iova, bytes.len() as u32, Some(bytes));
        if pending.dwords.is_empty() {
            return None;
        }
        if pending.first + pending.dwords.len() <= dwords.len() {
            return Some((iova.wrapping_add(4 * pending.first as u64), pending));
        }
        // Packets go over the end of the ring, which no submit of a capture does: they are copied to the first
        // free page.
        const PAGE: u64 = 0x1000;
        let address = self.end.checked_next_multiple_of(PAGE)?;
        let copy: Vec<u8> = pending.dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.announce(address, copy.len() as u32, Some(copy));
        Some((address, pending))
    }
}

/// The place in an indirect buffer as the `registers` of a dump have it. Those that are not in the dump are 0.
fn place_of(generation: &Generation, ib: IbRegisters, registers: &[(u32, u32)]) -> IbPlace {
    let value = |name: &&str| {
        let offset = generation.registers.by_name(name);
        registers.iter().find(|register| Some(register.0) == offset).map_or(0, |register| register.1)
    };
    let base = ib.base.iter().rev().fold(0, |high, name| high << 32 | u64::from(value(name)));
    IbPlace { base, left: value(&ib.left) }
}

/// Address of the dword of the submits at `address` at which the GPU stood, or 0.
fn ring_at(generation: &Generation, address: u64, pending: &Pending, hang: &Hang) -> u64 {
    let last = pending.dwords.len().saturating_sub(1);
    let read = pending.read.filter(|_| !generation.dumps.has_old_rptr).unwrap_or(last);
    let index = match hang.depth() {
        0 => pending.read,
        _ => call_of(generation, &pending.dwords, hang.ib1.base, read).or(pending.read),
    };
    index.map_or(0, |index| address.wrapping_add(4 * index as u64))
}
