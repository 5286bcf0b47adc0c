//! The last erasure of personal data after which the rows of a read model were rebuilt. It is in the database of the rows,
//! so a file that was restored from an old copy has an old mark. Earlier releases stored the id of its announcement in
//! `es_erasure`. A restored event store can have another event with that id, so those marks are not read.

use super::{
    super::{Cell, Table},
    Database, DatabaseError,
};
use es_event::Hash;
use es_sql::Statement;

const CREATE: &str = "CREATE TABLE IF NOT EXISTS es_last_erasure \
     (model TEXT PRIMARY KEY, hash TEXT NOT NULL)";

const LOAD: &str = "SELECT hash FROM es_last_erasure WHERE model = $1";

const RECORD: &str = "INSERT INTO es_last_erasure (model, hash) VALUES ($1, $2) \
     ON CONFLICT (model) DO UPDATE SET hash = excluded.hash";

impl Database {
    /// Returns the hash of the announcement of the last erasure after which the rows of a read model were rebuilt.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn load_last_erasure(&self, table: &Table) -> Result<Option<Hash>, DatabaseError> {
        let rows = self.look_up(LOAD, vec![table.model.name.into()]).await?;
        let hash = rows.into_iter().flatten().find_map(Cell::into_text);
        Ok(hash.and_then(|hash| hash.parse().ok()))
    }

    /// Records the hash of the announcement of an erasure after which the rows of a read model were rebuilt.
    ///
    /// # Errors
    /// The database does not answer, or another process writes the rows.
    #[doc(hidden)]
    pub async fn record_erasure(&self, table: &Table, erasure: Hash) -> Result<(), DatabaseError> {
        let mark = [table.model.name.into(), erasure.to_string().into()];
        let statements = vec![Statement::plain(CREATE), Statement::new(RECORD, mark)];
        self.sql.write(statements).await
    }

    /// Returns true if a read model has applied no event.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn is_table_new(&self, table: &Table) -> Result<bool, DatabaseError> {
        let stored = self.load_checkpoint(table).await?;
        Ok(stored.is_none_or(|stored| stored.checkpoint.is_none()))
    }
}
