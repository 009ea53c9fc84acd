//! Finds the submits that make a frame, and sends frames to the launcher.
//!
//! A render node has no ioctl for a buffer swap, so presentation is not visible. Only the rendering of
//! submits is. So a frame is the largest colour surface that a submit rendered (the last of equals), after
//! the submit. There are two exceptions. A submit that uses the buffer of the last frame without rendering
//! to it only copies it, like a read-back. And after a program has rendered to a buffer that can be
//! presented (made for scan-out, or exported), only such buffers count.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU32;

use a4emu_gpu::draw::rb::rendered::{Content, Written};
use a4emu_gpu::picture::{Picture, PixelType, largest};
use a4emu_gpu::settled::Synced;
use a4emu_process::frames::{Header, PIPE};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::bo::Bo;
use crate::ring::Job;

/// The launcher's pipe for frames.
pub struct Frames {
    pipe: File,
    /// The process that is sending a frame, or 0.
    sender: &'static AtomicU32,
    choice: Choice,
}

/// What a submit has made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// A frame, which was sent.
    Frame,
    /// No frame.
    Nothing,
}

/// The state from which the next frame is chosen.
#[derive(Default)]
struct Choice {
    /// Address of the last frame.
    last: Option<u32>,
    /// Whether a buffer that can be presented was rendered to.
    presents: bool,
}

impl Frames {
    /// Opens the pipe in the launcher's `folder`.
    ///
    /// # Errors
    /// The call fails if the pipe cannot be opened, or nobody reads from it.
    pub fn open(folder: &Path, sender: &'static AtomicU32) -> Result<Self, Errno> {
        // Without a reader the open fails at once and does not wait.
        let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let pipe = rustix::fs::open(folder.join(PIPE), flags, Mode::empty())?;
        rustix::fs::fcntl_setfl(&pipe, OFlags::empty())?;
        Ok(Self { pipe: pipe.into(), sender, choice: Choice::default() })
    }

    /// Sends the frame of `job`, submit `submit`, if it has made one.
    ///
    /// # Errors
    /// The call fails if the launcher has ended.
    pub fn take(&mut self, gpu: Synced<'_>, job: &Job, submit: u32) -> io::Result<Taken> {
        let rendered = gpu.pipeline.surfaces.iter();
        let rendered = rendered.filter(|s| s.submit == submit && s.content == Content::Color);
        let buffers: Vec<&Bo> = job.owners.iter().map(|(bo, _)| &**bo).collect();
        let frame = self.choice.frame(&rendered.copied().collect::<Vec<_>>(), &buffers);
        let picture = frame.and_then(|frame| Picture::of(&frame, gpu.memory()).ok());
        let Some(picture) = picture.filter(|picture| picture.kind() == PixelType::Rgba8) else {
            return Ok(Taken::Nothing);
        };
        let [width, height] = picture.size();
        let header = Header { pid: std::process::id(), submit, width, height };
        header.send(&self.pipe, &picture.pixels(), self.sender).map(|()| Taken::Frame)
    }
}

impl Choice {
    /// The frame among the surfaces that a submit with `buffers` has `rendered`.
    fn frame(&mut self, rendered: &[Written], buffers: &[&Bo]) -> Option<Written> {
        let holder = |address: u32| buffers.iter().find(|bo| bo.holds(address));
        let presented = |s: &&Written| s.address.narrow().and_then(holder).is_some_and(|bo| bo.can_present());
        self.presents |= rendered.iter().any(|s| presented(&s));
        let renders_to = |address: u32| rendered.iter().any(|s| s.address == address.into());
        let is_copy = self.last.is_some_and(|last| holder(last).is_some() && !renders_to(last));
        if is_copy && !self.presents {
            return None;
        }
        let candidates = rendered.iter().filter(|s| !self.presents || presented(s));
        let frame = *largest(candidates)?;
        self.last = frame.address.narrow();
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use a4emu_decoder::a4xx::enums::ColorFmt;
    use a4emu_gpu::a4xx::formats;
    use a4emu_shader::format::Swap;
    use a4emu_shader::format::arrangement::Arrangement;

    use super::*;
    use crate::arena::{Arena, END};
    use crate::ffi::pages::Region;

    fn surface(bo: &Bo, size: u32) -> Written {
        Written {
            submit: 0,
            draw: 0,
            address: bo.address.into(),
            width: size,
            height: size,
            pitch: 4 * size,
            format: formats::named_color(ColorFmt::RB4_R8G8B8A8_UNORM).expect("a format"),
            swap: Swap::WZYX,
            arrangement: Arrangement::PLAIN,
            content: Content::Color,
        }
    }

    #[test]
    fn a_frame_is_the_largest_surface_and_no_copy_of_the_one_before() {
        let region = Box::leak(Box::new(Region::new(END).unwrap()));
        let arena = Arc::new(Mutex::new(Arena::new(region)));
        let [screen, shadow, staging, shown] = [(); 4].map(|()| Bo::new(&arena, 1 << 20).unwrap());
        let of = |bo: &Bo, size| surface(bo, size);
        let mut choice = Choice::default();
        let first = choice
            .frame(&[of(&shadow, 64), of(&screen, 256), of(&staging, 1)], &[&shadow, &screen, &staging]);
        assert_eq!(first, Some(of(&screen, 256)), "the largest");
        assert_eq!(choice.frame(&[of(&staging, 256)], &[&screen, &staging]), None, "a read-back");
        assert_eq!(choice.frame(&[], &[&screen]), None, "nothing was rendered");
        let both = [of(&shadow, 256), of(&screen, 256)];
        assert_eq!(choice.frame(&both, &[&shadow, &screen]), Some(both[1]), "the last of equals");
        shown.note_presentable();
        let mixed = [of(&shown, 128), of(&screen, 256)];
        assert_eq!(choice.frame(&mixed, &[&screen, &shown]), Some(mixed[0]), "what can be presented counts");
        assert_eq!(choice.frame(&both, &[&shadow, &screen]), None, "and from then on nothing else");
        assert_eq!(choice.frame(&mixed[..1], &[&shown]), Some(mixed[0]));
    }
}
