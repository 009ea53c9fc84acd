//! Compares textures that compiled code reads directly with the texture unit.
use a4emu_decoder::adreno::ir3::program::assemble;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::planar::{coords, scene};
use super::seed::random_cases;
use super::*;
use crate::draw::tpl1::{BoundBank, DirectReads};
use a4emu_shader::jit::{Texels, target};
use a4emu_shader::testing::asked_programs;
use a4emu_shader::{Environment, Jit, Mask, Op, Outcome, Program, Refused, Warp, run};

/// Number of full registers that these programs use.
const REGISTERS: u32 = 16;

/// The textures of a bank, also for compiled code if `for_code` is set. Records what the code has read.
struct Textures<'b> {
    bank: &'b BoundBank<'b>,
    for_code: bool,
    sampled: Vec<u64>,
}

impl Environment for Textures<'_> {
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        let Op::Sample(sample) = op else { return Err(Refused) };
        self.bank.sample(sample, mask, out);
        Ok(())
    }

    fn way(&mut self, program: &Program) -> Option<usize> {
        self.bank.for_code(program, self.for_code).map(|it| it.way)
    }

    fn texels(&self) -> &[Texels<'_>] {
        self.bank.known_for_code().map_or(&[], |it| &it.texels)
    }

    fn sampled(&mut self, lanes: u64) {
        self.sampled.push(lanes);
    }
}

/// Runs `text` on `live` lanes with these coordinates in r0.x and r0.y, interpreted and compiled, and
/// compares the results. Returns whether the code read the textures directly.
fn is_in_code(scene: &Scene, text: &str, [s, t]: [&Lanes; 2], live: Mask) -> bool {
    let memory = scene.memory();
    let bank = scene.bank(&memory);
    let played = |jit: Jit| {
        // A bound bank belongs to one program.
        let bound = bank.bind(&memory);
        let program = Program::new(&assemble(text).expect("text")).expect("a program");
        program.prepare(jit);
        let mut warp = Warp::new(&program, &[]);
        warp.restart(&program, live, 0);
        (*warp.full_mut(0), *warp.full_mut(1)) = (*s, *t);
        (2..REGISTERS).for_each(|id| *warp.full_mut(id) = Lanes::splat(id));
        let mut textures = Textures { bank: &bound, for_code: jit != Jit::Off, sampled: Vec::new() };
        assert_eq!(run(&program, &mut warp, &mut textures), Outcome::Ended);
        let left: Vec<Lanes> = (0..REGISTERS).map(|id| *warp.full(id)).collect();
        (left, warp.executed(), textures.sampled)
    };
    let unit = played(Jit::Off);
    let [wide, narrow] = [Jit::On, Jit::Avx2].map(|jit| {
        let code = played(jit);
        assert_eq!((unit.1, unit.2.len()), (code.1, 0), "{text}");
        for (id, (unit, code)) in unit.0.iter().zip(&code.0).enumerate() {
            for lane in (0..LANES).filter(|lane| live >> lane & 1 != 0) {
                assert_eq!(unit[lane], code[lane], "{jit:?}: {text}: register {id}, lane {lane}, {scene:?}");
            }
        }
        code.2
    });
    assert_eq!(wide, narrow, "{text}");
    assert!(wide.len() < 2 && wide.iter().all(|lanes| *lanes == u64::from(live.count_ones())), "{wide:?}");
    !wide.is_empty()
}

const SAMPLE: &str = "sam (f32)(xyzw)r1.x, r0.x, s#0, t#0\nend\n";

