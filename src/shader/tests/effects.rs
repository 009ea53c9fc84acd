//! Tests of memory, atomics, textures, varyings and derivatives with a test environment.
use a4emu_decoder::adreno::ir3::program::assemble_in;

use super::*;
use crate::{
    AtomicPlace, Lod, MemoryAccess, Op, Plain, PlainLevel, Refused, Sample, ShaderFault, Space, lanes_of,
};

/// A small memory of dwords, with a log of requests.
#[derive(Default)]
struct Machine {
    words: Vec<u32>,
    notes: Vec<String>,
}

impl Machine {
    fn new() -> Self {
        Self { words: (0..256).collect(), notes: Vec::new() }
    }

    /// The dword at an address. The upper half of an address of 64 bits counts as more dwords: 16 for each.
    fn word(&mut self, address: u64) -> &mut u32 {
        let [low, high] = [address as u32, (address >> 32) as u32];
        &mut self.words[low as usize / 4 + 16 * high as usize]
    }
}

impl Machine {
    fn load(&mut self, from: &MemoryAccess<&Lanes>, mask: Mask, out: &mut [Lanes]) {
        self.notes.push(format!("load {:?} {mask:x} x{}", from.space, out.len()));
        for (n, out) in out.iter_mut().enumerate() {
            for lane in lanes_of(mask) {
                out[lane] = *self.word(from.address(lane) + n as u64 * u64::from(from.width.bytes()));
            }
        }
    }

    fn store(&mut self, to: &MemoryAccess<&Lanes>, mask: Mask, data: &[&Lanes]) {
        self.notes.push(format!("store {:?} {mask:x} x{}", to.space, data.len()));
        for (n, value) in data.iter().enumerate() {
            for lane in lanes_of(mask) {
                *self.word(to.address(lane) + n as u64 * 4) = value[lane];
            }
        }
    }

    fn sample(&mut self, sample: &Sample<&Lanes>) {
        let lod = match sample.lod {
            Lod::Implicit => "implicit".to_owned(),
            Lod::Bias(value) => format!("bias {}", value.floats()[1]),
            Lod::Explicit(value) => format!("explicit {}", value.floats()[1]),
            Lod::Level(value) => format!("level {}", value[1]),
            Lod::Gradients(x, y) => format!("gradients {} {}", x[0].floats()[1], y[1].floats()[1]),
            Lod::Zero => "zero".to_owned(),
        };
        let extras = [sample.reference, sample.layer, sample.sample].map(|row| row.map(|row| row[1]));
        let offsets =
            sample.offsets.map(|offsets| offsets.iter().map(|row| row[1] as i32).collect::<Vec<_>>());
        let coords: Vec<u32> = sample.coords.iter().map(|row| row[1]).collect();
        self.notes.push(format!(
            "{:?} {lod} {:?} {:?} {coords:?} {extras:?} {offsets:?}",
            sample.kind,
            sample.number,
            sample.slots.of(1)
        ));
    }
}

