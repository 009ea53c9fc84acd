use pretty_assertions::assert_eq;

use super::*;
use crate::format::Type::{Fixed, Float, Sint, Snorm, Uint, Unorm};

const RGBA8: Format = Format { layout: Layout::array(4, 8), ty: Unorm };
const RGBA8_UINT: Format = Format { layout: Layout::array(4, 8), ty: Uint };
const R8: Format = Format { layout: Layout::array(1, 8), ty: Unorm };
const R8_UINT: Format = Format { layout: Layout::array(1, 8), ty: Uint };
const R16_FLOAT: Format = Format { layout: Layout::array(1, 16), ty: Float };
const RGBA32_FLOAT: Format = Format { layout: Layout::array(4, 32), ty: Float };
const A8: Format = Format { layout: Layout::packed([0, 0, 0, 8]), ty: Unorm };
const RGB565: Format = Format { layout: Layout::packed([5, 6, 5, 0]), ty: Unorm };
const RGB5A1: Format = Format { layout: Layout::packed([5, 5, 5, 1]), ty: Unorm };
const RGB10A2: Format = Format { layout: Layout::packed([10, 10, 10, 2]), ty: Unorm };
const A2RGB10: Format = Format { layout: Layout::reversed([10, 10, 10, 2]), ty: Unorm };
const R32_FIXED: Format = Format { layout: Layout::array(1, 32), ty: Fixed };
const DEPTH24: Format = Format { layout: Layout::Depth24, ty: Unorm };

fn texture(format: Format, swap: Swap) -> Codec {
    format.codec(swap, Transfer::Linear).unwrap()
}

/// Uncompressed formats: every layout that a chip has, with every type that fits it.
fn formats() -> impl Iterator<Item = Format> {
    let arrays =
        [8, 16, 32].into_iter().flat_map(|bits| (1..=4).map(move |count| Layout::array(count, bits)));
    let packed =
        [[4, 4, 4, 4], [5, 5, 5, 1], [5, 6, 5, 0], [10, 10, 10, 2], [0, 0, 0, 8]].map(Layout::packed);
    let layouts = arrays.chain(packed).chain([Layout::reversed([10, 10, 10, 2])]);
    let typed = layouts.flat_map(|layout| [Unorm, Snorm, Uint, Sint].map(|ty| Format { layout, ty }));
    let floats = [16, 32].into_iter().flat_map(|bits| (1..=4).map(move |count| Layout::array(count, bits)));
    let floats = floats.chain([Layout::packed([11, 11, 10, 0]), Layout::SharedExponent]);
    let fixed = (1..=4).map(|count| Format { layout: Layout::array(count, 32), ty: Fixed });
    let rest = [Layout::LuminanceAlpha8, Layout::Depth24].map(|layout| Format { layout, ty: Unorm });
    typed.chain(floats.map(|layout| Format { layout, ty: Float })).chain(fixed).chain(rest)
}

fn floats(codec: Codec, bytes: &[u8]) -> [f32; 4] {
    codec.decode_float(codec.load(bytes))
}

/// The codecs of all formats.
fn codecs() -> Vec<Codec> {
    let swaps = [Swap::WZYX, Swap::WXYZ, Swap::ZYXW, Swap::XYZW];
    let both = [Transfer::Linear, Transfer::Srgb];
    formats()
        .flat_map(|f| {
            swaps.into_iter().flat_map(move |s| both.into_iter().filter_map(move |t| f.codec(s, t)))
        })
        .collect()
}

/// Words that fill all fields with small, large and mixed values.
fn patterns() -> impl Iterator<Item = u128> {
    let step = 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978u128;
    (0..64u32).map(move |i| step.wrapping_mul(u128::from(i) * 2 + 1).rotate_left(i))
}

#[test]
fn encoding_round_trips_decoded_texels() {
    for codec in codecs() {
        for texel in patterns() {
            let lanes = codec.decode(texel);
            let stored = codec.encode(lanes);
            // -128 is the only snorm code with an equal value. NaN payloads may be cut.
            if lanes.iter().all(|&l| !f32::from_bits(l).is_nan()) || codec.is_integer() {
                assert_eq!(codec.decode(stored), lanes, "{codec:?} {texel:x}");
            }
            assert_eq!(stored & !codec.bits(0xf), 0, "{codec:?}");
        }
    }
}

#[test]
fn batches_agree_with_single_texels_bit_for_bit() {
    for codec in codecs().into_iter().filter(|codec| codec.bytes() <= 4) {
        let mut words = [0u32; 32];
        words.iter_mut().zip(patterns()).for_each(|(w, p)| *w = (p & codec.bits(0xf)) as u32);
        let lanes = codec.decode_words(&words);
        let stored = codec.encode_words(&lanes);
        for i in 0..32 {
            let single = codec.decode(words[i].into());
            assert_eq!(single, std::array::from_fn(|c| lanes[c][i]), "{codec:?}");
            assert_eq!(codec.encode(single) as u32, stored[i], "{codec:?}");
        }
    }
}

#[test]
fn unorm_batches_round_as_single_texels_do() {
    let codec = texture(RGBA8, Swap::WXYZ);
    let values = [f32::NAN, -1.0, 0.0, 0.5 / 255.0, 1.5 / 255.0, 0.999, 1.0, 7.0, f32::INFINITY];
    let lanes: [[u32; 32]; 4] =
        std::array::from_fn(|c| std::array::from_fn(|i| values[(i + c) % values.len()].to_bits()));
    let words = codec.encode_words(&lanes);
    for i in 0..32 {
        assert_eq!(u128::from(words[i]), codec.encode(std::array::from_fn(|c| lanes[c][i])));
    }
}

