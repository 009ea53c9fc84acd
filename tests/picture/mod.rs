//! Pictures that commands write. Each test uses a part of this module.
#![allow(dead_code)]

use std::fs;
use std::io::Cursor;
use std::path::Path;

/// A picture.
#[derive(Debug, PartialEq)]
pub struct Picture {
    /// Number of columns and rows.
    pub size: [usize; 2],
    /// Number of bytes per pixel.
    pub pixel_bytes: usize,
    /// The bytes, row by row.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// Reads the PNG at `path`.
    pub fn read(path: &Path) -> Self {
        Self::decode(&fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    /// Decodes the PNG in `bytes`.
    pub fn decode(bytes: &[u8]) -> Self {
        let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().expect("a PNG");
        let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut bytes).expect("pixels");
        let size = [info.width, info.height].map(|side| side as usize);
        Self { size, pixel_bytes: info.line_size / size[0], bytes }
    }

    /// The bytes of a pixel.
    pub fn pixel(&self, [x, y]: [usize; 2]) -> &[u8] {
        &self.bytes[(y * self.size[0] + x) * self.pixel_bytes..][..self.pixel_bytes]
    }

    /// The bytes of each pixel, row by row.
    pub fn pixels(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.pixel_bytes)
    }
}
