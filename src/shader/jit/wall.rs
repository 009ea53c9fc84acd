//! The wall: memory that is written, then executed, and the call into it; and reads at many places at once. The only
//! unsafe code of the emulator outside the device.
//!
//! What the rest relies on, and what is checked where:
//!
//! - Pages are written first, and executable later; they are never both. They are unmapped when the last
//!   [`Code`] of them is dropped, and nothing calls into them without one.
//! - Behind the code lies a page that is neither readable nor executable, so that control that would run out
//!   of the code stops there.
//! - Emitted code is a leaf: it neither calls nor touches the stack, it writes nothing but rows and frame and
//!   reads nothing but those, the pool and the textures, within the [`Extent`] that the emitter measured: [`Code::call`]
//!   refuses slices that are shorter. It uses registers alone that a caller of its ABI expects to lose.
//! - What it reads through a texture are dwords whose numbers it has lowered to the last one, or pairs of them to the
//!   last but one, in `Assembler::gather` and `gather_pairs`, which emit all such loads. Both numbers stand in [`Texels`],
//!   which only this module makes, of memory that is lent for as long.
//! - [`prefetch`] hints at memory that is there.
//! - [`Dwords`] reads at 8 or 16 places at once, each of which is lowered to the last one that is in the slice.
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

/// Bytes that the processor fetches at once.
const CACHE_LINE: usize = 64;

/// A page, and what code is rounded up to.
const PAGE: usize = 4096;

/// Memory of which dwords are read at 16 places at once.
#[derive(Clone, Copy)]
pub struct Dwords<'a> {
    bytes: &'a [u8],
    /// The number of the last dword. There is one before it.
    last: u32,
    /// Whether two dwords are read at once where both are wanted.
    by_pairs: bool,
}

/// Whether the processor is AMD's: those read what is gathered one after the other, however wide it is (Zen 5: 16 pairs
/// take 3.7 ns, twice 16 dwords 6.4). On Intel's (Sapphire Rapids) pairs took longer.
pub(super) static GATHERS_ONE_BY_ONE: LazyLock<bool> = LazyLock::new(|| {
    let vendor = __cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"AuthenticAMD"
});

impl<'a> Dwords<'a> {
    /// Of `bytes`, if there are two dwords in them, and not more than the instruction can count.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        let last = (bytes.len() / 4).checked_sub(1)?;
        let by_pairs = *GATHERS_ONE_BY_ONE;
        (1..=i32::MAX as usize / 4).contains(&last).then_some(Self { bytes, last: last as u32, by_pairs })
    }

    /// The dwords with these numbers, or the last for those beyond it.
    ///
    /// # Safety
    /// The processor has AVX-512F.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn at(&self, numbers: __m512i) -> __m512i {
        let numbers = _mm512_min_epu32(numbers, _mm512_set1_epi32(self.last as i32));
        // SAFETY: the 4 bytes from 4 * number on are in `bytes` for all numbers up to `last`, and none is higher. None is
        // negative for the instruction, which has signed ones.
        unsafe { _mm512_i32gather_epi32::<4>(numbers, self.bytes.as_ptr().cast()) }
    }

    /// Those behind the dwords with these numbers, or the last.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn behind(&self, numbers: __m512i) -> __m512i {
        let numbers = _mm512_min_epu32(numbers, _mm512_set1_epi32(self.last as i32 - 1));
        // SAFETY: as above; the base is one dword on, and so no number is higher than that of the last but one.
        unsafe { _mm512_i32gather_epi32::<4>(numbers, self.bytes.as_ptr().add(4).cast()) }
    }

    /// The dwords with these numbers, of which none is the last, and those behind them.
    ///
    /// # Safety
    /// The processor has AVX-512F.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn pairs(&self, numbers: __m512i) -> [__m512i; 2] {
        if !self.by_pairs {
            return [self.at(numbers), self.behind(numbers)];
        }
        let numbers = _mm512_min_epu32(numbers, _mm512_set1_epi32(self.last as i32 - 1));
        let [low, high] = [_mm512_castsi512_si256(numbers), _mm512_extracti64x4_epi64::<1>(numbers)];
        let first = self.bytes.as_ptr().cast();
        // SAFETY: as above; the 8 bytes from 4 * number on end where the next dword does, which there is.
        let [low, high] =
            unsafe { [_mm512_i32gather_epi64::<4>(low, first), _mm512_i32gather_epi64::<4>(high, first)] };
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        [_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high)]
    }
}

/// A level of a texture of dwords, for emitted code, which reads it field by field ([`Field`]).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Texels<'a> {
    /// The first dword.
    first: *const u8,
    /// Number of the last dword.
    last: u32,
    /// Of the one before it.
    last_pair: u32,
    extent: TexelExtent,
    lent: PhantomData<&'a [u8]>,
}

// SAFETY: what it points to is only read, and is lent like a slice of bytes, which all threads may have.
unsafe impl Send for Texels<'_> {}
// SAFETY: as above.
unsafe impl Sync for Texels<'_> {}

/// A number of [`Texels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// [`TexelExtent::units`] of an axis.
    Units(usize),
    /// [`TexelExtent::size`] of an axis.
    Size(usize),
    /// [`TexelExtent::but_one`] of an axis.
    ButOne(usize),
    /// [`TexelExtent::offset`].
    Offset,
    /// [`TexelExtent::pitch`].
    Pitch,
    /// The last dword.
    Last,
    /// The one before it.
    LastPair,
}

