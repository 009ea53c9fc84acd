use pretty_assertions::assert_eq;

use super::*;
use crate::a4xx::tpl1::bank;
use crate::draw::tpl1::FILTERED;
use a4emu_shader::Question;

fn fetch(scene: &Scene, coords: &[i32], lod: Lod<&Lanes>, number: Number) -> [u32; 4] {
    let lanes: Vec<Lanes> = coords.iter().map(|&c| Lanes::splat(c as u32)).collect();
    let refs: Vec<&Lanes> = lanes.iter().collect();
    let out = scene.ask(&Sample { kind: SampleKind::Fetch, lod, number, ..request(&refs) });
    out.map(|lanes| lanes[5])
}

fn counting(fmt: TexFmt) -> Scene {
    Scene { pitch: 32, ..Scene::new(fmt, 4, 3, 4, (0..96).collect()) }
}

#[test]
fn integer_coordinates_name_texels() {
    let scene = counting(TexFmt::TFMT4_8_8_8_8_UINT);
    assert_eq!(fetch(&scene, &[1, 2], Lod::Zero, Number::Uint), [68, 69, 70, 71]);
    assert_eq!(
        fetch(&scene, &[1, 2], Lod::Zero, Number::Float),
        [68.0f32, 69.0, 70.0, 71.0].map(f32::to_bits)
    );
    let signed = Scene { bytes: vec![0xff; 96], ..counting(TexFmt::TFMT4_8_8_8_8_SINT) };
    assert_eq!(fetch(&signed, &[0, 0], Lod::Zero, Number::Sint), [u32::MAX; 4]);
    assert_eq!(fetch(&signed, &[0, 0], Lod::Zero, Number::Float), [(-1.0f32).to_bits(); 4]);
}

/// A texel lies where its description says: each dword of the texture holds its own offset.
#[test]
fn texels_lie_where_their_places_say() {
    let bytes: Vec<u8> = (0..4096u32).flat_map(|dword| (4 * dword).to_le_bytes()).collect();
    let plain = Scene { pitch: 64, levels: 2, ..Scene::new(TexFmt::TFMT4_32_UINT, 16, 8, 4, bytes) };
    let tiled = |words: [u32; 8]| {
        [
            words[0] | word(TEX_CONST_0::FIELDS, &[("TILED", 1)]),
            words[1],
            words[2],
            words[3],
            words[4],
            0,
            0,
            0,
        ]
    };
    for words in [plain.texture_words(), tiled(plain.texture_words())] {
        let texture = crate::a4xx::tpl1::texture(&words, plain.model).expect("a texture");
        let memory = plain.memory();
        let bank = bank(&[words], &[plain.sampler_words()], BORDERS, plain.model, &memory);
        for (level, [x, y]) in [(0, [0, 0]), (0, [5, 6]), (0, [15, 7]), (1, [3, 2])] {
            let (column, row, level) = (Lanes::splat(x), Lanes::splat(y), Lanes::splat(level));
            let coords = [&column, &row];
            let asked = Sample {
                kind: SampleKind::Fetch,
                lod: Lod::Level(&level),
                number: Number::Uint,
                ..request(&coords)
            };
            let mut out = [Lanes::ZERO; 4];
            bank.bind(&memory).sample(&asked, ALL, &mut out);
            let place = texture.places().unwrap().address([level[0], 0, 0], [x, y]);
            assert_eq!(place, Some(u64::from(BASE + out[0][0])), "{x}, {y} of level {}", level[0]);
        }
        assert_eq!(texture.places().unwrap().address([2, 0, 0], [0, 0]), None);
    }
}

#[test]
fn outside_is_zero() {
    let scene = counting(TexFmt::TFMT4_8_8_8_8_UINT);
    for coords in [[-1, 0], [4, 0], [0, 3], [0, -1], [i32::MAX, 0], [i32::MIN, i32::MIN]] {
        assert_eq!(fetch(&scene, &coords, Lod::Zero, Number::Uint), [0; 4]);
    }
    for level in [1u32, 15, u32::MAX] {
        assert_eq!(fetch(&scene, &[0, 0], Lod::Level(&Lanes::splat(level)), Number::Uint), [0; 4]);
    }
}

