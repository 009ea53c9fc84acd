//! Fetches vertex attributes from memory to registers, 32 vertices at a time.

use multiversion::multiversion;
use multiversion::target::match_target;

#[cfg(target_arch = "x86_64")]
use crate::draw::gras::rows;
use crate::fault::{Client, Miss, Missing};
use crate::memory::Memory;
use a4emu_shader::{LANES, Lanes, Warp};

use super::indices::VertexJob;
use super::state::{Attribute, FetchState, Integers, Rate};

/// Extra cost of the fetch of an attribute for a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Number of elements read one by one, because their memory is not contiguous or is missing.
    pub apart: u64,
    /// Number of missing elements.
    pub missing: u64,
}

/// Fetches one attribute of a warp's vertices into its registers. Elements outside the attribute's bytes read
/// as zero.
pub fn fetch(
    attribute: &Attribute,
    state: &FetchState,
    jobs: &[VertexJob],
    warp: &mut Warp,
    memory: &Memory,
    missing: &mut Missing,
) -> Fetched {
    let mut fetched = Fetched::default();
    let mut offsets = [u64::MAX; LANES];
    for (offset, job) in offsets.iter_mut().zip(jobs) {
        *offset = u64::from(element(attribute, state, job)) * u64::from(attribute.stride);
    }
    let offsets = &offsets[..jobs.len().min(LANES)];
    let whole = memory.slice(attribute.address, attribute.size as usize);
    let mut values = match (whole, attribute.codec.plain_dwords()) {
        (Some(bytes), Some(1)) => dwords::<1>(attribute, bytes, offsets),
        (Some(bytes), Some(2)) => dwords::<2>(attribute, bytes, offsets),
        (Some(bytes), Some(3)) => dwords::<3>(attribute, bytes, offsets),
        (Some(bytes), Some(4)) => dwords::<4>(attribute, bytes, offsets),
        (Some(bytes), _) => decoded(attribute, offsets, |at, len| attribute.codec.load(&bytes[at..][..len])),
        (None, _) => {
            let mut noted = None;
            fetched.apart = offsets.len() as u64;
            let values = decoded(attribute, offsets, |at, len| {
                let (texel, miss) = texel(attribute, at as u32, len, memory);
                fetched.missing += u64::from(miss.is_some());
                join(&mut noted, miss, missing);
                texel
            });
            missing.extend(noted);
            values
        }
    };
    if attribute.integer == Integers::Convert && attribute.codec.is_integer() {
        for row in &mut values {
            row.iter_mut().for_each(|v| *v = attribute.codec.lane_to_float(*v).to_bits());
        }
    }
    for c in (0..4).filter(|c| attribute.write_mask & (1 << c) != 0) {
        *warp.full_mut(attribute.regid + c) = values[c as usize];
    }
    fetched
}

/// Records a miss. Merges it with the previous one if they are adjacent, as most in a warp are.
fn join(noted: &mut Option<Miss>, miss: Option<Miss>, missing: &mut Missing) {
    let Some(miss) = miss else { return };
    match noted {
        Some(before) if before.address + before.len.into() == miss.address => before.len += miss.len,
        Some(before) if *before == miss => {}
        _ => missing.extend(noted.replace(miss)),
    }
}

/// Returns the element of the attribute for a vertex.
fn element(attribute: &Attribute, state: &FetchState, job: &VertexJob) -> u32 {
    match attribute.rate {
        Rate::Vertex => job.index.wrapping_add_signed(state.index_offset),
        Rate::Instance(divisor) => (job.instance / divisor).wrapping_add(state.first_instance),
    }
}

/// Returns elements of `N` dwords without conversion.
fn dwords<const N: usize>(attribute: &Attribute, bytes: &[u8], offsets: &[u64]) -> [Lanes; 4] {
    let mut values = std::array::from_fn(|c| match c < N {
        true => Lanes::ZERO,
        false => Lanes::splat(attribute.codec.absent(c)),
    });
    if let Some(dwords) = sixteen_bytes(bytes, offsets) {
        values[..N].copy_from_slice(&dwords[..N]);
        return values;
    }
    for (lane, &offset) in offsets.iter().enumerate() {
        let element = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)?.get(..4 * N));
        let Some(element) = element else { continue };
        for (value, dword) in values.iter_mut().zip(element.as_chunks().0) {
            value[lane] = u32::from_le_bytes(*dword);
        }
    }
    values
}

/// Reads four dwords of each vertex with one vector load, if 16 bytes exist at all `offsets` of a full warp
/// and the processor has AVX-512.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn sixteen_bytes(bytes: &[u8], offsets: &[u64]) -> Option<[Lanes; 4]> {
    match_target! {
        "x86_64+avx512f" => rows::dwords(bytes, offsets.try_into().ok()?),
        _ => {
            let _ = (bytes, offsets);
            None
        }
    }
}

