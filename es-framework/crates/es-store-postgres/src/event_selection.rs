//! Reads one step of a scan and checks its rows: each by its checksum, and neighbours by their hashes.

use std::collections::HashSet;

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::{
    database_error::DatabaseError,
    row,
    scan_statement::{LAST_COLUMN, ScanIndex, subtree_key},
};
use es_event::{EventId, EventType, RecordedEvent, Subject};
use es_store::{
    Order,
    event_row::{StoredRowDecoder, check_neighbours},
    options::IdRange,
    scan::{Chunk, Scan},
};

/// The most events and bytes of one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepLimits {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// The rows of one step.
#[derive(Debug, Default)]
struct StepRows {
    events: Vec<RecordedEvent>,
    /// The number of rows, with those that the scan does not want.
    count: usize,
    /// The last event of the log.
    end: Option<EventId>,
    /// The last row, if there may be more.
    rest_after: Option<EventId>,
}

/// Reads the next events of a scan. Returns the last event of the log as well.
pub(super) async fn read_chunk(
    connection: &mut PgConnection,
    scan: &Scan,
    limits: StepLimits,
) -> Result<(Chunk, Option<EventId>), DatabaseError> {
    let rows = read_rows(connection, scan, limits).await?;
    check_neighbours(&rows.events)?;
    let end = rows.end;
    Ok((rows.into_chunk(scan), end))
}

/// Returns the types or the subject of a scan.
fn keys(index: ScanIndex, scan: &Scan) -> Vec<&str> {
    match index {
        ScanIndex::Id => Vec::new(),
        ScanIndex::Type => scan.event_types.iter().map(EventType::as_str).collect(),
        ScanIndex::Subject => vec![scan.subject.as_str()],
        ScanIndex::Subtree => vec![subtree_key(&scan.subject)],
    }
}

async fn read_rows(
    connection: &mut PgConnection,
    scan: &Scan,
    limits: StepLimits,
) -> Result<StepRows, DatabaseError> {
    let index = ScanIndex::of(scan);
    // A step over a subject reads events of all types, and drops those that are not wanted.
    let drops = index != ScanIndex::Type && !scan.event_types.is_empty();
    let wanted = scan.next_count(limits.events);
    let step = if drops { limits.events } else { wanted };
    let IdRange { first, last } = scan.range;
    let keys = keys(index, scan);
    let query = sqlx::query(AssertSqlSafe(index.statement(scan)))
        .bind(row::number(first))
        .bind(row::number(last))
        .bind(row::number(step));
    let query = match index {
        ScanIndex::Id => query,
        ScanIndex::Type => query.bind(keys),
        ScanIndex::Subject | ScanIndex::Subtree => query.bind(keys.first().copied()),
    };
    let mut found = query.fetch(connection);
    let mut decoder = StoredRowDecoder::default();
    let (mut rows, mut bytes, mut has_end) = (StepRows::default(), 0_usize, false);
    while let Some(row) = found.try_next().await? {
        if rows.count == 0
            && let Some(last) = row.try_get(LAST_COLUMN)?
        {
            rows.end = (last >= 0).then(|| row::to_event_id(last)).transpose()?;
            has_end = true;
            continue;
        }
        if index == ScanIndex::Subtree && row::is_missing(&row)? {
            return Err(DatabaseError::flawed_event(row.try_get(0)?, "is missing"));
        }
        let checked = row::read_checked(&row)?;
        let id = checked.id;
        if rows.end.is_none_or(|end| end < id) {
            let flaw = "comes after the end of the log, so no event store wrote it";
            return Err(DatabaseError::flawed_event(checked.row.id, flaw));
        }
        rows.count = rows.count.saturating_add(1);
        if scan.includes_type(row.try_get(2)?) {
            let event = decoder.decode_row(&checked.row)?;
            if !scan.matches(&event) {
                let subject = &scan.subject;
                let flaw = format!("it lists event {id} below {subject}, where it is not");
                return Err(DatabaseError::damaged_table("es_subtrees", flaw));
            }
            bytes = bytes.saturating_add(event.data.get().len());
            rows.events.push(event);
        }
        if rows.count >= step || rows.events.len() >= wanted || bytes >= limits.bytes {
            rows.rest_after = Some(id);
            break;
        }
    }
    if has_end {
        Ok(rows)
    } else {
        Err(DatabaseError::missing_head())
    }
}

impl StepRows {
    fn into_chunk(self, scan: &Scan) -> Chunk {
        let rest = self.rest_after.and_then(|id| {
            // Without the events that were stored after the read began.
            let IdRange { first, last } = scan.ids_after(id)?;
            let last = last.min(self.end?.get());
            (first <= last).then_some(IdRange { first, last })
        });
        Chunk {
            count: self.events.len(),
            events: self.events,
            rest,
        }
    }
}

/// Returns the error for a step over all events that lacks one.
pub(super) fn missing_event(scan: &Scan, chunk: &Chunk) -> DatabaseError {
    let found: HashSet<u64> = chunk.events.iter().map(|event| event.id.get()).collect();
    let mut ids = scan.range.first..=scan.range.last;
    let missing = match scan.order {
        Order::Chronological => ids.find(|id| !found.contains(id)),
        Order::Antichronological => ids.rfind(|id| !found.contains(id)),
    };
    DatabaseError::flawed_event(row::number(missing.unwrap_or_default()), "is missing")
}

/// Finds the first or the latest event of a subject and type in a range of ids.
pub(super) async fn find_event(
    connection: &mut PgConnection,
    (subject, event_type): (&Subject, &EventType),
    range: IdRange,
    order: Order,
) -> Result<Option<EventId>, DatabaseError> {
    let direction = match order {
        Order::Chronological => "ASC",
        Order::Antichronological => "DESC",
    };
    let statement = format!(
        "SELECT id FROM es_events WHERE subject = $1 AND type = $2 AND id BETWEEN $3 AND $4 \
         ORDER BY id {direction} LIMIT 1"
    );
    let found: Option<i64> = sqlx::query_scalar(AssertSqlSafe(statement))
        .bind(subject.as_str())
        .bind(event_type.as_str())
        .bind(row::number(range.first))
        .bind(row::number(range.last))
        .fetch_optional(&mut *connection)
        .await?;
    // A read that begins with the event checks it.
    found.map(row::to_event_id).transpose()
}
