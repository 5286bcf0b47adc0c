//! Erasures of personal data: the snapshots go, and the file remembers the last erasure after which they did, by the hash
//! of its announcement. Earlier releases remembered the id, which another event of a restored event store can have.

use rusqlite::OptionalExtension as _;

use super::{SnapshotDatabase, SnapshotError, Snapshots, lock};
use es_event::Hash;

impl Snapshots {
    /// Returns true if there is no file. A file without snapshots may hold deleted ones in free pages.
    pub(in crate::state) fn is_empty(&self) -> bool {
        !self.file.exists()
    }

    /// Returns the hash of the announcement of the last erasure of personal data after which all snapshots were deleted.
    pub(in crate::state) async fn load_last_erasure(&self) -> Option<Hash> {
        let snapshots = self.clone();
        let load = move || {
            let exists = snapshots.file.exists();
            let load = || snapshots.with_database("read", SnapshotDatabase::load_last_erasure);
            exists.then(load).flatten().flatten()
        };
        tokio::task::spawn_blocking(load).await.ok().flatten()
    }

    /// Returns true if a state contains one of the texts, whatever its case is.
    pub(in crate::state) async fn contain_text(&self, texts: Vec<String>) -> Result<bool, String> {
        let snapshots = self.clone();
        let search = move || {
            let search = || snapshots.with_database("read", |database| database.contains(&texts));
            snapshots.file.exists().then(search).unwrap_or(Some(false))
        };
        let found = tokio::task::spawn_blocking(search).await.ok().flatten();
        found.ok_or_else(|| format!("{} cannot be read", self.file.display()))
    }

    /// Records that hash.
    pub(in crate::state) async fn record_erasure(&self, erasure: Hash) {
        let snapshots = self.clone();
        let record =
            move || snapshots.with_database("written", |database| database.record_erasure(erasure));
        let _ = tokio::task::spawn_blocking(record).await;
    }

    /// Deletes all snapshots, and their copies in the write-ahead log. Calls `on_deleted` before another snapshot can be saved.
    pub(in crate::state) async fn delete_all(
        &self,
        on_deleted: impl FnOnce() + Send + 'static,
    ) -> Result<(), String> {
        let snapshots = self.clone();
        let file = self.file.display().to_string();
        let delete = move || {
            if !snapshots.file.exists() {
                return true;
            }
            let deleted = snapshots.with_database("deleted", |database| {
                database.delete_all()?;
                on_deleted();
                Ok(())
            });
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
    fn load_last_erasure(&self) -> Result<Option<Hash>, SnapshotError> {
        let select = "SELECT hash FROM last_erasure";
        let hash = self
            .connection
            .query_row(select, [], |row| row.get::<_, String>(0));
        Ok(hash.optional()?.and_then(|hash| hash.parse().ok()))
    }

    fn contains(&self, texts: &[String]) -> Result<bool, SnapshotError> {
        let forms = texts.iter().map(|text| {
            let quoted = serde_json::Value::from(text.to_lowercase()).to_string();
            quoted.trim_matches('"').to_owned()
        });
        let forms: Vec<_> = forms.collect();
        let mut statement = self.connection.prepare("SELECT state FROM snapshots")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let state = row.get_ref(0)?.as_str().unwrap_or_default().to_lowercase();
            if forms.iter().any(|form| state.contains(form)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn record_erasure(&self, erasure: Hash) -> Result<(), SnapshotError> {
        let record = "INSERT OR REPLACE INTO last_erasure (only_row, hash) VALUES (1, ?1)";
        self.connection.execute(record, [erasure.to_string()])?;
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
