//! The folder of a run: `log.jsonl`, to which each row is added when it is there, and `results.jsonl`, which has
//! them all by name once they are.
//!
//! Rows are read back one at a time, so that memory grows with the number of captures and not with what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail, ensure};

use super::row::{End, Row};
use a4emu_inspect::out_file::{Inputs, OutFile, make_folder};

/// Rows as they came, with what depends on the machine.
pub const LOG: &str = "log.jsonl";
/// All rows by name, without that.
pub const RESULTS: &str = "results.jsonl";
/// Pictures by hash.
pub const PICTURES: &str = "pictures";

/// Bytes of a row at most.
const MAX_ROW: u64 = 1 << 30;

/// What is kept in memory of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Where its line begins, and its length.
    at: (u64, u64),
    /// Hash of the capture's file.
    pub content: String,
    /// What it is a result of, beside that.
    pub key: String,
    /// How it ended.
    pub end: End,
    /// Milliseconds of its process, if it came to its end.
    pub process_ms: Option<f64>,
    /// Bytes of the capture.
    pub bytes: u64,
}

/// The rows of a run that has been read.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// Jobs read side by side: whoever moves in it holds it.
    file: Mutex<File>,
    /// The newest row of each capture.
    pub rows: BTreeMap<String, Known>,
    /// Lines that are no rows.
    pub damaged: u64,
    /// Whether it has come to its end.
    pub finished: bool,
    /// Where the last whole line ends.
    whole: u64,
}

impl Log {
    /// Reads the run in `folder`: the results, or of one that has not come to its end the rows that are there. A
    /// last line without its end is left out.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(LOG);
        let file =
            File::open(&path).with_context(|| format!("{} is no run of a corpus", folder.display()))?;
        let mut log = Self::scan(path, file)?;
        if let Ok(results) = File::open(folder.join(RESULTS)) {
            let names =
                names(results).with_context(|| format!("cannot read {RESULTS} of {}", folder.display()))?;
            log.rows.retain(|name, _| names.contains(name));
            log.finished = true;
        }
        Ok(log)
    }

    /// The same of a run that a command looks at: its files become inputs.
    ///
    /// # Errors
    /// As [`Log::read`].
    pub fn input(folder: &Path, inputs: &Inputs) -> anyhow::Result<Self> {
        [LOG, RESULTS].iter().for_each(|file| inputs.add(&folder.join(file)));
        inputs.add_folder(&folder.join(PICTURES));
        Self::read(folder)
    }

    fn scan(path: PathBuf, file: File) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", path.display());
        let mut reader = BufReader::with_capacity(1 << 16, file.try_clone().with_context(cannot)?);
        let (mut rows, mut damaged, mut whole, mut line) = (BTreeMap::new(), 0, 0, Vec::new());
        loop {
            line.clear();
            let length =
                (&mut reader).take(MAX_ROW).read_until(b'\n', &mut line).with_context(cannot)? as u64;
            if line.last() != Some(&b'\n') {
                break;
            }
            match serde_json::from_slice::<Row>(&line) {
                Ok(row) => drop(rows.insert(row.name.clone(), Known::of(&row, (whole, length)))),
                Err(_) => damaged += 1,
            }
            whole += length;
        }
        let file = Mutex::new(file);
        Ok(Self { path, file, rows, damaged, finished: false, whole })
    }

    /// The newest row of the capture called `name`.
    ///
    /// # Errors
    /// There is none, or it can no longer be read.
    pub fn row(&self, name: &str) -> anyhow::Result<Row> {
        let known = self.rows.get(name).with_context(|| format!("no row of {name}"))?;
        let mut line = vec![0; known.at.1 as usize];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(known.at.0))?;
        file.read_exact(&mut line)?;
        drop(file);
        serde_json::from_slice(&line).with_context(|| format!("{} has changed", self.path.display()))
    }

    /// All rows, by name.
    pub fn all(&self) -> impl Iterator<Item = anyhow::Result<Row>> {
        self.rows.keys().map(|name| self.row(name))
    }
}

/// The captures that `results` has a line of.
fn names(results: File) -> anyhow::Result<BTreeSet<String>> {
    #[derive(serde::Deserialize)]
    struct Name {
        name: String,
    }
    let lines = BufReader::with_capacity(1 << 16, results).split(b'\n');
    lines.map(|line| Ok(serde_json::from_slice::<Name>(&line?)?.name)).collect()
}

impl Known {
    fn of(row: &Row, at: (u64, u64)) -> Self {
        let key = row.machine.as_ref().map_or_else(String::new, |machine| machine.key.clone());
        let (content, process_ms) = (row.content.clone(), row.process_ms());
        Self { at, content, key, end: row.end, process_ms, bytes: row.bytes }
    }
}

/// A run that rows are added to.
#[derive(Debug)]
pub struct Growing {
    folder: PathBuf,
    /// Locked: nobody else adds to it.
    file: File,
}

impl Growing {
    /// Begins a run in `folder`, or goes on with the one that is there, whose rows come as well. A last line
    /// without its end is cut off.
    ///
    /// # Errors
    /// Somebody else is at it, it cannot be written, or a file of it is one of `inputs`.
    pub fn open(folder: &Path, inputs: &Inputs) -> anyhow::Result<(Self, Log)> {
        make_folder(folder)?;
        for file in [LOG, RESULTS].map(|name| folder.join(name)) {
            inputs.refuse(&file).with_context(|| format!("cannot write {}", file.display()))?;
        }
        let path = folder.join(LOG);
        let cannot = || format!("cannot write {}", path.display());
        let file =
            OpenOptions::new().create(true).append(true).read(true).open(&path).with_context(cannot)?;
        if file.try_lock().is_err() {
            bail!("another process is writing {}", path.display());
        }
        let log = Log::scan(path.clone(), File::open(&path).with_context(cannot)?)?;
        file.set_len(log.whole).with_context(cannot)?;
        Ok((Self { folder: folder.to_owned(), file }, log))
    }

