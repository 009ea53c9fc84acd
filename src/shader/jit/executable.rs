//! The wall: executable memory and the calls into it, and gather reads. It is the only unsafe code of the
//! emulator outside the device.
//!
//! Invariants, and where they are checked:
//!
//! - Pages are written first, and executable later; they are never both. They are unmapped when the last
//!   [`Code`] of them is dropped. Calls into them need a [`Code`].
//! - A page without access rights follows the code, so that control that runs past the end of the code
//!   faults.
//! - Emitted code is a leaf function: it neither calls nor uses the stack. It writes only rows and frame. It
//!   reads only these, the pool and the textures, within the [`Extent`] that the emitter measured.
//!   [`Code::call`] refuses shorter slices. It changes only caller-saved registers of its ABI.
//! - Code reads dwords of a texture, after lowering their numbers to that of the last one. For pairs, it
//!   lowers them to the last but one. Only `Assembler::gather` and `gather_pairs` emit such loads. Both
//!   limits are in [`Texels`], which only this module constructs, from memory that is borrowed for the same
//!   lifetime.
//! - [`prefetch`] only hints at valid memory.
//! - [`Dwords`] reads at 8 or 16 positions at once, each lowered to the last one in the slice.
#![allow(unsafe_code, reason = "the wall: see its documentation")]
use std::arch::x86_64::{
    __cpuid, __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_castsi512_si256, _mm512_extracti64x4_epi64,
    _mm512_i32gather_epi32, _mm512_i32gather_epi64, _mm512_min_epu32, _mm512_permutex2var_epi32,
    _mm512_set1_epi32, _mm512_setr_epi32,
};
use std::ffi::c_void;
use std::io;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::LazyLock;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

use super::super::lanes::{Lanes, Mask};
use super::super::reading::TexelExtent;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Bytes of a page. Code is rounded up to whole pages.
const PAGE: usize = 4096;

/// Memory for gathers of 16 dwords.
#[derive(Clone, Copy)]
pub struct Dwords<'a> {
    bytes: &'a [u8],
    /// Number of the last dword. There are at least two.
    last: u32,
    /// Whether two adjacent dwords are read as one, if both are needed.
    gather_pairs: bool,
}

/// Whether the processor is from AMD. These execute the loads of a gather one by one, at any width (Zen 5: 16
/// pairs take 3.7 ns, twice 16 dwords 6.4). On Intel (Sapphire Rapids) pairs take longer.
pub(super) static SEQUENTIAL_GATHER: LazyLock<bool> = LazyLock::new(|| {
    let vendor = __cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD"
});

impl<'a> Dwords<'a> {
    /// The dwords of `bytes`. `None` if there are fewer than two, or more than the instruction can index.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let last = (bytes.len() / 4).checked_sub(1)?;
        let gather_pairs = *SEQUENTIAL_GATHER;
        (1..=i32::MAX as usize / 4).contains(&last).then_some(Self { bytes, last: last as u32, gather_pairs })
    }

    /// The dwords with these numbers. Numbers past the last dword read the last one.
    ///
    /// # Safety
    /// The processor has AVX-512F.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn at(&self, numbers: __m512i) -> __m512i {
        let numbers = _mm512_min_epu32(numbers, _mm512_set1_epi32(self.last as i32));
        // SAFETY: the 4 bytes at 4 * number are in `bytes` for all numbers up to `last`, and no number is
        // higher. None is negative for the instruction, which takes signed indices.
        unsafe { _mm512_i32gather_epi32::<4>(numbers, self.bytes.as_ptr().cast()) }
    }

    /// The dwords after those with these numbers, at most the last one.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn behind(&self, numbers: __m512i) -> __m512i {
        let numbers = _mm512_min_epu32(numbers, _mm512_set1_epi32(self.last as i32 - 1));
        // SAFETY: as above. The base is one dword further, and no number is higher than that of the last
        // dword but one.
        unsafe { _mm512_i32gather_epi32::<4>(numbers, self.bytes.as_ptr().add(4).cast()) }
    }

    /// The dwords with these numbers, and those after them. No number may be that of the last dword.
    ///
    /// # Safety
    /// The processor has AVX-512F.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn pairs(&self, numbers: __m512i) -> [__m512i; 2] {
        if !self.gather_pairs {
            return [self.at(numbers), self.behind(numbers)];
        }
        let numbers = _mm512_min_epu32(numbers, _mm512_set1_epi32(self.last as i32 - 1));
        let [low, high] = [_mm512_castsi512_si256(numbers), _mm512_extracti64x4_epi64::<1>(numbers)];
        let first = self.bytes.as_ptr().cast();
        // SAFETY: as above. The 8 bytes at 4 * number end with the next dword, which exists.
        let [low, high] =
            unsafe { [_mm512_i32gather_epi64::<4>(low, first), _mm512_i32gather_epi64::<4>(high, first)] };
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        [_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high)]
    }
}

