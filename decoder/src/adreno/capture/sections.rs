//! The streaming reader: bytes, raw or gzip, to sections.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use super::devcore::{self, Devcore};
use super::gunzip::{GZIP, Gunzip};
use super::{MAX_PAYLOAD, Section, SectionId, header};
use crate::error::CaptureError;

const HEADER: usize = 8;
const MARKER: [u8; HEADER] = [0xff; HEADER];
/// Bytes that are allocated for a payload before its bytes arrive.
const ROOM: usize = 1 << 20;

type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// The unpacked bytes of a capture. The first bytes decide between raw and gzip.
enum Source<R: Read> {
    Raw(BufReader<Peeked<R>>),
    Gzip(Box<BufReader<Gunzip<Peeked<R>>>>),
}

impl<R: Read> Source<R> {
    fn new(mut reader: R) -> io::Result<Self> {
        let mut start = Vec::new();
        reader.by_ref().take(GZIP.len() as u64).read_to_end(&mut start)?;
        let gzip = start == GZIP;
        let peeked = Cursor::new(start).chain(reader);
        Ok(match gzip {
            true => Self::Gzip(Box::new(BufReader::new(Gunzip::new(peeked)))),
            false => Self::Raw(BufReader::new(peeked)),
        })
    }

    fn buffered(&mut self) -> &mut dyn BufRead {
        match self {
            Self::Raw(reader) => reader,
            Self::Gzip(reader) => reader.as_mut(),
        }
    }

    /// Whether bytes are buffered, so that looking at them reads nothing.
    fn is_filled(&self) -> bool {
        let buffer = match self {
            Self::Raw(reader) => reader.buffer(),
            Self::Gzip(reader) => reader.buffer(),
        };
        !buffer.is_empty()
    }

    fn error(&self, offset: u64, source: io::Error) -> CaptureError {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        match (self, source.kind()) {
            (Self::Gzip(_), InvalidData | InvalidInput | UnexpectedEof) => {
                CaptureError::Compression { offset, source }
            }
            _ => CaptureError::Io { offset, source },
        }
    }
}

/// After so many bytes without a section, the reader returns an empty section of kind `NONE` to show
/// progress.
const PASSED: u64 = 1 << 20;

/// The sections of a capture, in file order.
///
/// A kernel dump (devcoredump) is read as a capture too: its buffers, registers and ring become sections.
///
/// Markers, and bytes after damage, may have no end. The reader returns an empty section of kind `NONE` for
/// each megabyte of them.
///
/// An error is an item like a section. After [`CaptureError::BadSize`] the reader searches for the next
/// marker and continues. If a payload is cut off, the bytes that exist come first as a section, then the
/// error, then the end.
pub struct Sections<R: Read> {
    source: Source<R>,
    offset: u64,
    then: Then,
    pending: Option<CaptureError>,
    /// The payload that is being skipped.
    oversize: Option<Oversize>,
    /// Limit for the bytes of a payload that are kept.
    max_payload: u32,
    /// The reader of a kernel dump, if the file is one.
    devcore: Option<Box<Devcore>>,
}

/// How the reader continues after an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Read the first header, which decides whether the file is a capture.
    First,
    /// Read the next header.
    Next,
    /// Search for the next marker. The value holds the last 16 bytes, the latest on top.
    Resync(u128),
    /// End the iteration.
    End,
}

/// A payload that is too large to keep.
#[derive(Clone, Copy)]
struct Oversize {
    offset: u64,
    id: u32,
    size: u32,
    /// Bytes of it that were skipped.
    got: u32,
}

impl Then {
    fn after(result: &Result<Option<Section>, CaptureError>) -> Self {
        match result {
            Ok(Some(_)) | Err(CaptureError::TooLarge { .. }) => Self::Next,
            Err(CaptureError::BadSize { .. }) => Self::Resync(0),
            Ok(None) | Err(_) => Self::End,
        }
    }
}

impl<R: Read> Sections<R> {
    /// Starts to read from `reader`, raw or gzip (of one or more members).
    ///
    /// # Errors
    /// The first bytes cannot be read.
    pub fn new(reader: R) -> Result<Self, CaptureError> {
        let source = Source::new(reader).map_err(|source| CaptureError::Io { offset: 0, source })?;
        Ok(Self {
            source,
            offset: 0,
            then: Then::First,
            pending: None,
            oversize: None,
            max_payload: MAX_PAYLOAD,
            devcore: None,
        })
    }

    /// Number of unpacked bytes read so far. For a kernel dump, with those of the payloads made of it.
    pub fn offset(&self) -> u64 {
        self.devcore.as_ref().map_or(self.offset, |devcore| devcore.offset())
    }

