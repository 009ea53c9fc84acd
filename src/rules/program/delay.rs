//! Checks the rules for delay slots (section 1 of the page).

use std::collections::BTreeMap;

use a4emu_decoder::adreno::ir3::access::{Access, Role};
use a4emu_decoder::adreno::ir3::{Body, Cat0Op, Instr, Isa};

use super::flow::control;
use super::{Program, is_index, last_of};
use crate::finding::Broken;
use crate::rules::Id;

/// Number of slots after which every result can be read.
const LONGEST: u32 = 6;

/// Whether an instruction whose slots are not measured counts as none or as one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counting {
    Strict,
    Lenient,
}

/// A write that is too near to its reader.
struct TooNear {
    writer: usize,
    slots: u32,
    needs: u32,
    /// Whether the writer is an earlier repetition of the reader.
    inside: bool,
}

/// Adds violations of D1 to D4.
pub fn check(program: &mut Program, broken: &mut Vec<Broken>) {
    for reader in 0..program.instrs.len() {
        if !program.flow.is_reachable(reader) {
            continue;
        }
        for read in program.reads[reader].clone() {
            broken.extend(violation(program, reader, read));
        }
    }
}

fn violation(program: &mut Program, reader: usize, read: Access) -> Option<Broken> {
    let strict = nearest(program, reader, read, Counting::Strict)?;
    let lenient = nearest(program, reader, read, Counting::Lenient);
    let near = lenient.as_ref().unwrap_or(&strict);
    let rule = match &lenient {
        None => Id::D4,
        Some(_) if round_a_loop(program, near, reader) => Id::X1,
        Some(_) if is_index(&read) => Id::D2,
        Some(_) if read.reg.reg.is_predicate() => Id::D3,
        Some(_) => Id::D1,
    };
    let (slots, needs, writer) = (near.slots, near.needs, near.writer);
    let what = format!(
        "reads {} {slots} slots behind `{}` at {writer}, needs {needs}",
        read.reg,
        program.text(writer).trim()
    );
    Some(program.broken(rule, reader, what))
}

/// Whether the path goes over the back edge of a loop of one block.
fn round_a_loop(program: &Program, near: &TooNear, reader: usize) -> bool {
    let same_block = program.flow.block(near.writer) == program.flow.block(reader);
    !near.inside && near.writer >= reader && same_block
}

/// The nearest write that is too near, on any path.
fn nearest(program: &mut Program, reader: usize, read: Access, counting: Counting) -> Option<TooNear> {
    let inside = within(program, reader, read);
    if inside.is_some() {
        return inside;
    }
    // Open instructions by distance. An instruction that was found at a smaller distance is not visited
    // again.
    let mut open: BTreeMap<(u32, usize), ()> = BTreeMap::new();
    let mut seen: BTreeMap<usize, u32> = BTreeMap::new();
    let enter = |program: &Program, open: &mut BTreeMap<_, _>, from: usize, slots: u32| {
        program.flow.before(from).iter().for_each(|before| {
            open.insert((slots, *before), ());
        });
    };
    enter(program, &mut open, reader, u32::from(read.step));
    while let Some(((slots, index), ())) = open.pop_first() {
        if slots >= LONGEST || !program.step() {
            break;
        }
        if seen.insert(index, slots).is_some() || !program.flow.is_reachable(index) {
            continue;
        }
        if let Some(write) = last_of(program.isa, &program.writes[index], read.reg).copied() {
            let instr = &program.instrs[index];
            let slots = slots + u32::from(instr.repeat() - write.step) + nops(program.isa, instr);
            let needs = needed(program.isa, (instr, write), (&program.instrs[reader], read));
            if slots < needs {
                return Some(TooNear { writer: index, slots, needs, inside: false });
            }
        } else {
            enter(
                program,
                &mut open,
                index,
                slots + issue_slots(program.isa, &program.instrs[index], counting),
            );
        }
    }
    None
}

/// The nearest write that is too near, within the repetitions of one instruction.
fn within(program: &Program, reader: usize, read: Access) -> Option<TooNear> {
    let instr = &program.instrs[reader];
    let before = |write: &&Access| write.reg == read.reg && write.step < read.step;
    let write = program.writes[reader].iter().rev().find(before)?;
    let needs = needed(program.isa, (instr, *write), (instr, read));
    let slots = u32::from(read.step - write.step - 1);
    (slots < needs).then_some(TooNear { writer: reader, slots, needs, inside: true })
}

