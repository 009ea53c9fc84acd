//! How a run ends: its program does, somebody tells the launcher to end, or frames cannot be put out. The launcher stays
//! until then, and cleans up.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use nix::sys::signal::{self as masks, SigSet};
use rustix::process::{Signal, getpid, kill_process, set_child_subreaper};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::descendants::descendants;
use a4emu_gpu::ambient;

/// How long processes that are told to end may take, before they are killed.
const GRACE: Duration = Duration::from_millis(500);
/// How long the frames that are left may take after that, and what cannot be killed is waited for.
const LAST: Duration = Duration::from_millis(200);
/// How often the processes that are to end are looked at.
const TICK: Duration = Duration::from_millis(20);

/// What happens to a run.
pub enum Event {
    /// A signal came for the launcher.
    Signal(i32),
    /// The program has ended.
    Program(io::Result<ExitStatus>),
    /// There are no more frames; what became of them, in words.
    Frames(anyhow::Result<String>),
}

/// What became of a run.
pub struct Outcome {
    /// The program's; nothing if it did not even end when it was killed, as one of somebody else's does not.
    pub status: Option<ExitStatus>,
    /// Of its frames; nothing if they were not waited for.
    pub frames: Option<anyhow::Result<String>>,
}

/// A run that goes on.
pub struct Run {
    events: Receiver<Event>,
    status: Option<ExitStatus>,
    frames: Option<anyhow::Result<String>>,
    /// When everything that is to end is killed.
    deadline: Option<Instant>,
}

impl Run {
    /// One that has not begun; events go to the sender.
    pub fn new() -> (Self, Sender<Event>) {
        let (sender, events) = channel();
        (Self { events, status: None, frames: None, deadline: None }, sender)
    }

    /// Runs `command` to its end. SIGTERM and SIGHUP, and frames that cannot be put out, end the program and all processes
    /// that it has started, within a second; SIGINT and SIGQUIT come from the terminal, which sends them to the program
    /// as well. When the program has ended, `frames_end` says that there will be no more frames, and they are waited for.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn end(
        mut self,
        command: &mut Command,
        sender: Sender<Event>,
        frames_end: Option<impl Fn()>,
    ) -> io::Result<Outcome> {
        let mut signals = listen()?;
        // A process whose parent has ended is a child of this one from then on, and is found.
        set_child_subreaper(Some(getpid()))?;
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

    /// Tells all processes of the run to end.
    fn tell(&mut self, signal: Signal) {
        self.deadline.get_or_insert_with(|| Instant::now() + GRACE);
        send_to_all(signal);
    }

    /// Whether there is nothing to wait for any more. Kills what should have ended.
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

/// The signals that the launcher minds, whatever it was started with: who starts it may have blocked them.
fn listen() -> io::Result<Signals> {
    let minded = [SIGINT, SIGQUIT, SIGTERM, SIGHUP];
    let signals = Signals::new(minded)?;
    let numbers = minded.into_iter().filter_map(|number| masks::Signal::try_from(number).ok());
    SigSet::from_iter(numbers).thread_unblock()?;
    Ok(signals)
}

/// Has a thread wait for `child`.
fn wait_for(mut child: Child, sender: Sender<Event>) -> io::Result<()> {
    let wait = move || {
        // Nobody hears it if the run is over.
        let _ = sender.send(Event::Program(child.wait()));
    };
    ambient::spawn("a4emu-wait", wait).map(drop)
}

/// Sends `signal` to all processes of the run.
fn send_to_all(signal: Signal) {
    for process in descendants() {
        // Fails only if it has ended, or belongs to somebody else.
        let _ = kill_process(process, signal);
    }
}
