//! The tables of the read models and the snapshots, in which persons are looked for.

use async_trait::async_trait;
use es_personal::{PersonRows, ReadModelSearch};
use uuid::Uuid;

use crate::{
    projection::{Database, ReadModels},
    query::{find_rows_with_text, has_rows_with_text},
    state::StateLoader,
};

/// The tables of the read models and the snapshots, in which persons are looked for.
#[derive(Debug)]
pub(super) struct ReadModelTables {
    pub(super) models: ReadModels,
    pub(super) database: Database,
    pub(super) states: StateLoader,
}

#[async_trait]
impl ReadModelSearch for ReadModelTables {
    async fn find_rows(&self, person: Uuid) -> Result<Vec<PersonRows>, String> {
        let mut found = Vec::new();
        for table in self.models.iter() {
            let rows = find_rows_with_text(&self.database, table, &person.to_string()).await;
            let rows = rows.map_err(|error| error.to_string())?;
            if rows.count > 0 {
                found.push(PersonRows {
                    read_model: table.model.name,
                    count: rows.count,
                    is_complete: rows.rows.len() >= rows.count,
                    rows: Some(rows.rows),
                });
            }
        }
        Ok(found)
    }

    async fn search(&self, texts: &[&str]) -> Vec<(String, Result<bool, String>)> {
        let mut places = Vec::new();
        for table in self.models.iter() {
            let mut is_found = Ok(false);
            for text in texts {
                if is_found == Ok(false) {
                    let found = has_rows_with_text(&self.database, table, text).await;
                    is_found = found.map_err(|error| error.to_string());
                }
            }
            places.push((format!("rows of {}", table.model.name), is_found));
        }
        let texts = texts.iter().map(ToString::to_string).collect();
        let is_found = self.states.has_snapshot_with_text(texts).await;
        places.push(("snapshots".to_owned(), is_found));
        places
    }
}
