//! What can go wrong, in three kinds that never mix: a GPU [`Fault`] (the program asked
//! for something impossible), [`Unimplemented`] (we do not do that yet) and [`Missing`]
//! memory (the capture does not hold it). All are recorded with counts; none panics.

use std::collections::BTreeMap;
use std::fmt;

use hashbrown::HashMap;
use rangemap::RangeSet;

/// Different reports of one kind that are kept; more are only counted.
const MAX_KEPT: usize = 1000;

/// Address ranges kept for each client; further ones join the last.
const MAX_RANGES: usize = 4096;

/// Where in the capture something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Submit, counted from 0 over the capture.
    pub submit: u32,
    /// Number of the draw or dispatch that runs, or of the next one between two.
    pub draws: u32,
    /// GPU address of the packet.
    pub address: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "submit {} at {:#010x}", self.submit, self.address)
    }
}

/// A GPU fault: what the chip would hang on, or answer with garbage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A command stream that stops making sense, with the reader's words for it.
    Stream(String),
    /// A call to a buffer that is nowhere.
    NoBuffer {
        /// Its address.
        address: u32,
        /// Its announced length in dwords.
        dwords: u32,
    },
    /// Calls nested deeper than the chip can, or more dwords than any frame has.
    Runaway(&'static str),
    /// A wait whose condition nothing can make true any more.
    EndlessWait {
        /// Memory address or register that it polls.
        polled: u32,
        /// Value after the mask.
        value: u32,
        /// What it waits for.
        reference: u32,
    },
    /// A register that does not exist.
    NoRegister(u32),
    /// A store to an address in no buffer.
    Store {
        /// Who stored.
        client: Client,
        /// Page of the address.
        page: u32,
    },
    /// A shader that cannot be run, or ran too long.
    Shader(String),
    /// A draw, surface or descriptor that makes no sense.
    Draw(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stream(error) => write!(f, "{error}"),
            Self::NoBuffer { address, dwords } => {
                write!(f, "call of {dwords} dwords at {address:#010x}, which is in no buffer")
            }
            Self::Runaway(what) => write!(f, "{what}"),
            Self::EndlessWait { polled, value, reference } => {
                write!(f, "wait on {polled:#x} cannot end: {value:#x} against {reference:#x}")
            }
            Self::NoRegister(offset) => write!(f, "write to {offset:#x}, which is no register"),
            Self::Store { client, page } => write!(f, "{client} store to page {page:#010x}, in no buffer"),
            Self::Shader(what) | Self::Draw(what) => write!(f, "{what}"),
        }
    }
}

/// Something that is not supported yet: skipped, and the rest was still done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unimplemented {
    /// What it is, with the register and value where there is one.
    pub what: String,
}

impl fmt::Display for Unimplemented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not supported yet", self.what)
    }
}

/// Something that one of our own limits cut off: the rest was still done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cut {
    /// What ended before its end, where, and the option that lets it run.
    pub what: String,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cut off: {}", self.what)
    }
}

/// Reports with where each was first met and how often, in order of first meeting.
#[derive(Clone, Debug)]
pub struct Log<T> {
    rows: Vec<(T, Place, u64)>,
    index: HashMap<T, usize>,
    /// Reports that differed from the first [`MAX_KEPT`].
    dropped: u64,
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), index: HashMap::new(), dropped: 0 }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Log<T> {
    /// Adds one report.
    pub fn note(&mut self, what: T, at: Place) {
        if let Some(index) = self.index.get(&what) {
            self.rows[*index].2 += 1;
        } else if self.rows.len() < MAX_KEPT {
            self.index.insert(what.clone(), self.rows.len());
            self.rows.push((what, at, 1));
        } else {
            self.dropped += 1;
        }
    }

    /// What was reported, where first, and how often.
    pub fn iter(&self) -> impl Iterator<Item = &(T, Place, u64)> {
        self.rows.iter()
    }

    /// Whether nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Reports in all, kept or not.
    pub fn total(&self) -> u64 {
        self.rows.iter().map(|row| row.2).sum::<u64>() + self.dropped
    }
}

