//! `--frames`: receives the pictures that the program presents from its processes.
//!
//! Each process writes its frames as messages into one pipe of the run. They are written as PNG files or as
//! a video stream. A process waits while the pipe is full, so frames do not pile up.

mod y4m;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode};
use rustix::io::Errno;

use a4emu_gpu::ambient;
use a4emu_gpu::picture::PixelType;
use a4emu_process::frames::{Header, PIPE};
use a4emu_support::out_file::{Inputs, OutFile};
use a4emu_support::terminal;
use y4m::Video;

/// Time that the receiver waits before it checks whether the program has ended.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What was received at the end.
#[derive(Debug)]
pub struct Received {
    /// Number of frames, with those that were left out.
    pub frames: u64,
    /// The summary as text.
    pub text: String,
}

/// A thread that receives frames from the pipe.
pub struct Taker {
    over: Arc<AtomicBool>,
}

impl Taker {
    /// Makes the pipe in `folder` and starts the thread. Up to `most` frames are written to the folder `to`,
    /// or as video to stdout if `to` is `-`. At the end, `told` receives the number and a summary. It receives
    /// an error at once, when no process can send any more.
    ///
    /// # Errors
    /// The call fails if `to` cannot be written, or has frames already.
    pub fn start(
        folder: &Path,
        to: &Path,
        most: u64,
        inputs: Inputs,
        told: impl FnOnce(anyhow::Result<Received>) + Send + 'static,
    ) -> anyhow::Result<Self> {
        let place = folder.join(PIPE);
        rustix::fs::mknodat(rustix::fs::CWD, &place, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        // Open for both directions: so opening does not wait for a writer, and the last writer does not end
        // the pipe.
        let file = OpenOptions::new().read(true).write(true).open(place)?;
        let over = Arc::new(AtomicBool::new(false));
        let mut pipe = Pipe { file, over: over.clone() };
        let mut sink = Sink::new(to, inputs)?;
        ambient::spawn("a4emu-frames", move || {
            let taken = take(&mut pipe, &mut sink, most).and_then(|frames| sink.finish(frames, most));
            // Closing the pipe gives an error to processes that wait to send.
            drop(pipe);
            told(taken);
        })?;
        Ok(Self { over })
    }

    /// Ends the reception, since the program has ended: only the rest of the pipe is read.
    pub fn finish(&self) {
        self.over.store(true, Ordering::Release);
    }
}

/// Reads frames from `pipe` into `sink` until the end. Returns their number.
fn take(pipe: &mut Pipe, sink: &mut Sink, most: u64) -> anyhow::Result<u64> {
    let mut frames = 0;
    while let Some((header, pixels)) = Header::receive(pipe)? {
        if frames < most {
            sink.put(&header, &pixels)?;
        }
        frames += 1;
    }
    Ok(frames)
}

/// The pipe. It ends when the program has ended and the pipe is empty.
struct Pipe {
    file: File,
    over: Arc<AtomicBool>,
}

impl Read for Pipe {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let over = self.over.load(Ordering::Acquire);
            let mut ready = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut ready, Some(&PATIENCE)) {
                Ok(0) if over => return Ok(0),
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return self.file.read(out),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The output of frames.
enum Sink {
    Files { folder: PathBuf, processes: Vec<(u32, u32)>, inputs: Inputs },
    Video(Video<terminal::Bytes>),
}

impl Sink {
    fn new(to: &Path, inputs: Inputs) -> anyhow::Result<Self> {
        if to == Path::new("-") {
            return Ok(Self::Video(Video::new(terminal::bytes())));
        }
        // As text: an EPIPE of a folder says nothing of a reader of stdout.
        fs::create_dir_all(to).map_err(|error| anyhow!("cannot make {}: {error}", to.display()))?;
        let first = to.join(name(0, 0));
        if first.exists() {
            bail!("{} is there already: frames of two runs do not mix", first.display());
        }
        Ok(Self::Files { folder: to.into(), processes: Vec::new(), inputs })
    }

    fn put(&mut self, header: &Header, pixels: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::Video(video) => Ok(video.put(header, pixels)?),
            Self::Files { folder, processes, inputs } => {
                let known = processes.iter().position(|(pid, _)| *pid == header.pid);
                let process = known.unwrap_or_else(|| {
                    processes.push((header.pid, 0));
                    processes.len() - 1
                });
                let path = folder.join(name(process, processes[process].1));
                processes[process].1 += 1;
                write_png(&path, header, pixels, inputs)
            }
        }
    }

    fn finish(self, frames: u64, most: u64) -> anyhow::Result<Received> {
        let mut text = format!("{} frames", frames.min(most));
        if frames > most {
            text += &format!("; {} more were left out (--max-frames {most})", frames - most);
        }
        if let Self::Video(video) = self {
            text += &video.finish()?;
        }
        Ok(Received { frames, text })
    }
}

/// File name of a frame: `frame-00000.png`, or `frame.2-00000.png` for the second process.
fn name(process: usize, frame: u32) -> String {
    match process {
        0 => format!("frame-{frame:05}.png"),
        _ => format!("frame.{}-{frame:05}.png", process + 1),
    }
}

fn write_png(path: &Path, header: &Header, pixels: &[u8], inputs: &Inputs) -> anyhow::Result<()> {
    let mut out = OutFile::create(path, inputs)?;
    let mut writer = PixelType::Rgba8.encoder(&mut out, [header.width, header.height]).write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc;

    use super::*;

    fn frame(pid: u32, width: u32, value: u8) -> (Header, Vec<u8>) {
        (Header { pid, submit: 0, width, height: 2 }, vec![value; width as usize * 8])
    }

    /// Starts a taker. Returns it with the channel of its summary.
    fn start(folder: &Path, to: &Path) -> anyhow::Result<(Taker, mpsc::Receiver<anyhow::Result<Received>>)> {
        let (sender, told) = mpsc::channel();
        Ok((Taker::start(folder, to, 3, Inputs::default(), move |all| sender.send(all).unwrap())?, told))
    }

    #[test]
    fn processes_get_names_of_their_own_and_the_rest_is_counted() {
        let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (taker, told) = start(folder.path(), out.path()).unwrap();
        let pipe = OpenOptions::new().write(true).open(folder.path().join(PIPE)).unwrap();
        let sender = AtomicU32::new(0);
        for (header, pixels) in [frame(7, 3, 1), frame(9, 2, 2), frame(7, 3, 3), frame(7, 3, 4)] {
            header.send(&pipe, &pixels, &sender).unwrap();
        }
        // A process is killed while it sends a frame.
        let (header, pixels) = frame(7, 3, 4);
        (&pipe)
            .write_all(
                [header.pid, header.submit, header.width, header.height].map(u32::to_le_bytes).as_flattened(),
            )
            .unwrap();
        (&pipe).write_all(&pixels[..5]).unwrap();
        sender.store(header.pid, Ordering::Release);
        let (header, pixels) = frame(9, 3, 5);
        assert_eq!(header.send(&pipe, &pixels, &sender).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        taker.finish();
        assert_eq!(told.recv().unwrap().unwrap().text, "3 frames; 1 more were left out (--max-frames 3)");
        let mut names: Vec<_> =
            fs::read_dir(out.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["frame-00000.png", "frame-00001.png", "frame.2-00000.png"]);
        let file = io::BufReader::new(File::open(out.path().join("frame-00001.png")).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [3; 24]);
        let error = start(tempfile::tempdir().unwrap().path(), out.path()).err().expect("not again");
        assert!(error.to_string().contains("there already"), "{error}");
    }

    #[test]
    fn a_message_that_makes_no_sense_ends_the_frames() {
        let (folder, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (taker, told) = start(folder.path(), out.path()).unwrap();
        let mut pipe = OpenOptions::new().write(true).open(folder.path().join(PIPE)).unwrap();
        pipe.write_all(&[0xff; 16]).unwrap();
        assert!(told.recv().unwrap().is_err());
        drop(taker);
    }
}
