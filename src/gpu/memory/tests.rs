use super::*;

#[test]
fn bytes_are_little_endian_numbers_of_any_width() {
    assert_eq!(little_endian(&[0x34]), 0x34);
    assert_eq!(little_endian(&[0x34, 0x12]), 0x1234);
    assert_eq!(little_endian(&[0x78, 0x56, 0x34, 0x12]), 0x1234_5678);
}

#[test]
fn dwords_are_read_over_the_ends_of_buffers_as_far_as_they_are_known() {
    let mut memory = Memory::new();
    let bytes: Vec<u8> = (0..24).collect();
    memory.announce(0x1000u32, 6, Some(&bytes[..6]));
    memory.announce(0x1006u32, 18, Some(&bytes[6..]));
    let want: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    assert_eq!(memory.known_dwords(0x1000u32, 9), want);
    assert_eq!(memory.read_dwords(0x1000u32, 6), Some(want));
    assert_eq!(memory.read_dwords(0x1000u32, 7), None);
}

#[test]
fn zeros_take_no_memory() {
    let mut memory = Memory { limit: 0, ..Memory::new() };
    let zeros = vec![0; 1 << 24];
    for group in 0..2 {
        memory.begin_group();
        (0..8).for_each(|index| memory.announce(index << 24, 1 << 24, Some(&zeros)));
        assert!(!memory.was_cut(), "group {group}");
    }
    let mut bytes = [1; 3];
    assert!(memory.read((5 << 24) + 7, &mut bytes), "they are known");
    assert_eq!((bytes, memory.slice(0u32, 1 << 24)), ([0; 3], Some(&*zeros)));
    assert_eq!(memory.provenance(0u32), Provenance::Captured { group: 2 });
}

#[test]
fn zeros_are_stored_when_they_are_written() {
    let mut memory = Memory::new();
    memory.begin_group();
    memory.announce(0x1000u32, 0x3000, Some(&[0; 0x3000]));
    assert!(memory.write(0x2004u32, &[7]));
    assert_eq!(memory.read_u32(0x2004u32), Some(7));
    assert_eq!(memory.provenance(0x2000u32), Provenance::Written);
    memory.begin_group();
    let mut new = [0; 0x3000];
    new[0x2000] = 9;
    memory.announce(0x1000u32, 0x3000, Some(&new));
    assert_eq!((memory.read_u32(0x2004u32), memory.read_u32(0x3000u32)), (Some(7), Some(9)), "merged");
}

/// A recorder that knows the results of the GPU names a buffer, and then has what the program changed.
#[test]
fn exact_contents_replace_what_the_gpu_wrote() {
    for (snapshots, kept) in [(Snapshots::Merged, 7), (Snapshots::Exact, 0)] {
        let mut memory = Memory { snapshots, ..Memory::new() };
        memory.begin_group();
        memory.announce(0x1000u32, 0x2000, Some(&[0; 0x2000]));
        assert!(memory.write_u32(0x1104u32, 7) && memory.write_u32(0x1204u32, 7));
        let before = memory.now();
        memory.begin_group();
        memory.announce(0x1000u32, 0x2000, None);
        memory.announce(0x1100u32, 0x40, Some(&[0; 0x40]));
        assert_eq!(memory.read_u32(0x1104u32), Some(kept), "{snapshots:?}");
        assert_eq!(memory.read_u32(0x1204u32), Some(7), "not in the part");
        assert_eq!(memory.is_unchanged(0x1000u32, 0x1000, before), kept == 7);
    }
}

#[test]
fn a_long_buffer_stays_when_it_is_named_again() {
    let mut memory = Memory::new();
    let len = PIECE + PAGE;
    memory.begin_group();
    memory.announce(0x1000u32, len, Some(&vec![0; len as usize]));
    assert!(memory.write_u32(0x1004u32, 7));
    memory.begin_group();
    memory.announce(0x1000u32, len, None);
    assert_eq!((memory.read_u32(0x1004u32), memory.read_u32(0x1008u32)), (Some(7), Some(0)));
}

#[test]
fn a_snapshot_over_zeros_counts() {
    let mut memory = Memory { limit: 0x2000, ..Memory::new() };
    memory.begin_group();
    memory.announce(0x1000u32, 0x4000, Some(&[0; 0x4000]));
    memory.announce(0x1000u32, 0x4000, Some(&[1; 0x4000]));
    assert!(memory.was_cut());
    assert_eq!(memory.read_u32(0x1000u32), Some(0));
}

