//! What the forms of output have in common.

use std::io;

use a4emu_decoder::isa::ir3::Instr;
use a4emu_decoder::load_state::{StateKind, StateSource};
use a4emu_decoder::pm4::LoadState4;

use super::tracker::Tracker;
use super::work::Work;
use crate::walk::{At, Buffers, Problem, Seen, Submit};

/// One form of output. Everything comes in execution order, already filtered.
pub trait Sink {
    /// The chip that the capture names.
    fn gpu(&mut self, id: u32) -> io::Result<()>;
    /// A submit begins.
    fn submit(&mut self, submit: &Submit) -> io::Result<()>;
    /// A packet; `tracker` holds the registers after it.
    fn packet(&mut self, at: &At, seen: &Seen<'_>, tracker: &Tracker) -> io::Result<()>;
    /// The packet just shown is a draw or a dispatch.
    fn work(&mut self, at: &At, work: &Work, tracker: &Tracker) -> io::Result<()>;
    /// Something is wrong.
    fn problem(&mut self, at: &At, problem: &Problem) -> io::Result<()>;
    /// Nothing more will come.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// What a CP_LOAD_STATE4 loads, found.
pub struct Loaded {
    /// Which state.
    pub kind: StateKind,
    /// First unit.
    pub first: u32,
    /// Address of the first dword.
    pub address: u32,
    /// Dwords announced.
    pub announced: u32,
    /// The dwords that the capture holds.
    pub dwords: Vec<u32>,
}

/// Dwords of a type-3 header and of CP_LOAD_STATE4 before inline data, in bytes.
const INLINE_OFFSET: u32 = 12;

impl Loaded {
    /// Finds what `packet` at `at` loads.
    pub fn find(packet: &LoadState4<'_>, at: &At, buffers: &Buffers) -> Self {
        let announced = packet.dwords();
        let (address, dwords) = match packet.source() {
            StateSource::Inline(dwords) => (at.address.wrapping_add(INLINE_OFFSET), dwords.to_vec()),
            StateSource::Memory { address } => {
                (address, buffers.dwords(u64::from(address), announced).into_owned())
            }
        };
        Self { kind: packet.kind(), first: packet.dst.DST_OFF(), address, announced, dwords }
    }

    /// The instructions of a program without its padding: up to the last one that is not zero.
    pub fn instructions(&self) -> impl Iterator<Item = Code> {
        let (words, _) = self.dwords.as_chunks();
        let shown = words.iter().rposition(|word| *word != [0; 2]).map_or(0, |last| last + 1);
        let len = words.len();
        words[..shown].iter().enumerate().map(move |(index, &[lo, hi])| Code { index, hi, lo, len })
    }
}

/// An instruction of a program.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// From 0 at the first one loaded.
    pub index: usize,
    /// Its high dword.
    pub hi: u32,
    /// Its low dword.
    pub lo: u32,
    /// Instructions in the program: targets behind its end have no label.
    len: usize,
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let instr = Instr::decode(u64::from(self.hi) << 32 | u64::from(self.lo));
        instr.write_in_program(f, self.index, self.len)
    }
}