    /// Skips the empty sections of kind `NONE` that come next before the offset `end`, as far as they are
    /// buffered.
    pub(super) fn pass_padding(&mut self, end: u64) {
        if self.devcore.is_some() || self.oversize.is_some() || !self.source.is_filled() {
            return;
        }
        let room = usize::try_from(end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let source = self.source.buffered();
        if let (Then::Next, Ok(buffer)) = (self.then, source.fill_buf()) {
            let words = buffer.as_chunks::<HEADER>().0.iter().take(room.div_ceil(HEADER));
            let bytes = HEADER * words.take_while(|word| **word == [0; HEADER]).count();
            source.consume(bytes);
            self.offset += bytes as u64;
        }
    }

    /// Reads the bytes of the next header, as many as there are.
    ///
    /// A header that is buffered whole is taken from the buffer, because a gigabyte of empty sections has a
    /// hundred million headers.
    fn read_header(&mut self) -> Result<([u8; HEADER], usize), CaptureError> {
        let source = self.source.buffered();
        match source.fill_buf().map(|buffer| buffer.first_chunk().copied()) {
            Ok(Some(bytes)) => {
                source.consume(HEADER);
                self.offset += HEADER as u64;
                return Ok((bytes, HEADER));
            }
            // A reader that was asked again might say that it has ended.
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(self.source.error(self.offset, error));
            }
            _ => {}
        }
        let mut bytes = Vec::with_capacity(HEADER);
        self.read_upto(HEADER, &mut bytes)?;
        let mut header = [0; HEADER];
        header[..bytes.len()].copy_from_slice(&bytes);
        Ok((header, bytes.len()))
    }

    /// Reads until `limit` bytes or the end of the stream, and appends the bytes as they arrive.
    fn read_upto(&mut self, limit: usize, into: &mut Vec<u8>) -> Result<(), CaptureError> {
        let before = into.len();
        let read = self.source.buffered().take(limit as u64).read_to_end(into);
        self.offset += (into.len() - before) as u64;
        read.map(drop).map_err(|error| self.source.error(self.offset, error))
    }

    /// The next header after any markers: offset, id, size. After many markers it is the header of an empty
    /// section. `None` at the end of the capture.
    fn next_header(&mut self) -> Result<Option<(u64, u32, u32)>, CaptureError> {
        let start = self.offset;
        loop {
            let offset = self.offset;
            let (bytes, got) = self.read_header()?;
            match header(&bytes[..got]) {
                _ if bytes == MARKER && got == HEADER => {
                    if self.offset - start >= PASSED {
                        return Ok(Some((offset, SectionId::NONE.to_bits(), 0)));
                    }
                }
                Ok((_, (id, size))) => return Ok(Some((offset, id, size))),
                Err(_) if got == 0 => return Ok(None),
                Err(_) => return Err(CaptureError::ShortHeader { offset, got }),
            }
        }
    }

    fn next_section(&mut self) -> Result<Option<Section>, CaptureError> {
        let first = self.then == Then::First;
        let (offset, id, size) = match self.next_header()? {
            Some(header) => header,
            None if first && self.offset == 0 => return Err(CaptureError::Empty),
            None => return Ok(None),
        };
        match size {
            _ if size <= self.max_payload => self.section(offset, id, size),
            _ if first && [id.to_le_bytes(), size.to_le_bytes()].as_flattened() == devcore::MAGIC => {
                let mut devcore = Box::new(Devcore::new());
                let item = devcore.next(self.source.buffered());
                self.devcore = Some(devcore);
                item.transpose()
            }
            _ if first && id > SectionId::CHIP_ID.to_bits() => {
                Err(CaptureError::NotACapture { offset, id, size })
            }
            _ if size > i32::MAX as u32 => Err(CaptureError::BadSize { offset, id, size }),
            _ => self.skip(Oversize { offset, id, size, got: 0 }),
        }
    }

    fn section(&mut self, offset: u64, id: u32, size: u32) -> Result<Option<Section>, CaptureError> {
        let mut payload = Vec::with_capacity((size as usize).min(ROOM));
        let read = match size {
            0 => Ok(()),
            _ => self.read_upto(size as usize, &mut payload),
        };
        payload.shrink_to_fit();
        let got = payload.len() as u64;
        let section = Section { offset, id: SectionId::from_bits(id), payload };
        self.pending = match read {
            Ok(()) if got == u64::from(size) => None,
            Ok(()) if self.then == Then::First && matches!(section.id, SectionId::Other(_)) => {
                return Err(CaptureError::NotACapture { offset, id, size });
            }
            Ok(()) => Some(CaptureError::Truncated { offset, id, size, got }),
            Err(error) => Some(error),
        };
        Ok(Some(section))
    }

