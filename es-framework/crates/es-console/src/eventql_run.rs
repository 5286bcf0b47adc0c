//! Runs one EventQL query over the events of the store, within limits.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use es_eventql::{EventQlQuery, QueryError};
use futures_util::StreamExt as _;
use serde_json::value::RawValue;

use crate::console::Console;

/// The number of rows that a page shows.
pub(crate) const ROWS: usize = 200;
/// The size of all rows after which no further row is read, in bytes.
pub(crate) const ROWS_SIZE: usize = 4_000_000;

/// The rows of a query, and how it ended.
#[derive(Debug)]
pub(crate) struct EventQlRun {
    pub(crate) rows: Vec<Box<RawValue>>,
    pub(crate) end: EventQlEnd,
    pub(crate) duration: Duration,
}

/// The end of a query.
#[derive(Debug)]
pub(crate) enum EventQlEnd {
    /// All rows are there.
    Complete,
    /// There are more rows than a page shows.
    TooManyRows,
    /// The rows are larger than a page reads.
    TooLarge,
    /// The query is not valid, or failed after the rows.
    Failure(QueryError),
    /// Too many queries run.
    Busy,
}

impl EventQlRun {
    /// Returns the result of a query that did not run because others do.
    pub(crate) const fn busy() -> Self {
        Self {
            rows: Vec::new(),
            end: EventQlEnd::Busy,
            duration: Duration::ZERO,
        }
    }

    /// Runs a query until it ends or has more rows than a page shows. Dropping the future ends the query.
    pub(crate) async fn run_query(console: &Console, query: &str) -> Self {
        let begin = Instant::now();
        let mut rows = Vec::new();
        let end = match EventQlQuery::parse(query) {
            Ok(query) => collect_rows(console, &query, &mut rows).await,
            Err(error) => EventQlEnd::Failure(error),
        };
        Self {
            rows,
            end,
            duration: begin.elapsed(),
        }
    }
}

async fn collect_rows(
    console: &Console,
    query: &EventQlQuery,
    collected: &mut Vec<Box<RawValue>>,
) -> EventQlEnd {
    let mut rows = query.run(Arc::clone(&console.store), console.query_limits);
    let mut size = 0_usize;
    while let Some(row) = rows.next().await {
        let row = match row {
            Ok(row) => row,
            Err(error) => return EventQlEnd::Failure(error),
        };
        if collected.len() >= ROWS {
            return EventQlEnd::TooManyRows;
        }
        if size > ROWS_SIZE {
            return EventQlEnd::TooLarge;
        }
        size = size.saturating_add(row.get().len());
        collected.push(row);
    }
    EventQlEnd::Complete
}
