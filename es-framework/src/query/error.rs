//! Why a query is not answered.

use crate::projection::{CellError, DatabaseError};

/// A query that was not answered.
///
/// ```
/// use es_framework::prelude::QueryError;
///
/// let error = QueryError::invalid("letter", "must be one letter");
/// assert_eq!(error.to_string(), "must be one letter");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// A parameter is not what it has to be.
    #[error("{message}")]
    Invalid {
        /// The parameter's name.
        parameter: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// There is nothing of the kind.
    #[error("there is nothing of the kind")]
    NotFound,
    /// The database failed.
    #[error("the query was not answered: {0}")]
    Database(#[from] DatabaseError),
    /// A row is not what was written.
    #[error("a row cannot be read: {0}")]
    Row(#[from] CellError),
    /// A row cannot be shown.
    #[error("a row cannot be shown: {0}")]
    Json(#[from] serde_json::Error),
    /// The query names a table or a column that is not there.
    #[error("the query asks for {what}, which is not declared")]
    Undeclared {
        /// The table or column.
        what: String,
    },
}

impl From<sqlx::Error> for QueryError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.into())
    }
}

impl QueryError {
    /// A parameter that is not what it has to be.
    #[must_use]
    pub fn invalid(parameter: &str, message: impl Into<String>) -> Self {
        Self::Invalid {
            parameter: parameter.chars().take(40).collect(),
            message: message.into(),
        }
    }
}
