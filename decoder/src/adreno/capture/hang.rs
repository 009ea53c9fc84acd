//! What a kernel dump (devcoredump) says besides the contents of buffers, in sections of our own.
//!
//! A dump becomes a capture ([`Sections`](super::Sections)). Where the GPU stood, and the registers, have no
//! section of the `.rd` format. So a4emu gives them ids far above those of Mesa, which other tools skip.

use nom::multi::count;
use nom::number::complete::le_u32;
use nom::{IResult, Parser};

/// The place of the command processor in an indirect buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IbPlace {
    /// Address of the buffer (CP_IB1_BASE or CP_IB2_BASE).
    pub base: u64,
    /// Dwords of the buffer that were not read yet (CP_IB1_BUFSZ or CP_IB2_BUFSZ; of an A6xx CP_IB1_REM_SIZE or CP_IB2_REM_SIZE).
    pub left: u32,
}

/// Where the GPU stood when the kernel made the dump.
///
/// The command processor reads ahead. So the packet that it read last may be later in the stream than the one
/// that it waits for. Source of the registers' meaning: the vendor's kgsl, which compares CP_IB1_BASE with the
/// addresses of calls in the ring, and Mesa's crashdec, which counts BUFSZ from the end of a buffer. Guess: that
/// BUFSZ of an A4xx counts dwords as on later chips. A dump of a board would settle it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hang {
    /// Fence of the last submit in the ring.
    pub last_fence: u32,
    /// Fence of the last submit that has ended.
    pub retired_fence: u32,
    /// Dword of the ring that is read next.
    pub rptr: u32,
    /// Dword of the ring that is written next.
    pub wptr: u32,
    /// RBBM_STATUS.
    pub rbbm_status: u32,
    /// Address of the dword in the ring at which the GPU stood: the call of the indirect buffer, or the last
    /// dword that was read. 0 if it is not in the submitted part.
    pub ring_at: u64,
    /// The buffer that the ring calls. Its base is 0 if the dump does not say.
    pub ib1: IbPlace,
    /// The buffer that the first one calls.
    pub ib2: IbPlace,
}

/// Number of dwords of a [`Hang`] in its section.
const DWORDS: usize = 13;

impl Hang {
    /// Number of calls around the packet at which the GPU stood: 0 in the ring. A buffer that was read to its
    /// end has returned.
    pub fn depth(&self) -> u32 {
        match (self.ib1, self.ib2) {
            (_, ib2) if ib2.base != 0 && ib2.left > 0 => 2,
            (ib1, _) if ib1.base != 0 && ib1.left > 0 => 1,
            _ => 0,
        }
    }

    /// The place in the buffer at this number of calls.
    pub fn ib(&self, depth: u32) -> Option<IbPlace> {
        match depth {
            1 => Some(self.ib1),
            2 => Some(self.ib2),
            _ => None,
        }
    }

    /// The payload of its section.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { last_fence, retired_fence, rptr, wptr, rbbm_status, ring_at, ib1, ib2 } = *self;
        let wide = |address: u64| [address as u32, (address >> 32) as u32];
        let ib = |ib: IbPlace| [&wide(ib.base)[..], &[ib.left]].concat();
        let state = [last_fence, retired_fence, rptr, wptr, rbbm_status];
        let dwords = [&state[..], &wide(ring_at), &ib(ib1), &ib(ib2)].concat();
        dwords.into_iter().flat_map(u32::to_le_bytes).collect()
    }
}

/// Parses the payload of a hang section.
pub(super) fn hang(input: &[u8]) -> IResult<&[u8], Hang> {
    let (rest, dwords) = count(le_u32, DWORDS).parse(input)?;
    let at = |index: usize| dwords.get(index).copied().unwrap_or_default();
    let wide = |low| u64::from(at(low)) | u64::from(at(low + 1)) << 32;
    let ib = |first| IbPlace { base: wide(first), left: at(first + 2) };
    let hang = Hang {
        last_fence: at(0),
        retired_fence: at(1),
        rptr: at(2),
        wptr: at(3),
        rbbm_status: at(4),
        ring_at: wide(5),
        ib1: ib(7),
        ib2: ib(10),
    };
    Ok((rest, hang))
}

/// The registers of a dump: dword offsets and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers<'a>(pub(super) &'a [u8]);

impl Registers<'_> {
    /// Dword offset and value of each register, in the order of the dump.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let pairs = self.0.as_chunks::<8>().0.iter();
        pairs.map(|&[a, b, c, d, e, f, g, h]| {
            (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hang_is_read_as_it_was_written() {
        let dwords = |first: u32| IbPlace { base: u64::from(first) << 40 | 1, left: first + 1 };
        let whole = Hang {
            last_fence: 1,
            retired_fence: 2,
            rptr: 3,
            wptr: 4,
            rbbm_status: 5,
            ring_at: 6 << 32 | 5,
            ib1: dwords(7),
            ib2: dwords(9),
        };
        assert_eq!(hang(&whole.to_bytes()), Ok((&[][..], whole)));
        assert!(hang(&whole.to_bytes()[..51]).is_err());
        let depth = |first, second| Hang { ib1: first, ib2: second, ..whole }.depth();
        let (none, read) = (IbPlace::default(), IbPlace { base: 1, left: 0 });
        assert_eq!([depth(none, none), depth(read, read), depth(dwords(7), read)], [0, 0, 1]);
        assert_eq!(depth(read, dwords(9)), 2, "the call was the last packet");
    }
}
