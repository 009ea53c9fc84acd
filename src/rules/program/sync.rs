//! Checks the rules for sync flags (section 2 of the page). Computes sets of pending registers, to a fixed
//! point over all paths.

use std::collections::{BTreeSet, VecDeque};

use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::adreno::ir3::{Body, Cat0Op, Cat6Class, Cat7Class, Cat7Op, Instr};

use super::Program;
use super::flow::{control, target};
use super::regs::Regs;
use crate::finding::Broken;
use crate::rules::Id;
use a4emu_gpu::gpu::Stage;

/// Maximum number of instructions that are searched for the one that a finding names.
const FAR: usize = 512;

/// The pending accesses.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct State {
    /// Results that need (ss).
    ss: Regs,
    /// Results that need (sy).
    sy: Regs,
    /// Sources that are read until an (ss).
    war: Regs,
    /// Sources that are read until an (ss), or until the (sy) of the result.
    war_sy: Regs,
    /// Whether a barrier had no (ss), and no (sy), since.
    barrier: [bool; 2],
}

impl State {
    fn join(&mut self, other: &Self) {
        self.ss.join(&other.ss);
        self.sy.join(&other.sy);
        self.war.join(&other.war);
        self.war_sy.join(&other.war_sy);
        self.barrier = std::array::from_fn(|flag| self.barrier[flag] | other.barrier[flag]);
    }

    /// Removes everything that the flags of `instr` wait for.
    fn wait(&mut self, instr: &Instr) {
        if instr.flags.ss {
            (self.ss, self.war, self.war_sy) = Default::default();
            self.barrier[0] = false;
        }
        if instr.flags.sy {
            (self.sy, self.war_sy) = Default::default();
            self.barrier[1] = false;
        }
    }

    /// Adds the pending accesses of the instruction at `index`, whose flags have already waited.
    fn issue(&mut self, program: &Program, index: usize) {
        let (reads, writes) = (&program.reads[index], &program.writes[index]);
        let answer = Answer::of(program, index);
        let results = match answer {
            Answer::Ss => Some(&mut self.ss),
            Answer::Sy => Some(&mut self.sy),
            Answer::Store | Answer::AtOnce => None,
        };
        if let Some(results) = results {
            writes.iter().for_each(|write| results.add_sharing(program.isa, write.reg));
        }
        let sources = match answer {
            Answer::Ss | Answer::Store => Some(&mut self.war),
            Answer::Sy => Some(&mut self.war_sy),
            Answer::AtOnce => None,
        };
        if let Some(sources) = sources {
            reads.iter().for_each(|read| sources.add_sharing(program.isa, read.reg));
        }
        if matches!(&program.instrs[index].body, Body::Cat7(cat7) if cat7.op.class() == Cat7Class::Barrier) {
            self.barrier = [true; 2];
        }
    }
}

/// How the result of an instruction arrives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Available after a known number of slots.
    AtOnce,
    /// Needs (ss).
    Ss,
    /// Needs (sy).
    Sy,
    /// No result, but sources are read late.
    Store,
}

impl Answer {
    /// How the instruction at `index` answers. Shared registers, which one unit writes for all lanes, are late in
    /// every category (ir3.h, `is_ss_producer`).
    fn of(program: &Program, index: usize) -> Self {
        let shared = program.writes[index].iter().any(|write| write.reg.is_shared(program.isa));
        match Self::of_op(&program.instrs[index]) {
            Self::AtOnce if shared => Self::Ss,
            answer => answer,
        }
    }

    fn of_op(instr: &Instr) -> Self {
        match &instr.body {
            Body::Cat4(_) => Self::Ss,
            Body::Cat5(_) => Self::Sy,
            Body::Cat6(cat6) => match cat6.op.class() {
                Cat6Class::StoreGlobal
                | Cat6Class::StoreLocal
                | Cat6Class::StorePrivate
                | Cat6Class::StoreConstants
                | Cat6Class::BufferStore => Self::Store,
                Cat6Class::Identity => Self::AtOnce,
                _ if cat6.answers_from_chip() => Self::Ss,
                _ => Self::Sy,
            },
            _ => Self::AtOnce,
        }
    }
}

/// Registers that may be pending at an end of the program.
pub struct Pending {
    /// Index of the `end` instruction.
    pub end: usize,
    /// The pending registers.
    pub regs: Regs,
}

