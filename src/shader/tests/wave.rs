//! Tests of waves: programs of an A6xx on two or four warps, against results for each lane of the wave.
use a4emu_decoder::adreno::ir3::program::assemble_in;

use super::*;
use crate::run::step;
use crate::{Jit, LANES, Turn, WavePlace, exchange, turn};

/// Runs `source` on a wave of `lanes` lanes, of which those with `live` start, with lane numbers in r0.x. Returns its warps,
/// which are the same compiled and interpreted.
fn wave(source: &str, lanes: usize, live: impl Fn(usize) -> bool) -> Vec<Warp> {
    let interpreted = wave_with(Jit::Off, source, lanes, &live);
    let compiled = wave_with(Jit::On, source, lanes, &live);
    for id in (0..16).filter(|_| (0..lanes).all(&live)) {
        assert_eq!(of_lanes(&interpreted, id), of_lanes(&compiled, id), "{source}");
    }
    compiled
}

fn wave_with(jit: Jit, source: &str, lanes: usize, live: impl Fn(usize) -> bool) -> Vec<Warp> {
    let words = assemble_in(Isa::A6xx, source).unwrap();
    let program = of(Isa::A6xx, &words);
    assert!(program.summary().exchanges, "{source}");
    program.prepare(jit);
    let start = |number: usize| {
        let mut warp = Warp::new(&program, &[]);
        let mask =
            (0..LANES).filter(|lane| live(number * LANES + lane)).fold(0, |mask, lane| mask | 1 << lane);
        warp.restart(&program, mask, 0);
        warp.join(WavePlace { warp: number, lanes, joined: true });
        *warp.full_mut(0) = integers(|lane| (number * LANES) as u32 + lane);
        warp
    };
    let mut warps: Vec<Warp> = (0..lanes / LANES).map(start).collect();
    let mut ended = vec![false; warps.len()];
    loop {
        let running = warps.iter_mut().zip(&ended).filter(|(_, ended)| !**ended).map(|(warp, _)| warp);
        match turn(&mut running.collect::<Vec<_>>()) {
            None => return warps,
            Some(Turn::Exchange) => exchange(&program, &mut warps.iter_mut().collect::<Vec<_>>()),
            Some(Turn::Run(number)) => match run(&program, &mut warps[number], &mut ()) {
                Outcome::Ended => ended[number] = true,
                Outcome::Wave => {}
                other => panic!("{other:?}"),
            },
        }
    }
}

/// Register `id` in each lane of the wave.
fn of_lanes(warps: &[Warp], id: u32) -> Vec<u32> {
    warps.iter().flat_map(|warp| warp.full(id).0).collect()
}

fn expected(lanes: usize, value: impl Fn(usize) -> usize) -> Vec<u32> {
    (0..lanes).map(|lane| value(lane) as u32).collect()
}

#[test]
fn shfl_reads_lanes_of_other_warps() {
    for lanes in [64, 128] {
        let source = "add.u r1.x, r0.x, 100
            mov.u32u32 r2.y, 9
            mov.u32u32 r2.z, 9
            mov.u32u32 r48.y, 40
            shfl.xor.u32 r2.x, r1.x, 33
            shfl.up.u32 r2.y, r1.x, 5
            shfl.down.u32 r2.z, r1.x, 5
            shfl.rup.u32 r2.w, r1.x, 40
            shfl.rdown.u32 r3.x, r1.x, r48.y
            end";
        let warps = wave(source, lanes, |_| true);
        let of = |id| of_lanes(&warps, id);
        assert_eq!(of(8), expected(lanes, |lane| 100 + (lane ^ 33)));
        assert_eq!(of(9), expected(lanes, |lane| if lane < 5 { 9 } else { 95 + lane }));
        assert_eq!(of(10), expected(lanes, |lane| if lane + 5 < lanes { 105 + lane } else { 9 }));
        assert_eq!(of(11), expected(lanes, |lane| 100 + (lane + lanes - 40) % lanes));
        assert_eq!(of(12), expected(lanes, |lane| 100 + (lane + 40) % lanes));
    }
}

#[test]
fn shfl_of_a_lane_that_does_not_run_changes_nothing() {
    let source = "mov.u32u32 r2.x, 9
        cmps.u.eq p0.x, r0.x, 3
        br p0.x, #behind
        shfl.xor.u32 r2.x, r0.x, 32
        behind:
        end";
    let warps = wave(source, 64, |_| true);
    assert_eq!(of_lanes(&warps, 8), expected(64, |lane| if [3, 35].contains(&lane) { 9 } else { lane ^ 32 }));
}

