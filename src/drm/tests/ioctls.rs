//! Runs random sequences of ioctls on the device in this process. Each call must return, and none may
//! allocate memory for a count whose entries it has not read.
//!
//! Arguments are mostly valid, with some fields changed. Pointers lead into a scratch area that ends at
//! inaccessible memory. `cargo test` runs this on random input and prints the seed of a failure;
//! `scripts/fuzz` runs it longer.

#![cfg(target_os = "linux")]

#[path = "../../../tests/fuzz/choices.rs"]
mod choices;
mod measured;

use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use a4emu_drm::ffi::user;
use a4emu_drm::node;
use a4emu_drm::uapi::{self, Timespec};
use a4emu_process::ledger;
use bolero::check;
use bytemuck::{NoUninit, bytes_of};
use choices::Choices;
use measured::{GUARD, SCRATCH, measured, scratch};
use rustix::fs::MemfdFlags;

/// Run time under `cargo test`.
const TIME: Duration = Duration::from_secs(2);
/// Work limit of a submit, in units. Its buffers hold nothing that needs more.
const MAX_WORK: &str = "4000000";
/// Maximum size of a buffer, so that a submit can read all of it.
const BUFFER: u64 = 1 << 18;

/// A sequence of ioctls on one open of the node.
struct Sequence<'a> {
    node: OwnedFd,
    scratch: u64,
    choices: Choices<'a>,
}

impl Sequence<'_> {
    fn small(&mut self) -> u32 {
        self.choices.below(5) as u32
    }

    /// One of the `known` bits, or 0.
    fn flag(&mut self, known: &[u32]) -> u32 {
        match self.choices.below(2) {
            0 => 0,
            _ => self.choices.of(known).copied().unwrap_or_default(),
        }
    }

    /// A pointer, mostly into the scratch area, sometimes to its end or to an invalid address.
    fn pointer(&mut self) -> u64 {
        match self.choices.below(8) {
            0 => 0,
            1 => self.scratch + SCRATCH as u64 - 8 * self.choices.below(4) as u64,
            2 => u64::MAX << self.choices.below(40),
            _ => self.scratch + 0x1000 + 8 * self.choices.below(0x400) as u64,
        }
    }

    /// Writes `row` to the scratch area. Returns a pointer to it.
    fn table<T: NoUninit>(&mut self, row: T) -> u64 {
        let at = self.scratch + 0x1000 + 8 * self.choices.below(0x400) as u64;
        user::write_bytes(at, bytes_of(&row)).expect("the scratch");
        at
    }

    /// A number of rows: a few, or more than the table can have.
    fn count(&mut self) -> u32 {
        match self.choices.below(8) {
            0 => u32::MAX >> self.choices.below(16),
            _ => 1 + self.small() / 4,
        }
    }

    fn fd(&mut self) -> i32 {
        self.choices.below(40) as i32 - 1
    }

    fn submit(&mut self) -> uapi::GemSubmit {
        use uapi::submit::{CMD_BUF, FENCE_FD_IN, FENCE_FD_OUT, FENCE_SN_IN, SYNCOBJ_IN, SYNCOBJ_OUT};
        let relocs = uapi::Reloc { submit_offset: 4 * self.small(), ..Default::default() };
        let relocs = self.table(relocs);
        let size = 4 + 4 * self.choices.below(64) as u32;
        let nr_relocs = self.count() / 2;
        let command = uapi::SubmitCmd { kind: CMD_BUF, size, nr_relocs, relocs, ..Default::default() };
        let bo = uapi::SubmitBo { flags: 3, handle: 1 + self.small() / 2, presumed: 0 };
        let object = uapi::SubmitSyncobj { handle: self.small(), ..Default::default() };
        let flags =
            [FENCE_FD_IN, FENCE_FD_OUT, FENCE_SN_IN, SYNCOBJ_IN, SYNCOBJ_OUT, SYNCOBJ_IN | SYNCOBJ_OUT];
        uapi::GemSubmit {
            flags: uapi::PIPE_3D0 | self.flag(&flags),
            fence: self.small(),
            nr_bos: self.count(),
            nr_cmds: self.count(),
            bos: self.table(bo),
            cmds: self.table(command),
            fence_fd: self.fd(),
            queueid: self.small() / 3,
            in_syncobjs: self.table(object),
            out_syncobjs: self.table(object),
            nr_in_syncobjs: self.count(),
            nr_out_syncobjs: self.count(),
            syncobj_stride: 16,
            pad: 0,
        }
    }

    /// A number and a valid argument for it.
    fn meant(&mut self) -> (u8, Vec<u8>) {
        let handle = self.small();
        let other = self.small();
        let handles = self.table([handle, other]);
        match self.choices.below(20) {
            0..3 => {
                let size = self.choices.below(BUFFER as usize) as u64;
                (0x42, bytes_of(&uapi::GemNew { size, flags: 0x2_0000, handle: 0 }).to_vec())
            }
            3..8 => (0x46, bytes_of(&self.submit()).to_vec()),
            8 => {
                let (info, value, len) = (self.small(), self.pointer(), self.flag(&[3, 31, 32]));
                (0x43, bytes_of(&uapi::GemInfo { handle, info, value, len, pad: 0 }).to_vec())
            }
            9 => {
                let timeout = Timespec::default();
                (0x44, bytes_of(&uapi::GemCpuPrep { handle, op: self.small(), timeout }).to_vec())
            }
            10 => (0x4a, bytes_of(&uapi::Submitqueue { flags: 0, prio: self.small(), id: 0 }).to_vec()),
            11..16 => self.meant_for_syncobjs(handle, handles),
            16 => {
                let number = [0x2d, 0x2e][self.choices.below(2)];
                (number, bytes_of(&uapi::PrimeHandle { handle, flags: 0, fd: self.fd() }).to_vec())
            }
            17 => {
                let (param, value, len) =
                    (self.small() + 9 * (self.small() / 3), self.pointer(), self.count());
                let param = uapi::Param { pipe: uapi::PIPE_3D0, param, value, len, pad: 0 };
                (0x40 + self.choices.below(2) as u8, bytes_of(&param).to_vec())
            }
            18 => (0x09, bytes_of(&uapi::GemClose { handle, pad: 0 }).to_vec()),
            _ => {
                let row: Vec<u8> = (0..8).flat_map(|_| self.pointer().to_le_bytes()).collect();
                (self.choices.below(256) as u8, row)
            }
        }
    }

    /// A number and a valid argument of an ioctl on sync objects: on `handle`, or on the handles in memory
    /// at `handles`.
    fn meant_for_syncobjs(&mut self, handle: u32, handles: u64) -> (u8, Vec<u8>) {
        let (flags, count) = (self.small() / 3, self.count());
        match self.choices.below(5) {
            0 => (0xbf, bytes_of(&uapi::SyncobjCreate { handle: 0, flags }).to_vec()),
            1 => {
                let number = [0xc1, 0xc2][self.choices.below(2)];
                (number, bytes_of(&uapi::SyncobjHandle { handle, flags, fd: self.fd(), pad: 0 }).to_vec())
            }
            2 => {
                let number = [0xc4, 0xc5][self.choices.below(2)];
                (number, bytes_of(&uapi::SyncobjArray { handles, count_handles: count, pad: 0 }).to_vec())
            }
            3 => {
                let (points, number) = (self.pointer(), [0xcb, 0xcd][self.choices.below(2)]);
                let array = uapi::SyncobjTimelineArray { handles, points, count_handles: count, flags: 0 };
                (number, bytes_of(&array).to_vec())
            }
            _ => {
                let (points, flags) = (self.pointer(), self.small());
                let wait = uapi::SyncobjTimelineWait {
                    handles,
                    points,
                    count_handles: count,
                    flags,
                    ..Default::default()
                };
                (0xca, bytes_of(&wait).to_vec())
            }
        }
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
        bound(number, &mut bytes);
        user::write_bytes(self.scratch, &bytes).expect("the scratch");
        let kind = [uapi::TYPE_DRM, uapi::TYPE_DRM, uapi::TYPE_DRM, uapi::TYPE_SYNC][self.choices.below(4)];
        let size = if self.choices.below(16) == 0 { self.choices.below(1 << 14) } else { bytes.len() };
        let request = 3 << 30 | (size as u64) << 16 | u64::from(kind) << 8 | u64::from(number);
        // Ioctls of the node are also sent to other descriptors of the device, which refuse them.
        let fd = if self.choices.below(8) == 0 { self.fd() } else { self.node.as_raw_fd() };
        measured(|| node::ioctl(fd, request, self.scratch), || format!("{request:#x}: {bytes:02x?}"));
    }
}

