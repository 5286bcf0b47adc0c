//! Who projects into a file: the process that holds the lock of the file beside it. The system
//! gives the lock back however the process ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
};

use super::DatabaseError;

/// The right to write, for as long as this lives.
#[derive(Debug)]
pub(super) struct Lease {
    _file: File,
}

impl Lease {
    /// Takes the lease unless another process has it.
    pub(super) fn take(database: &Path) -> Result<Option<Self>, DatabaseError> {
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
        let first = Lease::take(&database).unwrap();
        assert!(first.is_some());
        assert!(Lease::take(&database).unwrap().is_none());
        drop(first);
        assert!(Lease::take(&database).unwrap().is_some());
    }
}
