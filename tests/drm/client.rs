//! A client of the device: raw ioctls through libc, as a driver makes them.
//!
//! The library hooks the functions of the C library, so this file must call those directly. It is the only
//! file of these tests with `unsafe`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// `_IOW('d', number, size)`.
const fn write(number: u64, size: u64) -> u64 {
    1 << 30 | size << 16 | 0x64 << 8 | number
}

/// `_IOWR('d', number, size)`.
pub const fn both(number: u64, size: u64) -> u64 {
    3 << 30 | size << 16 | 0x64 << 8 | number
}

// From drm.h and msm_drm.h, with the sizes of the C structures as numbers.
pub const VERSION: u64 = both(0x00, 64);
pub const GEM_CLOSE: u64 = write(0x09, 8);
pub const GEM_FLINK: u64 = both(0x0a, 8);
pub const GET_CAP: u64 = both(0x0c, 16);
pub const PRIME_HANDLE_TO_FD: u64 = both(0x2d, 12);
pub const PRIME_FD_TO_HANDLE: u64 = both(0x2e, 12);
pub const GET_PARAM: u64 = both(0x40, 24);
pub const GEM_NEW: u64 = both(0x42, 16);
pub const GEM_INFO: u64 = both(0x43, 24);
pub const GEM_CPU_PREP: u64 = write(0x44, 24);
pub const GEM_SUBMIT: u64 = both(0x46, 72);
pub const WAIT_FENCE: u64 = write(0x47, 32);
pub const GEM_MADVISE: u64 = both(0x48, 12);
pub const SUBMITQUEUE_NEW: u64 = both(0x4a, 12);
pub const SUBMITQUEUE_CLOSE: u64 = write(0x4b, 4);
pub const SYNCOBJ_CREATE: u64 = both(0xbf, 8);
pub const SYNCOBJ_HANDLE_TO_FD: u64 = both(0xc1, 16);
pub const SYNCOBJ_WAIT: u64 = both(0xc3, 32);
pub const SYNCOBJ_RESET: u64 = both(0xc4, 16);
pub const SYNCOBJ_SIGNAL: u64 = both(0xc5, 16);
pub const SYNCOBJ_TIMELINE_WAIT: u64 = both(0xca, 40);
pub const SYNCOBJ_QUERY: u64 = both(0xcb, 24);
pub const SYNCOBJ_TIMELINE_SIGNAL: u64 = both(0xcd, 24);
pub const SUBMITQUEUE_QUERY: u64 = write(0x4c, 24);

/// `MSM_BO_WC`.
pub const WC: u32 = 0x20000;
/// Pipe and queue flags of a submit.
pub const PIPE_3D0: u32 = 0x10;
/// `MSM_SUBMIT_FENCE_FD_OUT`.
pub const FENCE_FD_OUT: u32 = 0x2000_0000;
/// `MSM_SUBMIT_SYNCOBJ_OUT`.
pub const SYNCOBJ_OUT: u32 = 0x0400_0000;
/// `MSM_SUBMIT_BO_READ | MSM_SUBMIT_BO_WRITE`.
pub const READ_WRITE: u32 = 3;

/// Opens the render node.
pub fn open() -> File {
    OpenOptions::new().read(true).write(true).open("/dev/dri/renderD128").expect("the node opens")
}

/// Makes an ioctl with an argument of plain words.
pub fn ioctl<T: Copy>(fd: &File, request: u64, argument: &mut T) -> Result<(), i32> {
    // SAFETY: the tests pass arrays and structures at least as long as the request says.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), request as libc::Ioctl, ptr::from_mut(argument)) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)) }
}