#[test]
fn contents_past_the_limit_are_missing_and_room_comes_back() {
    let mut memory = Memory { limit: 0x3000, ..Memory::new() };
    memory.begin_group();
    memory.announce(0x1_0000u32, 0x2000, Some(&[1; 0x2000]));
    memory.announce(0x2_0000u32, 0x2000, Some(&[2; 0x2000]));
    assert!(memory.was_cut() && !memory.was_cut(), "it is said once");
    assert_eq!(memory.read_u32(0x1_0000u32), Some(0x0101_0101));
    assert_eq!(memory.read_u32(0x2_0000u32), None);
    assert_eq!(memory.provenance(0x2_0000u32), Provenance::Blank);
    memory.unmap(0x1_0000, 0x1_2000);
    memory.announce(0x2_0000u32, 0x2000, Some(&[2; 0x2000]));
    assert_eq!((memory.was_cut(), memory.read_u32(0x2_0000u32)), (false, Some(0x0202_0202)));
}

#[test]
fn writes_past_the_limit_are_refused() {
    let mut memory = Memory { limit: 1 << 20, ..Memory::new() };
    memory.begin_group();
    memory.announce(0u32, 1 << 30, None);
    assert!(!memory.write(0x100u32, &[1]), "a piece has 64 MB");
    assert!(memory.was_cut());
}

/// Announces the same ranges many times over many small buffers. Each announcement visits each buffer at most
/// once, not all buffers.
#[test]
fn announcements_over_many_buffers_take_no_time() {
    const BUFFERS: u32 = 100_000;
    let mut memory = Memory::new();
    memory.begin_group();
    (0..BUFFERS).for_each(|index| memory.announce(index * 0x2000, 0x1000, None));
    let start = std::time::Instant::now();
    (0..BUFFERS).for_each(|more| memory.announce(0u32, BUFFERS / 2 * 0x2000 + more, None));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert_eq!(memory.provenance(0x1800u32), Provenance::Blank);
}

#[test]
fn contents_of_later_snapshots_count_against_the_limit() {
    let mut memory = Memory { limit: 0x9000, ..Memory::new() };
    memory.begin_group();
    memory.announce(0x1_0000u32, 0x4000, Some(&[0; 0x4000]));
    memory.announce(0x1_0000u32, 0x4000, Some(&[1; 0x4000]));
    assert!(!memory.was_cut());
    memory.announce(0x2_0000u32, 0x6000, Some(&[2; 0x6000]));
    assert!(memory.was_cut(), "there are 0x4000 bytes already");
}

/// Whether pages 1 and 2 of a buffer at 0x1000 are unchanged since `time`.
fn unchanged(memory: &Memory, time: u64) -> [bool; 2] {
    [0x2000, 0x3000].map(|page| memory.is_unchanged(page, 0x1000, time))
}

#[test]
fn changes_are_told_apart_by_page() {
    let mut memory = Memory::new();
    memory.begin_group();
    memory.announce(0x1000u32, 0x3000, Some(&[1; 0x3000]));
    let announced = memory.now();
    assert_eq!(unchanged(&memory, announced), [true, true]);
    assert!(memory.write(0x2ffcu32, &[7; 4]));
    assert_eq!(unchanged(&memory, announced), [false, true]);
    let written = memory.now();
    assert!(memory.write(0x2ffeu32, &[7; 4]));
    assert_eq!(unchanged(&memory, written), [false, false], "across two pages");
    assert!(!memory.is_unchanged(0x3000u32, 0x1001, memory.now()), "behind the end");
}

#[test]
fn a_snapshot_changes_the_pages_that_differ() {
    let mut memory = Memory::new();
    let mut bytes = [1; 0x3000];
    memory.begin_group();
    memory.announce(0x1000u32, 0x3000, Some(&bytes));
    assert!(memory.write(0x2000u32, &[7]));
    let before = memory.now();
    memory.begin_group();
    memory.announce(0x1000u32, 0x3000, Some(&bytes));
    assert_eq!(unchanged(&memory, before), [true, true], "the same again");
    bytes[0x2fff] = 2;
    memory.begin_group();
    memory.announce(0x1000u32, 0x3000, Some(&bytes));
    assert_eq!(unchanged(&memory, before), [true, false]);
    bytes[0x1001] = 3;
    memory.announce(0x1000u32, 0x3000, Some(&bytes));
    assert_eq!(unchanged(&memory, before), [false, false], "beside what the GPU wrote");
}

#[test]
fn a_buffer_in_the_place_of_another_is_a_change() {
    let mut memory = Memory::new();
    memory.announce(0x1000u32, 0x3000, Some(&[1; 0x3000]));
    let before = memory.now();
    memory.unmap(0x1000, 0x4000);
    assert_eq!(unchanged(&memory, before), [false, false], "gone");
    memory.announce(0x1000u32, 0x3000, Some(&[1; 0x3000]));
    assert_eq!(unchanged(&memory, before), [false, false]);
}

