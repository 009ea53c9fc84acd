//! Finds the processes that this process has started, and their descendants.

use std::fs;

use rustix::process::{Pid, getpid};

/// A process, as `/proc/PID/stat` describes it.
struct Process {
    pid: Pid,
    parent: i32,
}

/// All running descendants of this process. If this process is a "subreaper", descendants whose parent has
/// ended are included.
pub fn descendants() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut others: Vec<Process> =
        entries.filter_map(|entry| process(entry.file_name().to_str()?.parse().ok()?)).collect();
    let (mut found, mut at) = (vec![getpid()], 0);
    while let Some(parent) = found.get(at).map(|pid| pid.as_raw_nonzero().get()) {
        found.extend(others.extract_if(.., |other| other.parent == parent).map(|child| child.pid));
        at += 1;
    }
    found.split_off(1)
}

/// The process with this number, if it runs.
fn process(number: i32) -> Option<Process> {
    parse(number, &fs::read_to_string(format!("/proc/{number}/stat")).ok()?)
}

/// Parses a line of `/proc/PID/stat`: the number, the name in brackets, which may have any characters, the
/// state, the parent and, as the 18th field after the name, the number of threads. A process whose main
/// thread has ended runs until its other threads end.
fn parse(number: i32, line: &str) -> Option<Process> {
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let (state, parent) = (fields.first()?, fields.get(1)?.parse().ok()?);
    let threads: u32 = fields.get(17)?.parse().ok()?;
    (!matches!(*state, "Z" | "X") || threads > 1).then_some(Process { pid: Pid::from_raw(number)?, parent })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn names_may_have_brackets_and_the_dead_do_not_count() {
        let line = |name: &str, state: char, threads: u32| {
            format!("7 ({name}) {state} 42 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 {threads} 0 1 2")
        };
        let parent = |line: String| parse(7, &line).map(|it| it.parent);
        assert_eq!(parent(line("a) Z 1 (b)", 'S', 1)), Some(42));
        assert_eq!(parent(line("main thread has ended", 'Z', 2)), Some(42));
        assert_eq!([parent(line("dead", 'Z', 1)), parent(String::new())], [None, None]);
    }

    #[test]
    fn children_of_children_are_found() {
        let mut child = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let children = |found: &[Pid]| {
            let ours = Pid::from_child(&child);
            let below = |pid: &&Pid| {
                process(pid.as_raw_nonzero().get()).is_some_and(|it| it.parent == ours.as_raw_nonzero().get())
            };
            found.iter().copied().find(|pid| below(&pid)).filter(|_| found.contains(&ours))
        };
        let grandchild = std::iter::repeat_with(descendants).find_map(|found| children(&found)).unwrap();
        rustix::process::kill_process(grandchild, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
    }
}