/// Makes an ioctl with an invalid pointer.
pub fn ioctl_nowhere(fd: &File, request: u64) -> Option<i32> {
    // SAFETY: the test checks that the pointer is not dereferenced.
    let status = unsafe { libc::ioctl(fd.as_raw_fd(), request as libc::Ioctl, 8usize) };
    (status != 0).then(|| io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

/// The file of a descriptor that an ioctl returned.
pub fn file(fd: i32) -> File {
    // SAFETY: the ioctl made the descriptor for this process.
    unsafe { File::from_raw_fd(fd) }
}

/// A memory mapping.
pub struct Mapping {
    at: *mut u32,
    bytes: usize,
}

// SAFETY: the mapping is memory of the process.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `bytes` of `fd` at `offset`.
    pub fn new(fd: &File, bytes: usize, offset: u64) -> Result<Self, i32> {
        let prot = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the system chooses the address.
        let at = unsafe {
            libc::mmap(ptr::null_mut(), bytes, prot, libc::MAP_SHARED, fd.as_raw_fd(), offset as i64)
        };
        match at {
            libc::MAP_FAILED => Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)),
            at => Ok(Self { at: at.cast(), bytes }),
        }
    }

    /// Maps a file by a system call, which the library does not see.
    pub fn unseen(fd: &File, bytes: usize, offset: u64) -> Result<Self, i32> {
        let (prot, zero) = (libc::PROT_READ | libc::PROT_WRITE, ptr::null_mut::<u8>());
        // SAFETY: the system chooses the address.
        let at = unsafe {
            libc::syscall(libc::SYS_mmap, zero, bytes, prot, libc::MAP_SHARED, fd.as_raw_fd(), offset)
        };
        match at {
            -1 => Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)),
            at => Ok(Self { at: at as *mut u32, bytes }),
        }
    }

    /// Maps a file at a given address, in place of an existing mapping.
    pub fn fixed(fd: &File, bytes: usize, offset: u64, at: usize) -> Result<Self, i32> {
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        // SAFETY: the tests pass an address inside a mapping of theirs.
        let at = unsafe { libc::mmap(at as *mut _, bytes, prot, flags, fd.as_raw_fd(), offset as i64) };
        match at {
            libc::MAP_FAILED => Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)),
            at => Ok(Self { at: at.cast(), bytes }),
        }
    }

    /// Maps private memory.
    pub fn anonymous(bytes: usize) -> Self {
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: the system chooses the address.
        let at = unsafe { libc::mmap(ptr::null_mut(), bytes, prot, flags, -1, 0) };
        assert!(at != libc::MAP_FAILED);
        Self { at: at.cast(), bytes }
    }

    /// Address of the mapping.
    pub fn address(&self) -> usize {
        self.at as usize
    }

    /// Changes the size to `bytes`, or returns the error.
    pub fn resize(&mut self, bytes: usize) -> Result<(), i32> {
        // SAFETY: the mapping belongs to this value, and its new address is stored below.
        let at = unsafe { libc::mremap(self.at.cast(), self.bytes, bytes, libc::MREMAP_MAYMOVE) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error().raw_os_error().unwrap_or(0));
        }
        (self.at, self.bytes) = (at.cast(), bytes);
        Ok(())
    }

    /// Makes the mapping read-only. Returns whether it succeeded.
    pub fn protect(&self) -> bool {
        // SAFETY: the mapping belongs to this value.
        unsafe { libc::mprotect(self.at.cast(), self.bytes, libc::PROT_READ) == 0 }
    }

    /// Number of the mapping's pages that are resident.
    pub fn resident(&self) -> usize {
        let mut pages = vec![0u8; self.bytes.div_ceil(4096)];
        // SAFETY: the mapping belongs to this value, and `pages` has a byte for each page.
        let status = unsafe { libc::mincore(self.at.cast(), self.bytes, pages.as_mut_ptr()) };
        assert_eq!(status, 0);
        pages.iter().filter(|page| *page & 1 != 0).count()
    }

    /// Makes all pages resident. False if the system has no call for it.
    pub fn populate(&self) -> bool {
        // SAFETY: the mapping belongs to this value.
        unsafe { libc::madvise(self.at.cast(), self.bytes, libc::MADV_POPULATE_WRITE) == 0 }
    }

    /// Number of words in the mapping.
    pub fn words(&self) -> usize {
        self.bytes / 4
    }

    /// Reads word `index`.
    pub fn get(&self, index: usize) -> u32 {
        assert!(index < self.bytes / 4);
        // SAFETY: inside the mapping. The read is volatile because the GPU writes it.
        unsafe { self.at.add(index).read_volatile() }
    }

    /// Stores `words` from word `index` on.
    pub fn put(&self, index: usize, words: &[u32]) {
        assert!(index + words.len() <= self.bytes / 4);
        for (at, word) in words.iter().enumerate() {
            // SAFETY: inside the mapping.
            unsafe { self.at.add(index + at).write_volatile(*word) }
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and no pointer into it is left.
        unsafe { libc::munmap(self.at.cast(), self.bytes) };
    }
}