#[test]
fn shared_pages_may_change_where_others_say_so() {
    let mut memory = Memory::new();
    let seen = Seen::default();
    memory.map_shared(0x1000u32, Arc::new(vec![0; 0x3000]), seen.clone());
    let before = memory.now();
    assert_eq!(unchanged(&memory, before), [true, true]);
    memory.host_may_have_written();
    assert_eq!(unchanged(&memory, before), [true, true], "nobody has seen them");
    seen.note();
    assert_eq!(unchanged(&memory, before), [false, false]);
    let lent = memory.lend_buffer(0x1000u32).expect("it is there");
    assert_eq!(unchanged(&memory, before), [false, false], "nor if somebody has them");
    memory.give_back(lent);
    assert_eq!(unchanged(&memory, memory.now()), [true, true]);
}

#[test]
fn lent_ranges_return_with_their_new_bytes() {
    let mut memory = Memory::new();
    memory.announce(0x1000u32, 0x2000, Some(&[7; 0x2000]));
    memory.announce(0x8000u32, 0x1000, None);
    for (address, was) in [(0x1010u32, 7), (0x8010, 0)] {
        let held = memory.held;
        let mut lent = memory.lend(address, 16).expect("in one buffer");
        assert_eq!(lent.bytes(), [was; 16]);
        lent.bytes().fill(9);
        assert_eq!(memory.slice(address & !0xfff, 4), None, "nothing is known of the buffer");
        memory.give_back(lent);
        assert_eq!(memory.slice(address, 16), Some(&[9; 16][..]));
        assert_eq!(memory.slice(address - 16, 16).map(|bytes| bytes[0]), Some(was));
        assert!(memory.held >= held);
    }
    assert!(memory.lend(0x2ff8u32, 16).is_none() && memory.lend(0x7000u32, 4).is_none());
}

#[test]
fn a_view_keeps_what_was_there() {
    let mut memory = Memory::new();
    memory.announce(0x1000u32, 0x2000, Some(&[1; 0x2000]));
    memory.map_shared(0x8000u32, Arc::new(vec![5; 0x1000]), Seen::default());
    let view = memory.view();
    assert!(memory.write(0x1004u32, &[9]));
    assert_eq!((view.slice(0x1004u32, 1), memory.slice(0x1004u32, 1)), (Some(&[1][..]), Some(&[9][..])));
    assert!(!memory.write(0x8000u32, &[9]), "somebody reads them");
    assert_eq!(view.slice(0x8000u32, 1), Some(&[5][..]));
    drop(view);
    assert!(memory.write(0x8000u32, &[9]));
    assert_eq!(memory.slice(0x8000u32, 1), Some(&[9][..]));
}

#[test]
fn lent_bytes_change_where_they_were_written_before() {
    for contents in [None, Some([1; 0x2000].as_slice())] {
        let mut memory = Memory::new();
        memory.announce(0x1000u32, 0x2000, contents);
        assert!(memory.write(0x1000u32, &[7]));
        let lent = memory.lend_buffer(0x1000u32).expect("a buffer");
        assert!(memory.lend_buffer(0x1800u32).is_none(), "somebody has it");
        let before = memory.now();
        assert_eq!(
            (memory.prepare(0x1008u32, 4), memory.prepare(0x2000u32, 4)),
            (Some(Address::new(0x1000)), None),
            "{contents:?}"
        );
        assert!(!memory.is_unchanged(0x1008u32, 4, before));
        assert_eq!(memory.slice_mut(0x1008u32, 4), None, "they are not here");
        memory.give_back(lent);
        assert_eq!(memory.prepare(0x2000u32, 4), Some(Address::new(0x1000)));
        assert_eq!(memory.slice(0x1000u32, 1), Some(&[7][..]));
    }
}

#[test]
fn overlay_writes_do_not_change_the_original_memory() {
    let mut memory = Memory::new();
    memory.announce(0x1000u32, 0x2000, Some(&[7; 0x2000]));
    memory.announce(0x8000u32, 0x1000, None);
    let pages: Arc<dyn SharedPages> = Arc::new(vec![1; 0x1000]);
    memory.map_shared(0x1_0000u32, pages, Seen::default());
    let mut overlay = memory.overlay();
    let made = overlay.overlay_cost();
    for address in [0x1004, 0x8000, 0x1_0010] {
        let before = memory.read_u32(address);
        assert_eq!(overlay.read_u32(address), before, "{address:#x}");
        assert!(overlay.write_u32(address, 5), "{address:#x}");
        assert_eq!((overlay.read_u32(address), memory.read_u32(address)), (Some(5), before), "{address:#x}");
    }
    assert_eq!(overlay.overlay_cost() - made, (0x2000 + 0x1000 + 0x1000 + 2 * 0x1000) / 16, "and two pages");
    drop(overlay);
    assert!(memory.write_u32(0x1_0010u32, 6), "nobody else holds them any more");
}

