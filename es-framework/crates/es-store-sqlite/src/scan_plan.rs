//! The plan of a read: all rows in order, or the rows whose ids the index lists.

use rusqlite::{Connection, Row};

use super::{
    chunk_collector::ChunkCollector,
    database_error::SqliteError,
    index::{
        EventIds, IndexKey, IndexLookup, PostingIndex, descendants_key, subject_key, type_key,
    },
    row::{self, row_with_id, select},
};
use es_store::{
    Order,
    options::IdRange,
    scan::{Chunk, Scan},
};

const ALL_FORTH: &str = select!("WHERE id BETWEEN ?1 AND ?2 ORDER BY id");
const ALL_BACK: &str = select!("WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC");
const ONE: &str = select!("WHERE id = ?1");

/// The plan to find the next events of a scan. It holds the index entries that are in memory.
#[derive(Debug)]
pub(super) enum ReadPlan {
    /// Every row in the range belongs to the scan.
    AllRows,
    /// The rows that the index lists.
    Index(IndexLookup),
    /// The rows that the index lists below a subject, or those that it lists for some types.
    SparserOf(IndexLookup, IndexLookup),
}

impl ReadPlan {
    pub(super) fn choose(scan: &Scan, index: &PostingIndex, limit: usize) -> Self {
        let lookup = |keys| index.lookup(keys, scan.range, scan.order, limit);
        let subject = scan.subject.as_str();
        if !scan.recursive {
            return Self::Index(lookup(vec![subject_key(subject)]));
        }
        let base = subject.trim_end_matches('/');
        let subtree =
            (!base.is_empty()).then(|| lookup(vec![subject_key(base), descendants_key(base)]));
        let types = (!scan.event_types.is_empty()).then(|| lookup(type_keys(scan)));
        match (subtree, types) {
            (None, None) => Self::AllRows,
            (Some(one), None) | (None, Some(one)) => Self::Index(one),
            (Some(subtree), Some(types)) => Self::SparserOf(subtree, types),
        }
    }

    /// Reads the next chunk of the scan by this plan.
    pub(super) fn read_chunk<B: ChunkCollector>(
        self,
        connection: &Connection,
        scan: &Scan,
        builder: B,
    ) -> Result<Chunk<B::Output>, SqliteError> {
        let ids = match self {
            Self::AllRows => return read_all_rows(connection, scan, builder),
            Self::Index(lookup) => lookup.read_ids(connection)?,
            Self::SparserOf(one, other) => {
                let (one, other) = (one.read_ids(connection)?, other.read_ids(connection)?);
                sparser(scan.order, one, other)
            }
        };
        read_rows(connection, scan, &ids, builder)
    }
}

fn type_keys(scan: &Scan) -> Vec<IndexKey> {
    let keys = scan.event_types.iter().map(|name| type_key(name.as_str()));
    keys.collect()
}

/// Returns the list of ids that costs fewer reads for the same part of the scan. An event of the scan is
/// in both lists, so the rows of one are enough. A complete list comes before a truncated one, and the
/// shorter of two complete lists before the longer one. Of two truncated lists, the one that ends later in
/// the order of the scan has fewer rows for the same events.
fn sparser(order: Order, one: EventIds, other: EventIds) -> EventIds {
    let is_one = match (one.is_truncated, other.is_truncated) {
        (false, true) => true,
        (true, false) => false,
        (false, false) => one.ids.len() <= other.ids.len(),
        (true, true) => match order {
            Order::Chronological => one.ids.last() >= other.ids.last(),
            Order::Antichronological => one.ids.last() <= other.ids.last(),
        },
    };
    if is_one { one } else { other }
}

/// Reads the rows with these ids that belong to the scan, until the chunk is full.
fn read_rows<B: ChunkCollector>(
    connection: &Connection,
    scan: &Scan,
    found: &EventIds,
    mut builder: B,
) -> Result<Chunk<B::Output>, SqliteError> {
    let mut statement = connection.prepare_cached(ONE)?;
    builder.reserve(found.ids.len());
    let mut rest = (!found.ids.is_empty()).then_some(scan.range);
    let mut left = found.ids.iter();
    for id in left.by_ref() {
        let number = row::number(*id);
        row_with_id(&mut statement, number, |row| {
            if belongs_to(scan, row)? {
                builder.push(row)
            } else {
                // A damaged event must not look like one that does not belong to the scan.
                row::verify_row(row)
            }
        })?;
        rest = scan.ids_after(row::to_event_id(number)?);
        if builder.is_full() {
            break;
        }
    }
    let is_end = left.len() == 0 && !found.is_truncated;
    Ok(Chunk {
        count: builder.len(),
        events: builder.finish(),
        rest: rest.filter(|_| !is_end),
    })
}

/// Returns true if a listed event belongs to a scan. The index also lists the events of other
/// subjects if two keys have the same hash.
fn belongs_to(scan: &Scan, row: &Row<'_>) -> Result<bool, SqliteError> {
    if !scan.event_types.is_empty() && !scan.includes_type(text(row, 2)?) {
        return Ok(false);
    }
    if !scan.recursive {
        return if text(row, 1)? == scan.subject.as_str() {
            Ok(true)
        } else {
            row::verify_row(row)?;
            let flaw = "it lists an event of another subject";
            Err(SqliteError::damaged_table("event_index", flaw))
        };
    }
    let base = scan.subject.as_str().trim_end_matches('/');
    let rest = text(row, 1)?.strip_prefix(base);
    Ok(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, SqliteError> {
    let text = row.get_ref(column)?.as_str();
    text.map_err(|error| {
        row.get(0)
            .map_or_else(SqliteError::from, |id| SqliteError::flawed_event(id, error))
    })
}

/// Reads the next rows until the chunk is full.
fn read_all_rows<B: ChunkCollector>(
    connection: &Connection,
    scan: &Scan,
    mut builder: B,
) -> Result<Chunk<B::Output>, SqliteError> {
    let mut statement = connection.prepare_cached(match scan.order {
        Order::Chronological => ALL_FORTH,
        Order::Antichronological => ALL_BACK,
    })?;
    let IdRange { first, last } = scan.range;
    let count = last.saturating_sub(first).saturating_add(1);
    builder.reserve(usize::try_from(count).unwrap_or(usize::MAX));
    let bounds = (row::number(first), row::number(last));
    let mut rows = statement.query(bounds)?;
    let mut rest = Some(scan.range);
    while let Some(left) = rest.filter(|_| !builder.is_full()) {
        let due = row::number(match scan.order {
            Order::Chronological => left.first,
            Order::Antichronological => left.last,
        });
        // Ids have no gaps, so a row that does not exist was lost.
        let row = rows
            .next()?
            .ok_or_else(|| SqliteError::flawed_event(due, "is missing"))?;
        let number: i64 = row.get(0)?;
        if number != due {
            return Err(SqliteError::flawed_event(due, "is missing"));
        }
        builder.push(row)?;
        rest = scan.ids_after(row::to_event_id(number)?);
    }
    Ok(Chunk {
        count: builder.len(),
        events: builder.finish(),
        rest,
    })
}
