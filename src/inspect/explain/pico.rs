//! Explains PicoGpu's instructions: by mnemonic, and as words (`explain pico WORD..`).

use std::collections::BTreeMap;
use std::fmt;

use a4emu_decoder::isa::pico::{Form, Instr, Op};
use a4emu_decoder::names::fits;
use serde::Serialize;

/// An instruction of PicoGpu with all its forms.
#[derive(Clone, Debug, Serialize)]
pub struct PicoOp {
    mnemonic: &'static str,
    about: &'static str,
    forms: Vec<PicoForm>,
}

/// A form of an instruction.
#[derive(Clone, Debug, Serialize)]
struct PicoForm {
    opcode: u8,
    /// How it is written.
    text: String,
    /// The fields of its word, from bit 0 on, with their sizes in bits.
    fields: &'static str,
}

/// What an instruction computes (docs/hardware/picogpu.md).
fn about(op: Op) -> &'static str {
    match op {
        Op::Fadd | Op::FaddImm => "The sum of two floats, component by component.",
        Op::Fsub | Op::FsubImm => "The first float less the second, component by component.",
        Op::Fmul | Op::FmulImm => "The product of two floats, component by component.",
        Op::Fdiv | Op::FdivImm => "The first float divided by the second, component by component.",
        Op::Fneg => "The negative of a float, component by component.",
        Op::Fdot => "The dot product of four components, in all components of the result.",
        Op::Fcross => "The cross product of three components, in all components of the result.",
        Op::Fcross2 => "Ax * By - Ay * Bx, in all components of the result.",
        Op::Fmad => {
            "The first float times the second, plus the third. PicoGpu's assembler writes fcross2 for this name."
        }
        Op::Frcp => "1 divided by a float, component by component.",
        Op::Fnorm => {
            "The vector divided by its length. All four components are written, whatever the mask is."
        }
        Op::Fmax => "The larger of two floats, component by component.",
        Op::Fmin => "The smaller of two floats, component by component.",
        Op::Iadd | Op::IaddImm => "The sum of two integers, component by component.",
        Op::Isub | Op::IsubImm => "The first integer less the second, component by component.",
        Op::Imul | Op::ImulImm => "The product of two integers, component by component.",
        Op::Idiv | Op::IdivImm => {
            "The first integer divided by the second, component by component; 0 if the second is 0."
        }
        Op::Ineg => "The negative of an integer, component by component.",
        Op::Imax => "The larger of two integers, component by component.",
        Op::Imin => "The smaller of two integers, component by component.",
        Op::Init => "Immediates, as floats (finit) or integers (iinit). The last one repeats.",
        Op::Swizzle => "The components of a source in any order, written one after the other.",
        Op::Mov => "A copy.",
        Op::Trap => "Stops in the debugger, if there is one.",
        Op::Lduni => "Loads the uniforms. The assembler puts it first.",
        Op::Initregs => {
            "Zeroes the registers that are neither input nor uniform. The assembler puts it second."
        }
    }
}

/// How the operands of a form are written, and the fields of its word.
fn operands(form: Form) -> (&'static str, &'static str) {
    match form {
        Form::Nullary => ("", "opcode:6"),
        Form::Unary => (" rDST.MASK rSRC", "opcode:6 dst:4 src:4 mask:4"),
        Form::Binary => (" rDST.MASK rA rB", "opcode:6 dst:4 a:4 b:4 mask:4"),
        Form::Ternary => (" rDST.MASK rA rB rC", "opcode:6 dst:4 a:4 b:4 c:4 mask:4"),
        Form::UnaryImm => (" rDST.MASK NUMBER..", "opcode:6 dst:4 mask:4 count-1:2, then the numbers"),
        Form::BinaryImm => {
            (" rDST.MASK rSRC NUMBER..", "opcode:6 dst:4 src:4 mask:4 count-1:2, then the numbers")
        }
        Form::Swizzle => (" rDST rSRC.SELECTORS", "opcode:6 dst:4 src:4, four selectors of 2, x first"),
    }
}

/// Names under which programs use an op: `init` is written as `finit` and `iinit`.
fn names(op: Op) -> impl Iterator<Item = &'static str> {
    let more: &[&str] = if op == Op::Init { &["finit", "iinit"] } else { &[] };
    std::iter::once(op.name()).chain(more.iter().copied())
}

/// All mnemonics.
pub fn all() -> impl Iterator<Item = &'static str> {
    Op::ALL.iter().flat_map(|op| names(*op))
}

/// The instructions whose mnemonic fits `text`, in the order of their opcodes.
pub fn named(text: &str) -> Vec<PicoOp> {
    let mut found: BTreeMap<u8, PicoOp> = BTreeMap::new();
    for op in Op::ALL.iter().copied().filter(|op| names(*op).any(|name| fits(text, name))) {
        let (written, fields) = operands(op.form());
        let form = PicoForm { opcode: op as u8, text: format!("{}{written}", op.name()), fields };
        let known = found.values_mut().find(|known| known.mnemonic == op.name());
        match known {
            Some(known) => known.forms.push(form),
            None => {
                let made = PicoOp { mnemonic: op.name(), about: about(op), forms: vec![form] };
                found.insert(op as u8, made);
            }
        }
    }
    found.into_values().collect()
}

/// An instruction among words.
#[derive(Clone, Debug, Serialize)]
pub struct PicoWord {
    word: u32,
    /// The text of the disassembler; null for a word that is no instruction.
    text: Option<String>,
    about: Option<&'static str>,
    fields: Option<&'static str>,
}

/// The instructions of `words`, from the first on. The word that is none ends them.
pub fn words(words: &[u32]) -> Vec<PicoWord> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match Instr::decode(&words[at..]) {
            Some((instr, len)) => {
                let (about, fields) = (about(instr.op), operands(instr.op.form()).1);
                out.push(PicoWord {
                    word: *word,
                    text: Some(instr.to_string()),
                    about: Some(about),
                    fields: Some(fields),
                });
                at += len.max(1);
            }
            None => {
                out.push(PicoWord { word: *word, text: None, about: None, fields: None });
                break;
            }
        }
    }
    out
}

impl fmt::Display for PicoOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mnemonic, about, forms } = self;
        writeln!(f, "{mnemonic}: instruction of PicoGpu\n  {about}")?;
        forms.iter().try_for_each(|PicoForm { opcode, text, fields }| {
            writeln!(f, "  {text}\n    opcode {opcode}; bits from 0 on: {fields}")
        })?;
        writeln!(f, "  see  docs/hardware/picogpu.md")
    }
}

impl fmt::Display for PicoWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, text, about, fields } = self;
        match (text, about, fields) {
            (Some(text), Some(about), Some(fields)) => {
                writeln!(f, "{word:08x}  {text}\n  {about}\n  bits from 0 on: {fields}")
            }
            _ => writeln!(f, "{word:08x}  no instruction of PicoGpu"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_found_by_name_and_by_word() {
        let both = named("fadd");
        assert_eq!((both.len(), both[0].forms.len(), both[0].forms[1].opcode), (1, 2, 1));
        assert_eq!(named("iinit")[0].mnemonic, "init");
        assert!(named("f*").len() > 10 && named("bary.f").is_empty());
        // The end of the program of captures/pico/passthrough.vs.pico.
        let found = words(&[0x21, 0x0003_c09e, 0x0003_84de, 0xffff_ffff, 0x21]);
        let texts: Vec<Option<&str>> = found.iter().map(|word| word.text.as_deref()).collect();
        assert_eq!(texts, [Some("initregs"), Some("mov r2 r0"), Some("mov r3.xyz r1"), None]);
    }
}
