//! What an instruction does besides computing: control flow, memory, textures.
//!
//! Every list of these is matched without a wildcard, so that a new effect is
//! a compile error wherever it has to be handled.
use super::alu::Row;
use super::environment::{AtomicOp, ImageLayout, Number, Space, Width};

/// What ends a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing: the next step is a branch target.
    Continue,
    /// end: the lanes are done.
    End,
    /// Lanes may go to another step.
    Branch(Branch),
    /// call: go to a step, return behind this one.
    Call {
        /// Step to go to.
        target: u32,
    },
    /// ret.
    Return,
    /// kill: lanes where the condition holds become helpers.
    Kill(Condition),
    /// predt, predf, prede, and a (jp) between them.
    Region(Region),
    /// Work-group barrier.
    Barrier,
    /// A register chosen per lane.
    Gather(Gather),
    /// Write a register chosen per lane.
    Scatter {
        /// Row of index 0.
        base: Row,
        /// Index beside a0.x.
        offset: i32,
        /// Row that holds the value.
        src: Row,
    },
    /// dsx, dsy and their fine forms.
    Derivative {
        /// Along which axis.
        axis: Axis,
        /// Row that is written.
        dst: Row,
        /// Row that is read, f32 bits.
        src: Row,
    },
    /// Plain load.
    Load(Access),
    /// Plain store.
    Store(Access),
    /// ldgb.
    ImageLoad(Image),
    /// stgb, stib.
    ImageStore(Image),
    /// resinfo: three rows from `dst`.
    ImageSize {
        /// First of three rows.
        dst: Row,
        /// Row with the slot.
        slot: Row,
    },
    /// atomic.*.
    Atomic(Atomic),
    /// Texture operations that sample.
    Sample(Box<Sample>),
    /// Texture operations that ask.
    Query(Query),
    /// bary.f.
    Varying {
        /// Row that is written.
        dst: Row,
        /// Row with the component location.
        location: Row,
        /// Rows with the barycentrics.
        ij: [Row; 2],
    },
    /// ldlv.
    FlatVarying {
        /// First row that is written.
        dst: Row,
        /// First component location.
        location: u32,
        /// Number of components.
        components: u8,
    },
    /// Behind the last instruction.
    LeftProgram,
    /// Not a valid instruction.
    Invalid,
    /// A valid one that is not supported: its name.
    Unsupported(&'static str),
}

/// Rows whose words, not zero, mean true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Every lane.
    Always,
    /// One predicate.
    If(Test),
    /// Both.
    Both(Test, Test),
    /// At least one.
    Either(Test, Test),
}

/// A predicate row, perhaps inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// The row.
    pub row: Row,
    /// What the row must be for the test to hold.
    pub sense: bool,
}

/// Who goes when only some lanes meet a branch's condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Each lane for itself: br, jump.
    Each,
    /// All if any: bany.
    Any,
    /// All if all: ball.
    All,
    /// Only the lowest: getone.
    One,
}

/// A conditional or unconditional branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Condition per lane.
    pub condition: Condition,
    /// How lanes are counted.
    pub vote: Vote,
    /// Step to go to.
    pub target: u32,
}

/// Predicated regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// predt, predf: from here only lanes in which the test holds run.
    Begin(Test),
    /// (jp) in a region: the same test again.
    Again(Test),
    /// prede: everybody runs again.
    End,
}

/// From where a relative source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather {
    /// Row that is written.
    pub dst: Row,
    /// What is indexed.
    pub file: File,
    /// Index beside a0.x.
    pub offset: i32,
}

/// What a0.x can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// Full or half registers: the row of index 0.
    Registers(Row),
    /// The constant file.
    Constants,
}

/// Axis and step of a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One value per quad, along x in the top row.
    X,
    /// One value per quad, along y in the left column.
    Y,
    /// One value per row of the quad.
    FineX,
    /// One value per column of the quad.
    FineY,
}

/// A plain load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Which memory.
    pub space: Space,
    /// First of the consecutive rows of data.
    pub data: Row,
    /// Row with the byte address.
    pub address: Row,
    /// Bytes added to it.
    pub offset: i32,
    /// Size of a component.
    pub width: Width,
    /// 1 to 4.
    pub components: u8,
}

/// An access through an SSBO or image slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// First of the consecutive rows of data.
    pub data: Row,
    /// Row with the slot.
    pub slot: Row,
    /// Row with the absolute byte address.
    pub address: Row,
    /// First of the rows with offset or coordinates.
    pub position: Row,
    /// Raw or converted.
    pub layout: ImageLayout,
    /// How the data is read.
    pub number: Number,
    /// Coordinates (4: raw buffer).
    pub dimensions: u8,
    /// 1 to 4.
    pub components: u8,
}

/// An atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic {
    /// Through a slot; `data` is the operand pair. Local: only `address`, `data`, `number` count.
    pub image: Image,
    /// Local memory rather than the slot.
    pub place: AtomicPlace,
    /// What is done.
    pub op: AtomicOp,
    /// Row that takes the old value.
    pub dst: Row,
}

/// Memory an atomic acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicPlace {
    /// Work-group memory.
    Local,
    /// An SSBO or image slot.
    Image,
}

/// Texture slots of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotRows {
    /// In the instruction.
    Fixed {
        /// Sampler slot.
        sampler: u32,
        /// Texture slot.
        texture: u32,
    },
    /// In a register pair.
    Rows {
        /// Row with the sampler slot.
        sampler: Row,
        /// Row with the texture slot.
        texture: Row,
    },
}

/// How the level of detail is given, in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LodRows {
    /// By derivatives.
    Implicit,
    /// Derivatives plus a row.
    Bias(Row),
    /// A row, f32.
    Explicit(Row),
    /// A row, integer.
    Level(Row),
    /// Rows of d/dx, then of d/dy; as many as coordinates.
    Gradients(Row, Row),
    /// Level 0.
    Zero,
}

/// A texture operation that samples: see [`super::TexRequest`] for the fields.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct Sample {
    pub kind: super::SampleKind,
    pub lod: LodRows,
    pub number: Number,
    pub slots: SlotRows,
    /// First of `dimensions` rows.
    pub coords: Row,
    pub dimensions: u8,
    pub layer: Option<Row>,
    pub reference: Option<Row>,
    pub projector: Option<Row>,
    /// First of `dimensions` rows.
    pub offsets: Option<Row>,
    pub sample: Option<Row>,
    pub result: TexResult,
}

/// Where the result of a texture operation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TexResult {
    /// Row of component x.
    pub dst: Row,
    /// Components written: bit 0 x .. bit 3 w.
    pub components: u8,
    /// Registers written.
    pub precision: Precision,
}

/// Register file of a texture result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Full registers: bits as they are.
    Full,
    /// Half registers, from f32.
    HalfFloat,
    /// Half registers, low 16 bits.
    HalfInteger,
}

/// A texture operation that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// What.
    pub kind: QueryKind,
    /// Row with level or sample index.
    pub operand: Row,
    /// What the result registers hold.
    pub number: Number,
    /// Which texture.
    pub slots: SlotRows,
    /// Where the answer goes.
    pub result: TexResult,
}

/// The questions: see [`super::Query`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum QueryKind {
    Size,
    Buffer,
    Info,
    SamplePosition,
    RenderTargetInfo,
    RenderTargetPosition,
}