/// Number of slots needed between a write and a read. A shared register is waited for with (ss).
fn needed(isa: Isa, (writer, write): (&Instr, Access), (reader, read): (&Instr, Access)) -> u32 {
    if write.reg.is_shared(isa) {
        return 0;
    }
    // In the merged file, a half of what was written whole, or the other way round, takes 3 slots more.
    let mixed = if write.reg.half == read.reg.half { 0 } else { 3 };
    match (writer.category(), reader.category()) {
        (Some(1..=3), _) if read.operand == Role::Index => LONGEST,
        (Some(1..=3), Some(0 | 4..=6)) => LONGEST,
        (Some(1..=3), _) if read.operand == Role::Addend => 1 + mixed,
        (Some(1..=3), Some(1..=3)) => 3 + mixed,
        _ => 0,
    }
}

fn issue_slots(isa: Isa, instr: &Instr, counting: Counting) -> u32 {
    match instr.category() {
        Some(0) if is_free(instr) => 0,
        Some(0..=3) => 1 + u32::from(instr.repeat()) + nops(isa, instr),
        _ if counting == Counting::Lenient => 1,
        _ => 0,
    }
}

/// Number of nops behind an instruction. Mesa's compiler also puts them into the (r) of bary.f and flat.b that do not
/// repeat (isa/encode.c, `extract_SRC1_R`), though its disassembler prints (r) there.
fn nops(isa: Isa, instr: &Instr) -> u32 {
    match &instr.body {
        Body::Cat2(cat2) if isa.has_nops() && !cat2.op.has_nops() && cat2.repeat == 0 => {
            u32::from(cat2.src1.step) | u32::from(cat2.src2.is_some_and(|src| src.step)) << 1
        }
        _ => instr.nops().into(),
    }
}

