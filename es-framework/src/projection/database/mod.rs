//! The secondary database: what clients' queries are answered from.

mod checkpoint;
mod error;
mod lease;
mod numbered;
mod postgres;
mod rows;
mod sqlite;
mod url;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::{
    Cell, ReadModels, RowKey, Table,
    fold::{Changes, StoredRow},
    search_index,
    tables::{POSITION_COLUMN, lowercase_column, quoted},
};
use crate::event::EventId;

pub(super) use checkpoint::{Checkpoint, Kept};
pub use error::DatabaseError;
use numbered::numbered;
use postgres::PostgresDatabase;
pub(super) use rows::{Written, written_columns};
use sqlite::SqliteDatabase;
pub use url::{DatabaseUrl, InvalidDatabaseUrl};

/// How long the database works on one query, unless a setting says otherwise.
const QUERY_TIME: Duration = Duration::from_secs(10);

/// The database of the read models. Clones share it.
///
/// ```
/// use es_framework::projection::{Database, ReadModels};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_framework::projection::DatabaseError> {
/// let database = Database::in_memory(&ReadModels::default()).await?;
/// assert_eq!(database.kind(), "SQLite");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Database {
    engine: Engine,
    tables: Arc<BTreeMap<&'static str, Table>>,
}

#[derive(Debug, Clone)]
enum Engine {
    Sqlite(SqliteDatabase),
    Postgres(PostgresDatabase),
}

/// A statement of an application's own, for each kind of database.
///
/// ```
/// use es_framework::{prelude::*, projection::{Cell, Sql}};
///
/// const BY_AUTHOR: Sql = Sql {
///     sqlite: "SELECT json_object('title', title) FROM book_copies WHERE author = ?1",
///     postgres: "SELECT json_build_object('title', title)::text FROM book_copies WHERE author = $1",
/// };
///
/// async fn titles(context: &QueryContext<'_>) -> Result<Vec<serde_json::Value>, QueryError> {
///     context.sql(BY_AUTHOR, vec![Cell::Text("J. R. R. Tolkien".into())]).await
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sql {
    /// For SQLite, with `?1` for the first parameter.
    pub sqlite: &'static str,
    /// For PostgreSQL, with `$1` for the first parameter.
    pub postgres: &'static str,
}

impl Database {
    /// Opens the database that a setting names.
    ///
    /// # Errors
    /// It cannot be opened or reached.
    pub async fn open(url: &DatabaseUrl, models: &ReadModels) -> Result<Self, DatabaseError> {
        Self::open_within(url, models, QUERY_TIME).await
    }

    /// Opens the database that a setting names, and ends each query that it works on for longer.
    pub(crate) async fn open_within(
        url: &DatabaseUrl,
        models: &ReadModels,
        query_time: Duration,
    ) -> Result<Self, DatabaseError> {
        let sqlite = async |location| {
            let opened = SqliteDatabase::open(location, query_time).await;
            opened.map(Engine::Sqlite)
        };
        let engine = match url {
            DatabaseUrl::Memory => sqlite(sqlite::Location::in_memory()).await?,
            DatabaseUrl::File(path) => sqlite(sqlite::Location::File(path.clone())).await?,
            DatabaseUrl::Postgres(url) => {
                Engine::Postgres(PostgresDatabase::open(url, query_time).await?)
            }
        };
        let tables = Arc::new(models.by_name());
        Ok(Self { engine, tables })
    }

    /// Opens a database in memory, which is empty.
    ///
    /// # Errors
    /// SQLite cannot be opened.
    pub async fn in_memory(models: &ReadModels) -> Result<Self, DatabaseError> {
        Self::open(&DatabaseUrl::Memory, models).await
    }

