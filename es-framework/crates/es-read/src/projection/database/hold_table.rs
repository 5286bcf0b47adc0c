//! The table of the held keys of read models. Its rows commit with the rows of the read model and the checkpoint.

use es_event::{EventId, PoisonEvent};
use es_subscribe::{HeldKey, HeldKeyId, HeldKeyKind, HeldKeys};
use jiff::Timestamp;

use super::{
    super::{Cell, Table},
    Database, DatabaseError,
    rows::name_of,
};

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

const SELECT_HELD: &str = "SELECT id, kind, held_key, position, subject, event_type, reason, events, \
     first_time, last_time FROM es_held WHERE model = $1";

/// Returns the columns of a held key, in the order of [`HOLD`].
pub(super) fn cells_of_held_key(table: &Table, held: &HeldKey) -> Vec<Cell> {
    let number = |number: u64| Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let PoisonEvent {
        id,
        subject,
        event_type,
        reason,
    } = &held.poison;
    vec![
        name_of(table),
        held.id.as_str().into(),
        held.kind.name().into(),
        held.key.as_str().into(),
        number(id.get()),
        subject.as_ref().map(|subject| subject.as_str()).into(),
        event_type.as_ref().map(|name| name.as_str()).into(),
        reason.as_str().into(),
        number(held.events),
        held.first.to_string().into(),
        held.last.to_string().into(),
    ]
}

/// Returns the held key that the columns of [`SELECT_HELD`] store.
fn held_key_from_cells(cells: Vec<Cell>) -> Option<HeldKey> {
    let number = |cell: &Cell| u64::try_from(cell.as_integer().unwrap_or_default()).ok();
    let time = |cell: Cell| -> Timestamp {
        let text = cell.into_text().unwrap_or_default();
        text.parse().unwrap_or_default()
    };
    let [
        id,
        kind,
        key,
        position,
        subject,
        event_type,
        reason,
        events,
        first,
        last,
    ] = <[Cell; 10]>::try_from(cells).ok()?;
    Some(HeldKey {
        id: HeldKeyId::from_text(id.into_text()?),
        kind: HeldKeyKind::from_name(&kind.into_text()?).unwrap_or(HeldKeyKind::Subject),
        key: key.into_text()?,
        poison: PoisonEvent {
            id: number(&position)
                .and_then(EventId::new)
                .unwrap_or(EventId::FIRST),
            subject: subject.into_text().and_then(|subject| subject.parse().ok()),
            event_type: event_type.into_text().and_then(|name| name.parse().ok()),
            reason: reason.into_text()?,
        },
        events: number(&events).unwrap_or_default(),
        first: time(first),
        last: time(last),
        next_attempt: None,
    })
}

impl Database {
    /// Loads the keys that a table holds.
    pub(in crate::projection) async fn load_held_keys(
        &self,
        table: &Table,
    ) -> Result<HeldKeys, DatabaseError> {
        // The process that writes may be an older release.
        let rows = self.look_up(SELECT_HELD, vec![name_of(table)]).await?;
        Ok(rows.into_iter().filter_map(held_key_from_cells).collect())
    }
}