/// Lanes of the widest register that has no broadcast operands (AVX2).
const SPREAD: usize = 8;

/// A level of a texture of dwords. Emitted code reads its fields ([`Field`]).
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Texels<'a> {
    /// The fields, each for several lanes.
    fields: [[u32; SPREAD]; Field::COUNT],
    /// Address of the first dword.
    first: *const u8,
    lent: PhantomData<&'a [u8]>,
}

// SAFETY: the memory is only read, and is borrowed like a slice of bytes, which all threads may share.
unsafe impl Send for Texels<'_> {}
// SAFETY: as above.
unsafe impl Sync for Texels<'_> {}

/// A field of [`Texels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// [`TexelExtent::units`] of an axis.
    Units(usize),
    /// [`TexelExtent::size`] of an axis.
    Size(usize),
    /// [`TexelExtent::but_one`] of an axis.
    SizeMinusOne(usize),
    /// [`TexelExtent::offset`].
    Offset,
    /// [`TexelExtent::pitch`].
    Pitch,
    /// Number of the last dword.
    Last,
    /// Number of the last dword but one.
    LastPair,
}

impl Field {
    const COUNT: usize = 10;

    /// Its byte offset in [`Texels`].
    pub fn offset(self) -> usize {
        let index = match self {
            Self::Units(axis) => axis,
            Self::Size(axis) => 2 + axis,
            Self::SizeMinusOne(axis) => 4 + axis,
            Self::Offset => 6,
            Self::Pitch => 7,
            Self::Last => 8,
            Self::LastPair => 9,
        };
        offset_of!(Texels<'_>, fields) + index * size_of::<[u32; SPREAD]>()
    }
}

impl<'a> Texels<'a> {
    /// Byte offset of the address of the first dword.
    pub const ADDRESS: usize = offset_of!(Self, first);

    /// A texture level in `dwords`, with this extent.
    pub fn new(dwords: Dwords<'a>, extent: TexelExtent) -> Self {
        let Dwords { bytes, last, .. } = dwords;
        let TexelExtent { units: [u, v], size: [width, height], but_one: [right, bottom], offset, pitch } =
            extent;
        let (u, v) = (u.to_bits(), v.to_bits());
        let fields = [u, v, width, height, right, bottom, offset, pitch, last, last - 1];
        Self { fields: fields.map(|field| [field; SPREAD]), first: bytes.as_ptr(), lent: PhantomData }
    }
}

/// Prefetches `items`, which are read soon, into the caches.
#[inline]
pub fn prefetch<T>(items: &[T]) {
    for line in (0..size_of_val(items)).step_by(CACHE_LINE) {
        // SAFETY: a hint, which only affects the caches. The address is in `items`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().cast::<i8>().add(line)) };
    }
}

/// Number of entries of each slice that emitted code accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Rows of the warp.
    pub rows: usize,
    /// Constants of the code.
    pub pool: usize,
    /// Rows of the frame: planes from the environment, and spilled values.
    pub frame: usize,
    /// Textures.
    pub textures: usize,
}

