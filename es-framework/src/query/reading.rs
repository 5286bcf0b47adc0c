//! What an answer is made with.

use jiff::Timestamp;

use super::{Paging, Select};
use crate::projection::{Database, ReadModel};

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

    /// The page that is asked for; the first one if the query does not declare `rows`.
    #[must_use]
    pub const fn paging(&self) -> &Paging {
        &self.paging
    }

    /// When the query came.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// The database, for SQL of your own.
    #[must_use]
    pub const fn database(&self) -> &'a Database {
        self.database
    }
}
