//! The statements that read one step of a scan. Each follows an index in the order of ids, so its cost
//! depends on the step and not on the size of the store.

use super::row::{COLUMNS, columns};
use es_event::{EventId, Subject};
use es_store::{Order, scan::Scan};

/// The columns of the end of the log: its last event, or -1 for an empty log. It comes from the same snapshot, so a read
/// ends at the events of its start.
const END: &str =
    "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL::bigint, COALESCE(h.last, -1)";

/// The column with the end of the log. In a row of an event, it is NULL.
pub(super) const LAST_COLUMN: usize = COLUMNS;
/// The column with the previous event of the subject or type. In a row of the end of the log, it has the latest one
/// of the range.
pub(super) const LINK_COLUMN: usize = COLUMNS + 1;

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
    /// The rows of the end of the log come before those of the events: one, or one for each type.
    pub(super) fn statement(self, scan: &Scan) -> String {
        let (direction, before) = match scan.order {
            Order::Chronological => ("ASC", -1),
            Order::Antichronological => ("DESC", i64::MAX),
        };
        let step = format!("BETWEEN $1 AND $2 ORDER BY id {direction} LIMIT $3");
        let latest = self.latest(scan);
        let types = "(SELECT DISTINCT * FROM UNNEST($4::text[])) AS wanted (type)";
        let keys = match self {
            Self::Type => format!("CROSS JOIN {types}"),
            Self::Id | Self::Subject | Self::Subtree => String::new(),
        };
        let events = match self {
            Self::Id => format!(
                "{}, NULL::bigint, NULL::bigint FROM es_events e WHERE id {step}",
                columns!()
            ),
            Self::Subject => format!(
                "{}, NULL::bigint, e.previous_in_subject FROM es_events e WHERE subject = $4 AND id {step}",
                columns!()
            ),
            // A row that the index names and that is missing has no columns but the id.
            Self::Subtree => format!(
                "{}, NULL::bigint, e.previous_in_subject FROM (SELECT id FROM ( \
                     (SELECT id FROM es_events WHERE subject = $4 AND id {step}) UNION ALL \
                     (SELECT id FROM es_subtrees WHERE ancestor = $4 AND id {step})) AS both_parts \
                 ORDER BY id {direction} LIMIT $3) AS step \
                 LEFT JOIN es_events e ON e.id = step.id ORDER BY step.id {direction}",
                columns!("step.id")
            ),
            Self::Type => format!(
                "{}, NULL::bigint, e.previous_of_type FROM (SELECT found.id FROM {types} CROSS JOIN LATERAL \
                     (SELECT id FROM es_events WHERE type = wanted.type AND id {step}) AS found \
                 ORDER BY id {direction} LIMIT $3) AS step \
                 JOIN es_events e ON e.id = step.id ORDER BY e.id {direction}",
                columns!()
            ),
        };
        format!(
            "SELECT {before}::bigint AS id, {END}, {latest} FROM es_head h {keys} WHERE h.id = 1 \
             UNION ALL (SELECT {events}) ORDER BY id {direction}"
        )
    }

    /// Returns the latest event of the subject or of a type, by the list of them. Up to the end of a range, it is the
    /// one to which the next event links, if there is one.
    fn latest(self, scan: &Scan) -> String {
        let (key, wanted, link, listed) = match self {
            Self::Id => return "NULL::bigint".into(),
            Self::Subject | Self::Subtree => (
                "subject",
                "$4",
                "previous_in_subject",
                "(SELECT s.last FROM es_subjects s WHERE s.subject = $4)",
            ),
            Self::Type => (
                "type",
                "wanted.type",
                "previous_of_type",
                "(SELECT t.last_event FROM es_event_types t WHERE t.type = wanted.type)",
            ),
        };
        if scan.range.last >= EventId::MAX {
            return listed.into();
        }
        let next = format!("FROM es_events n WHERE n.{key} = {wanted} AND n.id > $2");
        format!(
            "CASE WHEN EXISTS (SELECT 1 {next}) THEN (SELECT n.{link} {next} ORDER BY n.id LIMIT 1) \
             ELSE {listed} END"
        )
    }
}

/// Returns the text by which the index knows a subject as the root of a subtree; empty for `/`.
pub(super) fn subtree_key(subject: &Subject) -> &str {
    subject.as_str().trim_end_matches('/')
}
