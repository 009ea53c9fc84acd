//! Serialises processes that read and rewrite one file.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::folders::parent;

/// The exclusive turn of this process at a file. It also ends if the process dies.
#[derive(Debug)]
pub struct Turn {
    _folder: Option<File>,
}

impl Turn {
    /// Waits until no other process has a turn at a file in the folder of `path`. The folder is locked,
    /// since the file may not exist yet and each write replaces it. If folders cannot be locked, there is no
    /// wait.
    ///
    /// # Errors
    /// The call fails if the folder cannot be opened.
    pub fn at(path: &Path) -> io::Result<Self> {
        if !cfg!(unix) || path == Path::new("-") {
            return Ok(Self { _folder: None });
        }
        let folder = File::open(parent(path))?;
        loop {
            match folder.lock() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Ok(Self { _folder: None }),
                Ok(()) => return Ok(Self { _folder: Some(folder) }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn turns_follow_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let (path, running) = (folder.path().join("not there"), Mutex::new(()));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _turn = Turn::at(&path).unwrap();
                        drop(running.try_lock().expect("nobody else has a turn"));
                    }
                });
            }
        });
    }
}
