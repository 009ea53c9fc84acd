//! Writes frames as a YUV4MPEG2 stream, which ffmpeg and players read from a pipe.

use std::io::{self, BufWriter, Write};

use super::Header;

/// A YUV4MPEG2 stream. All its frames have the size and process of the first.
pub struct Video<W: Write> {
    out: BufWriter<W>,
    first: Option<Header>,
    /// Number of frames of another size or process.
    others: u64,
}

impl<W: Write> Video<W> {
    /// Makes an empty stream into `out`.
    pub fn new(out: W) -> Self {
        Self { out: BufWriter::new(out), first: None, others: 0 }
    }

    /// Adds a frame if it has the size and process of the first.
    ///
    /// # Errors
    /// The call fails if the stream cannot be written.
    pub fn put(&mut self, header: &Header, rgba: &[u8]) -> io::Result<()> {
        let first = *self.first.get_or_insert(*header);
        if (header.pid, header.width, header.height) != (first.pid, first.width, first.height) {
            self.others += 1;
            return Ok(());
        }
        if self.first == Some(*header) {
            // The frames of a device have no fixed rate. The stream declares 60 per second.
            let Header { width, height, .. } = header;
            writeln!(self.out, "YUV4MPEG2 W{width} H{height} F60:1 Ip A1:1 C444 XCOLORRANGE=LIMITED")?;
        }
        self.out.write_all(b"FRAME\n")?;
        for row in YCBCR {
            let plane: Vec<u8> = rgba.chunks_exact(4).map(|pixel| row.of(pixel)).collect();
            self.out.write_all(&plane)?;
        }
        self.out.flush()
    }

    /// Ends the stream. Returns a note for the report of the run.
    ///
    /// # Errors
    /// The call fails if the stream cannot be written.
    pub fn finish(mut self) -> io::Result<String> {
        self.out.flush()?;
        Ok(match self.others {
            0 => String::new(),
            others => format!("; {others} of them of another size or process, which the video has not"),
        })
    }
}

/// One row of the matrix of BT.601, in 1/65536, for the range 16 to 235 (240 for colours).
struct Row {
    base: i32,
    weights: [i32; 3],
}

const YCBCR: [Row; 3] = [
    Row { base: 16, weights: [16829, 33039, 6416] },
    Row { base: 128, weights: [-9714, -19070, 28784] },
    Row { base: 128, weights: [28784, -24103, -4681] },
];

impl Row {
    fn of(&self, rgba: &[u8]) -> u8 {
        let sum: i32 = self.weights.iter().zip(rgba).map(|(weight, value)| weight * i32::from(*value)).sum();
        (self.base + ((sum + (1 << 15)) >> 16)).clamp(0, 255) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primary_colours_are_those_of_the_standard() {
        let of = |rgb: [u8; 3]| YCBCR.map(|row| row.of(&[rgb[0], rgb[1], rgb[2], 255]));
        assert_eq!([of([0; 3]), of([255; 3])], [[16, 128, 128], [235, 128, 128]]);
        assert_eq!(
            [of([255, 0, 0]), of([0, 255, 0]), of([0, 0, 255])],
            [[81, 90, 240], [145, 54, 34], [41, 240, 110]]
        );
    }

    #[test]
    fn frames_of_another_size_are_left_out_and_counted() {
        let mut bytes = Vec::new();
        let mut video = Video::new(&mut bytes);
        let frame = |submit, width| Header { pid: 1, submit, width, height: 1 };
        video.put(&frame(0, 2), &[255; 8]).unwrap();
        video.put(&frame(1, 3), &[255; 12]).unwrap();
        video.put(&frame(2, 2), &[0; 8]).unwrap();
        assert!(video.finish().unwrap().starts_with("; 1 of them"));
        let header = b"YUV4MPEG2 W2 H1 F60:1 Ip A1:1 C444 XCOLORRANGE=LIMITED\n";
        let frames = [
            b"FRAME\n".as_slice(),
            &[235, 235, 128, 128, 128, 128],
            b"FRAME\n",
            &[16, 16, 128, 128, 128, 128],
        ];
        assert_eq!(bytes, [header.as_slice(), &frames.concat()].concat());
    }
}
