use pretty_assertions::assert_eq;

use super::*;

/// 2x2 faces: all texels of face `f` are 10 * (f + 1).
fn faces() -> Scene {
    let mut bytes = vec![0; 6 * 4096];
    for (face, bytes) in bytes.chunks_mut(4096).enumerate() {
        bytes[..2].fill(face as u8 * 10 + 10);
        bytes[32..34].fill(face as u8 * 10 + 10);
    }
    let scene = Scene::new(TexFmt::TFMT4_8_UNORM, 2, 2, 1, bytes);
    Scene { pitch: 32, ty: TexType::A4XX_TEX_CUBE, size: (2, 2, 1), ..scene }
}

fn value(scene: &Scene, direction: [f32; 3]) -> f32 {
    steps(scene.at(&direction)[0])
}

#[test]
fn directions_choose_faces() {
    let axes = [[1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.]];
    let scene = faces();
    assert_eq!(axes.map(|axis| value(&scene, axis)), [10., 20., 30., 40., 50., 60.]);
    assert_eq!(axes.map(|axis| value(&scene.clone().linear(), axis)), [10., 20., 30., 40., 50., 60.]);
}

#[test]
fn seams_blend_with_the_neighbour() {
    let scene = faces().linear();
    // The middle of the edge between +x and +z.
    assert_eq!(value(&scene, [1.0, 0.0, 0.999_999]), 30.0);
    let hard = scene.clone().sampler(&[], &[("CUBEMAPSEAMLESSFILTOFF", 1)]);
    assert_eq!(value(&hard, [1.0, 0.0, 0.999_999]), 10.0);
}

#[test]
fn corners_blend_three_faces() {
    // The blend has its own texel, two neighbours, and the mean of the three instead of a fourth.
    assert_eq!(value(&faces().linear(), [1.0, 0.999_999, 0.999_999]), 30.0);
}

#[test]
fn cube_arrays_count_whole_cubes() {
    let mut scene = faces();
    scene.bytes.extend(std::iter::repeat_n(200, 6 * 4096));
    scene.size.2 = 2;
    let [x, y, z] = [[0.0; LANES], [0.0; LANES], [-1.0; LANES]].map(Lanes::from);
    let coords = [&x, &y, &z];
    let of = |layer: f32| {
        let layer = Lanes::from([layer; LANES]);
        steps(by_lane(&scene.ask(&Sample { layer: Some(&layer), ..request(&coords) }))[0][0])
    };
    assert_eq!([0.5, 1.5, 7.0].map(of), [60.0, 200.0, 200.0]);
}
