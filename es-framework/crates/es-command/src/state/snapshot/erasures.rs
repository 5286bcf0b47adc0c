//! Erasures of personal data: the snapshots go, and the file remembers the last erasure after which they did, by the hash
//! of its announcement. Earlier releases remembered the id, which another event of a restored event store can have.

use es_event::Hash;
use es_sql::{Cell, QueryCost, Statement};

use super::{SnapshotDatabase, SnapshotError, Snapshots, lock, texts};

/// The most bytes of one read of a search.
const SEARCH_BYTES: usize = 4 << 20;

impl Snapshots {
    /// Returns true if there is no file. A file without snapshots may hold deleted ones in free pages.
    pub(in crate::state) fn is_empty(&self) -> bool {
        !self.file.exists()
    }

    /// Returns the hash of the announcement of the last erasure of personal data after which all snapshots were deleted.
    pub(in crate::state) async fn load_last_erasure(&self) -> Option<Hash> {
        if self.is_empty() {
            return None;
        }
        let loaded = async { self.database().await?.load_last_erasure().await };
        self.log_error("read", loaded.await).flatten()
    }

    /// Returns true if a state contains one of the texts, whatever its case is.
    pub(in crate::state) async fn contain_text(&self, texts: Vec<String>) -> Result<bool, String> {
        if self.is_empty() {
            return Ok(false);
        }
        let found = async { self.database().await?.contains(&texts).await };
        let found = self.log_error("read", found.await);
        found.ok_or_else(|| format!("{} cannot be read", self.file.display()))
    }

    /// Records that hash.
    pub(in crate::state) async fn record_erasure(&self, erasure: Hash) {
        let recorded = async { self.database().await?.record_erasure(erasure).await };
        self.log_error("written", recorded.await);
    }

    /// Deletes all snapshots, and their copies in the write-ahead log. Calls `on_deleted` before another snapshot can be saved.
    pub(in crate::state) async fn delete_all(
        &self,
        on_deleted: impl FnOnce() + Send,
    ) -> Result<(), String> {
        if self.is_empty() {
            return Ok(());
        }
        let deleted = async { self.database().await?.delete_all(on_deleted).await };
        let deleted = self.log_error("deleted", deleted.await);
        deleted.ok_or_else(|| {
            let file = self.file.display();
            format!(
                "{file} cannot be cleared: stop the application, delete the file, and start again"
            )
        })
    }
}

impl SnapshotDatabase {
    async fn load_last_erasure(&self) -> Result<Option<Hash>, SnapshotError> {
        let select = Statement::plain("SELECT hash FROM last_erasure");
        let mut hashes = texts(self.database.read(select).await?);
        Ok(hashes.next().and_then(|hash| hash.parse().ok()))
    }

    async fn contains(&self, texts: &[String]) -> Result<bool, SnapshotError> {
        let forms = texts.iter().map(|text| {
            let quoted = serde_json::Value::from(text.to_lowercase()).to_string();
            quoted.trim_matches('"').to_owned()
        });
        let forms: Vec<_> = forms.collect();
        let select = "SELECT number, state FROM snapshots WHERE number > $1 ORDER BY number";
        let mut last = Cell::Integer(i64::MIN);
        loop {
            let reading =
                self.database
                    .query(QueryCost::Page, select.to_owned(), vec![last], SEARCH_BYTES);
            let page = reading.await?;
            last = Cell::Null;
            for row in page.rows {
                let Ok([number, Cell::Text(state)]) = <[_; 2]>::try_from(row) else {
                    return Err(SnapshotError::Damaged);
                };
                let lower = state.to_lowercase();
                if forms.iter().any(|form| lower.contains(form)) {
                    return Ok(true);
                }
                last = number;
            }
            if !page.is_cut {
                return Ok(false);
            }
        }
    }

    async fn record_erasure(&self, erasure: Hash) -> Result<(), SnapshotError> {
        let record = "INSERT OR REPLACE INTO last_erasure (only_row, hash) VALUES (1, $1)";
        let record = Statement::new(record, [erasure.to_string().into()]);
        Ok(self.database.write(vec![record]).await?)
    }

    async fn delete_all(&self, on_deleted: impl FnOnce() + Send) -> Result<(), SnapshotError> {
        let _writing = self.writing.lock().await;
        let delete = Statement::plain("DELETE FROM snapshots");
        self.database.write(vec![delete]).await?;
        lock(&self.names).clear();
        self.database.scrub().await?;
        on_deleted();
        Ok(())
    }
}
