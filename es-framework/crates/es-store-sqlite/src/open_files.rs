//! The files that the writer has open. Their names may come to lead elsewhere while it writes: somebody removes them, or
//! their volume is detached. What is written to them then is lost with the process.

use std::path::{Path, PathBuf};

use es_store::secret_file::find_identity;

/// The files that the writer has open, as they were found when it opened them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OpenFiles {
    database: Option<(u64, u64)>,
    log: Option<(u64, u64)>,
}

impl OpenFiles {
    /// Finds the files of a database that was just opened.
    pub(super) fn of_database(file: &Path) -> Self {
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        Self {
            database: find_identity(file),
            log: find_identity(&PathBuf::from(log)),
        }
    }

    /// Returns true if the name of the database leads to these files.
    pub(super) fn are_in_place(&self, file: &Path) -> bool {
        *self == Self::of_database(file)
    }

    /// Returns true if both have the same database file.
    pub(super) fn have_database_of(&self, other: &Self) -> bool {
        self.database == other.database
    }
}