#[test]
fn shfl_of_halves_moves_16_bits() {
    let source = "cov.u32u16 hr4.x, r0.x
        mov.u16u16 hr4.y, 7
        shfl.xor.u16 hr4.x, hr4.x, 32
        mov.u32u32 r3.x, r2.x
        end";
    let warps = wave(source, 64, |_| true);
    assert_eq!(of_lanes(&warps, 12), expected(64, |lane| (lane ^ 32) | 7 << 16));
}

#[test]
fn quads_and_clusters_exchange_values() {
    let source = "add.u r1.x, r0.x, 100
        mov.u32u32 r1.y, 2
        mov.u32u32 r2.x, 9
        mov.u32u32 r2.y, 9
        mov.u32u32 r2.z, 9
        mov.u32u32 r2.w, 9
        quad_shuffle.brcst (u32)(x)r2.x, r1.x, r1.y
        quad_shuffle.horiz (u32)(x)r2.y, r1.x
        quad_shuffle.vert (u32)(x)r2.z, r1.x
        quad_shuffle.diag (u32)(x)r2.w, r1.x
        mov.u32u32 r3.x, 0
        brcst.active.w8 (u32)(x)r3.x, r1.x
        movmsk.w32 r48.x
        end";
    // In each cluster of eight, lanes 2 and 3 do not run.
    let warps = wave(source, 64, |lane| !(2..4).contains(&(lane % 8)));
    let runs = |lane: usize| !(2..4).contains(&(lane % 8));
    // The others may hold anything.
    let of = |id| {
        of_lanes(&warps, id)
            .iter()
            .zip(0..)
            .map(|(value, lane)| if runs(lane) { *value } else { 0 })
            .collect::<Vec<_>>()
    };
    let read = |own: usize, from: usize| match (runs(own), runs(from)) {
        (false, _) => 0,
        (true, true) => from + 100,
        (true, false) => 9,
    };
    assert_eq!(of(8), expected(64, |lane| read(lane, lane & !3 | 2)));
    for (id, across) in [(9, 1), (10, 2), (11, 3)] {
        assert_eq!(of(id), expected(64, |lane| read(lane, lane ^ across)));
    }
    assert_eq!(of(12), expected(64, |lane| if lane % 8 < 4 { 0 } else { (lane & !7) + 1 + 100 }));
}

#[test]
fn movmsk_says_which_lanes_of_the_wave_run() {
    // (x % 3 == 0) lanes run the movmsk. All read it afterwards.
    let source = "mov.u32u32 r1.y, 0x5556
        mull.u r1.x, r0.x, r1.y
        shr.b r1.x, r1.x, 16
        mul.u24 r1.x, r1.x, 3
        sub.u r1.x, r0.x, r1.x
        cmps.u.eq p0.x, r1.x, 0
        mov.u32u32 r48.x, 0
        mov.u32u32 r48.y, 0
        mov.u32u32 r48.z, 0
        mov.u32u32 r48.w, 0
        br !p0.x, #behind
        movmsk.w128 r48.x
        behind:
        mov.u32u32 r2.x, r48.x
        mov.u32u32 r2.y, r48.y
        mov.u32u32 r2.z, r48.z
        mov.u32u32 r2.w, r48.w
        end";
    let mask = |word: usize, lanes: usize| {
        let lane = |bit: usize| word * 32 + bit;
        (0..32)
            .filter(|bit| lane(*bit) < lanes && lane(*bit) % 3 == 0)
            .fold(0, |mask, bit| mask | 1usize << bit)
    };
    for lanes in [64, 128] {
        let warps = wave(source, lanes, |_| true);
        for word in 0..4 {
            assert_eq!(
                of_lanes(&warps, 8 + word as u32),
                expected(lanes, |_| mask(word, lanes)),
                "{lanes}, {word}"
            );
        }
    }
}

