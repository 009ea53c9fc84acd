//! The process that sections belong to, and the sections of one process.
//!
//! The kernel's file has the submits of all processes that use the GPU. Each submit has a `CMD` section with the
//! process, `NAME/PID: fence=N`, then its buffers and its command buffers. Processes have address spaces of their
//! own: what one of them dumps is not in the memory of another, even at the same address.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::{Body, Section, SectionId};
use crate::names::fits_exactly;
use crate::similar::{hint, near};

/// Most processes that a message names.
const MAX_NAMED: usize = 16;

/// Most bytes of a process's name: the kernel cuts the rest.
const MAX_NAME: usize = 15;

/// Name and id of the process in the `command` of a `CMD` section: `glxgears/990`, or its whole text.
pub fn process_of(command: &str) -> &str {
    command.rfind(": fence=").map_or(command, |end| &command[..end])
}

/// Processes by name: `NAME`, `NAME/PID` or `PID`, where `*` stands for any text and `?` for any character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessPattern(String);

impl FromStr for ProcessPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.is_empty() {
            true => Err("a process has a name, such as glxgears, or a number".to_owned()),
            false => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for ProcessPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ProcessPattern {
    /// Whether `process`, as [`process_of`] returns it, is meant. A name that the kernel has cut is meant by the
    /// whole name.
    pub fn has(&self, process: &str) -> bool {
        let is_number = |pid: &str| !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
        let (name, pid) = match process.rsplit_once('/').filter(|(_, pid)| is_number(pid)) {
            Some((name, pid)) => (name, Some(pid)),
            None => (process, None),
        };
        let is_cut =
            |asked: &str| name.len() == MAX_NAME && asked.len() > MAX_NAME && asked.starts_with(name);
        let by_name = |asked: &str| fits_exactly(asked, name) || is_cut(asked);
        let with_pid =
            self.0.rsplit_once('/').filter(|(_, asked)| pid.is_some_and(|pid| fits_exactly(asked, pid)));
        by_name(&self.0)
            || fits_exactly(&self.0, process)
            || pid == Some(self.0.as_str())
            || with_pid.is_some_and(|(asked, _)| by_name(asked))
    }
}

/// Follows the sections of a capture, and tells those of the selected process.
#[derive(Clone, Debug)]
pub struct OfProcess {
    pattern: ProcessPattern,
    /// Whether the sections now are of the process.
    is_in: bool,
    /// Whether there was a section of the process.
    is_met: bool,
    /// Some other processes that were met.
    others: BTreeSet<String>,
}

impl OfProcess {
    /// Selects the sections of the processes that `pattern` names.
    pub fn new(pattern: ProcessPattern) -> Self {
        Self { pattern, is_in: false, is_met: false, others: BTreeSet::new() }
    }

    /// Whether the next section of the capture is selected. What belongs to no process is: the chip, the state of a
    /// kernel dump, names of tests. Buffers and submits before the first `CMD` section are of an unknown process.
    pub fn takes(&mut self, section: &Section) -> bool {
        match section.id {
            SectionId::CMD => {
                if let Ok(Body::Cmd(command)) = section.body() {
                    self.enter(process_of(&command));
                }
                self.is_in
            }
            SectionId::GPUADDR
            | SectionId::BUFFER_CONTENTS
            | SectionId::CONTEXT
            | SectionId::CMDSTREAM
            | SectionId::CMDSTREAM_ADDR
            | SectionId::PARAM
            | SectionId::FLUSH
            | SectionId::PROGRAM
            | SectionId::VERT_SHADER
            | SectionId::FRAG_SHADER
            | SectionId::WRBUFFER => self.is_in,
            _ => true,
        }
    }

    fn enter(&mut self, process: &str) {
        self.is_in = self.pattern.has(process);
        self.is_met |= self.is_in;
        if !self.is_in && self.others.len() <= MAX_NAMED && !self.others.contains(process) {
            self.others.insert(process.to_owned());
        }
    }

    /// The message that no section was of the process, once all sections were read.
    pub fn unmet(&self) -> Option<String> {
        if self.is_met {
            return None;
        }
        let Self { pattern, others, .. } = self;
        let name = |process: &str| process.split('/').next().unwrap_or("").to_owned();
        let like = near(&pattern.0, others.iter().flat_map(|process| [process.clone(), name(process)]));
        let all: Vec<&str> = others.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = if others.len() > MAX_NAMED { " and more" } else { "" };
        Some(match (&like[..], &all[..]) {
            (_, []) => format!("no process is `{pattern}`: the capture names none"),
            (like, all) => {
                format!("no process is `{pattern}`{}; there are {}{more}", hint(like), all.join(", "))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(pattern: &str, process: &str) -> bool {
        pattern.parse::<ProcessPattern>().unwrap().has(process)
    }

    #[test]
    fn processes_by_name_number_and_pattern() {
        for pattern in ["glxgears", "glxgears/990", "990", "glx*", "*/990", "glx?ears", "*gears/9*", "*"] {
            assert!(has(pattern, "glxgears/990"), "{pattern}");
        }
        for pattern in ["glx", "gears", "Glxgears", "glxgears/99", "99", "glxgears/*1", "?", "glxgears/"] {
            assert!(!has(pattern, "glxgears/990"), "{pattern}");
        }
        // Names may have slashes, and libwrap writes a name alone.
        assert!(has("kworker/0:1", "kworker/0:1/77") && has("77", "kworker/0:1/77") && has("X", "X"));
        // The kernel cuts names.
        for long in ["gnome-shell-wayland", "gnome-shell-wayland/7", "gnome-shell-way"] {
            assert!(has(long, "gnome-shell-way/7"), "{long}");
        }
        assert!(!has("gnome-shell-wayland", "gnome-shell/7"));
        assert!("".parse::<ProcessPattern>().is_err());
    }

    #[test]
    fn a_command_names_its_process() {
        for (command, process) in [
            ("glxgears/990: fence=2", "glxgears/990"),
            ("X: fence=1/3: fence=2", "X: fence=1/3"),
            ("cube", "cube"),
        ] {
            assert_eq!(process_of(command), process);
        }
    }

    #[test]
    fn sections_are_of_the_process_named_before_them() {
        let section =
            |id: SectionId, text: &str| Section { offset: 0, id, payload: text.as_bytes().to_vec() };
        let mut chosen = OfProcess::new("glxgears".parse().unwrap());
        for (id, text, taken) in [
            (SectionId::GPU_ID, "", true),
            (SectionId::GPUADDR, "", false),
            (SectionId::CMD, "Xorg/4: fence=1", false),
            (SectionId::BUFFER_CONTENTS, "", false),
            (SectionId::CHIP_ID, "", true),
            (SectionId::CMD, "glxgears/9: fence=1", true),
            (SectionId::CMDSTREAM_ADDR, "", true),
            (SectionId::CMD, "Xorg/4: fence=2", false),
            (SectionId::CMDSTREAM_ADDR, "", false),
        ] {
            assert_eq!(chosen.takes(&section(id, text)), taken, "{id:?} {text}");
        }
        assert_eq!(chosen.unmet(), None);
        let mut unmet = OfProcess::new("xorg".parse().unwrap());
        assert_eq!(unmet.unmet().unwrap(), "no process is `xorg`: the capture names none");
        unmet.takes(&section(SectionId::CMD, "Xorg/4: fence=1"));
        unmet.takes(&section(SectionId::CMD, "cube/5: fence=1"));
        assert_eq!(
            unmet.unmet().unwrap(),
            "no process is `xorg`; did you mean `Xorg`, `Xorg/4`?; there are Xorg/4, cube/5"
        );
    }
}
