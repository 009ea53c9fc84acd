//! Codecs: a format with its memory order and transfer function, resolved for the inner loops.

use super::convert::{self, mask};
use super::{Format, Layout, Swap, Transfer, Type, srgb};

/// Converts texels of one uncompressed format of at most 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// Fields of x, y, z, w.
    fields: [Field; 4],
    ty: Type,
    transfer: Transfer,
    packing: Packing,
    bytes: u32,
    /// Mask of the bits that belong to a component.
    bits: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Field {
    /// Lowest bit in the texel, as a little-endian number.
    shift: u32,
    /// Width in bits. 0 if the component is absent.
    width: u32,
}

/// A normalised component within a dword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnormField {
    shift: u32,
    mask: u32,
    step: f32,
}

impl UnormField {
    /// The index of its byte, if it is exactly one byte.
    pub fn byte(self) -> Option<u32> {
        (self.mask == 0xff && self.shift.is_multiple_of(8)).then_some(self.shift / 8)
    }

    /// Whether it has more than 16 bits, so that [`UnormField::decode_wide`] is needed.
    #[inline(always)]
    pub fn is_wide(self) -> bool {
        self.mask > 0xffff
    }

    /// The value of a field of up to 16 bits.
    #[inline(always)]
    pub fn decode(self, word: u32) -> f32 {
        self.number(word) * self.step
    }

    /// The value of a field of 17 to 24 bits. binary32 holds both the number and its maximum exactly, so the
    /// quotient is rounded as in [`convert`].
    #[inline(always)]
    pub fn decode_wide(self, word: u32) -> f32 {
        self.number(word) / self.mask as i32 as f32
    }

    /// The raw number. Signed conversion gives the same value for so few bits, and has a vector instruction.
    #[inline(always)]
    fn number(self, word: u32) -> f32 {
        ((word >> (self.shift % 32)) & self.mask) as i32 as f32
    }
}

/// Most bits of a [`UnormField`].
const UNORM_FIELD: u32 = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Fields,
    SharedExponent,
}

impl Field {
    fn get(self, texel: u128) -> u32 {
        (texel >> self.shift) as u32 & mask(self.width)
    }

    fn put(self, raw: u32) -> u128 {
        u128::from(raw & mask(self.width)) << self.shift
    }
}

impl Codec {
    pub(super) fn new(format: Format, swap: Swap, transfer: Transfer) -> Option<Self> {
        let (fields, packing) = match format.layout {
            Layout::Fields { widths, order } => {
                (place(widths, reorder(order, widths, swap)), Packing::Fields)
            }
            Layout::LuminanceAlpha8 => ([(0, 8), (0, 8), (0, 8), (8, 8)].map(field), Packing::Fields),
            Layout::Depth24 => ([(0, 24), (0, 0), (0, 0), (0, 0)].map(field), Packing::Fields),
            Layout::SharedExponent => ([(0, 9), (9, 9), (18, 9), (0, 0)].map(field), Packing::SharedExponent),
            Layout::Block(_) => return None,
        };
        let ty = format.ty;
        // sRGB exists only for 8-bit unorm formats. The bit has no meaning for others.
        let srgb_capable = ty == Type::Unorm && fields[0].width == 8;
        let transfer = if srgb_capable { transfer } else { Transfer::Linear };
        let codec = Self { fields, ty, transfer, packing, bytes: format.block().bytes, bits: 0 };
        Some(Self { bits: codec.bits(0xf), ..codec })
    }

    /// Bytes of a texel, 1 to 16.
    pub const fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Type of the components.
    pub const fn ty(&self) -> Type {
        self.ty
    }

    /// Whether lanes hold integers instead of binary32.
    pub const fn is_integer(&self) -> bool {
        matches!(self.ty, Type::Uint | Type::Sint)
    }

    /// Whether every component has 32 bits and is stored unchanged.
    pub fn is_exact(&self) -> bool {
        let holds = matches!(self.ty, Type::Float | Type::Uint | Type::Sint);
        holds && self.fields.iter().all(|field| matches!(field.width, 0 | 32))
    }

    /// Whether the format stores component 0..=3.
    pub const fn has(&self, component: usize) -> bool {
        self.fields[component].width != 0
    }