#[test]
fn one_lane_of_the_wave_is_elected_at_a_time() {
    // Mesa's loop for a scan: each turn adds the value of one lane to a register that all share.
    let source = "mov.u32u32 r48.x, 0
        loop:
        getone #others
        mov.u32u32 r1.x, r48.x
        add.u r1.y, r1.x, r0.x
        mov.u32u32 r48.x, r1.y
        jump #behind
        others:
        jump #loop
        behind:
        mov.u32u32 r1.z, r48.x
        end";
    for lanes in [64, 128] {
        let warps = wave(source, lanes, |lane| lane != 33);
        let runs = |lane: usize| lane != 33;
        let sum = |end: usize| (0..end).filter(|lane| runs(*lane)).sum::<usize>();
        let of = |id| {
            let mut values = of_lanes(&warps, id);
            values.remove(33);
            values
        };
        let running = || (0..lanes).filter(|lane| runs(*lane));
        assert_eq!(of(4), running().map(|lane| sum(lane) as u32).collect::<Vec<_>>());
        assert_eq!(of(6), running().map(|_| sum(lanes) as u32).collect::<Vec<_>>());
    }
}

#[test]
fn clusters_take_turns_by_their_last_lane() {
    // Mesa's loop behind a scan in clusters of eight: the last lane of the first cluster hands the sum to the others.
    let source = "mov.u32u32 r48.x, 0
        mov.u32u32 r1.x, r0.x
        body:
        mov.u32u32 r1.y, r48.x
        add.u r1.z, r1.x, r1.y
        getlast.w8 #behind
        mov.u32u32 r48.x, r1.z
        getone #body
        behind:
        end";
    let warps = wave(source, 64, |_| true);
    // What a lane adds is the sum of the last lanes of the clusters before it.
    let before = |lane: usize| (0..lane / 8).map(|cluster| cluster * 8 + 7).sum::<usize>();
    assert_eq!(of_lanes(&warps, 6), expected(64, |lane| lane + before(lane)));
}

#[test]
fn all_lanes_of_the_wave_vote() {
    let vote = |op: &str, limit: u32| {
        let source = format!(
            "cmps.u.lt p0.x, r0.x, {limit}\nmov.u32u32 r1.x, 1\n{op} p0.x, #end\nmov.u32u32 r1.x, 0\nend:\nend"
        );
        of_lanes(&wave(&source, 64, |_| true), 4)
    };
    for (op, limit, holds) in
        [("bany", 1, 1), ("bany", 0, 0), ("ball", 64, 1), ("ball", 63, 0), ("ball", 32, 0)]
    {
        assert_eq!(vote(op, limit), vec![holds; 64], "{op} {limit}");
    }
}

#[test]
fn warps_do_not_run_ahead_of_lanes_at_smaller_steps() {
    // Lanes of the second warp enter the loop behind movmsk. So those of the first one are alone at its first turn.
    let source = "mov.u32u32 r1.x, 0
        mov.u32u32 r1.y, 0
        cmps.u.ge p0.x, r0.x, 32
        br p0.x, #behind
        loop:
        movmsk.w64 r48.x
        cbits.b r1.z, r48.x
        cbits.b r1.w, r48.y
        add.u r1.x, r1.x, r1.z
        add.u r1.x, r1.x, r1.w
        behind:
        add.u r1.y, r1.y, 1
        cmps.u.lt p0.x, r1.y, 3
        br p0.x, #loop
        end";
    let warps = wave(source, 64, |_| true);
    assert_eq!(of_lanes(&warps, 4), expected(64, |lane| if lane < 32 { 32 + 64 + 64 } else { 64 + 64 }));
}

#[test]
fn a_lane_knows_its_number_in_the_wave() {
    let warps = wave("getfiberid.u32 r1.x\nmovmsk.w32 r48.x\nend", 128, |_| true);
    assert_eq!(of_lanes(&warps, 4), expected(128, |lane| lane));
}

#[test]
fn each_warp_runs_the_preamble() {
    let source = "shps #behind
        getone #behind
        mov.u32u32 r1.x, 5
        stc.u32 c[8], r1.x, 1
        shpe
        behind:
        shfl.xor.u32 r2.x, r0.x, 32
        mov.u32u32 r2.y, c2.x
        end";
    let words = assemble_in(Isa::A6xx, source).unwrap();
    let program = of(Isa::A6xx, &words);
    let mut warp = Warp::new(&program, &[0; 16]);
    warp.restart(&program, ALL, 0);
    warp.join(WavePlace { warp: 1, lanes: 64, joined: true });
    assert_eq!(turn(&mut [&mut warp]), Some(Turn::Run(1)));
    let outcome = (0..100).find_map(|_| step(&program, &mut warp, &mut ()));
    assert_eq!((outcome, warp.constants()[8]), (Some(Outcome::Wave), 5));
}
