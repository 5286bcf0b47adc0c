//! The data directory: created when it is missing, locked by one process, removed when it is temporary.

use std::{
    fs::{self, DirBuilder, File},
    io,
    path::{Path, PathBuf},
};

use uuid::Uuid;

use super::database_error::OpenError;
use es_store::secret_file;

/// The name of the database file.
pub(super) const DATABASE: &str = "events.sqlite";
/// The name of its write-ahead log.
const LOG: &str = "events.sqlite-wal";
/// The name of the file whose lock gives the right to write. It exists while a process has the directory open.
pub(super) const LOCK: &str = "events.lock";

/// Returns true if a directory holds a store, even if one of its files is missing.
pub(super) fn has_store(path: &Path) -> bool {
    let files = [DATABASE, LOG];
    files.into_iter().any(|file| path.join(file).is_file())
}

/// A data directory that this process locks until the value is dropped.
#[derive(Debug)]
pub(super) struct DataDirectory {
    path: PathBuf,
    lock: File,
}

impl DataDirectory {
    /// Creates the directory if it is missing, and locks it.
    pub(super) fn create_and_lock(path: &Path) -> Result<Self, OpenError> {
        let unusable = |source| OpenError::Directory {
            directory: path.to_owned(),
            source,
        };
        create_directory(path).map_err(unusable)?;
        let lock = secret_file::try_lock(&path.join(LOCK)).map_err(unusable)?;
        let path = path.to_owned();
        match lock {
            Some(lock) => Ok(Self { path, lock }),
            None => Err(OpenError::InUse { directory: path }),
        }
    }

    /// Returns false if another process may lock the directory, because the file of the lock was removed or replaced.
    pub(super) fn is_locked(&self) -> bool {
        secret_file::leads_to(&self.path.join(LOCK), &self.lock)
    }

    /// Returns the path of the database file. Refuses a write-ahead log without its database: SQLite would create an empty
    /// database and delete the log.
    pub(super) fn database_file(&self) -> Result<PathBuf, OpenError> {
        let (file, log) = (self.path.join(DATABASE), self.path.join(LOG));
        let has_log = || log.metadata().is_ok_and(|log| log.len() > 0);
        if file.exists() || !has_log() {
            return Ok(file);
        }
        Err(OpenError::Database {
            file,
            reason: format!(
                "it is missing, but its write-ahead log shows that there were events: restore it, or remove {} to begin an \
                 empty log",
                log.display()
            ),
        })
    }
}

/// Closing the file does not suffice: a child process that is about to execute its program still has a copy of
/// the handle, and the lock ends with the last copy.
impl Drop for DataDirectory {
    fn drop(&mut self) {
        // A process that has opened the file meanwhile sees that it is removed.
        if self.is_locked() {
            let _ = fs::remove_file(self.path.join(LOCK));
        }
        if let Err(error) = self.lock.unlock() {
            tracing::warn!(directory = %self.path.display(), %error, "the lock of a data directory stays");
        }
    }
}

/// Creates a directory, which on Unix only its owner may read. A directory that exists stays as it is.
fn create_directory(path: &Path) -> io::Result<()> {
    let missing: Vec<_> = path.ancestors().take_while(|path| !path.exists()).collect();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    // A file is durable only when the entries of its directories are.
    #[cfg(unix)]
    for parent in missing.into_iter().filter_map(Path::parent) {
        let parent = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}

/// A directory that is removed when its store is dropped.
#[derive(Debug)]
pub(super) struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    /// Chooses an unused path in the system's folder for temporary files. Creates nothing on disk.
    pub(super) fn with_random_path() -> Self {
        Self(std::env::temp_dir().join(format!("event-store-{}", Uuid::new_v4())))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::debug!(directory = %self.0.display(), %error, "a temporary directory stays");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_handle_in_a_child_process_does_not_hold_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let directory = DataDirectory::create_and_lock(folder.path()).unwrap();
        let copy_of_a_child = directory.lock.try_clone().unwrap();
        drop(directory);
        DataDirectory::create_and_lock(folder.path()).unwrap();
        drop(copy_of_a_child);
    }
}