    /// The number of components, if a texel consists of exactly that many dwords, x first, with unchanged
    /// lane values.
    pub fn plain_dwords(&self) -> Option<usize> {
        let count = (self.bytes / 4) as usize;
        let plain = |c: usize| match c < count {
            true => matches!(self.kernel(c), Kernel::Copy) && self.fields[c].shift == 32 * c as u32,
            false => !self.has(c),
        };
        (self.bytes.is_multiple_of(4) && (0..4).all(plain)).then_some(count)
    }

    /// Mask of the bits that belong to any component.
    #[inline]
    pub const fn all_bits(&self) -> u128 {
        self.bits
    }

    /// Mask of the bits of the components in `components` (bit 0 is x).
    pub fn bits(&self, components: u32) -> u128 {
        if self.packing == Packing::SharedExponent {
            return if components == 0 { 0 } else { 0xffff_ffff };
        }
        let chosen = (0..4).filter(|&c| components >> c & 1 != 0).map(|c| self.fields[c]);
        chosen.fold(0, |bits, field| bits | field.put(u32::MAX))
    }

    /// The texel at the start of `memory`. Bytes past its end read as 0.
    pub fn load(&self, memory: &[u8]) -> u128 {
        let mut word = [0; 16];
        let length = memory.len().min(self.bytes as usize);
        word[..length].copy_from_slice(&memory[..length]);
        u128::from_le_bytes(word)
    }

    /// Stores `texel` at the start of `memory`. Bytes past its end are dropped.
    pub fn store(&self, texel: u128, memory: &mut [u8]) {
        let length = memory.len().min(self.bytes as usize);
        memory[..length].copy_from_slice(&texel.to_le_bytes()[..length]);
    }

    /// The fields of a texel of at most a dword, if all components are linear unorm. `None` otherwise.
    pub fn unorm_fields(&self) -> Option<[Option<UnormField>; 4]> {
        let known = |c: usize| match self.kernel(c) {
            Kernel::Absent | Kernel::Unorm => true,
            Kernel::WideUnorm => self.fields[c].width <= UNORM_FIELD,
            _ => false,
        };
        let field = |c: usize| {
            let Field { shift, width } = self.fields[c];
            (width > 0).then(|| UnormField { shift, mask: mask(width), step: convert::unorm_step(width) })
        };
        (matches!(self.bytes, 1 | 2 | 4) && (0..4).all(known)).then(|| std::array::from_fn(field))
    }

    /// Lanes x, y, z, w of a texel. Absent ones are 0, 0, 0, 1.
    pub fn decode(&self, texel: u128) -> [u32; 4] {
        match self.packing {
            Packing::Fields => std::array::from_fn(|c| self.decode_component(c, texel)),
            Packing::SharedExponent => {
                let [r, g, b] = convert::decode_shared_exponent(texel as u32).map(f32::to_bits);
                [r, g, b, self.absent(3)]
            }
        }
    }

    /// Like [`Codec::decode`], with integers converted to float.
    pub fn decode_float(&self, texel: u128) -> [f32; 4] {
        self.decode(texel).map(|lane| self.lane_to_float(lane))
    }

    /// The texel that stores lanes x, y, z, w.
    pub fn encode(&self, lanes: [u32; 4]) -> u128 {
        match self.packing {
            Packing::Fields => (0..4).fold(0, |texel, c| texel | self.encode_component(c, lanes[c])),
            Packing::SharedExponent => {
                let [r, g, b, _] = lanes.map(f32::from_bits);
                u128::from(convert::encode_shared_exponent([r, g, b]))
            }
        }
    }

    /// The value of a lane of this format as a float. Integers are converted.
    pub fn lane_to_float(&self, lane: u32) -> f32 {
        match self.ty {
            Type::Uint => lane as f32,
            Type::Sint => lane as i32 as f32,
            Type::Unorm | Type::Snorm | Type::Float | Type::Fixed => f32::from_bits(lane),
        }
    }

    /// Decodes 32 texels of at most 4 bytes each to lanes `[component][texel]`.
    pub fn decode_words(&self, words: &[u32; 32]) -> [[u32; 32]; 4] {
        std::array::from_fn(|c| self.decode_component_of(c, words))
    }

