//! Collects the output of `debug` for each lane after each instruction of a warp, and compares two such
//! outputs.

use std::fmt;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;

use a4emu_shader::LANES;

/// Maximum number of instructions that are stepped through.
const STEPS: usize = 400;

/// Text in place of an instruction if the warp already starts with different values.
const START: &str = "it starts with something else, which an earlier draw or fetch made";

/// Maximum size of the output in bytes.
const MAX_SAID: u64 = 256 << 20;

/// A warp to step through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warp {
    /// The stage of the warp.
    pub stage: &'static str,
    /// The pixel of the warp. If there is none, the warp has a number.
    pub pixel: Option<[u32; 2]>,
    number: u32,
}

impl Warp {
    /// Warp `number` of a stage.
    pub fn numbered(stage: &'static str, number: u32) -> Self {
        Self { stage, pixel: None, number }
    }

    /// The warp with the fragment of a pixel.
    pub fn of_pixel(pixel: [u32; 2]) -> Self {
        Self { stage: "fs", pixel: Some(pixel), number: 0 }
    }
}

impl fmt::Display for Warp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = self.stage.to_uppercase();
        match self.pixel {
            Some([x, y]) => write!(f, "{stage} at pixel {x},{y}"),
            None => write!(f, "{stage}, warp {}", self.number),
        }
    }
}

/// The place where two runs begin to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The warp.
    pub warp: Warp,
    /// The first lane with different values.
    pub lane: usize,
    /// The instruction that made the difference, with number and text; or a note that there is none.
    pub instruction: String,
    /// The values of both runs.
    pub values: [String; 2],
}

/// The output of a build for all lanes of the warp, step by step; none if it has no such warp.
///
/// # Errors
/// The call fails if the build cannot be run.
pub fn transcript(
    binary: &Path,
    capture: &Path,
    frame_draw: u32,
    warp: &Warp,
) -> anyhow::Result<Option<String>> {
    let lanes: String = (0..LANES).map(|lane| format!("l {lane}\nr\n@{lane}\n")).collect();
    let commands = lanes.clone() + &format!("s\n@step\n{lanes}").repeat(STEPS);
    let [mut input, mut said] = [tempfile::tempfile()?, tempfile::tempfile()?];
    input.write_all(commands.as_bytes())?;
    input.seek(SeekFrom::Start(0))?;
    let subject = match warp.pixel {
        Some([x, y]) => format!("--pixel={x},{y}"),
        None => format!("--warp={}", warp.number),
    };
    let status = Command::new(binary)
        .args(["debug", "--quiet", "--stage", warp.stage, &subject, &format!("--draw=f{frame_draw}"), "--"])
        .arg(capture)
        .stdin(input)
        .stdout(said.try_clone()?)
        .stderr(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", binary.display()))?;
    said.seek(SeekFrom::Start(0))?;
    let mut text = String::new();
    said.take(MAX_SAID).read_to_string(&mut text)?;
    Ok((status.code() != Some(2) && !text.is_empty()).then_some(text))
}

/// The marker after the output of a lane or step. `debug` repeats a command that it does not understand.
fn marker(line: &str) -> Option<&str> {
    line.strip_prefix("`@")?.split('`').next()
}

/// The text of a line that shows the position of the warp: number and text of the next instruction.
fn position(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let (number, rest) = text.split_once(' ')?;
    (number.bytes().all(|byte| byte.is_ascii_digit()) && rest.contains("[lanes")).then_some(text)
}

/// The first difference between the outputs of two builds for a warp.
pub fn parting(a: &str, b: &str, warp: &Warp) -> Option<Parting> {
    let [mut next, mut ran] = [START; 2];
    let mut lines = a.lines().zip(b.lines());
    let mut at = 0;
    let values = loop {
        let (one, other) = lines.next()?;
        if one != other {
            break [one, other].map(|line| line.trim().to_owned());
        }
        at += 1;
        if let Some(position) = position(one) {
            (ran, next) = (next, position);
        }
    };
    let lane = a.lines().skip(at).find_map(|line| marker(line)?.parse().ok()).unwrap_or(0);
    // A different position means a different next instruction. The last instruction that both outputs show
    // ran before it.
    let is_position = position(&values[0]).is_some() || position(&values[1]).is_some();
    let instruction = if is_position { next } else { ran };
    let instruction = match instruction.split("[lanes").next().unwrap_or_default().trim() {
        START => START.to_owned(),
        instruction => format!("instruction {instruction}"),
    };
    Some(Parting { warp: *warp, lane, instruction, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &str = "   0  bary.f r0.z, 1, r0.x   [lanes 0xffffffff]
   1  mul.f r1.x, r0.z, r0.z   [lanes 0xffffffff]
`@step` is no command (h lists them)
r0   00000000
`@0` is no command (h lists them)
r0   00000000
`@1` is no command (h lists them)
   2  end   [lanes 0xffffffff]
`@step` is no command (h lists them)
r1   00000000
`@0` is no command (h lists them)
r1   3f800000
`@1` is no command (h lists them)
";

    #[test]
    fn the_instruction_before_a_value_that_differs_made_it() {
        let warp = Warp::numbered("fs", 3);
        assert_eq!(parting(COMMON, COMMON, &warp), None);
        let other = COMMON.replace("r1   3f800000", "r1   40000000");
        let found = parting(COMMON, &other, &warp).unwrap();
        assert_eq!((found.instruction.as_str(), found.lane), ("instruction 1  mul.f r1.x, r0.z, r0.z", 1));
        assert_eq!(found.values, ["r1   3f800000", "r1   40000000"]);
    }

    #[test]
    fn initial_register_differences_are_attributed_to_the_start() {
        let start = "   0  mov.u32u32 r1.z, 0   [lanes 0xffffffff]\nr0   00000000\n`@0` is no command (h lists them)\n";
        let other = start.replace("r0   0", "r0   1");
        assert_eq!(parting(start, &other, &Warp::numbered("vs", 0)).unwrap().instruction, START);
    }

    #[test]
    fn the_instruction_before_another_way_chose_it() {
        let other = COMMON.replace("   2  end ", "   7  nop ");
        let found = parting(COMMON, &other, &Warp::of_pixel([1, 2])).unwrap();
        assert_eq!(found.instruction, "instruction 1  mul.f r1.x, r0.z, r0.z");
        assert_eq!(found.warp.to_string(), "FS at pixel 1,2");
    }
}
