//! What a program can do, without running it.

use a4emu_decoder::isa::ir3::{Body, Cat0Op, Cat2Op, Cat6Class, Instr};

/// What the instructions of a program do besides computing. Instructions that are
/// never reached count as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// It discards lanes.
    pub kills: bool,
    /// It writes memory that outlives the warp.
    pub stores: bool,
    /// It reads memory through pointers or descriptors.
    pub loads: bool,
    /// It asks for textures.
    pub samples: bool,
    /// It does something that can differ between lanes although their registers
    /// and constants are the same.
    pub varies: bool,
}

impl Summary {
    /// Looks at every word.
    pub fn of(words: &[u64]) -> Self {
        words.iter().fold(Self::default(), |summary, word| summary.with(&Instr::decode(*word)))
    }

    fn with(mut self, instr: &Instr) -> Self {
        match &instr.body {
            Body::Cat0(i) => self.kills |= i.op == Cat0Op::Kill,
            Body::Cat2(i) => self.varies |= i.op == Cat2Op::BaryF,
            Body::Cat5(_) => (self.samples, self.varies) = (true, true),
            Body::Cat6(i) => return self.with_memory(i.op.class()),
            Body::Cat1(_) | Body::Cat3(_) | Body::Cat4(_) | Body::Cat7(_) | Body::Unknown => {}
        }
        self
    }

    fn with_memory(mut self, class: Cat6Class) -> Self {
        match class {
            Cat6Class::StoreGlobal | Cat6Class::BufferStore => self.stores = true,
            Cat6Class::Atomic => (self.stores, self.loads) = (true, true),
            Cat6Class::LoadLocal
            | Cat6Class::LoadPrivate
            | Cat6Class::StoreLocal
            | Cat6Class::StorePrivate
            | Cat6Class::Varying
            | Cat6Class::Info => self.varies = true,
            Cat6Class::BufferLoad => (self.varies, self.loads) = (true, true),
            Cat6Class::LoadGlobal => self.loads = true,
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_they_do() {
        let of = |word| Summary::of(&[word, 0x0300_0000_0000_0000]);
        assert_eq!(of(0x2024_4000_0000_0010), Summary::default(), "mov r0.x, c4.x");
        assert!(of(0x4730_90fc_0000_2000).varies, "bary.f");
        assert!(of(0xc7c6_0000_01c0_0000).varies, "ldlv");
    }
}
