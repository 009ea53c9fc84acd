//! Opens the files that a source names: includes and pictures. Paths are relative to the file that names
//! them, or else to the folders that the source may read.

use std::fs;
use std::io::BufReader;
use std::path::Path;

use a4emu_decoder::adreno::capture::MAX_PAYLOAD;
use a4emu_decoder::asm::{Files, Image, Unreadable};
use anyhow::{Context, ensure};

use crate::folders::{Folders, parent};
use crate::out_file::Inputs;

/// Maximum size of a source in bytes.
pub const MAX_SOURCE: u64 = 1 << 28;
/// Maximum size of a picture in bytes: a larger one does not fit a buffer.
const MAX_IMAGE: usize = MAX_PAYLOAD as usize;
/// File extensions of sources. Lines of other files are not shown in error messages.
const SOURCES: [&str; 2] = ["a4", "a4i"];

/// The part of the file system that a source may read.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    folders: Folders,
    /// Receives the files that were read.
    pub inputs: Inputs,
}

impl Disk {
    /// Gives access to the files in `folders`.
    pub fn new(folders: Folders) -> Self {
        Self::noting(folders, Inputs::default())
    }

    /// Gives access to files below `folders`. Each file is added to `inputs` when it is read.
    pub fn noting(folders: Folders, inputs: Inputs) -> Self {
        Self { folders, inputs }
    }

    fn source(&mut self, name: &str) -> anyhow::Result<String> {
        let place = self.folders.place(Path::new(name))?;
        let is_source = place.extension().is_some_and(|kind| SOURCES.iter().any(|source| kind == *source));
        ensure!(is_source, "`{name}` is no source: its name does not end in .a4 or .a4i");
        self.folders.text(&place, MAX_SOURCE, &self.inputs)
    }

    fn picture(&mut self, name: &str) -> anyhow::Result<Image> {
        let file = self.folders.open(Path::new(name), &self.inputs)?;
        picture(BufReader::new(file), MAX_IMAGE).with_context(|| format!("cannot read the picture `{name}`"))
    }
}

impl Files for Disk {
    fn resolve(&mut self, from: &str, path: &str) -> String {
        let beside = parent(Path::new(from)).join(path);
        let elsewhere = || self.folders.iter().map(|folder| folder.join(path)).find(|path| path.exists());
        let beside = if beside.exists() { beside } else { elsewhere().unwrap_or(beside) };
        // Two paths to one file must give one name; otherwise a loop of includes is not detected. A missing
        // file keeps its path.
        let plain = fs::canonicalize(&beside).unwrap_or_else(|_| beside.clone());
        let here = fs::canonicalize(".").unwrap_or_default();
        plain.strip_prefix(&here).unwrap_or(&plain).display().to_string()
    }

    fn text(&mut self, name: &str) -> Result<String, Unreadable> {
        self.source(name).map_err(|error| Unreadable(format!("{error:#}")))
    }

    fn image(&mut self, name: &str) -> Result<Image, Unreadable> {
        self.picture(name).map_err(|error| Unreadable(format!("{error:#}")))
    }
}

/// Decodes any PNG as RGBA with 8 bits, if that is at most `limit` bytes. The decoder itself accepts no more
/// than 64 MB.
fn picture(reader: impl std::io::BufRead + std::io::Seek, limit: usize) -> anyhow::Result<Image> {
    let mut decoder = png::Decoder::new(reader);
    decoder.set_transformations(png::Transformations::ALPHA | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().filter(|&size| size <= limit).context("too large")?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels)?;
    pixels.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::GrayscaleAlpha => {
            pixels.as_chunks::<2>().0.iter().flat_map(|&[grey, alpha]| [grey, grey, grey, alpha]).collect()
        }
        _ => pixels,
    };
    Ok(Image { width: info.width, height: info.height, rgba })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn a_picture_is_refused_by_its_header_when_it_is_too_large() {
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 3, 2);
        encoder.set_color(png::ColorType::Rgba);
        encoder.write_header().unwrap().write_image_data(&[7; 24]).unwrap();
        assert_eq!(picture(Cursor::new(&png), 24).unwrap().rgba, [7; 24]);
        assert_eq!(picture(Cursor::new(&png), 23).unwrap_err().to_string(), "too large");
    }
}
