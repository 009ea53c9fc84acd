//! Tests of the guesses that watched programs report, and of their reach.
use std::collections::BTreeMap;

use a4emu_decoder::adreno::ir3::program::assemble;
use a4emu_decoder::guesses::Guess;

use super::{constants, floats, integers};
use crate::tests::watched;
use crate::{ALL, Environment, Lanes, Mask, Op, Outcome, Reach, Refused, Sample, Warp, run};

/// An environment that collects reported guesses. Memory and textures read 0.
#[derive(Default)]
struct Listener {
    heard: BTreeMap<Guess, Reach>,
    /// The reach of each sample.
    sampled: Vec<Reach>,
}

impl Environment for Listener {
    fn perform(&mut self, _: &Op<&Lanes>, _: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        *out = [Lanes::ZERO; 4];
        Ok(())
    }

    fn note_guess(&mut self, guess: Guess, reach: Reach) {
        *self.heard.entry(guess).or_default() |= reach;
    }

    fn samples(&mut self, _: &Sample<&Lanes>, _: Mask, reach: Reach) {
        self.sampled.push(reach);
    }
}

/// Runs `source` with lane numbers in r0.x (integer) and r0.y (float), and constant n the float n.
fn listen(source: &str) -> Listener {
    let program = watched(&assemble(&format!("{source}\nend")).unwrap());
    let (mut warp, mut listener) = (Warp::new(&program, &constants()), Listener::default());
    warp.restart(&program, ALL, 0);
    *warp.full_mut(0) = integers(|lane| lane);
    *warp.full_mut(1) = floats(|lane| lane);
    assert_eq!(run(&program, &mut warp, &mut listener), Outcome::Ended, "{source}");
    listener
}

fn guesses(source: &str) -> Vec<Guess> {
    listen(source).heard.into_keys().collect()
}

#[test]
fn a_guess_counts_where_another_rule_would_give_another_result() {
    let nan = "mov.u32u32 r1.x, 0x7fc00000\n";
    for (source, expected) in [
        // 2^-24 relative to 1 is lost if the product is rounded first.
        ("mov.u32u32 r1.x, 0x3f800001\nmad.f32 r1.y, r1.x, r1.x, (neg)r1.x", vec![Guess::MadRoundsTwice]),
        ("mad.f32 r1.y, c2.x, r0.y, c3.x", vec![]),
        (&format!("{nan}min.f r1.y, r1.x, c1.x"), vec![Guess::NanMinMax]),
        ("min.f r1.y, r0.y, c1.x", vec![]),
        (&format!("{nan}(sat)add.f r1.y, r1.x, c1.x"), vec![Guess::NanSaturate]),
        ("(sat)add.f r1.y, r0.y, c1.x", vec![]),
        (&format!("{nan}cmps.f.lt r1.y, c1.x, r1.x"), vec![Guess::NanCompare]),
        ("cmps.f.lt r1.y, c1.x, r0.y", vec![]),
        ("add.f r1.y, r0.x, c1.x", vec![Guess::Denormals]),
        ("add.u r1.y, r0.x, c1.x", vec![]),
        ("mov.u32u32 r1.x, 0x3f801000\nadd.f hr1.y, r1.x, c0.x", vec![Guess::HalfRounding]),
        ("add.f hr1.y, r0.y, c0.x", vec![]),
        ("mov.u32u32 r1.x, 0x3f801fff\ncov.f32f16 hr1.y, r1.x", vec![Guess::CovHalfTruncates]),
        ("cov.f32f16 hr1.y, r0.y", vec![]),
        ("rcp r1.y, c1.x", vec![Guess::SpecialFunctions]),
        ("(sat)and.b r1.y, r0.x, c1.x", vec![Guess::SatIgnored]),
        ("(sat)add.u r1.y, r0.x, c1.x", vec![]),
        ("sel.f32 r1.y, r0.y, r0.y, r0.y", vec![Guess::UnusedOps]),
        ("mova a0.x, hr0.x\nmov.f32f32 r1.y, c<a0.x + 300>", vec![Guess::RelativeOutside]),
        ("mova a0.x, hr0.x\nmov.f32f32 r1.y, c<a0.x + 3>", vec![]),
        ("bary.f r1.x, 0, r0.x", vec![Guess::PlanePrecision]),
    ] {
        assert_eq!(guesses(source), expected, "{source}");
    }
}

