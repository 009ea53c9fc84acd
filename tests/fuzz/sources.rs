//! The inputs of mutations: small captures and sources that together reach every stage.

use std::path::{Path, PathBuf};

use a4emu_decoder::asm::{Bounds, assemble_block, ast::Block, disassemble, parse};
use a4emu_inspect::asm::Disk;
use a4emu_support::folders::Folders;

const RECORDED: [&str; 13] = [
    "blend",
    "compute",
    "derivative",
    "image",
    "indirect",
    "lines",
    "mrt",
    "occlusion",
    "points",
    "primitives",
    "scissor",
    "stencil",
    "xfb",
];

/// A capture as bytes and as statements.
pub struct Source {
    name: String,
    text: String,
    /// The raw capture.
    pub capture: Vec<u8>,
    /// The statements of the capture.
    pub block: Block,
}

/// The folder of the captures and their includes.
fn captures() -> PathBuf {
    let root = std::env::var_os("A4EMU_ROOT").map(PathBuf::from);
    root.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).join("captures")
}

impl Source {
    fn new(name: String, text: String) -> Self {
        let block = parse(&name, &text).expect("sources parse");
        let mut source = Self { name, text, capture: Vec::new(), block };
        source.capture = source.assemble(source.block.clone()).expect("sources assemble");
        source
    }

    /// Assembles `block` as a change of this source; `None` if it has errors.
    pub fn assemble(&self, block: Block) -> Option<Vec<u8>> {
        let folders = Folders::around(Path::new(&self.name), &[captures()]);
        assemble_block(&self.name, &self.text, block, &mut Disk::new(folders), Bounds::default()).ok()
    }
}

fn recorded(folder: &Path, name: &str) -> Source {
    let file = std::fs::File::open(folder.join(name).with_extension("rd.gz")).expect("captures are there");
    let mut capture = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(file), &mut capture).expect("gzip");
    Source::new(name.into(), disassemble(&capture).text)
}

fn written(path: &Path) -> Source {
    Source::new(path.display().to_string(), std::fs::read_to_string(path).expect("text"))
}

/// All sources, sorted by name, or those whose name has the text of `A4EMU_SOURCES`.
pub fn all() -> Vec<Source> {
    let chosen = std::env::var("A4EMU_SOURCES").ok();
    let folder = captures();
    let folders = [folder.clone(), folder.join("geometry"), folder.join("kernels")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("captures are there"));
    let mut paths: Vec<_> = files.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "a4"));
    paths.sort();
    assert!(paths.len() > 20, "hand-written sources are missing");
    paths
        .iter()
        .map(|path| written(path))
        .chain(RECORDED.iter().map(|name| recorded(&folder, name)))
        .filter(|source| chosen.as_ref().is_none_or(|chosen| source.name.contains(chosen)))
        .collect()
}
