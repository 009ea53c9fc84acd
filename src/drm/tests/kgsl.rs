//! Runs random sequences of ioctls on the KGSL device in this process. Each call must return, and none may
//! allocate memory for a count whose entries it has not read.
//!
//! Between the calls, objects are mapped and unmapped by system calls that the library does not see. Arguments
//! are mostly valid, with some fields changed.

#![cfg(target_os = "linux")]

#[path = "../../../tests/fuzz/choices.rs"]
mod choices;
mod measured;

use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::null_mut;
use std::time::Duration;

use a4emu_drm::arena::PAGE;
use a4emu_drm::ffi::user;
use a4emu_drm::kgsl::args;
use a4emu_drm::node;
use a4emu_process::ledger;
use bolero::check;
use bytemuck::{NoUninit, bytes_of};
use choices::Choices;
use measured::{GUARD, SCRATCH, measured, scratch};
use rustix::fs::MemfdFlags;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Run time under `cargo test`.
const TIME: Duration = Duration::from_secs(2);
/// Work limit of a submit, in units.
const MAX_WORK: &str = "4000000";
/// Largest object that is not refused, in bytes.
const OBJECT: usize = 1 << 18;
/// Words of a command buffer: packets without an effect, a store, a call, a wait.
const WORDS: [u32; 6] = [0x7010_0000, 0x703d_8003, 0x70bf_8003, 0x703c_8006, 0x7046_0001, 0x4800_0001];

/// A sequence of ioctls on two opens.
struct Sequence<'a> {
    opens: [OwnedFd; 2],
    scratch: u64,
    choices: Choices<'a>,
    /// Ids that were given out.
    ids: Vec<u32>,
    /// Mappings: address and length.
    mapped: Vec<(usize, usize)>,
}

