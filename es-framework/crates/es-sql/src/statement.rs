//! A statement with its parameters.

use super::{Cell, CellType};

/// A statement of a transaction. It marks its parameters with `$1`, `$2` and so on, in the order of their first use, which
/// both engines read alike.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Statement {
    pub(crate) sql: String,
    pub(crate) parameters: Parameters,
}

/// The parameters of a statement.
#[derive(Debug, Clone)]
pub(crate) enum Parameters {
    /// The statement runs once.
    None,
    /// The statement runs once for each row. Without a row, SQLite only checks it.
    Rows(Vec<Vec<Cell>>),
    /// The statement of PostgreSQL runs once. Each parameter is an array.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "SQLite has no arrays")
    )]
    Arrays(Vec<(CellType, Vec<Cell>)>),
}

impl Statement {
    /// Creates a statement without parameters.
    #[must_use]
    pub fn plain(sql: impl Into<String>) -> Self {
        Self::from_parts(sql.into(), Parameters::None)
    }

    /// Creates a statement that runs once.
    #[must_use]
    pub fn new(sql: impl Into<String>, parameters: impl Into<Vec<Cell>>) -> Self {
        Self::for_rows(sql, vec![parameters.into()])
    }

    /// Creates a statement that runs once for each row of parameters. Without a row, SQLite only checks it.
    #[must_use]
    pub fn for_rows(sql: impl Into<String>, rows: Vec<Vec<Cell>>) -> Self {
        Self::from_parts(sql.into(), Parameters::Rows(rows))
    }

    /// Creates a statement of PostgreSQL that runs once, with an array for each parameter.
    #[must_use]
    pub fn for_arrays(sql: impl Into<String>, arrays: Vec<(CellType, Vec<Cell>)>) -> Self {
        Self::from_parts(sql.into(), Parameters::Arrays(arrays))
    }

    const fn from_parts(sql: String, parameters: Parameters) -> Self {
        Self { sql, parameters }
    }
}
