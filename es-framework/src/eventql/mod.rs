//! The query language of event stores of the EventSourcingDB protocol: read, checked and run.

mod ast;
mod check;
mod error;
mod evaluate;
mod execute;
mod lexer;
mod limits;
mod parser;
mod plan;
mod print;
mod source;
#[cfg(test)]
mod tests;
mod token;
mod value;

use std::{fmt, sync::Arc};

use futures_util::{StreamExt as _, stream::BoxStream};
use serde_json::value::RawValue;

use ast::Statement;

pub use error::{ErrorKind, ErrorPayload, QueryError};
pub use limits::{Limits, MAX_LENGTH};
pub use source::{Hint, Source};
pub use token::{Token, TokenKind};

/// The rows of an answer as they come, each any JSON value; ended by the first error. Dropping it
/// ends the query.
///
/// ```
/// use std::sync::Arc;
///
/// use es_framework::{
///     eventql::{Limits, Query, Rows, Source},
///     store::{EventStore, memory::MemoryStore},
/// };
/// use futures_util::StreamExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_framework::eventql::QueryError> {
/// let store: Arc<dyn EventStore> = Arc::new(MemoryStore::new());
/// let query = Query::parse("FROM e IN events PROJECT INTO e.id")?;
/// let rows: Rows = query.run(Arc::new(store), Limits::DEFAULT);
/// assert_eq!(rows.count().await, 0);
/// # Ok(())
/// # }
/// ```
pub type Rows = BoxStream<'static, Result<Box<RawValue>, QueryError>>;

/// A query that was read and checked. `Display` writes it in its canonical form.
///
/// ```
/// use es_framework::eventql::Query;
///
/// let query = Query::parse("from e in events where e.subject == '/a' project into e.id")?;
/// assert_eq!(
///     query.to_string(),
///     r#"FROM e IN events WHERE e.subject == "/a" PROJECT INTO e.id"#
/// );
/// let error = Query::parse("FROM e IN events PROJECT INTO f").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unknown alias `f`: this query knows `e` (line 1, column 31)"
/// );
/// # Ok::<_, es_framework::eventql::QueryError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Query {
    statement: Arc<Statement>,
    tokens: Arc<[Token]>,
}

impl Query {
    /// Reads and checks a query.
    ///
    /// # Errors
    /// It is too long or too deep, does not follow the grammar, or cannot have an answer whatever
    /// the events are. The error names the words that are wrong.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let (length, limit) = (text.len(), MAX_LENGTH);
        if length > limit {
            return Err(QueryError::nowhere(ErrorKind::TooLong { length, limit }));
        }
        let tokens = lexer::tokens(text)?;
        let statement = parser::parse(&tokens)
            .and_then(|statement| check::check(&statement).map(|()| statement))
            .map_err(|fault| fault.locate(&tokens))?;
        Ok(Self {
            statement: Arc::new(statement),
            tokens: tokens.into(),
        })
    }

    /// Runs the query over the events that `source` has. Needs a Tokio runtime with time.
    #[must_use]
    pub fn run(&self, source: Arc<dyn Source>, limits: Limits) -> Rows {
        execute::run(self, source, limits, true)
    }

    /// Whether the answer is exactly one row and that row is `true`, as the precondition
    /// `isEventQlQueryTrue` asks.
    ///
    /// # Errors
    /// The query fails before that can be told.
    pub async fn yields_true(
        &self,
        source: Arc<dyn Source>,
        limits: Limits,
    ) -> Result<bool, QueryError> {
        let mut rows = self.run(source, limits);
        let Some(first) = rows.next().await.transpose()? else {
            return Ok(false);
        };
        if first.get() != "true" {
            return Ok(false);
        }
        Ok(rows.next().await.transpose()?.is_none())
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.statement.fmt(f)
    }
}