impl Environment for Machine {
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        match op {
            Op::Load { from, components } => self.load(from, mask, &mut out[..*components]),
            Op::Store { to, data } => self.store(to, mask, data),
            Op::ImageLoad { from, .. } => {
                self.notes.push(format!("image {:?} {}", from.layout, from.dimensions));
                for lane in lanes_of(mask) {
                    let address = from.address.map_or(4 * u32::from(from.offset), |address| address[lane]);
                    out[0][lane] = *self.word(address.into()) + from.slot[lane] + from.position[0][lane];
                }
            }
            Op::UniformLoad(load) => {
                self.notes.push(format!("block of base {:?}", load.base));
                for lane in lanes_of(mask) {
                    let at = 4 * load.vector[lane] + u32::from(load.component) + 100 * load.block[lane];
                    (at..).zip(&mut *out).for_each(|(value, row)| row[lane] = value);
                }
            }
            Op::Atomic(atomic) => {
                let address = |lane: usize| match &atomic.place {
                    AtomicPlace::Local(address) => u64::from(address[lane]),
                    AtomicPlace::Image(image) => {
                        image.address.map_or(4 * image.position[0][lane], |it| it[lane]).into()
                    }
                    AtomicPlace::Global([low, high]) => u64::from(high[lane]) << 32 | u64::from(low[lane]),
                };
                for lane in lanes_of(mask) {
                    let word = self.word(address(lane));
                    out[0][lane] = *word;
                    *word = atomic.apply(lane, *word);
                }
            }
            Op::Sample(sample) => {
                self.sample(sample);
                *out = std::array::from_fn(|n| Lanes::splat(n as u32 + 1));
            }
            Op::Varying(varying) => {
                for lane in lanes_of(mask) {
                    let value = varying.i.floats()[lane] + varying.location[lane] as f32;
                    out[0][lane] = value.to_bits();
                }
            }
            Op::FlatVarying { location, .. } => {
                (*location..).zip(out).for_each(|(location, out)| *out = Lanes::splat(location));
            }
            Op::ImageStore { .. } | Op::ImageSize { .. } | Op::Query(_) => return Err(Refused),
        }
        Ok(())
    }
}

#[test]
fn operations_that_the_environment_lacks_are_faults() {
    let program = program("getsize (u32)(xyz)r1.x, r0.x, t#0\nend");
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, ALL, 0);
    let fault = ShaderFault::Unsupported { at: 0, what: "texture query" };
    assert_eq!(run(&program, &mut warp, &mut Machine::new()), Outcome::from(fault));
}

#[test]
fn loads_and_stores_move_components() {
    let mut machine = Machine::new();
    let warp = ran_in(
        "shl.b r1.x, r0.x, 2\nldg.u32 r2.x, g[r1.x+8], 2\nstl.u32 l[r1.x+512], r2.y, 1\nend",
        ALL,
        &mut machine,
    );
    assert_eq!(*warp.full(9), integers(|lane| lane + 3));
    assert_eq!(machine.words[128..160], *integers(|lane| lane + 3).as_slice());
    assert_eq!(machine.notes, ["load Global ffffffff x2", "store Local ffffffff x1"]);
}

#[test]
fn long_loads_are_taken_in_pieces() {
    let mut machine = Machine::new();
    let warp = ran_in("mov.u32u32 r1.x, 16\nldp.u32 r2.x, p[r1.x], 6\nend", ALL, &mut machine);
    assert_eq!(*warp.full(13), Lanes::splat(9));
    assert_eq!(machine.notes, ["load Private ffffffff x4", "load Private ffffffff x2"]);
}

#[test]
fn helpers_and_killed_lanes_do_not_store() {
    let source = "cmps.u.lt p0.x, r0.x, 4\nkill p0.x\nshl.b r1.x, r0.x, 2\nstg.u32 g[r1.x], r0.y, 1\nend";
    let program = program(source);
    let mut machine = Machine::new();
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, 0xff, 0xf00);
    *warp.full_mut(0) = integers(|lane| lane);
    run(&program, &mut warp, &mut machine);
    assert_eq!(machine.notes, ["store Global f0 x1"]);
    assert_eq!(machine.words[0..16], [0, 1, 2, 3, 0, 0, 0, 0, 8, 9, 10, 11, 12, 13, 14, 15]);
}

#[test]
fn atomics_act_lane_after_lane() {
    let source =
        "mov.u32u32 r1.x, 400\nmov.u32u32 r1.y, 2\natomic.add.untyped.1d.u32.1.l r2.x, l[r1.x], r1.y\nend";
    let mut machine = Machine::new();
    let warp = ran_in(source, ALL, &mut machine);
    assert_eq!(*warp.full(8), integers(|lane| 100 + 2 * lane));
    assert_eq!(machine.words[100], 164);
}

