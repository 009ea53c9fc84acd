use pretty_assertions::assert_eq;

use super::*;

const ALL: [Compression; 19] = [
    Compression::Dxt1,
    Compression::Dxt3,
    Compression::Dxt5,
    Compression::Rgtc1,
    Compression::Rgtc2,
    Compression::Bptc,
    Compression::BptcFloat,
    Compression::BptcUfloat,
    Compression::AtcRgb,
    Compression::AtcExplicit,
    Compression::AtcInterpolated,
    Compression::Etc2Rgb,
    Compression::Etc2Rgba,
    Compression::Etc2RgbA1,
    Compression::EacR,
    Compression::EacRg,
    Compression::Astc(4, 4),
    Compression::Astc(8, 5),
    Compression::Astc(12, 12),
];

fn texels(compression: Compression, block: &[u8], ty: Type) -> Vec<[f32; 4]> {
    let mut out = Vec::new();
    let mut push = |lanes: Lanes4| out.push(lanes.map(f32::from_bits));
    compression.decode(block, ty, Transfer::Linear, Profile::Ldr, &mut push);
    out
}

fn bytes8(texels: &[[f32; 4]]) -> Vec<[u8; 4]> {
    texels.iter().map(|t| t.map(|v| (v * 255.0).round() as u8)).collect()
}

#[test]
fn any_bytes_decode_to_a_full_block() {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    for compression in ALL {
        let size = compression.block();
        for _ in 0..3000 {
            let block: Vec<u8> = (0..size.bytes).map(|_| random()).collect();
            for ty in [Type::Unorm, Type::Snorm] {
                assert_eq!(texels(compression, &block, ty).len() as u32, size.width * size.height);
            }
        }
        for fill in [0, 0xff] {
            texels(compression, &vec![fill; size.bytes as usize], Type::Unorm);
        }
    }
}

#[test]
fn s3tc_blends_between_its_endpoints() {
    // Red and blue; indices 0 1 2 3 in the first row.
    let block = [0x00, 0xf8, 0x1f, 0x00, 0b11_10_01_00, 0, 0, 0];
    let out = bytes8(&texels(Compression::Dxt1, &block, Type::Unorm));
    assert_eq!(out[0], [255, 0, 0, 255]);
    assert_eq!(out[1], [0, 0, 255, 255]);
    assert_eq!([out[2], out[3]], [[170, 0, 85, 255], [85, 0, 170, 255]]);
    let explicit = [[0x0f, 0, 0, 0, 0, 0, 0, 0], block].concat();
    assert_eq!(
        bytes8(&texels(Compression::Dxt3, &explicit, Type::Unorm))[..2],
        [[255, 0, 0, 255], [0, 0, 255, 0]]
    );
}

