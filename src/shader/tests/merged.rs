//! Tests of programs for chips on which half registers are halves of full ones, against a file that is kept
//! whole after each operation.
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::ir3::program::assemble_in;
use proptest::prelude::*;

use super::*;
use crate::alu::{self, Row};
use crate::effect::Effect;
use crate::rowmap::{FULL, HALF, REGISTERS};
use crate::run::apply;

/// A program of words that mean the same in both generations. `merged` are the registers of A6xx.
fn lowered(words: &[u64], merged: bool) -> Program {
    of(if merged { Isa::A6xx } else { Isa::A4xx }, words)
}

/// Makes the other rows of the registers of `row` equal to it.
fn keep_whole(rows: &mut [Lanes], row: Row) {
    let pair = match row.checked_sub(HALF) {
        None if row < FULL + REGISTERS / 2 => row,
        Some(half) if half < REGISTERS => half / 2,
        _ => return,
    };
    let low = usize::from(HALF + 2 * pair);
    let halves = |full: u32| [full & 0xffff, full >> 16];
    if row < HALF {
        let full = rows[usize::from(row)].0;
        (rows[low].0, rows[low + 1].0) = (full.map(|it| halves(it)[0]), full.map(|it| halves(it)[1]));
    } else {
        let (low, high) = (rows[low], rows[low + 1]);
        rows[usize::from(pair)].0 = std::array::from_fn(|lane| low.0[lane] | high.0[lane] << 16);
    }
}

/// Runs a program for separate files as if there were one.
fn run_whole(program: &Program, warp: &mut Warp) -> Outcome {
    (0..4).for_each(|id| keep_whole(&mut warp.rows, id));
    loop {
        if let Some(outcome) = warp.pause() {
            return outcome;
        }
        let step = &program.steps[warp.flow.step as usize];
        let executing = warp.flow.executing();
        warp.executed += u64::from(step.instructions);
        if warp.executed > warp.limit {
            return Outcome::from(crate::ShaderFault::Endless { limit: warp.limit });
        }
        for alu in &program.alus[step.first as usize..step.end as usize] {
            alu::run(&[*alu], &mut warp.rows, executing);
            keep_whole(&mut warp.rows, alu.dst);
        }
        if let Err(outcome) = apply(program, step, warp, executing, &mut ()) {
            return outcome;
        }
        step.effect.visit_writes(|row| keep_whole(&mut warp.rows, row));
        if let Effect::Scatter { base, .. } = step.effect {
            (base..base + REGISTERS).for_each(|row| keep_whole(&mut warp.rows, row));
        }
    }
}

/// The results of `source` or words in both ways. The registers r0.x to r3.w and their halves are read at the end.
fn both(words: &[u64]) -> [(Outcome, u64, Vec<Lanes>); 2] {
    let whole: String = (0..16)
        .map(|id| format!("mov.u32u32 r{}.{}, r{}.{}\n", 32 + id / 4, name(id), id / 4, name(id)))
        .collect();
    let halves: String = (0..32)
        .map(|id| format!("cov.u16u32 r{}.{}, hr{}.{}\n", 36 + id / 4, name(id), id / 4, name(id)))
        .collect();
    let words = [words, &assemble(&format!("{whole}{halves}end")).unwrap()].concat();
    [true, false].map(|merged| {
        let program = lowered(&words, merged);
        let mut warp = Warp::new(&program, &constants());
        warp.limit = 3000;
        warp.restart(&program, ALL, 0);
        for id in 0..4 {
            *warp.full_mut(id) = integers(|lane| (lane + 3).wrapping_mul(0x0123_4567 << id));
        }
        let outcome = if merged { run(&program, &mut warp, &mut ()) } else { run_whole(&program, &mut warp) };
        let rows = (32 * 4..44 * 4).map(|id| *warp.full(id)).collect();
        (outcome, warp.executed, rows)
    })
}

fn name(id: usize) -> char {
    ['x', 'y', 'z', 'w'][id % 4]
}

/// A word of categories 1 to 3 on r0.x to r3.w and hr0.x to hr7.w, which does nothing but compute.
fn word() -> impl Strategy<Value = u64> {
    let texts = [
        "add.u hrA, hrB, hrC",
        "add.u rA, rB, rC",
        "xor.b hrA, hrB, hrC",
        "cov.u32u16 hrA, rB",
        "cov.u16u32 rA, hrB",
        "mov.u32u32 rA, rB",
        "mov.u16u16 hrA, hrB",
        "sel.b32 rA, rB, rC, rB",
        "mad.u16 hrA, hrB, hrC, hrB",
        "(rpt1)mov.u32u32 rA, (r)rB",
        "(rpt2)add.u hrA, (r)hrB, hrC",
        "add.u hrA, rB, rC",
        "not.b rA, hrB",
        "mov.u32u32 rA, r<a0.x + 2>",
        "mov.u16u16 hrA, hr<a0.x + 1>",
        "mov.u32u32 r<a0.x + 1>, rB",
        "mov.u16u16 hr<a0.x + 5>, hrB",
        "and.b hrD, hrB, 3",
        "mova a0.x, hrD",
    ];
    (0..texts.len(), any::<[u8; 3]>()).prop_map(move |(text, [a, b, c])| {
        let reg = |half: bool, n: u8| match half {
            true => format!("hr{}.{}", n / 4 % 6, name(n.into())),
            false => format!("r{}.{}", n / 4 % 3, name(n.into())),
        };
        let mut line = texts[text].replace("hrD", "hr6.x");
        for (letter, n) in [("A", a), ("B", b), ("C", c)] {
            line = line
                .replace(&format!("hr{letter}"), &reg(true, n))
                .replace(&format!("r{letter}"), &reg(false, n));
        }
        assemble(&line).expect(&line)[0]
    })
}

