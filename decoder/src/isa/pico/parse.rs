//! Tokens to directives and instructions.
use super::error::{Error, Reason};
use super::instr::{Immediates, Instr, Mask};
use super::ops::{Form, Op};
use super::token::{Kind, Token};

/// A walk over the tokens of a program. The last token is always the end.
pub(super) struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
}

impl<'a> Parser<'a> {
    pub fn new(tokens: &'a [Token<'a>]) -> Self {
        Self { tokens, at: 0 }
    }

    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    /// The token behind the next.
    pub fn peek_behind(&self) -> Token<'a> {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)]
    }

    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn wanted(&self, wanted: &'static str) -> Error {
        self.peek().error(Reason::Expected { wanted, found: self.peek().describe() })
    }

    pub fn register(&mut self) -> Result<u8, Error> {
        let Kind::Register(register) = self.peek().kind else { return Err(self.wanted("a register")) };
        self.next();
        Ok(register)
    }

    /// `.xyz` with no component twice, if there is one here.
    pub fn mask(&mut self) -> Result<Option<Mask>, Error> {
        let token = self.peek();
        let Kind::Components(len, list) = token.kind else { return Ok(None) };
        self.next();
        let mask = Mask::of(&list[..len]);
        if mask.bits().count_ones() as usize != len {
            return Err(token.error(Reason::DuplicateComponent));
        }
        Ok(Some(mask))
    }

    /// `.xyz` as a directive has it: components in order.
    pub fn io_mask(&mut self, what: &'static str) -> Result<Mask, Error> {
        let token = self.peek();
        let Kind::Components(len, list) = token.kind else { return Err(self.wanted("a component mask")) };
        let mask = self.mask()?.unwrap_or(Mask::ALL);
        let ordered = list[..len].is_sorted() && mask.prefix_len().is_some();
        if ordered { Ok(mask) } else { Err(token.error(Reason::ComponentOrder(what))) }
    }

    /// One instruction, from its mnemonic on.
    pub fn instruction(&mut self) -> Result<Instr, Error> {
        let token = self.next();
        let unknown = || token.error(Reason::UnknownWord(token.text.into()));
        if token.kind != Kind::Word {
            let found = token.describe();
            return Err(token.error(Reason::Expected { wanted: "an instruction", found }));
        }
        match token.text {
            "finit" => self.init(|kind| if let Kind::Float(bits) = kind { Some(bits) } else { None }),
            "iinit" => self.init(|kind| if let Kind::Int(bits) = kind { Some(bits) } else { None }),
            "swizzle" => self.swizzle(),
            "fcross" => self.cross(),
            "imax" | "imin" | "fmax" | "fmin" => self.extreme(token.text),
            "lduni" | "initregs" | "init" => Err(unknown()),
            name => self.plain(name).ok_or_else(unknown)?,
        }
    }

    /// Ops whose operands are `dst.mask` and as many sources as the form has,
    /// the last of which can be immediates if the op has a form for them.
    fn plain(&mut self, name: &str) -> Option<Result<Instr, Error>> {
        let forms = [Form::Nullary, Form::Unary, Form::Binary, Form::Ternary];
        let op = forms.into_iter().find_map(|form| Op::from_name(name, form))?;
        Some(self.operands(op))
    }

    fn operands(&mut self, op: Op) -> Result<Instr, Error> {
        let mut instr = Instr::new(op);
        if op.form() == Form::Nullary {
            return Ok(instr);
        }
        self.destination(&mut instr)?;
        let immediate = Op::from_name(op.name(), Form::BinaryImm);
        for n in 0..op.form().sources() {
            if let (1, Some(op)) = (n, immediate.filter(|_| self.at_number())) {
                instr.op = op;
                instr.immediates = self.immediates(|kind| number_for(op, kind))?;
                return Ok(instr);
            }
            instr.src[n] = self.register()?;
        }
        Ok(instr)
    }

    fn destination(&mut self, instr: &mut Instr) -> Result<(), Error> {
        instr.dst = self.register()?;
        instr.mask = self.mask()?.unwrap_or(Mask::ALL);
        Ok(())
    }

    fn at_number(&self) -> bool {
        matches!(self.peek().kind, Kind::Int(_) | Kind::Float(_))
    }

    /// 1 to 4 numbers that `accept` takes.
    fn immediates(&mut self, accept: impl Fn(Kind) -> Option<u32>) -> Result<Immediates, Error> {
        let mut values = Vec::new();
        while values.len() < 4 && self.at_number() {
            let value =
                accept(self.peek().kind).ok_or_else(|| self.wanted("numbers of the instruction's type"))?;
            values.push(value);
            self.next();
        }
        if values.is_empty() { Err(self.wanted("a number")) } else { Ok(Immediates::new(&values)) }
    }

    fn init(&mut self, accept: impl Fn(Kind) -> Option<u32>) -> Result<Instr, Error> {
        let mut instr = Instr::new(Op::Init);
        self.destination(&mut instr)?;
        instr.immediates = self.immediates(accept)?;
        Ok(instr)
    }

    fn swizzle(&mut self) -> Result<Instr, Error> {
        let mut instr = Instr::new(Op::Swizzle);
        instr.dst = self.register()?;
        instr.src[0] = self.register()?;
        let Kind::Components(4, pattern) = self.peek().kind else {
            return Err(self.wanted("four components"));
        };
        self.next();
        instr.pattern = pattern;
        Ok(instr)
    }

    /// fcross takes no mask: it always writes all four components.
    fn cross(&mut self) -> Result<Instr, Error> {
        let mut instr = Instr::new(Op::Fcross);
        instr.dst = self.register()?;
        instr.src = [self.register()?, self.register()?, 0];
        Ok(instr)
    }

    /// max and min: the page's table has one source and PicoGpu's assembler two.
    /// With one, the destination is the other operand (guess `pico-one-source`).
    fn extreme(&mut self, name: &str) -> Result<Instr, Error> {
        let op = Op::from_name(name, Form::Binary).ok_or_else(|| self.wanted("an instruction"))?;
        let mut instr = Instr::new(op);
        self.destination(&mut instr)?;
        let first = self.register()?;
        instr.src = match self.peek().kind {
            Kind::Register(second) => {
                self.next();
                [first, second, 0]
            }
            _ => [instr.dst, first, 0],
        };
        Ok(instr)
    }
}

/// The bits of a number that `op` takes.
fn number_for(op: Op, kind: Kind) -> Option<u32> {
    match kind {
        Kind::Int(bits) if op.takes_integers() => Some(bits),
        Kind::Float(bits) if !op.takes_integers() => Some(bits),
        _ => None,
    }
}