/// Runs `child` in a forked process. Returns its exit status.
pub fn fork(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs only the test's function and then ends. The test runs alone in its process, so
    // no other thread holds a lock.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(child()),
            pid => {
                let mut status = 0;
                libc::waitpid(pid, &mut status, 0);
                libc::WEXITSTATUS(status)
            }
        }
    }
}

/// A buffer and its mapping.
pub struct Buffer {
    pub handle: u32,
    pub address: u32,
    pub map: Mapping,
}

/// `MSM_GEM_NEW`.
pub fn gem_new(fd: &File, size: u64) -> Result<u32, i32> {
    let mut new = [size, u64::from(WC)];
    ioctl(fd, GEM_NEW, &mut new).map(|()| (new[1] >> 32) as u32)
}

/// `MSM_GEM_INFO`: `what` is 0 for the offset, 1 for the address.
pub fn gem_info(fd: &File, handle: u32, what: u32) -> Result<u64, i32> {
    let mut info = [u64::from(what) << 32 | u64::from(handle), 0, 0];
    ioctl(fd, GEM_INFO, &mut info).map(|()| info[1])
}

/// `GEM_CLOSE`.
pub fn gem_close(fd: &File, handle: u32) -> Result<(), i32> {
    ioctl(fd, GEM_CLOSE, &mut [handle, 0])
}

impl Buffer {
    /// Makes a new buffer of `bytes`.
    pub fn new(fd: &File, bytes: usize) -> Self {
        Self::of(fd, gem_new(fd, bytes as u64).expect("room"), bytes)
    }

    /// Maps the buffer of `handle`.
    pub fn of(fd: &File, handle: u32, bytes: usize) -> Self {
        let address = gem_info(fd, handle, 1).unwrap() as u32;
        let map = Mapping::new(fd, bytes, gem_info(fd, handle, 0).unwrap()).expect("maps");
        Self { handle, address, map }
    }
}

/// A command of a submit: buffer index, offset and size in bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Cmd {
    pub kind: u32,
    pub index: u32,
    pub offset: u32,
    pub size: u32,
    pub pad: u32,
    pub relocs_len: u32,
    pub relocs: u64,
}

/// A relocation.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Reloc {
    pub offset: u32,
    pub or: u32,
    pub shift: i32,
    pub index: u32,
    pub target_offset: u64,
}

/// A buffer of a submit.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Bo {
    pub flags: u32,
    pub handle: u32,
    pub presumed: u64,
}

/// `drm_msm_gem_submit`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Submit {
    pub flags: u32,
    pub fence: u32,
    pub bos_len: u32,
    pub cmds_len: u32,
    pub bos: u64,
    pub cmds: u64,
    pub fence_fd: i32,
    pub queue: u32,
    pub in_syncobjs: u64,
    pub out_syncobjs: u64,
    pub in_len: u32,
    pub out_len: u32,
    pub stride: u32,
    pub pad: u32,
}

impl Submit {
    /// A submit of `bos` and `cmds`, which must live until it is submitted.
    pub fn new(bos: &mut [Bo], cmds: &[Cmd]) -> Self {
        Self {
            flags: PIPE_3D0,
            bos_len: bos.len() as u32,
            cmds_len: cmds.len() as u32,
            bos: bos.as_mut_ptr() as u64,
            cmds: cmds.as_ptr() as u64,
            ..Self::default()
        }
    }

