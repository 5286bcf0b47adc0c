//! One database, whichever engine it has.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;

#[cfg(feature = "postgres")]
use super::postgres::PostgresDatabase;
use super::{
    Cell, DatabaseError, DatabaseUrl, DatabaseUse, FetchedRows, QueryCost, Statement,
    sqlite::{SqliteDatabase, SqliteLocation},
    transaction::{TransactionEnd, WRITE_TIMEOUT},
};

/// The engine of a database, and so its dialect of SQL.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// A database: connections that read, and one connection that writes. Clones share them.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub enum SqlDatabase {
    /// SQLite, in memory or in a file.
    Sqlite(Arc<SqliteDatabase>),
    /// PostgreSQL, on the server that accepts writes.
    #[cfg(feature = "postgres")]
    Postgres(Arc<PostgresDatabase>),
}

/// Calls the same method of each engine.
macro_rules! dispatch {
    ($database:expr, $engine:ident => $call:expr) => {
        match $database {
            SqlDatabase::Sqlite($engine) => $call,
            #[cfg(feature = "postgres")]
            SqlDatabase::Postgres($engine) => $call,
        }
    };
}

impl SqlDatabase {
    /// Opens the database that a setting names. It ends each query that runs longer than `query_time`.
    ///
    /// # Errors
    /// It cannot be opened or reached.
    pub fn open(
        url: &DatabaseUrl,
        query_time: Duration,
        database_use: DatabaseUse,
    ) -> BoxFuture<'_, Result<Self, DatabaseError>> {
        Box::pin(async move {
            let location = match url {
                DatabaseUrl::Memory => SqliteLocation::unique_in_memory(),
                DatabaseUrl::File(path) => SqliteLocation::File(path.clone()),
                #[cfg(not(feature = "postgres"))]
                DatabaseUrl::Postgres(_) => return Err(DatabaseError::MissingFeature),
                #[cfg(feature = "postgres")]
                DatabaseUrl::Postgres(url) => {
                    let database = PostgresDatabase::open(url, query_time, database_use).await?;
                    return Ok(Self::Postgres(Arc::new(database)));
                }
            };
            let durability = database_use.durability();
            let database = SqliteDatabase::open(location, durability, query_time).await?;
            Ok(Self::Sqlite(Arc::new(database)))
        })
    }

    /// Returns the engine.
    #[must_use]
    pub const fn engine(&self) -> Engine {
        match self {
            Self::Sqlite(_) => Engine::Sqlite,
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Engine::Postgres,
        }
    }

    /// Returns the number of expensive queries that run at once.
    #[must_use]
    pub const fn scan_limit(&self) -> u32 {
        match self {
            Self::Sqlite(_) => super::sqlite::SCANS,
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => super::postgres::SCANS,
        }
    }

    /// Returns the rows that a query selects, up to a size. It runs on a connection that reads.
    ///
    /// # Errors
    /// The query failed, took too long, or found no connection in time.
    pub fn query(
        &self,
        cost: QueryCost,
        sql: String,
        parameters: Vec<Cell>,
        most_bytes: usize,
    ) -> BoxFuture<'_, Result<FetchedRows<Vec<Cell>>, DatabaseError>> {
        Box::pin(async move {
            dispatch!(self, engine => engine.query(cost, sql, parameters, most_bytes).await)
        })
    }

    /// Acquires the right to write, unless another process has it.
    ///
    /// # Errors
    /// The database does not answer.
    pub fn try_become_writer(&self) -> BoxFuture<'_, Result<bool, DatabaseError>> {
        Box::pin(async move { dispatch!(self, engine => engine.try_become_writer().await) })
    }

    /// Gives up the right to write, so that another process can acquire it at once.
    pub fn release_writer(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match self {
                Self::Sqlite(sqlite) => sqlite.release_lease().await,
                #[cfg(feature = "postgres")]
                Self::Postgres(postgres) => postgres.end_session().await,
            }
        })
    }

    /// Gives up the right to write if it belongs to a session.
    pub fn end_session(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match self {
                Self::Sqlite(_) => {}
                #[cfg(feature = "postgres")]
                Self::Postgres(postgres) => postgres.end_session().await,
            }
        })
    }

    /// Returns the rows that a statement selects, on the connection that writes. No other process changes them until this
    /// one writes.
    ///
    /// # Errors
    /// The statement failed, or the right to write was lost.
    pub fn read(
        &self,
        statement: Statement,
    ) -> BoxFuture<'_, Result<Vec<Vec<Cell>>, DatabaseError>> {
        Box::pin(async move { dispatch!(self, engine => engine.read(statement).await) })
    }

    /// Runs statements in one transaction.
    ///
    /// # Errors
    /// A statement failed, and none has an effect, or the right to write was lost.
    pub fn write(&self, statements: Vec<Statement>) -> BoxFuture<'_, Result<(), DatabaseError>> {
        self.run(statements, TransactionEnd::Commit, WRITE_TIMEOUT)
    }

    /// Runs statements in one transaction, for which a server has more time than usual.
    ///
    /// # Errors
    /// Those of [`write`](Self::write).
    pub fn write_within(
        &self,
        limit: Duration,
        statements: Vec<Statement>,
    ) -> BoxFuture<'_, Result<(), DatabaseError>> {
        self.run(statements, TransactionEnd::Commit, limit)
    }

    /// Runs statements in one transaction that is undone.
    ///
    /// # Errors
    /// A statement failed, or the right to write was lost.
    pub fn try_statements(
        &self,
        statements: Vec<Statement>,
    ) -> BoxFuture<'_, Result<(), DatabaseError>> {
        self.run(statements, TransactionEnd::Rollback, WRITE_TIMEOUT)
    }

    #[cfg_attr(
        not(feature = "postgres"),
        expect(unused_variables, reason = "only a server can be away")
    )]
    fn run(
        &self,
        statements: Vec<Statement>,
        end: TransactionEnd,
        limit: Duration,
    ) -> BoxFuture<'_, Result<(), DatabaseError>> {
        Box::pin(async move {
            match self {
                // A database in this process is not away.
                Self::Sqlite(sqlite) => sqlite.run(statements, end).await.map(drop),
                #[cfg(feature = "postgres")]
                Self::Postgres(postgres) => postgres.run(statements, end, limit).await,
            }
        })
    }

    /// Returns the groups of statements that the database refuses, by their indexes, each with its error. Each group runs
    /// in a savepoint, after those before it that succeed, and none has an effect in the end. After a refusal, later groups
    /// with the same id are left out.
    ///
    /// # Errors
    /// A statement failed for another reason than a refusal, or the right to write was lost.
    pub fn find_refusals<I: PartialEq + Send + 'static>(
        &self,
        groups: Vec<(I, Vec<Statement>)>,
    ) -> BoxFuture<'_, Result<Vec<(usize, DatabaseError)>, DatabaseError>> {
        Box::pin(async move { dispatch!(self, engine => engine.find_refusals(groups).await) })
    }

    /// Removes what earlier rows left in the files, as far as the database can do that.
    ///
    /// # Errors
    /// The database does not answer, or a query still reads the files.
    pub fn scrub(&self) -> BoxFuture<'_, Result<(), DatabaseError>> {
        Box::pin(async move {
            match self {
                Self::Sqlite(sqlite) => sqlite.scrub().await,
                #[cfg(feature = "postgres")]
                Self::Postgres(_) => Ok(()),
            }
        })
    }
}
