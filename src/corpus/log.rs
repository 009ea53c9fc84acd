//! The folder of a run. Each row is added to `log.jsonl` when it is complete. At the end, `results.jsonl`
//! has all rows by name.
//!
//! Rows are read one at a time. So memory grows with the number of captures, not with the size of rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail, ensure};

use super::row::{End, Row};
use a4emu_support::folders::read_bytes;
use a4emu_support::out_file::{Inputs, OutFile, make_folder};

/// File of rows in the order of completion, with data that depends on the machine.
pub const LOG: &str = "log.jsonl";
/// File of all rows by name, without data that depends on the machine.
pub const RESULTS: &str = "results.jsonl";
/// Folder of pictures by hash.
pub const PICTURES: &str = "pictures";

/// Maximum size of a row in bytes.
pub const MAX_ROW: u64 = 1 << 28;

/// Maximum size of a picture in bytes.
const MAX_PICTURE: u64 = 1 << 30;

/// The data of a row that is kept in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// Offset and length of its line.
    at: (u64, u64),
    /// Hash of the capture's file.
    pub content: String,
    /// Hash of the binary and its options.
    pub key: String,
    /// How the process ended.
    pub end: End,
    /// Run time of its process in milliseconds, if the capture was played.
    pub process_ms: Option<f64>,
    /// Size of the capture in bytes.
    pub bytes: u64,
}

/// The rows of a run.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    /// The file. Jobs read in parallel, so a lock protects its position.
    file: Mutex<File>,
    /// The newest row of each capture.
    pub rows: BTreeMap<String, Known>,
    /// Number of lines that are no rows.
    pub damaged: u64,
    /// Whether the run has finished.
    pub finished: bool,
    /// Offset of the end of the last complete line.
    whole: u64,
}

impl Log {
    /// Reads the run in `folder`: its results or, if it has not finished, the rows so far. An incomplete
    /// last line is ignored.
    ///
    /// # Errors
    /// The call fails if there is no run, or if it cannot be read.
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

    /// Reads the run in `folder` like [`Log::read`], and adds its files to `inputs`.
    ///
    /// # Errors
    /// The call fails like [`Log::read`].
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
            ensure!(length < MAX_ROW, "a row of {} has {MAX_ROW} bytes or more", path.display());
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
    /// The call fails if there is none, or if it can no longer be read.
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

/// The names of the captures in `results`.
fn names(results: File) -> anyhow::Result<BTreeSet<String>> {
    #[derive(serde::Deserialize)]
    struct Name {
        name: String,
    }
    let (mut reader, mut line) = (BufReader::with_capacity(1 << 16, results), Vec::new());
    let mut names = BTreeSet::new();
    loop {
        line.clear();
        let length = (&mut reader).take(MAX_ROW).read_until(b'\n', &mut line)? as u64;
        ensure!(length < MAX_ROW, "a row has {MAX_ROW} bytes or more");
        if length == 0 {
            return Ok(names);
        }
        names.insert(serde_json::from_slice::<Name>(&line)?.name);
    }
}

impl Known {
    fn of(row: &Row, at: (u64, u64)) -> Self {
        let key = row.machine.as_ref().map_or_else(String::new, |machine| machine.key.clone());
        let (content, process_ms) = (row.content.clone(), row.process_ms());
        Self { at, content, key, end: row.end, process_ms, bytes: row.bytes }
    }
}

/// A run to which rows are added.
#[derive(Debug)]
pub struct Growing {
    folder: PathBuf,
    /// The log. It is locked, so only this process adds rows.
    file: File,
}

impl Growing {
    /// Begins a run in `folder`, or continues the existing one and returns its rows. An incomplete last line
    /// is removed.
    ///
    /// # Errors
    /// The call fails if another process has the run open, if it cannot be written, or if one of its files
    /// is in `inputs`.
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

    /// Adds a complete row.
    ///
    /// # Errors
    /// The call fails if the row cannot be written.
    pub fn add(&self, row: &Row) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(row)?;
        line.push(b'\n');
        let mut file = &self.file;
        file.write_all(&line).context("cannot write a row")
    }

    /// Removes old results, since the log is about to change.
    ///
    /// # Errors
    /// The call fails if they cannot be removed.
    pub fn begin(&self) -> anyhow::Result<()> {
        let path = self.folder.join(RESULTS);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("cannot remove {}", path.display()))
            }
            _ => Ok(()),
        }
    }

    /// Writes `results.jsonl` with the rows of `names`, after the last row was added.
    ///
    /// # Errors
    /// The call fails if a row is missing, or if the file cannot be written.
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
/// The call fails if a row cannot be read, or if the file cannot be written.
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

/// The path of the picture called `hash` in the run in `folder`, if it was kept.
pub fn picture(folder: &Path, hash: &str) -> Option<PathBuf> {
    let plain = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(folder.join(PICTURES).join(format!("{hash}.png"))).filter(|path| plain && path.is_file())
}

/// Copies the pictures of `row` from the run in `from` to the run in `to`.
///
/// # Errors
/// The call fails if an existing picture cannot be copied.
pub fn copy_pictures(row: &Row, from: &Path, to: &Path) -> anyhow::Result<()> {
    let hashes =
        row.played.iter().flat_map(|played| played.surfaces.iter().filter_map(|s| s.hash.as_deref()));
    for hash in hashes {
        let target = to.join(PICTURES).join(format!("{hash}.png"));
        let Some(source) = picture(from, hash).filter(|_| !target.exists()) else { continue };
        fs::create_dir_all(to.join(PICTURES))?;
        let bytes = File::open(&source).map_err(Into::into).and_then(|file| read_bytes(file, MAX_PICTURE));
        let bytes = bytes.with_context(|| format!("cannot read {}", source.display()))?;
        ensure!(!bytes.is_empty(), "{} is empty", source.display());
        a4emu_support::out_file::write(&target, &bytes, &Inputs::default())?;
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

    /// A finished run has the rows of its results. A growing run has no results.
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

    /// Rows come from files: a wrong hash in them must not become another path.
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
