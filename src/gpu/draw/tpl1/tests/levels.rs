use pretty_assertions::assert_eq;

use super::*;

/// An 8x8 texture with four levels, whose texels are all 10, 20, 30, 40.
fn pyramid() -> Scene {
    let mut bytes = vec![];
    for (level, rows) in [8usize, 4, 2, 1].into_iter().enumerate() {
        bytes.extend(std::iter::repeat_n(level as u8 * 10 + 10, rows * 32));
    }
    Scene { pitch: 32, levels: 4, ..Scene::new(TexFmt::TFMT4_8_UNORM, 8, 8, 1, bytes) }
}

/// Returns coordinates that step by `texels` of level 0 per pixel.
fn ramp(texels: f32) -> [[f32; LANES]; 2] {
    let s = std::array::from_fn(|i| (i % 2) as f32 * texels / 8.0);
    [s, [0.3; LANES]]
}

fn implicit(scene: &Scene, texels: f32) -> f32 {
    steps(scene.colors(&ramp(texels))[0][0])
}

fn with_lod(scene: &Scene, lod: Lod<&Lanes>) -> f32 {
    let (s, t) = (Lanes::from([0.3; LANES]), Lanes::from([0.3; LANES]));
    steps(by_lane(&scene.ask(&Sample { lod, ..request(&[&s, &t]) }))[0][0])
}

fn explicit(scene: &Scene, lod: f32) -> f32 {
    with_lod(scene, Lod::Explicit(&Lanes::from([lod; LANES])))
}

#[test]
fn implicit_level_is_the_logarithm_of_the_step() {
    let nearest = pyramid();
    assert_eq!(
        [0.5, 1.0, 1.9, 2.0, 4.0, 100.0].map(|t| implicit(&nearest, t)),
        [10., 10., 20., 20., 30., 40.]
    );
    let linear = pyramid().sampler(&[("MIPFILTER_LINEAR_NEAR", 1)], &[]);
    assert_eq!([1.0, 2.0, 4.0, 8.0, 64.0].map(|t| implicit(&linear, t)), [10., 20., 30., 40., 40.]);
    assert!((implicit(&linear, 2f32.powf(0.5)) - 15.0).abs() < 0.01);
}

#[test]
fn steps_down_the_screen_count_as_well() {
    let t = std::array::from_fn(|i| (i / 2 % 2) as f32 * 4.0 / 8.0);
    assert_eq!(steps(pyramid().colors(&[[0.3; LANES], t])[0][0]), 30.0);
}

/// The step is 1 texel in the first row of each quad, and 4 in the second, so it is 3 down the second column.
#[test]
fn each_pixel_has_the_steps_of_its_own_row_and_column() {
    let s = std::array::from_fn(|i| [0.0, 1.0, 0.0, 4.0][i % 4] / 8.0);
    let colors = pyramid().colors(&[s, [0.3; LANES]]);
    assert_eq!([0, 1, 2, 3].map(|lane| steps(colors[lane][0])), [10.0, 30.0, 30.0, 30.0]);
}

#[test]
fn explicit_level_bias_and_limits() {
    let scene = pyramid();
    assert_eq!([-1.0, 0.5, 0.6, 2.0, 9.0].map(|lod| explicit(&scene, lod)), [10., 10., 20., 30., 40.]);
    let biased = pyramid().sampler(&[("LOD_BIAS", 1 << 8)], &[]);
    assert_eq!([0.0, 1.0].map(|lod| explicit(&biased, lod)), [20.0, 30.0]);
    let negative = pyramid().sampler(&[("LOD_BIAS", (-256i32) as u32 & 0x1fff)], &[]);
    assert_eq!(explicit(&negative, 2.0), 20.0);
    let raised = pyramid().sampler(&[], &[("MIN_LOD", 2 << 8)]);
    assert_eq!([0.0, 3.0].map(|lod| explicit(&raised, lod)), [30.0, 40.0]);
    let capped = Scene { sampler1: vec![("MAX_LOD", 1 << 8)], ..pyramid() };
    assert_eq!([0.0, 3.0].map(|lod| explicit(&capped, lod)), [10.0, 20.0]);
    assert_eq!(explicit(&scene, f32::NAN), 10.0);
}

