//! Tests of branches, loops, calls, votes, predicated regions, kills and barriers.
use super::*;
use crate::{InstructionCount, LANES, ShaderFault, run_counting};

/// Sets p0.x in lanes below r0.z.
const BELOW_8: &str = "mov.u32u32 r0.z, 8\ncmps.u.lt p0.x, r0.x, r0.z\n";

#[test]
fn both_sides_of_an_if_run_and_come_together() {
    let source = format!(
        "{BELOW_8}br !p0.x, #else\nmov.f32f32 r1.x, c0.y\njump #end\nelse:\nmov.f32f32 r1.x, c0.z\nend:\nadd.f r1.y, r1.x, c0.y\nend"
    );
    let warp = ran(&source);
    assert_eq!(*warp.full(5), floats(|lane| if lane < 8.0 { 2.0 } else { 3.0 }));
}

#[test]
fn uniform_branches_cost_one_path() {
    let source = "cmps.u.lt p0.x, r0.x, 100\nbr !p0.x, #else\nmov.f32f32 r1.x, c0.y\njump #end\nelse:\nmov.f32f32 r1.x, c0.z\nend:\nend";
    assert_eq!(ran(source).executed(), 5);
}

#[test]
fn loops_run_as_often_as_each_lane_asks() {
    let source = "mov.u32u32 r1.x, 0\nmov.u32u32 r1.y, 0\nloop:\ncmps.u.ge p0.x, r1.x, r0.x\nbr p0.x, #out\nadd.u r1.x, r1.x, 1\nadd.u r1.y, r1.y, r1.x\njump #loop\nout:\nadd.u r1.z, r1.y, 1\nend";
    let warp = ran(source);
    assert_eq!(*warp.full(6), integers(|lane| lane * (lane + 1) / 2 + 1));
}

#[test]
fn control_flow_without_structure_is_followed() {
    // Two blocks that jump into each other: entry at `a` for even lanes, `b` for odd ones.
    let source = "and.b r1.x, r0.x, 1\nmov.u32u32 r1.y, 0\nmov.u32u32 r1.z, 0\ncmps.u.ne p0.x, r1.x, 0\nbr p0.x, #b\na:\nadd.u r1.y, r1.y, 1\ncmps.u.gt p0.y, r1.y, r0.x\nbr p0.y, #out\nb:\nadd.u r1.z, r1.z, 1\njump #a\nout:\nend";
    let warp = ran(source);
    assert_eq!(*warp.full(5), integers(|lane| lane + 1));
    assert_eq!(*warp.full(6), integers(|lane| lane + (lane & 1)));
}

#[test]
fn calls_return_to_where_each_lane_came_from() {
    let source = format!(
        "{BELOW_8}mov.u32u32 r1.x, 0\nbr p0.x, #low\ncall #add\nadd.u r1.x, r1.x, 100\njump #out\nlow:\ncall #add\ncall #add\nout:\nend\nadd:\nadd.u r1.x, r1.x, 1\nret"
    );
    let warp = ran(&source);
    assert_eq!(*warp.full(4), integers(|lane| if lane < 8 { 2 } else { 101 }));
}

#[test]
fn votes_move_all_lanes_or_one() {
    let any = ran(&format!("{BELOW_8}bany p0.x, #yes\nend\nyes:\nmov.u32u32 r1.x, 1\nend"));
    assert_eq!(*any.full(4), Lanes::splat(1));
    let all = ran(&format!("{BELOW_8}ball p0.x, #yes\nend\nyes:\nmov.u32u32 r1.x, 1\nend"));
    assert_eq!(*all.full(4), Lanes::ZERO);
    // One lane goes on, the others branch.
    let one = ran("getone #yes\nend\nyes:\nmov.u32u32 r1.x, 1\nend");
    assert_eq!(*one.full(4), integers(|lane| u32::from(lane != 0)));
}

