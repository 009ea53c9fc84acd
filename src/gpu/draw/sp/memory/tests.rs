//! Images at the end of their memory, and accesses of global memory by many lanes.

use super::*;
use crate::machine::Stage;
use a4emu_shader::format::{Format, Layout, Swap, Transfer, Type};
use a4emu_shader::{AtomicOp, Few, Index, Number, Width};

const R8: Format = Format { layout: Layout::array(1, 8), ty: Type::Unorm };

/// Address of the 16 bytes. Memory ends after them.
const BASE: u32 = 0x1000;

fn stage() -> StageState {
    let codec = R8.codec(Swap::WZYX, Transfer::Linear);
    let sixteen_bytes = Buffer { size: [16, 1, 1], elements: 16 | 1 << 16, codec, place: None };
    StageState { buffers: [sixteen_bytes].into(), stage: Stage::FS, ..StageState::of("end\n") }
}

/// Loads the last texel. Returns the values, and the misses.
fn last_texel(layout: ImageLayout, components: usize) -> (Vec<u32>, Vec<Miss>) {
    let mut memory = Memory::new();
    memory.announce(BASE, 16, Some(&[255; 16]));
    let stage = stage();
    let bank = stage.textures.bind(&memory);
    let mut seen = ShaderMemory::new(GpuMemory::ReadOnly(&memory, &bank), &stage);
    let request = ImageAccess {
        base: None,
        slot: &Lanes::ZERO,
        layout,
        number: Number::Float,
        address: Some(&Lanes::splat(BASE + 15)),
        position: [&Lanes::splat(15), &Lanes::ZERO, &Lanes::ZERO],
        offset: 0,
        dimensions: 1,
        width: Width::Word,
    };
    let mut out = vec![Lanes::ZERO; components];
    seen.image_load(&request, 1, &mut out);
    (out.iter().map(|row| row[0]).collect(), seen.log.missing.iter().collect())
}

#[test]
fn a_typed_load_reads_its_texel_and_no_more() {
    let (texel, misses) = last_texel(ImageLayout::Typed, 4);
    assert_eq!(texel, [1.0f32, 0.0, 0.0, 1.0].map(f32::to_bits));
    assert!(misses.is_empty(), "{misses:?}");
}

#[test]
fn an_untyped_load_reads_its_components() {
    let (_, misses) = last_texel(ImageLayout::Untyped, 1);
    assert_eq!(
        misses.iter().map(|miss| (miss.address, miss.len)).collect::<Vec<_>>(),
        [((BASE + 15).into(), 4)]
    );
}

/// Two buffers of 64 dwords above 4 GiB, one behind the other with a hole between them. Each dword has its own number.
fn far_memory() -> (Memory, u64) {
    let (mut memory, base) = (Memory::new(), 5u64 << 32);
    memory.set_address_bits(48);
    let numbers = |first: u32| (first..first + 64).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    memory.announce(Address::new(base), 256, Some(&numbers(1000)));
    memory.announce(Address::new(base + 0x1000), 256, Some(&numbers(2000)));
    (memory, base)
}

/// The access of dwords at `base` plus a lane's number in `at`.
fn far<R>(base: u64, at: &Lanes, go: impl FnOnce(&MemoryAccess<&Lanes>) -> R) -> R {
    let (low, high) = (Lanes::splat(base as u32), Lanes::splat((base >> 32) as u32));
    let index = Some(Index { value: at, shift: 0 });
    let width = Width::Word;
    go(&MemoryAccess { space: Space::Global, address: &low, high: Some(&high), index, offset: 0, width })
}

#[test]
fn loads_find_the_buffer_of_each_lane() {
    let (mut memory, base) = far_memory();
    let stage = stage();
    let mut seen = ShaderMemory::new(GpuMemory::ReadWrite(&mut memory), &stage);
    let mut load = |at: &dyn Fn(u32) -> u32, mask: Mask| {
        let at = Lanes(std::array::from_fn(|lane| at(lane as u32)));
        let mut out = [Lanes::ZERO; 2];
        far(base, &at, |request| seen.load(request, mask, &mut out));
        out
    };
    let [first, second] = load(&|lane| 4 * (lane ^ 1), Mask::MAX);
    assert_eq!([first[4], second[4], first[31]], [1005, 1006, 1030]);
    let [first, _] = load(&|lane| 0x1000 * (lane % 2) + 4 * lane, Mask::MAX);
    assert_eq!([first[4], first[5]], [1004, 2005], "lanes of two buffers");
    let [first, second] = load(&|lane| 4 * lane + 252, 1);
    assert_eq!([first[0], second[0]], [1063, 0], "the second dword is behind the buffer");
    let [first, _] = load(&|lane| if lane == 7 { 28 } else { u32::MAX }, 1 << 7);
    assert_eq!(first[7], 1007, "other lanes take no part");
    assert_eq!(seen.log.missing.iter().count(), 1);
}

