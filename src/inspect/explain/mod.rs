//! `a4emu explain`: explains a register, a packet, an enumerator, an instruction, a rule, a guess or a
//! word of the glossary, from the decoder's tables and the pages.

mod address;
mod fields;
mod guess;
mod instruction;
mod names;
mod packet;
mod pico;
mod register;
mod term;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{BufRead, Write};

use anyhow::{Context, bail, ensure};
use serde::Serialize;

use crate::describe::Capture;
use crate::register_names::{Asked, find, found, near_names};
use crate::subjects::{Source, Subject, subjects, words};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::registers::RegisterTable;
use a4emu_decoder::generation::Generation;
use a4emu_decoder::names::is_pattern;
use a4emu_decoder::similar::hint;
use a4emu_rules::rules::Id;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::status::{Failure, Status};
use a4emu_support::terminal::{self, Form};
use guess::Guessed;
use instruction::Instruction;
use register::Register;
use term::Term;

/// The arguments of `explain`.
#[derive(Clone, Debug)]
pub struct Question {
    /// The generation whose tables answer.
    pub generation: &'static Generation,
    /// The instruction set of words and mnemonics.
    pub isa: Isa,
    /// Whether words of instructions are explained field by field, or listed.
    pub detail: Detail,
    /// A register (name, pattern, NAME.FIELD or offset), packet, enumerator, enumeration or mnemonic, an
    /// instruction word of 16 digits, `ir3`, `pm4`, a rule of `validate`, a guess, or a word of the glossary.
    pub what: String,
    /// The value of the register, or the words.
    pub words: Vec<String>,
    /// Prints one JSON object.
    pub json: bool,
}

/// How much of an instruction word is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The text and each field.
    Fields,
    /// The text, a line each.
    Lines,
}

/// An explanation.
pub struct Explained {
    /// The text, or the JSON object.
    pub text: String,
    form: Form,
    /// The failure that ended the explanation of packets, if one did. The packets before it are explained.
    wrong: Option<Failure>,
}

/// Prints the explanation on stdout.
///
/// # Errors
/// The call fails if there is nothing of this name, or if a word is no number.
pub fn run(question: &Question) -> anyhow::Result<Status> {
    if question.what == "ir3" && question.words == ["-"] {
        return listed(question, std::io::stdin().lock());
    }
    let Explained { text, form, wrong } = explained(question)?;
    let mut out = terminal::stdout(form);
    out.write_all(text.as_bytes())?;
    out.flush()?;
    wrong.map_or(Ok(Status::Fine), |wrong| Err(wrong.into()))
}

/// Prints what a capture knows of the address `what`: the buffer, the registers that name it, and the draws that use
/// it.
///
/// # Errors
/// The call fails if `what` is no address, or if the capture cannot be read.
pub fn run_address(question: &Question, capture: &Capture, shared: &Shared) -> anyhow::Result<Status> {
    ensure!(question.words.is_empty(), "an address of a capture has no value behind it");
    let generation = capture.generation(&Limits::default(), shared)?;
    let (place, status) = address::of_capture(capture, address_of(generation, &question.what)?, shared)?;
    let Explained { text, form, .. } = put_all(question, "addresses", &[place])?;
    let mut out = terminal::stdout(form);
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(status)
}

/// Makes the explanation.
///
/// # Errors
/// As [`run`].
pub fn explained(question: &Question) -> anyhow::Result<Explained> {
    if let (Some((what, value)), []) = (question.what.split_once('='), &question.words[..]) {
        return explained(&Question {
            what: what.to_owned(),
            words: vec![value.to_owned()],
            ..question.clone()
        });
    }
    match question.what.as_str() {
        "ir3" => instructions(question),
        "pm4" => packets(question),
        "pico" if !question.words.is_empty() => pico_words(question),
        what if !question.words.is_empty() => registers(question, what),
        what => match (Id::named(what), Guessed::named(what)) {
            (Some(id), _) => put_all(question, "rules", &[*id.rule()]),
            (None, Some(guess)) => put_all(question, "guesses", &[guess]),
            (None, None) => names(question, what),
        },
    }
}

/// All that fits a pattern.
#[derive(Default, Serialize)]
struct Fitting {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    registers: Vec<Register>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    packet_types: Vec<names::PacketType>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    enumerations: Vec<names::Enumeration>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    operations: Vec<names::Mnemonic>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pico_operations: Vec<pico::PicoOp>,
    /// Dwords of packets and words of descriptors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<names::Word>,
}

