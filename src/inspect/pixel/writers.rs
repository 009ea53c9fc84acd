//! Who wrote what a pixel holds: rendering is followed by its draws, and what else writes memory is seen by its
//! effect, run by run.

use std::fmt;

use serde::Serialize;

use crate::describe::{Draw, Shaders};
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::Gpu;

/// Who wrote the bytes of a pixel last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Writer {
    /// The capture, which holds it.
    Contents {
        /// The submit before which it came.
        submit: u32,
    },
    /// A packet.
    Packet {
        /// The submit that holds it.
        submit: u32,
    },
    /// A draw that rendered it, or a copy from tile memory.
    Draw {
        /// Its submit.
        submit: u32,
        /// Its number.
        draw: u32,
    },
    /// A store of a shader of a draw or dispatch.
    Store {
        /// Its submit.
        submit: u32,
        /// Its number; dispatches count too.
        draw: u32,
    },
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contents { submit } => write!(f, "the capture's contents, submit {submit}"),
            Self::Packet { submit } => write!(f, "a packet of submit {submit}"),
            Self::Draw { submit, draw } => write!(f, "draw {draw} of submit {submit}"),
            Self::Store { submit, draw } => write!(f, "a store of draw {draw} of submit {submit}"),
        }
    }
}

/// The bytes of a pixel, before and after.
pub struct Change {
    /// What was there.
    pub before: Vec<u8>,
    /// What is there.
    pub after: Vec<u8>,
}

/// The memory of a pixel.
pub struct Watched {
    address: u32,
    bytes: Vec<u8>,
    writer: Option<Writer>,
}

impl Watched {
    /// The `len` bytes at `address`, of which nothing is known yet.
    pub fn new(address: u32, len: u32) -> Self {
        Self { address, bytes: vec![0; len as usize], writer: None }
    }

    /// Who wrote it last; the capture, if nobody did.
    pub fn writer(&self) -> Writer {
        self.writer.unwrap_or(Writer::Contents { submit: 0 })
    }

    /// `writer` has rendered it, be it with the colour that was there.
    pub fn rendered(&mut self, gpu: &Gpu, writer: Writer) {
        let _missing_is_zero = gpu.mem.read(self.address, &mut self.bytes);
        self.writer = Some(writer);
    }

    /// Looks at it; if it has changed, `writer` has written it.
    pub fn look(&mut self, gpu: &Gpu, writer: Writer) -> Option<Change> {
        let mut after = vec![0; self.bytes.len()];
        let held = gpu.mem.read(self.address, &mut after);
        let is_first = held && self.writer.is_none();
        if after == self.bytes && !is_first {
            return None;
        }
        self.writer = Some(writer);
        let before = std::mem::replace(&mut self.bytes, after.clone());
        Some(Change { before, after })
    }
}

/// The pixels that are asked about, in their order.
pub struct Writers {
    watched: Vec<Watched>,
    /// How often the capture had announced buffers.
    group: u32,
    shaders: Shaders,
}

impl Writers {
    /// Of the memory of all pixels.
    pub fn new(watched: Vec<Watched>) -> Self {
        Self { watched, group: 0, shaders: Shaders::default() }
    }

    /// The pixel with this number.
    pub fn pixel(&mut self, index: usize) -> &mut Watched {
        &mut self.watched[index]
    }

    /// Before a run, or behind the last, of `submit`: what has changed since the run before is new in the capture, if
    /// there is anything new, or by a packet.
    pub fn between(&mut self, gpu: &mut Gpu, submit: u32) {
        let is_new = std::mem::replace(&mut self.group, gpu.mem.group()) != gpu.mem.group();
        let writer = if is_new { Writer::Contents { submit } } else { Writer::Packet { submit } };
        self.look(gpu, writer);
    }

    /// The pixels that have changed, which `writer` has written.
    pub fn look(&mut self, gpu: &mut Gpu, writer: Writer) -> Vec<(usize, Change)> {
        if !gpu.budget.take(Work::Copy16, self.watched.len() as u64) {
            return Vec::new();
        }
        let pixels = self.watched.iter_mut().enumerate();
        pixels.filter_map(|(index, pixel)| Some((index, pixel.look(gpu, writer)?))).collect()
    }

    /// Whether a shader of `call`, which is about to run, stores.
    pub fn stores(&mut self, gpu: &Gpu, call: &Call) -> bool {
        let draw = Draw::of(gpu, call, &mut self.shaders);
        draw.shaders.iter().filter_map(|stage| stage.shader.as_ref()).any(|shader| shader.uses.stores)
    }
}
