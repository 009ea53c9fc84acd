//! The device's settings, from the environment. `a4emu run` sets these variables from its arguments; they
//! also work with `LD_PRELOAD` alone, and so do the variables of Mesa's own shims for freedreno.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use a4emu_gpu::budget;
use a4emu_gpu::gpu::{CHIPS, Chip, Model};
use a4emu_gpu::span::Span;
use a4emu_process::frames::PIPE;
use a4emu_rules::suppress::{MAX_FILE, Suppressions};
use a4emu_rules::{Choice, ChosenRules};
use a4emu_shader::Jit;

/// The settings, which are read once.
#[derive(Debug)]
pub struct Settings {
    /// `A4EMU_GPU`: a number of [`CHIPS`]. Without it, the variables of Mesa's shims (src/freedreno/drm-shim):
    /// `FD_CHIP_ID`, a chip id in hexadecimal, or `FD_GPU_ID`, a number; 420 is the default. `None` if they name
    /// a chip that this device is not.
    pub chip: Option<Chip>,
    /// Whether a variable of Mesa's shims named the chip. Such a shim says nothing unless something is wrong.
    pub shim: bool,
    /// `A4EMU_MODEL`: `board` (the default) or `strict-gl`.
    pub model: Model,
    /// `A4EMU_JIT`: `off`, `on` or `auto` (the default).
    pub jit: Jit,
    /// `A4EMU_RECORD`: the capture to write.
    pub record: Option<PathBuf>,
    /// `A4EMU_RECORD_RANGE`: the recorded submits, from 0; the default is all.
    pub record_range: Span,
    /// `A4EMU_FOLDER`: the folder of device files and summaries, which the launcher removes.
    pub folder: Option<PathBuf>,
    /// `A4EMU_RUN`: start of the names of this run's recordings, until they are complete.
    pub run: Option<String>,
    /// `A4EMU_MAX_WORK`: units of work after which a submit counts as a hang; the default is about ten seconds of an A4xx, and
    /// ten minutes of an A6xx.
    pub max_work: u64,
    /// `A4EMU_VALIDATE=1`: submits are checked against the rules of `a4emu validate`.
    pub validate: bool,
    /// The findings that count. `A4EMU_RULE`, `A4EMU_NO_RULE`: rules and families of rules, separated by
    /// commas; `A4EMU_SUPPRESS`: a file.
    pub findings: ChosenRules,
    /// `A4EMU_THREADS`: number of drawing threads; the default is one for each processor.
    pub threads: Option<usize>,
    /// `A4EMU_STRICT=1`: a submit fails if it faults or meets an unsupported feature.
    pub strict: bool,
    /// Whether the launcher receives frames.
    pub frames: bool,
}

/// The settings of this process.
pub fn get() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| Settings::from(|name| std::env::var_os(name)))
}

