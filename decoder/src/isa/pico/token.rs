//! Splits program text into words, registers and numbers as PicoGpu's scanner does
//! (gpu/isa/assembler/scanner.l): a token is the longest text that a rule matches, with or without white
//! space around it.
use super::error::{Error, Reason};
use super::{NAMES, Op, REGISTERS};

/// The directives.
const DIRECTIVES: [&str; 6] =
    ["#input", "#output", "#uniform", "#vertexShader", "#fragmentShader", "#undefinedRegs"];

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// `#name`.
    Directive,
    /// A mnemonic.
    Word,
    /// r0 to r15.
    Register(u8),
    /// The point before components.
    Dot,
    /// x, y, z or w, as a number.
    Component(u8),
    /// Bits of an integer.
    Int(u32),
    /// Bits of a float.
    Float(u32),
    /// Text that is no token of the language.
    Unknown,
    /// The end of the text.
    End,
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub line: usize,
    pub column: usize,
}

impl Token<'_> {
    /// An error with this `reason` at the token.
    pub fn error(&self, reason: Reason) -> Error {
        Error { line: self.line, column: self.column, reason }
    }

    /// The error that `wanted` was expected here.
    pub fn expected(&self, wanted: &'static str) -> Error {
        self.error(match self.kind {
            Kind::Unknown if self.text.starts_with(is_of_word) => Reason::UnknownWord(self.text.into()),
            Kind::Unknown => Reason::UnknownCharacter(self.text.chars().next().unwrap_or(' ')),
            Kind::End => Reason::Expected { wanted, found: "the end of the program".into() },
            _ => Reason::Expected { wanted, found: format!("`{}`", self.text) },
        })
    }

    /// Whether `next` begins where this token ends.
    pub fn touches(&self, next: &Self) -> bool {
        self.line == next.line && self.column + self.text.len() == next.column
    }
}

/// Position of the tokenizer in the source. It is advanced token by token, because sources may be long.
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// Advances the position by `text`.
    fn pass(&mut self, text: &str) {
        self.line += text.matches('\n').count();
        self.column = match text.rsplit_once('\n') {
            Some((_, last)) => 1 + last.chars().count(),
            None => self.column + text.chars().count(),
        };
    }
}

/// The tokens of `source`, closed by [`Kind::End`].
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut place) = (source, Place { line: 1, column: 1 });
    loop {
        let start = skip(rest);
        place.pass(&rest[..rest.len() - start.len()]);
        let (kind, len) = piece(start);
        let text = &start[..len];
        tokens.push(Token { kind, text, line: place.line, column: place.column });
        if kind == Kind::End {
            return tokens;
        }
        place.pass(text);
        rest = &start[len..];
    }
}

/// Skips white space and comments.
fn skip(mut input: &str) -> &str {
    loop {
        let start = input.trim_start_matches([' ', '\t', '\n']);
        match start.strip_prefix("//") {
            Some(comment) => input = comment.find('\n').map_or("", |end| &comment[end..]),
            None => return start,
        }
    }
}

/// The token at the start of `input`, and its length.
fn piece(input: &str) -> (Kind, usize) {
    let Some(first) = input.chars().next() else { return (Kind::End, 0) };
    let known = match first {
        '.' => Some((Kind::Dot, 1)),
        '#' => longest(DIRECTIVES.into_iter(), input).map(|len| (Kind::Directive, len)),
        '-' | '0'..='9' => number(input),
        'r' => register(input),
        _ => match NAMES.iter().position(|name| *name == first) {
            Some(component) => Some((Kind::Component(component as u8), 1)),
            None => longest(mnemonics(), input).map(|len| (Kind::Word, len)),
        },
    };
    known.unwrap_or_else(|| {
        let word = input[first.len_utf8()..].find(|c| !is_of_word(c)).map(|len| len + first.len_utf8());
        let is_word = first == '#' || is_of_word(first);
        (Kind::Unknown, if is_word { word.unwrap_or(input.len()) } else { first.len_utf8() })
    })
}

/// Whether `c` continues an unknown word; used for messages.
fn is_of_word(c: char) -> bool {
    c == '#' || c == '_' || c.is_alphanumeric()
}

/// The names of the instructions in a source.
fn mnemonics() -> impl Iterator<Item = &'static str> {
    let named = Op::ALL.iter().filter(|op| !matches!(op, Op::Init | Op::Lduni | Op::Initregs));
    named.map(|op| op.name()).chain(["finit", "iinit"])
}

/// Length of the longest of `names` that `input` begins with.
fn longest(names: impl Iterator<Item = &'static str>, input: &str) -> Option<usize> {
    names.filter(|name| input.starts_with(name)).map(str::len).max()
}

/// `r0` to `r15`. For `r16` it matches only `r1`.
fn register(input: &str) -> Option<(Kind, usize)> {
    [3, 2].into_iter().find_map(|len| {
        let digits = input.get(1..len).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
        let number = digits.parse().ok().filter(|number| *number < REGISTERS)?;
        (len == 2 || number >= 10).then_some((Kind::Register(number), len))
    })
}

/// `-?[0-9]+`, or a float: a point, digits and an optional `f` follow.
fn number(input: &str) -> Option<(Kind, usize)> {
    let digits = |from: usize| input[from..].bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(input.starts_with('-'));
    let whole = sign + Some(digits(sign)).filter(|count| *count > 0)?;
    if !input[whole..].starts_with('.') {
        return Some((Kind::Int(integer(&input[..whole])), whole));
    }
    let end = whole + 1 + digits(whole + 1);
    // C's atof, then a conversion to float: rounded twice. Text of this form always parses.
    let value = input[..end].parse::<f64>().unwrap_or(0.0) as f32;
    Some((Kind::Float(value.to_bits()), end + usize::from(input[end..].starts_with('f'))))
}

/// C's atoi with a 64-bit long: the low 32 bits of the nearest long.
fn integer(text: &str) -> u32 {
    let nearest = if text.starts_with('-') { i64::MIN } else { i64::MAX };
    text.parse().unwrap_or(nearest) as u32
}
