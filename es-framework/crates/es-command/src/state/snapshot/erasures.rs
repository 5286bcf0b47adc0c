//! Erasures of personal data: the snapshots go, and the file remembers the last erasure after which they did.

use rusqlite::OptionalExtension as _;

use super::{SnapshotDatabase, SnapshotError, Snapshots, lock};
use es_event::EventId;

impl Snapshots {
    /// Returns true if there is no file. A file without snapshots may hold deleted ones in free pages.
    pub(in crate::state) fn is_empty(&self) -> bool {
        !self.file.exists()
    }

    /// Returns the announcement of the last erasure of personal data after which all snapshots were deleted.
    pub(in crate::state) async fn load_last_erasure(&self) -> Option<EventId> {
        let snapshots = self.clone();
        let load = move || {
            let exists = snapshots.file.exists();
            let load = || snapshots.with_database("read", SnapshotDatabase::load_last_erasure);
            exists.then(load).flatten().flatten()
        };
        tokio::task::spawn_blocking(load).await.ok().flatten()
    }

    /// Records that announcement.
    pub(in crate::state) async fn record_erasure(&self, erasure: EventId) {
        let snapshots = self.clone();
        let record =
            move || snapshots.with_database("written", |database| database.record_erasure(erasure));
        let _ = tokio::task::spawn_blocking(record).await;
    }

    /// Deletes all snapshots, and their copies in the write-ahead log.
    pub(in crate::state) async fn delete_all(&self) -> Result<(), String> {
        let snapshots = self.clone();
        let file = self.file.display().to_string();
        let delete = move || {
            if !snapshots.file.exists() {
                return true;
            }
            let deleted = snapshots.with_database("deleted", SnapshotDatabase::delete_all);
            deleted.is_some()
        };
        match tokio::task::spawn_blocking(delete).await {
            Ok(true) => Ok(()),
            _ => Err(format!(
                "{file} cannot be cleared: stop the application, delete the file, and start again"
            )),
        }
    }
}

impl SnapshotDatabase {
    fn load_last_erasure(&self) -> Result<Option<EventId>, SnapshotError> {
        let select = "SELECT event_id FROM erasure";
        let id = self
            .connection
            .query_row(select, [], |row| row.get::<_, i64>(0));
        Ok(id
            .optional()?
            .and_then(|id| u64::try_from(id).ok().and_then(EventId::new)))
    }

    fn record_erasure(&self, erasure: EventId) -> Result<(), SnapshotError> {
        let id = i64::try_from(erasure.get()).unwrap_or(i64::MAX);
        let record = "INSERT OR REPLACE INTO erasure (only_row, event_id) VALUES (1, ?1)";
        self.connection.execute(record, [id])?;
        Ok(())
    }

    fn delete_all(&self) -> Result<(), SnapshotError> {
        self.connection.execute("DELETE FROM snapshots", [])?;
        lock(&self.names).clear();
        let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
        self.connection.query_row(truncate, [], |_| Ok(()))?;
        Ok(())
    }
}
