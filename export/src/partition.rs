//! The partition of a capture: a folder `capture=HASH` with a file of each table. It is made beside its place and renamed
//! when it is whole, so that who reads the tables sees all of a capture or nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use a4emu_inspect::out_file::{Inputs, folder_in};
use anyhow::Context;
use tempfile::TempDir;

/// Where the partition of a capture is or will be.
pub struct Partition {
    tables: PathBuf,
    place: PathBuf,
    inputs: Inputs,
}

impl Partition {
    /// That of the capture whose bytes have the hash `content`, in the folder `tables`; it never takes the place of a
    /// folder with one of `inputs`.
    pub fn new(tables: &Path, content: &str, inputs: &Inputs) -> Self {
        let place = tables.join(format!("capture={content}"));
        Self { tables: tables.to_owned(), place, inputs: inputs.clone() }
    }

    /// Whether it is there.
    pub fn is_there(&self) -> bool {
        self.place.exists()
    }

    /// Has `make` write the files into a folder, which then takes the place of what was there.
    ///
    /// # Errors
    /// That of `make`, or that there is no folder to be had; what was there is then still there.
    pub fn make<T>(&self, make: impl FnOnce(&Path) -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.refuse_inputs().with_context(|| format!("cannot write {}", self.place.display()))?;
        let new = self.beside()?;
        let made = make(new.path())?;
        self.replace(new).with_context(|| format!("cannot write {}", self.place.display()))?;
        Ok(made)
    }

    /// A folder that goes away unless it is renamed; no pattern for partitions fits its name.
    fn beside(&self) -> anyhow::Result<TempDir> {
        folder_in(&self.tables)
            .with_context(|| format!("cannot create a folder in {}", self.tables.display()))
    }

    /// Refuses to go on if a file that goes with the old partition is an input.
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
            // What was there comes back, unless somebody else has put another in its place.
            let _ = fs::rename(old.path().join("old"), &self.place);
        })?;
        // It is not where it would be removed from any more.
        let _renamed = new.keep();
        Ok(())
    }
}

/// Temporary folders are for their owner alone: gives `folder` the permissions of `like`.
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
