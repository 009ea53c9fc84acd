//! Processes that crash or hang, and runs that are interrupted.

#[cfg(target_os = "linux")]
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use super::*;

fn ends(corpus: &Corpus, run: &str) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = corpus.rows(run).into_iter();
    rows.map(|row| (text(&row["name"]), text(&row["end"]), text(&row["cause"]))).collect()
}

#[test]
fn a_crash_a_hang_and_a_glutton_are_rows_and_the_rest_is_unharmed() {
    let corpus = Corpus::new();
    corpus.run("plain", &[], 0);
    let wrapper = corpus.wrapper(
        "case $name in attribs) kill -SEGV $$;; blend) sleep 60;; compute) ulimit -d 4000;; \
         depth) echo \"thread 'main' panicked at x.rs:1:2:\" >&2; echo \"so $RUST_BACKTRACE\" >&2; exit 101;; esac",
    );
    let start = Instant::now();
    let output = corpus.run("run", &["--binary", &wrapper, "--timeout", "5"], 4);
    assert!(start.elapsed() < Duration::from_secs(50), "the hang was waited for");
    let said = text(&output.stdout);
    assert!(said.contains("6 captures, 2 played, 2 crashed, 1 out of memory, 1 out of time"), "{said}");
    let all = ends(&corpus, "run");
    let of = |name: &str| all.iter().find(|row| row.0.contains(name)).unwrap();
    assert!(of("attribs").1 == "crash" && of("attribs").2.contains("signal 11 (SIGSEGV)"), "{all:?}");
    assert!(of("blend").1 == "timeout" && of("blend").2 == "more than 5 s", "{all:?}");
    assert!(of("compute").1 == "memory" && of("compute").2.contains("memory"), "{all:?}");
    assert!(
        of("depth").1 == "crash" && of("depth").2 == "thread 'main' panicked at x.rs:1:2: so 0",
        "{all:?}"
    );
    for name in ["triangle", "xfb"] {
        let row = |run| corpus.rows(run).into_iter().find(|row| row["name"].as_str().unwrap().contains(name));
        assert_eq!(row("run"), row("plain"), "{name}");
    }
    let compared = corpus.a4emu(&["compare", "plain", "run"]).assert().code(1);
    let said = text(&compared.get_output().stdout);
    assert!(said.contains("attribs.rd.gz: different\n  played -> crashed (signal 11 (SIGSEGV)"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_gets_no_more_memory_than_it_may_have() {
    let corpus = Corpus::new();
    let source = "gpu_id 420\nbuffer big { fill 16 << 20, 7 }\nbuffer main { CP_NOP }\nsubmit main\n";
    fs::write(corpus.path("big.a4"), source).unwrap();
    let mut asm = assert_cmd::Command::cargo_bin("a4emu").unwrap();
    asm.current_dir(corpus.0.path()).args(["asm", "big.a4", "-o", "corpus/big.rd"]).assert().success();
    corpus.run("run", &["--process-memory", "48M", "--timeout", "60"], 4);
    let all = ends(&corpus, "run");
    let words = |row: &(String, String, String)| (row.1.clone(), row.2.contains("memory allocation of"));
    let (big, others): (Vec<_>, Vec<_>) = all.iter().partition(|row| row.0 == "big.rd");
    assert_eq!(big.into_iter().map(words).collect::<Vec<_>>(), [("memory".to_owned(), true)], "{all:?}");
    assert!(others.into_iter().map(words).all(|row| row == ("played".to_owned(), false)), "{all:?}");
}

#[test]
fn a_thread_without_a_stack_is_out_of_memory() {
    let corpus = Corpus::new();
    let wrapper = corpus.wrapper(
        "case $name in depth) echo \"thread 'main' panicked at x.rs:1:2:\" >&2; \
         echo 'failed to spawn thread: Os { code: 11 }' >&2; exit 101;; attribs) kill -KILL $$;; esac",
    );
    corpus.run("run", &["--binary", &wrapper], 4);
    let all = ends(&corpus, "run");
    let is_memory = |name: &str| all.iter().any(|row| row.0.contains(name) && row.1 == "memory");
    assert!(is_memory("depth"), "{all:?}");
    // Without memory, the system ends the process in this way.
    assert!(is_memory("attribs"), "{all:?}");
}

/// Waits until the log of `run` has `lines` lines.
fn wait_for(corpus: &Corpus, run: &str, lines: usize) {
    let start = Instant::now();
    let count =
        || fs::read_to_string(corpus.path(run).join("log.jsonl")).map_or(0, |text| text.lines().count());
    while count() < lines {
        assert!(start.elapsed() < Duration::from_secs(60), "no {lines} rows");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Starts a run and ends it with `signal` after some rows.
fn interrupted(corpus: &Corpus, wrapper: &str, signal: &str) -> Option<i32> {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("a4emu"));
    let args = ["corpus", "run", "corpus", "-o", "run", "--jobs", "2", "--binary", wrapper];
    command.current_dir(corpus.0.path()).args(args).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    wait_for(corpus, "run", 3);
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    child.wait().unwrap().code()
}

/// No row is lost or repeated, also if the last line is incomplete.
#[test]
fn a_run_goes_on_where_it_ended() {
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let corpus = Corpus::new();
        corpus.run("plain", &[], 0);
        let wrapper = corpus.wrapper("sleep 0.3");
        assert_eq!(interrupted(&corpus, &wrapper, signal), code);
        assert!(!corpus.path("run/results.jsonl").exists(), "it has not come to its end");
        let rows = corpus.log("run");
        let kept = rows.len();
        let torn = fs::read_to_string(corpus.path("run/log.jsonl")).unwrap() + "{\"name\":\"bel";
        fs::write(corpus.path("run/log.jsonl"), torn).unwrap();
        let output = corpus.run("run", &["--binary", &wrapper], 0);
        let said = text(&output.stdout);
        assert!(said.contains(&format!("{} run, {kept} already done", CAPTURES.len() - kept)), "{said}");
        assert_eq!(corpus.log("run")[..kept], rows, "what was there is what it was");
        assert_eq!(corpus.log("run").len(), CAPTURES.len(), "each capture has one row");
        assert_eq!(corpus.results("run"), corpus.results("plain"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn processes_end_with_the_run() {
    let corpus = Corpus::new();
    let pids = corpus.path("pids");
    let wrapper =
        corpus.wrapper(&format!("case $name in xfb) echo $$ > {}; sleep 1000;; esac", pids.display()));
    assert_eq!(interrupted(&corpus, &wrapper, "-INT"), Some(130));
    if let Ok(pid) = fs::read_to_string(&pids) {
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "the process outlived the run");
    }
}

/// When the time of a process is over, its children end with it. When a run is killed, its processes end.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_behind() {
    let is_there = |file: &Path| {
        let pid = fs::read_to_string(file).unwrap();
        // A zombie process has ended.
        let state = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    let gone = |file: &Path| {
        let start = Instant::now();
        while is_there(file) && start.elapsed() < Duration::from_secs(30) {
            thread::sleep(Duration::from_millis(20));
        }
        !is_there(file)
    };
    let corpus = Corpus::new();
    let started = corpus.path("started");
    let what = format!("case $name in xfb) sleep 1000 & echo $! >{}; wait;; esac", started.display());
    corpus.run("late", &["--binary", &corpus.wrapper(&what), "--timeout", "5"], 4);
    assert!(gone(&started), "what it started goes on");
    // The process waits for a capture from a pipe. Opening the pipe for writing succeeds only while it has a
    // reader.
    let (pipe, playing) = (corpus.path("pipe"), corpus.path("playing"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let a4emu = assert_cmd::cargo::cargo_bin("a4emu");
    let what = format!(
        "case $name in xfb) echo $$ >{}; exec {} corpus play --quiet -- {};; esac",
        playing.display(),
        a4emu.display(),
        pipe.display()
    );
    let wrapper = corpus.wrapper(&what);
    let mut command = Command::new(a4emu);
    command
        .current_dir(corpus.0.path())
        .args(["corpus", "run", "corpus", "-o", "killed", "--binary", &wrapper]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let writer = loop {
        let open = fs::File::options().write(true).custom_flags(libc::O_NONBLOCK).open(&pipe);
        if let Ok(writer) = open {
            break writer;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "nobody plays");
        thread::sleep(Duration::from_millis(5));
    };
    assert!(is_there(&playing));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(gone(&playing), "it outlives who started it");
    drop(writer);
}

/// A file that is too large to be read is a row: its hash takes no longer than its process may.
#[test]
fn a_file_without_end_is_a_row() {
    let corpus = Corpus::new();
    fs::File::create(corpus.path("corpus/x.rd")).and_then(|file| file.set_len(4 << 40)).unwrap();
    corpus.run("run", &["--timeout", "1"], 4);
    let rows = ends(&corpus, "run");
    assert!(rows.iter().any(|(name, end, _)| name == "x.rd" && end == "timeout"), "{rows:?}");
    assert_eq!(rows.len(), CAPTURES.len() + 1);
}

/// A signal ends a run that hashes a file.
#[test]
fn a_signal_ends_a_run_while_it_reads() {
    let corpus = Corpus::new();
    fs::File::create(corpus.path("corpus/x.rd")).and_then(|file| file.set_len(4 << 40)).unwrap();
    for (binary, rows) in [(assert_cmd::cargo::cargo_bin("a4emu"), 6), (corpus.path("corpus/x.rd"), 0)] {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("a4emu"));
        command.current_dir(corpus.0.path()).args(["corpus", "run", "corpus", "-o", "run", "--jobs", "2"]);
        command.arg("--binary").arg(binary).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        wait_for(&corpus, "run", rows);
        // The handler of signals is there when the log is.
        while rows == 0 && !handles_signals(child.id()) {
            thread::sleep(Duration::from_millis(5));
        }
        let start = Instant::now();
        let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

/// Whether the process has a handler of SIGTERM.
fn handles_signals(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught.is_some_and(|set| u64::from_str_radix(set.trim(), 16).is_ok_and(|set| set >> 14 & 1 == 1))
}

/// Rows and lists without end are refused.
#[test]
fn logs_without_end_are_refused() {
    let corpus = Corpus::new();
    corpus.run("run", &[], 0);
    for (command, file) in [("compare", "log.jsonl"), ("coverage", "results.jsonl"), ("merge", "log.jsonl")] {
        corpus.run("run", &["--coverage"], 0);
        fs::create_dir_all(corpus.path("other")).unwrap();
        for name in ["log.jsonl", "results.jsonl"] {
            fs::copy(corpus.path("run").join(name), corpus.path("other").join(name)).unwrap();
        }
        fs::File::options()
            .append(true)
            .open(corpus.path("other").join(file))
            .unwrap()
            .set_len(4 << 40)
            .unwrap();
        let more: &[&str] = match command {
            "compare" => &["other", "run"],
            "merge" => &["other", "-o", "merged"],
            _ => &["other"],
        };
        let output = corpus.a4emu(&[&[command], more].concat()).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("bytes or more"), "{command}: {said}");
    }
}