/// Guess `level-of-detail`: rounded to 1/256, like the result of getlod. Strict GL keeps all bits.
#[test]
fn levels_of_detail_count_in_steps() {
    let scene = pyramid().sampler(&[("MIPFILTER_LINEAR_NEAR", 1)], &[]);
    let strict = Scene { model: Model::StrictGl, ..scene.clone() };
    let step = 10.0 / 256.0;
    for (lod, steps) in [(0.0019, 0.0), (0.002, 1.0), (0.0058, 1.0), (0.0059, 2.0), (0.9979, 255.0)] {
        assert_eq!(explicit(&scene, lod), 10.0 + steps * step, "{lod}");
        assert!((explicit(&strict, lod) - (10.0 + 10.0 * lod)).abs() < step / 8.0, "{lod}");
    }
    // Slight minification counts as magnification, so the other filter applies.
    let scene = pyramid().sampler(&[("XY_MAG", 1)], &[]);
    let magnified = |texels: f32, model: Model| {
        let [s, t] = ramp(texels).map(Lanes::from);
        let scene = Scene { model, sampler0: [("XY_MAG", 1)].into(), ..scene.clone() };
        // A checkerboard, whose filtered texels differ from all texels.
        let bytes = (0..512).map(|at| if (at / 32 + at) % 2 == 0 { 0 } else { 200 }).collect();
        let out = Scene { bytes, ..scene }.ask(&request(&[&s, &t]));
        ![0.0, 200.0].contains(&steps(by_lane(&out)[1][0]))
    };
    for (texels, board, strict) in [(1.0, true, true), (1.0005, true, false), (1.002, false, false)] {
        assert_eq!(magnified(texels, Model::Board), board, "{texels}");
        assert_eq!(magnified(texels, Model::StrictGl), strict, "{texels}");
    }
}

#[test]
fn bias_adds_to_the_implicit_level() {
    let bias = Lanes::from([1.0; LANES]);
    let [s, t] = ramp(2.0).map(Lanes::from);
    let out = pyramid().ask(&Sample { lod: Lod::Bias(&bias), ..request(&[&s, &t]) });
    assert_eq!(steps(by_lane(&out)[0][0]), 30.0);
}

#[test]
fn gradients_replace_the_quad() {
    let (zero, step) = (Lanes::ZERO, Lanes::from([0.5; LANES]));
    let lod = Lod::Gradients([&zero, &zero, &zero], [&zero, &step, &zero]);
    assert_eq!(with_lod(&pyramid(), lod), 30.0);
}

#[test]
fn without_mipmaps_an_eighth_tells_small_from_large() {
    // Values that the driver writes for GL_LINEAR over GL_NEAREST without mipmaps.
    let scene = Scene { sampler1: vec![("MAX_LOD", 0x20)], ..Scene::row(&[0, 100]) };
    let scene = scene.sampler(&[("XY_MIN", 1)], &[]).wrapped(TexClamp::A4XX_TEX_CLAMP_TO_EDGE);
    let at = |step: f32| {
        let s = std::array::from_fn(|i| 0.45 + (i % 2) as f32 * step);
        steps(scene.colors(&[s, [0.5; LANES]])[0][0])
    };
    assert_eq!(at(0.1), 0.0);
    // The position between the texels has steps of 1/256: 102 of them.
    assert!((at(0.9) - 100.0 * 102.0 / 256.0).abs() < 0.1);
}

#[test]
fn lanes_of_one_request_may_use_different_levels_and_filters() {
    let lods: [f32; LANES] = std::array::from_fn(|i| i as f32 * 0.11 - 0.4);
    let lanes = Lanes::from(lods);
    let (s, t) = (Lanes::from([0.3; LANES]), Lanes::from([0.3; LANES]));
    for scene in [
        pyramid().sampler(&[("XY_MIN", 1)], &[]),
        pyramid().sampler(&[("MIPFILTER_LINEAR_NEAR", 1), ("XY_MAG", 1)], &[]),
    ] {
        let out = by_lane(&scene.ask(&Sample { lod: Lod::Explicit(&lanes), ..request(&[&s, &t]) }));
        for i in 0..LANES {
            assert_eq!(steps(out[i][0]), explicit(&scene, lods[i]), "lane {i}");
        }
    }
}

#[test]
fn the_level_can_be_asked_for() {
    let [s, t] = ramp(8.0).map(Lanes::from);
    let scene = Scene { sampler1: vec![("MAX_LOD", 2 << 8)], ..pyramid() };
    let out = scene.ask(&Sample { kind: SampleKind::QueryLod, number: Number::Sint, ..request(&[&s, &t]) });
    assert_eq!((out[0][0], out[1][0]), (2 * 256, 3 * 256));
}

/// The driver's limit without mipmaps is an eighth; piglit's `fs-textureQueryLOD-no-mipmap` asks for level 0, and passes
/// on a board.
#[test]
fn the_level_asked_for_is_whole_unless_levels_are_blended() {
    let [s, t] = ramp(2.0).map(Lanes::from);
    let level = |mip: u32| {
        let scene = Scene { sampler1: vec![("MAX_LOD", 0x20)], ..pyramid() };
        let scene = scene.sampler(&[("MIPFILTER_LINEAR_NEAR", mip)], &[]);
        let out =
            scene.ask(&Sample { kind: SampleKind::QueryLod, number: Number::Sint, ..request(&[&s, &t]) });
        (out[0][0], out[1][0])
    };
    assert_eq!([level(0), level(1)], [(0, 256), (0x20, 256)]);
}
