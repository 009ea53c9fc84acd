//! Measures the cost of a draw: 20,000 draws of one triangle of 72 pixels on one thread.
//!
//! Draws go to tile memory or straight to memory, with no state change between them or with a hundred
//! register writes.

use std::path::Path;

use a4emu_decoder::adreno::capture::{Body, Sections};
use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_gpu::cp::{Cp, Renderer, Silent};
use a4emu_gpu::playback::Playback;
use a4emu_inspect::asm::Disk;
use a4emu_inspect::folders::Folders;
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const DRAWS: u64 = 20_000;

const SOURCE: &str = r#"
    include "setup.a4i"
    gpu_id 420
    const SIZE = 256
    buffer target size SIZE * SIZE * 4
    buffer vertices { f32
        -0.05, -0.05, 1.0, 0.0, 0.0,
         0.05, -0.05, 0.0, 1.0, 0.0,
         0.0,   0.05, 0.0, 0.0, 1.0 }
    buffer vs size 128 { shader {
        mov.f32f32 r0.z, (0.0)
        mov.f32f32 r0.w, (1.0)
        end
    } }
    buffer fs size 128 { shader {
        bary.f r0.z, 0, r0.x
        bary.f r0.w, 1, r0.x
        bary.f (ei)r1.x, 2, r0.x
        mov.f32f32 r1.y, (1.0)
        end
    } }
    buffer main {
        use frame(target, SIZE, SIZE)
        MEMORY
        use program(vs, fs, r0.x, r0.z)
        use varying(r0.x, r1.x, 3)
        use attribute_and_next(0, vertices, 60, 20, VFMT4_32_32_FLOAT, 2, r0.x)
        use attribute(1, vertices + 8, 52, 20, VFMT4_32_32_32_FLOAT, 3, r1.x)
        use attributes(2, 5)
        for i in 0..20000 {
            CHANGES
            use draw(DI_PT_TRILIST, 3)
        }
    }
    submit main
"#;

const TILE_MEMORY: &str =
    "RB_MODE_CONTROL { ENABLE_GMEM | WIDTH = SIZE | HEIGHT = SIZE }\nRB_MRT[0].BASE = 0";

/// Writes a hundred registers of unused fetches. They are inputs of the whole vertex fetch state.
const HUNDRED: &str = "for k in 4..29 {
    VFD_FETCH[k].INSTR_0 = i + k
    VFD_FETCH[k].INSTR_1 = i + k
    VFD_FETCH[k].INSTR_2 = i + k
    VFD_FETCH[k].INSTR_3 = i + k
}";

fn capture(memory: &str, changes: &str) -> Vec<u8> {
    let source = SOURCE.replace("MEMORY", memory).replace("CHANGES", changes);
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/captures"));
    let name = folder.join("draws.a4").display().to_string();
    let mut disk = Disk::new(Folders::new([folder]));
    assemble(&name, &source, &mut disk, Bounds::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// A machine with the capture's memory, and its submit: address and dwords.
fn ready(capture: &[u8]) -> (Playback, u32, u32) {
    let mut playback = Playback::default();
    for section in Sections::new(capture).expect("a capture") {
        let section = section.expect("a section");
        if let Ok(Body::CmdstreamAddr(record)) = section.body() {
            return (playback, record.address as u32, record.length);
        }
        let _ = playback.section(&section, &mut Renderer, &mut Silent);
    }
    panic!("no submit")
}

fn draws(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("draws");
    group.throughput(Throughput::Elements(DRAWS));
    group.sample_size(10);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for (memory, place) in [(TILE_MEMORY, "tile memory"), ("", "memory")] {
        for (changes, state) in [("", "unchanged"), (HUNDRED, "a hundred registers")] {
            let capture = capture(memory, changes);
            group.bench_with_input(BenchmarkId::new(place, state), &capture, |bencher, capture| {
                let submit = |(playback, address, dwords): &mut (Playback, u32, u32)| {
                    pool.install(|| {
                        Cp::new(&mut playback.gpu, &mut Renderer, &mut Silent).submit(*address, *dwords)
                    });
                    assert_eq!(playback.gpu.pipeline.stats.draws, DRAWS);
                };
                bencher.iter_batched_ref(|| ready(capture), submit, BatchSize::LargeInput);
            });
        }
    }
    group.finish();
}

criterion_group!(benches, draws);
criterion_main!(benches);
