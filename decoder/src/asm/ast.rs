//! What the grammar makes of a source: statements, not yet evaluated.

use std::rc::Rc;

/// A piece of one source file, measured from its end (which is what a parser
/// of string slices knows without keeping count).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Span {
    /// Bytes from its start to the end of the file.
    pub start: usize,
    /// Bytes from its end to the end of the file.
    pub end: usize,
}

/// An identifier and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The identifier; may hold points.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: ExprKind,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number as it is written, without `_`.
    Number(String),
    /// A constant, parameter, label, enumerator or register.
    Name(String),
    /// An element of a register array: name, index, register within the element.
    Element(String, Box<Expr>, String),
    /// `-a` or `~a`.
    Unary(char, Box<Expr>),
    /// Two operands.
    Binary(Op, Box<Expr>, Box<Expr>),
    /// A function.
    Call(Name, Vec<Expr>),
}

/// Binary operators, by rising strength.
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

/// A statement and where its first word stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: Kind,
}

/// Statements between two braces.
pub type Block = Vec<Statement>;

/// The value of a register or of a dword.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// `{ A = 1 | B | 0x40 }`.
    Fields(Vec<Part>),
    /// A plain value.
    Plain(Expr),
}

/// One part between the bars of a word.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// `NAME = value`.
    Set(Name, Expr),
    /// A flag by name, or bits.
    Bare(Expr),
}

/// One argument of a packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// The next dword.
    Next(Word),
    /// The dword called so; dwords that are passed over are 0.
    Named(Name, Expr),
}

/// A register by name.
#[derive(Clone, Debug, PartialEq)]
pub struct RegName {
    /// Where.
    pub span: Span,
    /// Name of the register or array.
    pub name: String,
    /// Index and name within the element.
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
    /// Where.
    pub span: Span,
    /// `name:` or an instruction.
    pub text: String,
}

/// Where CP_LOAD_STATE4 takes its data.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadSource {
    /// The packet.
    Inline(Block),
    /// Memory: address, and units if they do not follow from a label's size.
    Memory(Expr, Option<Expr>),
}

/// A named group of statements with parameters.
#[derive(Debug, PartialEq)]
pub struct Macro {
    /// Parameters.
    pub parameters: Vec<String>,
    /// What it stands for.
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
    /// `test "text"`, `cmd "text"`, ..: section id and bytes.
    Text(u32, Vec<u8>),
    /// `form 8` or `form 12`: bytes of the address records that follow.
    Form(Expr),
    /// `origin 0x10000000`: where buffers without an address go from here on.
    Origin(Expr),
    /// `marker n`.
    Marker(Option<Expr>),
    /// `section id { .. }`.
    Section(Expr, Block),
    /// `raw { .. }`: bytes that are no section.
    Raw(Block),
    /// `buffer NAME @ address size n { .. }`.
    Buffer(Box<Buffer>),
    /// `again NAME { .. }`: the buffer once more, with changes.
    Again(Name, Option<Block>),
    /// `submit NAME` or `submit address dwords n`.
    Submit(Expr, Option<Expr>),

    /// `NAME:` or `NAME: { .. }`.
    Label(Name, Option<Block>),
    /// Numbers.
    Numbers(Type, Vec<Expr>),
    /// Bytes that are known already.
    Bytes(Vec<u8>),
    /// `zero n`: bytes.
    Zero(Expr),
    /// `fill n, value`: dwords.
    Fill(Expr, Expr),
    /// `align n`: zeros to a multiple of n.
    Align(Expr),
    /// `at n`: zeros to offset n of the buffer, or back to it under `again`.
    At(Expr),
    /// `png "path"`: rows of RGBA, optionally with a pitch.
    Png(String, Option<Expr>),
    /// `shader { .. }`.
    Shader(Vec<ShaderLine>),

    /// `REG value`: a type-0 packet.
    Write(RegName, Word),
    /// `+ REG value`: one more value of the packet before.
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
    /// It says that other buffers of its submit may take the same addresses.
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
    /// `pred` stands before it.
    pub predicated: bool,
    /// The dwords in parentheses.
    pub args: Vec<Arg>,
    /// The dwords in braces.
    pub data: Option<Block>,
}
