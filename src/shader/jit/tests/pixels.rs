//! Tests of code that converts colours to pixels.
use super::*;
use crate::format::unorm_step;
use crate::jit::WarpGroup;
use crate::limits::VARIANT_WARPS;
use crate::{AlphaFactor, Epilogue};

/// The reference conversion of a colour over the pixel `old`: bytes nearest to numbers from 0 to 1.
fn pixel(epilogue: &Epilogue, color: [u32; 4], old: u32) -> u32 {
    let color = color.map(f32::from_bits).map(|c| if c > 0.0 { c.min(1.0) } else { 0.0 });
    let byte = |byte: usize| {
        let color_there = ((old >> (8 * byte)) & 255) as f32 * unorm_step(8);
        let value = match epilogue.blend {
            Some([of_color, of_old]) => {
                let [of_color, of_old] = [of_color, of_old].map(|by| by.at(color[3]));
                (color[epilogue.order[byte]] * of_color + color_there * of_old).min(1.0)
            }
            None => color[epilogue.order[byte]],
        };
        ((value * 255.0).round_ties_even() as u32) << (8 * byte)
    };
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// Every conversion of the four registers from `regid` on.
fn epilogues(regid: u32) -> Vec<Epilogue> {
    let factors =
        [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, -1.0)].map(|(one, alpha)| AlphaFactor { one, alpha });
    let blends = factors.into_iter().flat_map(|of_color| factors.map(|of_old| Some([of_color, of_old])));
    let blends: Vec<_> = blends.chain([None]).collect();
    let orders = [[0, 1, 2, 3], [2, 1, 0, 3]];
    let all = orders.into_iter().flat_map(|order| blends.iter().map(move |blend| (order, *blend)));
    let epilogue = |((order, blend), n)| Epilogue { regid, order, blend, keeps_alpha: n % 3 == 0 };
    all.zip(0..).map(epilogue).collect()
}

/// Runs `count` warps in lockstep, after `enter` for each. They leave pixels if `epilogue` is set and its
/// variant is compiled.
fn ran(
    program: &Program,
    routine: &Routine,
    count: usize,
    epilogue: Option<&Epilogue>,
    enter: impl Fn(usize, &mut Warp),
) -> (Vec<Warp>, WarpGroup) {
    let constants: Vec<u32> = (0..64).map(|n| (n as f32 * 0.75).to_bits()).collect();
    let mut warps = vec![Warp::new(program, &constants); count];
    for (turn, warp) in warps.iter_mut().enumerate() {
        warp.begin_lockstep(0..0, program, ALL, 1);
        enter(turn, warp);
        *warp.pixels_mut() = Lanes(std::array::from_fn(|lane| old(turn, lane)));
    }
    let ran = routine.run_lockstep(program, &mut warps, &mut Numbers, epilogue);
    (warps, ran)
}

fn old(turn: usize, lane: usize) -> u32 {
    (32 * turn as u32 + lane as u32).wrapping_mul(0x9e37_79b9)
}

/// Compares code with these conversions against the colours of code without. Returns how many had code.
pub(super) fn same_pixels(
    program: &Program,
    routine: &Routine,
    epilogues: &[Epilogue],
    enter: impl Fn(usize, &mut Warp),
) -> usize {
    let count = MAX_LOCKSTEP - 1;
    let (colors, _) = ran(program, routine, count, None, &enter);
    let mut made = 0;
    for epilogue in epilogues {
        // The variant is compiled only when it pays.
        let mut runs = (0..=VARIANT_WARPS.div_ceil(count as u64))
            .map(|_| ran(program, routine, count, Some(epilogue), &enter));
        let Some((found, _)) = runs.find(|(_, ran)| *ran == WarpGroup::Pixels) else { continue };
        made += 1;
        for (turn, (found, colors)) in found.iter().zip(&colors).enumerate() {
            for lane in 0..LANES {
                let color = colors.four(epilogue.regid).map(|row| row[lane]);
                let expected = pixel(epilogue, color, old(turn, lane));
                assert_eq!(
                    found.pixels()[lane],
                    expected,
                    "{epilogue}: {color:x?}, warp {turn}, lane {lane}"
                );
                let alpha = found.full(epilogue.regid + 3)[lane];
                assert!(!epilogue.keeps_alpha || alpha == color[3], "{epilogue}: {color:x?} {alpha:x}");
            }
        }
    }
    made
}

