//! Follows the effect of initial registers: for S15 registers that differ between lanes, for S34 unwritten
//! ones.

use a4emu_decoder::adreno::ir3::access::{Access, FileReg, Role};
use a4emu_decoder::adreno::ir3::{Body, Cat0Op, Cat1, Cat1Dst, Cat3Op, Cat7Op, Instr, Src};
use hashbrown::HashSet;

use super::Program;
use super::flow::control;
use super::regs::Regs;
use crate::finding::Broken;
use crate::rules::Id;
use a4emu_gpu::gpu::Stage;

/// Maximum number of registers that a finding names.
const NAMED: usize = 4;

/// How sets are joined where paths meet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meeting {
    /// Registers of either path.
    Either,
    /// Registers of both paths.
    Both,
}

/// Registers that some path reads before writing.
pub fn live_at_start(program: &mut Program) -> Regs {
    let mut before = vec![Regs::default(); program.instrs.len()];
    let mut open: Vec<usize> = (0..before.len()).collect();
    while let Some(index) = open.pop().filter(|_| program.step()) {
        let mut live = Regs::default();
        program.flow.after(index).iter().for_each(|next| live.join(&before[*next]));
        for step in (0..=program.instrs[index].repeat()).rev() {
            of_step(&program.writes[index], step).for_each(|write| live.remove(write.reg));
            of_step(&program.reads[index], step).for_each(|read| live.add(read.reg));
        }
        if before[index] != live {
            before[index] = live;
            open.extend(program.flow.before(index));
        }
    }
    before.first().copied().unwrap_or_default()
}

/// Registers that the program writes on some path; all registers if a0.x selects one.
pub fn written(program: &Program) -> Regs {
    let chosen = program
        .reachable()
        .any(|(_, instr)| matches!(instr.body, Body::Cat1(Cat1 { dst: Cat1Dst::Relative(_), .. })));
    match chosen {
        true => (0..FileReg::COUNT).map(FileReg::at).collect(),
        false => program.writes.iter().flatten().map(|write| write.reg).collect(),
    }
}

fn of_step(accesses: &[Access], step: u8) -> impl Iterator<Item = &Access> + Clone {
    accesses.iter().filter(move |access| access.step == step)
}

/// The tainted registers before each instruction, with `seed` at the start; `None` if unknown. Uses up
/// `steps`.
fn spread(program: &Program, seed: Regs, meeting: Meeting, steps: &mut u64) -> Vec<Option<Regs>> {
    let mut before = vec![None; program.instrs.len()];
    if let Some(first) = before.first_mut() {
        *first = Some(seed);
    }
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        let Some(state) = before.get(index).copied().flatten() else { continue };
        if *steps == 0 {
            return vec![None; before.len()];
        }
        *steps -= 1;
        let after = behind(program, index, state);
        for &next in program.flow.after(index) {
            let met = before[next].map_or(after, |mut known| {
                match meeting {
                    Meeting::Either => known.join(&after),
                    Meeting::Both => known.meet(&after),
                }
                known
            });
            if before[next] != Some(met) {
                before[next] = Some(met);
                open.push(next);
            }
        }
    }
    before
}

/// The tainted registers after the instruction at `index`.
fn behind(program: &Program, index: usize, mut state: Regs) -> Regs {
    let instr = &program.instrs[index];
    if let Body::Cat1(Cat1 { dst: Cat1Dst::Relative(_), .. }) = instr.body {
        // The instruction may have written any register.
        return Regs::default();
    }
    for step in 0..=instr.repeat() {
        let tainted = taints(instr, &program.reads[index], step, &state);
        for write in of_step(&program.writes[index], step) {
            match tainted {
                true => state.add(write.reg),
                false => state.remove(write.reg),
            }
        }
    }
    state
}

/// Whether the result of repetition `step` is tainted. A select counts if its condition, or both of its
/// values, are tainted.
fn taints(instr: &Instr, reads: &[Access], step: u8, state: &Regs) -> bool {
    let mut values = of_step(reads, step).filter(|read| read.operand != Role::Index);
    match &instr.body {
        Body::Cat3(cat3) if is_select(cat3.op) => {
            let has = |src: &Src| match src {
                Src::Gpr(reg) => values.clone().any(|read| {
                    read.reg.reg.0 >= reg.0 && read.reg.reg.0 - reg.0 <= step && state.has(read.reg)
                }),
                _ => false,
            };
            has(&cat3.src2.src) || has(&cat3.src1.src) && has(&cat3.src3.src)
        }
        _ => values.any(|read| state.has(read.reg)),
    }
}

