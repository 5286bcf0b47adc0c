//! The error of a query.

use crate::projection::{CellError, DatabaseError};
use es_event::NotOwner;

/// The reason why a query has no output.
///
/// ```
/// use es_framework::prelude::QueryError;
///
/// let error = QueryError::invalid("letter", "must be one letter");
/// assert_eq!(error.to_string(), "must be one letter");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// A parameter has a value that is not valid.
    #[error("{message}")]
    Invalid {
        /// The parameter's name.
        parameter: String,
        /// The mistake, and how to correct it.
        message: String,
    },
    /// No row matches the parameters.
    #[error("no row matches the parameters")]
    NotFound,
    /// The query asks for something that belongs to somebody else.
    #[error(transparent)]
    NotOwner(#[from] NotOwner),
    /// The query filters, sorts or groups by a column that its caller does not see.
    #[error("only {viewers} see `{member}`, so nobody else can filter, sort or group by it")]
    NotVisible {
        /// The column's member in JSON.
        member: &'static str,
        /// The callers who see the column.
        viewers: String,
    },
    /// The database failed.
    #[error("the database did not answer the query: {0}")]
    Database(#[from] DatabaseError),
    /// A value does not fit its column.
    #[error("a value does not fit its column: {0}")]
    Row(#[from] CellError),
    /// A value is not valid JSON.
    #[error("a value of the query is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// A query that returns all rows matches more than its limit.
    #[error("more than {limit} rows of {table} match: return a page, or raise the limit of `all`")]
    TooManyRows {
        /// The table.
        table: &'static str,
        /// The highest number of rows that the query returns.
        limit: u32,
    },
    /// A sum exceeds the range of its type: `i64` for integers, `f64` for floats.
    #[error("the sum of `{column}` exceeds the range of its type: add fewer rows")]
    SumTooLarge {
        /// The column.
        column: &'static str,
    },
    /// A row of hand-written SQL has values that do not fit a cursor.
    #[error(
        "`sort` and `key` of a row are too long for a cursor: let the statement select shorter values, such as an id as `key`"
    )]
    LongSortValues,
    /// A row of hand-written SQL has a value that a cursor cannot contain.
    #[error(
        "`sort` or `key` of a row is neither a text nor a number: cast it in the statement, such as `due_at::text AS sort`"
    )]
    UnsortableValue,
    /// The query searches a column that the table is not prepared for.
    #[error(
        "the query searches `{column}` of {table}, which has no text for searches: write `#[search]` above this field of the read model"
    )]
    NotSearchable {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },
    /// The handler takes a service that nobody provides.
    #[error(
        "nothing provides `{service}`: name it in `QueryHandler::SERVICES`, and write App::provide"
    )]
    NotProvided {
        /// The type of the service.
        service: &'static str,
    },
    /// The query names a table that the application does not serve.
    #[error("the query reads {what}, which the application does not serve")]
    Undeclared {
        /// The table.
        what: String,
    },
}

impl QueryError {
    /// Creates the error of a parameter whose value is not valid.
    #[must_use]
    pub fn invalid(parameter: &str, message: impl Into<String>) -> Self {
        Self::Invalid {
            parameter: parameter.chars().take(40).collect(),
            message: message.into(),
        }
    }
}
