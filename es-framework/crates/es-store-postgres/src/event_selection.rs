//! The statements that read one step of a scan. Each follows an index in the order of ids, so its cost
//! depends on the step and not on the size of the store.

use futures_util::TryStreamExt as _;
use sqlx::{AssertSqlSafe, PgConnection, Row as _};

use super::{
    database_error::DatabaseError,
    row::{self, RowDecoder, columns},
};
use es_event::{EventId, EventType, RecordedEvent, Subject};
use es_store::{
    Order,
    options::IdRange,
    scan::{Chunk, Scan},
};

/// The end of the log in the same snapshot, so that a read ends at the events of its start.
const LAST: &str = "(SELECT last FROM es_head WHERE id = 1)";

/// The most events and bytes of one step.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepLimits {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// The index that a scan follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanIndex {
    /// All events.
    Id,
    /// The events of some types.
    Type,
    /// The events of one subject.
    Subject,
    /// The events of a subject and all below it.
    Subtree,
}

impl ScanIndex {
    fn of(scan: &Scan) -> Self {
        let is_root = subtree_key(&scan.subject).is_empty();
        match (scan.recursive, is_root, scan.event_types.is_empty()) {
            (true, true, true) => Self::Id,
            (true, true, false) => Self::Type,
            (true, false, _) => Self::Subtree,
            (false, _, _) => Self::Subject,
        }
    }

    /// Returns the statement. Its parameters are the first id, the last id, the number of events, and
    /// the subject or the types.
    fn statement(self, order: Order) -> String {
        let direction = match order {
            Order::Chronological => "ASC",
            Order::Antichronological => "DESC",
        };
        let step = format!("BETWEEN $1 AND $2 ORDER BY id {direction} LIMIT $3");
        let start = concat!("SELECT ", columns!());
        match self {
            Self::Id => format!("{start}, {LAST} FROM es_events e WHERE id {step}"),
            Self::Subject => {
                format!("{start}, {LAST} FROM es_events e WHERE subject = $4 AND id {step}")
            }
            Self::Subtree => format!(
                "{start}, {LAST} FROM (SELECT id FROM ( \
                     (SELECT id FROM es_events WHERE subject = $4 AND id {step}) UNION ALL \
                     (SELECT id FROM es_subtrees WHERE ancestor = $4 AND id {step})) AS both_parts \
                 ORDER BY id {direction} LIMIT $3) AS step \
                 JOIN es_events e ON e.id = step.id ORDER BY e.id {direction}"
            ),
            Self::Type => format!(
                "{start}, {LAST} FROM (SELECT found.id FROM \
                     (SELECT DISTINCT * FROM UNNEST($4::text[])) AS wanted (type) CROSS JOIN LATERAL \
                     (SELECT id FROM es_events WHERE type = wanted.type AND id {step}) AS found \
                 ORDER BY id {direction} LIMIT $3) AS step \
                 JOIN es_events e ON e.id = step.id ORDER BY e.id {direction}"
            ),
        }
    }
}

/// Returns the text by which the index knows a subject as the root of a subtree; empty for `/`.
pub(super) fn subtree_key(subject: &Subject) -> &str {
    subject.as_str().trim_end_matches('/')
}

/// Reads the next events of a scan. Returns the last event of the log as well, if the chunk is not empty.
pub(super) async fn read_chunk(
    connection: &mut PgConnection,
    scan: &Scan,
    limits: StepLimits,
) -> Result<(Chunk, Option<EventId>), DatabaseError> {
    let index = ScanIndex::of(scan);
    // A step over a subject reads events of all types, and drops those that are not wanted.
    let drops = index != ScanIndex::Type && !scan.event_types.is_empty();
    let wanted = scan.next_count(limits.events);
    let step = if drops { limits.events } else { wanted };
    let IdRange { first, last } = scan.range;
    let query = sqlx::query(AssertSqlSafe(index.statement(scan.order)))
        .bind(row::number(first))
        .bind(row::number(last))
        .bind(row::number(step));
    let types: Vec<&str> = scan.event_types.iter().map(EventType::as_str).collect();
    let query = match index {
        ScanIndex::Id => query,
        ScanIndex::Type => query.bind(types),
        ScanIndex::Subject => query.bind(scan.subject.as_str()),
        ScanIndex::Subtree => query.bind(subtree_key(&scan.subject)),
    };
    let mut rows = query.fetch(connection);
    let mut decoder = RowDecoder::default();
    let (mut events, mut bytes, mut count) = (Vec::new(), 0_usize, 0_usize);
    let (mut rest, mut end) = (None, None);
    while let Some(row) = rows.try_next().await? {
        let (id, event_type): (i64, &str) = (row.try_get(0)?, row.try_get(2)?);
        if count == 0 {
            end = row.try_get::<Option<i64>, _>(10)?;
        }
        count = count.saturating_add(1);
        if scan.includes_type(event_type) {
            let event: RecordedEvent = decoder.decode_event(&row)?;
            bytes = bytes.saturating_add(event.data.get().len());
            events.push(event);
        }
        if count >= step || events.len() >= wanted || bytes >= limits.bytes {
            rest = rest_after(scan, row::to_event_id(id)?, end);
            break;
        }
    }
    let chunk = Chunk {
        count: events.len(),
        events,
        rest,
    };
    Ok((chunk, end.map(row::to_event_id).transpose()?))
}

/// Returns the ids that are left, without the events that were stored after the read began.
fn rest_after(scan: &Scan, id: EventId, end: Option<i64>) -> Option<IdRange> {
    let rest = scan.ids_after(id)?;
    let last = rest.last.min(u64::try_from(end?).ok()?);
    let first = rest.first;
    (first <= last).then_some(IdRange { first, last })
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
        .fetch_optional(connection)
        .await?;
    found.map(row::to_event_id).transpose()
}
