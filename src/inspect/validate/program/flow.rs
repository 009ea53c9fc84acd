//! The control flow of a program.

use a4emu_decoder::adreno::ir3::{Body, Cat0, Cat0Op, Instr};

/// The paths through a program.
pub struct Flow {
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    reachable: Vec<bool>,
    /// The number of the block of each instruction.
    blocks: Vec<u32>,
}

impl Flow {
    /// The paths through `instrs`. A path that leaves the program ends there.
    pub fn of(instrs: &[Instr]) -> Self {
        let successors: Vec<Vec<usize>> = (0..instrs.len()).map(|index| successors(instrs, index)).collect();
        let mut predecessors = vec![Vec::new(); instrs.len()];
        for (index, after) in successors.iter().enumerate() {
            after.iter().for_each(|next| predecessors[*next].push(index));
        }
        let reachable = reachable(&successors);
        let blocks = blocks(instrs, &successors);
        Self { successors, predecessors, reachable, blocks }
    }

    /// The instructions that may run directly before the one at `index`.
    pub fn before(&self, index: usize) -> &[usize] {
        &self.predecessors[index]
    }

    /// The instructions that may run directly after the one at `index`.
    pub fn after(&self, index: usize) -> &[usize] {
        &self.successors[index]
    }

    /// Whether any path reaches the instruction at `index`.
    pub fn is_reachable(&self, index: usize) -> bool {
        self.reachable.get(index).is_some_and(|reachable| *reachable)
    }

    /// The number of the block of the instruction at `index`.
    pub fn block(&self, index: usize) -> u32 {
        self.blocks[index]
    }
}

/// The flow control operation of an instruction, if it is one.
pub fn control(instr: &Instr) -> Option<&Cat0> {
    match &instr.body {
        Body::Cat0(cat0) => Some(cat0),
        _ => None,
    }
}

/// The target of a branch at `index`, also if it is outside of the program.
pub fn target(instr: &Instr, index: usize) -> Option<i64> {
    let cat0 = control(instr).filter(|cat0| cat0.op.class().has_target())?;
    Some(index as i64 + i64::from(cat0.offset))
}

fn successors(instrs: &[Instr], index: usize) -> Vec<usize> {
    let inside = |at: i64| usize::try_from(at).ok().filter(|at| *at < instrs.len());
    let next = inside(index as i64 + 1);
    let target = target(&instrs[index], index).and_then(inside);
    let mut all: Vec<usize> = match control(&instrs[index]).map(|cat0| cat0.op) {
        Some(Cat0Op::End | Cat0Op::Chsh | Cat0Op::Ret) => Vec::new(),
        Some(Cat0Op::Jump) => target.into_iter().collect(),
        _ => next.into_iter().chain(target).collect(),
    };
    all.dedup();
    all
}

fn reachable(successors: &[Vec<usize>]) -> Vec<bool> {
    let mut reachable = vec![false; successors.len()];
    let mut open: Vec<usize> = (!successors.is_empty()).then_some(0).into_iter().collect();
    while let Some(index) = open.pop() {
        if !std::mem::replace(&mut reachable[index], true) {
            open.extend(&successors[index]);
        }
    }
    reachable
}

/// Numbers the blocks. A block begins at each target and after each instruction that branches or ends.
fn blocks(instrs: &[Instr], successors: &[Vec<usize>]) -> Vec<u32> {
    let mut begins = vec![false; instrs.len() + 1];
    for (index, after) in successors.iter().enumerate() {
        if after[..] != [index + 1] {
            begins[index + 1] = true;
            after.iter().for_each(|next| begins[*next] = true);
        }
    }
    let mut block = 0;
    let number = |begins: &bool| {
        block += u32::from(*begins);
        block
    };
    begins[..instrs.len()].iter().map(number).collect()
}