#[test]
fn lanes_that_do_not_run_rest_on_nothing() {
    let skipped = "cmps.f.lt p0.x, r0.y, c0.x\nbr !p0.x, #l\nrcp r1.x, c1.x\nl:\nnop";
    assert_eq!(guesses(skipped), vec![]);
    let lane_0 = "cmps.s.gt p0.x, r0.x, 0\nbr p0.x, #l\nadd.f r1.x, r0.x, c1.x\nl:\nnop";
    assert_eq!(guesses(lane_0), vec![], "only the others have denormals");
}

#[test]
fn a_result_reaches_what_is_made_of_it() {
    let reach = |source: &str| listen(source).heard[&Guess::SpecialFunctions].names().collect::<Vec<_>>();
    assert_eq!(reach("rcp r1.x, c1.x"), ["output"]);
    assert_eq!(reach("rcp r1.x, c1.x\nmov.f32f32 r1.x, c1.x"), [] as [&str; 0], "it is overwritten");
    assert_eq!(reach("rcp r1.x, c1.x\nadd.f r1.y, r1.x, c1.x\nmov.f32f32 r1.x, c1.x"), ["output"]);
    assert_eq!(
        reach("rcp r1.x, c1.x\ncmps.f.lt p0.x, r1.x, c1.x\nmov.f32f32 r1.x, c1.x\nbr p0.x, #l\nl:\nnop"),
        ["control"]
    );
    assert_eq!(
        reach("rcp r1.x, c1.x\ncmps.f.lt p0.x, r1.x, c1.x\nmov.f32f32 r1.x, c1.x\nkill p0.x"),
        ["output", "control"]
    );
    assert_eq!(reach("rcp r1.x, c1.x\nstg.u32 g[r2.x], r1.x, 1\nmov.f32f32 r1.x, c1.x"), ["memory"]);
    assert_eq!(reach("rcp r1.x, c1.x\nstg.u32 g[r1.x], r2.x, 1\nmov.f32f32 r1.x, c1.x"), ["address"]);
    assert_eq!(
        reach("rcp r1.x, c1.x\nsam (f32)(x)r8.x, r1.x, s#0, t#0\nmov.f32f32 r1.x, c1.x"),
        ["output", "address"],
        "coordinates choose texels, which are put out"
    );
    for through in [
        "dsx (f32)(x)r2.x, r1.x",
        "bary.f r2.x, 0, r1.x",
        "mova a0.x, hr0.x\nmov.f32f32 r2.x, r<a0.x + 4>",
        "mova a0.x, hr0.x\nmov.f32f32 r<a0.x + 8>, r1.x",
        "predt p0.x\nmov.f32f32 r2.x, r1.x\nprede",
        "call #f\nmov.f32f32 r1.x, c1.x\nstg.u32 g[r3.x], r2.x, 1\nmov.f32f32 r2.x, c1.x\nend\n\
         f:\nmov.f32f32 r2.x, r1.x\nret",
    ] {
        let stored = "mov.f32f32 r1.x, c1.x\nstg.u32 g[r3.x], r2.x, 1\nmov.f32f32 r2.x, c1.x";
        let reached = reach(&format!("rcp r1.x, c1.x\n{through}\n{stored}"));
        assert!(reached.contains(&"memory"), "{through}: {reached:?}");
    }
    let looped = "rcp r1.x, c1.x\nl:\nmov.f32f32 r2.x, r1.y\nmov.f32f32 r1.y, r1.x\nmov.f32f32 r1.x, c1.x\n\
                  add.f r0.y, r0.y, c0.y\ncmps.f.lt p0.x, r0.y, c8.x\nbr p0.x, #l\nstg.u32 g[r3.x], r2.x, 1\n\
                  mov.f32f32 r1.y, c0.x\nmov.f32f32 r2.x, c0.x";
    assert_eq!(reach(looped), ["memory"], "it goes around twice before it is stored");
}

#[test]
fn requests_for_textures_are_heard_with_what_they_reach() {
    let sampled = listen(
        "sam (f32)(x)r1.x, r0.y, s#0, t#0\ncmps.f.lt p0.x, r1.x, c1.x\nmov.f32f32 r1.x, c0.x\nkill p0.x",
    )
    .sampled;
    assert_eq!(sampled, [Reach::OUTPUT | Reach::CONTROL]);
}
