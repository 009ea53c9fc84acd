//! The submits in the ring of a dump.
//!
//! The kernel writes submits one after another into a ring of 32 KiB, and goes on at its start when the end
//! is reached (OUT_RING in msm_ringbuffer.h). Each submit ends in CP_EVENT_WRITE of CACHE_FLUSH_TS with the
//! number of its fence (a4xx_submit in a4xx_gpu.c, a6xx_submit in a6xx_gpu.c; before Linux 5.10 adreno_submit in
//! adreno_gpu.c).

use crate::adreno::packet::{Packet, Packets};
use crate::adreno::pm4::Outline;
use crate::asm::pack;
use crate::generation::Generation;

/// The opcode of CP_EVENT_WRITE, in all generations.
const EVENT_WRITE: u8 = 0x46;
/// The event that writes a fence.
const CACHE_FLUSH_TS: u32 = 4;
/// The bits of the event's number.
const EVENT: u32 = 0xff;

/// The ring with its pointers, in dwords.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring<'a> {
    pub(super) generation: &'static Generation,
    pub(super) dwords: &'a [u32],
    pub(super) rptr: u32,
    pub(super) wptr: u32,
    pub(super) retired_fence: u32,
}

/// The submits of the ring that have not ended, in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pending {
    /// Dword of the ring at which they begin.
    pub(super) first: usize,
    /// Their dwords. They go over the end of the ring if `first` and their number do.
    pub(super) dwords: Vec<u32>,
    /// Index among them of the dword that was read last; `None` if none was.
    pub(super) read: Option<usize>,
}

impl Ring<'_> {
    /// The submits after the one with the retired fence. If all have ended, the last one.
    pub(super) fn pending(&self) -> Pending {
        let wptr = (self.wptr as usize).min(self.dwords.len());
        let (new, old) = self.dwords.split_at(wptr);
        let is_full = old.iter().any(|dword| *dword != 0);
        let (before, dwords) = if is_full { (wptr, [old, new].concat()) } else { (0, new.to_vec()) };
        let start = self.start(&dwords, is_full);
        let size = self.dwords.len().max(1);
        // The dword before the one that is read next, counted from the first pending one.
        let rptr = (self.rptr as usize).min(self.dwords.len());
        let read = (rptr + size - before % size) % size;
        let read = if read == 0 && rptr == wptr { dwords.len() } else { read };
        Pending {
            first: (before + start) % size,
            read: read.checked_sub(start + 1).filter(|read| start + read < dwords.len()),
            dwords: dwords[start..].to_vec(),
        }
    }

    /// The dword after the submit with the retired fence. Where that one was overwritten, the oldest whole
    /// submit begins there; in a ring that was never full, the first dword.
    fn start(&self, dwords: &[u32], is_full: bool) -> usize {
        let ends = ends(self.generation, dwords);
        let retired = ends.iter().rposition(|(_, fence)| *fence == self.retired_fence);
        let after = |index: usize| ends.get(index).map_or(0, |(end, _)| *end);
        match retired {
            Some(0) if ends.len() == 1 => 0,
            Some(last) if last + 1 == ends.len() => after(last - 1),
            Some(index) => after(index),
            None if is_full => after(0),
            None => 0,
        }
    }
}

/// The dword after each submit, and its fence.
fn ends(generation: &Generation, dwords: &[u32]) -> Vec<(usize, u32)> {
    let count = generation.dumps.fence_dwords;
    let header = pack::command(generation.framing, EVENT_WRITE, count as u32);
    let windows = dwords.windows(1 + count).enumerate();
    let ends = windows.filter(|(_, window)| window[0] == header && window[1] & EVENT == CACHE_FLUSH_TS);
    ends.map(|(at, window)| (at + window.len(), window[count])).collect()
}

