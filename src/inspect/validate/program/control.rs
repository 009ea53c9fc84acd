//! Checks rules S1 to S9, S14, S15 and S33 (section 3.1 of the page, control flow and inputs).

use std::collections::BTreeSet;

use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::adreno::ir3::{Body, Cat0Op, Cat2Op, Cat6Op, Cat7Op, Instr, Reg};

use super::flow::{control, target};
use super::{Program, is_index, is_input};
use crate::validate::finding::Broken;
use crate::validate::rules::Id;
use a4emu_gpu::gpu::Stage;

/// Maximum number of open branches.
const BRANCH_STACK: i32 = 64;

/// Adds violations of the rules for control flow.
pub fn check(program: &Program, broken: &mut Vec<Broken>) {
    targets(program, broken);
    ends(program, broken);
    if program.stage == Stage::FS {
        inputs(program, broken);
    }
    kills(program, broken);
    address_register(program, broken);
    first(program, broken);
    nesting(program, broken);
    for (index, instr) in program.reachable() {
        let bar = matches!(&instr.body, Body::Cat7(cat7) if cat7.op == Cat7Op::Bar);
        if bar && program.stage == Stage::HS {
            broken.push(program.broken(Id::S15, index, "bar in a hull shader may dead-lock"));
        }
    }
}

/// Whether a branch with `op` rejoins its lanes at its target.
fn joins(op: Cat0Op) -> bool {
    !matches!(op, Cat0Op::Call | Cat0Op::Shps | Cat0Op::Bkt)
}

/// Checks S1, and the part of S2 about targets.
fn targets(program: &Program, broken: &mut Vec<Broken>) {
    let mut without = BTreeSet::new();
    for (index, instr) in program.reachable() {
        let Some(to) = target(instr, index) else { continue };
        match usize::try_from(to).ok().and_then(|to| program.instrs.get(to).map(|instr| (to, instr))) {
            None => broken.push(program.broken(
                Id::S2,
                index,
                format!("branches to {to}, outside of the program"),
            )),
            Some((to, at)) if !at.flags.jp && control(instr).is_some_and(|cat0| joins(cat0.op)) => {
                without.insert(to);
            }
            Some(_) => {}
        }
    }
    let what = "branch target without (jp): lanes may never rejoin";
    broken.extend(without.into_iter().map(|to| program.broken(Id::S1, to, what)));
}

/// Checks the part of S2 about ends.
fn ends(program: &Program, broken: &mut Vec<Broken>) {
    let Some(last) = program.instrs.len().checked_sub(1) else {
        return broken
            .push(Broken::new(Id::S2, format!("{}: a program of nothing but nop", program.stage.name())));
    };
    let stops = control(&program.instrs[last])
        .is_some_and(|cat0| matches!(cat0.op, Cat0Op::End | Cat0Op::Chsh | Cat0Op::Ret | Cat0Op::Jump));
    if program.flow.is_reachable(last) && !stops {
        broken.push(program.broken(Id::S2, last, format!("falls off the end behind {last}")));
    }
    let reaches_end = program.reachable().any(|(_, instr)| instr.is_end());
    if !reaches_end && stops {
        broken.push(program.broken(Id::S2, last, "no path leads to an end"));
    }
}

fn ends_input(instr: &Instr) -> bool {
    matches!(&instr.body, Body::Cat2(cat2) if cat2.op == Cat2Op::BaryF && cat2.end_input)
}

/// Checks S3 to S6: the inputs of a fragment shader.
fn inputs(program: &Program, broken: &mut Vec<Broken>) {
    let inputs: Vec<usize> =
        program.reachable().filter(|(_, instr)| is_input(instr)).map(|(index, _)| index).collect();
    let Some(&last) = inputs.last() else { return };
    let ends: Vec<usize> =
        inputs.iter().copied().filter(|index| ends_input(&program.instrs[*index])).collect();
    match ends[..] {
        [] => broken.push(program.broken(Id::S3, last, "varying storage is never released: no (ei)")),
        [end] if end != last => {
            broken.push(program.broken(Id::S3, last, format!("input behind the (ei) at {end}")));
        }
        [_] => in_flight(program, last, broken),
        [first, ..] => {
            broken.push(program.broken(Id::S3, last, format!("a second (ei), the first is at {first}")))
        }
    }
    let (entry, end) = (program.flow.block(0), ends.first().copied().unwrap_or(last));
    let behind = inputs.iter().filter(|index| program.flow.block(**index) != entry);
    broken.extend(behind.map(|index| program.broken(Id::S4, *index, "input is fetched behind a branch")));
    let kill = |(index, instr): &(usize, &Instr)| *index < end && is_kill(instr);
    broken.extend(
        program
            .reachable()
            .filter(kill)
            .map(|(index, _)| program.broken(Id::S5, index, "kill before end of input")),
    );
}

/// Checks S6: if the last input is an ldlv, a dummy bary.f ends the input and must wait for it.
fn in_flight(program: &Program, end: usize, broken: &mut Vec<Broken>) {
    let Body::Cat2(dummy) = &program.instrs[end].body else { return };
    if dummy.dst != Reg::NONE {
        return;
    }
    let since = program.instrs[..=end].iter().rposition(|instr| instr.flags.ss).unwrap_or(0);
    let waiting = program.instrs[since..end].iter().any(is_ldlv) && !program.instrs[end].flags.ss;
    if waiting {
        broken.push(program.broken(Id::S6, end, "(ei) while an ldlv is in flight"));
    }
}

