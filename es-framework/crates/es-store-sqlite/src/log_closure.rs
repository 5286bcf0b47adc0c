//! Closes the log for writing when somebody finds damage, and opens it again.

use rusqlite::Connection;

use super::{database_error::SqliteError, shared::SharedState};
use es_store::DamageSettlement;

impl SharedState {
    /// Closes the log if an error shows damage.
    pub(super) fn note_damage(&self, error: &SqliteError) {
        if let Some(damage) = error.damage() {
            self.with_damage(|record| record.add(&damage, false));
        }
    }

    /// Makes the known damage durable, and refuses to write to a closed log.
    pub(super) fn check_open(&self, connection: &Connection) -> Result<(), SqliteError> {
        self.with_damage(|record| {
            record.write(connection)?;
            match record.unaccepted() {
                Some(damage) => Err(SqliteError::Closed(damage.clone())),
                None => Ok(()),
            }
        })
    }

    /// Returns true if the log takes no events.
    pub(super) fn is_closed(&self) -> bool {
        self.with_damage(|record| record.unaccepted().is_some())
    }

    pub(super) fn damaged_places(&self) -> Vec<String> {
        self.with_damage(|record| record.known.keys().cloned().collect())
    }

    pub(super) fn settle_damage(&self, settlement: &DamageSettlement) {
        self.with_damage(|record| {
            for damage in &settlement.found {
                record.add(damage, settlement.is_accepted);
            }
            for place in settlement.repaired() {
                record.known.remove(&place);
                record.is_durable = false;
            }
        });
    }
}
