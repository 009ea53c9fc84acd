//! Measures the speed of the shader executor in lane-instructions per second, on one core.
//!
//! `mix` has add, mul, mad, max and mov in equal parts, with all lanes and with a mask. Their order is
//! random, because a regular order is too easy for branch prediction. Each mix runs in the interpreter, and
//! then compiled.
//!
//! `pico` runs equal vector arithmetic as a shader of both front ends. PicoGpu's version copies its threads
//! in and out as `pico run` does; ir3's works component by component.
use std::fmt::Write;
use std::hint::black_box;

use a4emu::pico::unit::Unit;
use a4emu_decoder::adreno::ir3::program::assemble;
use a4emu_decoder::isa::pico;
use a4emu_gpu::budget::Budget;
use a4emu_shader::{ALL, Jit, LANES, Mask, Outcome, Program, Warp, run};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Number of instructions in a program without branches.
const LENGTH: usize = 200;

/// A fixed pseudo-random sequence of numbers below `n`.
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

/// Runs `program`. The lanes outside of `mask` are stopped from the start.
fn once(program: &Program, warp: &mut Warp, mask: Mask) -> u64 {
    warp.restart(program, ALL, 0);
    warp.stop_lanes(!mask);
    assert_eq!(run(program, warp, &mut ()), Outcome::Ended);
    warp.executed()
}

fn executor(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("executor");
    for (name, program, mask) in cases() {
        for (how, jit) in [("", Jit::Off), (", compiled", Jit::On)] {
            program.prepare(jit);
            let mut warp = Warp::new(&program, &[0x3f80_0000; 64]);
            group.throughput(Throughput::Elements((LENGTH * LANES) as u64));
            let name = format!("{name}{how}");
            group.bench_function(name, |bencher| bencher.iter(|| black_box(once(&program, &mut warp, mask))));
        }
    }
    group.finish();
}

/// Number of vector operations in the shaders that both front ends run.
const VECTORS: usize = LENGTH / 4;

/// Operation and register numbers (r1 to r11, r12 for the result) of each vector operation.
fn vectors() -> Vec<(usize, [u32; 3])> {
    let mut below = numbers();
    let mut one = |n: usize| {
        let dst = if n + 1 == VECTORS { 12 } else { 1 + below(11) };
        (below(4) as usize, [dst, 1 + below(11), 1 + below(11)])
    };
    (0..VECTORS).map(&mut one).collect()
}

fn pico_shader() -> pico::Shader {
    let ops = ["fadd", "fsub", "fmul", "mov"];
    let mut text = String::from("#vertexShader\n#input r1.xyzw\n#output r12.xyzw\n");
    for (op, [dst, a, b]) in vectors() {
        let b = if ops[op] == "mov" { String::new() } else { format!(" r{b}") };
        writeln!(text, "{} r{dst} r{a}{b}", ops[op]).unwrap();
    }
    pico::assemble(&text).expect("a shader")
}

fn ir3_shader() -> Program {
    let mut text = String::new();
    for (op, [dst, a, b]) in vectors() {
        for c in ["x", "y", "z", "w"] {
            match op {
                0 => writeln!(text, "add.f r{dst}.{c}, r{a}.{c}, r{b}.{c}"),
                1 => writeln!(text, "add.f r{dst}.{c}, r{a}.{c}, (neg)r{b}.{c}"),
                2 => writeln!(text, "mul.f r{dst}.{c}, r{a}.{c}, r{b}.{c}"),
                _ => writeln!(text, "mov.f32f32 r{dst}.{c}, r{a}.{c}"),
            }
            .unwrap();
        }
    }
    text.push_str("end\n");
    Program::new(&assemble(&text).unwrap()).unwrap()
}

/// Runs equal arithmetic through both front ends.
fn front_ends(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pico");
    group.throughput(Throughput::Elements((LENGTH * LANES) as u64));
    let ir3 = ir3_shader();
    let mut warp = Warp::new(&ir3, &[]);
    group.bench_function("ir3", |bencher| bencher.iter(|| black_box(once(&ir3, &mut warp, ALL))));
    let unit = Unit::new(&pico_shader());
    let threads = vec![0x3f80_0000; WARPS * LANES * unit.input_dwords()];
    group.throughput(Throughput::Elements((WARPS * LENGTH * LANES) as u64));
    group.bench_function("pico run", |bencher| {
        bencher.iter(|| black_box(unit.run(&[], &threads, &mut Budget::new(u64::MAX))))
    });
    group.finish();
}

/// Number of warps in a PicoGpu run.
const WARPS: usize = 64;

criterion_group!(benches, executor, front_ends);
criterion_main!(benches);
