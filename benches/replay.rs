//! Measures the speed of a replay without rendering: the command processor alone, and with golden state.

mod capture;

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Silent, Skip};
use a4emu_gpu::playback::Playback;
use a4emu_inspect::golden::{RecordText, Recorder, State};
use capture::glxgears;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// The state at all draws, as text.
fn state_text(capture: &[u8]) -> String {
    let mut playback = Playback::default();
    let mut recorder = Recorder::new(State::default());
    playback.run(Sections::new(capture).expect("a capture"), &mut Skip::default(), &mut recorder);
    let state = recorder.end(&playback.gpu);
    let registers = state.chip.generation().registers;
    state.records.iter().map(|record| RecordText { record, registers }.to_string()).collect()
}

fn replay(criterion: &mut Criterion) {
    let Some(capture) = glxgears() else { return };
    let mut group = criterion.benchmark_group("replay");
    group.throughput(Throughput::Bytes(capture.len() as u64));
    group.bench_function("execute", |bencher| {
        bencher.iter(|| {
            let sections = Sections::new(&capture[..]).expect("a capture");
            Playback::default().run(sections, &mut Skip::default(), &mut Silent)
        });
    });
    group.bench_function("state text", |bencher| bencher.iter(|| state_text(&capture)));
    group.finish();
}

criterion_group!(benches, replay);
criterion_main!(benches);