#[test]
fn branches_on_two_predicates() {
    let tests = "cmps.u.lt p0.x, r0.x, 8\ncmps.u.ge p0.y, r0.x, 4\n";
    let both = ran(&format!("{tests}braa p0.x, p0.y, #yes\nend\nyes:\nmov.u32u32 r1.x, 1\nend"));
    assert_eq!(*both.full(4), integers(|lane| u32::from((4..8).contains(&lane))));
    let either = ran(&format!("{tests}brao !p0.x, !p0.y, #yes\nend\nyes:\nmov.u32u32 r1.x, 1\nend"));
    assert_eq!(*either.full(4), integers(|lane| u32::from(!(4..8).contains(&lane))));
}

#[test]
fn predicated_regions_switch_lanes_off() {
    let source = format!(
        "{BELOW_8}mov.u32u32 r1.x, 0\npredt p0.x\nadd.u r1.x, r1.x, 1\nprede\npredf p0.x\nadd.u r1.x, r1.x, 10\nprede\nadd.u r1.x, r1.x, 100\nend"
    );
    assert_eq!(*ran(&source).full(4), integers(|lane| if lane < 8 { 101 } else { 110 }));
}

#[test]
fn killed_lanes_go_on_as_helpers() {
    let warp = ran(&format!("{BELOW_8}kill p0.x\ndsx (f32)(x)r1.x, r0.y\nend"));
    assert_eq!(warp.covered(), !0xff);
    assert_eq!(*warp.full(4), floats(|_| 1.0));
}

#[test]
fn restart_keeps_given_registers_and_clears_the_rest() {
    let program = program("add.u r1.x, r0.x, r0.y\nadd.u r1.y, r0.z, r0.x\nadd.u r1.z, hr0.x, hr0.x\nend");
    let mut warp = Warp::new(&program, &[]);
    for given in [0..0, 1..3, 0..u32::MAX] {
        (0..3).for_each(|id| *warp.full_mut(id) = integers(|_| 7));
        *warp.half_mut(0) = integers(|_| 7);
        warp.restart_but(given.clone(), &program, ALL, 0);
        for id in 0..3 {
            let kept = if given.contains(&id) { 7 } else { 0 };
            assert_eq!(*warp.full(id), integers(|_| kept), "{id} of {given:?}");
        }
        assert_eq!(*warp.half(0), integers(|_| 0), "{given:?} are full registers");
    }
}

#[test]
fn a_warp_whose_lanes_are_all_killed_is_over() {
    let program = program("cmps.u.lt p0.x, r0.x, 100\nkill p0.x\nloop:\njump #loop\nend");
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, 0xf, 0xf0);
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::Ended);
    assert_eq!((warp.covered(), warp.killed()), (0, 0xf));
}

#[test]
fn barriers_hold_lanes_until_all_have_come() {
    let source = format!(
        "{BELOW_8}mov.u32u32 r1.x, 0\nbr p0.x, #low\nadd.u r1.x, r1.x, 1\njump #meet\nlow:\nadd.u r1.x, r1.x, 2\nmeet:\nbar.g.l\nadd.u r1.x, r1.x, 4\nend"
    );
    let program = program(&source);
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, ALL, 0);
    *warp.full_mut(0) = integers(|lane| lane);
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::Barrier);
    assert_eq!(*warp.full(4), integers(|lane| if lane < 8 { 2 } else { 1 }));
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::Ended);
    assert_eq!(*warp.full(4), integers(|lane| if lane < 8 { 6 } else { 5 }));
}

#[test]
fn lanes_of_a_barrier_in_one_branch_wait_for_those_of_the_other() {
    let program = program(&format!(
        "{BELOW_8}br p0.x, #low\nbar.g.l\njump #out\nlow:\nmov.u32u32 r1.x, 1\nbar.g.l\nout:\nend"
    ));
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, ALL, 0);
    *warp.full_mut(0) = integers(|lane| lane);
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::Barrier);
    assert_eq!(*warp.full(4), integers(|lane| u32::from(lane < 8)));
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::Ended);
}

fn fault(source: &str, limit: u64) -> Outcome {
    let program = program(source);
    let mut warp = Warp::new(&program, &[]);
    warp.limit = limit;
    warp.restart(&program, ALL, 0);
    run(&program, &mut warp, &mut ())
}

#[test]
fn shaders_that_do_not_end_are_cut_off() {
    let endless = Outcome::from(ShaderFault::Endless { limit: 1000 });
    assert_eq!(fault("loop:\nadd.u r0.x, r0.x, 1\njump #loop\nend", 1000), endless);
}

