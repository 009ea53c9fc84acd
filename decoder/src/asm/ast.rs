//! The syntax tree of a source: statements that are parsed but not yet evaluated.

use std::rc::Rc;

/// A range of one source file, measured from the file's end: a parser of string slices knows that distance
/// without counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// Bytes from its start to the end of the file.
    pub start: usize,
    /// Bytes from its end to the end of the file.
    pub end: usize,
}

/// An identifier and its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The identifier; may contain points.
    pub text: String,
    /// Span of the identifier.
    pub span: Span,
}

/// An expression and its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Span of the expression.
    pub span: Span,
    /// Kind and operands.
    pub kind: ExprKind,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number as written in the source, without `_`.
    Number(String),
    /// A constant, parameter, label, enumerator or register.
    Name(String),
    /// An element of a register array: name, index, name of the register within the element.
    Element(String, Box<Expr>, String),
    /// `-a` or `~a`.
    Unary(char, Box<Expr>),
    /// An operator and its two operands.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// A function call with its arguments.
    Call(Name, Vec<Expr>),
}

/// Binary operators, the weakest first.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Or,
    Xor,
    And,
    Equal,
    NotEqual,
    Less,
    Greater,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// A statement and its span.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Span of the statement.
    pub span: Span,
    /// Kind and operands.
    pub kind: Kind,
}

/// Statements between two braces.
pub type Block = Vec<Statement>;

/// The value of a register or of a dword.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// Fields in braces: `{ A = 1 | B | 0x40 }`.
    Fields(Vec<Part>),
    /// A plain value.
    Plain(Expr),
}

/// One part between the bars of a word.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// `NAME = value`.
    Set(Name, Expr),
    /// A flag by name, or plain bits.
    Bare(Expr),
}

/// One argument of a packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// The value of the next dword.
    Next(Word),
    /// The dword with this name. Dwords between it and the one before are 0.
    Named(Name, Expr),
}

/// A register by name.
#[derive(Clone, Debug, PartialEq)]
pub struct RegName {
    /// Span of the name.
    pub span: Span,
    /// Name of the register or of the array.
    pub name: String,
    /// Index and name within the element, for an array. The name is empty where it stands before the index, as in
    /// Mesa's headers.
    pub element: Option<(Expr, String)>,
}

/// Number types of data.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    F16,
    F32,
}

/// One line of a shader.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaderLine {
    /// Span of the line.
    pub span: Span,
    /// `name:` or an instruction.
    pub text: String,
}

/// The source of CP_LOAD_STATE4's data.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadSource {
    /// The data is in the packet.
    Inline(Block),
    /// The data is in memory: address, and units if they do not follow from a label's size.
    Memory(Expr, Option<Expr>),
}

/// A named group of statements with parameters.
#[derive(Debug, PartialEq)]
pub struct Macro {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// Statements that `use` runs.
    pub body: Block,
}

/// The kinds of statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `include "path"`.
    Include(String),
    /// `const NAME = value`.
    Const(Name, Expr),
    /// `macro NAME(a, b) { .. }`.
    Macro(Name, Rc<Macro>),
    /// `use NAME(x, y)`.
    Use(Name, Vec<Expr>),
    /// `for i in 0..n { .. }`.
    For(Name, Expr, Expr, Block),
    /// `repeat n { .. }`.
    Repeat(Expr, Block),
    /// `if a { .. } else { .. }`.
    If(Expr, Block, Block),

    /// `gpu_id 420`.
    GpuId(Expr),
    /// `chip_id 0x04020000`.
    ChipId(Expr),
    /// `test "text"`, `cmd "text"` and similar: section id and bytes.
    Text(u32, Vec<u8>),
    /// `form 8` or `form 12`: size in bytes of the address records that follow.
    Form(Expr),
    /// `origin 0x10000000`: address from which buffers without an address are placed.
    Origin(Expr),
    /// `marker n`.
    Marker(Option<Expr>),
    /// `section id { .. }`.
    Section(Expr, Block),
    /// `raw { .. }`: bytes outside of any section.
    Raw(Block),
    /// `buffer NAME @ address size n { .. }`.
    Buffer(Box<Buffer>),
    /// `again NAME { .. }`: the buffer is dumped once more, with changes.
    Again(Name, Option<Block>),
    /// `submit NAME` or `submit address dwords n`.
    Submit(Expr, Option<Expr>),

    /// `NAME:` or `NAME: { .. }`.
    Label(Name, Option<Block>),
    /// Numbers of one type.
    Numbers(Type, Vec<Expr>),
    /// Bytes that the parser has already decoded.
    Bytes(Vec<u8>),
    /// `zero n`: n zero bytes.
    Zero(Expr),
    /// `fill n, value`: n dwords of a value.
    Fill(Expr, Expr),
    /// `align n`: zeros up to a multiple of n bytes.
    Align(Expr),
    /// `at n`: zeros up to offset n of the buffer. Under `again`, it moves to offset n.
    At(Expr),
    /// `png "path"`: rows of RGBA, optionally with a pitch.
    Png(String, Option<Expr>),
    /// `shader { .. }`.
    Shader(Vec<ShaderLine>),

    /// `REG value`: a type-0 packet.
    Write(RegName, Word),
    /// `+ REG value`: one more value for the previous packet.
    More(RegName, Word),
    /// `one_reg REG a, b, c`: all values to one register.
    OneReg(RegName, Vec<Expr>),
    /// `CP_NAME(..) { .. }`.
    Packet(Box<Packet>),
    /// `load VS.constants at 4 { .. }`.
    Load(Name, Option<Expr>, LoadSource),
    /// `call NAME`.
    Call(Expr),
    /// `pad`: the filler dword.
    Pad,
}

/// A buffer section.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Its label.
    pub name: Name,
    /// Its address, if given.
    pub address: Option<Expr>,
    /// Whether the buffer may overlap other buffers of its submit (`overlaps`).
    pub overlaps: bool,
    /// Its size in bytes, if given.
    pub size: Option<Expr>,
    /// Its contents, if the capture holds them.
    pub contents: Option<Block>,
}

/// A type-3 packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Name of the opcode, or `opcode_xx`.
    pub name: Name,
    /// Whether `pred` precedes the packet, which sets its predicate bit.
    pub predicated: bool,
    /// The dwords in parentheses.
    pub args: Vec<Arg>,
    /// The dwords in braces.
    pub data: Option<Block>,
}
