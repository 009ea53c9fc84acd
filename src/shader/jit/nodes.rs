//! The code of each node of a plan: operations, varyings, samples and pixels.
use super::super::alu::Row;
use super::super::effect::Effect;
use super::super::lowered::Lowered;
use super::super::rowmap;
use super::assembler::CodeLanes;
use super::coded::Coded;
use super::emit::{CodePurpose, Emitted, Emitter, Refusal};
use super::machine::Machine;
use super::plan::{Node, Plan, ValueId, Work, reads};
use super::{pixel, sample, select};

/// Emits `plan`, with the samples and conversion of `coded`.
///
/// # Errors
/// The plan cannot be compiled; the interpreter runs it.
pub fn emit(
    program: &Lowered,
    plan: Plan,
    coded: &Coded,
    machine: Machine,
    lanes: CodeLanes,
) -> Result<Emitted, Refusal> {
    let mut emitter = Emitter::new(program, plan, machine, lanes);
    emitter.nodes(coded)?;
    emitter.finish()
}

impl Emitter<'_> {
    fn nodes(&mut self, coded: &Coded) -> Result<(), Refusal> {
        for index in 0..self.plan.nodes.len() {
            let node = self.plan.nodes[index];
            self.at = index as u32;
            let program = self.program;
            self.mark(match node.work {
                Work::Alu(alu) => CodePurpose::Instruction(program.sources[alu as usize]),
                Work::Varying(_) | Work::Derivative(_) | Work::Sample(_) => {
                    CodePurpose::Instruction(program.steps[node.step as usize].at)
                }
                Work::Pixel => CodePurpose::Pixels,
            });
            let one = |dst| [Some(dst), None, None, None];
            let made = match node.work {
                Work::Alu(alu) => one(select::alu(self, &program.alus[alu as usize], &node)?),
                Work::Varying(place) => one(select::varying(self, place, &node)?),
                Work::Derivative(axis) => {
                    let masked = self.asm.masked.then(|| self.row_of_derivative(&node));
                    one(select::derivative(self, axis, node.sources[0], masked.flatten())?)
                }
                Work::Sample(number) => {
                    let wanted = self.wanted(node.value);
                    sample::sample(self, number, coded, &node, wanted)?
                }
                Work::Pixel => {
                    let epilogue = coded.epilogue.as_ref().expect("pixels are in the code");
                    one(pixel::pixel(self, epilogue, &node)?)
                }
            };
            self.release_temporaries(&made);
            for source in &node.sources[..reads(&node, program)] {
                self.used(*source, index as u32);
            }
            for (value, register) in (node.value..).zip(made) {
                register.into_iter().for_each(|register| self.define(value, register));
            }
        }
        Ok(())
    }

    /// The values that are used, of the four from `first` on. One bit each.
    fn wanted(&self, first: ValueId) -> u32 {
        let made = &self.plan.values[first as usize..][..4];
        made.iter().rev().fold(0, |wanted, value| wanted << 1 | u32::from(!value.uses.is_empty()))
    }

    /// The row with the source of a derivative, in lanes that do not execute.
    fn row_of_derivative(&self, node: &Node) -> Option<Row> {
        match &self.program.steps[node.step as usize].effect {
            Effect::Derivative { src, .. } if *src < rowmap::UNIFORMS => Some(*src),
            _ => None,
        }
    }
}
