//! The right to write a database file: a lock on a second file beside it. The operating system releases the
//! lock when the process ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
};

use super::DatabaseError;

/// The right to write, until the value is dropped.
#[derive(Debug)]
pub(super) struct WriteLease {
    _file: File,
}

impl WriteLease {
    /// Acquires the lease unless another process has it.
    pub(super) fn try_acquire(database: &Path) -> Result<Option<Self>, DatabaseError> {
        let path = lock_file(database);
        let failed = |source| DatabaseError::File {
            path: path.clone(),
            source,
        };
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn lock_file(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_has_the_lease() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("books.db");
        let first = WriteLease::try_acquire(&database).unwrap();
        assert!(first.is_some());
        assert!(WriteLease::try_acquire(&database).unwrap().is_none());
        drop(first);
        assert!(WriteLease::try_acquire(&database).unwrap().is_some());
    }
}
