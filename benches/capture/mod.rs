//! The capture for the benchmarks of decoding and replaying.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// Some seconds of glxgears, unpacked. `None` without the shared captures.
pub fn glxgears() -> Option<Vec<u8>> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("A4EMU_SHARED").map_or(beside, PathBuf::from);
    let path = shared.join("captures/hardware/glxgears-a420.rd.gz");
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("SKIPPED: no {}", path.display());
        return None;
    };
    let mut bytes = Vec::new();
    GzDecoder::new(file).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
