//! Measures the speed of decoding: MB of command stream and packets per second, for each output format.

mod capture;

use a4emu_decoder::a4xx::A4XX;
use std::hint::black_box;

use a4emu_decoder::adreno::capture::{Body, Sections};
use a4emu_decoder::adreno::packet::Packets;
use a4emu_inspect::decode::{Format, Options, Output, decode};
use a4emu_support::options::Shared;
use capture::glxgears;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// The command buffers of a capture, as dwords.
fn streams(capture: &[u8]) -> Vec<Vec<u32>> {
    let sections = Sections::new(capture).into_iter().flatten().flatten();
    let contents = sections.filter_map(|section| match section.body() {
        Ok(Body::BufferContents(bytes)) => {
            let (dwords, _) = bytes.as_chunks();
            Some(dwords.iter().map(|&dword| u32::from_le_bytes(dword)).collect())
        }
        _ => None,
    });
    contents.collect()
}

fn framing(criterion: &mut Criterion) {
    let Some(capture) = glxgears() else { return };
    let streams = streams(&capture);
    let bytes: usize = streams.iter().map(|stream| stream.len() * 4).sum();
    let packets = |stream: &Vec<u32>| {
        Packets::new(A4XX.framing, stream).map(|packet| u64::from(black_box(packet).is_ok())).sum::<u64>()
    };
    let count = streams.iter().map(packets).sum();
    let mut group = criterion.benchmark_group("packets");
    for throughput in [Throughput::Bytes(bytes as u64), Throughput::Elements(count)] {
        let name = if matches!(throughput, Throughput::Bytes(_)) { "bytes" } else { "packets" };
        group.throughput(throughput);
        group.bench_function(name, |bencher| bencher.iter(|| streams.iter().map(packets).sum::<u64>()));
    }
}

fn formats(criterion: &mut Criterion) {
    let Some(capture) = glxgears() else { return };
    let mut group = criterion.benchmark_group("decode");
    group.sample_size(20).throughput(Throughput::Bytes(capture.len() as u64));
    for (name, format) in [("text", Format::Text), ("jsonl", Format::Jsonl), ("summary", Format::Summary)] {
        let (options, shared) = (Options { format, ..Options::default() }, Shared::default());
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let sections = Sections::new(capture.as_slice()).expect("in memory");
                decode(sections, "x", &options, &shared, Output::new(Box::new(std::io::sink())))
            });
        });
    }
}

criterion_group!(benches, framing, formats);
criterion_main!(benches);
