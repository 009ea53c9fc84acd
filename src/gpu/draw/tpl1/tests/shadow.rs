use pretty_assertions::assert_eq;

use super::*;

/// A 2x2 grid of depths 0, 1/4, 1/2, 3/4.
fn depths() -> Scene {
    let rows = [[0.0f32, 0.25], [0.5, 0.75]];
    let row = |row: [f32; 2]| [row.map(f32::to_le_bytes).concat(), vec![0; 24]].concat();
    let bytes = rows.map(row).concat();
    let scene = Scene { pitch: 32, ..Scene::new(TexFmt::TFMT4_32_FLOAT, 2, 2, 4, bytes) };
    scene.wrapped(TexClamp::A4XX_TEX_CLAMP_TO_EDGE)
}

fn compare(scene: &Scene, at: [f32; 2], reference: f32) -> [f32; 4] {
    let [s, t, reference] = [at[0], at[1], reference].map(|v| Lanes::from([v; LANES]));
    let out = scene.ask(&Sample { reference: Some(&reference), ..request(&[&s, &t]) });
    by_lane(&out)[0]
}

#[test]
fn functions_compare_the_reference_with_the_texel() {
    let passes = |function: u32| {
        let scene = depths().sampler(&[], &[("COMPARE_FUNC", function)]);
        [0.125, 0.25, 0.375].map(|reference| compare(&scene, [0.75, 0.25], reference)[0])
    };
    let expected = [
        [0., 0., 0.],
        [1., 0., 0.],
        [0., 1., 0.],
        [1., 1., 0.],
        [0., 0., 1.],
        [1., 0., 1.],
        [0., 1., 1.],
        [1., 1., 1.],
    ];
    assert_eq!(std::array::from_fn(|function| passes(function as u32)), expected);
}

#[test]
fn linear_filters_the_results() {
    let scene = depths().linear().sampler(&[], &[("COMPARE_FUNC", 1)]);
    assert_eq!(compare(&scene, [0.5, 0.5], 0.3), [0.5, 0.5, 0.5, 1.0]);
    assert_eq!(compare(&scene, [0.5, 0.5], 0.1)[0], 0.75);
    assert_eq!(compare(&scene, [0.25, 0.375], 0.3)[0], 0.25);
}

#[test]
fn references_are_clamped_for_fixed_point_depth() {
    let scene = Scene { fmt: TexFmt::TFMT4_16_UNORM, bytes: vec![0xff; 64], ..depths() };
    let scene = scene.sampler(&[], &[("COMPARE_FUNC", 3)]);
    assert_eq!(compare(&scene, [0.25, 0.25], 1.5)[0], 1.0);
    let float = Scene { bytes: vec![0; 64], ..depths() }.sampler(&[], &[("COMPARE_FUNC", 3)]);
    assert_eq!(compare(&float, [0.25, 0.25], 1.5)[0], 0.0);
}

#[test]
fn gather_gives_the_four_texels_in_order_and_ignores_the_swizzle() {
    let scene = Scene { swizzle: [4, 4, 4, 4], ..depths() };
    let (s, t) = (Lanes::from([0.5; LANES]), Lanes::from([0.5; LANES]));
    let coords = [&s, &t];
    let gather = Sample { kind: SampleKind::Gather(0), lod: Lod::Zero, ..request(&coords) };
    assert_eq!(by_lane(&scene.ask(&gather))[0], [0.5, 0.75, 0.25, 0.0]);
    assert_eq!(by_lane(&scene.ask(&Sample { kind: SampleKind::Gather(3), ..gather }))[0], [1.0; 4]);
    let (x, y) = (Lanes::splat(1), Lanes::ZERO);
    let offsets = [&x, &y];
    assert_eq!(
        by_lane(&scene.ask(&Sample { offsets: Some(Few::new(&offsets)), ..gather }))[0],
        [0.75, 0.75, 0.25, 0.25]
    );
    let reference = Lanes::from([0.3; LANES]);
    let scene = scene.sampler(&[], &[("COMPARE_FUNC", 1)]);
    assert_eq!(
        by_lane(&scene.ask(&Sample { reference: Some(&reference), ..gather }))[0],
        [1.0, 1.0, 0.0, 0.0]
    );
}
