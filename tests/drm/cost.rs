//! The cost of an operation does not depend on the number of buffers.

use std::fs;
use std::time::{Duration, Instant};

use crate::client::*;
use crate::with_limits;

/// More buffers than the system's limit of mappings for a process (65,530), with one or two for each.
const BUFFERS: usize = 66_000;
/// Number of buffers that are timed together.
const CHUNK: usize = 1000;

/// The shortest of several times. Other processes may have delayed the others.
fn best(times: &[Duration]) -> Duration {
    *times.iter().min().unwrap()
}

fn same_at_the_end_as_at_the_start(what: &str, times: &[Duration]) {
    let (first, last) = (best(&times[..15]), best(&times[times.len() - 15..]));
    assert!(last < first * 3, "{what}: {first:?} at first, {last:?} at last");
}

#[test]
fn many_live_buffers_each_mapped_and_used() {
    with_limits("cost::many_live_buffers_each_mapped_and_used", Duration::from_secs(120), &[], || {
        let node = open();
        let (mut made, mut submitted) = (Vec::new(), Vec::new());
        let mut buffers: Vec<Buffer> = Vec::new();
        while buffers.len() < BUFFERS {
            let start = Instant::now();
            buffers.extend(scattered(&node));
            made.push(start.elapsed());
            buffers[buffers.len() - CHUNK..].iter().for_each(|buffer| buffer.map.put(0, &[7]));
            // The first submit afterwards registers the new buffers.
            submit_once(&node, &buffers[0]);
            let start = Instant::now();
            (0..CHUNK).for_each(|_| submit_once(&node, &buffers[0]));
            submitted.push(start.elapsed());
        }
        same_at_the_end_as_at_the_start("new and mapped", &made);
        same_at_the_end_as_at_the_start("submit and wait", &submitted);
        let maps = fs::read_to_string("/proc/self/maps").unwrap().lines().count();
        assert!(maps < 1000, "{maps} mappings");
        let bo = |buffer: &Buffer| Bo { flags: READ_WRITE, handle: buffer.handle, presumed: 0 };
        let mut bos: Vec<Bo> = buffers.iter().map(bo).collect();
        let last = buffers.last().unwrap();
        buffers[0].map.put(0, &[0xc001_3d00, last.address + 4, 9]);
        Submit::new(&mut bos, &[Cmd { kind: 1, size: 12, ..Cmd::default() }]).go(&node).unwrap();
        assert_eq!([last.map.get(0), last.map.get(1)], [7, 9]);
    });
}

/// Makes [`CHUNK`] new buffers. They are mapped in an order in which the system cannot merge adjacent
/// mappings.
fn scattered(node: &fs::File) -> Vec<Buffer> {
    let handles: Vec<u32> = (0..CHUNK).map(|_| gem_new(node, 4096).unwrap()).collect();
    let map = |index| Buffer::of(node, handles[index * 617 % CHUNK], 4096);
    (0..CHUNK).map(map).collect()
}

/// Submits one buffer and waits for its fence.
fn submit_once(node: &fs::File, buffer: &Buffer) {
    let mut bos = [Bo { flags: READ_WRITE, handle: buffer.handle, presumed: buffer.address.into() }];
    let submit = Submit::new(&mut bos, &[Cmd { kind: 1, size: 8, ..Cmd::default() }]).go(node).unwrap();
    ioctl(node, WAIT_FENCE, &mut [u64::from(submit.fence), 0, 0, 0]).unwrap();
}