/// Signature of emitted code: rows, pool, frame, executing lanes, textures.
type Entry = unsafe extern "sysv64" fn(*mut Lanes, *const Lanes, *mut Lanes, Mask, *const Texels<'_>);

/// Executable machine code.
pub struct Code {
    pages: NonNull<c_void>,
    /// Length in bytes. A guard page follows.
    len: usize,
    extent: Extent,
}

// SAFETY: the pages are never written after `new`, and unmapped only when the value is dropped.
unsafe impl Send for Code {}
// SAFETY: as above; running code does not change it.
unsafe impl Sync for Code {}

impl Code {
    /// Makes `bytes` executable. The code must access no more than `extent`.
    ///
    /// # Errors
    /// The system gives no memory, or none that can be executable.
    pub fn new(bytes: &[u8], extent: Extent) -> io::Result<Self> {
        let len = bytes.len().next_multiple_of(PAGE);
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new anonymous mapping at an address of the system's choice overlaps nothing.
        let address = unsafe { mmap_anonymous(null_mut(), len + PAGE, access, MapFlags::PRIVATE)? };
        let pages = NonNull::new(address).ok_or(io::ErrorKind::OutOfMemory)?;
        let code = Self { pages, len, extent };
        // SAFETY: `len` bytes from `pages` on are ours alone, writable, and not yet executable.
        unsafe { slice::from_raw_parts_mut(address.cast::<u8>(), bytes.len()) }.copy_from_slice(bytes);
        // SAFETY: both ranges are whole pages of our mapping, and no reference into them remains.
        unsafe {
            mprotect(address, len, MprotectFlags::READ | MprotectFlags::EXEC)?;
            mprotect(address.byte_add(len), PAGE, MprotectFlags::empty())?;
        }
        Ok(code)
    }

    /// Runs the code.
    ///
    /// # Panics
    /// A slice is shorter than the code's extent.
    pub fn call(
        &self,
        rows: &mut [Lanes],
        pool: &[Lanes],
        frame: &mut [Lanes],
        mask: Mask,
        textures: &[Texels<'_>],
    ) {
        let Extent { rows: of_rows, pool: of_pool, frame: of_frame, textures: of_textures } = self.extent;
        assert!(rows.len() >= of_rows && pool.len() >= of_pool && frame.len() >= of_frame);
        assert!(textures.len() >= of_textures);
        // SAFETY: the pages hold a whole function of this ABI, which the emitter made. It accesses no more of
        // the slices than was just checked, and of texture memory only up to the last dword.
        unsafe {
            let entry = std::mem::transmute::<*mut c_void, Entry>(self.pages.as_ptr());
            entry(rows.as_mut_ptr(), pool.as_ptr(), frame.as_mut_ptr(), mask, textures.as_ptr());
        }
    }

    /// Its address and length in bytes, for profilers.
    pub fn place(&self) -> (usize, usize) {
        (self.pages.as_ptr().addr(), self.len)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and whole, and no call into it is possible any more. On failure it
        // stays mapped.
        let _ = unsafe { munmap(self.pages.as_ptr(), self.len + PAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dwords_are_read_within_their_bytes() {
        if !is_x86_feature_detected!("avx512f") {
            return;
        }
        #[target_feature(enable = "avx512f")]
        fn all(dwords: Dwords<'_>, numbers: [u32; 16]) -> [[u32; 16]; 4] {
            let numbers = bytemuck::cast(numbers);
            let [first, second] = dwords.pairs(numbers);
            [dwords.at(numbers), dwords.behind(numbers), first, second].map(bytemuck::cast)
        }
        // Extra bytes at its end that make no dword, and further words after it.
        let words: Vec<u32> = (0..40).map(|number| 100 + number).collect();
        let bytes = &bytemuck::cast_slice::<u32, u8>(&words)[..4 * 30 + 3];
        let dwords = Dwords::new(bytes).expect("two of them");
        let numbers = [0, 1, 17, 28, 29, 30, 31, 1000, 1 << 29, 1 << 30, 1 << 31, u32::MAX, 2, 3, 4, 5];
        for gather_pairs in [false, true] {
            // SAFETY: the processor has AVX-512.
            let [at, behind, first, second] = unsafe { all(Dwords { gather_pairs, ..dwords }, numbers) };
            assert_eq!(at, numbers.map(|number| 100 + number.min(29)));
            assert_eq!(behind, numbers.map(|number| 101 + number.min(28)));
            let beyond = if gather_pairs { 28 } else { 29 };
            assert_eq!(first, numbers.map(|number| 100 + number.min(beyond)));
            assert_eq!(second, behind);
        }
        assert!(Dwords::new(&bytes[..7]).is_none() && Dwords::new(&[]).is_none());
    }
}
