use pretty_assertions::assert_eq;

use super::*;
use crate::a4xx::tpl1::bank;

const ROW: [u8; 4] = [10, 20, 30, 40];

/// Returns the row's values at texel positions (0.5 is the middle of the first).
fn row(scene: &Scene, positions: &[f32]) -> Vec<f32> {
    positions.iter().map(|at| steps(scene.at(&[at / 4.0, 0.5])[0])).collect()
}

#[test]
fn nearest_takes_the_texel_and_wraps() {
    let at = [-4.5, -0.5, 0.5, 1.0, 3.999, 4.5, 9.5];
    let of = |wrap| row(&Scene::row(&ROW).wrapped(wrap), &at);
    assert_eq!(of(TexClamp::A4XX_TEX_REPEAT), [40., 40., 10., 20., 40., 10., 20.]);
    assert_eq!(of(TexClamp::A4XX_TEX_CLAMP_TO_EDGE), [10., 10., 10., 20., 40., 40., 40.]);
    assert_eq!(of(TexClamp::A4XX_TEX_MIRROR_REPEAT), [40., 10., 10., 20., 40., 40., 20.]);
    assert_eq!(of(TexClamp::A4XX_TEX_MIRROR_CLAMP), [40., 10., 10., 20., 40., 40., 40.]);
    let border = Scene { border: [0.2, 0.4, 0.6, 0.8], ..Scene::row(&ROW) };
    assert_eq!(
        row(&border.wrapped(TexClamp::A4XX_TEX_CLAMP_TO_BORDER), &at),
        [51., 51., 10., 20., 40., 51., 51.]
    );
}

#[test]
fn a_gather_in_a_mirrored_period_keeps_the_order_of_the_texels() {
    let scene = Scene::row(&ROW).wrapped(TexClamp::A4XX_TEX_MIRROR_REPEAT);
    let gathered = |s: f32| {
        let (s, t) = (Lanes::from([s / 4.0; LANES]), Lanes::from([0.5; LANES]));
        let coords = [&s, &t];
        let request = Sample { kind: SampleKind::Gather(0), lod: Lod::Zero, ..request(&coords) };
        by_lane(&scene.ask(&request))[0].map(steps)
    };
    assert_eq!(gathered(2.3), [20., 30., 30., 20.]);
    assert_eq!(gathered(5.7), [30., 20., 20., 30.]);
    assert_eq!(gathered(-2.3), [30., 20., 20., 30.]);
    assert_eq!(gathered(4.2), [40., 40., 40., 40.]);
}

#[test]
fn linear_blends_and_wraps() {
    let at = [0.0, 0.5, 1.0, 1.25, 3.75, 4.0, 4.5];
    let of = |wrap| row(&Scene::row(&ROW).linear().wrapped(wrap), &at);
    assert_eq!(of(TexClamp::A4XX_TEX_REPEAT), [25., 10., 15., 17.5, 32.5, 25., 10.]);
    assert_eq!(of(TexClamp::A4XX_TEX_CLAMP_TO_EDGE), [10., 10., 15., 17.5, 40., 40., 40.]);
    assert_eq!(of(TexClamp::A4XX_TEX_MIRROR_REPEAT), [10., 10., 15., 17.5, 40., 40., 40.]);
    let border = Scene { border: [0.0, 0.0, 0.0, 0.0], ..Scene::row(&ROW) }.linear();
    let border = border.wrapped(TexClamp::A4XX_TEX_CLAMP_TO_BORDER);
    // The single row is between border rows, but its middle is only the row.
    assert_eq!(row(&border, &[-1.0, 0.0, 0.5, 4.0, 9.0]), [0., 5., 10., 20., 0.]);
}

#[test]
fn places_between_texels_count_in_steps_of_a_256th_on_the_board() {
    let scene = Scene::row(&ROW).linear();
    assert_eq!(row(&scene, &[1.499_999, 1.5, 1.503]), [20.0 - 10.0 / 256.0, 20.0, 20.0]);
    let exact = Scene { model: Model::StrictGl, ..scene };
    assert_eq!(row(&exact, &[1.499_999, 1.5, 1.503]), [20.0, 20.0, 20.031_25]);
}

#[test]
fn both_axes_are_blended() {
    let scene = Scene::grid(&[[0, 100], [40, 200]]).linear().wrapped(TexClamp::A4XX_TEX_CLAMP_TO_EDGE);
    assert_eq!(steps(scene.at(&[0.5, 0.5])[0]), 85.0);
    assert_eq!(steps(scene.at(&[0.375, 0.5])[0]), 52.5);
    assert_eq!(steps(scene.at(&[0.25, 0.625])[0]), 30.0);
}

