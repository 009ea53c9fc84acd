//! The address space: snapshots, reused addresses and missing bytes.

use a4emu_gpu::fault::{Client, Miss, Missing};
use a4emu_gpu::memory::{Memory, PAGE, Provenance};
use pretty_assertions::assert_eq;

const BASE: u32 = 0x1000_0000;

fn bytes(mem: &Memory, addr: u32, len: usize) -> Option<Vec<u8>> {
    let mut out = vec![0xee; len];
    mem.read(addr, &mut out).then_some(out)
}

#[test]
fn unmapped_and_blank_memory_is_missing_not_zero() {
    let mut mem = Memory::new();
    assert_eq!(mem.read_u32(BASE), None);
    mem.announce(BASE, 3 * PAGE, None);
    assert_eq!((mem.read_u32(BASE), mem.provenance(BASE)), (None, Provenance::Blank));
    assert!(mem.write_u32(BASE + PAGE, 7));
    assert_eq!(mem.read_u32(BASE + PAGE), Some(7));
    assert_eq!(mem.provenance(BASE + PAGE), Provenance::Written);
    assert_eq!(mem.read_u32(BASE + 2 * PAGE), None);
    assert_eq!(mem.slice(BASE, 2 * PAGE as usize), None);
    assert_eq!(mem.provenance(BASE + 3 * PAGE), Provenance::Unmapped);
}

#[test]
fn a_miss_fills_zeros_and_keeps_what_is_known() {
    let mut mem = Memory::new();
    mem.announce(BASE, 4, Some(&[1, 2, 3, 4]));
    let mut out = [0xee; 8];
    assert!(!mem.read(BASE - 2, &mut out));
    assert_eq!(out, [0, 0, 1, 2, 3, 4, 0, 0]);
    assert!(!mem.write(BASE + 2, &[9; 4]));
    assert_eq!(bytes(&mem, BASE, 4), Some(vec![1, 2, 9, 9]));
}

#[test]
fn gpu_writes_survive_an_unchanged_snapshot() {
    let mut mem = Memory::new();
    mem.begin_group();
    mem.announce(BASE, 8, Some(&[0, 0, 0, 0, 5, 6, 7, 8]));
    assert!(mem.write(BASE, &[1, 2, 3, 4, 50, 60]));
    mem.begin_group();
    mem.announce(BASE, 8, Some(&[0, 9, 0, 0, 5, 66, 77, 8]));
    assert_eq!(bytes(&mem, BASE, 8), Some(vec![1, 9, 3, 4, 50, 66, 77, 8]));
    mem.begin_group();
    mem.announce(BASE, 8, Some(&[0, 0, 0, 0, 5, 66, 77, 8]));
    assert_eq!(bytes(&mem, BASE, 8), Some(vec![1, 0, 3, 4, 50, 66, 77, 8]));
}

#[test]
fn a_buffer_that_a_group_does_not_name_keeps_its_bytes() {
    let mut mem = Memory::new();
    mem.begin_group();
    mem.announce(BASE, 4, Some(&[0; 4]));
    assert!(mem.write(BASE, &[1, 2, 3, 4]));
    mem.begin_group();
    mem.announce(BASE + PAGE, 4, Some(&[7; 4]));
    assert_eq!(bytes(&mem, BASE, 4), Some(vec![1, 2, 3, 4]));
    mem.begin_group();
    mem.announce(BASE, 4, Some(&[0; 4]));
    assert_eq!(bytes(&mem, BASE, 4), Some(vec![1, 2, 3, 4]));
}

#[test]
fn a_freed_address_that_is_used_again_starts_afresh() {
    let mut mem = Memory::new();
    mem.begin_group();
    mem.announce(BASE, 2 * PAGE, Some(&[0; 2 * PAGE as usize]));
    assert!(mem.write(BASE, &[1, 2, 3, 4]));
    mem.begin_group();
    mem.announce(BASE, PAGE, Some(&[0; PAGE as usize]));
    assert_eq!(mem.read_u32(BASE), Some(0));
    assert_eq!(mem.provenance(BASE), Provenance::Captured { group: 2 });
    assert_eq!(mem.provenance(BASE + PAGE), Provenance::Unmapped);
}

