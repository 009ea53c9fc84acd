//! The pipe in which the processes of a run send what they present, as messages.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// File name of the pipe, in the folder of the run.
pub const PIPE: &str = "frames";
/// Maximum number of pixels of a frame. A surface of the chip has no more.
const MAX_PIXELS: u64 = 1 << 28;

/// The header of a frame in the pipe: these words, then its pixels as RGBA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Id of the process.
    pub pid: u32,
    /// Number of its submit, from 0.
    pub submit: u32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl Header {
    /// Writes the message. A lock keeps messages of several processes apart. `sender` is 0 between messages, for
    /// all processes.
    ///
    /// # Errors
    /// The call fails if the pipe cannot be locked or written, and if half a message is in it, whose process was
    /// killed or could not write.
    pub fn send(self, pipe: &File, pixels: &[u8], sender: &AtomicU32) -> io::Result<()> {
        rustix::fs::flock(pipe, FlockOperation::LockExclusive)?;
        let words = [self.pid, self.submit, self.width, self.height].map(u32::to_le_bytes);
        let mut out = pipe;
        let mut sent = Err(Errno::PIPE.into());
        if sender.load(Ordering::Acquire) == 0 {
            sender.store(self.pid, Ordering::Release);
            sent = out.write_all(words.as_flattened()).and_then(|()| out.write_all(pixels));
        }
        if sent.is_ok() {
            sender.store(0, Ordering::Release);
        }
        rustix::fs::flock(pipe, FlockOperation::Unlock)?;
        sent
    }

    /// Reads the next message; `None` at the end, or if its process died while writing it.
    ///
    /// # Errors
    /// The call fails if the pipe cannot be read, or has what is no message.
    pub fn receive(pipe: &mut impl Read) -> io::Result<Option<(Self, Vec<u8>)>> {
        let mut bytes = [0; 16];
        match pipe.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let header = Self { pid: word(0), submit: word(4), width: word(8), height: word(12) };
        let pixels = u64::from(header.width) * u64::from(header.height);
        if pixels > MAX_PIXELS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut rgba = Vec::new();
        pipe.take(pixels * 4).read_to_end(&mut rgba)?;
        Ok((rgba.len() as u64 == pixels * 4).then_some((header, rgba)))
    }
}
