//! What a source refers to, on disk: includes and pictures, by paths relative
//! to the file that names them.

use std::fs;
use std::io::{BufReader, Read};
use std::path::Path;

use a4emu_decoder::asm::{Files, Image};

/// A source larger than this is a mistake.
const MAX_SOURCE: u64 = 1 << 28;
/// A picture with more bytes than this does not fit a buffer.
const MAX_IMAGE: usize = 1 << 28;

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn resolve(&mut self, from: &str, path: &str) -> String {
        let beside = Path::new(from).parent().unwrap_or(Path::new("")).join(path);
        // Two ways to the same file have to give one name, or a loop of
        // includes would not be seen; a file that is not there keeps its path.
        let plain = fs::canonicalize(&beside).unwrap_or_else(|_| beside.clone());
        let here = fs::canonicalize(".").unwrap_or_default();
        plain.strip_prefix(&here).unwrap_or(&plain).display().to_string()
    }

    fn text(&mut self, name: &str) -> Result<String, String> {
        let mut text = String::new();
        let file = fs::File::open(name).map_err(|error| format!("cannot open `{name}`: {error}"))?;
        let read = file.take(MAX_SOURCE).read_to_string(&mut text);
        read.map(|_| text).map_err(|error| format!("cannot read `{name}`: {error}"))
    }

    fn image(&mut self, name: &str) -> Result<Image, String> {
        let file = fs::File::open(name).map_err(|error| format!("cannot open `{name}`: {error}"))?;
        picture(BufReader::new(file)).map_err(|error| format!("cannot read the picture `{name}`: {error}"))
    }
}

/// Any PNG as RGBA with 8 bits.
fn picture(reader: impl std::io::BufRead + std::io::Seek) -> Result<Image, String> {
    let mut decoder = png::Decoder::new_with_limits(reader, png::Limits { bytes: MAX_IMAGE });
    decoder.set_transformations(png::Transformations::ALPHA | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader.output_buffer_size().filter(|&size| size <= MAX_IMAGE).ok_or("too large")?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    pixels.truncate(info.buffer_size());
    let rgba = match info.color_type {
        png::ColorType::GrayscaleAlpha => {
            pixels.as_chunks::<2>().0.iter().flat_map(|&[grey, alpha]| [grey, grey, grey, alpha]).collect()
        }
        _ => pixels,
    };
    Ok(Image { width: info.width, height: info.height, rgba })
}
