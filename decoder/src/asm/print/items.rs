//! Splits a capture into items. Every byte belongs to one item.

use nom::number::complete::le_u32;
use nom::{IResult, Parser};

use super::super::{NARROW_RECORD, WIDE_RECORD};
use crate::adreno::capture::SectionId;

/// An announced buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dump<'a> {
    pub(super) address: u64,
    pub(super) size: u32,
    /// The contents, if they follow and have the announced size.
    pub(super) contents: Option<&'a [u8]>,
    /// Bytes of the address record.
    pub(super) form: usize,
}

/// A piece of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'a> {
    Markers(usize),
    Dump(Dump<'a>),
    Submit {
        address: u64,
        dwords: u32,
        form: usize,
    },
    Section(u32, &'a [u8]),
    /// The bytes from a cut-off or corrupt section on.
    Raw(&'a [u8]),
}

const MARKER: [u8; 8] = [0xff; 8];

/// Parses a whole section: id and payload.
fn section(input: &[u8]) -> IResult<&[u8], (u32, &[u8])> {
    let (rest, (id, size)) = (le_u32, le_u32).parse(input)?;
    nom::bytes::complete::take(size)(rest).map(|(rest, payload)| (rest, (id, payload)))
}

fn record(payload: &[u8]) -> Option<(u64, u32)> {
    let words: Vec<u32> = payload.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    match (payload.len(), words.as_slice()) {
        (NARROW_RECORD, &[low, length]) => Some((low.into(), length)),
        (WIDE_RECORD, &[low, length, high]) => Some((u64::from(high) << 32 | u64::from(low), length)),
        _ => None,
    }
}

/// An iterator over the items of a capture, in file order.
pub(super) fn items(capture: &[u8]) -> Items<'_> {
    Items { rest: capture }
}

/// The iterator that [`items`] returns.
pub(super) struct Items<'a> {
    rest: &'a [u8],
}

impl<'a> Items<'a> {
    /// Limits the iterator: it ends at the first item for which `may`, called with the item's bytes, returns
    /// false.
    pub(super) fn allowed<'m>(self, may: &'m mut dyn FnMut(usize) -> bool) -> Allowed<'a, 'm> {
        Allowed { items: self, may }
    }
}

/// The iterator that [`Items::allowed`] returns.
pub(super) struct Allowed<'a, 'm> {
    items: Items<'a>,
    may: &'m mut dyn FnMut(usize) -> bool,
}

impl Allowed<'_, '_> {
    /// Number of bytes that are not yet taken.
    pub(super) fn left(&self) -> usize {
        self.items.rest.len()
    }
}

impl<'a> Iterator for Allowed<'a, '_> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        let before = self.items.rest;
        let item = self.items.next()?;
        let allowed = (self.may)(before.len() - self.items.rest.len());
        if !allowed {
            self.items.rest = before;
        }
        allowed.then_some(item)
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (after, item) = next(self.rest);
        self.rest = after;
        Some(item)
    }
}

fn next(input: &[u8]) -> (&[u8], Item<'_>) {
    let markers = input.as_chunks().0.iter().take_while(|&&chunk| chunk == MARKER).count();
    if markers > 0 {
        return (&input[markers * MARKER.len()..], Item::Markers(markers));
    }
    let Ok((rest, (id, payload))) = section(input) else { return (&[], Item::Raw(input)) };
    match (SectionId::from_bits(id), record(payload)) {
        (SectionId::GPUADDR, Some((address, size))) => {
            let (rest, contents) = match section(rest) {
                Ok((rest, (id, contents))) if is_contents(id) && contents.len() == size as usize => {
                    (rest, Some(contents))
                }
                _ => (rest, None),
            };
            (rest, Item::Dump(Dump { address, size, contents, form: payload.len() }))
        }
        (SectionId::CMDSTREAM_ADDR, Some((address, dwords))) => {
            (rest, Item::Submit { address, dwords, form: payload.len() })
        }
        _ => (rest, Item::Section(id, payload)),
    }
}

fn is_contents(id: u32) -> bool {
    id == SectionId::BUFFER_CONTENTS.to_bits()
}