/// Decodes elements of any format. `load` returns the texel at a valid offset.
fn decoded(attribute: &Attribute, offsets: &[u64], mut load: impl FnMut(usize, usize) -> u128) -> [Lanes; 4] {
    let mut values = [Lanes::ZERO; 4];
    let len = attribute.codec.bytes();
    for (lane, &offset) in offsets.iter().enumerate() {
        let inside = offset.saturating_add(len.into()) <= attribute.size.into();
        let texel = if inside { load(offset as usize, len as usize) } else { 0 };
        let components = attribute.codec.decode(texel);
        values.iter_mut().zip(components).for_each(|(value, component)| value[lane] = component);
    }
    values
}

/// Reads a texel of an attribute with missing parts. Also returns the miss, if it is missing.
fn texel(attribute: &Attribute, offset: u32, len: usize, memory: &Memory) -> (u128, Option<Miss>) {
    let mut bytes = [0; 16];
    let address = memory.behind(attribute.address, offset.into());
    let is_there = memory.read(address, &mut bytes[..len]);
    let miss = Miss { client: Client::Vertex, address, len: len as u32 };
    (attribute.codec.load(&bytes[..len]), (!is_there).then_some(miss))
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::adreno::address::Address;

    use super::*;
    use a4emu_shader::format::{Format, Layout, Swap, Transfer, Type};

    const R32_FLOAT: Format = Format { layout: Layout::array(1, 32), ty: Type::Float };
    const RGB32_FLOAT: Format = Format { layout: Layout::array(3, 32), ty: Type::Float };
    const RG32_UINT: Format = Format { layout: Layout::array(2, 32), ty: Type::Uint };
    const RGBA8: Format = Format { layout: Layout::array(4, 8), ty: Type::Unorm };
    const R32_FIXED: Format = Format { layout: Layout::array(1, 32), ty: Type::Fixed };
    const RG16_FLOAT: Format = Format { layout: Layout::array(2, 16), ty: Type::Float };

    fn attribute(format: Format, size: u32) -> Attribute {
        let codec = format.codec(Swap::WZYX, Transfer::Linear);
        Attribute {
            address: Address::new(0x1000),
            size,
            stride: 12,
            rate: Rate::Vertex,
            codec: codec.expect("a vertex format"),
            integer: Integers::Keep,
            regid: 0,
            write_mask: 0xf,
        }
    }

    #[test]
    fn plain_dwords_are_what_the_codec_decodes() {
        let bytes: Vec<u8> = (0..64u8).map(|i| i.wrapping_mul(73)).collect();
        let offsets = [0, 12, 5, 48, 52, 60, u64::MAX];
        for format in [R32_FLOAT, RGB32_FLOAT, RG32_UINT] {
            let attribute = attribute(format, 64);
            let got = match attribute.codec.plain_dwords() {
                Some(1) => dwords::<1>(&attribute, &bytes, &offsets),
                Some(2) => dwords::<2>(&attribute, &bytes, &offsets),
                other => {
                    assert_eq!(other, Some(3));
                    dwords::<3>(&attribute, &bytes, &offsets)
                }
            };
            for (lane, &offset) in offsets.iter().enumerate() {
                let len = attribute.codec.bytes() as usize;
                let inside = bytes.get(offset as usize..).and_then(|rest| rest.get(..len));
                let want = attribute.codec.decode(inside.map_or(0, |texel| attribute.codec.load(texel)));
                assert_eq!(got.map(|row| row[lane]), want, "{format:?} at {offset}");
            }
        }
    }

    #[test]
    fn formats_that_are_converted_are_not_plain() {
        for format in [RGBA8, R32_FIXED, RG16_FLOAT] {
            assert_eq!(attribute(format, 64).codec.plain_dwords(), None, "{format:?}");
        }
    }

    /// Tests a full warp, with and without 16 bytes at the last element.
    #[test]
    fn elements_of_a_whole_warp_are_those_of_each_vertex() {
        let bytes: Vec<u8> = (0..500u32).map(|i| (i * i % 251) as u8).collect();
        let attribute = attribute(RGB32_FLOAT, 500);
        for last in [484, 485, 488, 489, u64::MAX] {
            let offsets: [u64; LANES] = std::array::from_fn(|lane| match lane {
                21 => last,
                _ => (lane as u64 * 37) % 480,
            });
            let all = dwords::<3>(&attribute, &bytes, &offsets);
            for (lane, offset) in offsets.iter().enumerate() {
                let one = dwords::<3>(&attribute, &bytes, &[*offset]);
                assert_eq!(all.map(|row| row[lane]), one.map(|row| row[0]), "lane {lane}, {last}");
            }
        }
    }
}
