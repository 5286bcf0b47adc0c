//! The table of the held keys of read models. Its rows commit with the rows of the read model and the checkpoint.

use es_event::{EventId, PoisonEvent};
use es_subscribe::{HeldKey, HeldKeyId, HeldKeyKind, HeldKeys};
use jiff::Timestamp;

use super::{super::Table, Database, DatabaseError};

pub(super) const CREATE_HELD: &str = "CREATE TABLE IF NOT EXISTS es_held \
     (model TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, held_key TEXT NOT NULL, position BIGINT NOT NULL, \
     subject TEXT, event_type TEXT, reason TEXT NOT NULL, events BIGINT NOT NULL, first_time TEXT NOT NULL, \
     last_time TEXT NOT NULL, PRIMARY KEY (model, id))";

pub(super) const HOLD: &str = "INSERT INTO es_held (model, id, kind, held_key, position, subject, event_type, \
     reason, events, first_time, last_time) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
     ON CONFLICT (model, id) DO UPDATE SET kind = excluded.kind, held_key = excluded.held_key, \
     position = excluded.position, subject = excluded.subject, event_type = excluded.event_type, \
     reason = excluded.reason, events = excluded.events, first_time = excluded.first_time, \
     last_time = excluded.last_time";

pub(super) const RELEASE: &str = "DELETE FROM es_held WHERE model = $1 AND id = $2";

pub(super) const RELEASE_ALL: &str = "DELETE FROM es_held WHERE model = $1";

/// Moves the held keys of a shadow table to the table that it replaces.
pub(super) const MOVE_HELD: &str = "UPDATE es_held SET model = $1 WHERE model = $2";

pub(super) const SELECT_HELD: &str = "SELECT id, kind, held_key, position, subject, event_type, reason, events, \
     first_time, last_time FROM es_held WHERE model = $1";

/// A held key as the columns of its table.
#[derive(Debug)]
pub(in crate::projection) struct HeldRow {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) key: String,
    pub(super) position: i64,
    pub(super) subject: Option<String>,
    pub(super) event_type: Option<String>,
    pub(super) reason: String,
    pub(super) events: i64,
    pub(super) first: String,
    pub(super) last: String,
}

impl From<&HeldKey> for HeldRow {
    fn from(held: &HeldKey) -> Self {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let PoisonEvent {
            id,
            subject,
            event_type,
            reason,
        } = &held.poison;
        Self {
            id: held.id.as_str().to_owned(),
            kind: held.kind.name().to_owned(),
            key: held.key.clone(),
            position: number(id.get()),
            subject: subject.as_ref().map(|subject| subject.as_str().to_owned()),
            event_type: event_type.as_ref().map(|name| name.as_str().to_owned()),
            reason: reason.clone(),
            events: number(held.events),
            first: held.first.to_string(),
            last: held.last.to_string(),
        }
    }
}

impl From<HeldRow> for HeldKey {
    /// A key stays held whatever a column contains, because a row that is not marked would be silently old.
    fn from(row: HeldRow) -> Self {
        let number = |number: i64| u64::try_from(number).unwrap_or_default();
        Self {
            id: HeldKeyId::from_text(row.id),
            kind: HeldKeyKind::from_name(&row.kind).unwrap_or(HeldKeyKind::Subject),
            key: row.key,
            poison: PoisonEvent {
                id: EventId::new(number(row.position)).unwrap_or(EventId::FIRST),
                subject: row.subject.and_then(|subject| subject.parse().ok()),
                event_type: row.event_type.and_then(|name| name.parse().ok()),
                reason: row.reason,
            },
            events: number(row.events),
            first: parse_time(&row.first),
            last: parse_time(&row.last),
            next_attempt: None,
        }
    }
}

fn parse_time(text: &str) -> Timestamp {
    text.parse().unwrap_or_default()
}

impl Database {
    /// Loads the keys that a table holds.
    pub(in crate::projection) async fn load_held_keys(
        &self,
        table: &Table,
    ) -> Result<HeldKeys, DatabaseError> {
        let rows = self.store.load_held_rows(table).await?;
        Ok(rows.into_iter().map(HeldKey::from).collect())
    }
}