#[test]
fn lanes_are_independent() {
    let scene = Scene::row(&ROW).linear();
    let s: [f32; LANES] = std::array::from_fn(|i| i as f32 * 0.07 - 0.6);
    let colors = scene.colors(&[s, [0.5; LANES]]);
    for i in 0..LANES {
        assert_eq!(colors[i], scene.at(&[s[i], 0.5]), "lane {i}");
    }
}

#[test]
fn offsets_move_by_texels() {
    let (s, t) = (Lanes::from([0.125; LANES]), Lanes::from([0.5; LANES]));
    let coords = [&s, &t];
    for (wrap, expected) in [
        (TexClamp::A4XX_TEX_REPEAT, [20.0, 30.0, 40.0, 10.0]),
        (TexClamp::A4XX_TEX_CLAMP_TO_EDGE, [20.0, 30.0, 10.0, 10.0]),
        (TexClamp::A4XX_TEX_MIRROR_REPEAT, [20.0, 30.0, 10.0, 40.0]),
    ] {
        for (offset, expected) in [1u32, 2, u32::MAX, 4].into_iter().zip(expected) {
            let expected =
                if wrap == TexClamp::A4XX_TEX_CLAMP_TO_EDGE && offset == 4 { 40.0 } else { expected };
            let (x, y) = (Lanes::splat(offset), Lanes::ZERO);
            let offsets = [&x, &y];
            let request = Sample { offsets: Some(Few::new(&offsets)), ..request(&coords) };
            for scene in [Scene::row(&ROW).wrapped(wrap), Scene::row(&ROW).wrapped(wrap).linear()] {
                assert_eq!(steps(by_lane(&scene.ask(&request))[0][0]), expected, "{wrap:?} {offset}");
            }
        }
    }
}

#[test]
fn unnormalized_coordinates_are_texels() {
    let scene = Scene::row(&ROW).linear().sampler(&[], &[("UNNORM_COORDS", 1)]);
    for wrap in [TexClamp::A4XX_TEX_CLAMP_TO_EDGE, TexClamp::A4XX_TEX_REPEAT] {
        let scene = scene.clone().wrapped(wrap);
        assert_eq!([2.5, 3.0].map(|s| steps(scene.at(&[s, 0.5])[0])), [30.0, 35.0]);
    }
}

#[test]
fn swizzle_comes_last_and_absent_components_are_filled() {
    let scene = Scene { swizzle: [4, 5, 0, 3], ..Scene::row(&ROW) };
    assert_eq!(scene.at(&[0.125, 0.5]).map(steps), [0.0, 255.0, 10.0, 255.0]);
}

#[test]
fn components_that_are_not_asked_for_stay() {
    let scene = Scene::row(&ROW);
    let (s, t) = (Lanes::from([0.125; LANES]), Lanes::from([0.5; LANES]));
    let coords = [&s, &t];
    let memory = scene.memory();
    let bank = scene.bank(&memory);
    let mut out = [Lanes::splat(7); 4];
    bank.bind(&memory).sample(&Sample { components: 0b1000, ..request(&coords) }, 1, &mut out);
    assert_eq!((out[3][0], out[3][1]), (1f32.to_bits(), 7));
}

#[test]
fn borders_of_rgba_follow_the_memory_order() {
    let scene = Scene::new(TexFmt::TFMT4_8_8_8_8_UNORM, 8, 1, 4, vec![0; 32]);
    let scene = Scene { border: [0.25, 2.0, -1.0, 1.0], ..scene }.wrapped(TexClamp::A4XX_TEX_CLAMP_TO_BORDER);
    assert_eq!(scene.at(&[2.0, 0.5]), [0.25, 1.0, 0.0, 1.0]);
    let mut words = scene.texture_words();
    words[2] |= word(TEX_CONST_2::FIELDS, &[("SWAP", 1)]);
    let memory = scene.memory();
    let bank = bank(&[words], &[scene.sampler_words()], BORDERS, Model::Board, &memory);
    let (s, t) = (Lanes::from([2.0; LANES]), Lanes::from([0.5; LANES]));
    let mut out = [Lanes::ZERO; 4];
    bank.bind(&memory).sample(&request(&[&s, &t]), ALL, &mut out);
    assert_eq!(by_lane(&out)[0], [0.0, 1.0, 0.25, 1.0]);
}

#[test]
fn projection_divides() {
    let scene = Scene::row(&ROW);
    let (s, t, q) = (Lanes::from([1.25; LANES]), Lanes::from([1.0; LANES]), Lanes::from([2.0; LANES]));
    let coords = [&s, &t];
    let out = scene.ask(&Sample { projector: Some(&q), ..request(&coords) });
    assert_eq!(steps(by_lane(&out)[0][0]), 30.0);
}

