//! The memory of one submit group, as the capture holds it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use a4emu_decoder::capture::AddressRecord;

/// How many overlapping buffers a look-up tries. Well-formed captures have none.
const OVERLAPS: usize = 64;

const DWORD: u64 = 4;

/// One captured or announced buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// GPU address.
    pub address: u64,
    /// Announced bytes.
    pub bytes: u64,
    /// Bytes whose contents the capture holds.
    pub captured: u64,
}

/// Buffers by address. Contents are those before execution.
#[derive(Debug, Default)]
pub struct Buffers {
    announced: BTreeMap<u64, u64>,
    contents: BTreeMap<u64, Vec<u8>>,
}

impl Buffers {
    /// Takes note of a buffer whose contents may follow.
    pub fn announce(&mut self, record: AddressRecord) {
        self.announced.insert(record.address, u64::from(record.length));
        self.contents.remove(&record.address);
    }

    /// Stores the contents of the buffer announced as `record`, cut to its length.
    pub fn fill(&mut self, record: AddressRecord, mut bytes: Vec<u8>) {
        bytes.truncate(record.length as usize);
        self.contents.insert(record.address, bytes);
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.announced.clear();
        self.contents.clear();
    }

    /// Bytes of contents held.
    pub fn captured_bytes(&self) -> u64 {
        self.contents.values().map(|bytes| bytes.len() as u64).sum()
    }

    /// The buffers, by address.
    pub fn extents(&self) -> impl Iterator<Item = Extent> {
        self.announced.iter().map(|(&address, &bytes)| {
            let captured = self.contents.get(&address).map_or(0, |contents| contents.len() as u64);
            Extent { address, bytes, captured }
        })
    }

    /// The captured bytes from `address` to the end of the buffer that holds it.
    fn tail(&self, address: u64) -> Option<&[u8]> {
        let below = self.contents.range(..=address).rev().take(OVERLAPS);
        below
            .filter_map(|(start, bytes)| bytes.get((address - start) as usize..))
            .find(|tail| !tail.is_empty() && address != 0)
    }

    /// Up to `count` dwords from `address` on, fewer where the capture ends. Runs
    /// on into buffers that follow without a gap: drivers split long streams.
    pub fn dwords(&self, address: u64, count: u32) -> Cow<'_, [u32]> {
        let wanted = (u64::from(count) * DWORD) as usize;
        let Some(tail) = self.tail(address) else { return Cow::Borrowed(&[]) };
        let first = &tail[..tail.len().min(wanted)];
        if first.len() == wanted {
            return whole_dwords(first);
        }
        let mut bytes = first.to_vec();
        while let Some(tail) = self.tail(address + bytes.len() as u64).filter(|_| bytes.len() < wanted) {
            bytes.extend_from_slice(&tail[..tail.len().min(wanted - bytes.len())]);
        }
        Cow::Owned(whole_dwords(&bytes).into_owned())
    }
}

/// The whole dwords of `bytes`, borrowed where alignment allows.
fn whole_dwords(bytes: &[u8]) -> Cow<'_, [u32]> {
    let bytes = &bytes[..bytes.len() & !3];
    match bytemuck::try_cast_slice(bytes) {
        Ok(dwords) => Cow::Borrowed(dwords),
        Err(_) => Cow::Owned(bytes.as_chunks().0.iter().map(|&dword| u32::from_le_bytes(dword)).collect()),
    }
}
