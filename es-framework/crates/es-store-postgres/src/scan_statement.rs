//! The statements that read one step of a scan. Each follows an index in the order of ids, so its cost
//! depends on the step and not on the size of the store.

use super::row::{COLUMNS, columns};
use es_event::{EventId, Subject};
use es_store::{Order, scan::Scan};

/// The end of the log in the same snapshot, so that a read ends at the events of its start.
const LAST: &str = "(SELECT last FROM es_head WHERE id = 1)";
/// The latest event of the subject, by the list of subjects.
const LATEST: &str = "(SELECT s.last FROM es_subjects s WHERE s.subject = $4)";
/// The same up to the end of the range: that to which the next event links, if there is one.
const LATEST_IN_RANGE: &str = "(SELECT CASE WHEN EXISTS (SELECT 1 FROM es_events n WHERE n.subject = $4 AND n.id > $2) \
     THEN (SELECT n.previous_in_subject FROM es_events n WHERE n.subject = $4 AND n.id > $2 ORDER BY n.id LIMIT 1) \
     ELSE (SELECT s.last FROM es_subjects s WHERE s.subject = $4) END)";

/// The column with the end of the log.
pub(super) const LAST_COLUMN: usize = COLUMNS;
/// The column with the previous event of the subject or type.
pub(super) const LINK_COLUMN: usize = COLUMNS + 1;
/// The column with the latest event of the subject.
pub(super) const LATEST_COLUMN: usize = COLUMNS + 2;
/// The column with the id that the index of subtrees names.
pub(super) const INDEXED_COLUMN: usize = COLUMNS + 3;

/// The index that a scan follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanIndex {
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
    pub(super) fn of(scan: &Scan) -> Self {
        let is_root = subtree_key(&scan.subject).is_empty();
        match (scan.recursive, is_root, scan.event_types.is_empty()) {
            (true, true, true) => Self::Id,
            (true, true, false) => Self::Type,
            (true, false, _) => Self::Subtree,
            (false, _, _) => Self::Subject,
        }
    }

    /// Returns true for the events of one subject, with or without those below it.
    pub(super) const fn has_subject(self) -> bool {
        matches!(self, Self::Subject | Self::Subtree)
    }

    /// Returns the statement. Its parameters are the first id, the last id, the number of events, and
    /// the subject or the types.
    pub(super) fn statement(self, scan: &Scan) -> String {
        let direction = match scan.order {
            Order::Chronological => "ASC",
            Order::Antichronological => "DESC",
        };
        let latest = if scan.range.last >= EventId::MAX {
            LATEST
        } else {
            LATEST_IN_RANGE
        };
        let step = format!("BETWEEN $1 AND $2 ORDER BY id {direction} LIMIT $3");
        let start = concat!("SELECT ", columns!());
        match self {
            Self::Id => format!("{start}, {LAST} FROM es_events e WHERE id {step}"),
            Self::Subject => format!(
                "{start}, {LAST}, e.previous_in_subject, {latest} \
                 FROM es_events e WHERE subject = $4 AND id {step}"
            ),
            // A row that the index names and that is missing has no columns.
            Self::Subtree => format!(
                "{start}, {LAST}, e.previous_in_subject, {latest}, step.id FROM (SELECT id FROM ( \
                     (SELECT id FROM es_events WHERE subject = $4 AND id {step}) UNION ALL \
                     (SELECT id FROM es_subtrees WHERE ancestor = $4 AND id {step})) AS both_parts \
                 ORDER BY id {direction} LIMIT $3) AS step \
                 LEFT JOIN es_events e ON e.id = step.id ORDER BY step.id {direction}"
            ),
            Self::Type => format!(
                "{start}, {LAST}, e.previous_of_type FROM (SELECT found.id FROM \
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
