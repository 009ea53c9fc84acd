//! Scenes as text: those of `captures/geometry`, perhaps with changes, or others that include
//! the same set-up.

use std::path::PathBuf;

use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_decoder::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::gs::cost::Row;
use a4emu_gpu::draw::gs::dispatch::Setting;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::Picture;
use a4emu_gpu::playback::Playback;
use a4emu_inspect::asm::Disk;
use a4emu_inspect::folders::Folders;

/// Where buffers without an address begin.
const ORIGIN: u32 = 0x1000_0000;

/// Every setting of `--gs-dispatch`.
pub const SETTINGS: [Setting; 4] =
    [Setting::Auto, Setting::Single, Setting::DualInstanced, Setting::DualObject];

/// The source of a scene.
pub struct Scene(String);

impl Scene {
    /// One of the project's.
    pub fn named(name: &str) -> Self {
        Self(std::fs::read_to_string(folder().join(name).with_extension("a4")).unwrap())
    }

    /// `text`, which may include what lies in `captures/geometry`.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// With `old`, which must be there, replaced.
    pub fn with(&self, old: &str, new: &str) -> Self {
        assert!(self.0.contains(old), "no `{old}` in the scene");
        Self(self.0.replace(old, new))
    }

    /// Plays it with geometry shaders laid out as they like.
    pub fn play(&self) -> Gpu {
        self.play_as(Setting::Auto)
    }

    /// What it assembles to.
    pub fn capture(&self) -> Vec<u8> {
        let name = folder().join("test.a4").display().to_string();
        let mut disk = Disk::new(Folders::new([concat!(env!("CARGO_MANIFEST_DIR"), "/captures")]));
        assemble(&name, &self.0, &mut disk, Bounds::default())
            .unwrap_or_else(|error| panic!("{error}\n{}", self.0))
    }

    /// Plays it.
    pub fn play_as(&self, setting: Setting) -> Gpu {
        let mut playback = Playback::default();
        playback.gpu.pipeline.gs_dispatch = setting;
        playback.run(Sections::new(self.capture().as_slice()).unwrap(), &mut Renderer, &mut Silent);
        playback.gpu
    }

    /// Plays bytes that may be no capture at all.
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

/// All scenes of the project.
pub fn all() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let sources = entries.filter(|path| path.extension().is_some_and(|extension| extension == "a4"));
    let mut names: Vec<String> =
        sources.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// What was reported, as text.
pub fn faults(gpu: &Gpu) -> Vec<String> {
    gpu.report.faults().map(ToString::to_string).collect()
}

/// The surface that was drawn last, RGBA.
pub fn picture(gpu: &Gpu) -> Vec<u8> {
    Picture::of(gpu.pipeline.surfaces.last_color().unwrap(), &gpu.mem).unwrap().pixels()
}

/// Pixels of a picture that are not the background.
pub fn drawn(picture: &[u8]) -> usize {
    picture.chunks_exact(4).filter(|pixel| *pixel != [26, 26, 38, 255]).count()
}

/// The only row of the dispatch ledger.
pub fn row(gpu: &Gpu) -> Row {
    let rows = gpu.pipeline.dispatches.rows();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0]
}

/// Memory from `address` on; zero where nobody wrote.
pub fn bytes(gpu: &Gpu, address: u32, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    let _unknown_is_zero = gpu.mem.read(address, &mut bytes);
    bytes
}

/// Floats from `address` on.
pub fn floats(gpu: &Gpu, address: u32, count: usize) -> Vec<f32> {
    bytes(gpu, address, 4 * count)
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

/// The first buffer of a scene that begins with one.
pub const FIRST: u32 = ORIGIN;