/// Fields of texels of at most a dword decode as the whole texel does.
#[test]
fn unorm_fields_decode_as_texels_do() {
    let (mut narrow, mut wide) = (0, 0);
    for codec in codecs() {
        let Some(fields) = codec.unorm_fields() else { continue };
        let mask = (codec.all_bits() as u32).max(1);
        let words =
            (0..2000u32).map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(i)).chain([0, mask, u32::MAX]);
        for word in words {
            let want = codec.decode(u128::from(word));
            for (field, want) in fields.iter().zip(want) {
                let Some(field) = field else { continue };
                let got = match field.is_wide() {
                    true => field.decode_wide(word),
                    false => field.decode(word),
                };
                (narrow, wide) = (narrow + u32::from(!field.is_wide()), wide + u32::from(field.is_wide()));
                assert_eq!(got.to_bits(), want, "{codec:?} {word:#x}");
            }
        }
    }
    assert!(narrow > 100_000 && wide > 1000, "{narrow} {wide}");
    let depth = texture(DEPTH24, Swap::WZYX).unorm_fields().unwrap()[0].unwrap();
    for number in (0..1 << 24).step_by(7) {
        let want = (f64::from(number) / f64::from((1 << 24) - 1)) as f32;
        assert_eq!(depth.decode_wide(number).to_bits(), want.to_bits(), "{number}");
    }
}

#[test]
fn swap_names_the_memory_order() {
    let bytes = [0, 51, 102, 153];
    let at = |swap| floats(texture(RGBA8, swap), &bytes).map(|v| (v * 5.0).round());
    assert_eq!(at(Swap::WZYX), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(at(Swap::WXYZ), [2.0, 1.0, 0.0, 3.0]);
    assert_eq!(at(Swap::ZYXW), [1.0, 2.0, 3.0, 0.0]);
    assert_eq!(at(Swap::XYZW), [3.0, 2.0, 1.0, 0.0]);
}

#[test]
fn packed_words_start_at_the_lowest_bit() {
    let rgb565 = 0x001fu16.to_le_bytes();
    assert_eq!(floats(texture(RGB565, Swap::WZYX), &rgb565), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats(texture(RGB565, Swap::WXYZ), &rgb565), [0.0, 0.0, 1.0, 1.0]);
    let a1 = 0x8000u16.to_le_bytes();
    assert_eq!(floats(texture(RGB5A1, Swap::WXYZ), &a1), [0.0, 0.0, 0.0, 1.0]);
    let rgb10 = 0x3ffu32.to_le_bytes();
    assert_eq!(floats(texture(RGB10A2, Swap::WZYX), &rgb10), [1.0, 0.0, 0.0, 0.0]);
    let low_alpha = A2RGB10;
    let low_alpha = low_alpha.codec(Swap::WZYX, Transfer::Linear).unwrap();
    assert_eq!(floats(low_alpha, &3u32.to_le_bytes()), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats(low_alpha, &0xffc0_0000u32.to_le_bytes()), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn depth_and_stencil_views_share_a_dword() {
    let texel = 0xa5ff_ffffu32.to_le_bytes();
    assert_eq!(floats(texture(DEPTH24, Swap::WZYX), &texel)[0], 1.0);
    let stencil = texture(RGBA8_UINT, Swap::XYZW);
    assert_eq!(stencil.decode(stencil.load(&texel))[0], 0xa5);
}

#[test]
fn absent_components_are_0_0_0_1_of_the_type() {
    let of = |fmt| texture(fmt, Swap::WZYX);
    assert_eq!(of(R8_UINT).decode(7), [7, 0, 0, 1]);
    assert_eq!(of(R8).decode_float(255), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(of(A8).decode_float(255), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(of(A8).decode_float(0), [0.0; 4]);
}

#[test]
fn srgb_leaves_alpha_alone_and_spares_other_types() {
    let srgb = |format: Format| format.codec(Swap::WZYX, Transfer::Srgb).unwrap();
    let [r, .., a] = srgb(RGBA8).decode_float(0x8000_0080);
    assert!((r - 0.215_86).abs() < 1e-5 && (a - 128.0 / 255.0).abs() < 1e-6);
    assert_eq!(srgb(R16_FLOAT).decode_float(0x3800)[0], 0.5);
}

#[test]
fn write_masks_cover_exactly_the_components() {
    let bgra = texture(RGBA8, Swap::WXYZ);
    assert_eq!([bgra.bits(1), bgra.bits(4), bgra.bits(8), bgra.bits(0)], [0xff_0000, 0xff, 0xff00_0000, 0]);
    assert_eq!(texture(RGBA32_FLOAT, Swap::WZYX).bits(0xf), u128::MAX);
}

#[test]
fn short_memory_reads_as_zero_and_takes_what_fits() {
    let codec = texture(RGBA8, Swap::WZYX);
    assert_eq!(codec.load(&[1, 2]), 0x0201);
    let mut memory = [0; 2];
    codec.store(0x0403_0201, &mut memory);
    assert_eq!(memory, [1, 2]);
}

#[test]
fn fixed_point_is_16_16() {
    let fixed = R32_FIXED.codec(Swap::WZYX, Transfer::Linear).unwrap();
    assert_eq!(floats(fixed, &(-98304i32).to_le_bytes())[0], -1.5);
}