    /// The little-endian dword of a texel that holds all bits of `component`.
    #[inline(always)]
    pub const fn dword(&self, component: usize) -> u32 {
        // No field of any format crosses a dword.
        self.fields[component].shift / 32
    }

    /// One component of 32 texels, from the dword that [`Codec::dword`] names.
    #[inline(always)]
    pub fn decode_component_of(&self, component: usize, words: &[u32; 32]) -> [u32; 32] {
        let field = self.fields[component];
        let field = Field { shift: field.shift % 32, ..field };
        match self.kernel(component) {
            Kernel::Absent => [self.absent(component); 32],
            Kernel::Copy => *words,
            Kernel::Unorm => decode_unorm(words, field),
            Kernel::Half => decode_half(words, field),
            Kernel::WideUnorm => decode_wide_unorm(words, field),
            Kernel::Other => self.decode_slowly(component, words),
        }
    }

    #[inline(never)]
    fn decode_slowly(&self, component: usize, words: &[u32; 32]) -> [u32; 32] {
        let shift = 32 * self.dword(component);
        std::array::from_fn(|i| self.decode(u128::from(words[i]) << shift)[component])
    }

    /// Converts values in memory order (of the first, second, .. component in memory) to lanes x, y, z, w.
    /// Border colours are stored in memory order.
    ///
    /// Reversed integer formats keep their order: Mesa stores the border of stencil views, which have such a
    /// format, in this order (freedreno_texture.c).
    pub fn border_lanes(&self, values: [u32; 4]) -> [u32; 4] {
        let backwards = self.is_integer() && self.fields[3].width != 0 && self.fields[3].shift == 0;
        if backwards {
            return values;
        }
        std::array::from_fn(|c| match self.fields[c].width {
            0 => self.absent(c),
            _ => values[self.rank(c)],
        })
    }

    /// Number of components at lower bits than `component`.
    fn rank(&self, component: usize) -> usize {
        let here = self.fields[component].shift;
        self.fields.iter().filter(|field| field.width != 0 && field.shift < here).count()
    }

    /// Encodes lanes `[component][texel]` to 32 texels of at most 4 bytes.
    pub fn encode_words(&self, lanes: &[[u32; 32]; 4]) -> [u32; 32] {
        if self.packing == Packing::SharedExponent {
            return std::array::from_fn(|i| self.encode(std::array::from_fn(|c| lanes[c][i])) as u32);
        }
        let mut words = [0; 32];
        for (c, lanes) in lanes.iter().enumerate() {
            match self.kernel(c) {
                Kernel::Absent => {}
                Kernel::Copy => words = *lanes,
                Kernel::Unorm => encode_unorm(lanes, self.fields[c], &mut words),
                Kernel::Half | Kernel::WideUnorm | Kernel::Other => {
                    merge(&mut words, lanes, |lane| self.encode_component(c, lane) as u32)
                }
            }
        }
        words
    }

    #[inline(always)]
    fn kernel(&self, component: usize) -> Kernel {
        let linear = self.transfer == Transfer::Linear || component == 3;
        match (self.packing, self.ty, self.fields[component].width) {
            (_, _, 0) => Kernel::Absent,
            (Packing::SharedExponent, _, _) => Kernel::Other,
            (_, Type::Float | Type::Uint | Type::Sint, 32) => Kernel::Copy,
            (_, Type::Unorm, 1..=16) if linear => Kernel::Unorm,
            (_, Type::Unorm, 17..) => Kernel::WideUnorm,
            (_, Type::Float, 10..=16) => Kernel::Half,
            _ => Kernel::Other,
        }
    }

    fn decode_component(&self, component: usize, texel: u128) -> u32 {
        let field = self.fields[component];
        match (self.transfer, component) {
            (_, _) if field.width == 0 => self.absent(component),
            (Transfer::Srgb, 0..=2) => srgb::decode(field.get(texel) as u8).to_bits(),
            _ => convert::decode(self.ty, field.get(texel), field.width),
        }
    }