fn is_ldlv(instr: &Instr) -> bool {
    matches!(&instr.body, Body::Cat6(cat6) if cat6.op == Cat6Op::Ldlv)
}

fn is_kill(instr: &Instr) -> bool {
    control(instr).is_some_and(|cat0| cat0.op == Cat0Op::Kill)
}

/// Checks S7: killed lanes must leave a loop.
fn kills(program: &Program, broken: &mut Vec<Broken>) {
    if program.stage != Stage::FS {
        return;
    }
    let leads_back = before_loops(program);
    for (index, _) in program.reachable().filter(|(_, instr)| is_kill(instr)) {
        let mut behind = (index + 1..program.instrs.len()).filter(|at| !is_nop(&program.instrs[*at]));
        let leaves = behind.next().is_some_and(|at| leaves_to_end(program, index, at));
        if leads_back[index] && !leaves {
            broken.push(program.broken(Id::S7, index, "killed lanes may loop for ever"));
        }
    }
}

fn is_nop(instr: &Instr) -> bool {
    control(instr).is_some_and(|cat0| cat0.op == Cat0Op::Nop)
}

/// Whether the instruction at `at` branches to an end, on the predicate of the kill at `kill`.
fn leaves_to_end(program: &Program, kill: usize, at: usize) -> bool {
    let pair = control(&program.instrs[kill]).zip(control(&program.instrs[at]));
    let same =
        pair.is_some_and(|(kill, branch)| branch.op == Cat0Op::Br && branch.predicate1 == kill.predicate1);
    let to = target(&program.instrs[at], at).and_then(|to| usize::try_from(to).ok());
    let to_end = to.is_some_and(|to| {
        program.instrs[to.min(program.instrs.len())..].iter().find(|i| !is_nop(i)).is_some_and(Instr::is_end)
    });
    same && to_end
}

/// For each instruction, whether a backward branch can follow.
fn before_loops(program: &Program) -> Vec<bool> {
    let mut leads = vec![false; program.instrs.len()];
    let is_back = |index: usize| program.flow.after(index).iter().any(|next| *next <= index);
    let mut open: Vec<usize> = (0..leads.len()).filter(|index| is_back(*index)).collect();
    while let Some(index) = open.pop() {
        if !std::mem::replace(&mut leads[index], true) {
            open.extend(program.flow.before(index));
        }
    }
    leads
}

/// Checks S8 and S14: the uses of a0.x.
fn address_register(program: &Program, broken: &mut Vec<Broken>) {
    let a0 = FileReg { half: false, reg: Reg::A0 };
    let mut last: Option<usize> = None;
    let mut set_in = None;
    let missing = |last: Option<usize>, broken: &mut Vec<Broken>| {
        let unmarked = last.filter(|index| !program.instrs[*index].flags.ul);
        broken.extend(
            unmarked.map(|index| program.broken(Id::S8, index, "(ul) is missing on the last use of a0.x")),
        );
    };
    for (index, instr) in program.reachable() {
        let block = program.flow.block(index);
        if last.is_some_and(|last| program.flow.block(last) != block) {
            missing(last.take(), broken);
        }
        if program.reads[index].iter().any(is_index) {
            if set_in != Some(block) {
                broken.push(program.broken(Id::S14, index, "uses an a0.x that another block wrote"));
            } else if !matches!(instr.body, Body::Cat1(_)) {
                broken.push(program.broken(Id::S14, index, "relative operand outside of mov"));
            }
            last = Some(index);
        }
        if program.writes[index].iter().any(|write| write.reg == a0) {
            missing(last.take(), broken);
            set_in = Some(block);
        }
    }
    missing(last, broken);
}

/// Checks S9: the first instruction.
fn first(program: &Program, broken: &mut Vec<Broken>) {
    let cannot = program.instrs.first().and_then(Instr::category).is_some_and(|category| category > 4);
    if cannot {
        broken.push(program.broken(Id::S9, 0, "the first instruction cannot carry (ss)"));
    }
}

/// Checks S33: the number of branches whose targets are still ahead.
fn nesting(program: &Program, broken: &mut Vec<Broken>) {
    let mut change = vec![0i32; program.instrs.len() + 1];
    for (index, instr) in program.reachable() {
        let conditional = control(instr).is_some_and(|cat0| cat0.op != Cat0Op::Jump);
        let to = target(instr, index)
            .and_then(|to| usize::try_from(to).ok())
            .filter(|to| conditional && *to > index);
        if let Some(to) = to.filter(|to| *to <= program.instrs.len()) {
            change[index] += 1;
            change[to] -= 1;
        }
    }
    let mut open = 0;
    let deep = change.iter().position(|change| {
        open += change;
        open > BRANCH_STACK
    });
    if let Some(index) = deep {
        broken.push(program.broken(Id::S33, index, format!("more than {BRANCH_STACK} branches are open")));
    }
}
