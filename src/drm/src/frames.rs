//! Which submits show a frame, and the frame's way to the launcher.
//!
//! Nothing tells a render node that a program presents: there is no ioctl of a swap. What can be
//! seen is what submits render. So a frame is the largest colour surface that a submit rendered, the
//! last of equals, as the submit leaves it, but for two things. A submit that uses the buffer of the
//! frame before without rendering to it only copies it, as a read-back does. And once a program has
//! rendered to a buffer that can be presented (made for scan-out, or exported), nothing else counts.

use std::fs::File;
use std::path::Path;

use a4emu::draw::rb::rendered::{Content, Written};
use a4emu::gpu::Gpu;
use a4emu::output::picture::{Kind, Picture};
use a4emu::run::frames::{Header, PIPE};
use rustix::fs::{Mode, OFlags};

use crate::engine::Job;

/// The launcher's pipe for frames, and what was presented last.
pub struct Frames {
    pipe: File,
    /// Address of the last frame.
    last: Option<u32>,
    /// A buffer that can be presented was rendered to.
    presents: bool,
}

impl Frames {
    /// Opens the pipe in the launcher's `folder`, if it has made one.
    pub fn open(folder: &Path) -> Option<Self> {
        // Without a reader there is nobody to wait for.
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let pipe = rustix::fs::open(folder.join(PIPE), flags, Mode::empty()).ok()?;
        rustix::fs::fcntl_setfl(&pipe, OFlags::empty()).ok()?;
        Some(Self { pipe: pipe.into(), last: None, presents: false })
    }

    /// Sends the frame that `job`, submit `submit`, has made, if it has made one. Fails when the
    /// launcher is gone.
    pub fn take(&mut self, gpu: &Gpu, job: &Job, submit: u32) -> std::io::Result<()> {
        let rendered = gpu.pipeline.surfaces.iter();
        let rendered = rendered.filter(|s| s.submit == submit && s.content == Content::Color);
        let Some(frame) = self.frame(&rendered.copied().collect::<Vec<_>>(), job) else { return Ok(()) };
        let Ok(picture) = Picture::of(&frame, &gpu.mem) else { return Ok(()) };
        self.last = Some(frame.address);
        if picture.kind() != Kind::Rgba8 {
            return Ok(());
        }
        let [width, height] = picture.size();
        Header { pid: std::process::id(), submit, width, height }.send(&self.pipe, &picture.pixels())
    }

    /// The surface among `rendered`, of one submit, that is a frame.
    fn frame(&mut self, rendered: &[Written], job: &Job) -> Option<Written> {
        let can_present =
            |s: &&Written| job.owners.iter().any(|(bo, _)| bo.holds(s.address) && bo.can_present());
        let presented: Vec<Written> = rendered.iter().filter(can_present).copied().collect();
        self.presents |= !presented.is_empty();
        let candidates = if self.presents { &presented } else { rendered };
        let copied = |address| {
            let uses = job.owners.iter().any(|(bo, _)| bo.holds(address));
            uses && rendered.iter().all(|s| s.address != address)
        };
        if !self.presents && self.last.is_some_and(copied) {
            return None;
        }
        candidates.iter().max_by_key(|s| u64::from(s.width) * u64::from(s.height)).copied()
    }
}
