//! Whole programs on one warp.
mod reference;

use super::{ALL, Lanes, Outcome, Program, Warp, run};

/// Instruction words of the hardware page's test vectors.
const END: u64 = 0x0300_0000_0000_0000;

fn lanes(f: impl Fn(usize) -> f32) -> Lanes {
    Lanes::from(std::array::from_fn(f))
}

#[test]
fn straight_line_arithmetic_reads_constants_and_registers() {
    // mul.f r0.x, r0.z, c0.x; add.f r0.z, c8.y, r0.z; mad.f32 r0.x, c1.x, r0.w, r0.x; end
    let code = [0x4070_0000_1000_0002, 0x4010_0002_0002_1021, 0x6381_8000_0000_1004, END];
    let program = Program::new(&code).unwrap();
    let mut constants = [0; 64];
    (constants[0], constants[33], constants[4]) = (2f32.to_bits(), 0.5f32.to_bits(), 10f32.to_bits());
    let mut warp = Warp::new(&program, &constants);
    warp.restart(&program, ALL, 0);
    *warp.full_mut(2) = lanes(|lane| lane as f32);
    *warp.full_mut(3) = lanes(|lane| lane as f32 + 1.0);
    assert_eq!(run(&program, &mut warp, &mut ()), Outcome::Ended);
    assert_eq!(*warp.full(2), lanes(|lane| lane as f32 + 0.5));
    assert_eq!(*warp.full(0), lanes(|lane| 2.0 * lane as f32 + 10.0 * (lane as f32 + 1.0)));
}