/// Index of the last call of the buffer at `address` that begins at or before dword `read`.
pub(super) fn call_of(generation: &Generation, dwords: &[u32], address: u64, read: usize) -> Option<usize> {
    let mut packets = Packets::new(generation.framing, dwords);
    let mut found = None;
    loop {
        let at = packets.offset();
        let Some(Ok(packet)) = packets.next() else { return found };
        if at > read {
            return found;
        }
        if let Packet::Command { opcode, payload, .. } = packet
            && let Outline::Call(call) = (generation.outline)(opcode, payload)
            && call.address.get() == address
        {
            found = Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::a4xx::A4XX;
    use crate::a6xx::A6XX;

    use super::*;

    /// A submit that calls `address`.
    fn submit(address: u32, fence: u32) -> [u32; 8] {
        [0xc001_3f00, address, 16, 0x8000_0000, 0xc002_4600, 0x8000_0004, 0x1000, fence]
    }

    fn pending(dwords: &[u32], rptr: u32, wptr: u32, retired_fence: u32) -> Pending {
        Ring { generation: &A4XX, dwords, rptr, wptr, retired_fence }.pending()
    }

    #[test]
    fn submits_after_the_retired_one_are_pending() {
        let ring = [&[0xc000_1000, 0][..], &submit(0x1000, 1), &submit(0x2000, 2), &[0; 6]].concat();
        assert_eq!(
            pending(&ring, 13, 18, 1),
            Pending { first: 10, dwords: submit(0x2000, 2).into(), read: Some(2) }
        );
        assert_eq!(
            pending(&ring, 18, 18, 0),
            Pending { first: 0, dwords: ring[..18].into(), read: Some(17) }
        );
        let last = pending(&ring, 18, 18, 2);
        assert_eq!((last.first, last.read), (10, Some(7)), "all have ended");
        assert_eq!(pending(&ring, 3, 18, 1).read, None, "before it");
    }

    /// The ring has 20 dwords; the submit with fence 7 begins at dword 16.
    #[test]
    fn a_submit_goes_over_the_end_of_the_ring() {
        let mut ring = vec![0; 20];
        ring[..4].copy_from_slice(&submit(0x7000, 7)[4..]);
        ring[16..].copy_from_slice(&submit(0x7000, 7)[..4]);
        ring[8..16].copy_from_slice(&submit(0x6000, 6));
        let found = pending(&ring, 19, 4, 6);
        assert_eq!(found, Pending { first: 16, dwords: submit(0x7000, 7).into(), read: Some(2) });
        assert_eq!(pending(&ring, 4, 4, 6).read, Some(7));
        assert_eq!(pending(&ring, 4, 4, 99).first, 16, "after the oldest whole one");
    }

    #[test]
    fn the_last_call_before_a_dword_is_found() {
        let dwords = [submit(0x1000, 1), submit(0x1000, 2)].concat();
        let call = |read| call_of(&A4XX, &dwords, 0x1000, read);
        assert_eq!([call(0), call(7), call(8), call(15)], [Some(0), Some(0), Some(8), Some(8)]);
        assert_eq!(call_of(&A4XX, &dwords, 0x3000, 15), None);
    }

    /// An A6xx has addresses of two dwords, in the call and in the event.
    #[test]
    fn submits_of_an_a6xx_are_found() {
        let command = |opcode, payload: &[u32]| {
            [&[pack::command(A6XX.framing, opcode, payload.len() as u32)], payload].concat()
        };
        let submit = |low, fence| {
            [command(0x3f, &[low, 1, 16]), command(EVENT_WRITE, &[0x8000_0004, 0x1000, 1, fence])].concat()
        };
        let ring = [submit(0x1000, 1), submit(0x2000, 2), vec![0; 6]].concat();
        let found = Ring { generation: &A6XX, dwords: &ring, rptr: 11, wptr: 18, retired_fence: 1 }.pending();
        assert_eq!(found, Pending { first: 9, dwords: submit(0x2000, 2), read: Some(1) });
        assert_eq!(call_of(&A6XX, &ring, 0x1_0000_2000, 17), Some(9));
        assert_eq!(call_of(&A6XX, &ring, 0x2000, 17), None, "the high dword counts");
    }

    #[test]
    fn a_ring_of_nothing_has_nothing() {
        for (dwords, rptr, wptr) in [(&[][..], 0, 0), (&[], 9, 9), (&[0; 4], 99, 99), (&[1; 4], 0, 0)] {
            let found = pending(dwords, rptr, wptr, 0);
            assert!(
                found.dwords.len() <= dwords.len() && found.read.is_none_or(|at| at < found.dwords.len())
            );
        }
    }
}