fn is_select(op: Cat3Op) -> bool {
    matches!(
        op,
        Cat3Op::SelB16 | Cat3Op::SelB32 | Cat3Op::SelS16 | Cat3Op::SelS32 | Cat3Op::SelF16 | Cat3Op::SelF32
    )
}

/// Violations of S34, for a program that begins with the registers `unset` unwritten and whose `outputs` are
/// read at its ends.
pub fn unset(program: &Program, unset: Regs, outputs: &Regs, steps: &mut u64) -> Vec<Broken> {
    let names: Vec<String> = unset.iter().take(NAMED).map(|reg| reg.to_string()).collect();
    let names = names.join(", ");
    let states = spread(program, unset, Meeting::Both, steps);
    let mut broken = Vec::new();
    for (index, instr) in program.reachable() {
        let Some(state) = states[index] else { continue };
        let read = program.reads[index].iter().find(|read| state.has(read.reg)).map(|read| read.reg);
        let what = match &instr.body {
            Body::Cat6(_) => read.map(|reg| format!("{reg}, an address or a value in memory")),
            Body::Cat0(cat0) if cat0.op == Cat0Op::End => {
                let taken = outputs.iter().find(|reg| state.has(*reg));
                taken.map(|reg| format!("{reg}, an output"))
            }
            Body::Cat0(_) => read.map(|reg| format!("{reg}, which decides what runs")),
            _ => None,
        };
        broken.extend(what.map(|what| {
            program.broken(Id::S34, index, format!("{what}, depends on {names}, which nobody wrote"))
        }));
    }
    broken
}

/// Checks S15: barriers that only some lanes of a work group reach. `locals` are the registers that differ
/// between lanes.
pub fn check_barriers(program: &mut Program, locals: Regs, broken: &mut Vec<Broken>) {
    let bar = |instr: &Instr| matches!(&instr.body, Body::Cat7(cat7) if cat7.op == Cat7Op::Bar);
    let bars: Vec<usize> =
        program.reachable().filter(|(_, instr)| bar(instr)).map(|(index, _)| index).collect();
    if program.stage != Stage::CS || bars.is_empty() {
        return;
    }
    let mut steps = program.steps;
    let states = spread(program, locals, Meeting::Either, &mut steps);
    program.steps = steps;
    let differs = |program: &Program, index: usize| {
        let reads = &program.reads[index];
        states[index].is_some_and(|state| reads.iter().any(|read| state.has(read.reg)))
    };
    for bar in bars {
        let decides = deciding(program, bar);
        if let Some(branch) = decides.into_iter().filter(|branch| differs(program, *branch)).min() {
            let what = format!(
                "only lanes that `{}` at {branch} lets through reach the barrier",
                program.text(branch).trim()
            );
            broken.push(program.broken(Id::S15, bar, what));
        }
    }
}

/// The branches that decide whether the instruction at `index` runs. One way of such a branch always leads
/// there and the other may not. Branches that decide whether these run are included.
fn deciding(program: &mut Program, index: usize) -> HashSet<usize> {
    let (mut found, mut open) = (HashSet::new(), vec![index]);
    while let Some(to) = open.pop() {
        let Some(avoiding) = ends_without(program, to) else { break };
        for (branch, instr) in program.reachable() {
            let ways = program.flow.after(branch);
            let (may, must) = (ways.iter().any(|way| avoiding[*way]), ways.iter().any(|way| !avoiding[*way]));
            if may && must && control(instr).is_some() && found.insert(branch) {
                open.push(branch);
            }
        }
    }
    found
}