/// Adds violations of Y1 to Y5 and Y7. Returns the pending registers at each end, for Y6.
pub fn check(program: &mut Program, broken: &mut Vec<Broken>) -> Vec<Pending> {
    for (index, state) in settle(program, |_, _, _| true).into_iter().enumerate() {
        if program.flow.is_reachable(index) {
            accesses(program, index, state, broken);
            barriers(program, index, state, broken);
        }
    }
    chained(program, broken);
    let alive = settle(program, |program, from, to| !leaves_killed(program, from, to));
    let ends = alive.into_iter().enumerate().filter(|(index, _)| program.instrs[*index].is_end());
    ends.map(|(end, mut state)| {
        state.wait(&program.instrs[end]);
        state.ss.join(&state.sy.clone());
        Pending { end, regs: state.ss }
    })
    .collect()
}

/// The pending accesses before each instruction, over all edges that `counts` accepts.
fn settle(program: &mut Program, counts: fn(&Program, usize, usize) -> bool) -> Vec<State> {
    let mut before = vec![State::default(); program.instrs.len()];
    let mut open: VecDeque<usize> = (!before.is_empty()).then_some(0).into_iter().collect();
    let mut seen = vec![false; before.len()];
    while let Some(index) = open.pop_front().filter(|_| program.step()) {
        seen[index] = true;
        let after = behind(program, index, before[index]);
        for &next in program.flow.after(index).iter().filter(|next| counts(program, index, **next)) {
            let known = before[next];
            before[next].join(&after);
            if !seen[next] || before[next] != known {
                open.push_back(next);
            }
        }
    }
    before
}

/// The pending accesses after the instruction at `index`.
fn behind(program: &Program, index: usize, mut state: State) -> State {
    state.wait(&program.instrs[index]);
    state.issue(program, index);
    state
}

fn accesses(program: &Program, index: usize, mut state: State, broken: &mut Vec<Broken>) {
    state.wait(&program.instrs[index]);
    let mut said = BTreeSet::new();
    for read in &program.reads[index] {
        for (rule, waiting, flag) in [(Id::Y1, &state.ss, "(ss)"), (Id::Y2, &state.sy, "(sy)")] {
            if waiting.has(read.reg) && said.insert((rule, read.reg)) {
                let what = format!(
                    "reads {}, result of {}, without {flag}",
                    read.reg,
                    producer(program, index, read.reg)
                );
                broken.push(program.broken(rule, index, what));
            }
        }
    }
    for write in &program.writes[index] {
        let reg = write.reg;
        if (state.ss.has(reg) || state.sy.has(reg)) && said.insert((Id::Y3, reg)) {
            let what = format!("overwrites {reg} while {} may still write it", producer(program, index, reg));
            broken.push(program.broken(Id::Y3, index, what));
        } else if (state.war.has(reg) || state.war_sy.has(reg)) && said.insert((Id::Y4, reg)) {
            let what =
                format!("overwrites {reg} before {} has surely read it", consumer(program, index, reg));
            broken.push(program.broken(Id::Y4, index, what));
        }
    }
}

/// The text of the nearest instruction before `index` that writes `reg` late.
fn producer(program: &Program, index: usize, reg: FileReg) -> String {
    let answers = |at: usize| {
        let late = matches!(Answer::of(program, at), Answer::Ss | Answer::Sy);
        late && program.writes[at].iter().any(|write| write.reg.overlaps(program.isa, reg))
    };
    nearest(program, index, answers)
}

/// The text of the nearest instruction before `index` that reads `reg` late.
fn consumer(program: &Program, index: usize, reg: FileReg) -> String {
    let reads = |at: usize| {
        let late = Answer::of(program, at) != Answer::AtOnce;
        late && program.reads[at].iter().any(|read| read.reg.overlaps(program.isa, reg))
    };
    nearest(program, index, reads)
}

/// The text of the nearest instruction before `index` that fits `is_it`, if it is not too far away.
fn nearest(program: &Program, index: usize, is_it: impl Fn(usize) -> bool) -> String {
    let mut open: VecDeque<usize> = program.flow.before(index).iter().copied().collect();
    let mut seen = BTreeSet::new();
    while let Some(at) = open.pop_front().filter(|_| seen.len() < FAR) {
        if is_it(at) {
            return format!("`{}` at {at}", program.text(at).trim());
        }
        if seen.insert(at) {
            open.extend(program.flow.before(at));
        }
    }
    "an instruction before".to_owned()
}

/// Checks Y5 and X2: the instruction after a barrier.
fn barriers(program: &Program, index: usize, mut state: State, broken: &mut Vec<Broken>) {
    let instr = &program.instrs[index];
    let is_nop = control(instr).is_some_and(|cat0| cat0.op == Cat0Op::Nop);
    state.wait(instr);
    let Some(from) = program.flow.before(index).iter().find(|at| follows_barrier(program, **at)) else {
        return;
    };
    if is_nop || state.barrier == [false; 2] {
        return;
    }
    let ends_block = program.flow.block(*from) != program.flow.block(index);
    let rule = if ends_block { Id::X2 } else { Id::Y5 };
    broken.push(program.broken(rule, index, "no (ss)(sy) behind the barrier"));
}

