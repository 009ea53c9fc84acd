//! Finds the captures of a corpus.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use xxhash_rust::xxh3::Xxh3;

use super::worker::hex;
use a4emu_support::out_file::Inputs;
use a4emu_support::terminal::is_plain;

/// Extensions of captures.
const ENDINGS: [&str; 2] = [".rd", ".rd.gz"];

/// Most bytes that are hashed at a time.
pub const HASHED: usize = 1 << 16;

/// Maximum size of a list in bytes.
const MAX_LIST: u64 = 1 << 28;

/// A capture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Name in the results.
    pub name: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Size of the file in bytes; 0 if it cannot be opened.
    pub bytes: u64,
}

impl Entry {
    /// The capture at `path`.
    pub fn at(path: &Path) -> Self {
        entry(written(path.as_os_str()), path.to_owned())
    }
}

/// A unique text for a file name. Bytes that are not UTF-8, control characters, and spaces at the ends are
/// written `\xNN`. So is a backslash that would be read as one of these.
fn written(name: &OsStr) -> String {
    let mut text = String::new();
    let bytes = name.as_encoded_bytes();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        for (offset, c) in chunk.valid().char_indices() {
            let here = at + offset;
            let is_end = here == 0 || here + c.len_utf8() == bytes.len();
            let is_escape = c == '\\' && escape(&bytes[here..]).is_some();
            let is_comment = c == '#' && here == 0;
            if is_escape || is_comment || !is_plain(c) || (is_end && c.is_whitespace()) {
                bytes[here..here + c.len_utf8()].iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
            } else {
                text.push(c);
            }
        }
        at += chunk.valid().len() + chunk.invalid().len();
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}

/// The byte at the start of `text`, if it begins with `\xNN`.
fn escape(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"\\x")?.get(..2)?;
    let digits =
        str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|d| d.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

/// The path of the text `name`, which [`written`] made.
fn read_name(name: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), name);
    while let Some((first, behind)) = rest.split_first() {
        match escape(rest) {
            Some(byte) => (bytes, rest) = ([bytes, vec![byte]].concat(), &rest[4..]),
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    path_of(bytes)
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// The hash of a file's bytes, which identifies a capture. The file becomes one of `inputs`. `None` if `is_over`
/// says so before its end: the file may be larger than what can be read.
///
/// # Errors
/// The call fails if the file cannot be read, or is a pipe or a device. These may be endless, and the
/// process that plays the file reads it again.
pub fn content(
    path: &Path,
    inputs: &Inputs,
    is_over: &mut dyn FnMut() -> bool,
) -> io::Result<Option<String>> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::other("it is not a file"));
    }
    let (mut file, mut hash, mut bytes) = (inputs.open_file(path)?, Xxh3::new(), vec![0; HASHED]);
    while !is_over() {
        match file.read(&mut bytes)? {
            0 => return Ok(Some(hex(&hash))),
            length => hash.update(&bytes[..length]),
        }
    }
    Ok(None)
}

/// The captures of `corpus`, by name. They are in or below a folder, or are listed in a file (or in stdin,
/// which is `-`). A capture is a corpus of one. The paths of a list start from `root` or from the folder of the list.
///
/// # Errors
/// The call fails if `corpus` cannot be read, or has no captures.
pub fn captures(corpus: &Path, root: Option<&Path>, inputs: &Inputs) -> anyhow::Result<Vec<Entry>> {
    let cannot = || format!("cannot read {}", corpus.display());
    let mut entries = Vec::new();
    if corpus.is_dir() {
        ensure!(root.is_none(), "--root is for a list, and {} is a folder", corpus.display());
        below(corpus, "", &mut entries).with_context(cannot)?;
    } else if is_capture(&corpus.to_string_lossy()) {
        ensure!(root.is_none(), "--root is for a list, and {} is a capture", corpus.display());
        entries.push(Entry::at(corpus));
    } else {
        let text = text(corpus, inputs).with_context(cannot)?;
        let beside = corpus.parent().filter(|_| corpus != Path::new("-")).unwrap_or(Path::new(""));
        let names = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let paths = names.filter(|line| !line.is_empty() && line[0] != b'#').map(read_name);
        entries.extend(paths.map(|path| entry(written(path.as_os_str()), root.unwrap_or(beside).join(path))));
    }
    entries.sort();
    entries.dedup_by(|one, other| one.name == other.name);
    entries.iter().for_each(|entry| inputs.add(&entry.path));
    ensure!(!entries.is_empty(), "no captures (.rd, .rd.gz) in {}", corpus.display());
    Ok(entries)
}

