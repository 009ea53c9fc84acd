//! A whole program: its directives, PicoGpu's rules on them, and its dwords.
use super::command::store_isa;
use super::error::{Error, Reason};
use super::instr::Instr;
use super::ops::{Form, Op};
use super::parse::Parser;
use super::preamble::{hand_on_depth, preamble};
use super::token::{Kind as TokenKind, Token, tokens};
use super::{MAX_DWORDS, MAX_IO};

/// The kind of block that a shader is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `#vertexShader`
    Vertex,
    /// `#fragmentShader`
    Fragment,
}

impl Kind {
    /// Name in lower case, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vertex => "vertex",
            Self::Fragment => "fragment",
        }
    }
}

/// An input, output or uniform: a register and its first components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Register number, 0 to 15.
    pub register: u8,
    /// Number of components from x on, 1 to 4.
    pub components: usize,
}

/// A checked program.
#[derive(Clone, Debug, PartialEq)]
pub struct Shader {
    /// Vertex or fragment.
    pub kind: Kind,
    /// Inputs, 1 to 3, in the order of the directives.
    pub inputs: Vec<Io>,
    /// Outputs, 1 to 3.
    pub outputs: Vec<Io>,
    /// Uniforms, 0 to 3.
    pub uniforms: Vec<Io>,
    /// `#undefinedRegs`: registers without an initial value are not cleared.
    pub undefined_regs: bool,
    /// Every instruction, with its line in the source (0 for those that the assembler adds).
    pub code: Vec<(Instr, usize)>,
    /// Errors that PicoGpu's assembler accepts without a message.
    pub warnings: Vec<Error>,
}

impl Shader {
    /// The instructions, without their lines.
    pub fn instrs(&self) -> Vec<Instr> {
        self.code.iter().map(|(instr, _)| *instr).collect()
    }

    /// The instructions of the program itself, with their lines.
    ///
    /// A vertex shader has no others. A fragment shader's body excludes the added instructions that
    /// interpolate its inputs and copy its depth.
    pub fn body(&self) -> &[(Instr, usize)] {
        let start = self.code.iter().position(|(instr, _)| instr.op == Op::Lduni).unwrap_or(0);
        let end = self.code.len() - usize::from(self.kind == Kind::Fragment);
        &self.code[start..end]
    }

    /// The outputs that a shading unit writes. For a fragment shader, the depth of the pixel follows the
    /// colour.
    pub fn all_outputs(&self) -> Vec<Io> {
        let depth = (self.kind == Kind::Fragment).then(|| Io { components: 1, ..self.inputs[0] });
        self.outputs.iter().copied().chain(depth).collect()
    }

    /// The program's dwords, without the StoreIsa command.
    pub fn program(&self) -> Vec<u32> {
        let mut words = Vec::new();
        self.code.iter().for_each(|(instr, _)| instr.encode(&mut words));
        words
    }

    /// The StoreIsa command and the program, as a shading unit receives them.
    pub fn binary(&self) -> Vec<u32> {
        let program = self.program();
        let mut words = store_isa(self, program.len()).to_vec();
        words.extend(program);
        words
    }
}

/// Assembles and checks `source` as PicoGpu's assembler does. It stops at the first error.
pub fn assemble(source: &str) -> Result<Shader, Error> {
    let tokens = tokens(source);
    let mut parser = Parser::new(&tokens);
    let mut header = Header::default();
    match parser.peek().kind {
        TokenKind::Directive => {}
        TokenKind::Unknown => return Err(parser.peek().expected("a directive")),
        _ => return Err(parser.peek().error(Reason::NoDirective)),
    }
    while parser.peek().kind == TokenKind::Directive {
        header.directive(&mut parser)?;
    }
    let kind = header.check(&parser.peek())?;
    let mut shader = header.into_shader(kind);
    instructions(&mut parser, &mut shader)?;
    shader.warnings = parser.warnings;
    Ok(shader)
}

fn instructions(parser: &mut Parser<'_>, shader: &mut Shader) -> Result<(), Error> {
    if parser.peek().kind == TokenKind::End {
        return Err(parser.peek().error(Reason::NoInstruction));
    }
    let last = (shader.kind == Kind::Fragment).then(|| hand_on_depth(shader.inputs[0]));
    let mut dwords = shader.program().len() + usize::from(last.is_some());
    while parser.peek().kind != TokenKind::End {
        let token = parser.peek();
        if token.kind == TokenKind::Directive {
            return Err(token.error(Reason::DirectiveAfterInstruction));
        }
        let instr = parser.instruction()?;
        if shader.inputs.iter().any(|input| overwrites(&instr, input.register)) {
            parser.warnings.push(token.error(Reason::InputOverwritten(instr.dst)));
        }
        dwords += 1 + instr.immediates.as_slice().len();
        if dwords > MAX_DWORDS {
            return Err(token.error(Reason::TooLong));
        }
        shader.code.push((instr, token.line));
    }
    shader.code.extend(last.map(|instr| (instr, 0)));
    Ok(())
}

