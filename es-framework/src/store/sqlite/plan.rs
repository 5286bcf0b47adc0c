//! How the events of a chunk are found: row by row, or by the index on disk and in memory.

use rusqlite::{Connection, Row};

use super::{
    error::DiskError,
    gather::Gather,
    ids::{Ids, one},
    key::Family,
    row::{self, select},
    settings::ChunkLimits,
    tail::Tail,
    types::TypeIds,
};
use crate::store::{
    Order,
    options::IdRange,
    scan::{Chunk, Scan},
};

const ALL_FORTH: &str = select!("WHERE id BETWEEN ?1 AND ?2 ORDER BY id");
const ALL_BACK: &str = select!("WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC");
const ONE: &str = select!("WHERE id = ?1");
const FAMILY: &str = "SELECT event_id FROM subject_index WHERE subject = ?1 \
     UNION ALL \
     SELECT event_id FROM subject_index WHERE subject >= ?2 AND subject < ?3 \
     LIMIT ?4";

/// Where a chunk's events are found.
pub(super) enum Plan {
    /// Among all events.
    Rows,
    /// At these ids.
    Ids(Ids),
    /// At the ids of some types.
    Types(TypeIds),
    /// Below a subject, if those are not too many.
    Family {
        family: Family,
        tail: Vec<u64>,
        indexed: u64,
        /// If they are.
        otherwise: Box<Self>,
    },
}

impl Plan {
    /// How to find a scan's next events, and all that is in memory about them.
    /// `types` has those of the scan that there are, each by its first event.
    pub(super) fn of(scan: &Scan, types: Option<&[u64]>, tail: &Tail, limits: ChunkLimits) -> Self {
        if !scan.recursive {
            let ids = Ids::new(tail, &scan.subject, scan.range, scan.order, limits);
            return Self::Ids(ids);
        }
        let IdRange { first, last } = scan.range;
        let is_short = usize::try_from(last.saturating_sub(first)).is_ok_and(|n| n < limits.rows);
        let family = Family::of(scan.subject.as_str());
        let by_type = |types| TypeIds::new(tail, types, scan.range, scan.order, limits.events);
        let otherwise = types.and_then(by_type).map_or(Self::Rows, Self::Types);
        if is_short || family.is_everything() {
            return otherwise;
        }
        match tail.ids_within(&family, limits.family) {
            None => otherwise,
            Some(ids) => Self::Family {
                family,
                tail: ids,
                indexed: tail.indexed(),
                otherwise: Box::new(otherwise),
            },
        }
    }

    pub(super) fn run<G: Gather>(
        self,
        connection: &Connection,
        scan: &Scan,
        limits: ChunkLimits,
        gather: G,
    ) -> Result<Chunk<G::Events>, DiskError> {
        match self {
            Self::Rows => rows(connection, scan, limits, gather),
            Self::Ids(ids) => {
                let ids = ids.look_up(connection)?;
                let is_cut = ids.len() >= limits.events;
                at(connection, scan, &ids, is_cut, gather)
            }
            Self::Types(ids) => {
                let (ids, is_cut) = ids.look_up(connection)?;
                at(connection, scan, &ids, is_cut, gather)
            }
            Self::Family {
                family,
                tail,
                indexed,
                otherwise,
            } => match within(connection, &family, tail, indexed, limits.family)? {
                None => otherwise.run(connection, scan, limits, gather),
                Some(mut ids) => {
                    ids.retain(|id| (scan.range.first..=scan.range.last).contains(id));
                    ids.sort_unstable();
                    if scan.order == Order::Antichronological {
                        ids.reverse();
                    }
                    at(connection, scan, &ids, false, gather)
                }
            },
        }
    }
}