/// For each instruction, whether a path to an end avoids the instruction at `index`; none if that needs too
/// much work.
fn ends_without(program: &mut Program, index: usize) -> Option<Vec<bool>> {
    // The caller looks at all instructions.
    program.steps = program.steps.saturating_sub(program.instrs.len() as u64);
    if program.steps == 0 {
        return None;
    }
    let mut can = vec![false; program.instrs.len()];
    let ends = program.reachable().filter(|(_, instr)| instr.is_end()).map(|(end, _)| end);
    let mut open: Vec<usize> = ends.filter(|end| *end != index).collect();
    while let Some(at) = open.pop() {
        if !program.step() {
            return None;
        }
        if at != index && !std::mem::replace(&mut can[at], true) {
            open.extend(program.flow.before(at));
        }
    }
    Some(can)
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_decoder::adreno::ir3::Isa;

    fn program(stage: Stage, source: &str) -> Program {
        Program::new(stage, Isa::A4xx, &a4emu_decoder::adreno::ir3::program::assemble(source).expect(source))
    }

    fn reg(text: &str) -> FileReg {
        let (number, component) = text.strip_prefix('r').and_then(|text| text.split_once('.')).expect(text);
        let component = ["x", "y", "z", "w"].iter().position(|name| *name == component).expect(text);
        let number: u8 = number.parse().expect(text);
        FileReg { half: false, reg: a4emu_decoder::adreno::ir3::Reg(number * 4 + component as u8) }
    }

    /// The violations of a program in which r0.y and r0.z were never written, and r1.x is an output.
    fn unset_of(source: &str) -> Vec<String> {
        let unset_regs = [reg("r0.y"), reg("r0.z")].into_iter().collect();
        let outputs = [reg("r1.x")].into_iter().collect();
        let broken = unset(&program(Stage::VS, source), unset_regs, &outputs, &mut 10_000);
        broken.into_iter().map(|broken| broken.what).collect()
    }

    #[test]
    fn unwritten_registers_are_reported_where_they_affect_results() {
        let names = "depends on r0.y, r0.z, which nobody wrote";
        assert_eq!(unset_of("add.f r1.x, r0.x, r0.y\nend"), [format!("r1.x, an output, {names}")]);
        assert_eq!(unset_of("add.f r2.x, r0.x, r0.y\nmov.f32f32 r1.x, c0.x\nend"), [""; 0]);
        let store = "add.u r2.x, r0.x, r0.z\nstg.u32 g[r2.x], r0.x, 1\nend";
        assert_eq!(unset_of(store), [format!("r2.x, an address or a value in memory, {names}")]);
        let branch = "cmps.f.lt p0.x, r0.y, c0.x\nbr p0.x, #l2\n(jp)end";
        assert_eq!(unset_of(branch), [format!("p0.x, which decides what runs, {names}")]);
    }

    #[test]
    fn the_other_side_of_a_select_and_a_path_that_writes_count() {
        assert_eq!(unset_of("sel.b32 r1.x, r0.y, r0.x, r0.w\nend"), [""; 0]);
        assert_eq!(unset_of("sel.b32 r1.x, r0.y, r0.x, r0.z\nend").len(), 1);
        assert_eq!(unset_of("sel.b32 r1.x, r0.x, r0.y, r0.w\nend").len(), 1);
        assert_eq!(unset_of("br p0.x, #l2\nmov.f32f32 r0.y, c0.x\n(jp)mov.f32f32 r1.x, r0.y\nend"), [""; 0]);
        assert_eq!(unset_of("(rpt1)mov.f32f32 r1.x, (r)r0.x\nend"), [""; 0]);
        assert_eq!(unset_of("(rpt1)mov.f32f32 r0.w, (r)r0.y\nend").len(), 1);
    }

    #[test]
    fn registers_read_before_a_write_are_live() {
        let mut program = program(
            Stage::VS,
            "br p0.x, #l3\nmov.f32f32 r0.y, c0.x\nnop\n(jp)add.f r1.x, r0.y, r0.z\n(rpt1)mov.f32f32 r2.x, (r)r1.x\nend",
        );
        let live: Vec<String> = live_at_start(&mut program).iter().map(|reg| reg.to_string()).collect();
        assert_eq!(live, ["r0.y", "r0.z", "r1.y", "p0.x"]);
    }

    fn barriers_of(source: &str) -> Vec<u32> {
        let mut broken = Vec::new();
        check_barriers(&mut program(Stage::CS, source), [reg("r0.x")].into_iter().collect(), &mut broken);
        broken.iter().filter_map(|broken| Some(broken.instruction.as_ref()?.index)).collect()
    }

    #[test]
    fn barriers_that_some_lanes_skip() {
        let branch = |value| format!("cmps.u.lt p0.x, {value}, c0.x\nbr p0.x, #l3\nbar.g\n(jp)end");
        assert_eq!(barriers_of(&branch("r0.x")), [2]);
        assert_eq!(barriers_of(&branch("r1.x")), [0; 0]);
        // The lanes rejoin before the barrier in each iteration.
        let meets =
            "nop\nl1:\n(jp)bar.g\ncmps.u.lt p0.x, r0.x, c0.x\nbr p0.x, #l5\nnop\n(jp)nop\nbr p0.y, #l1\nend";
        assert_eq!(barriers_of(meets), [0; 0]);
        let leaves = "nop\nl1:\n(jp)bar.g\ncmps.u.lt p0.x, r0.x, c0.x\nbr p0.x, #l1\nend";
        assert_eq!(barriers_of(leaves), [1]);
        // A uniform branch within a divergent one.
        let nested = "cmps.u.lt p0.x, r0.x, c0.x\nbr p0.x, #l4\nbr p0.y, #l4\nbar.g\n(jp)end";
        assert_eq!(barriers_of(nested), [3]);
    }
}
