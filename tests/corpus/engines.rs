//! Variables with which workload engines number parts, and the output format of GoogleTest.

use super::*;

/// Names of the rows of a run under an engine.
fn names(corpus: &Corpus, run: &str, args: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = corpus.a4emu(&[&["run", "corpus", "-o", run], args].concat());
    command.envs(variables.iter().copied()).assert().success();
    corpus.rows(run).iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_engine_says_the_same_part() {
    let corpus = Corpus::new();
    let plain = names(&corpus, "plain", &["--shard", "1/3"], &[]);
    assert!(!plain.is_empty() && plain.len() < CAPTURES.len(), "{plain:?}");
    let gitlab = [("CI_NODE_INDEX", "2"), ("CI_NODE_TOTAL", "3")];
    assert_eq!(names(&corpus, "gitlab", &[], &gitlab), plain);
    let slurm =
        [("SLURM_ARRAY_TASK_ID", "6"), ("SLURM_ARRAY_TASK_MIN", "5"), ("SLURM_ARRAY_TASK_COUNT", "3")];
    assert_eq!(names(&corpus, "slurm", &[], &slurm), plain);
    assert_eq!(names(&corpus, "kubernetes", &["--shard", "/3"], &[("JOB_COMPLETION_INDEX", "1")]), plain);
}

fn check(args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::cargo_bin("a4emu").unwrap();
    command.current_dir(env!("CARGO_MANIFEST_DIR")).arg("check").args(args);
    command.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn check_has_the_same_contract() {
    let names = |args: &[&str], variables: &[(&str, &str)]| {
        text(&check(&[args, &["--gtest_list_tests"]].concat(), variables).stdout)
    };
    let gitlab = [("CI_NODE_INDEX", "4"), ("CI_NODE_TOTAL", "4")];
    assert_eq!(names(&[], &gitlab), names(&["--shard", "3/4"], &[]));
    assert_ne!(names(&[], &gitlab), names(&["--shard", "0/1"], &gitlab));
}

#[test]
fn check_speaks_googletest() {
    let listed = text(&check(&["--gtest_list_tests"], &[]).stdout);
    assert!(listed.starts_with("fixtures.\n  ") && listed.contains("\n  cube\n"), "{listed}");
    assert!(!listed.contains('-'), "a filter takes it for something else: {listed}");
    let run = text(&check(&["--gtest_filter=fixtures.cube:fixtures.dept*"], &[]).stdout);
    let expected = "[==========] Running 2 tests from 1 test suite.\n[ RUN      ] fixtures.cube\n\
        [       OK ] fixtures.cube (0 ms)\n[ RUN      ] fixtures.depth\n[       OK ] fixtures.depth (0 ms)\n\
        [==========] 2 tests ran.\n[  PASSED  ] 2 tests.\n";
    assert_eq!(run, expected);
}
