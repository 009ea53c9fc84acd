//! Runs: reuse of results, comparison, merging, coverage.

use super::*;

#[test]
fn a_row_says_what_replay_says() {
    let corpus = Corpus::new();
    corpus.run("run", &["--draws", "--validate", "--coverage"], 0);
    let rows = corpus.rows("run");
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && names.len() == CAPTURES.len(), "{names:?}");
    assert!(names.contains(&"below/blend.rd.gz"));
    let triangle = rows.iter().find(|row| row["name"] == "triangle.rd.gz").unwrap();
    let mut replay = Command::cargo_bin("a4emu").unwrap();
    replay.arg("replay").arg(capture("triangle")).arg("--stats");
    let stats: Value = serde_json::from_slice(&replay.output().unwrap().stdout).unwrap();
    let played = &triangle["played"];
    for key in ["instructions", "warps", "pixels", "primitives"] {
        assert_eq!(played["work"][key], stats[key], "{key}");
    }
    let hashes = played["draw_hashes"].as_array().unwrap();
    assert_eq!(hashes.len() as u64, played["draws"].as_u64().unwrap());
    assert_ne!(hashes[0]["hash"], hashes[1]["hash"], "behind the clear, and behind the triangle");
    let last = played["surfaces"].as_array().unwrap().last().unwrap();
    assert_eq!(played["frames"][0]["hash"], last["hash"], "the frame is the surface");
    assert!(played["used"]["packets"]["CP_DRAW_INDX_OFFSET"].as_u64() > Some(0));
    corpus.run("plain", &[], 0);
    let plain = corpus.rows("plain").into_iter().find(|row| row["name"] == "triangle.rd.gz").unwrap();
    for key in ["instructions", "warps", "pixels", "primitives"] {
        assert_eq!(plain["played"]["work"][key], stats[key], "{key}");
    }
}

/// Another model of the chip or other options need a new result. With equal ones, the old result is used.
#[test]
fn results_are_taken_over_where_capture_binary_and_options_are_the_same() {
    let corpus = Corpus::new();
    corpus.run("first", &["--pictures"], 0);
    let ran = |output: &Output| text(&output.stdout).lines().last().unwrap().to_owned();
    let again = corpus.run("second", &["--pictures", "--earlier", "first"], 0);
    assert!(ran(&again).ends_with("0 run, 0 already done, 6 reused"), "{}", ran(&again));
    assert_eq!(corpus.results("first"), corpus.results("second"));
    let pictures = |run: &str| fs::read_dir(corpus.path(run).join("pictures")).unwrap().count();
    assert_eq!(pictures("first"), pictures("second"));
    let other = corpus.run("third", &["--pictures", "--earlier", "first", "--model", "strict-gl"], 0);
    assert!(ran(&other).contains("6 run,"), "{}", ran(&other));
    fs::copy(capture("wrap"), corpus.path("corpus/triangle.rd.gz")).unwrap();
    let changed = corpus.run("first", &["--pictures"], 0);
    assert!(ran(&changed).contains("1 run, 5 already done"), "{}", ran(&changed));
    fs::remove_file(corpus.path("corpus/triangle.rd.gz")).unwrap();
    corpus.run("first", &["--pictures"], 0);
    assert_eq!(corpus.rows("first").len(), CAPTURES.len() - 1, "what is gone has no row");
}

