//! Detection of programs that return one texel and do nothing else.

use super::alu::Row;
use super::effect::Effect;
use super::lowered::{Lowered, Step};
use super::ops::{Destination, Op, Plain, Precision};
use super::rowmap::{FULL, REGISTERS};

/// A program that returns the filtered texel at two varyings. Programs that restore tile memory are like
/// that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexelProgram {
    /// Id of the full register with the first barycentric weight. The second is in the next register.
    pub ij: u32,
    /// Varying locations of the two coordinates.
    pub locations: [u16; 2],
    /// Sampler slot.
    pub sampler: u32,
    /// Texture slot.
    pub texture: u32,
    /// Id of the first of the four full result registers.
    pub result: u32,
    /// Instructions that a warp runs.
    pub instructions: u64,
}

/// The operation and destination of a step that does only this operation.
fn operation(step: &Step) -> Option<(&Op<Row>, &Destination)> {
    match &step.effect {
        Effect::Op(op, to) if step.first == step.end && to.precision == Precision::Full => Some((op, to)),
        _ => None,
    }
}

impl Lowered {
    /// The program as a [`TexelProgram`], if it is one.
    pub fn as_texel(&self) -> Option<TexelProgram> {
        let [s_step, t_step, ask, end, ..] = self.steps.as_slice() else { return None };
        if self.watched || end.effect != Effect::End || end.first != end.end {
            return None;
        }
        let ((Op::Varying(s), s_to), (Op::Varying(t), t_to)) = (operation(s_step)?, operation(t_step)?)
        else {
            return None;
        };
        let (Op::Sample(sample), to) = operation(ask)? else { return None };
        let Plain { sampler, texture, coords, components: 15, .. } = sample.plain()? else { return None };
        let weights = [s.i, s.j];
        let are_those =
            [t.i, t.j] == weights && s.j == s.i + 1 && [s_to, t_to].iter().all(|to| to.components == 1);
        let are_there = coords == [s_to.first, t_to.first] && s_to.first != t_to.first;
        // The second coordinate is computed from the weights too, so the first must not overwrite them.
        let are_kept = !weights.contains(&s_to.first);
        let [ij, result] =
            [s.i, to.first].map(|row| (FULL..FULL + REGISTERS - 3).contains(&row).then_some(row - FULL));
        let locations = [self.location(s.location)?, self.location(t.location)?];
        (are_those && are_there && are_kept && to.components == 15).then_some(TexelProgram {
            ij: ij?.into(),
            locations,
            sampler,
            texture,
            result: result?.into(),
            instructions: [s_step, t_step, ask, end].map(|step| u64::from(step.instructions)).iter().sum(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Program;
    use a4emu_decoder::adreno::ir3::program::assemble;

    use super::*;

    fn of(text: &str) -> Option<TexelProgram> {
        Program::new(&assemble(text).expect("text")).expect("a program").as_texel()
    }

    const RESTORE: &str = "bary.f r0.z, 4, r0.x\nbary.f (ei)r0.w, 5, r0.x\n(rpt5)nop\n\
                           sam (f32)(xyzw)r1.x, r0.z, s#2, t#3\n(sy)end";

    #[test]
    fn restore_programs_are_texel_programs() {
        let texel =
            TexelProgram { ij: 0, locations: [4, 5], sampler: 2, texture: 3, result: 4, instructions: 5 };
        assert_eq!(of(RESTORE), Some(texel));
        // The result may go to the registers of the coordinates.
        assert_eq!(of(&RESTORE.replace("r1.x", "r0.x")), Some(TexelProgram { result: 0, ..texel }));
        assert_eq!(of(&RESTORE.replace(", 5,", ", 4,")), Some(TexelProgram { locations: [4, 4], ..texel }));
    }

    #[test]
    fn programs_with_other_instructions_are_no_texel_programs() {
        for (from, to) in [
            ("(xyzw)", "(xyz)"),
            ("(f32)(xyzw)r1.x", "(f16)(xyzw)hr1.x"),
            ("f32", "u32"),
            ("(rpt5)nop", "add.f r0.w, r0.w, c0.x"),
            ("(sy)end", "(sy)mov.f32f32 r1.x, c0.x\nend"),
            ("(sy)end", "(sy)kill p0.x\nend"),
            ("sam (f32)(xyzw)r1.x, r0.z", "sam (f32)(xyzw)r1.x, r0.x"),
            ("sam (f32)(xyzw)r1.x, r0.z", "sam.p (f32)(xyzw)r1.x, r0.z"),
            ("bary.f r0.z, 4, r0.x", "bary.f r0.z, 4, r0.y"),
            ("bary.f r0.z, 4, r0.x", "mov.f32f32 r0.z, r0.x"),
            ("bary.f r0.z, 4", "bary.f hr0.z, 4"),
        ] {
            assert!(RESTORE.contains(from));
            assert_eq!(of(&RESTORE.replace(from, to)), None, "{to}");
        }
        // The first coordinate overwrites the weights of the second.
        let over = "bary.f r0.x, 4, r0.x\nbary.f (ei)r0.y, 5, r0.x\nsam (f32)(xyzw)r1.x, r0.x, s#2, t#3\nend";
        assert_eq!(of(over), None);
        let watched = crate::tests::watched(&assemble(RESTORE).expect("text"));
        assert_eq!(watched.as_texel(), None);
    }
}