/// Whether the instruction takes no slot in the compiler's count: a branch or jump that it may remove later. Branches by a vote are
/// none (Mesa: `count_instruction` in ir3_legalize.c).
fn is_free(instr: &Instr) -> bool {
    control(instr).is_some_and(|cat0| {
        matches!(
            cat0.op,
            Cat0Op::Jump | Cat0Op::Br | Cat0Op::Brao | Cat0Op::Braa | Cat0Op::Brac | Cat0Op::Brax
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_gpu::gpu::Stage;

    /// Number of missing slots before the last instruction, as in the compiler's own tests.
    fn missing(isa: Isa, source: &str) -> u32 {
        let words = a4emu_decoder::adreno::ir3::program::assemble_in(isa, source).expect(source);
        let mut program = Program::new(Stage::VS, isa, &words);
        let reader = words.len() - 1;
        let reads = program.reads[reader].clone();
        let short = |read| nearest(&mut program, reader, read, Counting::Strict);
        reads.into_iter().filter_map(short).map(|near| near.needs - near.slots).max().unwrap_or(0)
    }

    /// The vectors of ir3/tests/delay.c that the page lists.
    #[test]
    fn the_compilers_vectors() {
        let vectors = [
            ("mov.f32f32 r0.x, c0.x\nmov.f32f32 r0.y, c0.x\nmad.f32 r0.z, r0.x, r0.y, r1.x", 3),
            (
                "mov.f32f32 r0.x, c0.x\nmov.f32f32 r0.y, c0.x\nmov.f32f32 r0.z, c0.x\nmad.f32 r0.w, r0.x, r0.y, r0.z",
                2,
            ),
            ("add.f r0.x, r0.y, c0.x\nrsq r0.x, r0.x", 6),
            ("mov.f32f32 r0.x, c0.x\nrcp r0.x, r0.y\nadd.f r0.x, r0.x, c0.x", 0),
            ("(rpt2)mov.f32f32 r0.x, (r)c0.x\nadd.f r0.x, r0.x, c0.x", 1),
            ("(rpt1)mov.f32f32 r0.x, (r)c0.x\n(rpt1)add.f r0.x, (r)r0.y, c0.x", 3),
            ("(rpt1)mov.f32f32 r0.y, (r)c0.x\n(rpt1)add.f r0.x, (r)r0.x, c0.x", 1),
        ];
        for (source, slots) in vectors {
            assert_eq!(missing(Isa::A4xx, source), slots, "{source}");
        }
    }

    /// All vectors of ir3/tests/delay.c, which are of an A630.
    #[test]
    fn the_compilers_vectors_of_an_a630() {
        let vectors = [
            ("add.f r0.x, r2.x, r2.y\nrsq r0.x, r0.x", 6),
            ("mov.f32f32 r0.x, c0.x\nmov.f32f32 r0.y, c0.y\nadd.f r0.x, r0.x, r0.y", 3),
            (
                "mov.f32f32 r0.x, c0.x\nmov.f32f32 r0.y, c0.y\nmov.f32f32 r0.z, c0.z\nmad.f32 r0.x, r0.x, r0.y, r0.z",
                2,
            ),
            ("mov.f32f32 r0.x, c0.x\nrcp r0.x, r0.y\nadd.f r0.x, r0.x, c0.x", 0),
            ("mov.f32f32 r0.x, c0.x\nmov.f32f32 r0.y, c0.y\n(rpt1)add.f r0.x, (r)r0.x, (r)c0.x", 2),
            ("(rpt1)mov.f32f32 r0.x, c0.x\n(rpt1)add.f r0.x, (r)r0.x, (r)c0.x", 2),
            ("mov.f32f32 r0.y, c0.y\nmov.f32f32 r0.x, c0.x\n(rpt1)add.f r0.x, (r)r0.x, (r)c0.x", 3),
            ("(rpt2)mov.f32f32 r0.x, (r)c0.x\nadd.f r0.x, r0.x, c0.x", 1),
            ("(rpt2)mov.f32f32 r0.x, (r)c0.x\nadd.f r0.x, r0.x, r0.y", 2),
            ("(rpt1)mov.f32f32 r0.x, (r)c0.x\n(rpt1)add.f r0.x, (r)r0.x, c0.x", 2),
            ("(rpt1)mov.f32f32 r0.y, (r)c0.x\n(rpt1)add.f r0.x, (r)r0.x, c0.x", 1),
            ("(rpt1)mov.f32f32 r0.x, (r)c0.x\n(rpt1)add.f r0.x, (r)r0.y, c0.x", 3),
        ];
        for (source, slots) in vectors {
            assert_eq!(missing(Isa::A6xx, source), slots, "{source}");
        }
    }

    /// (nopN), registers that share bits, several moves and shared registers, which ir3_delay.c and ir3_legalize.c
    /// have from A5xx or A6xx on.
    #[test]
    fn later_generations_count_nops_and_halves() {
        let of = |source: &str| [Isa::A5xx, Isa::A6xx].map(|isa| missing(isa, source));
        let add = |nops: &str| format!("{nops}add.f r0.x, r1.x, r2.x\nadd.f r0.y, r0.x, r2.x");
        assert_eq!(["", "(nop1) ", "(nop3) "].map(|nops| of(&add(nops))), [[3, 3], [2, 2], [0, 0]]);
        // A branch takes no slot, but one by a vote does.
        let branch = |op: &str| {
            format!("add.u r0.x, r1.x, r2.x\n{op} p0.x, #l\n(rpt4)nop\nl:\n(rpt4)nop\nrsq r0.y, r0.x")
        };
        assert_eq!(["br", "ball", "bany"].map(|op| missing(Isa::A6xx, &branch(op))), [1, 0, 0]);
        // Compiled programs of an A630 rest on the nops of bary.f: the (r) of an instruction that does not repeat.
        let bary = |inputs: &str| format!("bary.f (ei)r0.x, {inputs}\nadd.f r0.y, r0.x, r2.x");
        let inputs = ["3, r1.x", "(r)3, r1.x", "3, (r)r1.x", "(r)3, (r)r1.x"];
        assert_eq!(inputs.map(|inputs| missing(Isa::A6xx, &bary(inputs))), [3, 2, 1, 0]);
        assert_eq!(missing(Isa::A4xx, &bary("(r)3, (r)r1.x")), 3);
        // The halves of r0.x are hr0.x and hr0.y on A6xx alone; another precision takes 3 slots more.
        assert_eq!(of("add.f r0.x, r1.x, r2.x\nadd.f hr4.x, hr0.y, hr5.x"), [0, 6]);
        assert_eq!(of("add.f hr0.y, hr6.x, hr6.x\nadd.f r4.x, r0.x, r5.x"), [0, 6]);
        assert_eq!(of("add.f r0.x, r1.x, r2.x\nadd.f hr4.x, hr0.z, hr5.x"), [0, 0]);
        assert_eq!(of("add.f r0.x, r1.x, r2.x\nmad.f16 hr4.x, hr5.x, hr5.y, hr0.x"), [0, 4]);
        assert_eq!(of("swz.u32u32 r0.x, r0.y, r0.y, r0.x\nadd.u r1.x, r0.x, r2.x"), [2, 2]);
        assert_eq!(of("gat.u32u32 r0.x, r1.x, r1.y, r1.z, r1.w\nadd.u r2.x, r0.w, r3.x"), [3, 3]);
        assert_eq!(of("mov.u32u32 r1.w, c0.x\ngat.u32u32 r0.x, r1.x, r1.y, r1.z, r1.w"), [0, 0]);
        assert_eq!(of("mov.u32u32 r48.x, c0.x\nadd.u r1.x, r48.x, r2.x"), [0, 0]);
        let broken = rules_in(Isa::A6xx, "(nop2) add.f r0.x, r1.x, r2.x\nadd.f r0.y, r0.x, r2.x\nend");
        assert_eq!(broken, ["D1"]);
        let broken = rules_in(Isa::A6xx, "(nop3) add.f r0.x, r1.x, r2.x\nadd.f r0.y, r0.x, r2.x\nend");
        assert_eq!(broken, [""; 0]);
    }

    fn rules(source: &str) -> Vec<&'static str> {
        rules_in(Isa::A4xx, source)
    }

    fn rules_in(isa: Isa, source: &str) -> Vec<&'static str> {
        let words = a4emu_decoder::adreno::ir3::program::assemble_in(isa, source).expect(source);
        let mut broken = Vec::new();
        check(&mut Program::new(Stage::VS, isa, &words), &mut broken);
        broken.iter().map(|broken| broken.rule.rule().id).collect()
    }

    #[test]
    fn each_rule_has_its_case() {
        assert_eq!(rules("mov.f32f32 r0.x, c0.x\n(rpt1)nop\nadd.f r0.y, r0.x, c0.x\nend"), ["D1"]);
        assert_eq!(rules("mov.f32f32 r0.x, c0.x\n(rpt2)nop\nadd.f r0.y, r0.x, c0.x\nend"), [""; 0]);
        assert_eq!(rules("mova a0.x, hr0.x\n(rpt4)nop\nmov.f32f32 r0.x, c<a0.x + 4>\nend"), ["D2"]);
        assert_eq!(rules("mova a0.x, hr0.x\n(rpt5)nop\nmov.f32f32 r0.x, c<a0.x + 4>\nend"), [""; 0]);
        assert_eq!(rules("cmps.f.lt p0.x, r0.x, c0.x\n(rpt4)nop\nkill p0.x\nend"), ["D3"]);
        assert_eq!(rules("cmps.f.lt p0.x, r0.x, c0.x\n(rpt5)nop\nkill p0.x\nend"), [""; 0]);
        let texture =
            "mov.f32f32 r0.x, c0.x\nsam (f32)(x)r1.x, r2.x, s#0, t#0\n(rpt1)nop\nadd.f r0.y, r0.x, c0.x\nend";
        assert_eq!(rules(texture), ["D4"]);
    }

    #[test]
    fn every_path_counts_and_a_write_on_the_way_ends_it() {
        let branch = "mov.f32f32 r0.x, c0.x\nbr p0.x, #l5\nnop\nnop\nnop\n(jp)add.f r0.y, r0.x, c0.x\nend";
        assert_eq!(rules(branch), ["D1"]);
        let between = "mov.f32f32 r0.x, c0.x\nrcp r0.x, r1.x\n(ss)add.f r0.y, r0.x, c0.x\nend";
        assert_eq!(rules(between), [""; 0]);
    }

    #[test]
    fn the_back_edge_of_a_loop_of_one_block_is_the_compilers_slip() {
        let source =
            "nop\nl1:\n(jp)add.f r0.y, r0.x, c0.x\n(rpt5)nop\nadd.f r0.x, r1.x, c0.x\nbr p0.x, #l1\nend";
        assert_eq!(rules(source), ["X1"]);
    }

    #[test]
    fn files_are_apart() {
        assert_eq!(rules("cov.f32f16 hr0.x, c0.x\nadd.f r0.y, r0.x, c0.x\nend"), [""; 0]);
        assert_eq!(rules("(rpt1)add.f r0.y, (r)r0.x, c0.x\nend"), ["D1"]);
    }
}
