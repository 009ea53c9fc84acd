//! Limits the number of connections, and of requests that are processed at once. Browsers open more
//! connections than they use. A connection without a request takes no turn.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum number of connections, each with a thread. If there are more, the one that has waited longest
/// without a request ends. Connections take at most half of the files that the process may have open: answers
/// need files too.
const CONNECTIONS: usize = 256;

/// How long a new connection waits for the end of one that was closed for it. Its thread ends at once, unless the machine
/// is busy; until then it holds a file.
const PATIENCE: Duration = Duration::from_secs(1);

/// Maximum number of requests that are processed at once.
const TURNS: usize = 16;

/// The shared state of all connections.
#[derive(Debug)]
pub struct Desk {
    most: usize,
    state: Mutex<State>,
    free: Condvar,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Number of connections so far.
    next: u64,
    /// Number of open connections.
    open: usize,
    /// Connections without a request so far, the oldest first.
    silent: BTreeMap<u64, Arc<TcpStream>>,
    /// Number of requests in progress.
    turns: usize,
}

/// An open connection. It is counted until it is dropped.
#[derive(Debug)]
pub struct Visit<'d> {
    desk: &'d Desk,
    number: u64,
}

/// The turn of a request in progress.
pub struct Turn<'d>(&'d Desk);

impl Default for Desk {
    fn default() -> Self {
        Self::of(most_files().map_or(CONNECTIONS, |files| (files / 2).clamp(1, CONNECTIONS)))
    }
}

/// The number of files that this process may have open, if there is a limit.
#[cfg(target_os = "linux")]
fn most_files() -> Option<usize> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|files| usize::try_from(files).ok())
}

#[cfg(not(target_os = "linux"))]
fn most_files() -> Option<usize> {
    None
}

impl Desk {
    fn of(most: usize) -> Self {
        Self { most, state: Mutex::default(), free: Condvar::new(), ended: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection. If there are too many, one without a request is closed. `None` if all have a
    /// request.
    pub fn visit(&self, stream: &Arc<TcpStream>) -> Option<Visit<'_>> {
        let mut state = self.state();
        if state.open >= self.most {
            if !state.dismiss() {
                return None;
            }
            let is_full = |state: &mut State| state.open >= self.most;
            let ended = self.ended.wait_timeout_while(state, PATIENCE, is_full);
            (state, _) = ended.unwrap_or_else(PoisonError::into_inner);
        }
        let number = state.next;
        state.silent.insert(number, Arc::clone(stream));
        (state.next, state.open) = (number + 1, state.open + 1);
        Some(Visit { desk: self, number })
    }

    /// Closes the oldest connection without a request, if there is one.
    pub fn dismiss(&self) {
        self.state().dismiss();
    }
}

impl State {
    /// Closes the oldest connection without a request. False if there is none.
    fn dismiss(&mut self) -> bool {
        let Some((_, oldest)) = self.silent.pop_first() else { return false };
        // The thread of that connection sees its end. If the shutdown fails, the connection is already closed.
        let _gone = oldest.shutdown(Shutdown::Both);
        true
    }
}

impl<'d> Visit<'d> {
    /// Marks that the request has arrived, or never will.
    pub fn asked(&mut self) {
        self.desk.state().silent.remove(&self.number);
    }

    /// Waits until the request can be processed.
    pub fn turn(&self) -> Turn<'d> {
        let busy = |state: &mut State| state.turns >= TURNS;
        let state = self.desk.free.wait_while(self.desk.state(), busy);
        state.unwrap_or_else(PoisonError::into_inner).turns += 1;
        Turn(self.desk)
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        self.asked();
        self.desk.state().open -= 1;
        self.desk.ended.notify_one();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state().turns -= 1;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn one_too_many_ends_the_oldest_that_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let desk = Desk::of(2);
        let connect = || {
            let client = TcpStream::connect(address).expect("it listens");
            (client, Arc::new(listener.accept().expect("a client").0))
        };
        let all: Vec<(TcpStream, Arc<TcpStream>)> = (0..4).map(|_| connect()).collect();
        let mut first = desk.visit(&all[0].1).expect("room");
        let second = desk.visit(&all[1].1).expect("room");
        first.asked();
        let mut third = desk.visit(&all[2].1).expect("the second one's place");
        assert_eq!((&all[1].0).read(&mut [0]).expect("its end"), 0);
        drop(second);
        third.asked();
        assert!(desk.visit(&all[3].1).is_none(), "both have asked");
        drop(third);
        assert!(desk.visit(&all[3].1).is_some());
    }
}
