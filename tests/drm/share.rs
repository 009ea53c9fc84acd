//! Buffers that two processes share: exported by one, sent over a socket, imported by the other.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use crate::client::*;
use crate::processes::round_trip;
use crate::{INSIDE, library, only, with_device};

/// Variable with the path of the socket between the two processes.
const SOCKET: &str = "A4EMU_TEST_SOCKET";
const BYTES: usize = 8192;
/// `DMA_BUF_IOCTL_SYNC`.
const SYNC: u64 = 0x4008_6200;

pub fn export(node: &File, handle: u32) -> File {
    let mut prime = [handle, (libc::O_CLOEXEC | libc::O_RDWR) as u32, 0];
    ioctl(node, PRIME_HANDLE_TO_FD, &mut prime).unwrap();
    file(prime[2] as i32)
}

fn import(node: &File, fd: &impl AsRawFd) -> Result<u32, i32> {
    let mut prime = [0, 0, fd.as_raw_fd() as u32];
    ioctl(node, PRIME_FD_TO_HANDLE, &mut prime).map(|()| prime[0])
}

fn send(socket: &UnixStream, fd: &File) {
    let (fds, mut room) = ([fd.as_fd()], [std::mem::MaybeUninit::uninit(); 64]);
    let mut control = SendAncillaryBuffer::new(&mut room);
    assert!(control.push(SendAncillaryMessage::ScmRights(&fds)));
    sendmsg(socket, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
}

fn receive(socket: &UnixStream) -> OwnedFd {
    let (mut byte, mut room) = ([0], [std::mem::MaybeUninit::uninit(); 64]);
    let mut control = RecvAncillaryBuffer::new(&mut room);
    recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty()).unwrap();
    let fds = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    fds.expect("a descriptor")
}

/// Signals the other process, and waits for its signal.
fn turn(socket: &mut UnixStream) {
    socket.write_all(b"x").unwrap();
    wait(socket);
}

fn wait(socket: &mut UnixStream) {
    socket.read_exact(&mut [0]).unwrap();
}

/// Writes `value` to word 16 of `buffer` with the GPU of this process.
fn write_by_gpu(node: &File, buffer: &Buffer, value: u32) {
    round_trip(node, buffer, value);
}

/// The importing process of the test below.
#[test]
fn importer() {
    let Some(path) = std::env::var_os(SOCKET) else { return };
    let mut socket = UnixStream::connect(path).unwrap();
    let node = open();
    // A buffer of its own comes first, so that addresses differ.
    let own = Buffer::new(&node, BYTES);
    let received = receive(&socket);
    let handle = import(&node, &received).unwrap();
    assert_eq!(import(&node, &received), Ok(handle), "one buffer, one handle");
    let buffer = Buffer::of(&node, handle, BYTES);
    assert_ne!(buffer.address, own.address);
    assert_eq!((buffer.map.get(2000), buffer.map.get(16)), (77, 5), "what was in it before it was exported");
    let dmabuf = File::from(received);
    ioctl(&dmabuf, SYNC, &mut [0u64]).unwrap();
    let direct = Mapping::new(&dmabuf, BYTES, 0).unwrap();
    write_by_gpu(&node, &buffer, 6);
    assert_eq!(direct.get(16), 6, "the descriptor's own mapping shows it, too");
    turn(&mut socket);
    assert_eq!(buffer.map.get(16), 7, "the other GPU wrote it");
    // Sends it back, through another file of the device.
    send(&socket, &export(&node, handle));
    wait(&mut socket);
    // The other process has ended.
    assert_eq!(socket.read(&mut [0]).unwrap(), 0);
    assert_eq!(buffer.map.get(2000), 78);
    write_by_gpu(&node, &buffer, 8);
    gem_close(&node, handle).unwrap();
    drop((buffer, direct, dmabuf));
    let fresh = Buffer::new(&node, BYTES);
    assert_eq!((fresh.map.get(16), fresh.map.get(2000)), (0, 0), "its place is new memory again");
    write_by_gpu(&node, &fresh, 9);
}

/// The exporting process, which has the buffer first.
#[test]
fn exporter() {
    let Some(path) = std::env::var_os(SOCKET) else { return };
    let mut socket = UnixStream::connect(path).unwrap();
    let node = open();
    let buffer = Buffer::new(&node, BYTES);
    buffer.map.put(2000, &[77]);
    write_by_gpu(&node, &buffer, 5);
    let exported = export(&node, buffer.handle);
    assert_eq!(exported.metadata().unwrap().len(), BYTES as u64);
    send(&socket, &exported);
    drop(exported);
    wait(&mut socket);
    assert_eq!(buffer.map.get(16), 6, "the other GPU wrote it");
    write_by_gpu(&node, &buffer, 7);
    buffer.map.put(2000, &[78]);
    socket.write_all(b"x").unwrap();
    let back = receive(&socket);
    assert_eq!(import(&node, &back), Ok(buffer.handle), "it is ours, by whatever file it comes");
    let again = export(&node, buffer.handle);
    assert_eq!(
        Mapping::new(&again, BYTES, 0).unwrap().get(2000),
        78,
        "a second export is of the same memory"
    );
    // The last owner in this process closes it. The other process must keep its memory.
    gem_close(&node, buffer.handle).unwrap();
    drop((buffer, back, again));
    let fresh = Buffer::new(&node, BYTES);
    assert_eq!(fresh.map.get(2000), 0);
    socket.write_all(b"x").unwrap();
}

