//! How many connections there are, and how many questions are worked on at once. Browsers open more connections than they
//! use: a connection that asks nothing takes no turn from those that ask.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Connections that there may be, each of which has a thread. Of more, the one that has not asked for longest ends.
const CONNECTIONS: usize = 256;

/// Questions that are worked on at once.
const TURNS: usize = 16;

/// Where connections wait.
#[derive(Debug)]
pub struct Desk {
    most: usize,
    state: Mutex<State>,
    free: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Connections so far.
    next: u64,
    /// Connections that there are.
    open: usize,
    /// Those that have not asked yet, the oldest first.
    silent: BTreeMap<u64, TcpStream>,
    /// Questions that are worked on.
    turns: usize,
}

/// A connection; it is one less when this goes.
#[derive(Debug)]
pub struct Visit<'d> {
    desk: &'d Desk,
    number: u64,
}

/// A question that is worked on.
pub struct Turn<'d>(&'d Desk);

impl Default for Desk {
    fn default() -> Self {
        Self::of(CONNECTIONS)
    }
}

impl Desk {
    fn of(most: usize) -> Self {
        Self { most, state: Mutex::default(), free: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a connection in; if there are too many, at the cost of one that has asked nothing. Nothing if all have.
    pub fn visit(&self, stream: &TcpStream) -> Option<Visit<'_>> {
        let mut state = self.state();
        if state.open >= self.most {
            let (_, oldest) = state.silent.pop_first()?;
            // Its thread sees the end; if it is gone already, so is the connection.
            let _gone = oldest.shutdown(Shutdown::Both);
        }
        let number = state.next;
        state.silent.insert(number, stream.try_clone().ok()?);
        (state.next, state.open) = (number + 1, state.open + 1);
        Some(Visit { desk: self, number })
    }
}

impl<'d> Visit<'d> {
    /// It has asked, or never will.
    pub fn asked(&mut self) {
        self.desk.state().silent.remove(&self.number);
    }

    /// Waits until its question can be worked on.
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
            (client, listener.accept().expect("a client").0)
        };
        let all: Vec<(TcpStream, TcpStream)> = (0..4).map(|_| connect()).collect();
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
