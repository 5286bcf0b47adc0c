//! The right to write a database file: a lock on a second file beside it. The operating system releases the
//! lock when the process ends.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use es_store::secret_file;

use super::super::DatabaseError;

/// The right to write, until the value is dropped.
#[derive(Debug)]
pub(super) struct WriteLease {
    file: File,
}

impl WriteLease {
    /// Acquires the lease unless another process has it.
    pub(super) fn try_acquire(database: &Path) -> Result<Option<Self>, DatabaseError> {
        let path = lock_file(database);
        let failed = |source| DatabaseError::File {
            path: path.clone(),
            source,
        };
        let lock = secret_file::try_lock(&path).map_err(failed)?;
        Ok(lock.map(|file| Self { file }))
    }
}

/// A child process that is about to execute its program has a copy of the handle, so closing it here does not
/// end the lock.
impl Drop for WriteLease {
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "the lock of a database file stays");
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

    #[test]
    fn a_copy_of_the_handle_in_a_child_process_does_not_hold_the_lease() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("books.db");
        let lease = WriteLease::try_acquire(&database).unwrap().unwrap();
        let copy_of_a_child = lease.file.try_clone().unwrap();
        drop(lease);
        assert!(WriteLease::try_acquire(&database).unwrap().is_some());
        drop(copy_of_a_child);
    }
}
