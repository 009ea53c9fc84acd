//! Tests of which changes count as differences.

use super::super::row::{DrawHash, Effort, Found, Frame, Machine, Message, Missing, Surface};
use super::*;
use a4emu_support::out_file::{Inputs, OutFile};

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

fn said(message: &str) -> Message {
    Message { submit: 1, draw: 2, address: 3, message: message.to_owned(), count: 4 }
}

/// Every part of a result is compared, and is named if it differs.
#[test]
fn every_part_of_a_result_counts() {
    let drawn = |hash: &str| vec![DrawHash { draw: 3, frame_draw: 1, address: 0, hash: hash.to_owned() }];
    let frame = Frame { submit: 5, width: 1, height: 1, hash: "h".to_owned() };
    let found = Found { rule: "D1".to_owned(), findings: 2, count: 3, draw: 0 };
    let base = Played { draw_hashes: Some(drawn("1")), findings: Some(Vec::new()), ..Played::default() };
    let changed: [(Played, &str); 10] = [
        (Played { status: 3, ..base.clone() }, "exit status: 0 -> 3"),
        (Played { submits: 1, ..base.clone() }, "submits: 0 -> 1"),
        (Played { draws: 1, ..base.clone() }, "draws: 0 -> 1"),
        (
            Played { missing: Missing { ranges: 1, bytes: 0 }, ..base.clone() },
            "ranges of missing memory: 0 -> 1",
        ),
        (
            Played { missing: Missing { ranges: 0, bytes: 8 }, ..base.clone() },
            "bytes of missing memory: 0 -> 8",
        ),
        (Played { draw_hashes: Some(drawn("2")), ..base.clone() }, "draw 3 (f1): its targets"),
        (Played { frames: vec![frame], ..base.clone() }, "nothing -> frame of submit 5"),
        (Played { faults: vec![said("x")], ..base.clone() }, "nothing -> fault at draw 2: x (4 times)"),
        (
            Played { unsupported: vec![said("y"), said("z")], ..base.clone() },
            "nothing -> not supported at draw 2: y (4 times) (and 1 more)",
        ),
        (Played { findings: Some(vec![found]), ..base.clone() }, "nothing -> rule D1: 2 findings"),
    ];
    assert_eq!(played(&base, &base), Vec::<String>::new());
    for (other, words) in changed {
        assert_eq!(played(&base, &other), [words]);
    }
    // Data that only one run recorded is no difference.
    assert_eq!(played(&base, &Played::default()), Vec::<String>::new());
    let other = Row { content: "d".to_owned(), ..row("1", 5.0) };
    assert_eq!(change(Some(row("1", 5.0)), Some(other)).differences, ["the capture itself"]);
}

#[test]
fn a_page_holds_names_as_text_and_so_many_pictures() {
    assert_eq!(escaped("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    let hashes = ["aa", "bb"].map(|hash| Some(hash.to_owned()));
    for (run, hash, grey) in [(&a, "aa", 10), (&b, "bb", 13)] {
        std::fs::create_dir_all(run.join("pictures")).unwrap();
        let image = a4emu_inspect::describe::canvas::Image {
            size: [2, 1],
            kind: a4emu_gpu::picture::PixelType::Grey8,
            pixels: vec![7, grey],
        };
        let mut png = Vec::new();
        image.write_png(&mut png).unwrap();
        std::fs::write(run.join(format!("pictures/{hash}.png")), png).unwrap();
    }
    let mut change = change(Some(row("1", 5.0)), Some(row("2", 5.0)));
    change.pictures = vec![("s".to_owned(), hashes)];
    let page = |changes: &[Change]| {
        let path = folder.path().join("page.html");
        let out = OutFile::create(&path, &Inputs::default()).unwrap();
        html::write(out, [&a, &b], changes, &Counts::default()).unwrap();
        std::fs::read_to_string(path).unwrap()
    };
    let text = page(std::slice::from_ref(&change));
    assert!(text.contains("1 pixels differ, by up to 3 of 255"), "{text}");
    assert!(!text.contains("Only the first") && !text.contains(html::WITHOUT));
    std::fs::rename(a.join("pictures"), a.join("elsewhere")).unwrap();
    let text = page(std::slice::from_ref(&change));
    assert!(text.contains(html::WITHOUT) && text.contains("--pictures"), "{text}");
    std::fs::rename(a.join("elsewhere"), a.join("pictures")).unwrap();
    // Both pictures together are too large for a page. So the second is left out, with a note.
    for picture in [a.join("pictures/aa.png"), b.join("pictures/bb.png")] {
        let mut large = std::fs::read(&picture).unwrap();
        large.resize(33 << 20, 0);
        std::fs::write(picture, large).unwrap();
    }
    let text = page(&[change]);
    assert!(text.len() < 46 << 20 && text.contains("Only the first 64 MB"), "{} bytes", text.len());
}
