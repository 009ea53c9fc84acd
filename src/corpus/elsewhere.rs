//! Process functions for systems other than Linux: there is no memory limit, and ctrl-C ends everything at
//! once. Completed rows are kept.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The peak memory of this process, which is unknown here.
pub fn peak_bytes() -> Option<u64> {
    None
}

/// Has no effect: this process outlives its parent until its own limits end it.
pub fn end_with_parent() {}

/// Has no effect: there are no process groups.
pub fn in_own_group(_: &mut Command) {}

/// Has no effect: only the child itself is known, and the caller kills it.
///
/// # Errors
/// The call never fails.
pub fn end(_: &Child) -> io::Result<()> {
    Ok(())
}

/// Has no effect: there are no memory limits.
///
/// # Errors
/// The call never fails.
pub fn limit_memory(_: &Child, _: u64) -> io::Result<()> {
    Ok(())
}

/// The signal that ended a process, which is unknown here.
pub fn signal(_: ExitStatus) -> Option<(String, bool)> {
    None
}

/// A flag that is never set.
///
/// # Errors
/// The call never fails.
pub fn interrupts() -> io::Result<Arc<AtomicBool>> {
    Ok(Arc::new(AtomicBool::new(false)))
}
