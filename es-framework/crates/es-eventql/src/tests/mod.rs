//! Tests of the query language from the text of a query to its rows.

mod errors;
mod events;
mod expensive_rows;
mod generate;
mod language;
mod limits;
mod plan;
mod precedence;
mod properties;
mod protocol;
mod reference;

use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::value::RawValue;

use super::{EventQlQuery, QueryError, QueryLimits, execute};
use es_event::EventCandidate;
use es_store::{EventLog, memory::MemoryStore};

/// An event as tests write it: subject, type, data.
type EventParts<'a> = (&'a str, &'a str, &'a str);

fn candidate((subject, event_type, data): EventParts<'_>) -> EventCandidate {
    EventCandidate {
        source: "https://example.io".into(),
        subject: subject.parse().unwrap(),
        event_type: event_type.parse().unwrap(),
        data: RawValue::from_string(data.to_owned()).unwrap(),
        trace: None,
    }
}

async fn source(events: &[EventParts<'_>]) -> Arc<dyn EventLog> {
    let store = MemoryStore::new();
    for event in events {
        store.append(vec![candidate(*event)], vec![]).await.unwrap();
    }
    Arc::new(store)
}

/// Returns a source of events of one subject and type with these data.
async fn data(data: &[&str]) -> Arc<dyn EventLog> {
    let given: Vec<_> = data
        .iter()
        .map(|data| ("/a", "io.example.x", *data))
        .collect();
    source(&given).await
}

/// Returns the rows before the first error, and that error.
async fn answer(
    query: &EventQlQuery,
    source: &Arc<dyn EventLog>,
    uses_hints: bool,
) -> (Vec<String>, Option<QueryError>) {
    let mut rows = execute::run_query(
        query,
        Arc::clone(source),
        QueryLimits::default(),
        uses_hints,
    );
    let mut seen = Vec::new();
    while let Some(row) = rows.next().await {
        match row {
            Ok(row) => seen.push(row.get().to_owned()),
            Err(error) => return (seen, Some(error)),
        }
    }
    (seen, None)
}

async fn rows(query: &str, source: &Arc<dyn EventLog>) -> Vec<String> {
    let (rows, error) = answer(&EventQlQuery::parse(query).unwrap(), source, true).await;
    assert!(error.is_none(), "{query}: {error:?}");
    rows
}

/// Evaluates an expression that does not depend on an event.
async fn value(expr: &str) -> Result<String, QueryError> {
    let query = EventQlQuery::parse(&format!("FROM e IN events PROJECT INTO {expr}"))?;
    let (mut rows, error) = answer(&query, &data(&["{}"]).await, true).await;
    match error {
        Some(error) => Err(error),
        None => Ok(rows.remove(0)),
    }
}