#[test]
fn storage_loads_name_slot_and_position() {
    let source = "mov.u32u32 r1.x, 40\nmov.u32u32 r1.y, 5\nldgb.untyped.4d.u32.1 r2.x, g[3], r1.x, r1.y\nend";
    let mut machine = Machine::new();
    let warp = ran_in(source, ALL, &mut machine);
    assert_eq!(*warp.full(8), Lanes::splat(10 + 3 + 5));
    assert_eq!(machine.notes, ["image Untyped 4"]);
}

/// The request of one texture instruction.
fn asked(instruction: &str) -> String {
    let set = "(rpt3)mov.u32u32 r1.x, 7\n(rpt3)mov.u32u32 r2.x, 8\n(rpt3)mov.u32u32 r3.x, 9\n";
    let mut machine = Machine::new();
    ran_in(&format!("{set}{instruction}\nend"), ALL, &mut machine);
    machine.notes.join("; ")
}

#[test]
fn texture_operands_are_sorted() {
    let tiny = |bits: u32| f32::from_bits(bits);
    assert_eq!(
        asked("sam (f32)(xyzw)r8.x, r1.x, s#2, t#3"),
        "Filter implicit Float (2, 3) [7, 7] [None, None, None] None"
    );
    assert_eq!(
        asked("sam.a.s (f32)(x)r8.x, r1.z, s#0, t#1"),
        "Filter implicit Float (0, 1) [7, 7] [Some(8), Some(8), None] None"
    );
    assert_eq!(
        asked("sam.o (f32)(y)r8.x, r1.x, r2.x, s#0, t#0"),
        "Filter implicit Float (0, 0) [7, 7] [None, None, None] Some([8, 8])"
    );
    assert_eq!(
        asked("saml.3d (f32)(xyzw)r8.x, r1.x, r3.x, s#0, t#0"),
        format!("Filter explicit {} Float (0, 0) [7, 7, 7] [None, None, None] None", tiny(9))
    );
    assert_eq!(
        asked("isaml (s32)(xy)r8.x, r1.x, r2.x, s#0, t#0"),
        "Fetch level 8 Sint (0, 0) [7, 7] [None, None, None] None"
    );
    assert_eq!(
        asked("samgq (f32)(xyzw)r8.x, r1.x, s#0, t#0"),
        format!("Filter gradients {0} {0} Float (0, 0) [7, 7] [None, None, None] None", tiny(8))
    );
    assert_eq!(
        asked("gather4g (f32)(xyzw)r8.x, r1.x, s#0, t#1"),
        "Gather(1) zero Float (0, 1) [7, 7] [None, None, None] None"
    );
}

#[test]
fn texture_results_obey_the_write_mask_and_the_execution_mask() {
    let source = "cmps.u.lt p0.x, r0.x, 4\nbr !p0.x, #out\nsam (u32)(yw)r4.x, r0.x, s#0, t#0\nout:\nend";
    let warp = ran_in(source, ALL, &mut Machine::new());
    let few = |value: u32| integers(move |lane| if lane < 4 { value } else { 0 });
    assert_eq!([16, 17, 18, 19].map(|id| *warp.full(id)), [few(0), few(2), few(0), few(4)]);
}

/// An environment that returns sums of the operands of samples. `sooner` enables the fast path.
struct Sums {
    sooner: bool,
    done: usize,
}

impl Sums {
    fn answer<'a>(operands: impl Iterator<Item = &'a Lanes> + Clone, components: u8, out: &mut [Lanes; 4]) {
        for c in (0..4).filter(|c| components >> c & 1 != 0) {
            out[c] = integers(|lane| operands.clone().map(|row| row[lane as usize]).sum::<u32>() + c as u32);
        }
    }
}

impl Environment for Sums {
    fn perform(&mut self, op: &Op<&Lanes>, _: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        let Op::Sample(sample) = op else { return Err(Refused) };
        let level = if let Lod::Explicit(level) = sample.lod { Some(level) } else { None };
        Self::answer(sample.coords.iter().copied().chain(level), 0xf, out);
        Ok(())
    }