#[test]
fn control_that_leaves_the_shader_is_a_fault() {
    let left = |at| Outcome::from(ShaderFault::OutOfProgram { at });
    assert_eq!(fault("nop", 1000), left(1));
    assert_eq!(fault("jump #100\nend", 1000), left(2));
    assert_eq!(fault("jump #-5\nend", 1000), left(2));
}

#[test]
fn calls_that_do_not_fit_their_stack_are_faults() {
    assert_eq!(fault("ret\nend", 1000), Outcome::from(ShaderFault::CallStack { at: 0 }));
    assert_eq!(fault("again:\ncall #again\nend", 1000), Outcome::from(ShaderFault::CallStack { at: 0 }));
}

#[test]
fn words_that_are_no_instruction_fault_when_reached() {
    let garbage = 0xe7ff_ffff_ffff_ffff;
    let end = 0x0300_0000_0000_0000;
    let reached = Program::new(&[garbage, end]).unwrap();
    let mut warp = Warp::new(&reached, &[]);
    warp.restart(&reached, ALL, 0);
    assert_eq!(run(&reached, &mut warp, &mut ()), Outcome::from(ShaderFault::Invalid { at: 0 }));
    let behind = Program::new(&[end, garbage]).unwrap();
    let mut warp = Warp::new(&behind, &[]);
    warp.restart(&behind, ALL, 0);
    assert_eq!(run(&behind, &mut warp, &mut ()), Outcome::Ended);
}

#[test]
fn partial_warps_leave_registers_of_live_lanes_right() {
    for live in [1u32, 0xff, 0x8000_0001] {
        let warp = ran_in(
            &format!("{BELOW_8}br p0.x, #low\nadd.u r1.x, r0.x, 1\nend\nlow:\nadd.u r1.x, r0.x, 2\nend"),
            live,
            &mut (),
        );
        for lane in (0..LANES).filter(|lane| live >> lane & 1 != 0) {
            assert_eq!(warp.full(4)[lane], lane as u32 + if lane < 8 { 2 } else { 1 });
        }
    }
}

#[test]
fn each_instruction_is_counted_with_its_lanes() {
    let source = format!(
        "{BELOW_8}br !p0.x, #else\n(rpt1)mov.f32f32 r1.x, c0.y\njump #end\nelse:\nmov.f32f32 r1.z, c0.z\nend:\nend\nnop"
    );
    let words = assemble(&source).expect("text");
    let program = Program::new(&words).expect("a program");
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, 0xffff, 0);
    *warp.full_mut(0) = integers(|lane| lane);
    let mut counts = vec![InstructionCount::default(); program.instructions()];
    assert_eq!(run_counting(&program, &mut warp, &mut (), &mut counts), Outcome::Ended);
    let lanes: Vec<[u64; 2]> = counts.iter().map(|count| [count.warps, count.lanes]).collect();
    assert_eq!(lanes, [[1, 16], [1, 16], [1, 16], [1, 8], [1, 8], [1, 8], [1, 16], [0, 0]]);
    assert_eq!(counts.iter().map(|count| count.warps).sum::<u64>(), warp.executed());
}

#[test]
fn instructions_are_counted_over_barriers_and_off_the_end() {
    let words = assemble("mov.u32u32 r0.y, 1\nbar\nmov.u32u32 r0.z, 2").expect("text");
    let program = Program::new(&words).expect("a program");
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, 1, 0);
    let mut counts = vec![InstructionCount::default(); program.instructions()];
    assert_eq!(run_counting(&program, &mut warp, &mut (), &mut counts), Outcome::Barrier);
    let warps = |counts: &[InstructionCount]| counts.iter().map(|count| count.warps).collect::<Vec<_>>();
    assert_eq!(warps(&counts), [1, 1, 0]);
    let outcome = run_counting(&program, &mut warp, &mut (), &mut counts);
    assert_eq!(outcome, Outcome::from(ShaderFault::OutOfProgram { at: 3 }));
    assert_eq!(warps(&counts), [1, 1, 1]);
}