#[test]
fn parts_merge_to_the_bytes_of_the_whole() {
    let corpus = Corpus::new();
    corpus.run("whole", &["--draws"], 0);
    for parts in [1, 3, 8] {
        let runs: Vec<String> = (0..parts).map(|part| format!("run{part}of{parts}")).collect();
        for (part, run) in runs.iter().enumerate() {
            corpus.run(run, &["--draws", "--shard", &format!("{part}/{parts}")], 0);
        }
        let to = format!("merged{parts}");
        let mut args = vec!["merge", "-o", &to];
        args.extend(runs.iter().map(String::as_str));
        corpus.a4emu(&args).assert().success();
        assert_eq!(corpus.results(&to), corpus.results("whole"), "{parts} parts");
    }
    corpus.a4emu(&["compare", "whole", "merged3"]).assert().success();
    fs::remove_file(corpus.path("run0of3/results.jsonl")).unwrap();
    let unfinished = corpus.a4emu(&["merge", "run0of3", "run1of3", "-o", "x"]).assert().code(2);
    assert!(text(&unfinished.get_output().stderr).contains("run0of3 has not come to its end"));
    let compared = corpus.a4emu(&["compare", "run0of3", "run0of3"]).assert().success();
    assert!(text(&compared.get_output().stderr).contains("warning: run0of3 has not come to its end"));
    corpus.run("other", &[], 0);
    let other = corpus.a4emu(&["merge", "whole", "other", "-o", "x"]).assert().code(1);
    assert!(text(&other.get_output().stderr).contains(" has different results in whole and other"));
    assert!(!corpus.path("x").exists());
}

/// Whether exactly one of two parts contains `name`, and no other capture.
fn is_a_part(corpus: &Corpus, name: &str, to: &str, more: &[&str]) -> bool {
    let parts = ["0/2", "1/2"].map(|part| {
        let run = format!("{to}{}", &part[..1]);
        corpus.a4emu(&[&["run", "corpus", "-o", &run, "--shard", part], more].concat()).output().unwrap();
        corpus.rows(&run)
    });
    assert_eq!(parts[0].len() + parts[1].len(), CAPTURES.len() + 1);
    parts.iter().any(|rows| rows.len() == 1 && rows[0]["name"] == name)
}

#[test]
fn parts_weigh_the_same_by_size_or_by_earlier_times() {
    let corpus = Corpus::new();
    fs::write(corpus.path("corpus/large.rd"), vec![0; 1 << 22]).unwrap();
    assert!(is_a_part(&corpus, "large.rd", "sizes", &[]));
    corpus.a4emu(&["run", "corpus", "-o", "whole"]).output().unwrap();
    let mut log = String::new();
    for line in corpus.log("whole") {
        let mut row: Value = serde_json::from_str(&line).unwrap();
        let took = if row["name"] == "compute.rd.gz" { 1e7 } else { 1.0 };
        row["machine"]["process_ms"] = took.into();
        log += &format!("{row}\n");
    }
    assert!(log.contains("10000000"), "{log}");
    fs::write(corpus.path("whole/log.jsonl"), log).unwrap();
    assert!(is_a_part(&corpus, "compute.rd.gz", "times", &["--earlier", "whole"]));
}

/// The second run has another capture of the triangle, and a new capture.
#[test]
fn compare_lists_differences_as_text_html_and_junit() {
    let corpus = Corpus::new();
    corpus.run("a", &["--pictures"], 0);
    fs::copy(capture("wrap"), corpus.path("corpus/triangle.rd.gz")).unwrap();
    fs::rename(corpus.path("corpus/compute.rd.gz"), corpus.path("corpus/renamed.rd.gz")).unwrap();
    corpus.run("b", &["--pictures"], 0);
    let args = ["compare", "a", "b", "--html", "page.html", "--junit", "report.xml"];
    let compared = corpus.a4emu(&args).assert().code(1);
    let said = text(&compared.get_output().stdout);
    // Differences in speed do not matter.
    let names = ["compute.rd.gz: gone\n", "renamed.rd.gz: new\n", "triangle.rd.gz: different"];
    assert!(names.iter().all(|line| said.contains(line)), "{said}");
    assert!(said.contains("4 same, 1 different, 1 new, 1 gone"), "{said}");
    let page = fs::read_to_string(corpus.path("page.html")).unwrap();
    assert!(page.matches("data:image/png;base64,").count() >= 3, "both pictures and their difference");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing from elsewhere");
    assert!(page.contains("pixels differ, by up to"));
    let report = fs::read_to_string(corpus.path("report.xml")).unwrap();
    assert!(report.contains("tests=\"7\"") && report.contains("failures=\"2\""), "{report}");
    corpus.a4emu(&["compare", "a", "a"]).assert().success();
    let pictures: Vec<_> =
        fs::read_dir(corpus.path("a/pictures")).unwrap().map(|it| it.unwrap().path()).collect();
    for target in [corpus.path("a/log.jsonl"), corpus.path("b/results.jsonl"), pictures[0].clone()] {
        let before = fs::read(&target).unwrap();
        for option in ["--html", "--junit"] {
            corpus.a4emu(&["compare", "a", "b", option, target.to_str().unwrap()]).assert().code(2);
        }
        assert_eq!(fs::read(&target).unwrap(), before);
    }
}

