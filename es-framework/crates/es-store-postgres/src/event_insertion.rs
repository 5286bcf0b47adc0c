//! The statement that writes a batch: its events, the subjects above them, new types, and the new end
//! of the log.

use sqlx::PgConnection;

use super::{
    database_error::DatabaseError,
    row::{hash_bytes, number},
};
use es_event::{EventId, EventType, RecordedEvent, TraceContext};
use es_store::write::ChainHead;

const INSERT: &str = "WITH \
     new_events AS (INSERT INTO es_events (id, subject, type, source, time, traceparent, tracestate, \
         predecessor_hash, hash, data) \
         SELECT * FROM UNNEST($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], \
         $6::text[], $7::text[], $8::bytea[], $9::bytea[], $10::text[])), \
     new_subtrees AS (INSERT INTO es_subtrees (ancestor, id) \
         SELECT * FROM UNNEST($11::text[], $12::bigint[])), \
     new_types AS (INSERT INTO es_event_types (type, first_event) \
         SELECT * FROM UNNEST($13::text[], $14::bigint[]) \
         ON CONFLICT (type) DO UPDATE SET first_event = excluded.first_event \
         WHERE es_event_types.first_event IS NULL) \
     UPDATE es_head SET last = $15, hash = $16, time = $17 WHERE id = 1";

/// The columns of the rows of a batch.
#[derive(Default)]
struct EventColumns<'a> {
    ids: Vec<i64>,
    subjects: Vec<&'a str>,
    types: Vec<&'a str>,
    sources: Vec<&'a str>,
    times: Vec<&'a str>,
    trace_parents: Vec<Option<&'a str>>,
    trace_states: Vec<Option<&'a str>>,
    predecessors: Vec<Vec<u8>>,
    hashes: Vec<Vec<u8>>,
    data: Vec<&'a str>,
    ancestors: Vec<&'a str>,
    ancestor_ids: Vec<i64>,
}

impl<'a> EventColumns<'a> {
    fn push(&mut self, event: &'a RecordedEvent) {
        let (id, subject) = (number(event.id.get()), event.subject.as_str());
        let trace = event.trace.as_ref();
        self.ids.push(id);
        self.subjects.push(subject);
        self.types.push(event.event_type.as_str());
        self.sources.push(&event.source);
        self.times.push(event.time.as_str());
        self.trace_parents.push(trace.map(TraceContext::parent));
        self.trace_states.push(trace.and_then(TraceContext::state));
        self.predecessors.push(hash_bytes(&event.predecessor_hash));
        self.hashes.push(hash_bytes(&event.hash));
        self.data.push(event.data.get());
        for ancestor in ancestors(subject) {
            self.ancestors.push(ancestor);
            self.ancestor_ids.push(id);
        }
    }
}

/// Returns the subjects above one, without the root.
pub(super) fn ancestors(subject: &str) -> impl Iterator<Item = &str> {
    let slashes = subject.match_indices('/').skip(1);
    slashes.filter_map(|(end, _)| subject.get(..end))
}

/// Inserts events and moves the end of the log to the last of them. The end must be locked.
pub(super) async fn insert_events(
    connection: &mut PgConnection,
    events: impl Iterator<Item = &RecordedEvent>,
    new_types: &[(EventType, EventId)],
    head: &ChainHead,
) -> Result<(), DatabaseError> {
    let mut columns = EventColumns::default();
    events.for_each(|event| columns.push(event));
    let types: Vec<&str> = new_types.iter().map(|(name, _)| name.as_str()).collect();
    let first_events: Vec<i64> = new_types.iter().map(|(_, id)| number(id.get())).collect();
    let last = columns.ids.last().copied();
    sqlx::query(INSERT)
        .bind(columns.ids)
        .bind(columns.subjects)
        .bind(columns.types)
        .bind(columns.sources)
        .bind(columns.times)
        .bind(columns.trace_parents)
        .bind(columns.trace_states)
        .bind(columns.predecessors)
        .bind(columns.hashes)
        .bind(columns.data)
        .bind(columns.ancestors)
        .bind(columns.ancestor_ids)
        .bind(types)
        .bind(first_events)
        .bind(last)
        .bind(hash_bytes(&head.predecessor))
        .bind(head.time.to_string())
        .execute(connection)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::ancestors;

    #[test]
    fn the_root_and_the_subject_itself_are_no_ancestors() {
        let of = |subject| ancestors(subject).collect::<Vec<_>>();
        assert!(of("/").is_empty() && of("/books").is_empty());
        assert_eq!(of("/books/42"), ["/books"]);
        assert_eq!(of("/a/b/c"), ["/a", "/a/b"]);
        assert_eq!(of("/a/"), ["/a"]);
    }
}