#[test]
fn an_address_without_contents_says_nothing_about_known_bytes() {
    let mut mem = Memory::new();
    mem.begin_group();
    mem.announce(BASE, PAGE, Some(&[3; PAGE as usize]));
    mem.begin_group();
    mem.announce(BASE, PAGE, None);
    assert_eq!(mem.read_u32(BASE), Some(0x0303_0303));
    mem.begin_group();
    mem.announce(BASE, 2 * PAGE, None);
    assert_eq!(mem.read_u32(BASE), None);
}

#[test]
fn partial_dumps_lie_inside_their_buffer_and_share_pages() {
    let mut mem = Memory::new();
    mem.begin_group();
    mem.announce(BASE, PAGE, None);
    mem.announce(BASE + 0x100, 8, Some(&[1; 8]));
    mem.announce(BASE + 0x200, 8, Some(&[2; 8]));
    assert_eq!(mem.read_u32(BASE + 0x104), Some(0x0101_0101));
    assert_eq!(mem.read_u32(BASE + 0x200), Some(0x0202_0202));
    assert_eq!((mem.read_u32(BASE + 0x108), mem.read_u32(BASE)), (None, None));
    assert!(mem.write_u32(BASE + 0xffc, 4) && mem.write_u32(BASE, 5));
    assert_eq!((mem.read_u32(BASE + 0xffc), mem.read_u32(BASE)), (Some(4), Some(5)));
    mem.begin_group();
    mem.announce(BASE + 0x204, 4, Some(&[9; 4]));
    assert_eq!((mem.read_u32(BASE + 0x200), mem.read_u32(BASE + 0x204)), (None, Some(0x0909_0909)));
}

#[test]
fn accesses_cross_from_one_buffer_to_the_next() {
    let mut mem = Memory::new();
    mem.announce(BASE, 6, Some(&[1; 6]));
    mem.announce(BASE + 6, 6, Some(&[2; 6]));
    assert_eq!(mem.slice(BASE + 4, 4), None);
    assert_eq!(mem.read_u32(BASE + 4), Some(0x0202_0101));
    assert_eq!(mem.read_dwords(BASE, 3), Some(vec![0x0101_0101, 0x0202_0101, 0x0202_0202]));
    assert!(mem.write(BASE + 5, &[8, 9]));
    assert_eq!(bytes(&mem, BASE + 4, 4), Some(vec![1, 8, 9, 2]));
}

#[test]
fn the_end_of_the_address_space_is_an_end() {
    let mut mem = Memory::new();
    mem.announce(u32::MAX - 3, 0x1000, Some(&[1, 2, 3, 4, 5, 6]));
    assert_eq!(bytes(&mem, u32::MAX - 3, 4), Some(vec![1, 2, 3, 4]));
    let mut out = [0xee; 6];
    assert!(!mem.read(u32::MAX - 1, &mut out));
    assert_eq!(out, [3, 4, 0, 0, 0, 0]);
    assert!(!mem.write(u32::MAX - 1, &[7; 6]));
    assert_eq!(bytes(&mem, u32::MAX - 3, 4), Some(vec![1, 2, 7, 7]));
    assert_eq!(mem.room(u32::MAX), 1);
}

/// The length in a record allocates no memory: in 4 GB of address space, only written pages cost.
#[test]
fn announced_lengths_cost_nothing() {
    let mut mem = Memory::new();
    mem.announce(0, u32::MAX, None);
    assert!(mem.write_u32(0x8000_0000, 1));
    assert_eq!(mem.read_u32(0x8000_0000), Some(1));
    assert!(mem.write(0x8000_0000 - 2, &[5; 4]));
    assert_eq!(mem.read_u32(0x8000_0000), Some(0x0000_0505));
    assert_eq!(mem.read_u32(0x7000_0000), None);
}