/// A texture of 5x3 texels of four bytes, with only one possible level.
fn bytes_of_dwords() -> Scene {
    let bytes = (0..3 * 32).map(|byte: u32| (byte.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let scene = Scene::new(TexFmt::TFMT4_8_8_8_8_UNORM, 5, 3, 4, bytes);
    Scene { pitch: 32, sampler1: vec![("MAX_LOD", 0)], ..scene }
}

/// Returns coordinates on texels, between them, at the edges, outside, and NaN.
fn all_over() -> [Lanes; 2] {
    const ODD: [f32; 8] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 0.0, 1.0, -1e-9, 1e30];
    let s = |lane: usize| if lane & 3 == 0 { ODD[lane / 4] } else { lane as f32 / 10.0 - 0.7 };
    let t = |lane: usize| if lane & 3 == 1 { ODD[lane / 4] } else { 2.1 - lane as f32 / 12.0 };
    [
        Lanes(std::array::from_fn(|lane| s(lane).to_bits())),
        Lanes(std::array::from_fn(|lane| t(lane).to_bits())),
    ]
}

/// Returns whether compiled code can read textures on this machine.
fn has_code() -> bool {
    target().is_some()
}

#[test]
fn every_way_of_reading_is_in_the_code() {
    let [s, t] = all_over();
    let within = Lanes(std::array::from_fn(|lane| (lane as f32 / 40.0 + 0.1).to_bits()));
    for filter in 0..2 {
        for (s_wrap, t_wrap) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for swizzle in [[0, 1, 2, 3], [2, 1, 0, 5], [3, 4, 4, 0]] {
                let fields = [("XY_MAG", filter), ("XY_MIN", filter), ("WRAP_S", s_wrap), ("WRAP_T", t_wrap)];
                let scene = Scene { swizzle, ..bytes_of_dwords().sampler(&fields, &[]) };
                for coords in [[&s, &t], [&within, &within], [&t, &within]] {
                    assert_eq!(is_in_code(&scene, SAMPLE, coords, ALL), has_code());
                }
            }
        }
    }
}

#[test]
fn compiled_code_leaves_uncommon_textures_to_the_texture_unit() {
    let [s, t] = all_over();
    let linear = || bytes_of_dwords().linear();
    let is_in_code = |scene: &Scene, text: &str| is_in_code(scene, text, [&s, &t], ALL);
    // Enough computation to have compiled code without requests.
    let computing =
        format!("add.f r2.x, r0.x, r0.y\nmul.f r2.y, r2.x, r0.y\nadd.f r2.z, r2.x, r2.y\n{SAMPLE}");
    assert_eq!(is_in_code(&linear(), &computing), has_code());
    for scene in [
        // Several levels or filters.
        Scene { levels: 2, ..linear() }.sampler(&[], &[("MAX_LOD", 1 << 8)]),
        bytes_of_dwords().sampler(&[("XY_MAG", 1)], &[("MAX_LOD", 14 << 8)]),
        // Texels that are not dwords of bytes, missing texels, borders, and weights of more bits.
        Scene { fmt: TexFmt::TFMT4_8_8_UNORM, ..linear() },
        Scene { fmt: TexFmt::TFMT4_10_10_10_2_UNORM, ..linear() },
        Scene { bytes: linear().bytes[..40].to_vec(), ..linear() },
        linear().wrapped(TexClamp::A4XX_TEX_MIRROR_REPEAT),
        Scene { model: Model::StrictGl, ..linear() },
    ] {
        assert!(!is_in_code(&scene, &computing), "{scene:?}");
    }
    // An uncommon request or an integer request beside a common one.
    let beside = |other: &str| format!("{other}\nadd.f r0.z, r1.x, r0.y\n{SAMPLE}");
    for other in ["sam.p (f32)(xy)r1.x, r0.x, s#0, t#0", "sam (u32)(x)r1.x, r0.x, s#0, t#0"] {
        assert_eq!(is_in_code(&linear(), &beside(other)), has_code(), "{other}");
    }
    for other in ["getsize (u32)(x)r1.x, r0.x, t#0", "kill p0.x"] {
        let text = beside(other);
        let program = Program::new(&assemble(&text).unwrap()).unwrap();
        program.prepare(Jit::On);
        assert!(program.routine().is_none_or(|routine| routine.requests().is_none()), "{other}");
    }
}

