//! The state of an open of the KGSL device: memory objects and contexts.

use rustix::io::Errno;

use super::args::ctx;
use super::objects::Objects;
use crate::ids::Ids;

/// Most contexts of a process (`KGSL_MAX_CONTEXTS_PER_PROC`).
const MOST: usize = 200;

/// The state of one open.
pub struct KgslFile {
    /// Memory objects.
    pub objects: Objects,
    /// Contexts by id.
    contexts: Ids<Context>,
}

/// Why a context lost work: `enum kgsl_ctx_reset_stat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reset {
    /// The context lost no work.
    #[default]
    None,
    /// Its own commands did not end.
    Guilty,
}

impl Reset {
    /// The kernel's number.
    pub fn number(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Guilty => 1,
        }
    }
}

/// A context: a queue of commands with time stamps.
#[derive(Debug, Default)]
pub struct Context {
    flags: u32,
    /// Time stamp of the last command.
    pub queued: u32,
    /// Time stamp of the last command that has ended.
    pub retired: u32,
    /// Whether commands of it did not end. It takes no more then.
    pub is_invalid: bool,
    /// What a query of it says, once.
    pub reset: Reset,
}

/// Whether the time stamp `a` is later than `b`. Time stamps wrap.
pub fn is_later(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

impl Context {
    /// Whether the program chooses time stamps.
    pub fn chooses_timestamps(&self) -> bool {
        self.flags & ctx::USER_GENERATED_TS != 0
    }

    /// Begins a command. Returns its time stamp: the next one, or that which the program `chose`.
    ///
    /// # Errors
    /// The call fails with `ERANGE` for a chosen time stamp that is not later than the last, and with `EDEADLK` if commands
    /// of the context did not end.
    pub fn begin(&mut self, chose: u32) -> Result<u32, Errno> {
        if self.is_invalid {
            return Err(Errno::DEADLK);
        }
        let next = if self.chooses_timestamps() { chose } else { self.queued.wrapping_add(1) };
        if !is_later(next, self.queued) {
            return Err(Errno::RANGE);
        }
        self.queued = next;
        Ok(next)
    }

    /// Whether the command with this time stamp has ended. No command ends in an invalid context any more.
    pub fn has_ended(&self, timestamp: u32) -> bool {
        self.is_invalid || !is_later(timestamp, self.retired)
    }

    /// Whether the time stamp is of no command yet, and will not be waited for.
    pub fn is_future(&self, timestamp: u32) -> bool {
        !self.chooses_timestamps() && is_later(timestamp, self.queued)
    }
}

impl KgslFile {
    /// Makes an open with these objects.
    pub fn new(objects: Objects) -> Self {
        Self { objects, contexts: Ids::default() }
    }

    /// Adds a context. Returns its id.
    ///
    /// # Errors
    /// The call fails with `ENOSPC` if there are too many.
    pub fn add_context(&mut self, flags: u32) -> Result<u32, Errno> {
        if self.contexts.iter().count() >= MOST {
            return Err(Errno::NOSPC);
        }
        Ok(self.contexts.add(Context { flags, ..Context::default() }))
    }

    /// Removes a context.
    ///
    /// # Errors
    /// The call fails with `EINVAL` for a bad id.
    pub fn remove_context(&mut self, id: u32) -> Result<(), Errno> {
        self.contexts.remove(id).map(drop).ok_or(Errno::INVAL)
    }

    /// The context with this id.
    ///
    /// # Errors
    /// The call fails with `EINVAL` for a bad id.
    pub fn context(&mut self, id: u32) -> Result<&mut Context, Errno> {
        self.contexts.get_mut(id).ok_or(Errno::INVAL)
    }

    /// Ends the command of a context with this time stamp. Its commands did not end by themselves if it `hung`.
    pub fn end(&mut self, context: u32, timestamp: u32, hung: Reset) {
        // The program may have destroyed it.
        let Some(context) = self.contexts.get_mut(context) else { return };
        context.retired = timestamp;
        if hung == Reset::Guilty {
            (context.is_invalid, context.reset) = (true, Reset::Guilty);
        }
    }

    /// Called in a forked child: commands of the parent count as ended.
    pub fn part_from_parent(&mut self) {
        self.objects.part_from_parent();
        self.contexts.iter_mut().for_each(|context| context.retired = context.queued);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_count_up_or_are_chosen() {
        let mut context = Context { queued: u32::MAX - 1, retired: u32::MAX - 1, ..Context::default() };
        assert_eq!([context.begin(7), context.begin(7)], [Ok(u32::MAX), Ok(0)]);
        assert!(!context.has_ended(0) && context.has_ended(context.retired));
        assert!(context.is_future(1) && !context.is_future(0));
        let mut chosen = Context { flags: ctx::USER_GENERATED_TS, ..Context::default() };
        assert_eq!([chosen.begin(5), chosen.begin(5), chosen.begin(9)], [Ok(5), Err(Errno::RANGE), Ok(9)]);
        assert!(!chosen.is_future(100));
        chosen.is_invalid = true;
        assert!(chosen.begin(10) == Err(Errno::DEADLK) && chosen.has_ended(9));
    }
}
