//! Lowering of categories 0 and 7, and of flags that affect control flow.
use a4emu_decoder::adreno::ir3::{Cat0, Cat0Op, Cat7, Cat7Op, Instr, Predicate};

use super::{Lowerer, SyncFlag};
use crate::effect::{Branch, Condition, Effect, Region, Test, Vote};
use crate::rowmap::PREDICATES;

fn test(predicate: Predicate) -> Test {
    Test { row: PREDICATES + u16::from(predicate.component & 3), sense: !predicate.inverted }
}

impl Lowerer {
    pub(super) fn cat0(&mut self, instr: &Cat0) {
        let target = self.at.wrapping_add_signed(instr.offset);
        let first = test(instr.predicate1);
        let second = test(instr.predicate2);
        let branch = |condition, vote| Effect::Branch(Branch { condition, vote, target });
        let effect = match instr.op {
            Cat0Op::Nop => return,
            Cat0Op::Br => branch(Condition::If(first), Vote::Each),
            Cat0Op::Brao => branch(Condition::Either(first, second), Vote::Each),
            Cat0Op::Braa => branch(Condition::Both(first, second), Vote::Each),
            Cat0Op::Bany => branch(Condition::If(first), Vote::Any),
            Cat0Op::Ball => branch(Condition::If(first), Vote::All),
            Cat0Op::Jump => branch(Condition::Always, Vote::Each),
            // Each warp runs the preamble ([`crate::preamble`]).
            Cat0Op::Getone if self.preamble => branch(Condition::Always, Vote::AllButOneOfWarp),
            Cat0Op::Getone => branch(Condition::Always, Vote::AllButOne),
            Cat0Op::Getlast => branch(Condition::Always, Vote::ClusterButLast),
            Cat0Op::Shps | Cat0Op::Shpe => {
                self.preamble = instr.op == Cat0Op::Shps;
                return;
            }
            Cat0Op::Call => Effect::Call { target },
            Cat0Op::Ret => Effect::Return,
            Cat0Op::Kill => Effect::Kill(Condition::If(first)),
            Cat0Op::End => Effect::End,
            Cat0Op::Predt => self.begin(first),
            Cat0Op::Predf => self.begin(Test { sense: !first.sense, ..first }),
            Cat0Op::Prede => self.leave(),
            Cat0Op::Brac | Cat0Op::Brax | Cat0Op::Emit | Cat0Op::Cut | Cat0Op::Chmask | Cat0Op::Chsh => {
                Effect::Unsupported(instr.op.name())
            }
            Cat0Op::FlowRev | Cat0Op::Bkt | Cat0Op::Stks | Cat0Op::Stkr | Cat0Op::Xset | Cat0Op::Xclr => {
                Effect::Unsupported(instr.op.name())
            }
            Cat0Op::Dbg => Effect::Unsupported(instr.op.name()),
        };
        self.builder.effect(effect);
    }

    fn begin(&mut self, test: Test) -> Effect {
        self.region = Some(test);
        Effect::Region(Region::Begin(test))
    }

    fn leave(&mut self) -> Effect {
        self.region = None;
        Effect::Region(Region::End)
    }

    pub(super) fn cat7(&mut self, instr: &Cat7) {
        match instr.op {
            Cat7Op::Bar => self.builder.effect(Effect::Barrier),
            // Memory accesses are always in order.
            Cat7Op::Fence => {}
            Cat7Op::Sleep | Cat7Op::Icinv | Cat7Op::Dccln | Cat7Op::Dcinv | Cat7Op::Dcflu => {
                self.builder.effect(Effect::Unsupported(instr.op.name()));
            }
        }
    }

    /// Adds the effects of the flags of `instr`, before the instruction.
    pub(super) fn synchronise(&mut self, instr: &Instr) {
        if instr.flags.ss && self.stored {
            self.stored = false;
            if self.sync == SyncFlag::Barrier {
                self.builder.effect(Effect::Barrier);
            }
        }
        if let Some(test) = self.region.filter(|_| instr.flags.jp) {
            self.builder.effect(Effect::Region(Region::Again(test)));
        }
    }
}