#[test]
fn volumes_blend_along_r_too() {
    let mut bytes = vec![0; 8192];
    bytes[..2].copy_from_slice(&[0, 100]);
    bytes[4096..4098].copy_from_slice(&[40, 200]);
    let scene = Scene::new(TexFmt::TFMT4_8_UNORM, 2, 1, 1, bytes);
    let scene = Scene { pitch: 32, ty: TexType::A4XX_TEX_3D, size: (2, 1, 2), ..scene };
    let scene = scene.wrapped(TexClamp::A4XX_TEX_CLAMP_TO_EDGE);
    assert_eq!(steps(scene.at(&[0.75, 0.5, 0.75])[0]), 200.0);
    assert_eq!(steps(scene.linear().at(&[0.5, 0.5, 0.5])[0]), 85.0);
}

#[test]
fn layers_are_truncated_and_clamped() {
    let mut bytes = vec![0; 3 * 4096];
    (0..3).for_each(|layer| bytes[layer * 4096] = layer as u8 * 10 + 10);
    let scene = Scene::new(TexFmt::TFMT4_8_UNORM, 1, 1, 1, bytes);
    let scene = Scene { pitch: 32, size: (1, 1, 3), ..scene };
    let (s, t) = (Lanes::from([0.5; LANES]), Lanes::from([0.5; LANES]));
    let coords = [&s, &t];
    let of = |layer: f32| {
        let layer = Lanes::from([layer; LANES]);
        steps(by_lane(&scene.ask(&Sample { layer: Some(&layer), ..request(&coords) }))[0][0])
    };
    assert_eq!([0.5, 1.5, 2.49, 9.0, -3.0, f32::NAN].map(of), [10., 20., 30., 30., 10., 10.]);
}

#[test]
fn wide_formats_filter_like_narrow_ones() {
    let values = [0.0f32, 1.0, -2.0, 4.0, 8.0, 0.5, 0.25, 16.0];
    let floats: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let scene = Scene::new(TexFmt::TFMT4_32_32_32_32_FLOAT, 2, 1, 16, floats).linear();
    let scene = scene.wrapped(TexClamp::A4XX_TEX_CLAMP_TO_EDGE);
    assert_eq!(scene.at(&[0.5, 0.5]), [4.0, 0.75, -0.875, 10.0]);
    let halves: Vec<u8> = values.iter().flat_map(|&v| half::f16::from_f32(v).to_le_bytes()).collect();
    let halves = [halves, vec![0; 16]].concat();
    let scene = Scene { pitch: 32, ..Scene::new(TexFmt::TFMT4_16_16_16_16_FLOAT, 2, 1, 8, halves) }.linear();
    let scene = scene.wrapped(TexClamp::A4XX_TEX_CLAMP_TO_EDGE);
    assert_eq!(scene.at(&[0.5, 0.5]), [4.0, 0.75, -0.875, 10.0]);
}

#[test]
fn compressed_blocks_are_found_and_blended() {
    // Two DXT1 blocks: red and blue.
    let red = [0x00, 0xf8, 0x00, 0xf8, 0, 0, 0, 0];
    let blue = [0x1f, 0x00, 0x1f, 0x00, 0, 0, 0, 0];
    let bytes = [&red[..], &blue, &[0; 16]].concat();
    let scene = Scene { pitch: 32, ..Scene::new(TexFmt::TFMT4_DXT1, 8, 4, 8, bytes) };
    assert_eq!(scene.at(&[0.4, 0.9]), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(scene.at(&[0.6, 0.1]), [0.0, 0.0, 1.0, 1.0]);
    assert_eq!(scene.linear().at(&[0.5, 0.5]), [0.5, 0.0, 0.5, 1.0]);
}

/// A request pays for each complete block that it decodes. For plain texels it pays only for one filter.
#[test]
fn decoded_texture_blocks_are_charged() {
    let counted = |format, lanes: [f32; 2]| {
        let scene = Scene { pitch: 32, ..Scene::new(format, 8, 4, 8, vec![7; 256]) };
        let memory = scene.memory();
        let bank = scene.bank(&memory);
        let x = Lanes::from(std::array::from_fn::<f32, LANES, _>(|lane| lanes[lane % 2]));
        let mut out = [Lanes::ZERO; 4];
        bank.bind(&memory).sample(&request(&[&x, &Lanes::ZERO]), ALL, &mut out).more
    };
    assert_eq!(counted(TexFmt::TFMT4_DXT1, [0.1, 0.1]), 4 * 4);
    assert_eq!(counted(TexFmt::TFMT4_DXT1, [0.1, 0.9]), 2 * 4 * 4);
    assert_eq!(counted(TexFmt::TFMT4_16_16_16_16_FLOAT, [0.1, 0.9]), 0);
}
