//! The tables of the read models, in which persons are looked for.

use async_trait::async_trait;
use es_personal::{PersonRows, PersonTables};
use uuid::Uuid;

use crate::{
    projection::{Database, ReadModels},
    query::{find_rows_with_text, has_rows_with_text},
};

/// The tables of the read models, in which persons are looked for.
#[derive(Debug)]
pub(super) struct ReadModelTables {
    pub(super) models: ReadModels,
    pub(super) database: Database,
}

#[async_trait]
impl PersonTables for ReadModelTables {
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

    async fn find_text(&self, text: &str) -> Result<Vec<&'static str>, String> {
        let mut found = Vec::new();
        for table in self.models.iter() {
            let is_in = has_rows_with_text(&self.database, table, text).await;
            if is_in.map_err(|error| error.to_string())? {
                found.push(table.model.name);
            }
        }
        Ok(found)
    }

    fn names(&self) -> Vec<&'static str> {
        self.models.iter().map(|table| table.model.name).collect()
    }
}
