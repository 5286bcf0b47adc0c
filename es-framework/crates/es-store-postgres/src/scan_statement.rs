//! The statements that read one step of a scan. Each follows an index in the order of ids, so its cost
//! depends on the step and not on the size of the store.

use super::row::{COLUMNS, columns};
use es_event::Subject;
use es_store::{Order, scan::Scan};

/// The columns of the end of the log: its last event, or -1 for an empty log. It comes from the same snapshot, so a read
/// ends at the events of its start.
const END: &str =
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL::bigint, COALESCE(h.last, -1)";

/// The column with the end of the log. In a row of an event, it is NULL.
pub(super) const LAST_COLUMN: usize = COLUMNS;
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

    /// Returns the statement. Its parameters are the first id, the last id, the number of events, and
    /// the subject or the types.
    ///
    /// The row of the end of the log comes before those of the events.
    pub(super) fn statement(self, scan: &Scan) -> String {
        let (direction, before) = match scan.order {
            Order::Chronological => ("ASC", -1),
            Order::Antichronological => ("DESC", i64::MAX),
        };
        let step = format!("BETWEEN $1 AND $2 ORDER BY id {direction} LIMIT $3");
        let types = "(SELECT DISTINCT * FROM UNNEST($4::text[])) AS wanted (type)";
        let events = match self {
            Self::Id => format!(
                "{}, NULL::bigint FROM es_events e WHERE id {step}",
                columns!()
            ),
            Self::Subject => format!(
                "{}, NULL::bigint FROM es_events e WHERE subject = $4 AND id {step}",
                columns!()
            ),
            // A row that the index names and that is missing has no columns but the id.
            Self::Subtree => format!(
                "{}, NULL::bigint FROM (SELECT id FROM ( \
                     (SELECT id FROM es_events WHERE subject = $4 AND id {step}) UNION ALL \
                     (SELECT id FROM es_subtrees WHERE ancestor = $4 AND id {step})) AS both_parts \
                 ORDER BY id {direction} LIMIT $3) AS step \
                 LEFT JOIN es_events e ON e.id = step.id ORDER BY step.id {direction}",
                columns!("step.id")
            ),
            Self::Type => format!(
                "{}, NULL::bigint FROM (SELECT found.id FROM {types} CROSS JOIN LATERAL \
                     (SELECT id FROM es_events WHERE type = wanted.type AND id {step}) AS found \
                 ORDER BY id {direction} LIMIT $3) AS step \
                 JOIN es_events e ON e.id = step.id ORDER BY e.id {direction}",
                columns!()
            ),
        };
        format!(
            "SELECT {before}::bigint AS id, {END} FROM es_head h WHERE h.id = 1 \
             UNION ALL (SELECT {events}) ORDER BY id {direction}"
        )
    }
}

/// Returns the text by which the index knows a subject as the root of a subtree; empty for `/`.
pub(super) fn subtree_key(subject: &Subject) -> &str {
    subject.as_str().trim_end_matches('/')
}
