//! Loads of a warp from one buffer of global memory, or from the inputs of primitives.

use std::ops::Range;

use multiversion::multiversion;

use super::memory::InputParts;
use crate::limits::FOUND_BUFFERS;
use crate::memory::{Address, Memory};
use a4emu_shader::{LANES, Lanes, Mask, MemoryAccess, Width};

/// The buffers that loads found last: base and end of each. A shader neither maps memory nor removes it.
/// The newest is the first.
#[derive(Default)]
pub struct FoundBuffers(Vec<Range<u64>>);

impl FoundBuffers {
    /// The buffer of `memory` that holds `address`: its base and its bytes.
    #[inline]
    pub fn at<'a>(&mut self, memory: &'a Memory, address: u64) -> Option<(u64, &'a [u8])> {
        match self.0.iter().find(|buffer| buffer.contains(&address)) {
            Some(buffer) => Some((buffer.start, memory.buffer_at_base(buffer.start)?)),
            None => self.find(memory, address),
        }
    }

    fn find<'a>(&mut self, memory: &'a Memory, address: u64) -> Option<(u64, &'a [u8])> {
        let (base, bytes) = memory.buffer_bytes(Address::new(address))?;
        self.0.insert(0, base..base + bytes.len() as u64);
        self.0.truncate(FOUND_BUFFERS);
        Some((base, bytes))
    }
}

/// How the addresses of a load's lanes follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// Not all of them inside the buffer.
    Outside,
    /// All at one place.
    Together,
    /// One behind the other.
    InOrder,
    /// In any other way.
    Apart,
}

/// Runs a load for the lanes of `mask` from the buffer at `base`. Returns false, and does nothing, if it does not hold all that
/// they read. Other lanes of `out` are overwritten.
pub fn load(
    (base, bytes): (u64, &[u8]),
    request: &MemoryAccess<&Lanes>,
    mask: Mask,
    out: &mut [Lanes],
) -> bool {
    let size = request.width.bytes() as usize * out.len();
    let Some(last) = bytes.len().checked_sub(size) else { return false };
    let mut at = [0; LANES];
    let pattern = offsets(request, base, last as u64, mask, size as u32, &mut at);
    if pattern == Pattern::Outside {
        return false;
    }
    match request.width {
        Width::Word => gather(bytes, (&at, pattern), out, |word: &[u8; 4]| u32::from_le_bytes(*word)),
        Width::Half => gather(bytes, (&at, pattern), out, |half: &[u8; 2]| u16::from_le_bytes(*half).into()),
        Width::Byte => gather(bytes, (&at, pattern), out, |byte: &[u8; 1]| byte[0].into()),
    }
    true
}

/// Runs a load of words for the lanes of `mask` from `inputs`, of which each lane has a part. Returns false, and does nothing,
/// if a lane reads beyond its part. Other lanes of `out` are overwritten.
pub fn load_inputs(
    inputs: &[u8],
    parts: Option<InputParts>,
    request: &MemoryAccess<&Lanes>,
    mask: Mask,
    out: &mut [Lanes],
) -> bool {
    let size = 4 * out.len();
    let InputParts { lanes, bytes } = parts.unwrap_or(InputParts { lanes: LANES, bytes: inputs.len() });
    let Some(last) = bytes.min(inputs.len()).checked_sub(size) else { return false };
    let mut at = [0; LANES];
    if offsets(request, 0, last as u64, mask, size as u32, &mut at) == Pattern::Outside {
        return false;
    }
    for (part, first) in (0..LANES).step_by(lanes).enumerate() {
        for (lane, at) in (first..).zip(at.iter_mut().skip(first).take(lanes)) {
            *at = if mask >> lane & 1 != 0 { *at + (part * bytes) as u32 } else { 0 };
        }
    }
    let end = inputs.len() - size;
    at.iter().all(|at| *at as usize <= end) && {
        gather(inputs, (&at, Pattern::Apart), out, |word: &[u8; 4]| u32::from_le_bytes(*word));
        true
    }
}

/// Computes the offset of each lane from `base`, of which none may exceed `last`. A lane that takes no part has that of the
/// first bytes. `size` is that of a lane's vector in bytes.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn offsets(
    request: &MemoryAccess<&Lanes>,
    base: u64,
    last: u64,
    mask: Mask,
    size: u32,
    at: &mut [u32; LANES],
) -> Pattern {
    let mut furthest = 0;
    let mut put = |lane: usize, address: u64| {
        let offset = if mask >> lane & 1 != 0 { address.wrapping_sub(base) } else { 0 };
        furthest = offset.max(furthest);
        at[lane] = offset as u32;
    };
    (0..LANES).for_each(|lane| put(lane, request.address(lane)));
    if furthest > last {
        return Pattern::Outside;
    }
    let (mut together, mut in_order) = (true, true);
    for (lane, offset) in (0..).zip(at.iter()) {
        let distance = offset.wrapping_sub(at[0]);
        together &= distance == 0;
        in_order &= distance == lane * size;
    }
    match (together, in_order) {
        (true, _) => Pattern::Together,
        (_, true) => Pattern::InOrder,
        _ => Pattern::Apart,
    }
}

/// Loads a vector of values of `W` bytes for each lane, at the offsets `at` of `bytes`. All of them lie inside.
fn gather<const W: usize>(
    bytes: &[u8],
    at: (&[u32; LANES], Pattern),
    out: &mut [Lanes],
    value: impl Fn(&[u8; W]) -> u32,
) {
    match out {
        [x] => gather_rows(bytes, at, [x], value),
        [x, y] => gather_rows(bytes, at, [x, y], value),
        [x, y, z] => gather_rows(bytes, at, [x, y, z], value),
        [x, y, z, w, ..] => gather_rows(bytes, at, [x, y, z, w], value),
        [] => {}
    }
}

/// Loads vectors of `N` values to their rows.
fn gather_rows<const W: usize, const N: usize>(
    bytes: &[u8],
    (at, pattern): (&[u32; LANES], Pattern),
    mut rows: [&mut Lanes; N],
    value: impl Fn(&[u8; W]) -> u32,
) {
    let start = &bytes[at[0] as usize..];
    let vector = |bytes: &[u8]| -> [u32; N] { std::array::from_fn(|n| value(&bytes.as_chunks().0[n])) };
    let mut put = |lane: usize, values: [u32; N]| (0..N).for_each(|n| rows[n][lane] = values[n]);
    match pattern {
        Pattern::Outside => {}
        Pattern::Together => {
            rows.iter_mut().zip(vector(&start[..W * N])).for_each(|(row, value)| row.fill(value));
        }
        Pattern::InOrder => {
            let all = start[..W * N * LANES].chunks_exact(W * N);
            all.enumerate().for_each(|(lane, bytes)| put(lane, vector(bytes)));
        }
        Pattern::Apart => {
            for (lane, at) in at.iter().enumerate() {
                put(lane, vector(&bytes[*at as usize..][..W * N]));
            }
        }
    }
}