    /// Submits and waits for the end. Returns the submit with its fence.
    pub fn go(self, fd: &File) -> Result<Self, i32> {
        let posted = self.post(fd)?;
        // The wait fails if another thread has closed the queue or the device.
        let _ = posted.wait(fd, i64::MAX);
        Ok(posted)
    }

    /// Submits without waiting.
    pub fn post(mut self, fd: &File) -> Result<Self, i32> {
        ioctl(fd, GEM_SUBMIT, &mut self).map(|()| self)
    }

    /// Waits for the end until a time of the clock, in seconds.
    pub fn wait(&self, fd: &File, until: i64) -> Result<(), i32> {
        // Fence, padding, seconds, nanoseconds, queue.
        ioctl(fd, WAIT_FENCE, &mut [u64::from(self.fence), until as u64, 0, u64::from(self.queue)])
    }
}

/// Closes the descriptor `fd`.
pub fn close(fd: i32) {
    // SAFETY: the tests that close descriptors of the device have no others open.
    unsafe { libc::close(fd) };
}

/// Closes all descriptors from 3 on.
pub fn close_from_3() {
    // SAFETY: as in `close`.
    unsafe { libc::close_range(3, u32::MAX, 0) };
}

/// The descriptor for a child of [`vfork`] or for a signal handler.
static TARGET: AtomicI32 = AtomicI32::new(-1);

/// Runs `child` as a child of `vfork` does: in this process's memory, with descriptors of its own. The caller
/// waits for it.
pub fn vfork(fd: &File, child: extern "C" fn(*mut libc::c_void) -> i32) {
    TARGET.store(fd.as_raw_fd(), Ordering::Relaxed);
    let mut stack = vec![0u64; 1 << 15];
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack lives until the child ends, for which the call waits.
    unsafe {
        let top = stack.as_mut_ptr().add(stack.len());
        let pid = libc::clone(child, top.cast(), flags, ptr::null_mut());
        assert!(pid > 0);
        libc::waitpid(pid, ptr::null_mut(), libc::__WALL);
    }
}

/// A child for [`vfork`] that closes the device.
pub extern "C" fn closing(_: *mut libc::c_void) -> i32 {
    close(TARGET.load(Ordering::Relaxed));
    0
}

/// A child for [`vfork`] that closes all descriptors.
pub extern "C" fn closing_all(_: *mut libc::c_void) -> i32 {
    close_from_3();
    0
}

/// Number of times that a handler ran.
pub static HANDLED: AtomicU32 = AtomicU32::new(0);

/// Calls `handler` by a signal every `microseconds`; 0 ends that.
pub fn interrupt(fd: &File, microseconds: i64, handler: extern "C" fn(i32)) {
    TARGET.store(fd.as_raw_fd(), Ordering::Relaxed);
    let period = libc::timeval { tv_sec: 0, tv_usec: microseconds };
    let timer = libc::itimerval { it_interval: period, it_value: period };
    // SAFETY: the handlers below call only functions that POSIX allows in handlers.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGALRM, &action, ptr::null_mut());
        libc::setitimer(libc::ITIMER_REAL, &timer, ptr::null_mut());
    }
}

/// A handler that closes a descriptor of the device.
pub extern "C" fn on_signal_close(_: i32) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `dup` and `close` are async-signal-safe.
    close(unsafe { libc::dup(TARGET.load(Ordering::Relaxed)) });
}

/// A handler that opens another file and reads its status.
pub extern "C" fn on_signal_open(_: i32) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: `open`, `fstat` and `close` are async-signal-safe; `stat` is large enough.
    unsafe {
        let mut stat: libc::stat = std::mem::zeroed();
        let fd = libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY);
        libc::fstat(fd, &mut stat);
        libc::close(fd);
    }
}

/// A handler that forks.
pub extern "C" fn on_signal_fork(_: i32) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
    assert_eq!(fork(|| 7), 7);
}