/// Explains all whose name fits `pattern`: a line for each register, and all about the others.
fn pattern(question: &Question, pattern: &str) -> anyhow::Result<Explained> {
    let registers = found(question.generation, pattern);
    let fitting = Fitting {
        registers: rows(&registers, None),
        packet_types: names::packets(question.generation, pattern),
        enumerations: names::enumerations(question.generation, pattern),
        operations: names::mnemonics(question.isa, pattern),
        pico_operations: pico::named(pattern),
        words: Vec::new(),
    };
    if !fitting.is_empty() {
        return fitting.put(question, &registers);
    }
    fields(question, pattern)
}

impl Fitting {
    fn is_empty(&self) -> bool {
        let Self { registers, packet_types, enumerations, operations, pico_operations, words } = self;
        registers.is_empty()
            && pico_operations.is_empty()
            && packet_types.is_empty()
            && enumerations.is_empty()
            && operations.is_empty()
            && words.is_empty()
    }

    /// Prints all. `found` are the registers as they are asked for.
    fn put(&self, question: &Question, found: &[Asked]) -> anyhow::Result<Explained> {
        if question.json {
            return put(Form::Json, [serde_json::to_string(self)? + "\n"]);
        }
        let is_whole = found.len() > 1 && found.iter().all(|asked| asked.field.is_none());
        let text = |register: &Register| if is_whole { register.line() + "\n" } else { register.to_string() };
        let Self { registers, packet_types, enumerations, operations, pico_operations, words } = self;
        let texts = registers.iter().map(text).chain(packet_types.iter().map(names::PacketType::to_string));
        let texts = texts.chain(enumerations.iter().map(names::Enumeration::to_string));
        let texts = texts.chain(operations.iter().map(names::Mnemonic::to_string));
        let texts = texts.chain(pico_operations.iter().map(pico::PicoOp::to_string));
        put(Form::Prose, texts.chain(words.iter().map(names::Word::to_string)))
    }
}

/// Explains the fields of all words that `text` names, by their names alone.
fn fields(question: &Question, text: &str) -> anyhow::Result<Explained> {
    let unknown = |_| Failure { status: Status::Usage, message: unknown_name(question.generation, text) };
    let found = subjects(question.generation, text).map_err(unknown)?;
    let register = |subject: &Subject| match subject.source {
        Source::Register(register) => {
            let (registers, offset) = (register.registers, register.offset);
            Some(Asked { registers, offset, field: subject.field, by_pattern: true })
        }
        Source::Dword(..) | Source::Word(_) => None,
    };
    let registers: Vec<Asked> = found.iter().filter_map(register).collect();
    let words = found.iter().filter_map(|subject| names::Word::new(subject, None)).collect();
    Fitting { registers: rows(&registers, None), words, ..Fitting::default() }.put(question, &registers)
}

/// Explains what has the name `what`. Enumerations may share the names of their values.
fn names(question: &Question, what: &str) -> anyhow::Result<Explained> {
    if is_pattern(what) {
        return pattern(question, what);
    }
    if let Some((hi, lo)) = whole_word(what) {
        return put_all(question, "instructions", &[Instruction::new(question.isa, hi, lo)]);
    }
    if !words(question.generation, what).is_empty() {
        return registers(question, what);
    }
    if !found(question.generation, what).is_empty() {
        return registers(question, what);
    }
    let (packets, enumerations) =
        (names::packets(question.generation, what), names::enumerations(question.generation, what));
    let mnemonics = names::mnemonics(question.isa, what);
    if !packets.is_empty() {
        return put_all(question, "packet_types", &packets);
    }
    let pico_operations = pico::named(what);
    if !mnemonics.is_empty() || !pico_operations.is_empty() {
        return Fitting { operations: mnemonics, pico_operations, ..Fitting::default() }.put(question, &[]);
    }
    if !enumerations.is_empty() {
        return put_all(question, "enumerations", &enumerations);
    }
    match Term::named(what) {
        Some(term) => put_all(question, "terms", &[term]),
        None => fields(question, what),
    }
}

/// The message that nothing is named `what`, with similar names.
fn unknown_name(generation: &Generation, what: &str) -> String {
    let near = near_names(
        generation.registers,
        what,
        names::all(generation).into_iter().chain(Term::names()).chain(pico::all().map(str::to_owned)),
    );
    match near.is_empty() {
        true => format!(
            "`{what}` is no register, packet, enumerator, mnemonic, rule, guess or word of the \
             glossary (* and ? fit any text and character)"
        ),
        false => format!("`{what}` is not known{}", hint(&near)),
    }
}

