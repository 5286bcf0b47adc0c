//! The statement that writes a batch: its events, the subjects above them, new types, and the new end
//! of the log.

use std::collections::HashMap;

use sqlx::PgConnection;

use super::{database_error::DatabaseError, row::hash_bytes};
use es_event::RecordedEvent;
use es_store::{event_row::EventColumns, write::ChainHead};

const INSERT: &str = "WITH \
     new_events AS (INSERT INTO es_events (id, subject, type, source, time, traceparent, tracestate, \
         predecessor_hash, hash, data, checksum) \
         SELECT * FROM UNNEST($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], \
         $6::text[], $7::text[], $8::bytea[], $9::bytea[], $10::text[], $11::bigint[])), \
     new_subtrees AS (INSERT INTO es_subtrees (ancestor, id) \
         SELECT * FROM UNNEST($12::text[], $13::bigint[])), \
     latest_of_subjects AS (INSERT INTO es_subjects (subject, last) \
         SELECT * FROM UNNEST($14::text[], $15::bigint[]) \
         ON CONFLICT (subject) DO UPDATE SET last = excluded.last), \
     new_types AS (INSERT INTO es_event_types (type, first_event) \
         SELECT * FROM UNNEST($16::text[], $17::bigint[]) \
         ON CONFLICT (type) DO UPDATE SET first_event = excluded.first_event \
         WHERE es_event_types.first_event IS NULL) \
     UPDATE es_head SET last = $18, hash = $19, time = $20 WHERE id = 1";

/// The columns of the rows of a batch.
#[derive(Default)]
struct BatchColumns<'a> {
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
    checksums: Vec<i64>,
    ancestors_below_root: Vec<&'a str>,
    ancestor_ids: Vec<i64>,
    latest_of_subjects: HashMap<&'a str, i64>,
    /// The first event of each type in the batch.
    first_of_types: HashMap<&'a str, i64>,
}

impl<'a> BatchColumns<'a> {
    fn push(&mut self, event: &'a RecordedEvent) {
        let columns = EventColumns::from(event);
        let (id, subject) = (columns.id, columns.subject);
        self.checksums.push(columns.checksum());
        self.ids.push(id);
        self.subjects.push(subject);
        self.types.push(columns.event_type);
        self.sources.push(columns.source);
        self.times.push(columns.time);
        self.trace_parents.push(columns.trace_parent);
        self.trace_states.push(columns.trace_state);
        self.predecessors.push(columns.predecessor_hash);
        self.hashes.push(columns.hash);
        self.data.push(columns.data);
        for ancestor in ancestors_below_root(subject) {
            self.ancestors_below_root.push(ancestor);
            self.ancestor_ids.push(id);
        }
        self.latest_of_subjects.insert(subject, id);
        self.first_of_types.entry(columns.event_type).or_insert(id);
    }
}

/// Returns the subjects above one, without the root.
pub(super) fn ancestors_below_root(subject: &str) -> impl Iterator<Item = &str> {
    let slashes = subject.match_indices('/').skip(1);
    slashes.filter_map(|(end, _)| subject.get(..end))
}

/// Inserts events and moves the end of the log to the last of them. The end must be locked.
pub(super) async fn insert_events<'a>(
    connection: &mut PgConnection,
    events: impl Iterator<Item = &'a RecordedEvent>,
    head: &ChainHead,
) -> Result<(), DatabaseError> {
    let mut columns = BatchColumns::default();
    events.for_each(|event| columns.push(event));
    let last = columns.ids.last().copied();
    let (subjects, latest): (Vec<_>, Vec<_>) = columns.latest_of_subjects.into_iter().unzip();
    let (types, first_of_types): (Vec<_>, Vec<_>) = columns.first_of_types.into_iter().unzip();
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
        .bind(columns.checksums)
        .bind(columns.ancestors_below_root)
        .bind(columns.ancestor_ids)
        .bind(subjects)
        .bind(latest)
        .bind(types)
        .bind(first_of_types)
        .bind(last)
        .bind(hash_bytes(&head.predecessor))
        .bind(head.time.to_string())
        .execute(connection)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::ancestors_below_root;

    #[test]
    fn the_root_and_the_subject_itself_are_no_ancestors() {
        let of = |subject| ancestors_below_root(subject).collect::<Vec<_>>();
        assert!(of("/").is_empty() && of("/books").is_empty());
        assert_eq!(of("/books/42"), ["/books"]);
        assert_eq!(of("/a/b/c"), ["/a", "/a/b"]);
        assert_eq!(of("/a/"), ["/a"]);
    }
}