/// Ends the process in one of the ways that skip `exit`.
pub fn leave(how: &str) -> ! {
    // SAFETY: the calls end the process, with any state.
    unsafe {
        match how {
            "quick_exit" => {
                unsafe extern "C" {
                    fn quick_exit(status: libc::c_int) -> !;
                }
                quick_exit(0)
            }
            "_exit" => libc::_exit(0),
            _ => {
                libc::kill(libc::getpid(), libc::SIGKILL);
                libc::_exit(1)
            }
        }
    }
}

/// Ends the process with `exit`.
pub fn exit() -> ! {
    std::process::exit(0)
}

/// Ways in which programs change the floating-point control of a thread.
pub const ODD_FLOATS: [&str; 5] = ["down", "up", "zero", "flush", "trap"];

/// MXCSR in one of the modes [`ODD_FLOATS`].
#[cfg(target_arch = "x86_64")]
fn odd(floats: &str) -> u32 {
    let plain = 0x1f80;
    match floats {
        "down" => plain | 0x2000,
        "up" => plain | 0x4000,
        "zero" => plain | 0x6000,
        "flush" => plain | 0x8040,
        _ => 0,
    }
}

/// Calls `work` in a floating-point mode, which new threads inherit, and then restores the usual mode.
#[cfg(target_arch = "x86_64")]
pub fn with_floats<R>(floats: &str, work: impl FnOnce() -> R) -> R {
    // SAFETY: sets a register of this thread to values without reserved bits.
    let set = |mxcsr: u32| unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr) };
    set(odd(floats));
    let result = work();
    set(0x1f80);
    result
}

/// Calls `work` with FPCR in one of the modes [`ODD_FLOATS`].
#[cfg(target_arch = "aarch64")]
pub fn with_floats<R>(floats: &str, work: impl FnOnce() -> R) -> R {
    let odd: u64 = match floats {
        "down" => 2 << 22,
        "up" => 1 << 22,
        "zero" => 3 << 22,
        "flush" => 1 << 24,
        _ => 0x1f << 8,
    };
    // SAFETY: sets a register of this thread to values without reserved bits.
    let set = |fpcr: u64| unsafe { std::arch::asm!("msr fpcr, {}", in(reg) fpcr) };
    set(odd);
    let result = work();
    set(0);
    result
}

/// Gives the process unusual settings that no variable sets: a file mode mask, a locale, blocked and ignored
/// signals, a small stack for threads, no core files.
pub fn surround() {
    let small = libc::rlimit { rlim_cur: 1 << 16, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the calls access only the memory that is passed to them.
    unsafe {
        libc::umask(0o777);
        libc::setlocale(libc::LC_ALL, c"".as_ptr());
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, ptr::null_mut());
        for signal in [libc::SIGPIPE, libc::SIGCHLD, libc::SIGHUP, libc::SIGFPE, libc::SIGXFSZ] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::setrlimit(libc::RLIMIT_STACK, &small);
        libc::alarm(60);
    }
}

/// Gives signals that end a program their default action in `command`. A shell starts its background jobs with
/// SIGINT and SIGQUIT ignored, `nohup` with SIGHUP, and their children inherit that.
pub fn end_by_signals(command: &mut std::process::Command) -> &mut std::process::Command {
    use std::os::unix::process::CommandExt;
    let reset = || {
        for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
            // SAFETY: the default action runs no code of this program.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: a forked child may call `signal`, and makes no other call before it becomes the program.
    unsafe { command.pre_exec(reset) }
}

/// Starts a program with blocked termination signals.
pub fn start_with_blocked_signals(command: &mut std::process::Command) -> std::process::Child {
    use std::os::unix::process::CommandExt;
    let block = || {
        // SAFETY: the set is filled before use, and a forked child may make both calls.
        unsafe {
            let mut ends: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut ends);
            for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
                libc::sigaddset(&mut ends, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &ends, ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: the child makes only these calls before it becomes the program.
    unsafe { end_by_signals(command).pre_exec(block) }.spawn().expect("starts")
}

/// Ends the main thread of this process, but not the process.
pub fn end_main_thread() {
    // SAFETY: the main thread holds no resources that other threads need.
    unsafe { libc::syscall(libc::SYS_exit, 0) };
}
