//! The partition of a capture: a folder `capture=HASH` with one file for each table.
//!
//! A partition is written to a temporary folder and then renamed, so that readers find either all files of a capture
//! or none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use a4emu_support::out_file::{Inputs, folder_in};
use anyhow::Context;
use tempfile::TempDir;

use crate::table::Empty;

/// The place of a capture's partition, which may not exist yet.
pub struct Partition {
    tables: PathBuf,
    place: PathBuf,
    inputs: Inputs,
}

impl Partition {
    /// The partition in the folder `tables` for a capture whose bytes have the hash `content`. It never
    /// replaces a folder that contains one of `inputs`.
    pub fn new(tables: &Path, content: &str, inputs: &Inputs) -> Self {
        let place = tables.join(format!("capture={content}"));
        Self { tables: tables.to_owned(), place, inputs: inputs.clone() }
    }

    /// Whether the partition exists.
    pub fn is_there(&self) -> bool {
        self.place.exists()
    }

    /// Whether the partition has all of `tables`.
    pub fn has(&self, tables: &[Empty]) -> bool {
        tables.iter().all(|table| self.place.join(format!("{}.parquet", table.name)).exists())
    }

    /// Calls `make` to write the files into a temporary folder, which then replaces the old partition.
    ///
    /// # Errors
    /// An error of `make`, or of creating or renaming the folder. The old partition is then kept.
    pub fn make<T>(&self, make: impl FnOnce(&Path) -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.refuse_inputs().with_context(|| format!("cannot write {}", self.place.display()))?;
        let new = self.beside()?;
        let made = make(new.path())?;
        self.replace(new).with_context(|| format!("cannot write {}", self.place.display()))?;
        Ok(made)
    }

    /// A folder beside the partitions that is deleted unless it is renamed. Its name does not match patterns
    /// for partitions.
    fn beside(&self) -> anyhow::Result<TempDir> {
        folder_in(&self.tables)
            .with_context(|| format!("cannot create a folder in {}", self.tables.display()))
    }

    /// Fails if the old partition, which would be deleted, contains an input.
    fn refuse_inputs(&self) -> anyhow::Result<()> {
        for old in fs::read_dir(&self.place).into_iter().flatten() {
            let path = old?.path();
            self.inputs.refuse(&path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    fn replace(&self, new: TempDir) -> io::Result<()> {
        readable_as(&self.tables, new.path())?;
        let old = folder_in(&self.tables)?;
        match fs::rename(&self.place, old.path().join("old")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::rename(new.path(), &self.place).inspect_err(|_| {
            // Restores the old partition, unless another process has made a new one.
            let _ = fs::rename(old.path().join("old"), &self.place);
        })?;
        // The folder was renamed, so it must not be deleted.
        let _renamed = new.keep();
        Ok(())
    }
}

/// Gives `folder` the permissions of `like`. Temporary folders are accessible only to their owner.
fn readable_as(like: &Path, folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::metadata(like)?.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        entries.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_partition_is_there_whole_or_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let partition = Partition::new(folder.path(), "c0de", &Inputs::default());
        let write = |text: &str| partition.make(|new| Ok(fs::write(new.join("file"), text)?));
        let fail = || {
            partition.make::<()>(|new| {
                fs::write(new.join("file"), "half")?;
                assert!(names(folder.path()).iter().any(|name| name.starts_with(".a4emu-")));
                anyhow::bail!("no more")
            })
        };
        fail().unwrap_err();
        assert!(!partition.is_there() && names(folder.path()).is_empty());
        write("whole").unwrap();
        fail().unwrap_err();
        assert_eq!(fs::read(folder.path().join("capture=c0de/file")).unwrap(), b"whole");
        write("another").unwrap();
        assert_eq!(fs::read(folder.path().join("capture=c0de/file")).unwrap(), b"another");
        assert_eq!(names(folder.path()), ["capture=c0de"]);
        let inputs = Inputs::of(&folder.path().join("capture=c0de/file"));
        let refused = Partition::new(folder.path(), "c0de", &inputs).make(|_| Ok(()));
        assert!(format!("{:#}", refused.unwrap_err()).contains("it is an input of this command"));
    }
}
