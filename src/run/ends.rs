//! Ends a run: if the program ends, if the launcher receives a signal, or if frames cannot be written. The
//! launcher waits for this and cleans up.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{self as masks, SigSet};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process, set_child_subreaper};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::descendants::descendants;
use super::frames::Received;
use a4emu_gpu::ambient;

/// Time that processes have to end after a signal, before they are killed.
const GRACE: Duration = Duration::from_millis(500);
/// Further time for the remaining frames and for processes that cannot be killed.
const LAST: Duration = Duration::from_millis(200);
/// Time between two checks of the processes that have to end.
const TICK: Duration = Duration::from_millis(20);

/// An event of a run.
pub enum Event {
    /// The launcher received a signal.
    Signal(i32),
    /// The program has ended.
    Program(io::Result<ExitStatus>),
    /// The last frame was received.
    Frames(anyhow::Result<Received>),
}

/// The result of a run.
pub struct Outcome {
    /// Status of the program. None if it did not end even after it was killed, for example because it
    /// belongs to another user.
    pub status: Option<ExitStatus>,
    /// Summary of the frames; none if they were not waited for.
    pub frames: Option<anyhow::Result<Received>>,
}

/// A run in progress.
pub struct Run {
    events: Receiver<Event>,
    status: Option<ExitStatus>,
    frames: Option<anyhow::Result<Received>>,
    /// Time at which remaining processes are killed.
    deadline: Option<Instant>,
}

impl Run {
    /// Makes a run that has not begun. Its events are sent to the sender.
    pub fn new() -> (Self, Sender<Event>) {
        let (sender, events) = channel();
        (Self { events, status: None, frames: None, deadline: None }, sender)
    }

    /// Runs `command` to its end.
    ///
    /// SIGTERM, SIGHUP, and frames that cannot be written end the program and all its descendants within a
    /// second. SIGINT and SIGQUIT are ignored here: the terminal sends them to the program too. When the
    /// program has ended, `frames_end` is called, and the remaining frames are waited for.
    ///
    /// # Errors
    /// The call fails if the program cannot be started.
    pub fn end(
        mut self,
        command: &mut Command,
        sender: Sender<Event>,
        frames_end: Option<impl Fn()>,
    ) -> io::Result<Outcome> {
        let mut signals = listen()?;
        // From here on, a descendant whose parent has ended becomes a child of this process and is found.
        // qemu-user does not have the call: it says EINVAL, and then such a descendant is not found.
        set_child_subreaper(Some(getpid()))
            .or_else(|error| if error == Errno::INVAL { Ok(()) } else { Err(error) })?;
        let child = command.spawn()?;
        wait_for(child, sender.clone())?;
        let hear = move || signals.forever().all(|signal| sender.send(Event::Signal(signal)).is_ok());
        ambient::spawn("a4emu-signals", hear)?;
        loop {
            match self.events.recv_timeout(if self.deadline.is_some() { TICK } else { Duration::MAX }) {
                Ok(Event::Signal(SIGTERM)) => self.tell(Signal::TERM),
                Ok(Event::Signal(SIGHUP)) => self.tell(Signal::HUP),
                Ok(Event::Program(status)) => {
                    self.status = Some(status?);
                    frames_end.iter().for_each(|end| end());
                }
                Ok(Event::Frames(told)) => {
                    if told.is_err() {
                        self.tell(Signal::TERM);
                    }
                    self.frames = Some(told);
                }
                Ok(Event::Signal(_)) | Err(_) => {}
            }
            if self.is_over(frames_end.is_some()) {
                return Ok(Outcome { status: self.status, frames: self.frames });
            }
        }
    }

    /// Sends a signal to all processes of the run and starts the time limit.
    fn tell(&mut self, signal: Signal) {
        self.deadline.get_or_insert_with(|| Instant::now() + GRACE);
        send_to_all(signal);
    }

    /// Whether the run is over. Kills processes that should have ended.
    fn is_over(&self, has_frames: bool) -> bool {
        let late = |time| self.deadline.is_some_and(|deadline| Instant::now() >= deadline + time);
        if late(Duration::ZERO) {
            send_to_all(Signal::KILL);
        }
        let ended = self.status.is_some() && (self.deadline.is_none() || descendants().is_empty());
        let put_out = !has_frames || self.frames.is_some();
        (ended && put_out) || late(LAST)
    }
}

/// The signals that the launcher handles. They are unblocked, since its parent may have blocked them.
fn listen() -> io::Result<Signals> {
    let minded = [SIGINT, SIGQUIT, SIGTERM, SIGHUP];
    let signals = Signals::new(minded)?;
    let numbers = minded.into_iter().filter_map(|number| masks::Signal::try_from(number).ok());
    SigSet::from_iter(numbers).thread_unblock()?;
    Ok(signals)
}

/// Starts a thread that waits for `child`.
fn wait_for(mut child: Child, sender: Sender<Event>) -> io::Result<()> {
    let wait = move || {
        // The send fails if the run is over.
        let _ = sender.send(Event::Program(child.wait()));
    };
    ambient::spawn("a4emu-wait", wait).map(drop)
}

/// Sends `signal` to all processes of the run.
fn send_to_all(signal: Signal) {
    for process in descendants() {
        // This only fails if the process has ended or belongs to another user.
        let _ = kill_process(process, signal);
    }
}
