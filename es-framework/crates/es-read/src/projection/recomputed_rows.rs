//! Rows that are computed anew in memory, until one transaction writes them.

use std::collections::BTreeMap;

use super::{
    Database, DatabaseError, RowKey, Table,
    row_changes::{RowChanges, RowVersion, TableRow},
};
use es_subscribe::{HeldKey, HeldKeyId};

/// Rows that are computed anew in memory, batch after batch.
#[derive(Default)]
pub(super) struct RecomputedRows {
    /// The rows with keys. `None` stands for a row that the events removed.
    keyed: BTreeMap<RowKey, Option<RowVersion>>,
    changes: RowChanges,
}

impl RecomputedRows {
    /// Returns the rows with these keys, as earlier batches left them.
    pub(super) async fn load(
        &self,
        database: &Database,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<TableRow>, DatabaseError> {
        let mut rows = Vec::new();
        let mut stored = Vec::new();
        for key in keys {
            match self.keyed.get(&key) {
                Some(version) => rows.extend(version.clone().map(|version| version.row)),
                None => stored.push(key),
            }
        }
        rows.extend(database.load_rows(table, stored).await?);
        Ok(rows)
    }

    /// Adds the changes of a batch.
    pub(super) fn add(&mut self, table: &Table, changes: RowChanges) {
        for (event, key) in changes.removed {
            self.keyed.insert(key.clone(), None);
            self.changes.removed.push((event, key));
        }
        for mut version in changes.rows {
            let model = &table.model;
            match model.identity.find_key(model.columns, &version.row.cells) {
                Some(key) => {
                    // A row that was not loaded has the place of a new one.
                    if let Some(Some(before)) = self.keyed.get(&key) {
                        version.row.place = before.row.place;
                    }
                    self.keyed.insert(key, Some(version));
                }
                None => self.changes.rows.push(version),
            }
        }
    }

    /// Returns all changes, with the rows that are held after them and those that are held no longer.
    pub(super) fn into_changes(self, held: Vec<HeldKey>, released: Vec<HeldKeyId>) -> RowChanges {
        let Self { keyed, mut changes } = self;
        changes.rows.extend(keyed.into_values().flatten());
        changes
            .rows
            .sort_unstable_by_key(|version| version.row.place);
        RowChanges {
            held,
            released,
            ..changes
        }
    }
}
