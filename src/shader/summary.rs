//! What a program can do, found without running it.
use super::effect::Effect;
use super::ops::{Op, Space};

/// Effects of the reachable instructions, other than computing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Whether it discards lanes.
    pub kills: bool,
    /// Whether it writes memory that outlives the warp.
    pub stores: bool,
    /// Whether it writes memory that its group's invocations share, or the inputs of its primitive.
    pub stores_locally: bool,
    /// Whether it reads memory through pointers or descriptors.
    pub loads: bool,
    /// Whether it samples or queries textures.
    pub samples: bool,
    /// Whether it depends on lanes in other warps of the wave.
    pub exchanges: bool,
    /// Whether results can differ between lanes with the same registers and constants.
    pub varies: bool,
}

impl Summary {
    /// The summary of `effects`.
    pub(super) fn of<'a>(effects: impl Iterator<Item = &'a Effect>) -> Self {
        let mut summary = Self::default();
        effects.for_each(|effect| summary.add(effect));
        summary
    }

    fn add(&mut self, effect: &Effect) {
        self.exchanges |= effect.is_of_wave();
        match effect {
            Effect::Kill(_) => self.kills = true,
            Effect::Branch(branch) => self.varies |= branch.vote.elects(),
            Effect::Derivative { .. } => self.varies = true,
            Effect::Op(op, _) => self.add_op(op),
            Effect::Continue | Effect::End | Effect::Call { .. } | Effect::Return | Effect::Region(_) => {}
            // What the lanes share depends on which of them execute.
            Effect::Broadcast { .. } | Effect::Exchange(_) => self.varies = true,
            Effect::Constants(_) => (self.varies, self.loads) = (true, true),
            Effect::Barrier | Effect::Gather(_) | Effect::Scatter { .. } => {}
            Effect::LeftProgram | Effect::Invalid | Effect::Unsupported(_) | Effect::Doubt(_) => {}
        }
    }

    fn add_op<R>(&mut self, op: &Op<R>) {
        match op {
            Op::Load { from, .. } if from.space == Space::Global => self.loads = true,
            Op::Store { to, .. } if to.space == Space::Global => self.stores = true,
            Op::Store { to, .. } => {
                self.varies = true;
                self.stores_locally |= to.space != Space::Private;
            }
            Op::Load { .. } => self.varies = true,
            Op::UniformLoad(_) => self.loads = true,
            Op::ImageLoad { .. } => (self.varies, self.loads) = (true, true),
            Op::ImageStore { .. } => self.stores = true,
            Op::Atomic(_) => (self.stores, self.loads) = (true, true),
            Op::Sample(_) | Op::Query(_) => (self.samples, self.varies) = (true, true),
            Op::ImageSize { .. } | Op::Varying(_) | Op::FlatVarying { .. } => self.varies = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::adreno::ir3::program::assemble;

    use super::*;
    use crate::Program;

    fn of(text: &str) -> Summary {
        Program::new(&assemble(&format!("{text}\nend")).unwrap()).unwrap().summary()
    }

    #[test]
    fn instructions_say_what_they_do() {
        let nothing = Summary::default();
        let varies = Summary { varies: true, ..nothing };
        assert_eq!(of("mov.f32f32 r0.x, c4.x\nbr p0.x, #l\nl:\nnop"), nothing);
        assert_eq!(of("bary.f r0.x, 0, r0.x"), varies);
        assert_eq!(of("ldlv.u32 r2.x, l[5], 2"), varies);
        assert_eq!(of("dsx (f32)(x)r1.y, r1.x"), varies);
        let elects = Summary { exchanges: true, ..varies };
        assert_eq!(of("getone #l\nl:\nnop"), elects, "which lane it is depends on the others");
        assert_eq!(of("ldp.u32 r2.x, p[r1.x], 1"), varies);
        assert_eq!(of("kill p0.x"), Summary { kills: true, ..nothing });
        assert_eq!(of("ldg.u32 r2.x, g[r1.x], 1"), Summary { loads: true, ..nothing });
        assert_eq!(of("stg.u32 g[r1.x], r0.y, 1"), Summary { stores: true, ..nothing });
        assert_eq!(of("sam (f32)(x)r8.x, r1.x, s#2, t#3"), Summary { samples: true, ..varies });
        assert_eq!(
            of("atomic.add.untyped.1d.u32.1.l r2.x, l[r1.x], r1.y"),
            Summary { stores: true, loads: true, ..nothing }
        );
    }

    #[test]
    fn unreachable_instructions_do_not_count() {
        assert_eq!(of("jump #l\nkill p0.x\nl:\nnop"), Summary::default());
    }
}