/// Whether a file of this name is a capture and not a list of captures.
fn is_capture(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn entry(name: String, path: PathBuf) -> Entry {
    let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    Entry { name, path, bytes }
}

fn text(list: &Path, inputs: &Inputs) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let read = inputs.open(list)?.take(MAX_LIST).read_to_end(&mut text)? as u64;
    ensure!(read < MAX_LIST, "it has {MAX_LIST} bytes or more");
    Ok(text)
}

/// Adds the captures below `folder`, with names that begin with `prefix`. Links to folders are not followed,
/// since they may form a loop.
fn below(folder: &Path, prefix: &str, entries: &mut Vec<Entry>) -> io::Result<()> {
    for found in fs::read_dir(folder)? {
        let found = found?;
        let name = prefix.to_owned() + &written(&found.file_name());
        if found.file_type()?.is_dir() {
            below(&found.path(), &format!("{name}/"), entries)?;
        } else if is_capture(&name) && found.path().is_file() {
            entries.push(entry(name, found.path()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(corpus: &Path, root: Option<&Path>) -> Vec<String> {
        captures(corpus, root, &Inputs::default()).unwrap().into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn a_folder_has_what_is_in_and_below_it_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::create_dir_all(path.join("in/below")).unwrap();
        for name in ["in/a.rd", "in/below/b.rd.gz", "in/c.txt", "in/below/rd"] {
            fs::write(path.join(name), "x").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(path.join("in"), path.join("in/again")).unwrap();
        assert_eq!(names(&path.join("in"), None), ["a.rd", "below/b.rd.gz"]);
        assert!(captures(&path.join("in"), Some(path), &Inputs::default()).is_err(), "a folder has no root");
        fs::remove_file(path.join("in/a.rd")).unwrap();
        fs::remove_file(path.join("in/below/b.rd.gz")).unwrap();
        assert!(captures(&path.join("in"), None, &Inputs::default()).is_err(), "no captures");
    }

    #[test]
    fn a_list_has_each_name_once_and_comments() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("few.txt");
        fs::write(&list, "# few\nb.rd\n\n a.rd \nb.rd\n").unwrap();
        assert_eq!(names(&list, None), ["a.rd", "b.rd"]);
        let paths = |root| {
            captures(&list, root, &Inputs::default())
                .unwrap()
                .into_iter()
                .map(|entry| entry.path)
                .collect::<Vec<_>>()
        };
        assert_eq!(paths(None), ["a.rd", "b.rd"].map(|name| folder.path().join(name)));
        assert_eq!(paths(Some(Path::new("/there"))), ["/there/a.rd", "/there/b.rd"].map(PathBuf::from));
    }

    /// File names that are not UTF-8, or that resemble another name, have unique texts that a list can
    /// contain.
    #[test]
    #[cfg(unix)]
    fn each_name_has_a_text_of_its_own_that_a_list_can_have() {
        let names: [&[u8]; 10] = [
            b"\xff.rd",
            b"\xfe.rd",
            b"\\xff.rd",
            b"\\x5cxff.rd",
            b"a\\b.rd",
            b"a\nb.rd",
            b" a.rd",
            b"#a.rd",
            b"\x1b[2J.rd",
            "\u{e4}.rd".as_bytes(),
        ];
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        names
            .iter()
            .for_each(|name| fs::write(folder.path().join("in").join(path_of(name.to_vec())), "x").unwrap());
        let found = captures(&folder.path().join("in"), None, &Inputs::default()).unwrap();
        assert_eq!(found.len(), names.len(), "{found:?}");
        assert!(found.iter().all(|entry| entry.name.chars().all(is_plain)), "{found:?}");
        let list = folder.path().join("in/list");
        let lines: Vec<&str> = found.iter().map(|entry| entry.name.as_str()).collect();
        fs::write(&list, lines.join("\n")).unwrap();
        assert_eq!(captures(&list, None, &Inputs::default()).unwrap(), found);
    }
}
