//! What an answer is made with.

use jiff::Timestamp;

use serde::de::DeserializeOwned;

use super::{Paging, QueryError, Select};
use crate::projection::{Cell, Database, ReadModel, Sql};

/// What an answer is made with: the read models, the page that is asked for, and the time.
#[derive(Debug)]
pub struct Reading<'a> {
    database: &'a Database,
    paging: Paging,
    now: Timestamp,
}

impl<'a> Reading<'a> {
    /// What an answer at this time is made with.
    #[must_use]
    pub const fn new(database: &'a Database, paging: Paging, now: Timestamp) -> Self {
        Self {
            database,
            paging,
            now,
        }
    }

    /// The rows of a read model.
    #[must_use]
    pub const fn rows<R: ReadModel>(&self) -> Select<'a, R> {
        Select::new(self.database)
    }

    /// The page that is asked for; the first one if the query is not `paged`.
    #[must_use]
    pub const fn paging(&self) -> &Paging {
        &self.paging
    }

    /// When the query came.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// What SQL of your own finds: each row one column, a JSON object that is read as a `T`. Values
    /// are parameters of the statement, in its order.
    ///
    /// # Errors
    /// The database refuses the statement, or a row is no `T`.
    pub async fn sql<T: DeserializeOwned>(
        &self,
        statement: Sql,
        parameters: Vec<Cell>,
    ) -> Result<Vec<T>, QueryError> {
        let rows = self.database.texts(statement, parameters).await?;
        let rows = rows.iter().map(|row| serde_json::from_str(row));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The database, for what is not said in SQL and JSON.
    #[must_use]
    pub const fn database(&self) -> &'a Database {
        self.database
    }
}
