//! Mutates the statements of sources: registers, fields, packets, shader instructions, buffers. The result is
//! still a valid container, so that it reaches far into the emulator.

use std::rc::Rc;

use a4emu_decoder::adreno::ir3::{Instr, program};
use a4emu_decoder::asm::ast::{
    Arg, Block, Expr, ExprKind, Kind, LoadSource, Part, RegName, ShaderLine, Span, Word,
};

use crate::choices::Choices;

/// Largest number of places that one mutant changes.
const CHANGES: usize = 4;

/// Offsets of registers: all valid ones and some beyond.
const REGISTERS: usize = 0x4100;

/// A place in a source that can be changed.
enum Site<'a> {
    /// A list of statements: one is lost, doubled or exchanged.
    Block(&'a mut Block),
    /// A value.
    Value(&'a mut Expr),
    /// Fields of a word: one is lost, or raw bits are added.
    Fields(&'a mut Vec<Part>),
    /// A register.
    Register(&'a mut RegName),
    /// The name of a packet.
    Packet(&'a mut String),
    /// Instructions.
    Shader(&'a mut Vec<ShaderLine>),
}

/// Applies some changes to `block`.
pub fn mutant(mut block: Block, choices: &mut Choices<'_>) -> Block {
    for _ in 0..1 + choices.below(CHANGES) {
        let mut sites = 0;
        visit(&mut block, &mut |_| sites += 1);
        let (chosen, mut at) = (choices.below(sites), 0);
        visit(&mut block, &mut |site| {
            if at == chosen {
                change(site, choices);
            }
            at += 1;
        });
    }
    block
}

/// Calls `show` for every place in `block`, in order.
fn visit(block: &mut Block, show: &mut dyn FnMut(Site<'_>)) {
    for statement in block.iter_mut() {
        kind(&mut statement.kind, show);
    }
    show(Site::Block(block));
}

fn kind(kind: &mut Kind, show: &mut dyn FnMut(Site<'_>)) {
    match kind {
        Kind::Include(_) | Kind::Text(..) | Kind::Bytes(_) | Kind::Pad | Kind::Marker(None) => {}
        Kind::Macro(_, body) => {
            if let Some(body) = Rc::get_mut(body) {
                visit(&mut body.body, show);
            }
        }
        Kind::Const(_, value)
        | Kind::GpuId(value)
        | Kind::ChipId(value)
        | Kind::Form(value)
        | Kind::Origin(value)
        | Kind::Marker(Some(value))
        | Kind::Zero(value)
        | Kind::Align(value)
        | Kind::At(value)
        | Kind::Call(value)
        | Kind::Png(_, Some(value)) => show(Site::Value(value)),
        Kind::Png(_, None) => {}
        Kind::Use(_, values) | Kind::Numbers(_, values) => values_of(values, show),
        Kind::Fill(count, value) => [count, value].into_iter().for_each(|value| show(Site::Value(value))),
        Kind::For(_, first, end, body) => {
            [first, end].into_iter().for_each(|value| show(Site::Value(value)));
            visit(body, show);
        }
        Kind::If(condition, then, otherwise) => {
            show(Site::Value(condition));
            [then, otherwise].into_iter().for_each(|body| visit(body, show));
        }
        Kind::Repeat(value, body) | Kind::Section(value, body) => {
            show(Site::Value(value));
            visit(body, show);
        }
        Kind::Raw(body) | Kind::Label(_, Some(body)) | Kind::Again(_, Some(body)) => visit(body, show),
        Kind::Label(_, None) | Kind::Again(_, None) => {}
        Kind::Buffer(buffer) => {
            buffer.address.iter_mut().chain(&mut buffer.size).for_each(|value| show(Site::Value(value)));
            buffer.contents.iter_mut().for_each(|body| visit(body, show));
        }
        Kind::Submit(address, dwords) => {
            [Some(address), dwords.as_mut()].into_iter().flatten().for_each(|value| show(Site::Value(value)));
        }
        Kind::Shader(lines) => show(Site::Shader(lines)),
        Kind::Write(register, value) | Kind::More(register, value) => {
            show(Site::Register(register));
            word(value, show);
        }
        Kind::OneReg(register, values) => {
            show(Site::Register(register));
            values_of(values, show);
        }
        Kind::Packet(packet) => {
            show(Site::Packet(&mut packet.name.text));
            for arg in &mut packet.args {
                match arg {
                    Arg::Next(value) => word(value, show),
                    Arg::Named(_, value) => show(Site::Value(value)),
                }
            }
            packet.data.iter_mut().for_each(|body| visit(body, show));
        }
        Kind::Load(_, at, source) => {
            at.iter_mut().for_each(|value| show(Site::Value(value)));
            match source {
                LoadSource::Inline(body) => visit(body, show),
                LoadSource::Memory(address, units) => {
                    [Some(address), units.as_mut()].into_iter().flatten().for_each(|v| show(Site::Value(v)));
                }
            }
        }
    }
}

fn values_of(values: &mut [Expr], show: &mut dyn FnMut(Site<'_>)) {
    values.iter_mut().for_each(|value| show(Site::Value(value)));
}

fn word(word: &mut Word, show: &mut dyn FnMut(Site<'_>)) {
    match word {
        Word::Plain(value) => show(Site::Value(value)),
        Word::Fields(parts) => {
            for part in parts.iter_mut() {
                let (Part::Set(_, value) | Part::Bare(value)) = part;
                show(Site::Value(value));
            }
            show(Site::Fields(parts));
        }
    }
}

fn change(site: Site<'_>, choices: &mut Choices<'_>) {
    match site {
        Site::Block(block) => list(block, choices),
        Site::Value(value) => number(value, choices),
        Site::Fields(parts) => {
            let span = Span::default();
            let bits = ExprKind::Number(format!("{:#x}", choices.word()));
            match choices.below(3) {
                0 => parts.push(Part::Bare(Expr { span, kind: bits })),
                _ => list(parts, choices),
            }
        }
        Site::Register(register) => {
            register.name = format!("UNKNOWN_{:04X}", choices.below(REGISTERS));
            register.element = None;
        }
        Site::Packet(name) => *name = format!("opcode_{:02x}", choices.below(0x80)),
        Site::Shader(lines) => match choices.below(2) {
            0 => list(lines, choices),
            _ => instruction(lines, choices),
        },
    }
}

/// Removes, doubles or exchanges an element.
fn list<T: Clone>(list: &mut Vec<T>, choices: &mut Choices<'_>) {
    if list.is_empty() {
        return;
    }
    let (a, b) = (choices.below(list.len()), choices.below(list.len()));
    match choices.below(4) {
        0 => drop(list.remove(a)),
        1 => list.insert(b, list[a].clone()),
        _ => list.swap(a, b),
    }
}

/// Replaces a value by a number.
fn number(value: &mut Expr, choices: &mut Choices<'_>) {
    let old = match &value.kind {
        ExprKind::Number(text) => text.parse().unwrap_or_else(|_| choices.word()),
        _ => choices.word(),
    };
    value.kind = ExprKind::Number(match choices.below(3) {
        0 => choices.below(64).to_string(),
        _ => format!("{:#x}", choices.near(old)),
    });
}

/// Replaces an instruction by any word that can be disassembled, or flips one bit of it.
fn instruction(lines: &mut [ShaderLine], choices: &mut Choices<'_>) {
    let at = choices.below(lines.len());
    let Some(line) = lines.get_mut(at) else { return };
    let Ok(&[old]) = program::assemble(&line.text).as_deref() else { return };
    let new = match choices.below(4) {
        0 => u64::from(choices.word()) << 32 | u64::from(choices.word()),
        _ => old ^ 1 << choices.below(64),
    };
    line.text = Instr::decode(new).to_string();
}
