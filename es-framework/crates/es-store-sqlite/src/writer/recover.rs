//! Recovery of the writer after a failure: it loads the state from the disk and checks whether writing
//! works again.

use super::EventWriter;
use crate::{
    database_error::SqliteError, database_format, index::MemtableCompaction, open_files::OpenFiles,
    shared::IndexedLog, startup,
};
use es_store::StoreError;

/// SQLite writes no page for a row that is replaced by the same row.
const SAME_CONTENT: &str = "BEGIN IMMEDIATE;
    UPDATE index_state SET indexed = indexed + 1;
    UPDATE index_state SET indexed = indexed - 1;
    COMMIT;";

impl EventWriter {
    /// Loads the state from the disk again after a failure, and after its files were removed or replaced.
    pub(super) fn refresh(&mut self) -> Result<(), SqliteError> {
        if !self.is_stale && self.has_its_files() {
            return Ok(());
        }
        self.is_stale = true;
        self.roll_back();
        self.reopen()?;
        let (head, index) = startup::load_log(&self.connection, &self.settings)?;
        let catalogue = startup::load_catalogue(&self.connection)?;
        let length = index.len();
        self.shared.modify_catalogue(|known| *known = catalogue);
        (self.head, self.compaction) = (head, MemtableCompaction::default());
        self.shared.modify_log(|log| {
            *log = IndexedLog {
                index,
                ..IndexedLog::default()
            };
        });
        self.length.send_replace(length);
        self.is_stale = false;
        Ok(())
    }

    /// Returns true if what is written will be found at the next start, and by this process alone.
    fn has_its_files(&self) -> bool {
        self.files.are_in_place(&self.shared.file) && self.directory.is_locked()
    }

    fn reopen(&mut self) -> Result<(), SqliteError> {
        if !self.directory.is_locked() {
            let reason = "the file events.lock beside it was removed or replaced, so another process may write: \
                          start this process again";
            return Err(SqliteError::Unopened(reason.into()));
        }
        #[cfg(test)]
        let pages: u32 = self
            .connection
            .pragma_query_value(None, "max_page_count", |row| row.get(0))?;
        let file = &self.shared.file;
        if !self.files.are_in_place(file) {
            // The end of the connection would remove the write-ahead log of that name, whosever it is.
            database_format::keep_log(&self.connection, true)?;
        }
        // The failure of a checkpoint is found again by the next one.
        let _ = self.log_checkpoint.finish();
        let mut reopened = database_format::reopen_writer(file, &self.settings, &self.head)
            .map_err(|error| SqliteError::Unopened(error.to_string()))?;
        let files = OpenFiles::of_database(file);
        if !files.have_database_of(&self.files) {
            let reason =
                "it is another file than before with the same events: start this process again";
            return Err(SqliteError::Unopened(reason.into()));
        }
        self.log_checkpoint.count_pages(&mut reopened)?;
        (self.connection, self.files) = (reopened, files);
        #[cfg(test)]
        self.connection
            .pragma_update(None, "max_page_count", pages)?;
        Ok(())
    }

    /// Checks whether writing works. After a failure it tries to write.
    pub(super) fn probe_writing(&mut self) -> Result<(), StoreError> {
        let opened = self
            .rebuild_if_requested()
            .and_then(|()| self.shared.check_open(&self.connection));
        if let Err(error) = opened {
            return Err(error.to_store_error(&self.shared.file));
        }
        if !self.shared.has_failed() && self.has_its_files() {
            return Ok(());
        }
        if let Err(error) = self.refresh().and_then(|()| self.write_scratch()) {
            let failure = error.into();
            self.record_failure("the store still cannot write", &failure);
            return Err(failure.error.to_store_error(&self.shared.file));
        }
        self.shared.set_last_write_failure(None);
        Ok(())
    }

    /// Commits a page with the content that it has.
    pub(super) fn write_same_content(&self) -> rusqlite::Result<()> {
        let written = self.connection.execute_batch(SAME_CONTENT);
        written.inspect_err(|_| self.roll_back())
    }

    /// Writes and removes as many bytes as a batch may need.
    fn write_scratch(&self) -> Result<(), SqliteError> {
        let written = self.connection.execute_batch(
            "BEGIN IMMEDIATE;
             CREATE TABLE IF NOT EXISTS scratch (body BLOB);
             INSERT INTO scratch VALUES (zeroblob(65536));
             COMMIT;
             DROP TABLE scratch;",
        );
        written.inspect_err(|_| self.roll_back())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store_settings::EngineSettings;

    #[test]
    fn a_commit_of_the_same_content_reaches_the_write_ahead_log() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("events.sqlite");
        let connection = database_format::open_writer(&file, &EngineSettings::default()).unwrap();
        let log = folder.path().join("events.sqlite-wal");
        let length = || log.metadata().unwrap().len();
        let before = length();
        connection.execute_batch(SAME_CONTENT).unwrap();
        assert!(length() > before, "{before}");
        let indexed = "SELECT indexed FROM index_state";
        let indexed: i64 = connection.query_row(indexed, [], |row| row.get(0)).unwrap();
        assert_eq!(indexed, 0);
    }
}