/// A conversion of one of the first registers, selected by `number`.
pub(super) fn some_epilogue(number: u32) -> Epilogue {
    let all = epilogues(number / 64 % 13);
    all[number as usize % all.len()]
}

/// Colours of all kinds: computed, constant, input, and never written registers.
#[test]
fn pixels_are_what_the_law_makes_of_colors() {
    let text = "bary.f r2.x, 3, r0.x\nmul.f r1.x, r0.x, c1.x\nadd.f r1.y, r0.y, r1.x\nmov.f32f32 r1.z, c2.y\n\
                log2 r1.w, r0.z\nmax.f r2.y, r0.x, r0.w\nend\n";
    let program = Program::new(&assemble(text).unwrap()).unwrap();
    let enter = |turn: usize, warp: &mut Warp| {
        for id in 0..4u32 {
            let value = |lane: usize| match (lane + turn + id as usize) % 4 {
                0 => EDGES[(7 * lane + turn + 3 * id as usize) % EDGES.len()],
                _ => ((lane as f32 - 5.0) / (11.0 + id as f32)).to_bits(),
            };
            *warp.full_mut(id) = Lanes(std::array::from_fn(value));
        }
    };
    for machine in machines() {
        for regid in [0, 1, 4, 5, 6, 12] {
            for epilogue in epilogues(regid) {
                // Each routine has only a few variants.
                let routine = Routine::for_machine(&program, machine).expect("code");
                assert_eq!(same_pixels(&program, &routine, &[epilogue], enter), 1, "{machine:?} {epilogue}");
            }
        }
    }
}

/// A short program with its routine, if it can be compiled.
fn short() -> Option<(Program, Routine)> {
    let text = "mul.f r1.x, r0.x, c1.x\nadd.f r1.y, r0.y, r1.x\nadd.f r1.z, r0.x, r1.y\nend\n";
    let program = Program::new(&assemble(text).unwrap()).unwrap();
    let routine = Routine::for_machine(&program, Machine::here()?).expect("code");
    Some((program, routine))
}

#[test]
fn pixels_are_in_the_code_when_that_pays() {
    let Some((program, routine)) = short() else { return eprintln!("SKIPPED: no AVX2") };
    let epilogue = some_epilogue(0);
    let ran = |count| ran(&program, &routine, count, Some(&epilogue), |_, _| ()).1;
    let before = (0..VARIANT_WARPS / 4).filter(|_| ran(4) == WarpGroup::Colors).count() as u64;
    assert_eq!((4 * before, ran(1), ran(4)), (VARIANT_WARPS, WarpGroup::Pixels, WarpGroup::Pixels));
}

#[test]
fn only_some_ways_to_finish_have_code() {
    let Some((program, routine)) = short() else { return eprintln!("SKIPPED: no AVX2") };
    let all = epilogues(4);
    let enter = |_: usize, warp: &mut Warp| *warp.full_mut(0) = Lanes::splat(0.25f32.to_bits());
    assert_eq!(same_pixels(&program, &routine, &all, enter), 4);
    assert_eq!(same_pixels(&program, &routine, &all[..5], enter), 4);
    let one = |epilogue| ran(&program, &routine, 1, Some(epilogue), enter).1;
    assert_eq!((one(&all[3]), one(&all[4])), (WarpGroup::Pixels, WarpGroup::Colors));
    let mut seen = 0;
    routine.each_variant(&mut |coded| seen += usize::from(coded.epilogue.is_some()));
    assert_eq!(seen, 4, "a listing has them all");
}