/// Changes arguments that would only be slow: endless waits, and large buffers to read.
fn bound(number: u8, bytes: &mut [u8]) {
    let timeout = match number {
        0xc3 => 8..16,
        0xca => 16..24,
        0x44 | 0x47 => 8..24,
        0x42 => {
            let size = bytes.first_chunk_mut::<8>().expect("GEM_NEW has a size");
            let asked = u64::from_le_bytes(*size);
            // A size that does not fit 4 GB stays.
            *size = if asked >> 33 == 0 { asked % BUFFER } else { asked }.to_le_bytes();
            return;
        }
        _ => return,
    };
    bytes.get_mut(timeout).into_iter().flatten().for_each(|byte| *byte = 0);
}

/// Closes every descriptor of the device.
fn close_all() {
    let entries: Vec<_> = fs::read_dir("/proc/self/fd").expect("descriptors").flatten().collect();
    for entry in entries {
        let link = fs::read_link(entry.path()).unwrap_or_default();
        let fd = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let (true, Some(fd)) = (link.to_string_lossy().starts_with("/memfd:a4emu-"), fd) {
            // SAFETY: opened by an ioctl above, and not used elsewhere.
            drop(unsafe { OwnedFd::from_raw_fd(fd) });
        }
    }
}

#[test]
fn ioctls() {
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ioctls.{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    ledger::make(&folder).expect("a ledger");
    // SAFETY: this is the only test here, and no other thread reads the environment.
    unsafe {
        std::env::set_var("A4EMU_MAX_WORK", MAX_WORK);
        // As under a launcher: otherwise the device would print its summary.
        std::env::set_var("A4EMU_FOLDER", &folder);
    }
    let scratch = scratch();
    check!().with_test_time(TIME).for_each(|input: &[u8]| {
        user::write_bytes(scratch, &[0; SCRATCH]).expect("the scratch");
        let node = node::open(MemfdFlags::CLOEXEC).expect("the node");
        let mut sequence = Sequence { node, scratch, choices: Choices::new(input) };
        for _ in 0..2 + sequence.choices.below(30) {
            sequence.step();
        }
        drop(sequence);
        close_all();
    });
    fs::remove_dir_all(folder).expect("it is there");
}
