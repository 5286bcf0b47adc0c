//! EventQL, the query language of the EventSourcingDB protocol: parses, checks and runs queries.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod ast;
mod check;
mod evaluate;
mod execute;
mod function;
mod lexer;
mod parser;
mod print;
mod query_budget;
mod query_error;
mod query_limits;
mod read_hint;
mod read_plan;
#[cfg(test)]
mod tests;
mod token;
mod value;

use std::{fmt, sync::Arc};

use es_store::EventLog;
use futures_util::{StreamExt as _, stream::BoxStream};
use serde_json::value::RawValue;

use ast::Statement;

#[doc(hidden)]
pub use function::{aggregate_names, function_names};
pub use query_error::{QueryError, QueryErrorKind, QueryErrorPayload};
pub use query_limits::{MAX_LENGTH, QueryLimits};
pub use token::{Token, TokenKind};

/// The result rows of a query as a stream of JSON values. The first error ends the stream. Dropping
/// the stream ends the query.
///
/// ```
/// use std::sync::Arc;
///
/// use es_eventql::{QueryLimits, EventQlQuery, QueryRows};
/// use es_store::memory::MemoryStore;
/// use futures_util::StreamExt as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), es_eventql::QueryError> {
/// let query = EventQlQuery::parse("FROM e IN events PROJECT INTO e.id")?;
/// let rows: QueryRows = query.run(Arc::new(MemoryStore::new()), QueryLimits::DEFAULT);
/// assert_eq!(rows.count().await, 0);
/// # Ok(())
/// # }
/// ```
pub type QueryRows = BoxStream<'static, Result<Box<RawValue>, QueryError>>;

/// A parsed and checked query. `Display` writes its canonical form.
///
/// ```
/// use es_eventql::EventQlQuery;
///
/// let query = EventQlQuery::parse("from e in events where e.subject == '/a' project into e.id")?;
/// assert_eq!(
///     query.to_string(),
///     r#"FROM e IN events WHERE e.subject == "/a" PROJECT INTO e.id"#
/// );
/// let error = EventQlQuery::parse("FROM e IN events PROJECT INTO f").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unknown alias `f`: this query knows `e` (line 1, column 31)"
/// );
/// # Ok::<_, es_eventql::QueryError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EventQlQuery {
    statement: Arc<Statement>,
    tokens: Arc<[Token]>,
}

impl EventQlQuery {
    /// Parses and checks a query.
    ///
    /// # Errors
    /// Fails if the query is too long or too deep, does not follow the grammar, or is invalid for
    /// every possible event. The error names the tokens at fault.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        let (length, limit) = (text.len(), MAX_LENGTH);
        if length > limit {
            return Err(QueryError::without_position(QueryErrorKind::TooLong {
                length,
                limit,
            }));
        }
        let tokens = lexer::tokenize(text)?;
        let statement = parser::parse_query(&tokens)
            .and_then(|statement| check::check_statement(&statement).map(|()| statement))
            .map_err(|fault| fault.locate(&tokens))?;
        Ok(Self {
            statement: Arc::new(statement),
            tokens: tokens.into(),
        })
    }

    /// Runs the query over the events of `log`. Needs a Tokio runtime with time enabled.
    #[must_use]
    pub fn run(&self, log: Arc<dyn EventLog>, limits: QueryLimits) -> QueryRows {
        execute::run_query(self, log, limits, true)
    }

    /// Returns the boolean of a query that returns exactly one row with a boolean, and `None` for any
    /// other result. The precondition `isEventQlQueryTrue` needs `true`.
    ///
    /// # Errors
    /// Fails if the query fails before the result is known.
    pub async fn boolean_result(
        &self,
        log: Arc<dyn EventLog>,
        limits: QueryLimits,
    ) -> Result<Option<bool>, QueryError> {
        let mut rows = self.run(log, limits);
        let Some(first) = rows.next().await.transpose()? else {
            return Ok(None);
        };
        let result = match first.get() {
            "true" => true,
            "false" => false,
            _ => return Ok(None),
        };
        let is_only = rows.next().await.transpose()?.is_none();
        Ok(is_only.then_some(result))
    }
}

impl fmt::Display for EventQlQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.statement.fmt(f)
    }
}