impl Sequence<'_> {
    fn small(&mut self) -> u32 {
        self.choices.below(5) as u32
    }

    fn id(&mut self) -> u32 {
        match self.choices.below(8) {
            0 => self.small(),
            _ => self.choices.of(&self.ids).copied().unwrap_or(1),
        }
    }

    /// An address, mostly of an object.
    fn address(&mut self) -> u64 {
        let at = self.choices.of(&self.mapped).map_or(0, |(at, _)| *at as u64);
        match self.choices.below(8) {
            0 => u64::MAX << self.choices.below(50),
            1 => 0x5_0000_0000 + u64::from(self.id()) * PAGE,
            _ => at + 4 * self.choices.below(64) as u64,
        }
    }

    /// Writes `row` to the scratch area. Returns a pointer to it, or a bad one.
    fn table<T: NoUninit>(&mut self, row: T) -> u64 {
        let at = self.scratch + 0x1000 + 8 * self.choices.below(0x400) as u64;
        user::write_bytes(at, bytes_of(&row)).expect("the scratch");
        match self.choices.below(16) {
            0 => 0,
            1 => self.scratch + SCRATCH as u64 - 8 * self.choices.below(4) as u64,
            _ => at,
        }
    }

    fn count(&mut self) -> u32 {
        match self.choices.below(8) {
            0 => u32::MAX >> self.choices.below(24),
            1 => 0,
            _ => 1,
        }
    }

    fn command(&mut self) -> args::GpuCommand {
        let (gpuaddr, size) = (self.address(), 4 * self.choices.below(64) as u64);
        let flags = 1 << self.choices.below(5);
        let object = args::CommandObject { offset: 0, gpuaddr, size, flags, id: self.id() };
        let on = args::ContextTimestamp { context_id: 1 + self.small() / 4, timestamp: self.small() };
        let (private, kind) = (self.table(on), self.small());
        let point = args::CommandSyncpoint { private, size: 8, kind, pad: 0 };
        args::GpuCommand {
            flags: [0, 0, 0, 2, 0x400][self.choices.below(5)],
            cmdlist: self.table(object),
            cmdsize: 32,
            numcmds: self.count(),
            objlist: self.table(object),
            objsize: 32,
            numobjs: self.count() / 2,
            synclist: self.table(point),
            syncsize: 24,
            numsyncs: self.count() / 2,
            context_id: 1 + self.small() / 4,
            timestamp: self.small(),
        }
    }

    /// A number and a valid argument for it.
    fn meant(&mut self) -> (u8, Vec<u8>) {
        let (id, context_id, timestamp) = (self.id(), 1 + self.small() / 4, self.small());
        let (gpuaddr, flags) = (self.address(), if self.small() > 0 { 1 << 28 } else { 0 });
        match self.choices.below(16) {
            0..3 => {
                let size = self.choices.below(OBJECT) as u64;
                (0x45, bytes_of(&args::GpuobjAlloc { size, flags, ..Default::default() }).to_vec())
            }
            3 => (0x34, bytes_of(&args::GpumemAllocId { size: PAGE, ..Default::default() }).to_vec()),
            4..8 => (0x4a, bytes_of(&self.command()).to_vec()),
            8 => (0x46, bytes_of(&args::GpuobjFree { id, ..Default::default() }).to_vec()),
            9 => (0x47, bytes_of(&args::GpuobjInfo { id, gpuaddr, ..Default::default() }).to_vec()),
            10 => {
                let flags = 0x12 | (0x80 * (self.small() / 3));
                (0x13, bytes_of(&args::ContextCreate { flags, drawctxt_id: 0 }).to_vec())
            }
            11 => (0x07, bytes_of(&args::WaitTimestamp { context_id, timestamp, timeout: 1 }).to_vec()),
            12 => (0x21, bytes_of(&args::SharedmemFree { gpuaddr }).to_vec()),
            13 => {
                let (kind, sizebytes) = (self.choices.below(0x34) as u32, 4 * u64::from(self.small()));
                let (value, number) = (self.table([1u64; 6]), [0x02, 0x32][self.choices.below(2)]);
                (number, bytes_of(&args::Property { kind, pad: 0, value, sizebytes }).to_vec())
            }
            14 => {
                let private = self.table(0u64);
                let event = args::TimestampEvent { kind: 2, timestamp, context_id, pad: 0, private, len: 4 };
                (0x33, bytes_of(&event).to_vec())
            }
            _ => {
                let row: Vec<u8> = (0..9).flat_map(|_| self.table(id).to_le_bytes()).collect();
                (self.choices.below(0x60) as u8, row)
            }
        }
    }

    /// Maps an object, or unmaps a part of one.
    fn remap(&mut self) {
        let at = self.choices.below(self.mapped.len() + 1);
        if at < self.mapped.len() && self.choices.below(2) == 0 {
            let (start, len) = self.mapped.swap_remove(at);
            let len = if self.choices.below(2) == 0 { PAGE as usize } else { len };
            // SAFETY: a mapping of this sequence, which nothing of this program uses.
            unsafe { munmap(start as *mut _, len) }.expect("it was mapped");
            return;
        }
        let (id, len) = (self.id(), PAGE as usize * (1 + self.choices.below(4)));
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let fd = &self.opens[usize::from(self.small() == 0)];
        // SAFETY: the system chooses free addresses.
        let map = unsafe { mmap(null_mut(), len, prot, MapFlags::SHARED, fd, u64::from(id) * PAGE) };
        let Ok(start) = map else { return };
        let start = start as usize;
        let mut words = Vec::new();
        for _ in 0..16 {
            let word = match self.choices.below(3) {
                0 => self.choices.of(&WORDS).copied().unwrap_or(0),
                1 => self.address() as u32,
                _ => (self.address() >> 32) as u32,
            };
            words.extend(word.to_le_bytes());
        }
        // A mapping may begin behind the end of the file.
        _ = user::write_bytes(start as u64, &words);
        self.mapped.push((start, len));
    }

    /// Runs one ioctl, valid or not.
    fn step(&mut self) {
        let (number, mut bytes) = self.meant();
        for _ in 0..self.choices.below(8).saturating_sub(5) {
            let at = 4 * self.choices.below(bytes.len() / 4);
            let old = u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
            // Halves of pointers are not changed, since they could then point into this process.
            if old < GUARD as u32 {
                bytes[at..at + 4].copy_from_slice(&self.choices.near(old).to_le_bytes());
            }
        }
        if number == 0x07 {
            // The kernel takes 0 for no limit.
            bytes[8..12].copy_from_slice(&1u32.to_le_bytes());
        }
        user::write_bytes(self.scratch, &bytes).expect("the scratch");
        let size = if self.choices.below(16) == 0 { self.choices.below(1 << 14) } else { bytes.len() };
        let request = 3 << 30 | (size as u64) << 16 | u64::from(args::TYPE) << 8 | u64::from(number);
        let fd = self.opens[usize::from(self.small() == 0)].as_raw_fd();
        measured(|| node::ioctl(fd, request, self.scratch), || format!("{request:#x}: {bytes:02x?}"));
        if number == 0x45 {
            let mut id = [0; 4];
            user::read_bytes(self.scratch + 32, &mut id).expect("the scratch");
            self.ids.push(u32::from_le_bytes(id));
        }
    }
}

#[test]
fn kgsl() {
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("kgsl.{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    ledger::make(&folder).expect("a ledger");
    // SAFETY: this is the only test here, and no other thread reads the environment.
    unsafe {
        std::env::set_var("A4EMU_MAX_WORK", MAX_WORK);
        std::env::set_var("A4EMU_GPU", "630");
        // As under a launcher: otherwise the device would print its summary.
        std::env::set_var("A4EMU_FOLDER", &folder);
    }
    let scratch = scratch();
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        user::write_bytes(scratch, &[0; SCRATCH]).expect("the scratch");
        let open = || node::open_kgsl(MemfdFlags::CLOEXEC).expect("the device");
        let (opens, choices) = ([open(), open()], Choices::new(input));
        let mut sequence = Sequence { opens, scratch, choices, ids: Vec::new(), mapped: Vec::new() };
        for _ in 0..2 + sequence.choices.below(40) {
            sequence.step();
            if sequence.choices.below(3) == 0 {
                sequence.remap();
            }
        }
        for (start, len) in std::mem::take(&mut sequence.mapped) {
            // SAFETY: as in `remap`.
            unsafe { munmap(start as *mut _, len) }.expect("it was mapped");
        }
        drop(sequence);
        a4emu_drm::known::note_closed();
    });
    fs::remove_dir_all(folder).expect("it is there");
}
