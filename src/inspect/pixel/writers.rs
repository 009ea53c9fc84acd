//! Finds which commands wrote a pixel. Rendering is followed through its draws; other writes are found by
//! comparing memory after each run.

use std::fmt;

use serde::Serialize;

use crate::describe::{Draw, Shaders};
use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Synced;

/// The last writer of a pixel's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Writer {
    /// The capture, which holds the bytes.
    Contents {
        /// The submit after their section.
        submit: u32,
    },
    /// A packet.
    Packet {
        /// The submit that holds the packet.
        submit: u32,
    },
    /// A draw that rendered the pixel, or a resolve.
    Draw {
        /// The submit that holds the draw.
        submit: u32,
        /// Number of the draw.
        draw: u32,
    },
    /// A store by a shader of a draw or dispatch.
    Store {
        /// The submit that holds the draw.
        submit: u32,
        /// Number of the draw; dispatches count too.
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

/// The bytes of a pixel before and after a write.
pub struct Change {
    /// The bytes before.
    pub before: Vec<u8>,
    /// The bytes after.
    pub after: Vec<u8>,
}

/// The memory of a pixel, and its last writer.
pub struct Watched {
    address: Address,
    bytes: Vec<u8>,
    writer: Option<Writer>,
}

impl Watched {
    /// The `len` bytes at `address`, with an unknown writer.
    pub fn new(address: Address, len: u32) -> Self {
        Self { address, bytes: vec![0; len as usize], writer: None }
    }

    /// The last writer; the capture if no command wrote the pixel.
    pub fn writer(&self) -> Writer {
        self.writer.unwrap_or(Writer::Contents { submit: 0 })
    }

    /// Records that `writer` rendered the pixel, also if its colour did not change.
    pub fn rendered(&mut self, gpu: Synced<'_>, writer: Writer) {
        let _missing_is_zero = gpu.memory().read(self.address, &mut self.bytes);
        self.writer = Some(writer);
    }

    /// Compares the memory. If it changed, `writer` has written it.
    pub fn look(&mut self, gpu: Synced<'_>, writer: Writer) -> Option<Change> {
        let mut after = vec![0; self.bytes.len()];
        let held = gpu.memory().read(self.address, &mut after);
        let is_first = held && self.writer.is_none();
        if after == self.bytes && !is_first {
            return None;
        }
        self.writer = Some(writer);
        let before = std::mem::replace(&mut self.bytes, after.clone());
        Some(Change { before, after })
    }
}

/// The queried pixels, in order.
pub struct Writers {
    watched: Vec<Watched>,
    /// Number of groups of buffers announced so far.
    group: u32,
    shaders: Shaders,
}

impl Writers {
    /// Makes the list of pixels.
    pub fn new(watched: Vec<Watched>) -> Self {
        Self { watched, group: 0, shaders: Shaders::default() }
    }

    /// The pixel with number `index`.
    pub fn pixel(&mut self, index: usize) -> &mut Watched {
        &mut self.watched[index]
    }

    /// Called before each run of `submit` and after the last. Changes since the last run come from new
    /// contents of the capture, if there are any, or from a packet.
    pub fn between(&mut self, gpu: &mut Gpu, submit: u32) {
        let is_new = std::mem::replace(&mut self.group, gpu.group()) != gpu.group();
        let writer = if is_new { Writer::Contents { submit } } else { Writer::Packet { submit } };
        self.look(gpu, writer);
    }

    /// The pixels that changed, which `writer` has written.
    pub fn look(&mut self, gpu: &mut Gpu, writer: Writer) -> Vec<(usize, Change)> {
        if !gpu.budget.take(Work::Copy16, self.watched.len() as u64) {
            return Vec::new();
        }
        let pixels = self.watched.iter_mut().enumerate();
        pixels.filter_map(|(index, pixel)| Some((index, pixel.look(gpu.sync(), writer)?))).collect()
    }

    /// Whether a shader of `call`, which is about to run, stores to memory.
    pub fn stores(&mut self, gpu: Synced<'_>, call: &Call) -> bool {
        let draw = Draw::of(gpu, call, &mut self.shaders);
        draw.shaders.iter().filter_map(|stage| stage.shader.as_ref()).any(|shader| shader.uses.stores)
    }
}