#[test]
fn rgtc_is_signed_on_demand() {
    let block = [255, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(texels(Compression::Rgtc1, &block, Type::Unorm)[0], [1.0, 0.0, 0.0, 1.0]);
    let signed = [0x81, 0x7f, 0, 0, 0, 0, 0, 0];
    assert_eq!(texels(Compression::Rgtc1, &signed, Type::Snorm)[0], [-1.0, 0.0, 0.0, 1.0]);
    let two = [block, [0; 8]].concat();
    assert_eq!(texels(Compression::Rgtc2, &two, Type::Unorm)[0], [1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn eac_has_eleven_bits() {
    // Base 100, multiplier 1, table 13 (-1, -2, -3, -10); index 0 everywhere.
    let value = texels(Compression::EacR, &[100, 0x1d, 0, 0, 0, 0, 0, 0], Type::Unorm)[0][0];
    assert_eq!(value, (100.0 * 8.0 + 4.0 - 8.0) / 2047.0);
    // Multiplier 0 means an eighth; index 7 is +9.
    let fine = texels(Compression::EacR, &[100, 0x0d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Type::Unorm)[5][0];
    assert_eq!(fine, (804.0 + 9.0) / 2047.0);
    let signed = texels(Compression::EacRg, &[[0x80, 0xf0, 0, 0, 0, 0, 0, 0]; 2].concat(), Type::Snorm)[0];
    assert_eq!(signed, [-1.0, -1.0, 0.0, 1.0]);
}

#[test]
fn etc_individual_mode_gives_two_flat_halves() {
    // Red left (f00), green right (0f0), no flip, table 0, index bits 0: +2.
    let block = [0xf0, 0x0f, 0x00, 0x00, 0, 0, 0, 0];
    let out = bytes8(&texels(Compression::Etc2Rgb, &block, Type::Unorm));
    assert_eq!([out[0], out[3]], [[255, 2, 2, 255], [2, 255, 2, 255]]);
}

#[test]
fn atc_with_the_mode_bit_has_black_and_a_darker_colour() {
    let block = [0xff, 0xff, 0xff, 0xff, 0b11_10_01_00, 0, 0, 0];
    let out = bytes8(&texels(Compression::AtcRgb, &block, Type::Unorm));
    assert_eq!(out[..4], [[0, 0, 0, 255], [192, 192, 192, 255], [255; 4], [255; 4]]);
}

#[test]
fn astc_void_extent_is_one_colour() {
    let block = [0xfc, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x80, 0xff, 0xff];
    let out = bytes8(&texels(Compression::Astc(6, 6), &block, Type::Unorm));
    assert_eq!((out.len(), out[35]), (36, [255, 0, 128, 255]));
}

#[test]
fn srgb_applies_to_decoded_colours_but_not_alpha() {
    let mut out = [0.0; 4];
    let block = [0xfc, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0x80, 0, 0x80, 0, 0x80, 0, 0x80];
    Compression::Astc(4, 4)
        .decode(&block, Type::Unorm, Transfer::Srgb, Profile::Ldr, |lanes| out = lanes.map(f32::from_bits));
    assert!((out[0] - 0.215_86).abs() < 1e-4 && (out[3] - 0.502).abs() < 1e-3, "{out:?}");
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).unwrap() as u8).collect();
    digits.as_chunks::<2>().0.iter().map(|[high, low]| high << 4 | low).collect()
}

/// The texels of a line of `vectors.txt`, as lanes.
fn expected(format: &str, wanted: &str) -> Vec<[f32; 4]> {
    let eac = |max: f32| {
        let values = wanted.split(',').map(|v| v.parse::<f32>().unwrap());
        values.map(|v| [v / max, 0.0, 0.0, 1.0]).collect()
    };
    match format {
        "EacRUnorm" => eac(2047.0),
        "EacRSnorm" => eac(1023.0),
        _ => {
            unhex(wanted).as_chunks::<4>().0.iter().map(|t| t.map(|v| unorm_to_float(v.into(), 8))).collect()
        }
    }
}

#[test]
fn etc2_and_eac_are_the_specifications_in_every_mode() {
    let lines: Vec<_> = include_str!("vectors.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 30, "{} vectors", lines.len());
    for line in lines {
        let [format, block, wanted] = *line.split(' ').collect::<Vec<_>>() else { panic!("{line}") };
        let (compression, ty) = match format {
            "Etc2Rgb" => (Compression::Etc2Rgb, Type::Unorm),
            "Etc2RgbA1" => (Compression::Etc2RgbA1, Type::Unorm),
            "Etc2Rgba" => (Compression::Etc2Rgba, Type::Unorm),
            "EacRUnorm" => (Compression::EacR, Type::Unorm),
            "EacRSnorm" => (Compression::EacR, Type::Snorm),
            other => panic!("{other}"),
        };
        assert_eq!(texels(compression, &unhex(block), ty), expected(format, wanted), "{format} {block}");
        let two = [unhex(block), unhex(block)].concat();
        if compression == Compression::EacR {
            let both: Vec<_> = expected(format, wanted).iter().map(|&[x, .., w]| [x, x, 0.0, w]).collect();
            assert_eq!(texels(Compression::EacRg, &two, ty), both, "RG of {block}");
        }
    }
}

/// The texels of a line of `astc/vectors.txt`. HDR texels are half floats, others are bytes.
fn astc_expected(profile: &str, wanted: &str) -> Vec<[f32; 4]> {
    let bytes = unhex(wanted);
    match profile {
        "hdr" => {
            let half = |bits: &[u8; 2]| half::f16::from_le_bytes(*bits).to_f32();
            bytes
                .as_chunks::<8>()
                .0
                .iter()
                .map(|t| std::array::from_fn(|c| half(&[t[2 * c], t[2 * c + 1]])))
                .collect()
        }
        "srgb" => bytes
            .as_chunks()
            .0
            .iter()
            .map(|t| rgba8_to_lanes(*t, Transfer::Srgb).map(f32::from_bits))
            .collect(),
        _ => bytes
            .as_chunks()
            .0
            .iter()
            .map(|t| rgba8_to_lanes(*t, Transfer::Linear).map(f32::from_bits))
            .collect(),
    }
}

#[test]
fn astc_is_arms_decoder_in_every_mode() {
    let lines: Vec<_> =
        include_str!("astc/vectors.txt").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 60, "{} vectors", lines.len());
    for line in lines {
        let [size, kind, block, wanted] = *line.split(' ').collect::<Vec<_>>() else { panic!("{line}") };
        let (width, height) = size.split_once('x').unwrap();
        let astc = Compression::Astc(width.parse().unwrap(), height.parse().unwrap());
        let transfer = if kind == "srgb" { Transfer::Srgb } else { Transfer::Linear };
        let profile = if kind == "hdr" { Profile::Hdr } else { Profile::Ldr };
        let (mut got, block) = (Vec::new(), unhex(block));
        astc.decode(&block, Type::Unorm, transfer, profile, |lanes| got.push(lanes.map(f32::from_bits)));
        let same = |(got, want): (&[f32; 4], &[f32; 4])| {
            // With logarithmic colours, alpha may still be a fraction: of 8 bits here, of 16 bits in the
            // vectors.
            got[..3] == want[..3] && (got[3] - want[3]).abs() <= if kind == "hdr" { 1.0 / 255.0 } else { 0.0 }
        };
        let wanted = astc_expected(kind, wanted);
        assert!(
            got.len() == wanted.len() && got.iter().zip(&wanted).all(same),
            "{line}\n{got:?}\n{wanted:?}"
        );
    }
}

#[test]
fn hdr_is_the_error_colour_without_hdr() {
    let hdr = include_str!("astc/vectors.txt").lines().filter(|line| line.starts_with("4x4 hdr"));
    let blocks: Vec<Vec<u8>> = hdr.map(|line| unhex(line.split(' ').nth(2).unwrap())).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        assert_eq!(texels(Compression::Astc(4, 4), &block, Type::Unorm), [[1.0, 0.0, 1.0, 1.0]; 16]);
    }
}