#[test]
fn an_overlay_takes_no_more_than_is_left() {
    let mut memory = Memory { limit: 0x4000, ..Memory::new() };
    memory.announce(0x1000u32, 0x2000, Some(&[7; 0x2000]));
    let mut overlay = memory.overlay();
    assert!(!overlay.write_u32(0x1000u32, 5) && overlay.was_cut(), "a copy and a page would be more");
    assert_eq!(overlay.read_u32(0x1000u32), Some(0x0707_0707));
    memory.limit = 0x8000;
    let mut overlay = memory.overlay();
    assert!(overlay.write_u32(0x1000u32, 5) && !overlay.was_cut());
}

#[test]
fn a_range_over_several_buffers_is_read_and_written_as_its_bytes_are() {
    let build = || {
        let mut memory = Memory::new();
        memory.begin_group();
        memory.announce(PAGE - 3, 2 * PAGE, Some(&vec![1; 2 * PAGE as usize]));
        memory.announce(3 * PAGE - 3, 5, Some(&[2; 5]));
        memory.announce(3 * PAGE + 40, PAGE, None);
        memory.announce(u32::MAX - 9, 10, Some(&[3; 10]));
        memory
    };
    for (start, len) in [(0, 5 * PAGE), (PAGE - 3, 2 * PAGE + 9), (3 * PAGE + 39, 3), (u32::MAX - 12, 20)] {
        let mut memory = build();
        let places: Vec<Option<u32>> =
            (0..u64::from(len)).map(|by| u32::try_from(u64::from(start) + by).ok()).collect();
        let single = |memory: &Memory, at: Option<u32>| Some(memory.slice(at?, 1)?[0]);
        let bytes: Vec<Option<u8>> = places.iter().map(|at| single(&memory, *at)).collect();
        let mut read = vec![9; len as usize];
        assert_eq!(memory.read(start, &mut read), bytes.iter().all(Option::is_some), "{start:#x}");
        assert!(read.iter().eq(bytes.iter().map(|byte| byte.as_ref().unwrap_or(&0))), "{start:#x}");

        let mut bytewise = build();
        let each = places.iter().map(|at| at.is_some_and(|at| bytewise.write(at, &[7])));
        let all = each.fold(true, |all, one| all & one);
        assert_eq!(memory.write(start, &vec![7; len as usize]), all, "{start:#x}");
        let written = places.iter().map(|at| single(&memory, *at));
        assert!(written.eq(places.iter().map(|at| single(&bytewise, *at))), "{start:#x}");
    }
}

/// Buffers on both sides of 4 GiB: a chip of 49 bits reaches both, an A4xx only the lower one.
#[test]
fn how_far_addresses_reach_is_set() {
    let (low, high) = (Address::new(0xffff_f000), Address::new(0x1_0000_0000));
    let announced = |bits: u32| {
        let mut memory = Memory::new();
        memory.set_address_bits(bits);
        memory.announce(low, 0x2000, Some(&[1; 0x2000]));
        memory.announce(high + 0x8000, 0x1000, Some(&[2; 0x1000]));
        memory
    };
    let narrow = announced(32);
    assert_eq!(narrow.buffers().collect::<Vec<_>>(), [(low, 0x1000)]);
    assert_eq!((narrow.read_u32(low), narrow.read_u32(high + 0x8000)), (Some(0x0101_0101), None));
    let mut wide = announced(49);
    assert_eq!(wide.buffers().collect::<Vec<_>>(), [(low, 0x2000), (high + 0x8000, 0x1000)]);
    assert_eq!(wide.known_dwords(Address::new(0xffff_fff8), 4), [0x0101_0101; 4]);
    assert!(wide.write(high + 0x8ffc, &[3; 4]) && !wide.write(high + 0x8ffe, &[3; 4]));
    assert_eq!(wide.read_u32(high + 0x8ffc), Some(0x0303_0303));
    assert_eq!((wide.room(high), wide.room(Address::new(1 << 49))), (0x1000, 0));
    assert!(!wide.write(Address::new(u64::MAX), &[1; 4]), "past the last address");
}