    fn encode_component(&self, component: usize, lane: u32) -> u128 {
        let field = self.fields[component];
        match (self.transfer, component) {
            (_, _) if field.width == 0 => 0,
            (Transfer::Srgb, 0..=2) => field.put(u32::from(srgb::encode(f32::from_bits(lane)))),
            _ => field.put(convert::encode(self.ty, lane, field.width)),
        }
    }

    /// The value of a component that the format lacks.
    pub const fn absent(&self, component: usize) -> u32 {
        match (component, self.is_integer()) {
            (3, true) => 1,
            (3, false) => 1f32.to_bits(),
            _ => 0,
        }
    }
}

/// The loop that converts a component of 32 texels.
enum Kernel {
    Absent,
    Copy,
    Unorm,
    /// Floats of 16, 11 or 10 bits.
    Half,
    /// Normalised, with more bits than a binary32 product can hold exactly.
    WideUnorm,
    Other,
}

#[inline(always)]
fn decode_unorm(words: &[u32; 32], field: Field) -> [u32; 32] {
    let (step, mask) = (convert::unorm_step(field.width), mask(field.width));
    let mut out = [0; 32];
    for (out, word) in out.iter_mut().zip(words) {
        // At most 16 bits: signed conversion gives the same value, and has a vector instruction.
        *out = (((word >> field.shift) & mask) as i32 as f32 * step).to_bits();
    }
    out
}

#[inline(always)]
fn decode_wide_unorm(words: &[u32; 32], field: Field) -> [u32; 32] {
    let mask = mask(field.width);
    let mut out = [0; 32];
    for (out, word) in out.iter_mut().zip(words) {
        *out = convert::unorm_to_float_wide((word >> field.shift) & mask, mask).to_bits();
    }
    out
}

#[inline(always)]
fn decode_half(words: &[u32; 32], field: Field) -> [u32; 32] {
    let mask = mask(field.width);
    let mut out = [0; 32];
    for (out, word) in out.iter_mut().zip(words) {
        let half = convert::widen_to_half((word >> field.shift) & mask, field.width);
        *out = convert::half_to_float(half).to_bits();
    }
    out
}

#[inline(always)]
fn encode_unorm(lanes: &[u32; 32], field: Field, words: &mut [u32; 32]) {
    /// Adding this to a float in 0..2^23 leaves the nearest integer (ties to even) in the low bits. Unlike a
    /// call of `round`, every CPU vectorises this.
    const MAGIC: f32 = 8_388_608.0;
    let (scale, mask) = (mask(field.width) as f32, mask(field.width));
    merge(words, lanes, |lane| {
        let value = f32::from_bits(lane);
        // A comparison with NaN is false: NaN becomes 0.
        let clamped = if value > 0.0 { value } else { 0.0 }.min(1.0);
        ((clamped * scale + MAGIC).to_bits() & mask) << field.shift
    });
}

#[inline(always)]
fn merge(words: &mut [u32; 32], lanes: &[u32; 32], encode: impl Fn(u32) -> u32) {
    for (word, &lane) in words.iter_mut().zip(lanes) {
        *word |= encode(lane);
    }
}

fn field((shift, width): (u32, u32)) -> Field {
    Field { shift, width }
}

/// The memory order after SWAP. A swap that would move a component to a missing one leaves the order
/// unchanged (guess `swap-unfit`).
fn reorder(order: [usize; 4], widths: [u32; 4], swap: Swap) -> [usize; 4] {
    let swapped = match swap {
        Swap::WZYX => [0, 1, 2, 3],
        Swap::WXYZ => [2, 1, 0, 3],
        Swap::ZYXW => [3, 0, 1, 2],
        Swap::XYZW => [3, 2, 1, 0],
    };
    let fits = (0..4).all(|slot| (widths[swapped[slot]] == 0) == (widths[slot] == 0));
    if fits { order.map(|slot| swapped[slot]) } else { order }
}

/// Places fields one after the other in memory order.
fn place(widths: [u32; 4], order: [usize; 4]) -> [Field; 4] {
    let mut fields = [Field::default(); 4];
    let mut shift = 0;
    for component in order {
        fields[component] = Field { shift, width: widths[component] };
        shift += widths[component];
    }
    fields
}

#[cfg(test)]
mod tests;