    /// Skips a payload that is too large to keep, or the next megabyte of it.
    fn skip(&mut self, payload: Oversize) -> Result<Option<Section>, CaptureError> {
        let Oversize { offset, id, size, got } = payload;
        let piece = u64::from(size - got).min(PASSED);
        let skipped = io::copy(&mut self.source.buffered().take(piece), &mut io::sink());
        let more = skipped.map_err(|error| self.source.error(self.offset, error))?;
        self.offset += more;
        let got = got + more as u32;
        if more < piece {
            return Err(CaptureError::Truncated { offset, id, size, got: got.into() });
        }
        if got == size {
            return Err(CaptureError::TooLarge { offset, id, size });
        }
        self.oversize = Some(Oversize { got, ..payload });
        Ok(Some(self.progress()))
    }

    /// The section that shows that reading goes on.
    fn progress(&self) -> Section {
        Section { offset: self.offset, id: SectionId::NONE, payload: Vec::new() }
    }

    /// After damage: searches for the next marker with a plausible header behind it.
    fn resync(&mut self, mut window: u128) -> Result<Option<Section>, CaptureError> {
        let start = self.offset;
        while self.offset - start < PASSED {
            let most = (PASSED - (self.offset - start)) as usize;
            let bytes = self.source.buffered().fill_buf();
            let (passed, found) = match bytes {
                Ok([]) => return Ok(None),
                Ok(bytes) => marker(&mut window, &bytes[..bytes.len().min(most)], self.max_payload),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.source.error(self.offset, error)),
            };
            self.source.buffered().consume(passed);
            self.offset += passed as u64;
            if let Some((id, size)) = found {
                self.then = Then::Next;
                return self.section(self.offset - HEADER as u64, id, size);
            }
        }
        self.then = Then::Resync(window);
        Ok(Some(self.progress()))
    }
}

/// Shifts `bytes` through `window` until a marker with a header behind it is found. The header must have a
/// known id and a payload of at most `max_payload` bytes. Returns the number of bytes used, and the header's
/// id and size.
fn marker(window: &mut u128, bytes: &[u8], max_payload: u32) -> (usize, Option<(u32, u32)>) {
    for (at, byte) in bytes.iter().enumerate() {
        *window = *window >> 8 | u128::from(*byte) << 120;
        let (id, size) = ((*window >> 64) as u32, (*window >> 96) as u32);
        if *window as u64 == u64::MAX && id <= SectionId::CHIP_ID.to_bits() && size <= max_payload {
            return (at + 1, Some((id, size)));
        }
    }
    (bytes.len(), None)
}

impl<R: Read> Iterator for Sections<R> {
    type Item = Result<Section, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(devcore) = &mut self.devcore {
            return devcore.next(self.source.buffered());
        }
        if let Some(error) = self.pending.take() {
            self.then = Then::End;
            return Some(Err(error));
        }
        let result = match self.then {
            Then::First | Then::Next => match self.oversize.take() {
                Some(payload) => self.skip(payload),
                None => self.next_section(),
            },
            Then::Resync(window) => {
                self.then = Then::End;
                return self.resync(window).transpose();
            }
            Then::End => return None,
        };
        self.then = Then::after(&result);
        result.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(id: u32, payload: &[u8]) -> Vec<u8> {
        [&id.to_le_bytes(), &(payload.len() as u32).to_le_bytes(), payload].concat()
    }

    /// Lengths of the payloads, and errors, in order. Payloads are limited to 16 bytes.
    fn read(capture: &[u8]) -> Vec<Result<usize, String>> {
        let sections = Sections::new(capture).expect("it can be read");
        let sections = Sections { max_payload: 16, ..sections };
        let shown = |section: Result<Section, CaptureError>| match section {
            Ok(section) => Ok(section.payload.len()),
            Err(error) => Err(format!("{error:?}").split([' ', '(']).next().unwrap_or_default().to_owned()),
        };
        sections.map(shown).collect()
    }

    #[test]
    fn payloads_have_a_limit_and_what_follows_is_read() {
        let capture = [section(1, &[7; 16]), section(1, &[7; 17]), section(1, &[7; 3])].concat();
        assert_eq!(read(&capture), [Ok(16), Err("TooLarge".into()), Ok(3)]);
        let cut = [section(1, &[7; 2]), section(1, &[7; 17])].concat();
        assert_eq!(read(&cut[..cut.len() - 1]), [Ok(2), Err("Truncated".into())]);
    }

    #[test]
    fn after_damage_no_section_is_taken_that_is_too_large() {
        let bad = [&1u32.to_le_bytes()[..], &u32::MAX.to_le_bytes(), &MARKER].concat();
        let large =
            [section(1, &[7; 1]), bad.clone(), section(1, &[7; 17]), MARKER.into(), section(2, &[7; 4])];
        assert_eq!(read(&large.concat()), [Ok(1), Err("BadSize".into()), Ok(4)]);
    }
}
