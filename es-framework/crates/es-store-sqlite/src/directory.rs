//! The data directory: created when it is missing, locked by one process, removed when it is temporary.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
};

use uuid::Uuid;

use super::{database_error::OpenError, durable_end};
use es_store::durable_end::create_directory;

/// The name of the database file.
pub(super) const DATABASE: &str = "events.sqlite";

/// Returns true if a directory holds a store, even if one of its files is missing.
pub(super) fn has_store(path: &Path) -> bool {
    let files = [DATABASE, "events.sqlite-wal", durable_end::NAME];
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
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let lock = options.open(path.join("events.lock")).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                path: path.to_owned(),
                lock,
            }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse {
                directory: path.to_owned(),
            }),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
    }

    /// Returns the path of the database file.
    pub(super) fn database_file(&self) -> PathBuf {
        self.path.join(DATABASE)
    }
}

/// Closing the file does not suffice: a child process that is about to execute its program still has a copy of
/// the handle, and the lock ends with the last copy.
impl Drop for DataDirectory {
    fn drop(&mut self) {
        if let Err(error) = self.lock.unlock() {
            tracing::warn!(directory = %self.path.display(), %error, "the lock of a data directory stays");
        }
    }
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
