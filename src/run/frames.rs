//! `--frames`: the pictures that the program presents, as they come from its processes.
//!
//! Each process writes its frames into one pipe of the run's, a message each; here they become PNG
//! files, or a stream of video. A process waits when the pipe is full, so nothing piles up.

mod y4m;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use anyhow::{Context, bail};
use rustix::fs::{FileType, FlockOperation, Mode};

use crate::out_file::{Inputs, OutFile};
use crate::picture::Kind;
use crate::terminal;
use y4m::Video;

/// File name of the pipe, in the folder of the run.
pub const PIPE: &str = "frames";
/// Most pixels of a frame: a surface of the chip has no more.
const MAX_PIXELS: u64 = 1 << 28;

/// One frame, as it goes through the pipe: these words and then its pixels, RGBA.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The process; 0 ends the stream.
    pub pid: u32,
    /// Its submit, counted from 0.
    pub submit: u32,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Header {
    /// Writes the message. Several processes take turns.
    ///
    /// # Errors
    /// Those of the pipe.
    pub fn send(self, pipe: &File, pixels: &[u8]) -> io::Result<()> {
        rustix::fs::flock(pipe, FlockOperation::LockExclusive)?;
        let words = [self.pid, self.submit, self.width, self.height].map(u32::to_le_bytes);
        let mut out = pipe;
        let sent = out.write_all(words.as_flattened()).and_then(|()| out.write_all(pixels));
        rustix::fs::flock(pipe, FlockOperation::Unlock)?;
        sent
    }

    fn receive(pipe: &mut impl Read) -> io::Result<(Self, Vec<u8>)> {
        let mut bytes = [0; 16];
        pipe.read_exact(&mut bytes)?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let header = Self { pid: word(0), submit: word(4), width: word(8), height: word(12) };
        let pixels = u64::from(header.width) * u64::from(header.height);
        if pixels > MAX_PIXELS {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut rgba = Vec::new();
        pipe.take(pixels * 4).read_to_end(&mut rgba)?;
        if rgba.len() as u64 == pixels * 4 {
            Ok((header, rgba))
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

/// The thread that takes frames from the pipe.
pub struct Taker {
    pipe: File,
    thread: JoinHandle<anyhow::Result<String>>,
}

impl Taker {
    /// Makes the pipe in `folder`; up to `most` frames go to the folder `to`, or as video to stdout
    /// if that is `-`.
    ///
    /// # Errors
    /// `to` cannot be written, or has frames already.
    pub fn start(folder: &Path, to: &Path, most: u64) -> anyhow::Result<Self> {
        let place = folder.join(PIPE);
        rustix::fs::mknodat(rustix::fs::CWD, &place, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        // Open for both, so that it neither waits for a writer nor ends with the last one.
        let pipe = OpenOptions::new().read(true).write(true).open(place)?;
        let mut sink = Sink::new(to)?;
        let mut reading = pipe.try_clone()?;
        let thread = thread::spawn(move || {
            let mut frames = 0;
            loop {
                let (header, pixels) = Header::receive(&mut reading)?;
                if header.pid == 0 {
                    return sink.finish(frames, most);
                }
                if frames < most {
                    sink.put(&header, &pixels)?;
                }
                frames += 1;
            }
        });
        Ok(Self { pipe, thread })
    }

    /// The program has ended; gives what became of its frames, in words.
    ///
    /// # Errors
    /// A frame could not be written.
    pub fn finish(self) -> anyhow::Result<String> {
        // Fails only if the other end has ended before.
        let _ = Header::default().send(&self.pipe, &[]);
        self.thread.join().unwrap_or_else(|_| bail!("the frames stopped")).context("cannot write frames")
    }
}

/// Where frames go.
enum Sink {
    Files { folder: PathBuf, processes: Vec<(u32, u32)> },
    Video(Video<terminal::Bytes>),
}

impl Sink {
    fn new(to: &Path) -> anyhow::Result<Self> {
        if to == Path::new("-") {
            return Ok(Self::Video(Video::new(terminal::bytes())));
        }
        fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
        let first = to.join(name(0, 0));
        if first.exists() {
            bail!("{} is there already: frames of two runs do not mix", first.display());
        }
        Ok(Self::Files { folder: to.into(), processes: Vec::new() })
    }

    fn put(&mut self, header: &Header, pixels: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Video(video) => Ok(video.put(header, pixels)?),
            Self::Files { folder, processes } => {
                let known = processes.iter().position(|(pid, _)| *pid == header.pid);
                let process = known.unwrap_or_else(|| {
                    processes.push((header.pid, 0));
                    processes.len() - 1
                });
                let path = folder.join(name(process, processes[process].1));
                processes[process].1 += 1;
                write_png(&path, header, pixels)
            }
        }
    }

    fn finish(self, frames: u64, most: u64) -> anyhow::Result<String> {
        let mut text = format!("{} frames", frames.min(most));
        if frames > most {
            text += &format!("; {} more were left out (--max-frames {most})", frames - most);
        }
        if let Self::Video(video) = self {
            text += &video.finish()?;
        }
        Ok(text)
    }
}

/// `frame-00000.png`, and of the second process `frame.2-00000.png`.
fn name(process: usize, frame: u32) -> String {
    match process {
        0 => format!("frame-{frame:05}.png"),
        _ => format!("frame.{}-{frame:05}.png", process + 1),
    }
}

fn write_png(path: &Path, header: &Header, pixels: &[u8]) -> anyhow::Result<()> {
    let mut out = OutFile::create(path, &Inputs::default())?;
    let mut writer = Kind::Rgba8.encoder(&mut out, [header.width, header.height]).write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(pid: u32, width: u32, value: u8) -> (Header, Vec<u8>) {
        (Header { pid, submit: 0, width, height: 2 }, vec![value; width as usize * 8])
    }

    #[test]
    fn processes_get_names_of_their_own_and_the_rest_is_counted() {
        let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let taker = Taker::start(folder.path(), out.path(), 3).unwrap();
        let pipe = OpenOptions::new().write(true).open(folder.path().join(PIPE)).unwrap();
        for (header, pixels) in [frame(7, 3, 1), frame(9, 2, 2), frame(7, 3, 3), frame(7, 3, 4)] {
            header.send(&pipe, &pixels).unwrap();
        }
        assert_eq!(taker.finish().unwrap(), "3 frames; 1 more were left out (--max-frames 3)");
        let mut names: Vec<_> =
            fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["frame-00000.png", "frame-00001.png", "frame.2-00000.png"]);
        let file = io::BufReader::new(File::open(out.path().join("frame-00001.png")).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [3; 24]);
        let error =
            Taker::start(tempfile::tempdir().unwrap().path(), out.path(), 3).err().expect("not again");
        assert!(error.to_string().contains("there already"), "{error}");
    }

    #[test]
    fn a_message_that_makes_no_sense_ends_the_frames() {
        let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let taker = Taker::start(folder.path(), out.path(), 3).unwrap();
        let mut pipe = OpenOptions::new().write(true).open(folder.path().join(PIPE)).unwrap();
        pipe.write_all(&[0xff; 16]).unwrap();
        assert!(taker.finish().is_err());
    }
}