    /// Adds a row, whole.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&self, row: &Row) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(row)?;
        line.push(b'\n');
        let mut file = &self.file;
        file.write_all(&line).context("cannot write a row")
    }

    /// The results are not those of the log any more.
    ///
    /// # Errors
    /// They cannot be removed.
    pub fn begin(&self) -> anyhow::Result<()> {
        let path = self.folder.join(RESULTS);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", path.display()))
            }
            _ => Ok(()),
        }
    }

    /// All rows are there: writes `results.jsonl`, which has those of `names` alone.
    ///
    /// # Errors
    /// One is missing, or the file cannot be written.
    pub fn finish(&self, names: impl IntoIterator<Item = String>) -> anyhow::Result<Log> {
        let log = Log::read(&self.folder)?;
        let rows = names.into_iter().map(|name| Ok(log.row(&name)?.anywhere()));
        write_rows(&self.folder.join(RESULTS), rows, &Inputs::default())?;
        Ok(log)
    }
}

/// Writes a file of rows.
///
/// # Errors
/// There is no such row, or the file cannot be written.
pub fn write_rows(
    path: &Path,
    rows: impl Iterator<Item = anyhow::Result<Row>>,
    inputs: &Inputs,
) -> anyhow::Result<()> {
    let mut out = OutFile::create(path, inputs)?;
    for row in rows {
        serde_json::to_writer(&mut out, &row?)?;
        out.write_all(b"\n")?;
    }
    out.finish()
}

/// The picture called `hash` of the run in `folder`, if it was kept.
pub fn picture(folder: &Path, hash: &str) -> Option<PathBuf> {
    let plain = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(folder.join(PICTURES).join(format!("{hash}.png"))).filter(|path| plain && path.is_file())
}

/// Takes the pictures of `row` over from the run in `from`.
///
/// # Errors
/// One that is there cannot be copied.
pub fn copy_pictures(row: &Row, from: &Path, to: &Path) -> anyhow::Result<()> {
    let hashes =
        row.played.iter().flat_map(|played| played.surfaces.iter().filter_map(|s| s.hash.as_deref()));
    for hash in hashes {
        let target = to.join(PICTURES).join(format!("{hash}.png"));
        let Some(source) = picture(from, hash).filter(|_| !target.exists()) else { continue };
        fs::create_dir_all(to.join(PICTURES))?;
        let bytes = fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
        ensure!(!bytes.is_empty(), "{} is empty", source.display());
        a4emu_inspect::out_file::write(&target, &bytes, &Inputs::default())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn row(name: String) -> Row {
        let (content, end) = ("c".repeat(name.len()), End::Crash);
        Row { name, content, bytes: 1, end, cause: None, played: None, machine: None }
    }

    #[test]
    fn rows_are_read_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        let (growing, _) = Growing::open(folder.path(), &Inputs::default()).unwrap();
        let names: Vec<String> = (0..200).map(|n| "x".repeat(n % 50) + &n.to_string()).collect();
        names.iter().for_each(|name| growing.add(&row(name.clone())).unwrap());
        let log = Log::read(folder.path()).unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    names.iter().for_each(|name| assert_eq!(log.row(name).unwrap(), row(name.clone())))
                });
            }
        });
    }

    #[test]
    fn a_run_has_one_writer_and_loses_its_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let (growing, _) = Growing::open(folder.path(), &Inputs::default()).unwrap();
        growing.add(&row("a".to_owned())).unwrap();
        assert!(
            Growing::open(folder.path(), &Inputs::default())
                .unwrap_err()
                .to_string()
                .contains("another process is writing")
        );
        drop(growing);
        let path = folder.path().join(LOG);
        let torn = fs::read_to_string(&path).unwrap() + "no row\n{\"name\":";
        fs::write(&path, torn).unwrap();
        let (growing, log) = Growing::open(folder.path(), &Inputs::default()).unwrap();
        assert_eq!((log.rows.len(), log.damaged), (1, 1));
        growing.add(&row("b".to_owned())).unwrap();
        assert_eq!(Log::read(folder.path()).unwrap().rows.len(), 2);
    }

    /// The rows of a run that has come to its end are those of its results; it has none while it grows.
    #[test]
    fn results_say_which_rows_count() {
        let folder = tempfile::tempdir().unwrap();
        let (growing, _) = Growing::open(folder.path(), &Inputs::default()).unwrap();
        ["a", "b"].iter().for_each(|name| growing.add(&row((*name).to_owned())).unwrap());
        growing.finish(["b".to_owned()]).unwrap();
        let log = Log::read(folder.path()).unwrap();
        assert!(log.rows.keys().eq(["b"]) && log.finished);
        growing.begin().unwrap();
        let log = Log::read(folder.path()).unwrap();
        assert_eq!((log.rows.len(), log.finished), (2, false));
    }

    /// Rows come from files: what they call a hash is not the path of any other file.
    #[test]
    fn a_hash_is_no_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(PICTURES)).unwrap();
        fs::write(folder.path().join("c0de.png"), "").unwrap();
        assert_eq!(picture(folder.path(), "../c0de"), None);
        fs::rename(folder.path().join("c0de.png"), folder.path().join(PICTURES).join("c0de.png")).unwrap();
        assert!(picture(folder.path(), "c0de").is_some());
    }
}