/// Names that are not UTF-8 stay distinct in runs, parts and lists.
#[test]
#[cfg(target_os = "linux")]
fn names_that_are_no_text_are_not_lost() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let corpus = Corpus::new();
    fs::remove_dir_all(corpus.path("corpus")).unwrap();
    fs::create_dir(corpus.path("corpus")).unwrap();
    for (name, of) in [(&b"\xff.rd.gz"[..], "triangle"), (b"\xfe.rd.gz", "blend"), (b"a\nb.rd.gz", "depth")] {
        fs::copy(capture(of), corpus.path("corpus").join(OsStr::from_bytes(name))).unwrap();
    }
    corpus.run("a", &["--coverage"], 0);
    let names = |run: &str| corpus.rows(run).iter().map(|row| row["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names("a"), ["\\xfe.rd.gz", "\\xff.rd.gz", "a\\x0ab.rd.gz"]);
    let again = corpus.run("a", &["--coverage"], 0);
    assert!(text(&again.stdout).contains("3 played; 0 run, 3 already done"), "{}", text(&again.stdout));
    let compared = corpus.a4emu(&["compare", "a", "a"]).output().unwrap();
    assert!(text(&compared.stdout).contains("3 same"), "{}", text(&compared.stdout));
    for part in ["0/2", "1/2"] {
        corpus.run(&format!("part{}", &part[..1]), &["--coverage", "--shard", part], 0);
    }
    corpus.a4emu(&["merge", "part0", "part1", "-o", "whole"]).assert().success();
    assert_eq!(corpus.results("whole"), corpus.results("a"));
    let list = corpus.a4emu(&["reduce", "a"]).output().unwrap();
    fs::write(corpus.path("list"), &list.stdout).unwrap();
    corpus.a4emu(&["run", "list", "--root", "corpus", "-o", "few"]).assert().success();
    assert!(names("few").iter().all(|name| names("a").contains(name)), "{:?}", names("few"));
}

#[test]
fn few_captures_cover_what_all_do() {
    let corpus = Corpus::new();
    corpus.run("all", &["--coverage"], 0);
    let few = corpus.a4emu(&["reduce", "all"]).output().unwrap();
    let names = text(&few.stdout);
    assert!(names.lines().count() < CAPTURES.len(), "{names}");
    fs::write(corpus.path("few.txt"), &names).unwrap();
    corpus.a4emu(&["run", "few.txt", "--root", "corpus", "-o", "few", "--coverage"]).assert().success();
    let used = |run: &str| {
        let output = corpus.a4emu(&["coverage", run, "--json"]).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let kinds = report["kinds"].as_array().unwrap().clone();
        kinds.iter().map(|kind| (kind["name"].clone(), kind["used"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(used("all"), used("few"));
    // Without the last of the names it does not.
    let fewer: Vec<&str> = names.lines().skip(1).collect();
    fs::write(corpus.path("few.txt"), fewer.join("\n")).unwrap();
    corpus.a4emu(&["run", "few.txt", "--root", "corpus", "-o", "fewer", "--coverage"]).assert().success();
    assert_ne!(used("all"), used("fewer"));
    let difference = corpus.a4emu(&["coverage", "fewer", "--against", "all"]).output().unwrap();
    assert!(text(&difference.stdout).contains("  against "), "{}", text(&difference.stdout));
    corpus.run("without", &[], 0);
    let refused = corpus.a4emu(&["reduce", "without"]).assert().code(2);
    assert!(text(&refused.get_output().stderr).contains("`corpus run --coverage` notes it"));
}

#[test]
fn coverage_says_what_was_not_used_and_what_is_a_guess() {
    let corpus = Corpus::new();
    corpus.run("run", &["--coverage"], 0);
    let output = corpus.a4emu(&["coverage", "run", "--unused", "--html", "page.html"]).output().unwrap();
    let said = text(&output.stdout);
    assert!(said.contains("  CP_RUN_OPENCL  0 in 0\n"), "{said}");
    let depth = "  RB_DEPTH_CONTROL.ZFUNC=FUNC_LESS  ";
    let line = said.lines().filter(|line| line.starts_with(depth)).collect::<Vec<_>>();
    assert_eq!(line.len(), 2, "as an enumerator, and as a state of depth");
    assert!(
        said.contains("\ntexture targets: ")
            && said.contains("\nblend states: ")
            && said.contains("\nformats: ")
    );
    assert!(said.contains("\nguesses: ") && said.contains("  (inferred)\n"), "{said}");
    assert!(fs::read_to_string(corpus.path("page.html")).unwrap().contains("Coverage of 6 captures"));
    let all = corpus.a4emu(&["coverage", "run"]).output().unwrap();
    assert!(!text(&all.stdout).contains("  0 in 0\n"));
}

#[test]
fn unreadable_captures_and_wrong_arguments_are_reported() {
    let corpus = Corpus::new();
    fs::write(corpus.path("corpus/empty.rd"), "").unwrap();
    fs::write(corpus.path("corpus/text.rd"), "no capture at all").unwrap();
    let output = corpus.run("run", &[], 3);
    assert!(text(&output.stdout).contains("8 captures"), "{}", text(&output.stdout));
    let message = |run: &str, name: &str, of: &str| {
        let row = corpus.rows(run).into_iter().find(|row| row["name"] == name).unwrap();
        row["played"][of][0]["message"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(message("run", "empty.rd", "faults"), "empty file, not a capture");
    assert_eq!(message("run", "empty.rd", "unsupported"), "");
    corpus.run("cut", &["--max-work", "1"], 4);
    assert!(message("cut", "triangle.rd.gz", "unsupported").contains("cut off"));
    for (args, why) in [
        (&["run", "nowhere", "-o", "x"][..], "cannot read nowhere"),
        (&["run", "corpus", "-o", "x", "--root", "y"], "--root is for a list"),
        (&["run", "corpus", "-o", "x", "--earlier", "corpus"], "corpus is no run of a corpus"),
        (&["compare", "run", "corpus"], "corpus is no run of a corpus"),
        (&["run", "corpus", "-o", "x", "--binary", "nothing"], "cannot read nothing"),
    ] {
        let refused = corpus.a4emu(args).assert().code(2);
        let said = text(&refused.get_output().stderr);
        assert!(said.contains(why), "{args:?}: {said}");
    }
}

/// Other limits or another binary need a new result for a capture. A capture whose process did not end is run
/// again.
#[cfg(unix)]
#[test]
fn captures_run_again_if_limits_or_binary_change() {
    let corpus = Corpus::new();
    let ran = |more: &[&str]| {
        let output = corpus.a4emu(&[&["run", "corpus", "-o", "run"], more].concat()).output().unwrap();
        text(&output.stdout).lines().last().unwrap().split("; ").last().unwrap().to_owned()
    };
    let (all, none) = ("6 run, 0 already done, 0 reused", "0 run, 6 already done, 0 reused");
    assert_eq!(ran(&[]), all);
    assert_eq!(ran(&[]), none);
    assert_eq!(ran(&["--timeout", "500"]), all);
    assert_eq!(ran(&["--timeout", "500", "--strict"]), all);
    let wrapper = corpus.wrapper("true");
    assert_eq!(ran(&["--binary", &wrapper]), all);
    assert_eq!(ran(&["--binary", &wrapper]), none);
    let wrapper = corpus.wrapper("case $name in depth) kill -SEGV $$;; esac");
    assert_eq!(ran(&["--binary", &wrapper]), all);
    let again = corpus.a4emu(&["run", "corpus", "-o", "next", "--binary", &wrapper, "--earlier", "run"]);
    let said = text(&{ again }.output().unwrap().stdout);
    assert!(said.contains("; 1 run, 0 already done, 5 reused"), "{said}");
}

/// `--strict` is passed to the process of each capture, whose row has the exit status of `replay --strict`.
#[test]
fn strict_runs_have_strict_rows() {
    let corpus = Corpus::new();
    let (vertices, nowhere) = ("(0, vertices, 60", "(0, 0x70000000, 60");
    smaller::assembled(corpus.0.path(), "corpus/fault.rd", [vertices, nowhere]);
    let row = |run: &str| corpus.rows(run).into_iter().find(|row| row["name"] == "fault.rd").unwrap();
    corpus.run("plain", &[], 0);
    assert_eq!(row("plain")["played"]["status"], 0);
    corpus.run("strict", &["--strict"], 3);
    assert_eq!(row("strict")["played"]["status"], 3);
    let missing = &row("plain")["played"]["missing"];
    assert!(missing["ranges"].as_u64() > Some(0) && missing["bytes"].as_u64() > Some(0), "{missing}");
}

#[test]
fn merged_runs_have_the_pictures_of_their_parts() {
    let corpus = Corpus::new();
    for part in ["0", "1"] {
        corpus.run(part, &["--pictures", "--shard", &format!("{part}/2")], 0);
    }
    corpus.a4emu(&["merge", "0", "1", "-o", "all"]).assert().success();
    let surfaces =
        corpus.rows("all").into_iter().flat_map(|row| row["played"]["surfaces"].as_array().cloned());
    let hashes: Vec<String> =
        surfaces.flatten().filter_map(|surface| Some(surface["hash"].as_str()?.to_owned())).collect();
    assert!(hashes.len() >= CAPTURES.len() - 1, "{hashes:?}");
    for hash in hashes {
        assert!(corpus.path(&format!("all/pictures/{hash}.png")).is_file(), "{hash}");
    }
}

/// The difference in coverage of two runs has exactly what one lists and the other does not. The page does
/// not replace a run.
#[test]
fn coverage_against_another_run_is_the_difference() {
    let corpus = Corpus::new();
    corpus.run("all", &["--coverage"], 0);
    fs::write(corpus.path("one.txt"), "triangle.rd.gz").unwrap();
    corpus.a4emu(&["run", "one.txt", "--root", "corpus", "-o", "one", "--coverage"]).assert().success();
    let names = |args: &[&str]| {
        let output = corpus.a4emu(&[&["coverage", "--json"], args].concat()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let kinds = report["kinds"].as_array().unwrap().iter();
        let named = kinds.flat_map(|kind| {
            let lines = kind["lines"].as_array().unwrap().iter();
            lines.map(|line| format!("{} {}", kind["name"], line["name"])).collect::<Vec<_>>()
        });
        let rests = report["guesses"].as_array().unwrap().clone();
        (named.collect::<std::collections::BTreeSet<_>>(), rests)
    };
    let ((all, rests), (one, _)) = (names(&["all"]), names(&["one"]));
    let difference: std::collections::BTreeSet<_> = all.difference(&one).cloned().collect();
    assert!(one.is_subset(&all) && !difference.is_empty());
    assert_eq!(names(&["one", "--against", "all"]).0, difference);
    assert_eq!(names(&["all", "--against", "one"]).0, difference);
    assert!(!rests.is_empty() && rests.iter().all(|row| row["draws"].as_u64() > Some(0)), "{rests:?}");
    corpus.a4emu(&["coverage", "all", "--html", "all/log.jsonl"]).assert().code(2);
    corpus.a4emu(&["coverage", "one", "--against", "all", "--html", "all/results.jsonl"]).assert().code(2);
}
