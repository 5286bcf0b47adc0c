//! The damage of a log, in memory and in the table of damage. A reader only notes it in memory; the writer makes it durable
//! before its next task.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::database_error::SqliteError;
use es_store::{DamagePlace, LogDamage};

const INSERT: &str = "INSERT INTO damage (place, reason, accepted) VALUES (?1, ?2, ?3)";

/// The most damage that is recorded.
const LISTED: usize = 1_000;

/// The damage that is known.
#[derive(Debug, Default)]
pub(super) struct DamageRecord {
    /// The places, each with the reason and whether an operator accepts it.
    pub(super) known: BTreeMap<String, (LogDamage, bool)>,
    pub(super) is_durable: bool,
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

    pub(super) fn add(&mut self, damage: &LogDamage, is_accepted: bool) {
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
    pub(super) fn unaccepted(&self) -> Option<&LogDamage> {
        let mut known = self.known.values();
        known
            .find(|(_, accepted)| !accepted)
            .map(|(damage, _)| damage)
    }

    pub(super) fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
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
