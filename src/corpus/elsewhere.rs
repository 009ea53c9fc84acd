//! The same where it is not Linux: without limits of memory, and ctrl-C ends everything at once. What was done
//! is kept there as well.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Nobody says.
pub fn peak_bytes() -> Option<u64> {
    None
}

/// It outlives its parent until its own limits end it.
pub fn end_with_parent() {}

/// There are no groups.
pub fn in_own_group(_: &mut Command) {}

/// Nothing but the process itself, which the caller ends, is known.
///
/// # Errors
/// None.
pub fn end(_: &Child) -> io::Result<()> {
    Ok(())
}

/// There are no limits.
///
/// # Errors
/// None.
pub fn limit_memory(_: &Child, _: u64) -> io::Result<()> {
    Ok(())
}

/// There are no signals.
pub fn signal(_: ExitStatus) -> Option<(String, bool)> {
    None
}

/// Nobody sets it.
///
/// # Errors
/// None.
pub fn interrupts() -> io::Result<Arc<AtomicBool>> {
    Ok(Arc::new(AtomicBool::new(false)))
}