/// All ids of a subject and of those below it, in no order; `None` if they are too many.
fn within(
    connection: &Connection,
    family: &Family,
    mut ids: Vec<u64>,
    indexed: u64,
    limit: usize,
) -> Result<Option<Vec<u64>>, DiskError> {
    let mut statement = connection.prepare_cached(FAMILY)?;
    let most = row::number(limit.saturating_add(1));
    let bounds = (
        &*family.itself,
        &*family.below_from,
        &*family.below_to,
        most,
    );
    let mut rows = statement.query(bounds)?;
    let mut seen = 0_usize;
    while let Some(row) = rows.next()? {
        let id = row::id(row.get(0)?)?.get();
        seen = seen.saturating_add(1);
        if id < indexed {
            ids.push(id);
        }
    }
    Ok((seen <= limit).then_some(ids))
}

/// The events at these ids, as many as a chunk holds. `is_cut`: there are more ids than these.
fn at<G: Gather>(
    connection: &Connection,
    scan: &Scan,
    ids: &[u64],
    is_cut: bool,
    mut gather: G,
) -> Result<Chunk<G::Events>, DiskError> {
    let mut statement = connection.prepare_cached(ONE)?;
    let wanted = Wanted::of(scan);
    let mut rest = (!ids.is_empty()).then_some(scan.range);
    let mut left = ids.iter();
    for id in left.by_ref() {
        let number = row::number(*id);
        one(&mut statement, number, |row| match wanted.has(row)? {
            true => gather.take(row),
            false => Ok(()),
        })?;
        rest = scan.beyond(row::id(number)?);
        if gather.is_full() {
            break;
        }
    }
    let is_all = left.len() == 0 && !is_cut;
    Ok(Chunk {
        count: gather.count(),
        events: gather.into_events(),
        rest: rest.filter(|_| !is_all),
    })
}

/// What the events of a scan have in common, as rows have it.
struct Wanted<'a> {
    scan: &'a Scan,
    /// For a scan that is recursive: any other finds its events by their subject.
    family: Option<Family>,
}

impl<'a> Wanted<'a> {
    fn of(scan: &'a Scan) -> Self {
        let family = Family::of(scan.subject.as_str());
        let family = (scan.recursive && !family.is_everything()).then_some(family);
        Self { scan, family }
    }

    fn has(&self, row: &Row<'_>) -> Result<bool, DiskError> {
        let is_any = self.scan.event_types.is_empty();
        if !is_any && !self.scan.wants(text(row, 2)?) {
            return Ok(false);
        }
        match &self.family {
            None => Ok(true),
            Some(family) => Ok(family.has(text(row, 1)?)),
        }
    }
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a str, DiskError> {
    let text = row.get_ref(column)?.as_str();
    text.map_err(|error| {
        row.get(0)
            .map_or_else(DiskError::from, |id| row::flawed(id, error))
    })
}

/// The events that match among the next rows.
fn rows<G: Gather>(
    connection: &Connection,
    scan: &Scan,
    limits: ChunkLimits,
    mut gather: G,
) -> Result<Chunk<G::Events>, DiskError> {
    let mut statement = connection.prepare_cached(match scan.order {
        Order::Chronological => ALL_FORTH,
        Order::Antichronological => ALL_BACK,
    })?;
    let wanted = Wanted::of(scan);
    let bounds = (row::number(scan.range.first), row::number(scan.range.last));
    let mut rows = statement.query(bounds)?;
    let mut rest = Some(scan.range);
    for _ in 0..limits.rows {
        let Some(left) = rest.filter(|_| !gather.is_full()) else {
            break;
        };
        let due = row::number(match scan.order {
            Order::Chronological => left.first,
            Order::Antichronological => left.last,
        });
        // Ids have no gaps: a row that is not there was lost.
        let row = rows.next()?.ok_or_else(|| row::flawed(due, "is missing"))?;
        let number: i64 = row.get(0)?;
        if number != due {
            return Err(row::flawed(due, "is missing"));
        }
        if wanted.has(row)? {
            gather.take(row)?;
        }
        rest = scan.beyond(row::id(number)?);
    }
    Ok(Chunk {
        count: gather.count(),
        events: gather.into_events(),
        rest,
    })
}