/// Whether `instr` changes `register`. PicoGpu's own programs move an input that is also an output to itself,
/// which does not count.
fn overwrites(instr: &Instr, register: u8) -> bool {
    let is_kept = instr.op == Op::Mov && instr.src[0] == register;
    instr.op.form() != Form::Nullary && instr.dst == register && !is_kept
}

/// The directives, in source order.
#[derive(Default)]
struct Header {
    kind: Option<Kind>,
    inputs: Vec<(Io, (usize, usize))>,
    outputs: Vec<(Io, (usize, usize))>,
    uniforms: Vec<(Io, (usize, usize))>,
    undefined_regs: bool,
}

impl Header {
    fn directive(&mut self, parser: &mut Parser<'_>) -> Result<(), Error> {
        let token = parser.next();
        match token.text {
            "#input" => self.io(parser, "input"),
            "#output" => self.io(parser, "output"),
            "#uniform" => self.io(parser, "uniform"),
            "#vertexShader" => self.kind(Kind::Vertex, &token),
            "#fragmentShader" => self.kind(Kind::Fragment, &token),
            "#undefinedRegs" if self.undefined_regs => Err(token.error(Reason::SecondUndefinedRegs)),
            "#undefinedRegs" => {
                self.undefined_regs = true;
                Ok(())
            }
            _ => Err(token.expected("a directive")),
        }
    }

    fn kind(&mut self, kind: Kind, token: &Token<'_>) -> Result<(), Error> {
        match self.kind.replace(kind) {
            Some(_) => Err(token.error(Reason::SecondKind)),
            None => Ok(()),
        }
    }

    fn io(&mut self, parser: &mut Parser<'_>, what: &'static str) -> Result<(), Error> {
        let token = parser.peek();
        let register = parser.register()?;
        let components = parser.io_components(what)?;
        let holds = |list: &[(Io, (usize, usize))]| list.iter().any(|(io, _)| io.register == register);
        let clash = match what {
            "input" => holds(&self.uniforms),
            "uniform" => holds(&self.inputs),
            _ => false,
        };
        let list = match what {
            "input" => &mut self.inputs,
            "output" => &mut self.outputs,
            _ => &mut self.uniforms,
        };
        let reason = match () {
            () if holds(list) => Some(Reason::Twice { what, register }),
            () if list.len() == MAX_IO => Some(Reason::TooMany(what)),
            () => None,
        };
        list.push((Io { register, components }, (token.line, token.column)));
        if clash {
            parser.warnings.push(token.error(Reason::InputAndUniform(register)));
        }
        reason.map_or(Ok(()), |reason| Err(token.error(reason)))
    }

    /// Checks the rules on all directives together. `end` is the token after them.
    fn check(&self, end: &Token<'_>) -> Result<Kind, Error> {
        let Some(kind) = self.kind else { return Err(end.error(Reason::NoKind)) };
        let (vertex, name) = (kind == Kind::Vertex, kind.name());
        if vertex && self.inputs.is_empty() {
            return Err(end.error(Reason::NoInput));
        }
        let (what, positions) = if vertex { ("output", &self.outputs) } else { ("input", &self.inputs) };
        let Some((first, (line, column))) = positions.first() else {
            return Err(end.error(Reason::NeedsOne { kind: name, what }));
        };
        if first.components != 4 {
            let reason = Reason::FirstSize { kind: name, what };
            return Err(Error { line: *line, column: *column, reason });
        }
        match (vertex, &self.outputs[..]) {
            (false, [(color, (line, column))])
                if color.register == first.register && color.components == 4 =>
            {
                Err(Error { line: *line, column: *column, reason: Reason::PositionIsColor(color.register) })
            }
            (false, [(color, _)]) if color.components == 4 => Ok(kind),
            (false, _) => Err(end.error(Reason::OneColor)),
            (true, _) => Ok(kind),
        }
    }

    fn into_shader(self, kind: Kind) -> Shader {
        let list = |list: Vec<(Io, (usize, usize))>| list.into_iter().map(|(io, _)| io).collect::<Vec<Io>>();
        let inputs = list(self.inputs);
        let mut setup = if kind == Kind::Fragment { preamble(&inputs) } else { Vec::new() };
        setup.push(Instr::new(Op::Lduni));
        setup.extend((!self.undefined_regs).then(|| Instr::new(Op::Initregs)));
        Shader {
            kind,
            inputs,
            outputs: list(self.outputs),
            uniforms: list(self.uniforms),
            undefined_regs: self.undefined_regs,
            code: setup.into_iter().map(|instr| (instr, 0)).collect(),
            warnings: Vec::new(),
        }
    }
}
