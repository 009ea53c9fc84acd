use proptest::prelude::*;

use super::*;
use crate::a4xx::tpl1::bank;
use crate::fault::Client;
use a4emu_shader::Question;

/// Runs every kind of request that a shader can make, with these coordinates.
fn ask_everything(bank: &TextureBank, memory: &Memory, coords: [Lanes; 3]) {
    let [x, y, z] = &coords;
    let bound = bank.bind(memory);
    let kinds = [SampleKind::Filter, SampleKind::Fetch, SampleKind::Gather(2), SampleKind::QueryLod];
    let lods = [
        Lod::Implicit,
        Lod::Zero,
        Lod::Bias(x),
        Lod::Explicit(y),
        Lod::Level(x),
        Lod::Gradients([x, y, z], [z, x, y]),
    ];
    for kind in kinds {
        for lod in lods {
            for rest in [None, Some(z)] {
                let (coords, offsets) = ([x, y, z], [y, z, x]);
                let offsets = rest.map(|_| Few::new(&offsets));
                let base = request(&coords);
                let request =
                    Sample { kind, lod, layer: rest, reference: rest, projector: rest, offsets, ..base };
                let mut out = [Lanes::ZERO; 4];
                bound.sample(&request, ALL, &mut out);
            }
        }
    }
    for question in [Question::Size(x), Question::Buffer, Question::Info, Question::SamplePosition(x)] {
        let slots = Slots::PerLane { sampler: y, texture: x };
        bound.query(&Query { question, number: Number::Uint, slots }, ALL, &mut [Lanes::ZERO; 4]);
    }
}

fn edge_lanes(seed: u32) -> Lanes {
    const EDGES: [u32; 12] = [
        0,
        1,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x4f00_0000,
        0xcf00_0000,
        0x3f00_0000,
        0x0000_0001,
    ];
    Lanes(std::array::from_fn(|i| EDGES[(i as u32 * 7 + seed) as usize % EDGES.len()]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_descriptor_and_coordinates_give_something(
        words in any::<[u32; 8]>(), samp in any::<[u32; 2]>(), seed in 0u32..12, known in any::<bool>(),
    ) {
        let mut memory = Memory::new();
        memory.announce(BASE, 5000, Some(&vec![0xa5; 5000]));
        let mut words = words;
        if known {
            // A valid format and address, so that the loops run.
            let keep = !(word(TEX_CONST_0::FIELDS, &[("FMT", 0x7f), ("TYPE", 7), ("TILED", 1)]));
            let fmt = [0x1c, 0x04, 0x35, 0x3b, 0x56, 0x7c, 0x20, 0x47, 0x41][seed as usize % 9];
            let ty = seed % 5;
            words[0] = words[0] & keep | word(TEX_CONST_0::FIELDS, &[("FMT", fmt), ("TYPE", ty)]);
            words[4] = BASE;
        }
        let bank = bank(&[words], &[samp], BORDERS, Model::Board, &memory);
        ask_everything(&bank, &memory, [edge_lanes(seed), edge_lanes(seed + 5), edge_lanes(seed + 9)]);
    }
}

#[test]
fn nan_and_infinite_coordinates_give_some_texel() {
    let scene = Scene::row(&[10, 20, 30, 40]);
    let wraps = [
        TexClamp::A4XX_TEX_REPEAT,
        TexClamp::A4XX_TEX_CLAMP_TO_EDGE,
        TexClamp::A4XX_TEX_MIRROR_REPEAT,
        TexClamp::A4XX_TEX_MIRROR_CLAMP,
    ];
    for wrap in wraps {
        for scene in [scene.clone().wrapped(wrap), scene.clone().wrapped(wrap).linear()] {
            for coord in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 2_147_483_648.0] {
                let value = steps(scene.at(&[coord, coord])[0]);
                assert!((10.0..=40.0).contains(&value), "{wrap:?} {coord} {value}");
            }
        }
    }
}

#[test]
fn unsupported_textures_are_reported_when_sampled() {
    let scene = Scene::row(&[1]);
    let mut eight = scene.texture_words();
    eight[0] |= word(TEX_CONST_0::FIELDS, &[("SAMPLES", 3)]);
    let memory = scene.memory();
    let bank = bank(&[eight, [0; 8]], &[], 0, Model::Board, &memory);
    let bound = bank.bind(&memory);
    let x = Lanes::ZERO;
    let mut out = [Lanes::splat(9); 4];
    let used = bound.sample(&request(&[&x, &x]), ALL, &mut out).used;
    assert_eq!(out, [Lanes::ZERO; 4]);
    let unsupported = |used| bank.unsupported(used).collect::<Vec<_>>();
    assert_eq!(unsupported(used), [(0, TextureError::Samples("TEX_CONST_0.SAMPLES"))]);
    assert_eq!(unsupported(0), []);
    assert_eq!(unsupported(2), [(1, TextureError::Format("TEX_CONST_0.FMT", 0))]);
}

#[test]
fn missing_texels_are_reported_and_read_as_zero() {
    let scene = Scene { pitch: 32, size: (1, 64, 0), bytes: vec![255; 32], ..Scene::row(&[255]) };
    let memory = scene.memory();
    let bank = scene.bank(&memory);
    let bound = bank.bind(&memory);
    let (s, t) = (Lanes::from([0.5; LANES]), Lanes::from([0.9; LANES]));
    let mut out = [Lanes::ZERO; 4];
    let used = bound.sample(&request(&[&s, &t]), ALL, &mut out).used;
    assert_eq!(by_lane(&out)[0], [0.0, 0.0, 0.0, 1.0]);
    let missing = bound.missing(used).collect::<Vec<_>>();
    assert_eq!(
        (missing[0].client, missing[0].address, missing[0].len),
        (Client::Texture, BASE.into(), 63 * 32 + 1)
    );
}

#[test]
fn texels_at_odd_host_addresses_read_the_same() {
    let scene = Scene::new(TexFmt::TFMT4_32_UINT, 8, 1, 4, (0..32).collect());
    let mut memory = Memory::new();
    // The texture starts 32 bytes into a buffer that itself starts one byte early.
    memory.announce(BASE - 33, 65, Some(&[vec![0; 33], scene.bytes.clone()].concat()));
    let bank = scene.bank(&memory);
    let (x, y) = (Lanes(std::array::from_fn(|i| i as u32 % 9)), Lanes::ZERO);
    let coords = [&x, &y];
    let fetch = Sample { kind: SampleKind::Fetch, lod: Lod::Zero, number: Number::Uint, ..request(&coords) };
    let mut out = [Lanes::ZERO; 4];
    bank.bind(&memory).sample(&fetch, ALL, &mut out);
    assert_eq!(out[0][..], scene.ask(&fetch)[0][..]);
}