    fn filter(&mut self, request: &Plain<&Lanes>, _: Mask, out: &mut [Lanes; 4]) -> bool {
        let level = if let PlainLevel::Explicit(level) = request.level { Some(level) } else { None };
        if self.sooner {
            self.done += 1;
            Self::answer(request.coords.into_iter().chain(level), request.components, out);
        }
        self.sooner
    }
}

/// The result may overwrite operands, and is next to other live registers.
#[test]
fn a_sample_that_is_answered_sooner_leaves_what_the_other_leaves() {
    let set = "add.u r0.z, r0.x, 70\nadd.u r0.w, r0.x, 300\nadd.u r1.x, r0.x, 500\nadd.u r1.y, r0.x, 1023\n";
    let samples = [
        "sam (f32)(xyzw)r0.x, r0.z, s#0, t#0",
        "sam (f32)(yw)r0.z, r0.w, s#0, t#0",
        "sam (f32)(xz)r2.x, r0.z, s#0, t#0",
        "sam (f32)(x)r0.x, r1.x, s#0, t#0",
        "sam (f32)(w)r47.x, r0.z, s#0, t#0",
        "saml (f32)(xyz)r0.w, r0.z, r1.y, s#0, t#0",
        "saml (f32)(xyzw)r2.x, r0.z, r2.y, s#0, t#0",
        "sam (f16)(xy)hr0.x, r0.z, s#0, t#0",
    ];
    for sample in samples {
        for live in [ALL, 0xffff_0ff3] {
            let left = |sooner| {
                let mut sums = Sums { sooner, done: 0 };
                let part = "cmps.u.lt p0.x, r0.x, 9\nbr p0.x, #out\n";
                let warp = ran_in(&format!("{set}{sample}\n{part}{sample}\nout:\nend"), live, &mut sums);
                assert_eq!(sums.done, if sooner { 2 } else { 0 }, "{sample}");
                let registers = (0..192).map(|id| *warp.full(id)).chain((0..192).map(|id| *warp.half(id)));
                registers.map(|row| lanes_of(live).map(|lane| row[lane]).collect()).collect::<Vec<Vec<u32>>>()
            };
            assert_eq!(left(true), left(false), "{sample} {live:x}");
        }
    }
}

#[test]
fn half_texture_results_are_converted() {
    let warp = ran_in(
        "sam (f16)(x)hr4.x, r0.x, s#0, t#0\nisam (u16)(y)hr5.x, r0.x, s#0, t#0\nend",
        ALL,
        &mut Machine::new(),
    );
    assert_eq!((*warp.half(16), *warp.half(21)), (Lanes::ZERO, Lanes::splat(2)));
}

#[test]
fn varyings_are_interpolated_and_flat_ones_read() {
    let warp = ran_in("(rpt1)bary.f r1.x, (r)3, r0.y\nldlv.u32 r2.x, l[5], 2\nend", ALL, &mut Machine::new());
    assert_eq!((*warp.full(4), *warp.full(5)), (floats(|lane| lane + 3.0), floats(|lane| lane + 4.0)));
    assert_eq!((*warp.full(8), *warp.full(9)), (Lanes::splat(5), Lanes::splat(6)));
}

#[test]
fn derivatives_are_differences_within_a_quad() {
    let warp = ran(
        "mul.f r1.x, r0.y, r0.y\ndsx (f32)(x)r1.y, r1.x\ndsy (f32)(x)r1.z, r1.x\ndsxpp.1 (x)r1.w, r1.x\nend",
    );
    let square = |lane: u32| (lane * lane) as f32;
    let along_x = integers(|lane| (square(lane | 1) - square(lane & !1)).to_bits());
    let along_y = integers(|lane| (square(lane | 2) - square(lane & !2)).to_bits());
    assert_eq!([5, 6, 7].map(|id| *warp.full(id)), [along_x, along_y, along_x]);
}

