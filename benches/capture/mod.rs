//! The recording that benchmarks of decoding and replaying run on.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// The recorded seconds of glxgears, unpacked; `None` where the shared captures are absent.
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
