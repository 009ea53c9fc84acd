//! Speed of the shader executor: lane-instructions per second on one core.
//!
//! `mix` is add, mul, mad, max and mov in equal parts, in a random order (a
//! regular one flatters branch prediction), with every lane and with a mask.
use std::fmt::Write;
use std::hint::black_box;

use a4emu::shader::{ALL, LANES, Mask, Outcome, Program, Warp, run};
use a4emu_decoder::isa::ir3::program::assemble;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Instructions of a straight run.
const LENGTH: usize = 200;

/// A fixed sequence of numbers below `n`.
fn numbers() -> impl FnMut(u32) -> u32 {
    let mut state = 1u32;
    move |n| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) % n
    }
}

/// `LENGTH` instructions, each from one of `forms`: `D` is a destination, `S`
/// a register, `C` a constant.
fn shader(forms: &[&str]) -> Program {
    let mut below = numbers();
    let mut text = String::new();
    for _ in 0..LENGTH {
        for part in forms[below(forms.len() as u32) as usize].split_inclusive(['D', 'S', 'C']) {
            let (rest, hole) = part.split_at(part.len() - 1);
            let scalar = below(64);
            let component = ["x", "y", "z", "w"][(scalar % 4) as usize];
            match hole {
                "D" | "S" => write!(text, "{rest}r{}.{component}", scalar / 4),
                "C" => write!(text, "{rest}c{}.{component}", scalar / 4),
                _ => write!(text, "{part}"),
            }
            .unwrap();
        }
        text.push('\n');
    }
    text.push_str("end\n");
    Program::new(&assemble(&text).unwrap()).unwrap()
}

const MIX: [&str; 5] =
    ["add.f D, S, S", "mul.f D, S, C", "mad.f32 D, S, S, (neg)S", "max.f D, (abs)S, S", "mov.f32f32 D, S"];

fn cases() -> Vec<(&'static str, Program, Mask)> {
    vec![
        ("mix", shader(&MIX), ALL),
        ("mix, diverged", shader(&MIX), 0x7fff_fffe),
        ("integers", shader(&["add.u D, S, S", "and.b D, S, C", "shl.b D, S, S", "cmps.s.lt D, S, S"]), ALL),
        ("special functions", shader(&["rcp D, S", "rsq D, S", "log2 D, S", "exp2 D, S", "sin D, S"]), ALL),
    ]
}

/// Runs `program` with the lanes outside `mask` waiting at its end.
fn once(program: &Program, warp: &mut Warp, mask: Mask) -> u64 {
    warp.restart(program, ALL, 0);
    warp.stop_lanes(!mask);
    assert_eq!(run(program, warp, &mut ()), Outcome::Ended);
    warp.executed()
}

fn executor(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("executor");
    for (name, program, mask) in cases() {
        let mut warp = Warp::new(&program, &[0x3f80_0000; 64]);
        group.throughput(Throughput::Elements((LENGTH * LANES) as u64));
        group.bench_function(name, |bencher| bencher.iter(|| black_box(once(&program, &mut warp, mask))));
    }
    group.finish();
}

criterion_group!(benches, executor);
criterion_main!(benches);