#[test]
fn derivatives_over_their_own_source_see_the_old_values() {
    let warp = ran("mul.f r1.x, r0.y, c0.z\nmul.f r1.y, r0.y, c0.w\ndsx (f32)(xy)r1.y, r1.x\nend");
    assert_eq!((*warp.full(5), *warp.full(6)), (floats(|_| 2.0), floats(|_| 3.0)));
}

#[test]
fn a_hull_shader_waits_at_ss_after_a_store() {
    let words = assemble("stp.u32 p[r1.x], r0.x, 1\n(ss)nop\nend").unwrap();
    let mut machine = Machine::new();
    let program =
        Program::lowered(Dialect { sync: SyncFlag::Barrier, ..Dialect::A4XX }, Granularity::Runs, &words)
            .unwrap();
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, 7, 0);
    assert_eq!(run(&program, &mut warp, &mut machine), Outcome::Barrier);
    assert_eq!(run(&program, &mut warp, &mut machine), Outcome::Ended);
    assert_eq!(machine.notes, [format!("store {:?} 7 x1", Space::Private)]);
}

/// Runs a program of A6xx with lane numbers in r0.x. Returns the warp and the machine.
fn ran_on_a6xx(source: &str) -> (Warp, Machine) {
    let program = of(Isa::A6xx, &assemble_in(Isa::A6xx, source).unwrap());
    let (mut warp, mut machine) = (Warp::new(&program, &constants()), Machine::new());
    warp.restart(&program, ALL, 0);
    *warp.full_mut(0) = integers(|lane| lane);
    warp.set_shared(2, 77);
    assert_eq!(run(&program, &mut warp, &mut machine), Outcome::Ended, "{source}");
    (warp, machine)
}

#[test]
fn addresses_of_global_memory_have_two_registers_from_a5xx_on() {
    let base = "mov.u32u32 r1.x, 64\nmov.u32u32 r1.y, 2\n";
    let (warp, _) = ran_on_a6xx(&format!("{base}ldg.u32 r4.x, g[r1.x+8], 2\nend"));
    assert_eq!([warp.full(16)[3], warp.full(17)[3]], [32 + 16 + 2, 32 + 16 + 3]);
    let (warp, _) = ran_on_a6xx(&format!("{base}ldg.a.u32 r4.x, g[r1.x+(r0.x+1)<<2], 1\nend"));
    assert_eq!(*warp.full(16), integers(|lane| 32 + 16 + lane + 1));
    // The index is signed, and only it is shifted.
    let back = "sub.u r2.x, 0, r0.x\nldg.a.u32 r4.x, g[r1.x+r2.x<<3+1<<2], 1\nend";
    let (warp, _) = ran_on_a6xx(&format!("mov.u32u32 r1.x, 1000\nmov.u32u32 r1.y, 0\n{back}"));
    assert_eq!(*warp.full(16), integers(|lane| 250 - 2 * lane + 1));
    let (_, machine) = ran_on_a6xx(&format!("{base}stg.a.u32 g[r1.x+(r0.x)<<2], r0.x, 1\nend"));
    assert_eq!(machine.words[48..80], (0..32).collect::<Vec<u32>>());
}

#[test]
fn atomics_of_a6xx_name_their_memory() {
    let base = "mov.u32u32 r1.x, 64\nmov.u32u32 r1.y, 2\n";
    let global = "atomic.g.add.untyped.1d.u32.1.g r4.x, r1.x, r0.x";
    let (warp, machine) = ran_on_a6xx(&format!("{base}{global}\nend"));
    assert_eq!(machine.words[48], 48 + (0..32).sum::<u32>());
    assert_eq!(*warp.full(16), integers(|lane| 48 + (0..lane).sum::<u32>()));
    // The old value goes to the register in front of the data.
    let (warp, machine) = ran_on_a6xx(
        "mov.u32u32 r4.y, 5\nmov.u32u32 r5.x, 9\natomic.b.add.untyped.1d.u32.1.imm r4.x, r5.x, 3\nend",
    );
    assert_eq!((machine.words[9], warp.full(16)[1]), (9 + 32 * 5, 9 + 5));
}

