//! Program text to words, registers and numbers (nom).
use nom::branch::alt;
use nom::bytes::complete::{take_till, take_while, take_while1};
use nom::character::complete::{char, digit1, multispace1};
use nom::combinator::{opt, recognize, value};
use nom::multi::many0_count;
use nom::sequence::preceded;
use nom::{IResult, Parser};

use super::error::{Error, Reason};
use super::{NAMES, REGISTERS};

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// `#name`, without the `#`.
    Directive,
    /// A mnemonic.
    Word,
    /// r0 to r15.
    Register(u8),
    /// `.xyz`: how many components, and which.
    Components(usize, [u8; 4]),
    /// Bits of an integer.
    Int(u32),
    /// Bits of a float.
    Float(u32),
    /// Behind the last token.
    End,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub line: usize,
    pub column: usize,
}

impl Token<'_> {
    /// `reason`, here.
    pub fn error(&self, reason: Reason) -> Error {
        Error { line: self.line, column: self.column, reason }
    }

    /// The token as an error message names it.
    pub fn describe(&self) -> String {
        match self.kind {
            Kind::End => "the end of the program".into(),
            _ => format!("`{}`", self.text),
        }
    }
}

/// How far a walk over a source has got, counted on from piece to piece: sources are long.
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// Behind `text` as well.
    fn pass(&mut self, text: &str) {
        self.line += text.matches('\n').count();
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => 1 + last.chars().count(),
            None => self.column + text.chars().count(),
        };
    }
}

/// The tokens of `source`, closed by [`Kind::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<Token<'_>>, Error> {
    let mut tokens = Vec::new();
    let (mut rest, mut place) = (source, Place { line: 1, column: 1 });
    loop {
        let start = skip(rest);
        place.pass(&rest[..rest.len() - start.len()]);
        let (after, text) = piece(start).unwrap_or(("", start));
        let mut token = Token { kind: Kind::End, text, line: place.line, column: place.column };
        if start.is_empty() {
            tokens.push(token);
            return Ok(tokens);
        }
        token.kind = classify(text).map_err(|reason| token.error(reason))?;
        tokens.push(token);
        place.pass(text);
        rest = after;
    }
}

/// Leaves out white space and comments.
fn skip(input: &str) -> &str {
    let comment = (nom::bytes::complete::tag("//"), take_till(|c| c == '\n'));
    let blank = alt((value((), multispace1), value((), comment)));
    let skipped: IResult<&str, usize> = many0_count(blank).parse(input);
    skipped.map_or(input, |(rest, _)| rest)
}

/// The longest piece at the start of `input`: directive, components, number,
/// word, or a character that begins none of them.
fn piece(input: &str) -> IResult<&str, &str> {
    let word = || take_while(|c: char| c.is_alphanumeric() || c == '_');
    let number =
        (opt(char('-')), digit1, opt((char('.'), take_while(|c: char| c.is_ascii_digit()), opt(char('f')))));
    alt((
        recognize(preceded(char('#'), word())),
        recognize(preceded(char('.'), word())),
        recognize(number),
        take_while1(|c: char| c.is_alphanumeric() || c == '_'),
        recognize(nom::character::complete::anychar),
    ))
    .parse(input)
}

fn classify(text: &str) -> Result<Kind, Reason> {
    let first = text.chars().next().unwrap_or(' ');
    match first {
        '#' if text.len() > 1 => Ok(Kind::Directive),
        '.' => components(&text[1..]),
        '-' | '0'..='9' if text.len() > 1 || first != '-' => number(text),
        'r' if is_register(text) => register(text),
        'a'..='z' => Ok(Kind::Word),
        _ => Err(Reason::UnknownCharacter(first)),
    }
}

/// `r` and digits.
fn is_register(text: &str) -> bool {
    text.len() > 1 && text[1..].bytes().all(|byte| byte.is_ascii_digit())
}

fn register(text: &str) -> Result<Kind, Reason> {
    let number = text[1..].parse().ok().filter(|number| *number < REGISTERS);
    number.map(Kind::Register).ok_or_else(|| Reason::NoSuchRegister(text.into()))
}

fn components(text: &str) -> Result<Kind, Reason> {
    let found = || format!("`.{text}`");
    let wanted = "1 to 4 components of x, y, z and w";
    if text.is_empty() || text.chars().count() > 4 {
        return Err(Reason::Expected { wanted, found: found() });
    }
    let mut list = [0; 4];
    for (slot, name) in list.iter_mut().zip(text.chars()) {
        let component = NAMES.iter().position(|known| *known == name);
        *slot = component.ok_or_else(|| Reason::Expected { wanted, found: found() })? as u8;
    }
    Ok(Kind::Components(text.len(), list))
}

fn number(text: &str) -> Result<Kind, Reason> {
    let range = || Reason::NumberRange(text.into());
    if text.contains('.') {
        let value: f32 = text.trim_end_matches('f').parse().map_err(|_| range())?;
        return if value.is_finite() { Ok(Kind::Float(value.to_bits())) } else { Err(range()) };
    }
    text.parse::<i32>().map(|value| Kind::Int(value as u32)).map_err(|_| range())
}