#[test]
fn two_processes_have_the_same_memory() {
    if std::env::var_os(INSIDE).is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let start = |test| only(test).env("LD_PRELOAD", library()).env(SOCKET, &path).spawn().unwrap();
    let mut processes = ["share::exporter", "share::importer"].map(start);
    // Messages are forwarded in both directions.
    let [one, other] = [(); 2].map(|()| listener.accept().unwrap().0);
    std::thread::scope(|scope| {
        for (from, to) in [(&one, &other), (&other, &one)] {
            scope.spawn(move || pass_on(from, to));
        }
    });
    assert!(processes.each_mut().map(|process| process.wait().unwrap().success()) == [true; 2]);
}

/// Forwards bytes and descriptors until there are no more.
fn pass_on(from: &UnixStream, to: &UnixStream) {
    loop {
        let (mut byte, mut room) = ([0], [std::mem::MaybeUninit::uninit(); 64]);
        let mut control = RecvAncillaryBuffer::new(&mut room);
        let message = recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::empty());
        if message.map_or(0, |message| message.bytes) == 0 {
            let _closed_already = to.shutdown(std::net::Shutdown::Write);
            return;
        }
        let fd = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
            _ => None,
        });
        match fd {
            Some(fd) => send(to, &File::from(fd)),
            None => (&*to).write_all(&byte).unwrap(),
        }
    }
}

#[test]
fn imports_of_other_descriptors_are_refused() {
    with_device("share::imports_of_other_descriptors_are_refused", || {
        let node = open();
        // Looks like a buffer of the device, but could be truncated while it is mapped.
        let fd = rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&fd, BYTES as u64).unwrap();
        rustix::fs::fchmod(&fd, rustix::fs::Mode::from_raw_mode(0o1640)).unwrap();
        assert_eq!(import(&node, &fd), Err(libc::EINVAL));
        rustix::fs::fcntl_add_seals(&fd, rustix::fs::SealFlags::SHRINK).unwrap();
        assert_eq!(import(&node, &fd), Ok(1), "sealed, it would do");
        round_trip(&node, &Buffer::of(&node, 1, BYTES), 3);
        let empty = rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::fchmod(&empty, rustix::fs::Mode::from_raw_mode(0o1640)).unwrap();
        assert_eq!(import(&node, &empty), Err(libc::EINVAL));
        assert_eq!(import(&node, &node), Err(libc::EINVAL), "the device itself");
    });
}

#[test]
fn exports_while_others_submit() {
    with_device("share::exports_while_others_submit", || {
        std::thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    let node = open();
                    for round in 0..100 {
                        let buffer = Buffer::new(&node, BYTES);
                        round_trip(&node, &buffer, number << 16 | round);
                        let exported = export(&node, buffer.handle);
                        assert_eq!(import(&node, &exported), Ok(buffer.handle));
                        assert_eq!(buffer.map.get(16), number << 16 | round);
                        round_trip(&node, &buffer, round);
                        gem_close(&node, buffer.handle).unwrap();
                    }
                });
            }
        });
    });
}

#[test]
fn threads_that_export_one_buffer_get_one_file() {
    with_device("share::threads_that_export_one_buffer_get_one_file", || {
        use std::os::unix::fs::MetadataExt;
        let node = open();
        for round in 0..200 {
            let buffer = Buffer::new(&node, BYTES);
            buffer.map.put(2000, &[round]);
            let start = std::sync::Barrier::new(4);
            let export_and_import = || {
                start.wait();
                let exported = export(&node, buffer.handle);
                assert_eq!(import(&node, &exported), Ok(buffer.handle));
                assert_eq!(Mapping::new(&exported, BYTES, 0).unwrap().get(2000), round);
                exported.metadata().unwrap().ino()
            };
            let files = std::thread::scope(|scope| {
                [(); 4].map(|()| scope.spawn(export_and_import)).map(|thread| thread.join().unwrap())
            });
            assert_eq!(files, [files[0]; 4]);
            gem_close(&node, buffer.handle).unwrap();
        }
    });
}

#[test]
fn a_forked_child_exports_what_its_parent_exported() {
    with_device("share::a_forked_child_exports_what_its_parent_exported", || {
        use std::os::unix::fs::MetadataExt;
        let node = open();
        let buffer = Buffer::new(&node, BYTES);
        let file = export(&node, buffer.handle).metadata().unwrap().ino();
        let status = fork(|| {
            let exported = export(&node, buffer.handle);
            write_by_gpu(&node, &buffer, 5);
            let shown = Mapping::new(&exported, BYTES, 0).unwrap().get(16);
            // A panic would not leave the child process.
            i32::from(exported.metadata().unwrap().ino() == file && shown == 5)
        });
        assert_eq!((status, buffer.map.get(16)), (1, 5));
    });
}