/// Both dwords of a word of 16 digits in one text: `0xc286000b0480c001`, `c286000b_0480c001`, or
/// `c286000bx_0480c001x` as in listings of other tools.
fn whole_word(text: &str) -> Option<(u32, u32)> {
    let words: Vec<u32> =
        text.split('_').map(|part| instruction_words(part).ok()).collect::<Option<Vec<_>>>()?.concat();
    match (&words[..], text.len()) {
        ([hi, lo], 16..) => Some((*hi, *lo)),
        _ => None,
    }
}

fn registers(question: &Question, what: &str) -> anyhow::Result<Explained> {
    let value = match &question.words[..] {
        [] => None,
        [value] => Some(value_of(value)?),
        _ => bail!("a register has one value, {} are given", question.words.len()),
    };
    let words: Vec<names::Word> =
        words(question.generation, what).iter().filter_map(|word| names::Word::new(word, value)).collect();
    match words.is_empty() {
        true => put_all(question, "registers", &rows(&find(question.generation, what)?, value)),
        false => put_all(question, "words", &words),
    }
}

/// The registers that are found: an array once.
fn rows(found: &[Asked], value: Option<u32>) -> Vec<Register> {
    let mut found: Vec<&Asked> = found.iter().collect();
    found.dedup_by(|next, before| is_same_row(next, before));
    found.into_iter().map(|asked| Register::new(asked, value)).collect()
}

/// Whether both are elements of one array, with the same field.
fn is_same_row(a: &Asked, b: &Asked) -> bool {
    let row = |asked: &Asked| asked.registers.lookup(asked.offset).map(|reg| (reg.row.offset, reg.row.sub));
    row(a).is_some() && row(a) == row(b) && a.mask() == b.mask()
}

fn instructions(question: &Question) -> anyhow::Result<Explained> {
    let mut words = Vec::new();
    for text in
        question.words.iter().flat_map(|word| word.split(['_', ',', ' '])).filter(|text| !text.is_empty())
    {
        words.extend(instruction_words(text)?);
    }
    ensure!(!words.is_empty() && words.len().is_multiple_of(2), "an instruction is two words: HI LO");
    let pairs = words.as_chunks().0.iter();
    if question.detail == Detail::Lines && !question.json && pairs.len() > 1 {
        return put(Form::Lines, pairs.map(|&[hi, lo]| instruction::line(question.isa, hi, lo)));
    }
    let instructions: Vec<_> = pairs.map(|&[hi, lo]| Instruction::new(question.isa, hi, lo)).collect();
    put_all(question, "instructions", &instructions)
}

/// Prints a line for each word of `input`, which has one a line.
fn listed(question: &Question, input: impl BufRead) -> anyhow::Result<Status> {
    let mut out = terminal::stdout(if question.json { Form::Json } else { Form::Lines });
    for (index, line) in input.lines().enumerate() {
        let line = line?;
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        let wrong = || Failure {
            status: Status::Usage,
            message: format!("line {} of the words: `{text}` is no word of 16 digits", index + 1),
        };
        let (hi, lo) = whole_word(text).ok_or_else(wrong)?;
        match question.json {
            true => put_line(&mut out, &serde_json::to_string(&Instruction::new(question.isa, hi, lo))?)?,
            false => out.write_all(instruction::line(question.isa, hi, lo).as_bytes())?,
        }
    }
    out.flush()?;
    Ok(Status::Fine)
}