/// Whether the instruction is a barrier, or a nop after one.
fn follows_barrier(program: &Program, mut index: usize) -> bool {
    loop {
        let instr = &program.instrs[index];
        match &instr.body {
            Body::Cat7(cat7) => return matches!(cat7.op, Cat7Op::Bar | Cat7Op::Fence),
            Body::Cat0(cat0) if cat0.op == Cat0Op::Nop && index > 0 => index -= 1,
            _ => return false,
        }
    }
}

/// Checks Y7: the first instruction of a stage that another stage feeds.
fn chained(program: &Program, broken: &mut Vec<Broken>) {
    let Some(first) = program.instrs.first() else { return };
    let waits = first.flags.ss && first.flags.sy;
    if matches!(program.stage, Stage::GS | Stage::HS) && !waits {
        broken.push(program.broken(Id::Y7, 0, "the first instruction does not wait"));
    }
}

/// Whether only killed lanes take this edge: a branch on the same predicate directly after the kill. Outputs
/// of killed lanes do not matter (X3).
pub fn leaves_killed(program: &Program, from: usize, to: usize) -> bool {
    let Some(branch) = control(&program.instrs[from]) else { return false };
    let taken = target(&program.instrs[from], from) == Some(to as i64);
    let before = program.instrs[..from].iter().rev().filter_map(control).find(|cat0| cat0.op != Cat0Op::Nop);
    let killed = before.is_some_and(|kill| kill.op == Cat0Op::Kill && kill.predicate1 == branch.predicate1);
    branch.op == Cat0Op::Br && taken && killed
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_decoder::adreno::ir3::Isa;

    fn rules(source: &str) -> Vec<&'static str> {
        of(Stage::VS, source).0
    }

    /// The broken rules, and the number of pending registers at all ends.
    fn of(stage: Stage, source: &str) -> (Vec<&'static str>, usize) {
        of_isa(stage, Isa::A4xx, source)
    }

    fn of_isa(stage: Stage, isa: Isa, source: &str) -> (Vec<&'static str>, usize) {
        let words = a4emu_decoder::adreno::ir3::program::assemble_in(isa, source).expect(source);
        let mut broken = Vec::new();
        let pending = check(&mut Program::new(stage, isa, &words), &mut broken);
        let waiting =
            |pending: &Pending| (0..FileReg::COUNT).filter(|at| pending.regs.has(FileReg::at(*at))).count();
        (broken.iter().map(|broken| broken.rule.rule().id).collect(), pending.iter().map(waiting).sum())
    }

    #[test]
    fn each_rule_has_its_case() {
        assert_eq!(rules("rcp r0.x, r1.x\nadd.f r0.y, r0.x, c0.x\nend"), ["Y1"]);
        assert_eq!(rules("rcp r0.x, r1.x\n(ss)add.f r0.y, r0.x, c0.x\nend"), [""; 0]);
        assert_eq!(rules("sam (f32)(x)r0.x, r1.x, s#0, t#0\n(ss)add.f r0.y, r0.x, c0.x\nend"), ["Y2"]);
        assert_eq!(rules("sam (f32)(x)r0.x, r1.x, s#0, t#0\n(sy)add.f r0.y, r0.x, c0.x\nend"), [""; 0]);
        assert_eq!(rules("sam (f32)(xy)r0.x, r1.x, s#0, t#0\nmov.f32f32 r0.y, c0.x\nend"), ["Y3"]);
        assert_eq!(rules("sam (f32)(x)r0.x, r1.x, s#0, t#0\nmov.f32f32 r1.y, c0.x\nend"), ["Y4"]);
        assert_eq!(rules("sam (f32)(x)r0.x, r1.x, s#0, t#0\n(sy)mov.f32f32 r1.y, c0.x\nend"), [""; 0]);
        assert_eq!(rules("stg.f32 g[r0.x], r1.x, 1\n(sy)mov.f32f32 r1.x, c0.x\nend"), ["Y4"]);
        assert_eq!(rules("bar.g\nnop\n(ss)add.f r0.y, r0.x, c0.x\nend"), ["Y5"]);
        assert_eq!(rules("bar.g\nnop\n(ss)(sy)add.f r0.y, r0.x, c0.x\nend"), [""; 0]);
    }

    /// What waits for which flag from A5xx and A6xx on (ir3_legalize.c, `legalize_block`).
    #[test]
    fn each_rule_has_its_case_on_an_a6xx() {
        let rules = |source: &str| of_isa(Stage::CS, Isa::A6xx, &format!("{source}\nend")).0;
        let load = "ldib.b.untyped.1d.u32.1.imm.base0 r2.x, r0.x, 0";
        assert_eq!(rules(&format!("{load}\n(ss)add.u r3.x, r2.x, r4.x")), ["Y2"]);
        assert_eq!(rules(&format!("{load}\n(sy)add.u r3.x, r2.x, r4.x")), [""; 0]);
        assert_eq!(rules(&format!("{load}\nmov.u32u32 r2.x, c0.x")), ["Y3"]);
        assert_eq!(rules(&format!("{load}\nmov.u32u32 r0.x, c0.x")), ["Y4"]);
        // The data of an atomic lies behind the register that the old value comes to.
        let atomic = "atomic.b.add.untyped.1d.u32.1.imm r1.x, r0.x, 0";
        assert_eq!(rules(&format!("{atomic}\n(ss)add.u r3.x, r1.x, r4.x")), ["Y2"]);
        assert_eq!(rules(&format!("{atomic}\nmov.u32u32 r1.y, c0.x")), ["Y4"]);
        assert_eq!(
            rules("ldg.u32 r2.x, g[r0.x], 1\nmov.u32u32 r0.y, c0.x"),
            ["Y4"],
            "addresses have 64 bits"
        );
        assert_eq!(rules("ldc.offset0.1.imm r2.x, 0, 0\nadd.u r3.x, r2.x, r4.x"), ["Y2"]);
        assert_eq!(rules("stg.a.u32 g[r0.x+(r1.x)<<2], r2.x, 1\n(sy)mov.u32u32 r1.x, c0.x"), ["Y4"]);
        assert_eq!(rules("resinfo.b.untyped.1d.u32.1.imm r2.x, 0\n(sy)add.u r3.x, r2.x, r4.x"), ["Y1"]);
        assert_eq!(rules("shfl.up.u32 r2.x, r0.x, 1\n(sy)add.u r3.x, r2.x, r4.x"), ["Y1"]);
        assert_eq!(rules("shfl.up.u32 r2.x, r0.x, 1\n(ss)add.u r3.x, r2.x, r4.x"), [""; 0]);
        assert_eq!(rules("getfiberid.u32 r2.x\nadd.u r3.x, r2.x, r4.x"), [""; 0]);
        // Shared registers, and the halves of a register.
        assert_eq!(rules("mov.u32u32 r48.x, c0.x\nadd.u r3.x, r48.x, r4.x"), ["Y1"]);
        assert_eq!(rules("mov.u32u32 r48.x, c0.x\n(ss)add.u r3.x, r48.x, r4.x"), [""; 0]);
        assert_eq!(rules("rcp r2.x, r0.x\nadd.u hr3.x, hr4.y, hr4.z"), ["Y1"]);
        assert_eq!(rules("rcp r2.x, r0.x\nadd.u hr3.x, hr5.x, hr5.y"), [""; 0]);
        assert_eq!(rules("rcp hr4.y, hr0.x\nadd.u r3.x, r2.x, r4.x"), ["Y1"]);
        assert_eq!(of_isa(Stage::CS, Isa::A5xx, "rcp r2.x, r0.x\nadd.u hr3.x, hr4.y, hr4.z\nend").0, [""; 0]);
        assert_eq!(rules("bar.g\nnop\n(ss)add.f r0.y, r0.x, c0.x"), ["Y5"]);
    }

    #[test]
    fn a_join_waits_for_what_either_path_leaves() {
        let source = "br p0.x, #l3\nrcp r0.x, r1.x\nnop\n(jp)add.f r0.y, r0.x, c0.x\nend";
        assert_eq!(rules(source), ["Y1"]);
    }

    #[test]
    fn stages_that_others_feed_wait_first() {
        assert_eq!(of(Stage::GS, "nop\nend").0, ["Y7"]);
        assert_eq!(of(Stage::GS, "(ss)(sy)nop\nend").0, [""; 0]);
    }

    #[test]
    fn outputs_of_killed_lanes_do_not_matter() {
        let open = |flags| format!("sam (f32)(x)r0.x, r1.x, s#0, t#0\n{flags}end");
        assert_eq!(of(Stage::FS, &open("")).1, 1);
        assert_eq!(of(Stage::FS, &open("(sy)")).1, 0);
        let killed = |branch| {
            format!("sam (f32)(x)r0.x, r1.x, s#0, t#0\nkill p0.x\nbr {branch}, #l4\n(sy)nop\n(jp)end")
        };
        assert_eq!(of(Stage::FS, &killed("p0.x")).1, 0);
        assert_eq!(of(Stage::FS, &killed("p0.y")).1, 1);
    }
}
