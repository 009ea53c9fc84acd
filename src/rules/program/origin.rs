//! Finds the origin of addresses and slots: for S31, and the constants that S29, M10 and M11 check in each
//! draw.

use std::collections::BTreeSet;

use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::adreno::ir3::{
    Body, Cat1Op, Cat1Src, Cat2Op, Cat3Op, Cat6, Cat6Class, Cat6Form, Instr, Operand, Reg, RegOrImm, Src,
    Type,
};
use hashbrown::HashSet;

use super::{Program, last_of};
use crate::finding::Broken;
use crate::rules::Id;

/// Size of local memory in bytes.
const LOCAL: i64 = 32 << 10;

/// A value that can be an address or a slot, or a part of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A scalar of the constant file.
    Constant(u16),
    /// A number.
    Immediate(u32),
}

/// The instructions through which values are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    Moves,
    Sums,
}

/// Adds violations of S31: addresses that are set to a number on some path.
pub fn check(program: &mut Program, broken: &mut Vec<Broken>) {
    for index in 0..program.instrs.len() {
        let Some((address, offset, bytes)) = local_access(&program.instrs[index]) else { continue };
        let values = values(program, index, full(address), Through::Moves).0.into_iter();
        let starts = values.filter_map(|value| match value {
            Value::Immediate(start) => Some(i64::from(start as i32) + offset),
            Value::Constant(_) => None,
        });
        let outside = starts.filter(|start| *start < 0 || start + bytes > LOCAL).max();
        broken.extend(outside.map(|start| {
            program.broken(
                Id::S31,
                index,
                format!("{bytes} bytes at {start} of local memory, which has 32 KiB"),
            )
        }));
    }
}

/// The register of the address, the offset added to it, and the number of bytes.
fn local_access(instr: &Instr) -> Option<(Reg, i64, i64)> {
    let Body::Cat6(Cat6 { op, ty, form }) = instr.body else { return None };
    let bytes = |count: u8| i64::from(count) * i64::from(ty.bytes());
    match (op.class(), form) {
        (
            Cat6Class::LoadLocal | Cat6Class::StoreLocal,
            Cat6Form::Load { address, offset, count, .. } | Cat6Form::Store { address, offset, count, .. },
        ) => Some((address, offset.into(), bytes(count))),
        (_, Cat6Form::AtomicLocal { address: RegOrImm::Reg(address), .. }) => Some((address, 0, bytes(1))),
        _ => None,
    }
}

/// The constants that may be part of an address of ldg.
pub fn pointers(program: &mut Program) -> BTreeSet<u16> {
    let mut pointers = BTreeSet::new();
    for index in 0..program.instrs.len() {
        let Body::Cat6(Cat6 { op, form: Cat6Form::Load { address, .. }, .. }) = program.instrs[index].body
        else {
            continue;
        };
        if op.class() == Cat6Class::LoadGlobal {
            let (values, _) = values(program, index, full(address), Through::Sums);
            pointers.extend(values.into_iter().filter_map(|value| match value {
                Value::Constant(scalar) => Some(scalar),
                Value::Immediate(_) => None,
            }));
        }
    }
    pointers
}

/// The slots that the half register `reg` may hold just before the instruction at `index`; `None` if some of
/// them are computed.
pub fn slots(program: &mut Program, index: usize, reg: Reg) -> Option<BTreeSet<Value>> {
    let (values, whole) = values(program, index, FileReg { half: true, reg }, Through::Moves);
    whole.then_some(values)
}

fn full(reg: Reg) -> FileReg {
    FileReg { half: false, reg }
}

/// Values that may be in the register `reg`, or be a term of it, just before the instruction at `index`; and
/// whether these are all.
fn values(program: &mut Program, index: usize, reg: FileReg, through: Through) -> (BTreeSet<Value>, bool) {
    let mut found = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![(index, reg)];
    let mut whole = true;
    while let Some((at, reg)) = open.pop() {
        let before = program.flow.before(at).to_vec();
        whole &= at > 0;
        for before in before {
            if !program.flow.is_reachable(before) || !seen.insert((before, reg)) {
                continue;
            }
            if !program.step() {
                whole = false;
                continue;
            }
            let Some(write) = last_of(program.isa, &program.writes[before], reg) else {
                open.push((before, reg));
                continue;
            };
            let terms = terms(&program.instrs[before], write.step, through);
            whole &= !terms.is_empty();
            for term in terms {
                match term {
                    Term::Reg(reg) => open.push((before, reg)),
                    Term::Value(value) => {
                        found.insert(value);
                    }
                }
            }
        }
    }
    (found, whole)
}

/// A term of an instruction's result.
enum Term {
    Reg(FileReg),
    Value(Value),
}