fn put_line(out: &mut impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

fn pico_words(question: &Question) -> anyhow::Result<Explained> {
    let words = question.words.iter().map(|word| hex(word)).collect::<anyhow::Result<Vec<u32>>>()?;
    put_all(question, "pico_words", &pico::words(&words))
}

fn packets(question: &Question) -> anyhow::Result<Explained> {
    let dwords = question.words.iter().map(|word| hex(word)).collect::<anyhow::Result<Vec<u32>>>()?;
    ensure!(!dwords.is_empty(), "no dwords are given");
    let (packets, wrong) = packet::explain(question.generation, &dwords);
    let wrong = wrong.map(|message| Failure { status: Status::Damaged, message });
    Ok(Explained { wrong, ..put_all(question, "packets", &packets)? })
}

/// The text that `explain` prints for the one of `registers` at `offset`.
pub fn text_of(registers: &'static RegisterTable, offset: u32) -> String {
    Register::new(&Asked { registers, offset, field: None, by_pattern: false }, None).to_string()
}

/// The text of the glossary about `name`.
pub fn term(name: &str) -> Option<String> {
    Term::named(name).map(|term| term.text)
}

/// Parses `text` into dwords. A text of up to 8 digits is one dword: `0xc286000b`, `c286000b`, or
/// `c286000bx` as in listings of other tools. A longer one is both dwords of an instruction, the high one
/// first.
fn instruction_words(text: &str) -> anyhow::Result<Vec<u32>> {
    const DIGITS: usize = 8;
    let bare = text.trim_matches(['[', ']']);
    let digits = bare.strip_prefix("0x").unwrap_or(bare);
    let digits = digits.strip_suffix('x').unwrap_or(digits);
    match u64::from_str_radix(digits, 16) {
        Ok(word) if digits.len() > DIGITS => Ok(vec![(word >> 32) as u32, word as u32]),
        _ => Ok(vec![hex(digits)?]),
    }
}

fn hex(text: &str) -> anyhow::Result<u32> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u32::from_str_radix(digits, 16).with_context(|| format!("`{text}` is no word of 32 bits in hexadecimal"))
}

/// Parses an address of `generation`.
fn address_of(generation: &Generation, text: &str) -> anyhow::Result<Address> {
    if generation.address_bits <= 32 {
        return hex(text).map(Address::from);
    }
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let address = u64::from_str_radix(digits, 16).map(Address::new);
    let address = address.ok().filter(|address| generation.reaches(*address));
    address
        .with_context(|| format!("`{text}` is no address of {} bits in hexadecimal", generation.address_bits))
}

/// Parses a register's value: decimal, hexadecimal, or as listings print it.
///
/// # Errors
/// The call fails if `text` is no number.
pub fn value_of(text: &str) -> anyhow::Result<u32> {
    const DIGITS: usize = 8;
    match text.starts_with("0x") || text.len() == DIGITS {
        true => hex(text),
        false => text.parse().or_else(|_| hex(text)),
    }
}

/// Parses the value of a register of 64 bits, as [`value_of`].
///
/// # Errors
/// The call fails if `text` is no number.
pub fn wide_value_of(text: &str) -> anyhow::Result<u64> {
    const DIGITS: usize = 16;
    let hex = || {
        let digits = text.strip_prefix("0x").unwrap_or(text);
        u64::from_str_radix(digits, 16)
            .with_context(|| format!("`{text}` is no word of 64 bits in hexadecimal"))
    };
    match text.starts_with("0x") || text.len() == DIGITS {
        true => hex(),
        false => text.parse().or_else(|_| hex()),
    }
}

fn put_all<T: Serialize + Display>(question: &Question, name: &str, all: &[T]) -> anyhow::Result<Explained> {
    match question.json {
        true => put(Form::Json, [serde_json::to_string(&BTreeMap::from([(name, all)]))? + "\n"]),
        false => put(Form::Prose, all),
    }
}

fn put(form: Form, texts: impl IntoIterator<Item = impl Display>) -> anyhow::Result<Explained> {
    let text = texts.into_iter().map(|text| text.to_string()).collect();
    Ok(Explained { text, form, wrong: None })
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::generation::DEFAULT;

    use super::{names::Word, words};

    #[test]
    fn descriptors_are_explained_word_by_word() {
        let count = |text: &str| words(DEFAULT, text).len();
        for (text, words) in [
            ("TEX_CONST_0", 1),
            ("tex_samp_1", 1),
            ("A4XX_TEX_CONST_0", 1),
            ("REG_A4XX_TEX_SAMP_0", 1),
            ("TEX_CONST_2.PITCHALIGN", 1),
            ("TEX_CONST_2.NONE", 0),
            ("SSBO_0", 4),
            ("SSBO_0_1", 1),
            ("TEX_CONST", 8),
            ("TEX", 0),
            ("RB_DEPTH_CONTROL", 0),
        ] {
            assert_eq!(count(text), words, "{text}");
        }
        let word = Word::new(&words(DEFAULT, "TEX_CONST_2")[0], Some(0x8000_0003)).unwrap();
        assert!(word.to_string().contains("PITCHALIGN  = 3"), "{word}");
    }
}
