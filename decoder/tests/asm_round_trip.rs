//! Each shared capture disassembles to a source that assembles to equal bytes. There is one test per capture.
//!
//! The captures are in `../shared/captures` beside the project, or in `$A4EMU_SHARED`.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use a4emu_decoder::asm::{Bounds, Files, Image, Rest, Unreadable, assemble, disassemble};
use flate2::read::MultiGzDecoder;
use libtest_mimic::{Arguments, Failed, Trial};

/// Files for a disassembled capture, which has no includes.
struct NoFiles;

impl Files for NoFiles {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.into()
    }
    fn text(&mut self, name: &str) -> Result<String, Unreadable> {
        Err(Unreadable(format!("`{name}` is not to be read")))
    }
    fn image(&mut self, name: &str) -> Result<Image, Unreadable> {
        self.text(name).map(|_| unreachable!())
    }
}

/// Limit for the length of the text. A buffer that is dumped again must not be printed again if it is
/// unchanged, and only in part if it changed.
fn bound(packed: u64) -> usize {
    50 * packed as usize + 200_000
}

fn round_trip(path: &Path) -> Result<(), Failed> {
    let packed = fs::metadata(path)?.len();
    let mut bytes = Vec::new();
    MultiGzDecoder::new(File::open(path)?).read_to_end(&mut bytes)?;
    let source = disassemble(&bytes);
    if source.rest != Rest::default() {
        return Err("taken for damaged".into());
    }
    if source.text.len() > bound(packed) {
        return Err(format!("{} bytes of text for {packed} packed ones", source.text.len()).into());
    }
    let again = assemble("source", &source.text, &mut NoFiles, Bounds::default())
        .map_err(|error| error.to_string())?;
    match again.iter().zip(&bytes).position(|(a, b)| a != b) {
        Some(at) => Err(format!("byte {at:#x} differs").into()),
        None if again.len() != bytes.len() => {
            Err(format!("{} bytes for {}", again.len(), bytes.len()).into())
        }
        None => Ok(()),
    }
}

fn captures(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            captures(&path, found);
        } else if path.to_string_lossy().ends_with(".rd.gz") {
            found.push(path);
        }
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("A4EMU_SHARED").map_or(beside, PathBuf::from).join("captures");
    let mut found = Vec::new();
    captures(&shared, &mut found);
    found.sort();
    if found.is_empty() {
        eprintln!("\n*** SKIPPED: no captures in {}: the round trip was NOT tested ***\n", shared.display());
    }
    let trial = |path: PathBuf| {
        let name = path.strip_prefix(&shared).unwrap_or(&path).display().to_string();
        Trial::test(name, move || round_trip(&path))
    };
    libtest_mimic::run(&arguments, found.into_iter().map(trial).collect()).exit();
}
