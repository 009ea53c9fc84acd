//! Mutates the bytes of captures: words change, and sections are lost, doubled, cut or moved.

use std::ops::Range;

use super::choices::Choices;

/// Largest number of words or sections that one mutant changes.
const CHANGES: usize = 6;

/// A raw `capture` with some changes.
pub fn mutant(capture: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let mut bytes = capture.to_vec();
    for _ in 0..1 + choices.below(CHANGES) {
        match choices.below(8) {
            0 => section(&mut bytes, choices),
            1 => bytes.truncate(bytes.len() - choices.below(bytes.len() / 4)),
            _ => word(&mut bytes, choices),
        }
    }
    bytes
}

/// Changes a word that is not zero, because zeros rarely matter.
fn word(bytes: &mut [u8], choices: &mut Choices<'_>) {
    let start = choices.below(bytes.len() / 4);
    let words = (start..bytes.len() / 4).chain(0..start);
    let meant = words.map(|i| 4 * i).find(|at| bytes[*at..*at + 4] != [0; 4]);
    let Some(word) = meant.and_then(|at| bytes[at..].first_chunk_mut::<4>()) else { return };
    *word = choices.near(u32::from_le_bytes(*word)).to_le_bytes();
}

/// Ranges of the sections: a header of two words, then the payload.
fn sections(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(size) = bytes.get(at + 4..).and_then(|rest| rest.first_chunk::<4>()) {
        let end = at + 8 + u32::from_le_bytes(*size) as usize;
        if end > bytes.len() {
            break;
        }
        all.push(at..end);
        at = end;
    }
    all
}

/// Removes, doubles or moves a section, or changes its header.
fn section(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let all = sections(bytes);
    let (Some(chosen), Some(other)) = (choices.of(&all).cloned(), choices.of(&all).cloned()) else { return };
    let header = chosen.start + 4 * choices.below(2);
    match choices.below(4) {
        0 => drop(bytes.drain(chosen)),
        1 => {
            let copy = bytes[chosen].to_vec();
            drop(bytes.splice(other.start..other.start, copy));
        }
        2 => bytes[chosen.start..other.end.max(chosen.start)].reverse(),
        _ => {
            let old = u32::from_le_bytes(std::array::from_fn(|i| bytes[header + i]));
            bytes[header..header + 4].copy_from_slice(&choices.near(old).to_le_bytes());
        }
    }
}