/// Code has a limited number of read variants. Other draws use the texture unit.
#[test]
fn a_program_has_code_for_a_few_ways_of_reading() {
    if !has_code() {
        return eprintln!("SKIPPED: no AVX2");
    }
    let program = Program::new(&assemble(SAMPLE).unwrap()).unwrap();
    program.prepare(Jit::On);
    let swizzles = (0..6).map(|x| [x, 1, 2, 3]);
    let ways: Vec<Option<usize>> = swizzles
        .chain([[0, 1, 2, 3], [5, 1, 2, 3], [3, 1, 2, 3]])
        .map(|swizzle| {
            let scene = Scene { swizzle, ..bytes_of_dwords() };
            let memory = scene.memory();
            let bank = scene.bank(&memory);
            let bound = bank.bind(&memory);
            assert!(bound.for_code(&program, false).is_none(), "not before it pays");
            bound.for_code(&program, true).map(|DirectReads { way, .. }| *way)
        })
        .collect();
    assert_eq!(ways, [Some(0), Some(1), Some(2), Some(3), None, None, Some(0), None, Some(3)]);
}

/// Returns scenes, most of which compiled code can read: dwords of bytes, with one level.
fn readable() -> impl Strategy<Value = Scene> {
    let readable = scene().prop_map(|scene| Scene {
        fmt: TexFmt::TFMT4_8_8_8_8_UNORM,
        pitch: (4 * scene.size.0).next_multiple_of(32),
        sampler1: vec![("MAX_LOD", 0)],
        model: Model::Board,
        ..scene
    });
    prop_oneof![3 => readable, 1 => scene()]
}

/// Returns an instruction on the first registers: arithmetic or a texture request.
fn line() -> impl Strategy<Value = String> {
    let name = |id: u32| format!("r{}.{}", id / 4, ["x", "y", "z", "w"][id as usize % 4]);
    let register = || (0..REGISTERS).prop_map(name);
    let two = (prop::sample::select(vec!["add.f", "mul.f", "max.f"]), register(), register(), register())
        .prop_map(|(op, dst, a, b)| format!("{op} {dst}, {a}, {b}"));
    let three =
        prop::array::uniform4(register()).prop_map(|[dst, a, b, c]| format!("mad.f32 {dst}, {a}, {b}, {c}"));
    let components = prop::sample::subsequence(vec!['x', 'y', 'z', 'w'], 1..=4);
    let sample =
        (components, 0..REGISTERS - 3, 0..REGISTERS - 1).prop_map(move |(components, dst, coords)| {
            let components: String = components.into_iter().collect();
            format!("sam (f32)({components}){}, {}, s#0, t#0", name(dst), name(coords))
        });
    prop_oneof![2 => two, 1 => three, 2 => sample]
}

/// Returns a texture, a program and lanes.
fn case() -> impl Strategy<Value = (Scene, Vec<String>, [Lanes; 2], Mask)> {
    let coords = (coords(), coords()).prop_map(|(s, t)| [s, t]);
    (readable(), prop::collection::vec(line(), 1..24), coords, prop_oneof![Just(ALL), 1u32..])
}

fn leaves_the_same((scene, lines, [s, t], live): (Scene, Vec<String>, [Lanes; 2], Mask)) {
    is_in_code(&scene, &(lines.join("\n") + "\n" + SAMPLE), [&s, &t], live);
}

#[test]
fn programs_that_read_textures_leave_what_the_unit_leaves() {
    proptest!(random_cases(512), |(case in case())| leaves_the_same(case));
}

/// Runs `A4EMU_PROGRAMS` programs from seed `A4EMU_SEED` on, for `scripts/fuzz`.
#[test]
#[ignore = "minutes: scripts/fuzz runs it"]
fn many_programs_read_the_same() {
    let (seed, count) = asked_programs();
    let (rng_seed, cases) = (RngSeed::Fixed(seed), count as u32);
    let config = ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(case in case())| leaves_the_same(case));
}
