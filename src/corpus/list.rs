//! The captures of a corpus.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use xxhash_rust::xxh3::Xxh3;

use super::worker::hex;

/// How the names of captures end.
const ENDINGS: [&str; 2] = [".rd", ".rd.gz"];

/// Bytes of a list at most.
const MAX_LIST: u64 = 1 << 30;

/// A capture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// What results call it.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Bytes of the file; of one that cannot be opened none.
    pub bytes: u64,
}

impl Entry {
    /// The capture at `path`.
    pub fn at(path: &Path) -> Self {
        entry(path.display().to_string(), path.to_owned())
    }
}

/// The hash of a file's bytes, by which a capture is known.
///
/// # Errors
/// It cannot be read.
pub fn content(path: &Path) -> io::Result<String> {
    let (mut file, mut hash, mut bytes) = (File::open(path)?, Xxh3::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(hex(&hash)),
            length => hash.update(&bytes[..length]),
        }
    }
}

/// The captures of `corpus`, by name: those in and below a folder, or those that the lines of a file (or of stdin,
/// which is `-`) name, in `root` or in the folder of the list.
///
/// # Errors
/// It cannot be read, or names no captures.
pub fn captures(corpus: &Path, root: Option<&Path>) -> anyhow::Result<Vec<Entry>> {
    let cannot = || format!("cannot read {}", corpus.display());
    let mut entries = Vec::new();
    if corpus.is_dir() {
        ensure!(root.is_none(), "--root is for a list, and {} is a folder", corpus.display());
        below(corpus, "", &mut entries).with_context(cannot)?;
    } else {
        let text = text(corpus).with_context(cannot)?;
        let beside = corpus.parent().filter(|_| corpus != Path::new("-")).unwrap_or(Path::new(""));
        let names = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        entries.extend(names.map(|name| entry(name.to_owned(), root.unwrap_or(beside).join(name))));
    }
    entries.sort();
    entries.dedup_by(|one, other| one.name == other.name);
    ensure!(!entries.is_empty(), "no captures (.rd, .rd.gz) in {}", corpus.display());
    Ok(entries)
}

fn entry(name: String, path: PathBuf) -> Entry {
    let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    Entry { name, path, bytes }
}

fn text(list: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let reader: Box<dyn Read> = match list == Path::new("-") {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(list)?),
    };
    let read = reader.take(MAX_LIST).read_to_string(&mut text)? as u64;
    ensure!(read < MAX_LIST, "it has {MAX_LIST} bytes or more");
    Ok(text)
}

/// Adds the captures below `folder`, whose names begin with `prefix`. Links to folders are not followed: they
/// may lead back.
fn below(folder: &Path, prefix: &str, entries: &mut Vec<Entry>) -> io::Result<()> {
    for found in fs::read_dir(folder)? {
        let found = found?;
        let name = format!("{prefix}{}", found.file_name().to_string_lossy());
        if found.file_type()?.is_dir() {
            below(&found.path(), &format!("{name}/"), entries)?;
        } else if ENDINGS.iter().any(|ending| name.ends_with(ending)) && found.path().is_file() {
            entries.push(entry(name, found.path()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(corpus: &Path, root: Option<&Path>) -> Vec<String> {
        captures(corpus, root).unwrap().into_iter().map(|entry| entry.name).collect()
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
        assert!(captures(&path.join("in"), Some(path)).is_err(), "a folder has no root");
        fs::remove_file(path.join("in/a.rd")).unwrap();
        fs::remove_file(path.join("in/below/b.rd.gz")).unwrap();
        assert!(captures(&path.join("in"), None).is_err(), "no captures");
    }

    #[test]
    fn a_list_has_each_name_once_and_comments() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("few.txt");
        fs::write(&list, "# few\nb.rd\n\n a.rd \nb.rd\n").unwrap();
        assert_eq!(names(&list, None), ["a.rd", "b.rd"]);
        let paths =
            |root| captures(&list, root).unwrap().into_iter().map(|entry| entry.path).collect::<Vec<_>>();
        assert_eq!(paths(None), ["a.rd", "b.rd"].map(|name| folder.path().join(name)));
        assert_eq!(paths(Some(Path::new("/there"))), ["/there/a.rd", "/there/b.rd"].map(PathBuf::from));
    }
}