impl Settings {
    fn from(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Self {
        // The path becomes absolute, since the program may change its folder.
        let path =
            |name| variable(name).map(|path| std::path::absolute(&path).unwrap_or_else(|_| path.into()));
        let text = |name| variable(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
        let list = |name| text(name).split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let suppress = path("A4EMU_SUPPRESS");
        let choice = Choice { rule: list("A4EMU_RULE"), no_rule: list("A4EMU_NO_RULE"), suppress };
        let names = ["A4EMU_GPU", "FD_CHIP_ID", "FD_GPU_ID"].map(text);
        let shim = names[0].is_empty() && names != [""; 3];
        let chip = chip(names);
        Self {
            shim,
            chip,
            model: Model::named(&text("A4EMU_MODEL")).unwrap_or_default(),
            jit: text("A4EMU_JIT").parse().unwrap_or_default(),
            record: path("A4EMU_RECORD"),
            record_range: text("A4EMU_RECORD_RANGE").parse().unwrap_or(Span::ALL),
            run: Some(text("A4EMU_RUN")).filter(|run| !run.is_empty()),
            folder: path("A4EMU_FOLDER"),
            max_work: text("A4EMU_MAX_WORK").parse().unwrap_or(default_work(chip)),
            validate: text("A4EMU_VALIDATE") == "1",
            findings: choice
                .read(|path| {
                    let mut text = String::new();
                    File::open(path)?.take(MAX_FILE + 1).read_to_string(&mut text)?;
                    Suppressions::parse(&text)
                })
                .unwrap_or_default(),
            threads: text("A4EMU_THREADS").parse().ok(),
            strict: text("A4EMU_STRICT") == "1",
            frames: variable("A4EMU_FOLDER").is_some_and(|folder| Path::new(&folder).join(PIPE).exists()),
        }
    }

    /// Whether the program waits for each submit: its errors, findings and frames belong to it, and recorded
    /// memory must not change meanwhile.
    pub fn one_by_one(&self) -> bool {
        self.strict || self.validate || self.frames || self.record.is_some()
    }
}

/// See [`Settings::max_work`]. A630s are used to compute, and a dispatch that takes the chip a second takes minutes here.
fn default_work(chip: Option<Chip>) -> u64 {
    let computes = chip.is_some_and(|chip| chip.generation().number >= 6);
    if computes { budget::BASE << 6 } else { budget::BASE }
}

/// See [`Settings::chip`].
fn chip([number, chip_id, gpu_id]: [String; 3]) -> Option<Chip> {
    if let Ok(id) = number.parse() {
        return Some(Chip { id });
    }
    let mut known = CHIPS.iter().filter(|row| row.in_mesa);
    let row = if !chip_id.is_empty() {
        let id = u32::from_str_radix(chip_id.trim_start_matches("0x"), 16).ok()?;
        // Mesa's shim has 0xff as the patch level, for any.
        known.find(|row| row.chip_id >> 8 == id >> 8)
    } else if !gpu_id.is_empty() {
        known.find(|row| row.name == gpu_id)
    } else {
        return Some(Chip::default());
    };
    row.map(|row| Chip { id: row.id })
}

#[cfg(test)]
mod tests {
    use a4emu_rules::rules::Id;

    use super::*;

    #[test]
    fn defaults_and_values() {
        let none = Settings::from(|_| None);
        assert_eq!(
            (none.chip, none.strict, none.validate, none.record_range),
            (Some(Chip { id: 420 }), false, false, Span::ALL)
        );
        let some = Settings::from(|name| {
            let value = match name {
                "A4EMU_GPU" => "430",
                "A4EMU_MODEL" => "strict-gl",
                "A4EMU_JIT" => "off",
                "A4EMU_RECORD_RANGE" => "2..4",
                "A4EMU_RULE" => "D1,Y",
                "A4EMU_THREADS" => "3",
                "A4EMU_RECORD" => "out.rd",
                "A4EMU_STRICT" | "A4EMU_VALIDATE" => "1",
                _ => return None,
            };
            Some(value.into())
        });
        let shim = Settings::from(|name| (name == "FD_GPU_ID").then(|| "420".into()));
        assert_eq!([&none, &some, &shim].map(|settings| settings.shim), [false, false, true]);
        assert!(some.findings.names(Id::Y4) && !some.findings.names(Id::D2) && none.findings.names(Id::D2));
        assert_eq!((none.model, some.model), (Model::Board, Model::StrictGl));
        assert_eq!((none.jit, some.jit), (Jit::Auto, Jit::Off));
        assert_eq!((none.threads, some.threads), (None, Some(3)));
        assert_eq!(some.record, Some(std::env::current_dir().unwrap().join("out.rd")));
        assert_eq!(
            (some.chip, some.strict, some.validate, some.record_range),
            (Some(Chip { id: 430 }), true, true, Span { start: 2, end: 4 })
        );
    }

    #[test]
    fn chips_by_the_variables_of_mesas_shims() {
        let named = |values: [&str; 3]| chip(values.map(str::to_owned)).map(|chip| chip.id);
        assert_eq!([["", "", "405"], ["", "", "630"], ["", "", ""]].map(named), [405, 630, 420].map(Some));
        // The ids of Mesa's shim and of the kernel.
        assert_eq!([["", "040200ff", ""], ["", "0x04030002", "420"]].map(named), [420, 430].map(Some));
        assert_eq!(named(["405", "040200ff", "630"]), Some(405), "the launcher's comes first");
        let others = [["", "", "640"], ["", "", "418"], ["", "06040001", "420"], ["", "x", ""]];
        assert_eq!(others.map(named), [None; 4]);
    }
}
