//! Unpacks gzip: one or more members.
//!
//! The unpacked bytes do not depend on the pieces in which the packed bytes arrive: the decompressor drops what
//! it has made of a piece with damage, so it gets pieces of one size. Packed bytes that unpack to nothing (empty
//! members, empty blocks) have a limit of their own, because the limit of unpacked bytes does not see them.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;

/// First bytes of gzip.
pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Packed bytes in a piece.
const PIECE: usize = 1 << 13;

/// Packed bytes that may unpack to nothing.
const LEAST: u64 = 1 << 20;

/// Packed bytes that may be read for each unpacked one, besides [`LEAST`]. A stream of members of a few bytes,
/// with names, has less.
const PER_BYTE: u64 = 64;

/// The unpacked bytes of a gzip stream.
pub struct Gunzip<R> {
    decoder: Decoder<R>,
}

/// The decompressor reads as soon as it is made, and waits for a whole piece.
enum Decoder<R> {
    Packed(Option<Pieces<R>>),
    Begun(Box<MultiGzDecoder<Pieces<R>>>),
}

impl<R: Read> Gunzip<R> {
    /// Makes a reader of what `packed` holds. Nothing is read yet.
    pub fn new(packed: R) -> Self {
        let pieces = Pieces { packed, piece: Vec::new(), at: 0, error: None, left: LEAST };
        Self { decoder: Decoder::Packed(Some(pieces)) }
    }
}

impl<R: Read> Read for Gunzip<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if let Decoder::Packed(packed) = &mut self.decoder
            && let Some(pieces) = packed.take()
        {
            self.decoder = Decoder::Begun(Box::new(MultiGzDecoder::new(pieces)));
        }
        let Decoder::Begun(decoder) = &mut self.decoder else { return Ok(0) };
        let count = decoder.read(to)?;
        let left = &mut decoder.get_mut().left;
        *left = left.saturating_add(PER_BYTE * count as u64);
        Ok(count)
    }
}

/// The packed bytes, in pieces of [`PIECE`] bytes; the last one may be shorter.
struct Pieces<R> {
    packed: R,
    piece: Vec<u8>,
    /// Bytes of the piece that are used.
    at: usize,
    /// What ended the piece early.
    error: Option<io::Error>,
    /// Bytes that may still be used.
    left: u64,
}

impl<R: Read> BufRead for Pieces<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.piece.len() {
            if let Some(error) = self.error.take() {
                return Err(error);
            }
            (self.at, self.left) = (0, self.left.saturating_sub(self.piece.len() as u64));
            self.piece.clear();
            self.error = self.packed.by_ref().take(PIECE as u64).read_to_end(&mut self.piece).err();
            if let Some(error) = self.error.take_if(|_| self.piece.is_empty()) {
                return Err(error);
            }
        }
        if self.left == 0 && !self.piece.is_empty() {
            let what = format!("more than {LEAST} bytes of it unpack to nothing");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        Ok(&self.piece[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
    }
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(to)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(bytes).expect("memory");
        packed.finish().expect("memory")
    }

    /// A reader of `bytes` again and again, without end.
    fn endless(bytes: &'static [u8]) -> impl Read {
        struct Endless(&'static [u8], usize);
        impl Read for Endless {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                let count = (&self.0[self.1..]).read(to)?;
                self.1 = (self.1 + count) % self.0.len();
                Ok(count)
            }
        }
        Endless(bytes, 0)
    }

    /// A reader that is made of a pipe does not wait for the pipe's bytes.
    #[test]
    fn nothing_is_read_at_the_start() {
        struct Never;
        impl Read for Never {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("it is read")
            }
        }
        drop(Gunzip::new(Never));
    }

    #[test]
    fn members_follow_each_other() {
        let mut all = [packed(b"one"), packed(b""), packed(b"two")].concat();
        let mut text = String::new();
        Gunzip::new(&all[..]).read_to_string(&mut text).expect("it is whole");
        assert_eq!(text, "onetwo");
        all.pop();
        let error = Gunzip::new(&all[..]).read_to_end(&mut Vec::new()).expect_err("it is cut off");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_unpacks_to_nothing_ends() {
        let member: &'static [u8] = packed(b"").leak();
        let head: &'static [u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3];
        let blocks = head.chain(endless(&[0, 0, 0, 0xff, 0xff]));
        for stream in [&mut endless(member) as &mut dyn Read, &mut { blocks }] {
            let mut bytes = Vec::new();
            let error = Gunzip::new(stream).read_to_end(&mut bytes).expect_err("there is a limit");
            assert!(bytes.is_empty() && error.to_string().contains("unpack to nothing"), "{error}");
        }
        let many = packed(b"x").repeat(1 << 16);
        assert_eq!(io::copy(&mut Gunzip::new(&many[..]), &mut io::sink()).expect("small members"), 1 << 16);
    }
}
