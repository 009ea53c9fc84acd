use a4emu_decoder::a4xx::enums::{ColorFmt, TexFmt, VtxFmt};
use pretty_assertions::assert_eq;

use super::*;

fn texture(fmt: TexFmt, swap: ColorSwap) -> Codec {
    Format::texture(fmt).and_then(|f| f.codec(swap, Transfer::Linear)).unwrap()
}

fn floats(codec: Codec, bytes: &[u8]) -> [f32; 4] {
    codec.decode_float(codec.load(bytes))
}

/// The codecs of all uncompressed formats of the three number spaces.
fn codecs() -> Vec<Codec> {
    let swaps = [ColorSwap::WZYX, ColorSwap::WXYZ, ColorSwap::ZYXW, ColorSwap::XYZW];
    let formats = (0..256u32).flat_map(|code| {
        [
            Format::texture(TexFmt::from_bits(code)),
            Format::color(ColorFmt::from_bits(code)),
            Format::vertex(VtxFmt::from_bits(code)),
        ]
    });
    let both = [Transfer::Linear, Transfer::Srgb];
    formats
        .flatten()
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
    let codec = texture(TexFmt::TFMT4_8_8_8_8_UNORM, ColorSwap::WXYZ);
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
    let depth = texture(TexFmt::TFMT4_X8Z24_UNORM, ColorSwap::WZYX).unorm_fields().unwrap()[0].unwrap();
    for number in (0..1 << 24).step_by(7) {
        let want = (f64::from(number) / f64::from((1 << 24) - 1)) as f32;
        assert_eq!(depth.decode_wide(number).to_bits(), want.to_bits(), "{number}");
    }
}

#[test]
fn swap_names_the_memory_order() {
    let bytes = [0, 51, 102, 153];
    let at = |swap| floats(texture(TexFmt::TFMT4_8_8_8_8_UNORM, swap), &bytes).map(|v| (v * 5.0).round());
    assert_eq!(at(ColorSwap::WZYX), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(at(ColorSwap::WXYZ), [2.0, 1.0, 0.0, 3.0]);
    assert_eq!(at(ColorSwap::ZYXW), [1.0, 2.0, 3.0, 0.0]);
    assert_eq!(at(ColorSwap::XYZW), [3.0, 2.0, 1.0, 0.0]);
}

#[test]
fn packed_words_start_at_the_lowest_bit() {
    let rgb565 = 0x001fu16.to_le_bytes();
    assert_eq!(floats(texture(TexFmt::TFMT4_5_6_5_UNORM, ColorSwap::WZYX), &rgb565), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats(texture(TexFmt::TFMT4_5_6_5_UNORM, ColorSwap::WXYZ), &rgb565), [0.0, 0.0, 1.0, 1.0]);
    let a1 = 0x8000u16.to_le_bytes();
    assert_eq!(floats(texture(TexFmt::TFMT4_5_5_5_1_UNORM, ColorSwap::WXYZ), &a1), [0.0, 0.0, 0.0, 1.0]);
    let rgb10 = 0x3ffu32.to_le_bytes();
    assert_eq!(
        floats(texture(TexFmt::TFMT4_10_10_10_2_UNORM, ColorSwap::WZYX), &rgb10),
        [1.0, 0.0, 0.0, 0.0]
    );
    let low_alpha = Format::vertex(VtxFmt::VFMT4_2_10_10_10_UNORM).unwrap();
    let low_alpha = low_alpha.codec(ColorSwap::WZYX, Transfer::Linear).unwrap();
    assert_eq!(floats(low_alpha, &3u32.to_le_bytes()), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(floats(low_alpha, &0xffc0_0000u32.to_le_bytes()), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn depth_and_stencil_views_share_a_dword() {
    let texel = 0xa5ff_ffffu32.to_le_bytes();
    assert_eq!(floats(texture(TexFmt::TFMT4_X8Z24_UNORM, ColorSwap::WZYX), &texel)[0], 1.0);
    let stencil = texture(TexFmt::TFMT4_8_8_8_8_UINT, ColorSwap::XYZW);
    assert_eq!(stencil.decode(stencil.load(&texel))[0], 0xa5);
}

#[test]
fn absent_components_are_0_0_0_1_of_the_type() {
    let of = |fmt| texture(fmt, ColorSwap::WZYX);
    assert_eq!(of(TexFmt::TFMT4_8_UINT).decode(7), [7, 0, 0, 1]);
    assert_eq!(of(TexFmt::TFMT4_8_UNORM).decode_float(255), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(of(TexFmt::TFMT4_A8_UNORM).decode_float(255), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(of(TexFmt::TFMT4_A8_UNORM).decode_float(0), [0.0; 4]);
}

#[test]
fn srgb_leaves_alpha_alone_and_spares_other_types() {
    let srgb = |fmt| Format::texture(fmt).unwrap().codec(ColorSwap::WZYX, Transfer::Srgb).unwrap();
    let [r, .., a] = srgb(TexFmt::TFMT4_8_8_8_8_UNORM).decode_float(0x8000_0080);
    assert!((r - 0.215_86).abs() < 1e-5 && (a - 128.0 / 255.0).abs() < 1e-6);
    assert_eq!(srgb(TexFmt::TFMT4_16_FLOAT).decode_float(0x3800)[0], 0.5);
}

#[test]
fn write_masks_cover_exactly_the_components() {
    let bgra = texture(TexFmt::TFMT4_8_8_8_8_UNORM, ColorSwap::WXYZ);
    assert_eq!([bgra.bits(1), bgra.bits(4), bgra.bits(8), bgra.bits(0)], [0xff_0000, 0xff, 0xff00_0000, 0]);
    assert_eq!(texture(TexFmt::TFMT4_32_32_32_32_FLOAT, ColorSwap::WZYX).bits(0xf), u128::MAX);
}

#[test]
fn short_memory_reads_as_zero_and_takes_what_fits() {
    let codec = texture(TexFmt::TFMT4_8_8_8_8_UNORM, ColorSwap::WZYX);
    assert_eq!(codec.load(&[1, 2]), 0x0201);
    let mut memory = [0; 2];
    codec.store(0x0403_0201, &mut memory);
    assert_eq!(memory, [1, 2]);
}

#[test]
fn fixed_point_is_16_16() {
    let fixed =
        Format::vertex(VtxFmt::VFMT4_32_FIXED).unwrap().codec(ColorSwap::WZYX, Transfer::Linear).unwrap();
    assert_eq!(floats(fixed, &(-98304i32).to_le_bytes())[0], -1.5);
}
