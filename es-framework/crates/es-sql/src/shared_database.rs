//! A database into which several instances write, and whose rows exist nowhere else.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;

#[cfg(feature = "postgres")]
use super::postgres::PrimaryPool;
use super::{
    Cell, DatabaseError, DatabaseUrl, Engine, Statement,
    sqlite::{Durability, SqliteDatabase, SqliteLocation},
    transaction::TransactionEnd,
};

/// A database into which several instances write, and whose rows exist nowhere else. Clones share the connections.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub enum SharedDatabase {
    /// SQLite, in memory or in a file. It refuses to work on when the file is removed.
    Sqlite(Arc<SqliteDatabase>),
    /// PostgreSQL, on the server that accepts writes. It has to keep what it confirms.
    #[cfg(feature = "postgres")]
    Postgres(Arc<PrimaryPool>),
}

impl SharedDatabase {
    /// Opens the database that a setting names.
    ///
    /// # Errors
    /// It cannot be opened or reached, or it may lose what it has confirmed.
    pub fn open(url: &DatabaseUrl) -> BoxFuture<'_, Result<Self, DatabaseError>> {
        Box::pin(async move {
            let location = match url {
                DatabaseUrl::Memory => SqliteLocation::unique_in_memory(),
                DatabaseUrl::File(path) => SqliteLocation::File(path.clone()),
                #[cfg(not(feature = "postgres"))]
                DatabaseUrl::Postgres(_) => return Err(DatabaseError::MissingFeature),
                #[cfg(feature = "postgres")]
                DatabaseUrl::Postgres(url) => {
                    let pool = PrimaryPool::open(url).await?;
                    return Ok(Self::Postgres(Arc::new(pool)));
                }
            };
            let database = SqliteDatabase::open(location, Durability::Full, Duration::MAX).await?;
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

    /// Runs a statement in one transaction, and returns the rows that it selects. While a server is away, it is tried
    /// again, so the statement may run twice: that has to be the same as once.
    ///
    /// # Errors
    /// The statement failed, or no server accepts writes for too long.
    pub fn transact(
        &self,
        statement: Statement,
    ) -> BoxFuture<'_, Result<Vec<Vec<Cell>>, DatabaseError>> {
        Box::pin(async move {
            match self {
                Self::Sqlite(sqlite) => sqlite.run(vec![statement], TransactionEnd::Commit).await,
                #[cfg(feature = "postgres")]
                Self::Postgres(pool) => Ok(pool.transact(&statement).await?),
            }
        })
    }

    /// Runs statements once, each by itself, on one connection. Returns the rows that they select.
    ///
    /// # Errors
    /// A statement failed, or a server does not answer within the limit.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(unused_variables, reason = "only a server can be away")
    )]
    pub fn run_once(
        &self,
        limit: Duration,
        statements: Vec<Statement>,
    ) -> BoxFuture<'_, Result<Vec<Vec<Cell>>, DatabaseError>> {
        Box::pin(async move {
            match self {
                Self::Sqlite(sqlite) => {
                    let mut selected = Vec::new();
                    for statement in statements {
                        selected.extend(sqlite.read(statement).await?);
                    }
                    Ok(selected)
                }
                #[cfg(feature = "postgres")]
                Self::Postgres(pool) => Ok(pool.run_once(limit, statements).await?),
            }
        })
    }

    /// Removes what earlier rows left in the write-ahead log of a file. A server removes nothing.
    ///
    /// # Errors
    /// Another process still reads the log.
    pub fn truncate_log(&self) -> BoxFuture<'_, Result<(), DatabaseError>> {
        Box::pin(async move {
            match self {
                Self::Sqlite(sqlite) => sqlite.scrub().await,
                #[cfg(feature = "postgres")]
                Self::Postgres(_) => Ok(()),
            }
        })
    }
}
