//! The memory that a reader of a recording has, so that only what it lacks is written.

use std::collections::{BTreeMap, HashMap};

use a4emu_gpu::memory::{Address, Memory};

use crate::arena;

const PAGE: usize = arena::PAGE as usize;

/// Bytes that are compared and written together. Smaller pieces need more bytes for their addresses than they
/// save.
const LINE: usize = 64;

static ZEROS: [u8; PAGE] = [0; PAGE];

/// What a submit writes to the recording of a buffer that the reader already has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Lines that differ from the reader's.
    Changes,
    /// All pages that are not zero, and changes. Tools that run nothing, such as Mesa's cffdump, keep no
    /// memory from submit to submit, and look for commands and shaders in the submit's own buffers.
    Contents,
}

/// Contents to be written: each run of bytes with its address, ascending.
pub type Runs = Vec<(u64, Vec<u8>)>;

/// What the reader has.
#[derive(Default)]
pub struct Replica {
    /// Length of each buffer by address.
    buffers: BTreeMap<u64, u64>,
    /// Pages with a byte that is not zero, by number.
    pages: HashMap<u64, Box<[u8; PAGE]>>,
}

impl Replica {
    /// Makes the buffer at `address` equal to `bytes`. Returns what has to be written for that: of a buffer
    /// that the reader does not have all bytes as one run.
    ///
    /// The program may write the buffer at the same time, so that each byte is read once.
    pub fn update(&mut self, address: u64, bytes: &[u8], wanted: Wanted) -> Runs {
        let is_new = self.buffers.get(&address) != Some(&(bytes.len() as u64));
        if is_new {
            self.place(address, bytes.len() as u64);
        }
        let mut runs = Runs::new();
        let mut page = [0; PAGE];
        for (at, bytes) in pieces(address, bytes, PAGE) {
            let now = &mut page[..bytes.len()];
            now.copy_from_slice(bytes);
            let before = self.pages.get(&number(at)).map_or(&ZEROS, |page| &**page);
            let is_changed = *now != before[..now.len()];
            if is_new || wanted == Wanted::Contents && (is_changed || *now != ZEROS[..now.len()]) {
                add(&mut runs, at, now);
            } else if is_changed {
                let lines = pieces(at, now, LINE).zip(before.chunks(LINE));
                lines
                    .filter(|((_, now), before)| *now != &before[..now.len()])
                    .for_each(|((at, now), _)| add(&mut runs, at, now));
            }
            if is_changed {
                self.store(at, &page[..bytes.len()]);
            }
        }
        runs
    }

    /// Takes the ranges `written` of `memory`, which the GPU has written: the reader's GPU writes the same.
    ///
    /// Nothing else is taken from there. The program may have written other bytes meanwhile, which the reader
    /// does not have.
    pub fn ran(&mut self, memory: &Memory, written: &[(u64, u64)]) {
        for &(start, end) in written {
            let mut at = start;
            while at < end {
                let next = end.min((at / PAGE as u64 + 1) * PAGE as u64);
                let mut bytes = vec![0; (next - at) as usize];
                if self.has(at) && memory.read(Address::new(at), &mut bytes) {
                    self.store(at, &bytes);
                }
                at = next;
            }
        }
    }

    fn has(&self, address: u64) -> bool {
        let below = self.buffers.range(..=address).next_back();
        below.is_some_and(|(start, len)| address - start < *len)
    }

    /// Adds a buffer of zeros in the place of those that overlap it.
    fn place(&mut self, address: u64, len: u64) {
        let end = address + len;
        let ends = |(start, len): (&u64, &u64)| (*start, start + len);
        let below = self.buffers.range(..end).rev().map(ends);
        let gone: Vec<(u64, u64)> = below.take_while(|(_, end)| *end > address).collect();
        for (start, end) in gone {
            self.buffers.remove(&start);
            for page in number(start)..end.div_ceil(PAGE as u64) {
                self.pages.remove(&page);
            }
        }
        self.buffers.insert(address, len);
    }

    /// Stores bytes of one page.
    fn store(&mut self, address: u64, bytes: &[u8]) {
        let page = self.pages.entry(number(address)).or_insert_with(|| Box::new(ZEROS));
        page[address as usize % PAGE..][..bytes.len()].copy_from_slice(bytes);
        if **page == ZEROS {
            self.pages.remove(&number(address));
        }
    }
}

/// Pieces of a buffer of at most `size` bytes, with their addresses. The buffer may end with the address space.
fn pieces(address: u64, bytes: &[u8], size: usize) -> impl Iterator<Item = (u64, &[u8])> {
    let at = move |index| address + (index * size) as u64;
    bytes.chunks(size).enumerate().map(move |(index, piece)| (at(index), piece))
}

