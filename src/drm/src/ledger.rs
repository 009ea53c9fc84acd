//! What this process leaves for the launcher: its row of the run's ledger, and its summaries.
//!
//! The ledger is mapped, so that it also has the error of a write. A forked child inherits the mapping, and takes
//! a row of its own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use a4emu_process::ledger::{NAME, SENDER, WORDS, Word};
use a4emu_process::report::Writer;
use a4emu_process::summary::Summary;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::ffi::pages::words_of;

static LEDGER: OnceLock<&'static [AtomicU32]> = OnceLock::new();

/// The row of this process.
#[derive(Clone, Copy)]
pub struct Row {
    words: &'static [AtomicU32],
    number: usize,
    /// The process of the run that is sending a frame, or 0.
    pub sender: &'static AtomicU32,
}

impl Row {
    /// Takes the next row of the ledger in `folder`, or returns the one that this process has.
    ///
    /// # Errors
    /// The call fails if the ledger cannot be mapped, and with `ENOSPC` if no row is left.
    pub fn take(folder: &Path) -> Result<Self, Errno> {
        /// The process that took a row last, and its number.
        static OWN: AtomicU64 = AtomicU64::new(0);
        let ledger = ledger(folder)?;
        let (own, pid) = (OWN.load(Ordering::Acquire), std::process::id());
        let mut number = own as u32;
        if own >> 32 != u64::from(pid) {
            number = ledger.first().ok_or(Errno::NOSPC)?.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        }
        let start = number as usize * WORDS;
        let words = ledger.get(start..start + WORDS).ok_or(Errno::NOSPC)?;
        OWN.store(u64::from(pid) << 32 | u64::from(number), Ordering::Release);
        let sender = ledger.get(SENDER).ok_or(Errno::NOSPC)?;
        let row = Self { words, number: number as usize, sender };
        row.set(Word::Pid, pid);
        Ok(row)
    }

    /// Sets a word.
    pub fn set(self, word: Word, value: u32) {
        self.words[word as usize].store(value, Ordering::Release);
    }

    /// Adds one to a word.
    pub fn count(self, word: Word) {
        self.words[word as usize].fetch_add(1, Ordering::AcqRel);
    }

    /// Sets a word to the number of `error`.
    pub fn fail(self, word: Word, error: &io::Error) {
        self.set(word, error.raw_os_error().unwrap_or(Errno::IO.raw_os_error()) as u32);
    }
}

fn ledger(folder: &Path) -> Result<&'static [AtomicU32], Errno> {
    if let Some(ledger) = LEDGER.get() {
        return Ok(ledger);
    }
    let fd = rustix::fs::open(folder.join(NAME), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let mapped = words_of(&fd)?;
    // If two threads come at once, one maps in vain, which only costs addresses.
    Ok(LEDGER.get_or_init(|| mapped))
}

/// Leaves the summaries of this process.
pub struct Reporter {
    /// The row of the process.
    pub row: Row,
    folder: PathBuf,
    writer: Option<Writer>,
}

impl Reporter {
    /// Makes the reporter of this process, in the launcher's `folder`.
    ///
    /// # Errors
    /// The call fails like [`Row::take`].
    pub fn new(folder: &Path) -> Result<Self, Errno> {
        Ok(Self { row: Row::take(folder)?, folder: folder.into(), writer: None })
    }

    /// Replaces the summary. The row says whether that failed; the next one may be written again.
    ///
    /// # Errors
    /// The call fails on errors of the file system.
    pub fn put(&mut self, summary: &Summary) -> io::Result<()> {
        let put = self.write(summary);
        match &put {
            Ok(()) => {
                self.row.set(Word::Submits, summary.submits as u32);
                self.row.set(Word::SummaryError, 0);
                self.row.count(Word::Summaries);
            }
            Err(error) => self.row.fail(Word::SummaryError, error),
        }
        put
    }

    fn write(&mut self, summary: &Summary) -> io::Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::new(&self.folder, self.row.number)?),
        };
        writer.put(summary)
    }
}