#[test]
fn shared_pages_are_seen_at_their_address() {
    let mut mem = Memory::new();
    mem.announce(BASE, 2 * PAGE, Some(&[1; 2 * PAGE as usize]));
    mem.map_shared(
        BASE + PAGE,
        std::sync::Arc::new(vec![4u8; PAGE as usize]),
        a4emu_gpu::memory::Seen::default(),
    );
    assert_eq!(mem.read_u32(BASE), None, "the buffer that it overlaps is gone");
    assert_eq!(mem.read_u32(BASE + PAGE), Some(0x0404_0404));
    assert!(mem.write_u32(BASE + PAGE, 9));
    assert_eq!(mem.slice(BASE + PAGE, 5), Some(&[9, 0, 0, 0, 4][..]));
    assert_eq!(mem.provenance(BASE + PAGE), Provenance::Shared);
    mem.unmap(u64::from(BASE), u64::from(BASE) + u64::from(2 * PAGE));
    assert_eq!(mem.provenance(BASE + PAGE), Provenance::Unmapped);
}

#[test]
fn missing_ranges_merge_in_any_order() {
    let misses = [(8, 4), (0, 4), (4, 4), (20, 4), (0, 2), (100, 0)];
    let miss = |(address, len): (u32, u32)| Miss { client: Client::Vertex, address: address.into(), len };
    let expected = vec![miss((0, 12)), miss((20, 4))];
    let mut forward = Missing::default();
    forward.extend(misses.map(miss));
    assert_eq!(forward.iter().collect::<Vec<_>>(), expected);
    let mut backward = Missing::default();
    backward.extend(misses.iter().rev().copied().map(miss));
    assert_eq!(backward, forward);
}

mod property {
    use super::{BASE, Memory};
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Group,
        Announce(u32, Vec<u8>, u32),
        Write(u32, Vec<u8>),
    }

    fn step() -> impl Strategy<Value = Step> {
        let contents = proptest::collection::vec(any::<u8>(), 0..9000);
        prop_oneof![
            Just(Step::Group),
            (0u32..30000, contents, 0u32..20000).prop_map(|(at, bytes, len)| Step::Announce(at, bytes, len)),
            (0u32..40000, proptest::collection::vec(any::<u8>(), 0..6000))
                .prop_map(|(at, b)| Step::Write(at, b)),
        ]
    }

    proptest! {
        #![proptest_config(crate::seed::random_cases(64))]

        /// After any sequence of buffers: a range reads as its single bytes do, blocks do not overlap, and a
        /// successful write is read back.
        #[test]
        fn ranges_agree_with_single_bytes(steps in proptest::collection::vec(step(), 1..12)) {
            let mut mem = Memory::new();
            for step in steps {
                match step {
                    Step::Group => mem.begin_group(),
                    Step::Announce(at, bytes, len) => mem.announce(BASE + at, len, Some(&bytes)),
                    Step::Write(at, bytes) => {
                        if mem.write(BASE + at, &bytes) {
                            prop_assert_eq!(mem.read(BASE + at, &mut vec![0; bytes.len()]), true);
                        }
                    }
                }
                let buffers: Vec<_> = mem.buffers().collect();
                prop_assert!(buffers.windows(2).all(|pair| pair[0].0 + u64::from(pair[0].1) <= pair[1].0));
                let mut whole = vec![0; 50000];
                let complete = mem.read(BASE, &mut whole);
                let single: Vec<_> = (0..50000).map(|i| mem.slice(BASE + i, 1).map(|b| b[0])).collect();
                prop_assert_eq!(complete, single.iter().all(Option::is_some));
                prop_assert!(whole.iter().zip(&single).all(|(a, b)| *a == b.unwrap_or(0)));
            }
        }
    }
}
