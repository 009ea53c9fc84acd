//! Tests of modifiers, repeats, half registers, constants and relative addresses.
use super::*;

#[test]
fn float_modifiers_act_on_the_sign() {
    let warp =
        ran("mov.f32f32 r1.x, c1.z\nadd.f r1.y, (neg)r1.x, (abs)r0.y\nadd.f r1.z, (absneg)r0.y, c0.y\nend");
    assert_eq!(*warp.full(5), floats(|lane| lane - 6.0));
    assert_eq!(*warp.full(6), floats(|lane| 1.0 - lane));
}

#[test]
fn integer_modifiers_are_twos_complement_and_bit_modifiers_not() {
    let warp = ran(
        "add.s r1.x, (neg)r0.x, 1\nabsneg.s r1.y, (abs)r1.x\nand.b r1.z, (neg)r0.x, 15\nnot.b r1.w, r0.x\nend",
    );
    assert_eq!(*warp.full(4), integers(|lane| 1u32.wrapping_sub(lane)));
    assert_eq!(*warp.full(5), integers(|lane| 1i32.abs_diff(lane as i32)));
    assert_eq!(*warp.full(6), integers(|lane| !lane & 15));
    assert_eq!(*warp.full(7), integers(|lane| !lane));
}

#[test]
fn saturation_clamps_floats_and_integers() {
    let warp = ran("(sat)add.f r1.x, r0.y, (-1.0)\n(sat)sub.u r1.y, r0.x, 5\nend"
        .replace("(-1.0)", "(neg)c0.z")
        .as_str());
    assert_eq!(*warp.full(4), floats(|lane| (lane - 2.0).clamp(0.0, 1.0)));
    assert_eq!(*warp.full(5), integers(|lane| lane.saturating_sub(5)));
}

#[test]
fn repeats_step_the_sources_marked_so() {
    let warp = ran("(rpt3)mov.f32f32 r1.x, (r)c2.x\n(rpt1)add.f r2.x, (r)r1.x, c0.y\nend");
    for n in 0..4u32 {
        assert_eq!(*warp.full(4 + n), floats(|_| 8.0 + n as f32));
    }
    assert_eq!(*warp.full(9), floats(|_| 10.0));
}

#[test]
fn a_repeat_reads_what_the_one_before_wrote() {
    let warp = ran("mov.f32f32 r1.x, c0.y\n(rpt2)add.f r1.y, (r)r1.x, c0.y\nend");
    assert_eq!(*warp.full(7), floats(|_| 4.0));
}

#[test]
fn half_arithmetic_rounds_once_and_leaves_full_registers_alone() {
    let warp =
        ran("cov.f32f16 hr1.x, r0.y\nmul.f hr1.y, hr1.x, hr1.x\nmad.f16 hr1.z, hr1.y, hr1.x, hr1.x\nend");
    let half = |value: f32| u32::from(half::f16::from_f32(value).to_bits());
    assert_eq!(*warp.half(4), integers(|lane| half(lane as f32)));
    assert_eq!(*warp.half(5), integers(|lane| half((lane * lane) as f32)));
    assert_eq!(*warp.half(6), integers(|lane| half((lane * lane * lane + lane) as f32)));
    assert_eq!(*warp.full(4), Lanes::ZERO);
}

#[test]
fn half_integers_wrap_at_16_bits() {
    let warp = ran(
        "cov.u32u16 hr1.x, r0.x\nsub.u hr1.y, hr1.x, h(3)\ncmps.s.lt hr1.z, hr1.y, h(0)\nshl.b hr1.w, hr1.x, h(14)\nend",
    );
    assert_eq!(*warp.half(5), integers(|lane| lane.wrapping_sub(3) & 0xffff));
    assert_eq!(*warp.half(6), integers(|lane| u32::from(lane < 3)));
    assert_eq!(*warp.half(7), integers(|lane| lane << 14 & 0xffff));
}

#[test]
fn a_compare_of_half_sources_can_write_a_full_register() {
    let warp = ran("cov.u32u16 hr0.x, r0.x\ncmps.s.eq r1.x, hr0.x, h(7)\nend");
    assert_eq!(*warp.full(4), integers(|lane| u32::from(lane == 7)));
}

#[test]
fn conversions_follow_their_types() {
    let warp = ran(
        "add.f r0.z, r0.y, (neg)c2.z\ncov.f32s32 r1.x, r0.z\ncov.s32f32 r1.y, r1.x\ncov.f32u32 r1.z, r0.z\nend",
    );
    assert_eq!(*warp.full(4), integers(|lane| (lane as i32 - 10) as u32));
    assert_eq!(*warp.full(5), floats(|lane| lane - 10.0));
    assert_eq!(*warp.full(6), integers(|lane| lane.saturating_sub(10)));
}

#[test]
fn relative_constants_and_registers_differ_by_lane() {
    let source = "and.b r0.z, r0.x, 3\ncov.u32s16 hr0.x, r0.z\nmova a0.x, hr0.x\n(rpt3)mov.f32f32 r1.x, (r)c1.x\n\
                  mov.f32f32 r2.x, c<a0.x + 16>\nmov.f32f32 r2.y, r<a0.x + 4>\nend";
    let warp = ran(source);
    assert_eq!(*warp.full(8), integers(|lane| (16.0 + (lane & 3) as f32).to_bits()));
    assert_eq!(*warp.full(9), integers(|lane| (4.0 + (lane & 3) as f32).to_bits()));
}

#[test]
fn relative_addresses_out_of_range_read_zero_and_write_nothing() {
    let source = "mov.u32u32 r1.x, 20000\ncov.u32s16 hr0.x, r1.x\nmova a0.x, hr0.x\nmov.f32f32 r2.x, c<a0.x>\n\
                  mov.f32f32 r2.y, r<a0.x>\nmov.f32f32 r<a0.x>, c0.y\nend";
    let warp = ran(source);
    assert_eq!((*warp.full(8), *warp.full(9)), (Lanes::ZERO, Lanes::ZERO));
}

#[test]
fn registers_that_do_not_exist_read_zero_and_lose_writes() {
    let warp = ran("mov.f32f32 r63.x, c0.y\nadd.f r1.x, r63.x, c0.z\nend");
    assert_eq!(*warp.full(4), floats(|_| 2.0));
    assert_eq!(*warp.full(252), Lanes::ZERO);
}

#[test]
fn selects_take_any_bit_as_true() {
    let warp = ran("and.b r1.x, r0.x, 2\nsel.b32 r1.y, c0.y, r1.x, c0.z\nend");
    assert_eq!(*warp.full(5), floats(|lane| if lane as u32 & 2 != 0 { 1.0 } else { 2.0 }));
}
