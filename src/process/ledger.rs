//! The ledger of a run: counts and errors of its processes, which no failed write can hide.
//!
//! `run` makes the file before the program starts. A process that opens the device takes the next row and maps
//! the file, so that it counts without a write. At the end `run` compares the rows with what has arrived. So
//! "nothing was found" and "nothing arrived" differ.
//!
//! The first word of row 0 is the number of rows taken, the second one the process that is sending a frame. The rows
//! of processes follow from 1 on.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// File name of the ledger, in the folder of the run.
pub const NAME: &str = "ledger";
/// Words of 32 bits in a row.
pub const WORDS: usize = 8;
/// Index of the word with the process that is sending a frame.
pub const SENDER: usize = 1;
/// Bytes of a row.
const ROW: usize = WORDS * 4;
/// Most rows of the file, with row 0. There are fewer if files may not be as large.
const ROWS: usize = 1 << 16;

/// A word of a row. A word of an error has the system's number of it, or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// Id of the process.
    Pid,
    /// Summaries that were written.
    Summaries,
    /// Submits of the last one that was written.
    Submits,
    /// Frames that were sent.
    Frames,
    /// The error of the last summary.
    SummaryError,
    /// The error that ended the recording.
    RecordingError,
    /// The error that ended the frames.
    FramesError,
    /// The error of the device's files.
    DeviceError,
}

/// The row of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row([u32; WORDS]);

impl Row {
    /// The value of a word.
    pub fn get(&self, word: Word) -> u32 {
        self.0[word as usize]
    }

    /// The error in a word, if there is one.
    pub fn error(&self, word: Word) -> Option<io::Error> {
        let number = self.get(word);
        (number > 0).then(|| io::Error::from_raw_os_error(number as i32))
    }
}

/// Makes the ledger in the `folder` of a run. All of it is written, so that a full disk is noticed here.
///
/// # Errors
/// The call fails on errors of the file system, unless a row fits.
pub fn make(folder: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(folder.join(NAME))?;
    let written = file.write_all(&vec![0; ROWS * ROW]);
    if written.is_err() && file.metadata()?.len() < 2 * ROW as u64 { written } else { Ok(()) }
}

/// The rows of processes, in the order in which they opened the device.
///
/// # Errors
/// The call fails on errors of the file system.
pub fn read(folder: &Path) -> io::Result<Vec<Row>> {
    let bytes = fs::read(folder.join(NAME))?;
    let row = |bytes: &[u8]| {
        let mut row = Row::default();
        for (word, bytes) in row.0.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        row
    };
    let mut rows = bytes.chunks_exact(ROW).map(row);
    let taken = rows.next().ok_or(io::ErrorKind::UnexpectedEof)?.0[0];
    Ok(rows.take(taken as usize).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn only_taken_rows_are_read() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path()).unwrap();
        assert_eq!(read(folder.path()).unwrap(), []);
        let file = OpenOptions::new().write(true).open(folder.path().join(NAME)).unwrap();
        let put = |row: usize, word: usize, value: u32| {
            file.write_all_at(&value.to_ne_bytes(), ((row * WORDS + word) * 4) as u64).unwrap();
        };
        put(0, 0, 2);
        put(1, Word::Pid as usize, 7);
        put(2, Word::FramesError as usize, 28);
        put(3, Word::Pid as usize, 9);
        let rows = read(folder.path()).unwrap();
        assert_eq!((rows.len(), rows[0].get(Word::Pid)), (2, 7));
        assert_eq!(rows[1].error(Word::FramesError).unwrap().kind(), io::ErrorKind::StorageFull);
        assert!(rows[1].error(Word::SummaryError).is_none());
    }
}
