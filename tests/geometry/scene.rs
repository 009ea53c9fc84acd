//! Scenes as text: those of `captures/geometry`, with or without changes, or others that include their
//! set-up.

use a4emu_decoder::adreno::address::Address;
use std::path::PathBuf;

use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::gs::cost::CostRow;
use a4emu_gpu::draw::gs::dispatch::Setting;
use a4emu_gpu::picture::Picture;
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Ended;
use a4emu_inspect::asm::Disk;
use a4emu_support::folders::Folders;

/// Address of the first buffer without an address of its own.
const ORIGIN: u32 = 0x1000_0000;

/// Every setting of `--gs-dispatch`.
pub const SETTINGS: [Setting; 4] = Setting::ALL;

/// The source of a scene.
pub struct Scene(String);

impl Scene {
    /// A scene of `captures/geometry`.
    pub fn named(name: &str) -> Self {
        Self(std::fs::read_to_string(folder().join(name).with_extension("a4")).unwrap())
    }

    /// A scene from `text`, which may include files of `captures/geometry`.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The scene with `old`, which must occur, replaced by `new`.
    pub fn with(&self, old: &str, new: &str) -> Self {
        assert!(self.0.contains(old), "no `{old}` in the scene");
        Self(self.0.replace(old, new))
    }

    /// Plays the scene with the default dispatch of geometry shaders.
    pub fn play(&self) -> Ended {
        self.play_as(Setting::Auto)
    }

    /// Assembles the scene.
    pub fn capture(&self) -> Vec<u8> {
        let name = folder().join("test.a4").display().to_string();
        let mut disk = Disk::new(Folders::new([concat!(env!("CARGO_MANIFEST_DIR"), "/captures")]));
        assemble(&name, &self.0, &mut disk, Bounds::default())
            .unwrap_or_else(|error| panic!("{error}\n{}", self.0))
    }

    /// Plays the scene with a dispatch setting.
    pub fn play_as(&self, setting: Setting) -> Ended {
        let mut playback = Playback::default();
        playback.gpu.pipeline.gs_dispatch = setting;
        playback.run(Sections::new(self.capture().as_slice()).unwrap(), &mut Renderer, &mut Silent);
        playback.gpu.end()
    }

    /// Plays bytes that may be no valid capture.
    pub fn play_capture(capture: &[u8]) {
        let mut playback = Playback::default();
        if let Ok(sections) = Sections::new(capture) {
            playback.run(sections, &mut Renderer, &mut Silent);
        }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("captures/geometry")
}

/// Names of all scenes of `captures/geometry`.
pub fn all() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let sources = entries.filter(|path| path.extension().is_some_and(|extension| extension == "a4"));
    let mut names: Vec<String> =
        sources.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The reported faults as text.
pub fn faults(gpu: &Ended) -> Vec<String> {
    gpu.report.faults().map(ToString::to_string).collect()
}

/// The surface that was drawn last, in RGBA.
pub fn picture(gpu: &Ended) -> Vec<u8> {
    Picture::of(gpu.pipeline.surfaces.last_color().unwrap(), gpu.memory()).unwrap().pixels()
}

/// Number of pixels that differ from the background.
pub fn drawn(picture: &[u8]) -> usize {
    picture.chunks_exact(4).filter(|pixel| *pixel != [26, 26, 38, 255]).count()
}

/// The only row of the dispatch ledger.
pub fn row(gpu: &Ended) -> CostRow {
    let rows = gpu.pipeline.dispatches.rows();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0]
}

/// Memory at `address`; zero where it was never written.
pub fn bytes(gpu: &Ended, address: impl Into<Address>, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    let _unknown_is_zero = gpu.memory().read(address, &mut bytes);
    bytes
}

/// Floats in memory at `address`.
pub fn floats(gpu: &Ended, address: impl Into<Address>, count: usize) -> Vec<f32> {
    bytes(gpu, address, 4 * count)
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// Address of the first buffer, in scenes that begin with a buffer.
pub const FIRST: u32 = ORIGIN;
