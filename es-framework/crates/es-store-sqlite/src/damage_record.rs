//! The damage of a log, in memory and in the table of damage. A reader only notes it in memory; the writer makes it durable
//! before its next task.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::{database_error::SqliteError, shared::SharedState};
use es_store::{DamagePlace, DamageSettlement, LogDamage};

const INSERT: &str = "INSERT INTO damage (place, reason, accepted) VALUES (?1, ?2, ?3)";

/// The most damage that is recorded.
const LISTED: usize = 1_000;

/// The damage that is known.
#[derive(Debug, Default)]
pub(super) struct DamageRecord {
    /// The places, each with the reason and whether an operator accepts it.
    known: BTreeMap<String, (LogDamage, bool)>,
    is_durable: bool,
}

impl DamageRecord {
    /// Loads the table.
    pub(super) fn load(connection: &Connection) -> Result<Self, SqliteError> {
        let mut statement = connection.prepare("SELECT place, reason, accepted FROM damage")?;
        let rows = statement.query_map([], |row| {
            let place: String = row.get(0)?;
            let event = place.strip_prefix("event ").and_then(|id| id.parse().ok());
            let table = place.strip_prefix("the table ").unwrap_or(&place);
            let damage = LogDamage {
                place: event
                    .map_or_else(|| DamagePlace::Table(table.to_owned()), DamagePlace::Event),
                reason: row.get(1)?,
            };
            Ok((place, (damage, row.get(2)?)))
        })?;
        Ok(Self {
            known: rows.collect::<rusqlite::Result<_>>()?,
            is_durable: true,
        })
    }

    fn add(&mut self, damage: &LogDamage, is_accepted: bool) {
        let place = damage.place.to_string();
        let was_open = self.unaccepted().is_none();
        let is_full = self.known.len() >= LISTED;
        match self.known.get_mut(&place) {
            Some((_, accepted)) if *accepted || !is_accepted => return,
            Some((_, accepted)) => *accepted = true,
            None if is_full => return,
            None => {
                self.known.insert(place, (damage.clone(), is_accepted));
            }
        }
        if was_open && !is_accepted {
            damage.log_closing();
        }
        self.is_durable = false;
    }

    /// Returns damage that no operator accepts.
    fn unaccepted(&self) -> Option<&LogDamage> {
        let mut known = self.known.values();
        known
            .find(|(_, accepted)| !accepted)
            .map(|(damage, _)| damage)
    }

    fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.is_durable {
            return Ok(());
        }
        let transaction = connection.unchecked_transaction()?;
        transaction.execute("DELETE FROM damage", [])?;
        for (place, (damage, accepted)) in &self.known {
            transaction.execute(INSERT, (place, &damage.reason, accepted))?;
        }
        transaction.commit()?;
        self.is_durable = true;
        Ok(())
    }
}

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