/// The number of the page with the byte at `address`. Buffers begin at a page.
fn number(address: u64) -> u64 {
    address / PAGE as u64
}

/// Adds bytes to the last run if they follow it, or as a run of their own.
fn add(runs: &mut Runs, at: u64, bytes: &[u8]) {
    match runs.last_mut() {
        Some((start, run)) if *start + run.len() as u64 == at => run.extend_from_slice(bytes),
        _ => runs.push((at, bytes.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x0100_0000;

    fn runs(runs: &Runs) -> Vec<(u64, usize)> {
        runs.iter().map(|(at, bytes)| (at - AT, bytes.len())).collect()
    }

    #[test]
    fn a_buffer_is_whole_at_first_and_then_what_changed() {
        let (mut replica, mut bytes) = (Replica::default(), vec![0; 3 * PAGE]);
        let mut update = |bytes: &[u8], wanted| runs(&replica.update(AT, bytes, wanted));
        assert_eq!(update(&bytes, Wanted::Changes), [(0, 3 * PAGE)], "zeros too");
        assert_eq!(update(&bytes, Wanted::Changes), []);
        (bytes[5], bytes[64], bytes[PAGE - 1]) = (1, 1, 1);
        bytes[PAGE] = 1;
        assert_eq!(update(&bytes, Wanted::Changes), [(0, 128), (PAGE as u64 - 64, 128)]);
        assert_eq!(update(&bytes, Wanted::Contents), [(0, 2 * PAGE)], "pages that are not zero");
        bytes[PAGE] = 0;
        assert_eq!(update(&bytes, Wanted::Contents), [(0, 2 * PAGE)], "the second is zero now");
        assert_eq!(update(&bytes, Wanted::Contents), [(0, PAGE)]);
        assert_eq!(update(&bytes[..PAGE], Wanted::Changes), [(0, PAGE)], "another buffer");
        bytes.fill(0);
        assert_eq!(update(&bytes, Wanted::Changes), [(0, 3 * PAGE)]);
    }

    #[test]
    fn a_buffer_in_the_place_of_others_removes_them() {
        let mut replica = Replica::default();
        for at in [AT, AT + 4096, AT + 8192] {
            replica.update(at, &[7; PAGE], Wanted::Changes);
        }
        replica.update(AT, &[0; 2 * PAGE], Wanted::Changes);
        assert_eq!(replica.buffers, BTreeMap::from([(AT, 8192), (AT + 8192, 4096)]));
        assert_eq!(replica.pages.keys().collect::<Vec<_>>(), [&number(AT + 8192)]);
    }

    #[test]
    fn a_buffer_may_end_with_the_address_space() {
        let (mut replica, last) = (Replica::default(), (1 << 49) - 2 * PAGE as u64);
        let mut bytes = vec![1; 2 * PAGE];
        assert_eq!(replica.update(last, &bytes, Wanted::Changes), [(last, bytes.clone())]);
        bytes[2 * PAGE - 1] = 2;
        let end = 2 * PAGE - LINE;
        assert_eq!(
            replica.update(last, &bytes, Wanted::Changes),
            [(last + end as u64, bytes[end..].to_vec())]
        );
        assert_eq!(replica.update(last, &bytes[..PAGE], Wanted::Changes).len(), 1);
        assert_eq!(replica.pages.len(), 1, "the other page is gone");
    }

    /// The result of the GPU is the reader's too; what the program wrote meanwhile is not.
    #[test]
    fn only_what_the_gpu_wrote_is_taken_from_memory() {
        let (mut replica, mut memory) = (Replica::default(), Memory::new());
        memory.announce(AT as u32, 2 * PAGE as u32, Some(&[0; 2 * PAGE]));
        replica.update(AT, &[0; 2 * PAGE], Wanted::Changes);
        assert!(memory.write(AT as u32, &[3; 8]), "by the program");
        memory.log_writes();
        assert!(memory.write(AT as u32 + 128, &[5; 8]));
        assert!(memory.write(AT as u32 + 4092, &[5; 8]));
        let written = memory.take_writes();
        let ranges = [(128, 136), (4092, 4100)];
        assert_eq!(written, ranges.map(|(start, end)| (AT + start, AT + end)));
        replica.ran(&memory, &written);
        let bytes = memory.slice(AT as u32, 2 * PAGE).unwrap().to_vec();
        assert_eq!(runs(&replica.update(AT, &bytes, Wanted::Changes)), [(0, 64)]);
        // The program sets it back to what it was before the GPU wrote it.
        assert_eq!(
            runs(&replica.update(AT, &[0; 2 * PAGE], Wanted::Changes)),
            [(0, 64), (128, 64), (4032, 128)]
        );
    }
}
