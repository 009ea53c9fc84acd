//! Tokens to directives and instructions, by PicoGpu's grammar (gpu/isa/assembler/parser.y).
use super::error::{Error, Reason};
use super::instr::{Immediates, Instr, Mask};
use super::ops::{Form, Op};
use super::token::{Kind, Token};

/// A walk over the tokens of a program. The last token is always the end.
pub(super) struct Parser<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    /// Errors that PicoGpu's assembler accepts without a message.
    pub warnings: Vec<Error>,
}

impl<'a> Parser<'a> {
    pub fn new(tokens: &'a [Token<'a>]) -> Self {
        Self { tokens, at: 0, warnings: Vec::new() }
    }

    pub fn peek(&self) -> Token<'a> {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    pub fn register(&mut self) -> Result<u8, Error> {
        let token = self.peek();
        let Kind::Register(register) = token.kind else {
            return Err(self.split_register().unwrap_or_else(|| token.expected("a register")));
        };
        self.next();
        let split = self.split_register();
        self.warnings.extend(split);
        Ok(register)
    }

    /// The warning for a register and a number that were probably meant as one name.
    fn split_register(&self) -> Option<Error> {
        let (before, behind) = (self.tokens.get(self.at.checked_sub(1)?)?, self.peek());
        let is_split =
            matches!((before.kind, behind.kind), (Kind::Register(_), Kind::Int(_) | Kind::Float(_)));
        let reason = || Reason::TwoTokens { name: before.text.into(), rest: behind.text.into() };
        (is_split && before.touches(&behind)).then(|| before.error(reason()))
    }

    /// `.` and a number of x, y, z and w that `counts` allows, in any order. `None` without a `.`.
    fn components(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.peek().kind != Kind::Dot {
            return Ok(None);
        }
        self.next();
        let mut list = Vec::new();
        while let (Kind::Component(component), 0..4) = (self.peek().kind, list.len()) {
            list.push(component);
            self.next();
        }
        if list.is_empty() { Err(self.peek().expected("one of x, y, z and w")) } else { Ok(Some(list)) }
    }

    /// A mask such as `.xyz` without repeated components, and whether its components are in order. `None`
    /// without a mask.
    fn mask(&mut self) -> Result<Option<(Mask, bool)>, Error> {
        let token = self.peek();
        let Some(list) = self.components()? else { return Ok(None) };
        let mask = Mask::of(&list);
        if mask.bits().count_ones() as usize != list.len() {
            return Err(token.error(Reason::DuplicateComponent));
        }
        Ok(Some((mask, list.is_sorted())))
    }

    /// The number of components in a directive's mask: x, xy, xyz or xyzw.
    pub fn io_components(&mut self, what: &'static str) -> Result<usize, Error> {
        let token = self.peek();
        let (mask, ordered) = self.mask()?.ok_or_else(|| token.expected("a component mask"))?;
        let len = mask.prefix_len().ok_or_else(|| token.error(Reason::ComponentOrder(what)))?;
        if !ordered {
            self.warnings.push(token.error(Reason::Unordered(what)));
        }
        Ok(len)
    }

    /// One instruction, from its mnemonic on.
    pub fn instruction(&mut self) -> Result<Instr, Error> {
        let token = self.next();
        if token.kind != Kind::Word {
            return Err(token.expected("an instruction"));
        }
        match token.text {
            "finit" => self.init(float, "a float"),
            "iinit" => self.init(integer, "an integer"),
            "swizzle" => self.swizzle(),
            "fcross" => self.cross(),
            "fmad" => self.multiply_add(&token),
            name => self.plain(&token, name),
        }
    }

    /// Parses an op whose operands are `dst.mask` and the sources of its form. The second source may be one
    /// immediate if the op has such a form.
    fn plain(&mut self, token: &Token<'_>, name: &str) -> Result<Instr, Error> {
        let forms = [Form::Nullary, Form::Unary, Form::Binary];
        let op = forms.into_iter().find_map(|form| Op::from_name(name, form));
        let mut instr = Instr::new(op.ok_or_else(|| token.error(Reason::UnknownWord(name.into())))?);
        if instr.op.form() == Form::Nullary {
            return Ok(instr);
        }
        self.destination(&mut instr)?;
        for n in 0..instr.op.form().sources() {
            let immediate = Op::from_name(name, Form::BinaryImm).filter(|_| n == 1 && self.at_number());
            if let Some(op) = immediate {
                let (accept, wanted): (Accept, _) = if op.takes_integers() {
                    (integer, "a register or an integer")
                } else {
                    (float, "a register or a float")
                };
                let bits = self.number(accept, wanted)?;
                (instr.op, instr.immediates) = (op, Immediates::new(&[bits]));
                return Ok(instr);
            }
            instr.src[n] = self.register()?;
        }
        Ok(instr)
    }

    fn destination(&mut self, instr: &mut Instr) -> Result<(), Error> {
        instr.dst = self.register()?;
        instr.mask = self.mask()?.map_or(Mask::ALL, |(mask, _)| mask);
        Ok(())
    }

    fn at_number(&self) -> bool {
        matches!(self.peek().kind, Kind::Int(_) | Kind::Float(_))
    }

    /// The bits of a number of a type that `accept` accepts.
    fn number(&mut self, accept: Accept, wanted: &'static str) -> Result<u32, Error> {
        let token = self.peek();
        let bits = accept(token.kind).ok_or_else(|| token.expected(wanted))?;
        self.next();
        let exact = match token.kind {
            Kind::Int(bits) => token.text.parse() == Ok(bits as i32),
            _ => f32::from_bits(bits).is_finite(),
        };
        if !exact {
            self.warnings.push(token.error(Reason::NumberRange(token.text.into())));
        }
        Ok(bits)
    }

    /// `dst.mask` and 1 to 4 numbers.
    fn init(&mut self, accept: Accept, wanted: &'static str) -> Result<Instr, Error> {
        let mut instr = Instr::new(Op::Init);
        self.destination(&mut instr)?;
        let mut values = vec![self.number(accept, wanted)?];
        while values.len() < 4 && self.at_number() {
            values.push(self.number(accept, wanted)?);
        }
        instr.immediates = Immediates::new(&values);
        Ok(instr)
    }

    fn swizzle(&mut self) -> Result<Instr, Error> {
        let mut instr = Instr::new(Op::Swizzle);
        instr.dst = self.register()?;
        instr.src[0] = self.register()?;
        let list = self.components()?.unwrap_or_default();
        instr.pattern = list.try_into().map_err(|_| self.peek().expected("four components"))?;
        Ok(instr)
    }

    /// fcross takes no mask: it always writes all four components.
    fn cross(&mut self) -> Result<Instr, Error> {
        let mut instr = Instr::new(Op::Fcross);
        instr.dst = self.register()?;
        instr.src = [self.register()?, self.register()?, 0];
        Ok(instr)
    }

    /// fmad, as PicoGpu's assembler encodes it: with the opcode of fcross2 and the operands of fmad.
    ///
    /// A shading unit executes it as fcross2 of the first two sources. It takes the number of the third
    /// source as its mask and ignores the mask.
    fn multiply_add(&mut self, token: &Token<'_>) -> Result<Instr, Error> {
        let mut instr = Instr::new(Op::Fcross2);
        self.destination(&mut instr)?;
        instr.src = [self.register()?, self.register()?, 0];
        instr.unread = instr.mask.bits() << 22;
        instr.mask = Mask::from_bits(self.register()?.into());
        self.warnings.push(token.error(Reason::MultiplyAdd));
        Ok(instr)
    }
}

/// The bits of a number of the right type.
type Accept = fn(Kind) -> Option<u32>;

fn integer(kind: Kind) -> Option<u32> {
    if let Kind::Int(bits) = kind { Some(bits) } else { None }
}

fn float(kind: Kind) -> Option<u32> {
    if let Kind::Float(bits) = kind { Some(bits) } else { None }
}