    /// Which kind of database it is, for people.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match &self.engine {
            Engine::Sqlite(_) => "SQLite",
            Engine::Postgres(_) => "PostgreSQL",
        }
    }

    /// How much memory or disk the database takes, in bytes.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn size(&self) -> Result<u64, DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.size().await,
            Engine::Postgres(postgres) => postgres.size().await,
        }
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    /// The rows that `statement` finds, each with its place. Its parameters are `?` in order.
    pub(crate) async fn fetch(
        &self,
        table: &Table,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.fetch(table, statement, parameters).await,
            Engine::Postgres(postgres) => postgres.fetch(table, &statement, parameters).await,
        }
    }

    /// The texts in the first column of what `statement` finds. Its parameters are numbered.
    pub(crate) async fn texts(
        &self,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<Vec<String>, DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.texts(statement, parameters).await,
            Engine::Postgres(postgres) => postgres.texts(statement, parameters).await,
        }
    }

    /// An application's own statement for this database.
    pub(crate) const fn own(&self, statement: Sql) -> &'static str {
        match &self.engine {
            Engine::Sqlite(_) => statement.sqlite,
            Engine::Postgres(_) => statement.postgres,
        }
    }

    /// SQL whose parameters `?` are numbered, those behind so many others.
    pub(crate) fn numbered(&self, sql: &str, others: usize) -> String {
        match &self.engine {
            Engine::Sqlite(_) => numbered(sql, '?', others),
            Engine::Postgres(_) => numbered(sql, '$', others),
        }
    }

    /// Returns the SQL expression of a group of rows as JSON: the values of the columns that the rows
    /// are grouped by, the number of rows, and the values of `collected` in the rows that meet the
    /// condition `only`, sorted by `order`.
    pub(crate) fn json_group(
        &self,
        columns: &str,
        collected: &str,
        order: &str,
        only: &str,
    ) -> String {
        match &self.engine {
            Engine::Sqlite(_) => format!(
                "json_array(json_array({columns}), count(*), \
                 json_group_array({collected} ORDER BY {order}) FILTER (WHERE {only}))"
            ),
            Engine::Postgres(_) => format!(
                "json_build_array(json_build_array({columns}), count(*), \
                 coalesce(json_agg({collected} ORDER BY {order}) FILTER (WHERE {only}), '[]'))::text"
            ),
        }
    }

    /// Returns the conditions that a column contains a substring, whatever the case of its letters,
    /// and the parameter of each.
    pub(crate) fn contains(
        &self,
        table: &Table,
        column: &str,
        substring: &str,
    ) -> Vec<(String, Cell)> {
        let substring = substring.to_lowercase();
        let is_searched = table.searched.contains(column);
        let text = match is_searched {
            true => lowercase_column(column),
            // No query declares the search, so only the case of ASCII letters is ignored.
            false => format!("lower({})", quoted(column)),
        };
        match &self.engine {
            Engine::Sqlite(_) => {
                let trigrams = search_index::trigram_query(&substring).filter(|_| is_searched);
                let exact = (format!("instr({text}, ?) > 0"), Cell::Text(substring));
                let fts = search_index::fts_table(table);
                let indexed =
                    format!("{POSITION_COLUMN} IN (SELECT rowid FROM {fts} WHERE {fts} MATCH ?)");
                let indexed = trigrams.map(|trigrams| (indexed, Cell::Text(trigrams)));
                indexed.into_iter().chain([exact]).collect()
            }
            // The planner knows which part of this condition its index answers.
            Engine::Postgres(_) => {
                let pattern = search_index::like_pattern(&substring);
                vec![(format!("{text} LIKE ?"), Cell::Text(pattern))]
            }
        }
    }

    /// Whether the database's texts cannot hold the character zero.
    pub(crate) const fn lacks_zero(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// How many rows `statement` counts. Its parameters are `?` in order.
    pub(crate) async fn count(
        &self,
        statement: String,
        parameters: Vec<Cell>,
    ) -> Result<u64, DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.count(statement, parameters).await,
            Engine::Postgres(postgres) => {
                let statement = numbered(&statement, '$', 0);
                postgres.count(statement, parameters).await
            }
        }
    }

    /// Takes the right to write, unless another process has it: the tables are there from then on.
    pub(super) async fn take_lease(&self) -> Result<bool, DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => {
                let is_taken = sqlite.writer.take_lease().await?;
                if is_taken {
                    sqlite.writer.prepare(Arc::clone(&self.tables)).await?;
                }
                Ok(is_taken)
            }
            Engine::Postgres(postgres) => {
                let is_taken = postgres.take_lease().await?;
                if is_taken {
                    postgres.prepare(self.tables.values()).await?;
                }
                Ok(is_taken)
            }
        }
    }

    /// A table as it is there.
    pub(super) async fn kept(&self, table: &Table) -> Result<Option<Kept>, DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.kept(table.clone()).await,
            Engine::Postgres(postgres) => postgres.kept(table).await,
        }
    }

    /// Makes a table anew: empty, as if no event had been taken.
    pub(super) async fn reset(&self, table: &Table) -> Result<(), DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.reset(table.clone()).await,
            Engine::Postgres(postgres) => postgres.reset(table).await,
        }
    }

    /// Removes a table, if it is there.
    pub(super) async fn remove(&self, table: &Table) -> Result<(), DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.remove(table.clone()).await,
            Engine::Postgres(postgres) => postgres.remove(table).await,
        }
    }

    /// Puts the table that was built beside in the place of the one that answered queries.
    pub(super) async fn swap(&self, table: &Table) -> Result<(), DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.swap(table.clone()).await,
            Engine::Postgres(postgres) => postgres.swap(table).await,
        }
    }

    /// Has a read model leave out an event from now on.
    pub(super) async fn skip(&self, table: &Table, event: EventId) -> Result<(), DatabaseError> {
        let position = i64::try_from(event.get()).unwrap_or(i64::MAX);
        let model = table.model.name;
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.skip(model, position).await,
            Engine::Postgres(postgres) => postgres.skip(model, position).await,
        }
    }

    /// The events that a read model leaves out.
    pub(super) async fn skipped(&self, table: &Table) -> Result<BTreeSet<EventId>, DatabaseError> {
        let model = table.model.name;
        let positions = match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.skipped(model).await,
            Engine::Postgres(postgres) => postgres.skipped(model).await,
        }?;
        let positions = positions.into_iter();
        let ids = positions.filter_map(|position| u64::try_from(position).ok());
        Ok(ids.filter_map(EventId::new).collect())
    }

    /// The rows of these keys that are there.
    pub(super) async fn load(
        &self,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<StoredRow>, DatabaseError> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.load(table.clone(), keys).await,
            Engine::Postgres(postgres) => postgres.load(table, keys).await,
        }
    }

    /// Writes the changes of a table and its checkpoint, both or neither.
    pub(super) async fn write(
        &self,
        table: &Table,
        changes: Changes,
        checkpoint: Checkpoint,
    ) -> Result<(), DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => {
                sqlite
                    .writer
                    .write(table.clone(), changes, checkpoint)
                    .await
            }
            Engine::Postgres(postgres) => postgres.write(table, changes, checkpoint).await,
        }
    }

    /// Has a read model taken no event yet, whatever its rows are.
    #[cfg(test)]
    pub(super) async fn forget_position(&self, model: &str) -> Result<(), DatabaseError> {
        let (Some(table), Engine::Sqlite(sqlite)) = (self.table(model), &self.engine) else {
            return Ok(());
        };
        sqlite.writer.forget_position(table.clone()).await
    }

    /// Has SQLite grow no further than to so many pages.
    #[cfg(test)]
    pub(super) async fn limit(&self, pages: u32) -> Result<(), DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.limit(pages).await,
            Engine::Postgres(_) => Ok(()),
        }
    }
}
