//! Compares the fast path with the general path. Texel offsets of zero change nothing, but disable the fast
//! path.
use proptest::prelude::*;

use super::*;
use crate::a4xx::tpl1::{bank, sampler, texture};
use crate::draw::tpl1::planar::Planar;
use crate::draw::tpl1::{Border, BoundBank, Sampler};

/// Formats of the fast path, with bytes per texel. Very common formats occur several times.
const FORMATS: [(TexFmt, u32); 10] = [
    (TexFmt::TFMT4_8_UNORM, 1),
    (TexFmt::TFMT4_8_8_UNORM, 2),
    (TexFmt::TFMT4_5_6_5_UNORM, 2),
    (TexFmt::TFMT4_5_5_5_1_UNORM, 2),
    (TexFmt::TFMT4_4_4_4_4_UNORM, 2),
    (TexFmt::TFMT4_8_8_8_8_UNORM, 4),
    (TexFmt::TFMT4_8_8_8_8_UNORM, 4),
    (TexFmt::TFMT4_8_8_8_8_UNORM, 4),
    (TexFmt::TFMT4_10_10_10_2_UNORM, 4),
    (TexFmt::TFMT4_X8Z24_UNORM, 4),
];

const WRAPS: [TexClamp; 2] = [TexClamp::A4XX_TEX_REPEAT, TexClamp::A4XX_TEX_CLAMP_TO_EDGE];

/// Limits of the level of detail: most, and some that allow only one level or filter.
const LIMITS: [[u32; 2]; 7] =
    [[0, 14 << 8], [0, 14 << 8], [0, 32], [0, 0], [64, 128], [1 << 8, 1 << 8], [3 << 8, 1 << 8]];

/// Returns coordinates of a warp: a slope, with some special values.
pub fn coords() -> impl Strategy<Value = Lanes> {
    let odd = prop_oneof![
        5 => Just(None),
        1 => prop_oneof![Just(f32::NAN), Just(f32::INFINITY), Just(-0.0), Just(1.0), Just(1e9), -2.0f32..2.0].prop_map(Some),
    ];
    let odd = prop_oneof![Just(vec![None; LANES]), prop::collection::vec(odd, LANES)];
    let step = || prop_oneof![-0.6f32..0.6, -0.1f32..0.1];
    ((-2.0f32..3.0, step(), step()), odd).prop_map(|((at, right, down), odd)| {
        let slope = |i: usize| at + right * (i % 2) as f32 / 8.0 + down * (i / 2 % 16) as f32 / 16.0;
        Lanes(std::array::from_fn(|i| odd[i].unwrap_or(slope(i)).to_bits()))
    })
}

/// Returns textures and samplers of the fast path, some with truncated bytes.
pub fn scene() -> impl Strategy<Value = Scene> {
    // Some rows are far apart.
    let more = prop_oneof![7 => Just(0u32), 1 => Just(4 << 15)];
    let texture = (0..FORMATS.len(), 1u32..40, 1u32..40, 1u32..5, any::<bool>(), any::<u32>(), more);
    let sampler = (
        prop::array::uniform2(0..WRAPS.len()),
        prop::array::uniform3(0u32..2),
        0u32..3,
        0..LIMITS.len(),
        any::<bool>(),
    );
    (texture, sampler).prop_map(
        |((format, width, height, levels, short, seed, more), (wraps, filters, bias, limits, strict))| {
            let (fmt, texel) = FORMATS[format];
            let (height, levels) = if more > 0 { (height.min(3), 1) } else { (height, levels) };
            let len = if short { 300 } else { (1 << 14) + 3 * more };
            let bytes = (0..len).map(|i: u32| (i.wrapping_mul(seed | 1) >> 7) as u8).collect();
            let plain = Scene::new(fmt, width, height, texel, bytes);
            let [s, t] = wraps.map(|wrap| WRAPS[wrap].to_bits());
            let [mag, min, mip] = filters;
            let [min_lod, max_lod] = LIMITS[limits];
            let word0 = [
                ("XY_MAG", mag),
                ("XY_MIN", min),
                ("MIPFILTER_LINEAR_NEAR", mip),
                ("WRAP_S", s),
                ("WRAP_T", t),
                ("LOD_BIAS", bias * 100),
            ];
            let model = if strict { Model::StrictGl } else { Model::Board };
            Scene {
                levels,
                pitch: (width * texel).next_multiple_of(32) + more,
                swizzle: [2, 1, 0, 5],
                // Replaces one without a limit.
                sampler1: vec![],
                model,
                ..plain
            }
            .sampler(&word0, &[("MIN_LOD", min_lod), ("MAX_LOD", max_lod)])
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_common_request_is_answered_as_the_general_one(scene in scene(), s in coords(), t in coords(), level in coords(), which in 0usize..3) {
        let both = [&s, &t];
        let lod = [Lod::Zero, Lod::Implicit, Lod::Explicit(&level)][which];
        let common = Sample { lod, ..request(&both) };
        let zero = [&Lanes::ZERO, &Lanes::ZERO];
        let general = Sample { offsets: Some(Few::new(&zero)), ..common };
        let texture = texture(&scene.texture_words(), scene.model).unwrap();
        let sampler = Sampler::new(&sampler(&scene.sampler_words()), Border::default());
        let is_common = |request: &Sample<&Lanes>| {
            request.plain().is_some() && Planar::new(&texture, &sampler, &scene.bytes).is_some()
        };
        prop_assert_eq!([&common, &general].map(is_common), [true, false]);
        prop_assert_eq!(scene.ask(&common), scene.ask(&general));
    }
}

/// The cached data of a texture belongs to the sampler of the first request.
#[test]
fn a_texture_is_read_with_the_sampler_that_asks() {
    let scene = Scene::row(&[0, 255, 0, 255]);
    let memory = scene.memory();
    let samplers = [scene.sampler_words(), scene.clone().linear().sampler_words()];
    let bank = bank(&[scene.texture_words()], &samplers, BORDERS, scene.model, &memory);
    let at = Lanes::splat(0.25f32.to_bits());
    let coords = [&at, &at];
    let red = |bound: &BoundBank<'_>, sampler| {
        let asked = Sample { slots: Slots::Uniform { sampler, texture: 0 }, ..request(&coords) };
        let mut out = [Lanes::ZERO; 4];
        bound.filter(&asked.plain().expect("a common one"), &mut out).expect("a common texture");
        f32::from_bits(out[0][0])
    };
    for order in [[0, 1, 0], [1, 0, 1]] {
        let bound = bank.bind(&memory);
        let expected = order.map(|sampler| [255.0, 127.5][sampler as usize]);
        assert_eq!(order.map(|sampler| steps(red(&bound, sampler))), expected);
    }
}
