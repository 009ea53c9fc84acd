//! Measures the time of a texture request of 32 lanes.
//!
//! Run with `cargo bench --bench texture`. The aim is less than 250 ns for a bilinear RGBA8 request.
use std::hint::black_box;

use a4emu_gpu::a4xx::tpl1::bank;
use a4emu_gpu::memory::Memory;
use a4emu_shader::{ALL, Few, LANES, Lanes, Lod, Number, Sample, SampleKind, Slots};
use criterion::{Criterion, criterion_group, criterion_main};

const BASE: u32 = 0x1000_0000;
const SIZE: u32 = 256;

/// A 256x256 2D texture of format `fmt` (TEX_CONST_0.FMT) with `levels` levels.
fn texture(fmt: u32, bytes: u32, levels: u32) -> [u32; 8] {
    let c0 = 1 << 29 | fmt << 22 | (levels - 1) << 16 | 3 << 13 | 2 << 10 | 1 << 7;
    [c0, SIZE << 15 | SIZE, (SIZE * bytes) << 9 | bytes.ilog2(), 0, BASE, 0, 0, 0]
}

const NEAREST: u32 = 0;
const LINEAR: u32 = 1 << 1 | 1 << 3;
const TRILINEAR: u32 = LINEAR | 1;
const CLAMP: u32 = 1 << 5 | 1 << 8;

/// Lanes of an 8x4 patch of pixels, quad by quad, `step` texels apart.
fn patch(step: f32) -> [Lanes; 2] {
    let x = |lane: usize| (lane / 4 % 4 * 2 + lane % 2) as f32;
    let y = |lane: usize| (lane / 16 * 2 + lane / 2 % 2) as f32;
    let coord = |at: f32| 0.3 + at * step / SIZE as f32;
    [std::array::from_fn::<f32, LANES, _>(|i| coord(x(i))), std::array::from_fn(|i| coord(y(i)))]
        .map(Lanes::from)
}

fn bench(c: &mut Criterion) {
    let mut memory = Memory::new();
    let contents: Vec<u8> = (0..SIZE * SIZE * 32).map(|i| (i * 7 + i / 1024) as u8).collect();
    memory.announce(BASE, contents.len() as u32, Some(&contents));
    let max_lod = 12 << 8 << 8;
    let cases = [
        ("rgba8 nearest repeat", texture(0x1c, 4, 1), NEAREST, 0.9),
        ("rgba8 bilinear repeat", texture(0x1c, 4, 1), LINEAR, 0.9),
        ("rgba8 bilinear clamp", texture(0x1c, 4, 1), LINEAR | CLAMP, 0.9),
        ("rgba8 bilinear, nearest mip", texture(0x1c, 4, 9), LINEAR, 2.1),
        ("rgba8 trilinear", texture(0x1c, 4, 9), TRILINEAR, 3.1),
        ("r8 bilinear", texture(0x04, 1, 1), LINEAR, 0.9),
        ("rgba16f bilinear", texture(0x35, 8, 1), LINEAR, 0.9),
        ("dxt1 bilinear", texture(0x56, 8, 1), LINEAR, 0.9),
        ("astc 4x4 bilinear", texture(0x6f, 16, 1), LINEAR, 0.9),
    ];
    for (name, words, sampler, step) in cases {
        let bank = bank(&[words], &[[sampler, max_lod]], 0, a4emu_gpu::gpu::Model::Board, &memory);
        let bound = bank.bind(&memory);
        let [s, t] = patch(step);
        let coords = [&s, &t];
        let request = Sample {
            kind: SampleKind::Filter,
            lod: Lod::Implicit,
            number: Number::Float,
            components: 0xf,
            slots: Slots::Uniform { sampler: 0, texture: 0 },
            coords: Few::new(&coords),
            layer: None,
            reference: None,
            projector: None,
            offsets: None,
            sample: None,
        };
        let mut out = [Lanes::ZERO; 4];
        c.bench_function(name, |b| b.iter(|| bound.sample(black_box(&request), ALL, black_box(&mut out))));
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