#[test]
fn loads_of_all_widths_and_orders_read_the_bytes_of_each_lane() {
    let (mut memory, base) = far_memory();
    let bytes = memory.slice(Address::new(base), 256).unwrap().to_vec();
    let stage = stage();
    let mut seen = ShaderMemory::new(GpuMemory::ReadWrite(&mut memory), &stage);
    let orders: [fn(u32, u32) -> u32; 4] = [
        |_, _| 12,
        |lane, size| lane * size % 240,
        |lane, size| (31 - lane) * size % 240,
        |lane, _| lane * 36 % 240,
    ];
    for (width, count, order) in [Width::Byte, Width::Half, Width::Word]
        .into_iter()
        .flat_map(|width| (1..=4).flat_map(move |count| orders.map(|order| (width, count, order))))
    {
        let size = width.bytes() as usize;
        let at = Lanes(std::array::from_fn(|lane| order(lane as u32, (size * count) as u32)));
        let mut out = vec![Lanes::ZERO; count];
        far(base, &at, |request| seen.load(&MemoryAccess { width, ..*request }, Mask::MAX, &mut out));
        for (component, row) in out.iter().enumerate() {
            for lane in 0..LANES {
                let mut word = [0; 4];
                word[..size].copy_from_slice(&bytes[at[lane] as usize + component * size..][..size]);
                assert_eq!(
                    row[lane],
                    u32::from_le_bytes(word),
                    "{width:?} {component} of {count}, lane {lane}"
                );
            }
        }
    }
}

#[test]
fn stores_of_lanes_in_a_row_are_those_of_single_lanes() {
    for at in [
        |lane: u32| 4 * lane,
        |lane: u32| 4 * (31 - lane),
        |lane: u32| 0x1000 * (lane / 16) + 8 * (lane % 16),
    ] {
        let ((mut together, base), (mut alone, _)) = (far_memory(), far_memory());
        let (stage, mask) = (stage(), 0xffff_0fff);
        let at = Lanes(std::array::from_fn(|lane| at(lane as u32)));
        let values = Lanes(std::array::from_fn(|lane| lane as u32));
        let mut seen = ShaderMemory::new(GpuMemory::ReadWrite(&mut together), &stage);
        far(base, &at, |request| seen.store(request, mask, &[&values]));
        let mut seen = ShaderMemory::new(GpuMemory::ReadWrite(&mut alone), &stage);
        for lane in lanes_of(mask) {
            far(base, &at, |request| seen.store(request, 1 << lane, &[&values]));
        }
        for buffer in [base, base + 0x1000] {
            let bytes = |memory: &Memory| memory.slice(Address::new(buffer), 256).unwrap().to_vec();
            assert_eq!(bytes(&together), bytes(&alone));
        }
    }
}

#[test]
fn atomics_of_global_memory_take_turns() {
    let (mut memory, base) = far_memory();
    let stage = stage();
    let mut seen = ShaderMemory::new(GpuMemory::ReadWrite(&mut memory), &stage);
    let (low, high) = (Lanes::splat(base as u32 + 8), Lanes::splat((base >> 32) as u32));
    let one = Lanes::splat(1);
    let place = AtomicPlace::Global([&low, &high]);
    let request = Atomic { place, op: AtomicOp::Add, number: Number::Uint, data: Few::new(&[&one]) };
    let mut old = Lanes::ZERO;
    seen.atomic(&request, Mask::MAX, &mut old);
    assert_eq!((old[0], old[31]), (1002, 1033));
    assert_eq!(memory.read_u32(Address::new(base + 8)), Some(1034));
}

/// Loads at any address, inside and outside of a lane's part.
#[test]
fn a_load_of_inputs_reads_the_part_of_its_lane() {
    const PART: usize = 48;
    let (mut memory, stage) = (Memory::new(), StageState { stage: Stage::GS, ..StageState::of("end\n") });
    let mut seen = ShaderMemory::new(GpuMemory::ReadWrite(&mut memory), &stage);
    seen.inputs = (0..6 * PART).map(|at| (at * 7) as u8).collect();
    let (mut inside, mut outside) = (0, 0);
    for (parts, size) in [(None, 6 * PART), (Some(InputParts { lanes: 5, bytes: PART }), PART)] {
        for (components, first) in (1..=4).flat_map(|count| [0, 3, 21, 240].map(|first| (count, first))) {
            // Six parts are those of 30 lanes.
            for mask in [Mask::MAX >> 2, 0x2102_0408] {
                let address = Lanes(std::array::from_fn(|lane| first + lane as u32 * 5 % 17));
                let request = MemoryAccess {
                    space: Space::Stage,
                    address: &address,
                    high: None,
                    index: None,
                    offset: 0,
                    width: Width::Word,
                };
                let mut out = vec![Lanes::ZERO; components];
                seen.parts = parts;
                seen.load(&request, mask, &mut out);
                let noted = std::mem::take(&mut seen.log.outside_inputs);
                for lane in lanes_of(mask) {
                    let (start, at) = (parts.map_or(0, |_| lane / 5 * PART), address[lane] as usize);
                    let byte = |at: usize| if at < size { seen.inputs[start + at] } else { 0 };
                    for (c, row) in out.iter().enumerate() {
                        let want = u32::from_le_bytes(std::array::from_fn(|k| byte(at + 4 * c + k)));
                        assert_eq!(row[lane], want, "component {c} of lane {lane} at {at} with {parts:?}");
                    }
                    let is_inside = at + 4 * components <= size;
                    (inside, outside) = (inside + u32::from(is_inside), outside + u32::from(!is_inside));
                    assert_eq!(
                        noted.iter().any(|noted| noted.lane == lane),
                        !is_inside,
                        "lane {lane} at {at}"
                    );
                }
            }
        }
    }
    assert!(inside > 500 && outside > 100, "{inside} {outside}");
}
