//! What counts as a difference.

use super::super::row::{Effort, Machine, Surface};
use super::*;

fn row(hash: &str, ms: f64) -> Row {
    let surface = Surface {
        submit: 0,
        draw: 3,
        address: 4096,
        width: 8,
        height: 8,
        format: "RB4_R8G8B8A8_UNORM".to_owned(),
        hash: Some(hash.to_owned()),
    };
    let played = Played { draws: 4, surfaces: vec![surface], ..Played::default() };
    let machine = Machine { ms: Some(ms), ..Machine::default() };
    Row {
        name: "a.rd".to_owned(),
        content: "c".to_owned(),
        bytes: 1,
        end: End::Played,
        cause: None,
        played: Some(played),
        machine: Some(machine),
    }
}

fn change(a: Option<Row>, b: Option<Row>) -> Change {
    Change::of("a.rd", [a, b], 50)
}

#[test]
fn a_surface_that_differs_is_named() {
    let change = change(Some(row("1", 5.0)), Some(row("2", 5.0)));
    assert_eq!(change.result, Verdict::Different);
    assert_eq!(change.differences, ["surface at 0x00001000, written by draw 3 of submit 0"]);
    assert_eq!(change.pictures.len(), 1);
}

#[test]
fn work_and_time_are_no_difference() {
    let mut dear = row("1", 500.0);
    dear.played.as_mut().unwrap().work = Effort { units: 9, ..Effort::default() };
    let change = change(Some(row("1", 5.0)), Some(dear));
    assert_eq!((change.result, change.speed), (Verdict::Same, Some(Speed::Slower)));
    assert!(!change.is_plain());
}

#[test]
fn small_times_are_noise() {
    assert_eq!(speed([Some(1.0), Some(15.0)], 50), None);
    assert_eq!(speed([Some(100.0), Some(169.0)], 50), None);
    assert_eq!(speed([Some(100.0), Some(171.0)], 50), Some(Speed::Slower));
    assert_eq!(speed([Some(171.0), Some(100.0)], 50), Some(Speed::Faster));
}

#[test]
fn a_crash_is_a_difference_and_a_new_capture_none_that_fails() {
    let crashed = Row { end: End::Crash, cause: Some("signal 11".to_owned()), played: None, ..row("1", 5.0) };
    let change_to_crash = change(Some(row("1", 5.0)), Some(crashed.clone()));
    assert_eq!(change_to_crash.differences, ["played -> crashed (signal 11)"]);
    assert_eq!(change(Some(crashed.clone()), Some(crashed)).result, Verdict::Same);
    assert!(!change(None, Some(row("1", 5.0))).result.fails());
    assert!(change(Some(row("1", 5.0)), None).result.fails());
}