#[test]
fn levels_offsets_and_layers_of_fetches() {
    let mut bytes = vec![0; 8192];
    bytes[2 * 32 + 1] = 77;
    bytes[4096 + 1] = 99;
    let scene = Scene::new(TexFmt::TFMT4_8_UINT, 4, 2, 1, bytes);
    let scene = Scene { pitch: 32, levels: 2, size: (4, 2, 2), ..scene };
    assert_eq!(fetch(&scene, &[1, 0], Lod::Level(&Lanes::splat(1)), Number::Uint)[0], 77);
    let (x, y, layer, one) = (Lanes::ZERO, Lanes::ZERO, Lanes::splat(1), Lanes::splat(1));
    let (coords, offsets) = ([&x, &y], [&one, &y]);
    let request = Sample {
        kind: SampleKind::Fetch,
        lod: Lod::Zero,
        number: Number::Uint,
        layer: Some(&layer),
        offsets: Some(Few::new(&offsets)),
        ..request(&coords)
    };
    assert_eq!(scene.ask(&request)[0][0], 99);
}

#[test]
fn buffers_are_one_long_row() {
    let bytes: Vec<u8> = (0..40_000u32).flat_map(u32::to_le_bytes).collect();
    let scene = Scene::new(TexFmt::TFMT4_32_UINT, 40_000 % 0x8000, 40_000 / 0x8000, 4, bytes);
    let scene = Scene { ty: TexType::A4XX_TEX_BUFFER, pitch: 0, ..scene };
    assert_eq!(fetch(&scene, &[39_999, 0], Lod::Zero, Number::Uint)[0], 39_999);
    assert_eq!(fetch(&scene, &[40_000, 0], Lod::Zero, Number::Uint)[0], 0);
    let slots = Slots::Uniform { sampler: 0, texture: 0 };
    let query = Query { question: Question::Buffer, number: Number::Uint, slots };
    assert_eq!(scene.query(&query)[0], 40_000);
}

#[test]
fn sizes_are_those_of_the_level() {
    let slots = Slots::Uniform { sampler: 0, texture: 0 };
    let size = |scene: &Scene, level: u32| {
        let level = Lanes::splat(level);
        scene.query(&Query { question: Question::Size(&level), number: Number::Uint, slots })
    };
    let scene = Scene { size: (20, 9, 8), levels: 4, ..counting(TexFmt::TFMT4_8_UNORM) };
    assert_eq!([size(&scene, 0), size(&scene, 2)], [[20, 9, 8, 8], [5, 2, 8, 8]]);
    let volume = Scene { ty: TexType::A4XX_TEX_3D, ..scene };
    assert_eq!([size(&volume, 2), size(&volume, 99)], [[5, 2, 2, 8], [0, 0, 0, 8]]);
}

#[test]
fn info_has_the_codes_of_the_format() {
    let slots = Slots::Uniform { sampler: 0, texture: 0 };
    let info = |fmt| {
        let scene = Scene { levels: 3, ..counting(fmt) };
        scene.query(&Query { question: Question::Info, number: Number::Uint, slots })
    };
    assert_eq!(info(TexFmt::TFMT4_8_8_8_8_UNORM), [2, 8, 3, 1]);
    assert_eq!(info(TexFmt::TFMT4_16_16_UINT), [11, 3, 3, 1]);
    assert_eq!(info(TexFmt::TFMT4_X8Z24_UNORM), [18, 17, 3, 1]);
}

#[test]
fn slots_may_differ_between_lanes() {
    let first = counting(TexFmt::TFMT4_8_8_8_8_UINT);
    let second = Scene { size: (1, 1, 0), ..counting(TexFmt::TFMT4_8_8_8_8_UINT) };
    let memory = first.memory();
    let bank = bank(&[first.texture_words(), second.texture_words()], &[], 0, Model::Board, &memory);
    let (x, y) = (Lanes::splat(1), Lanes::ZERO);
    let texture = Lanes(std::array::from_fn(|i| i as u32 % 3));
    let coords = [&x, &y];
    let slots = Slots::PerLane { sampler: &x, texture: &texture };
    let request =
        Sample { kind: SampleKind::Fetch, lod: Lod::Zero, number: Number::Uint, slots, ..request(&coords) };
    let mut out = [Lanes::splat(5); 4];
    let answered = bank.bind(&memory).sample(&request, ALL, &mut out);
    assert_eq!(answered.used, 0b111);
    assert_eq!(answered.more, 2 * FILTERED * LANES as u64, "three textures are asked one after the other");
    assert_eq!(out[0][..6], [4, 0, 0, 4, 0, 0]);
}