/// The terms of the result of repetition `step` of `instr`.
fn terms(instr: &Instr, step: u8, through: Through) -> Vec<Term> {
    let term = |operand: &Operand, half: bool| {
        let moved = if operand.step { step } else { 0 };
        match operand.src {
            Src::Gpr(reg) => Some(Term::Reg(FileReg { half, reg: Reg(reg.0.wrapping_add(moved)) })),
            Src::Const(scalar) => Some(Term::Value(Value::Constant(scalar.saturating_add(moved.into())))),
            Src::Immediate(value) => Some(Term::Value(Value::Immediate(value as u32))),
            Src::RelativeGpr(_) | Src::RelativeConst(_) | Src::Flut { .. } => None,
        }
    };
    match &instr.body {
        Body::Cat1(cat1) if cat1.op == Cat1Op::Mov && keeps(cat1.src_type, cat1.dst_type) => {
            match &cat1.src {
                Cat1Src::Operand(operand) => term(operand, cat1.src_type.is_half()).into_iter().collect(),
                Cat1Src::Immediate(bits) => vec![Term::Value(Value::Immediate(*bits))],
            }
        }
        Body::Cat2(cat2) if through == Through::Sums && matches!(cat2.op, Cat2Op::AddU | Cat2Op::AddS) => {
            let sources = [Some(&cat2.src1), cat2.src2.as_ref()].into_iter().flatten();
            sources.filter_map(|operand| term(operand, false)).collect()
        }
        Body::Cat3(cat3)
            if through == Through::Sums && matches!(cat3.op, Cat3Op::MadU24 | Cat3Op::MadS24) =>
        {
            term(&cat3.src3, false).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a move between these types keeps small numbers.
fn keeps(from: Type, to: Type) -> bool {
    let is_integer = |ty: Type| !matches!(ty, Type::F16 | Type::F32);
    from == to || (is_integer(from) && is_integer(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_decoder::adreno::ir3::Isa;
    use a4emu_gpu::gpu::Stage;

    fn program(source: &str) -> Program {
        Program::new(
            Stage::CS,
            Isa::A4xx,
            &a4emu_decoder::adreno::ir3::program::assemble(source).expect(source),
        )
    }

    fn said(source: &str) -> Vec<String> {
        let mut broken = Vec::new();
        check(&mut program(source), &mut broken);
        broken.into_iter().map(|broken| broken.what).collect()
    }

    #[test]
    fn local_memory_ends() {
        let load = |address: u32, offset: i32| {
            format!(
                "mov.u32u32 r0.x, {address}\nmov.u32u32 r1.x, r0.x\nldl.u32 r2.x, l[r1.x+{offset}], 2\nend"
            )
        };
        assert_eq!(said(&load(32760, 0)), [""; 0]);
        assert_eq!(said(&load(32760, 4)), ["8 bytes at 32764 of local memory, which has 32 KiB"]);
        let either =
            "mov.u32u32 r0.x, 0\nbr p0.x, #l3\nmov.u32u32 r0.x, 40000\n(jp)stl.u32 l[r0.x], r1.x, 1\nend";
        assert_eq!(said(either).len(), 1);
        let sum = "mov.u32u32 r1.x, 40000\nadd.u r0.x, r1.x, 4\nldl.u32 r2.x, l[r0.x], 1\nend";
        assert_eq!(said(sum), [""; 0]);
    }

    #[test]
    fn slots_are_followed_through_moves() {
        let of = |source: &str| {
            let mut program = program(&format!("{source}\nsam.s2en.uniform (f32)(x)r2.x, r1.x, hr0.x\nend"));
            let index = program.instrs.len() - 2;
            slots(&mut program, index, Reg(1)).map(|values| values.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(of("mov.u16u16 hr0.y, 3"), Some(vec![Value::Immediate(3)]));
        assert_eq!(of("cov.u32u16 hr0.y, c2.y"), Some(vec![Value::Constant(9)]));
        assert_eq!(of("mov.u32u32 r0.y, 5\ncov.u32u16 hr0.y, r0.y"), Some(vec![Value::Immediate(5)]));
        let either = "mov.u16u16 hr0.y, 1\nbr p0.x, #l3\nmov.u16u16 hr0.y, 2\n(jp)nop";
        assert_eq!(of(either), Some(vec![Value::Immediate(1), Value::Immediate(2)]));
        assert_eq!(of("add.u hr0.y, hr0.z, 1"), None);
        assert_eq!(of("cov.f32u16 hr0.y, r0.y"), None);
        assert_eq!(of("br p0.x, #l2\nmov.u16u16 hr0.y, 2\n(jp)nop"), None);
    }

    #[test]
    fn pointers_are_terms_of_addresses() {
        let source = "mov.u32u32 r0.x, c2.y\nmad.u24 r0.x, c9.x, r5.x, r0.x\nadd.u r0.x, r0.x, c3.x\n\
            mul.u24 r1.x, r0.x, c7.x\nldg.u32 r2.x, g[r0.x], 1\nend";
        assert_eq!(pointers(&mut program(source)).into_iter().collect::<Vec<_>>(), [9, 12]);
    }
}