/// A branch of some lanes, or the compare that selects them.
fn flow() -> impl Strategy<Value = u64> {
    (0usize..3, -6i32..10, 0u32..32).prop_map(|(kind, offset, than)| {
        let line = match kind {
            0 => format!("br p0.x, #{offset}"),
            1 => format!("cmps.u.lt p0.x, r0.x, {than}"),
            _ => format!("br !p0.x, #{}", offset.abs()),
        };
        assemble(&line).expect(&line)[0]
    })
}

proptest! {
    #![proptest_config(random_cases(400))]

    #[test]
    fn values_are_where_they_are_read(words in prop::collection::vec(prop_oneof![5 => word(), 1 => flow()], 1..50)) {
        let [merged, whole] = both(&words);
        prop_assert_eq!(merged, whole);
    }
}

fn agree(source: &str) {
    let [merged, whole] = both(&assemble(source).unwrap());
    assert_eq!(merged.0, Outcome::Ended, "{source}");
    assert_eq!(merged, whole, "{source}");
}

#[test]
fn lanes_that_a_predicated_region_leaves_out_keep_their_values() {
    for inside in
        ["mov.u32u32 r0.y, r0.z", "mov.u16u16 hr0.z, hr1.x", "add.u hr0.z, hr0.w, hr0.z\nmov.u32u32 r0.y, 5"]
    {
        for before in ["nop", "mov.u16u16 hr0.z, hr0.w", "cov.u32u16 hr0.w, r0.x"] {
            agree(&format!("cmps.u.lt p0.x, r0.x, 0x40\n{before}\npredt p0.x\n{inside}\nprede\n"));
            agree(&format!(
                "cmps.u.lt p0.x, r0.x, 0x40\n{before}\npredt p0.x\n{inside}\n(jp)nop\n{inside}\nprede\n"
            ));
        }
    }
}

#[test]
fn a_loop_on_half_registers_moves_nothing() {
    let source = "cov.u32u16 hr4.x, r0.x\ncov.u32u16 hr4.y, r0.y\nmov.u32u32 r3.x, 0\nloop:\nadd.u hr4.x, hr4.x, hr4.y\nadd.u r3.x, r3.x, 1\ncmps.u.lt p0.x, r3.x, 9\nbr p0.x, #loop\ncov.u16u32 r0.w, hr4.x\n";
    agree(source);
    let words = assemble(&format!("{source}end")).unwrap();
    let operations = |merged| lowered(&words, merged).alus.len();
    // The high half beside the first write, which nothing reads before it is written.
    assert_eq!(operations(true), operations(false) + 1);
}

/// Runs a program of A6xx with lane numbers in r0.x and returns r4.x.
fn of_a6xx(source: &str) -> Lanes {
    let program = of(Isa::A6xx, &assemble_in(Isa::A6xx, source).unwrap());
    let mut warp = Warp::new(&program, &constants());
    warp.restart(&program, ALL, 0);
    *warp.full_mut(0) = integers(|lane| lane * 0x0101_0001);
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::Ended, "{source}");
    *warp.full(16)
}

#[test]
fn shifts_and_masks_of_a6xx_take_the_second_source_first() {
    // In lane 3, r0.x is 0x0303_0003.
    let lane = |line: &str| of_a6xx(&format!("mov.u32u32 r1.x, 0xff0\n{line}\nend"))[3];
    assert_eq!(lane("shrg r4.x, 8, r0.x, r1.x"), 0x0003_0300 | 0xff0);
    assert_eq!(lane("shlg r4.x, 4, r0.x, r1.x"), 0x3030_0030 | 0xff0);
    assert_eq!(lane("shrm r4.x, 8, r0.x, r1.x"), 0x0003_0300 & 0xff0);
    assert_eq!(lane("shlm r4.x, 4, r0.x, r1.x"), 0x3030_0030 & 0xff0);
    assert_eq!(lane("andg r4.x, r1.x, r0.x, r1.x"), 0xff0, "no bit is in both");
    assert_eq!(
        lane("shrg hr8.x, 1, hr0.x, hr0.y\nmov.u32u32 r4.x, r4.x"),
        0x0001 | 0x0303,
        "hr0.y is the high half of r0.x"
    );
}

#[test]
fn parallel_moves_read_all_before_they_write() {
    let values = "mov.u32u32 r1.x, 7\nmov.u32u32 r1.y, 9\n";
    let r4 = |moves: &str| of_a6xx(&format!("{values}{moves}\nend"))[0];
    assert_eq!(r4("swz.u32u32 r1.x, r1.y, r1.y, r1.x\nshlg r4.x, 8, r1.x, r1.y"), 9 << 8 | 7);
    assert_eq!(r4("gat.u32u32 r4.x, r1.y, r1.x, r1.x, r1.x"), 9);
    assert_eq!(r4("sct.u32u32 r4.x, r4.y, r4.z, r4.w, r1.y"), 9);
}
