//! Runs a program under `ptrace`, and lets one of its writes fail. This reaches every write of all its processes,
//! whatever library makes the system call.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// What happens to a write.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// The write fails with this error number.
    Error(i32),
    /// The write takes only the first half. A call without bytes is not changed.
    Short,
}

/// A system call that writes below the traced folder.
#[derive(Clone, Debug)]
pub struct Write {
    /// Name of the system call.
    pub call: &'static str,
    /// The file, from the traced folder.
    pub file: String,
}

/// Whether this system allows to trace a child.
pub fn is_allowed() -> bool {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let seized = ptrace::seize(Pid::from_raw(child.id() as i32), Options::empty());
    child.kill().unwrap();
    child.wait().unwrap();
    seized.is_ok()
}

/// Traces `command`. The write with this number to a file below `folder` has a fault. Returns the exit code of
/// the program and all writes below `folder`, in their order.
#[expect(clippy::zombie_processes, reason = "the loop waits for all that are traced")]
pub fn trace(
    command: &mut Command,
    folder: &Path,
    fault: Option<(usize, Fault)>,
) -> (Option<i32>, Vec<Write>) {
    let stopped = ["-c", "kill -STOP $$; exec \"$0\" \"$@\""];
    let mut shell = Command::new("sh");
    shell.args(stopped).arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdout(std::process::Stdio::null());
    shell.stderr(fs::File::options().append(true).open(folder.join("said")).unwrap());
    let child = shell.spawn().unwrap();
    let first = Pid::from_raw(child.id() as i32);
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    while !fs::read_to_string(format!("/proc/{first}/stat")).unwrap().contains(") T ") {
        std::thread::yield_now();
    }
    ptrace::seize(first, options).expect("this system allows to trace a child");
    let _woken = nix::sys::signal::kill(first, Signal::SIGCONT);
    let (mut writes, mut failing) = (Vec::new(), HashMap::new());
    // Only those that this thread traces: children of other tests are not waited for.
    let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
    let mut code = None;
    loop {
        let Ok(status) = waitpid(None, Some(flags)) else { return (code, writes) };
        match status {
            WaitStatus::Exited(pid, status) if pid == first => code = Some(status),
            WaitStatus::PtraceSyscall(pid) => {
                at_call(pid, folder, fault, &mut writes, &mut failing);
                let _gone = ptrace::syscall(pid, None);
            }
            WaitStatus::Stopped(pid, signal) => _ = ptrace::syscall(pid, Some(signal)),
            WaitStatus::PtraceEvent(pid, ..) => _ = ptrace::syscall(pid, None),
            _ => {}
        }
    }
}

/// Handles the begin or the end of a system call.
fn at_call(
    pid: Pid,
    folder: &Path,
    fault: Option<(usize, Fault)>,
    writes: &mut Vec<Write>,
    failing: &mut HashMap<Pid, i32>,
) {
    let Ok(mut regs) = ptrace::getregs(pid) else { return };
    if let Some(error) = failing.remove(&pid) {
        regs.rax = -i64::from(error) as u64;
        let _gone = ptrace::setregs(pid, regs);
        return;
    }
    // At the begin of a call, the kernel has set the result to this.
    if regs.rax as i64 != -i64::from(libc::ENOSYS) {
        return;
    }
    let at_descriptor = || fs::read_link(format!("/proc/{pid}/fd/{}", regs.rdi as i32)).ok();
    let at_path = |address: u64| {
        let mut bytes = [0; 256];
        let memory = fs::File::open(format!("/proc/{pid}/mem")).ok()?;
        let read = memory.read_at(&mut bytes, address).ok()?;
        let text = bytes[..read].split(|byte| *byte == 0).next()?;
        Some(std::path::PathBuf::from(String::from_utf8_lossy(text).into_owned()))
    };
    let (call, path) = match regs.orig_rax as i64 {
        libc::SYS_write => ("write", at_descriptor()),
        libc::SYS_pwrite64 => ("pwrite64", at_descriptor()),
        libc::SYS_writev => ("writev", at_descriptor()),
        libc::SYS_ftruncate => ("ftruncate", at_descriptor()),
        libc::SYS_openat if regs.rdx as i32 & libc::O_CREAT != 0 => ("openat", at_path(regs.rsi)),
        libc::SYS_rename => ("rename", at_path(regs.rdi)),
        libc::SYS_mkdir => ("mkdir", at_path(regs.rdi)),
        libc::SYS_mkdirat => ("mkdirat", at_path(regs.rsi)),
        libc::SYS_mknodat => ("mknodat", at_path(regs.rsi)),
        libc::SYS_linkat => ("linkat", at_path(regs.r10)),
        libc::SYS_symlinkat => ("symlinkat", at_path(regs.rdx)),
        libc::SYS_symlink => ("symlink", at_path(regs.rsi)),
        _ => return,
    };
    let Some(file) = path.and_then(|path| Some(path.strip_prefix(folder).ok()?.to_owned())) else { return };
    if let Some((number, fault)) = fault
        && number == writes.len()
    {
        match fault {
            Fault::Error(error) => {
                regs.orig_rax = u64::MAX;
                failing.insert(pid, error);
            }
            Fault::Short if matches!(call, "write" | "pwrite64") && regs.rdx > 1 => regs.rdx /= 2,
            Fault::Short => {}
        }
        let _gone = ptrace::setregs(pid, regs);
    }
    writes.push(Write { call, file: file.to_string_lossy().into_owned() });
}