#[test]
fn descriptors_and_blocks_of_a6xx_have_a_slot_and_a_base() {
    let (warp, machine) = ran_on_a6xx("ldc.offset2.2.imm.base3 r4.x, 5, 1\nend");
    assert_eq!((warp.full(16)[0], warp.full(17)[9]), (4 * 5 + 2 + 100, 4 * 5 + 3 + 100));
    assert_eq!(machine.notes, ["block of base Some(3)"]);
    let (warp, _) = ran_on_a6xx("ldib.b.untyped.1d.u32.1.imm r4.x, r0.x, 7\nend");
    assert_eq!(*warp.full(16), integers(|lane| lane + 7));
}

#[test]
fn shared_registers_hold_one_value_for_all_lanes() {
    let (warp, _) = ran_on_a6xx("add.u r4.x, r48.z, r0.x\nend");
    assert_eq!(*warp.full(16), integers(|lane| 77 + lane));
    // One lane writes the register, all read it.
    let elected = "getone #rest\nadd.u r49.x, r0.x, 5\nrest:\nmov.u32u32 r4.x, r49.x\nend";
    let (warp, _) = ran_on_a6xx(elected);
    assert_eq!((warp.full(16), warp.shared(4)), (&Lanes::splat(5), 5));
    let (warp, _) = ran_on_a6xx("mov.u32u32 r48.x, r0.x\nmov.u32u32 r4.x, r48.x\nend");
    assert_eq!(*warp.full(16), Lanes::splat(0), "the value of the lowest lane");
    // An A4xx has no such registers.
    let program = program("mov.u32u32 r48.x, 3\nmov.u32u32 r4.x, r48.x\nend");
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, ALL, 0);
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::Ended);
    assert_eq!(*warp.full(16), Lanes::ZERO);
}

#[test]
fn halves_of_shared_registers_are_refused() {
    let program = of(Isa::A6xx, &assemble_in(Isa::A6xx, "add.u hr1.x, hr48.x, hr0.x\nend").unwrap());
    let mut warp = Warp::new(&program, &[]);
    warp.restart(&program, ALL, 0);
    let fault = ShaderFault::Unsupported { at: 0, what: "a half of a shared register" };
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::from(fault));
}

#[test]
fn a_preamble_writes_constants_that_all_lanes_read() {
    let preamble = |lines: &str| format!("shps #main\ngetone #main\n{lines}\nshpe\nmain:\n");
    let (warp, _) = ran_on_a6xx(&format!(
        "{}mov.u32u32 r4.x, c2.y\nend",
        preamble("mov.u32u32 r1.x, 70\nadd.u r1.y, r0.x, 71\nstc.u32 c[8], r1.x, 2")
    ));
    assert_eq!((warp.full(16), warp.constants()[8]), (&Lanes::splat(71), 70));
    // Blocks and memory, at a1.x.
    let (warp, _) = ran_on_a6xx(&format!(
        "{}mov.u32u32 r4.x, c5.w\nend",
        preamble("mova1 a1.x, 16\nldc.2.k.imm.base1 c[a1.x], 3, 2")
    ));
    assert_eq!(*warp.full(16), Lanes::splat(200 + 4 * 4 + 3), "the last component of the second vector");
    let (warp, _) = ran_on_a6xx(&format!(
        "{}mov.u32u32 r4.x, c3.y\nend",
        preamble("mov.u32u32 r1.x, 64\nmov.u32u32 r1.y, 0\nldg.k.u32 c[12], g[r1.x+16], 1")
    ));
    assert_eq!(*warp.full(16), Lanes::splat(16 + 4 + 1));
}