/// Who asked for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    /// Command buffers.
    CommandStream,
    /// Draw-state groups.
    DrawState,
    /// Packets that copy, compare or store memory.
    Packet,
    /// Shader code.
    ShaderCode,
    /// Constants loaded by packet.
    Constants,
    /// Descriptors loaded by packet.
    Descriptors,
    /// Parameters of an indirect draw or dispatch.
    Indirect,
    /// Index buffers.
    Index,
    /// Vertex buffers.
    Vertex,
    /// Texture and image texels.
    Texture,
    /// Border colours.
    BorderColor,
    /// Loads, stores and atomics of shaders through pointers.
    Global,
    /// Buffer descriptors (SSBO) and typed images.
    Ssbo,
    /// Private (spill) memory.
    Private,
    /// Render targets in system memory.
    RenderTarget,
    /// Resolves.
    Resolve,
    /// Counters and queries.
    Query,
    /// Tessellation factors and other geometry scratch.
    Geometry,
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CommandStream => "command stream",
            Self::DrawState => "draw state group",
            Self::Packet => "packet",
            Self::ShaderCode => "shader code",
            Self::Constants => "constants",
            Self::Descriptors => "descriptors",
            Self::Indirect => "indirect parameters",
            Self::Index => "index buffer",
            Self::Vertex => "vertex fetch",
            Self::Texture => "texture",
            Self::BorderColor => "border colour",
            Self::Global => "shader global memory",
            Self::Ssbo => "shader buffer",
            Self::Private => "shader private memory",
            Self::RenderTarget => "render target",
            Self::Resolve => "resolve",
            Self::Query => "query",
            Self::Geometry => "geometry scratch",
        })
    }
}

/// A read of memory that the capture does not hold: `len` bytes at `address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Miss {
    /// Who asked.
    pub client: Client,
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub len: u32,
}

/// Every address that was read and is not in the capture, by who asked; ranges merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    ranges: BTreeMap<Client, RangeSet<u64>>,
}

impl Missing {
    /// Adds a miss. Independent of the order of calls up to [`MAX_RANGES`] ranges a client;
    /// behind that the gap between the last two closes.
    pub fn note(&mut self, miss: Miss) {
        if miss.len == 0 {
            return;
        }
        let ranges = self.ranges.entry(miss.client).or_default();
        ranges.insert(miss.address.into()..u64::from(miss.address) + u64::from(miss.len));
        let mut from_last = ranges.iter().rev();
        if ranges.len() > MAX_RANGES
            && let (Some(last), Some(before)) = (from_last.next(), from_last.next())
        {
            let joined = before.start..last.end;
            ranges.insert(joined);
        }
    }

    /// Adds many, such as what a worker thread collected.
    pub fn extend(&mut self, misses: impl IntoIterator<Item = Miss>) {
        misses.into_iter().for_each(|miss| self.note(miss));
    }

    /// The merged ranges, by client and address. A range of 4 GiB reports `u32::MAX` bytes.
    pub fn iter(&self) -> impl Iterator<Item = Miss> {
        self.ranges.iter().flat_map(|(client, ranges)| {
            ranges.iter().map(|range| Miss {
                client: *client,
                address: range.start as u32,
                len: u32::try_from(range.end - range.start).unwrap_or(u32::MAX),
            })
        })
    }

    /// Whether nothing was missing.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// Everything that a run has to say about what went wrong.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What the program got wrong.
    pub faults: Log<Fault>,
    /// What we do not support.
    pub unsupported: Log<Unimplemented>,
    /// What our limits cut off.
    pub cuts: Log<Cut>,
    /// What the capture does not hold.
    pub missing: Missing,
}

impl Report {
    /// Records a fault.
    pub fn fault(&mut self, fault: Fault, at: Place) {
        self.faults.note(fault, at);
    }

    /// Records something not supported yet.
    pub fn unsupported(&mut self, what: impl Into<String>, at: Place) {
        self.unsupported.note(Unimplemented { what: what.into() }, at);
    }

    /// Records what a limit of ours cut off.
    pub fn cut(&mut self, what: impl Into<String>, at: Place) {
        self.cuts.note(Cut { what: what.into() }, at);
    }

    /// Records a read of `len` bytes at `address` that found something missing.
    pub fn miss(&mut self, client: Client, address: u32, len: u32) {
        self.missing.note(Miss { client, address, len });
    }
}