impl Field {
    /// Bytes before it.
    pub fn offset(self) -> usize {
        let extent = offset_of!(Texels<'_>, extent);
        match self {
            Self::Units(axis) => extent + offset_of!(TexelExtent, units) + 4 * axis,
            Self::Size(axis) => extent + offset_of!(TexelExtent, size) + 4 * axis,
            Self::ButOne(axis) => extent + offset_of!(TexelExtent, but_one) + 4 * axis,
            Self::Offset => extent + offset_of!(TexelExtent, offset),
            Self::Pitch => extent + offset_of!(TexelExtent, pitch),
            Self::Last => offset_of!(Texels<'_>, last),
            Self::LastPair => offset_of!(Texels<'_>, last_pair),
        }
    }
}

impl<'a> Texels<'a> {
    /// The address of the first dword comes first.
    pub const ADDRESS: usize = offset_of!(Self, first);

    /// Those of `dwords`.
    pub fn new(dwords: Dwords<'a>, extent: TexelExtent) -> Self {
        let Dwords { bytes, last, .. } = dwords;
        Self { first: bytes.as_ptr(), last, last_pair: last - 1, extent, lent: PhantomData }
    }
}

/// Has the processor fetch `items`, which will be read soon.
#[inline]
pub fn prefetch<T>(items: &[T]) {
    for line in (0..size_of_val(items)).step_by(CACHE_LINE) {
        // SAFETY: a hint, which does nothing but to the caches; the place is in `items`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(items.as_ptr().cast::<i8>().add(line)) };
    }
}

/// How much of each slice emitted code touches, in rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Of the warp's rows.
    pub rows: usize,
    /// Of the constants that belong to the code.
    pub pool: usize,
    /// Of what the environment gives, and of values without a register.
    pub frame: usize,
    /// Of textures.
    pub textures: usize,
}

/// What emitted code is called as: rows, pool, frame, the lanes that execute, textures.
type Entry = unsafe extern "sysv64" fn(*mut Lanes, *const Lanes, *mut Lanes, Mask, *const Texels<'_>);

/// Machine code that can run.
pub struct Code {
    pages: NonNull<c_void>,
    /// Bytes that can be executed; the guard is behind them.
    len: usize,
    extent: Extent,
}

// SAFETY: the pages are never written after `new`, and unmapped only when nobody has the value any more.
unsafe impl Send for Code {}
// SAFETY: as above; running code does not change it.
unsafe impl Sync for Code {}

impl Code {
    /// Code of these bytes, which touch no more than `extent`.
    ///
    /// # Errors
    /// When the system gives no memory, or none that can be executed.
    pub fn new(bytes: &[u8], extent: Extent) -> io::Result<Self> {
        let len = bytes.len().next_multiple_of(PAGE);
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new anonymous mapping at an address of the system's choice overlaps nothing.
        let address = unsafe { mmap_anonymous(null_mut(), len + PAGE, access, MapFlags::PRIVATE)? };
        let pages = NonNull::new(address).ok_or(io::ErrorKind::OutOfMemory)?;
        let code = Self { pages, len, extent };
        // SAFETY: `len` bytes from `pages` on are ours alone, writable, and not yet executable.
        unsafe { slice::from_raw_parts_mut(address.cast::<u8>(), bytes.len()) }.copy_from_slice(bytes);
        // SAFETY: both ranges are whole pages of our mapping, and no reference into them is left.
        unsafe {
            mprotect(address, len, MprotectFlags::READ | MprotectFlags::EXEC)?;
            mprotect(address.byte_add(len), PAGE, MprotectFlags::empty())?;
        }
        Ok(code)
    }

    /// Runs it.
    ///
    /// # Panics
    /// When a slice is shorter than the code's extent.
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
        // SAFETY: the pages hold a whole function of this ABI, which the emitter made, and it touches no more of
        // the slices than was just checked, and of the memory behind textures nothing beyond their last dword.
        unsafe {
            let entry = std::mem::transmute::<*mut c_void, Entry>(self.pages.as_ptr());
            entry(rows.as_mut_ptr(), pool.as_ptr(), frame.as_mut_ptr(), mask, textures.as_ptr());
        }
    }

    /// Where it lies, and how long it is: for profilers.
    pub fn place(&self) -> (usize, usize) {
        (self.pages.as_ptr().addr(), self.len)
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, whole, and nobody can call into it any more. A failure leaves it mapped.
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
        // With bytes at its end that make no dword, and words behind it that are none of its own.
        let words: Vec<u32> = (0..40).map(|number| 100 + number).collect();
        let bytes = &bytemuck::cast_slice::<u32, u8>(&words)[..4 * 30 + 3];
        let dwords = Dwords::new(bytes).expect("two of them");
        let numbers = [0, 1, 17, 28, 29, 30, 31, 1000, 1 << 29, 1 << 30, 1 << 31, u32::MAX, 2, 3, 4, 5];
        for by_pairs in [false, true] {
            // SAFETY: the processor has AVX-512.
            let [at, behind, first, second] = unsafe { all(Dwords { by_pairs, ..dwords }, numbers) };
            assert_eq!(at, numbers.map(|number| 100 + number.min(29)));
            assert_eq!(behind, numbers.map(|number| 101 + number.min(28)));
            let beyond = if by_pairs { 28 } else { 29 };
            assert_eq!(first, numbers.map(|number| 100 + number.min(beyond)));
            assert_eq!(second, behind);
        }
        assert!(Dwords::new(&bytes[..7]).is_none() && Dwords::new(&[]).is_none());
    }
}
