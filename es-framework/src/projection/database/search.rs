//! Parts of texts: how a statement asks for one, and the index that finds them.

use super::{
    super::{Cell, Table, search},
    Database, DatabaseError, Engine,
};

/// How many rows are counted that the index does not hold: it is looked again and again how many
/// there are.
const MOST_COUNTED: u32 = 1_000_000;

impl Database {
    /// The condition that a text holds a part somewhere, and its parameter.
    pub(crate) fn holds(&self, text: &str, part: &str, has_groups: bool) -> (String, Cell) {
        let (condition, parameter) = match &self.engine {
            Engine::Sqlite(_) => (format!("instr({text}, ?) > 0"), part.to_owned()),
            // PostgreSQL knows how many rows meet such a condition only of those of its index.
            Engine::Postgres(_) if has_groups && search::has_group(part) => {
                (format!("strpos({text}, ?) > 0"), part.to_owned())
            }
            Engine::Postgres(_) => (format!("{text} LIKE ?"), search::anywhere(part)),
        };
        (condition, Cell::Text(parameter))
    }

    /// The condition that a text may hold a part, and its parameter, if the index of a database that
    /// chooses for itself when to use it answers that.
    pub(crate) fn may_hold(&self, text: &str, part: &str) -> Option<(String, Cell)> {
        if !self.chooses_groups() {
            return None;
        }
        let pattern = search::anywhere_in_one_word(part)?;
        let condition = format!("{} LIKE ?", search::as_one_word(text));
        Some((condition, Cell::Text(pattern)))
    }

    /// Whether the database itself chooses when to use the groups.
    pub(crate) const fn chooses_groups(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Whether statements find parts of the table's texts through groups of characters. PostgreSQL
    /// itself finds out.
    pub(crate) async fn has_groups(&self, table: &Table) -> Result<bool, DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.has_groups(table).await,
            Engine::Postgres(_) => Ok(false),
        }
    }

    /// Adds rows to the index that finds parts of texts, and says whether more may follow.
    pub(in super::super) async fn index(&self, table: &Table) -> Result<bool, DatabaseError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.writer.index(table.clone()).await,
            Engine::Postgres(postgres) => postgres.index(table).await.map(|()| false),
        }
    }

    /// How many rows of a read model a search looks at one by one since the index of texts does not
    /// hold them; of a million and more, a million. Nothing if none of its columns is searched.
    pub(crate) async fn unindexed(&self, model: &str) -> Result<Option<u64>, DatabaseError> {
        let table = self.table(model);
        let Some(table) = table.filter(|table| !table.searched.is_empty()) else {
            return Ok(None);
        };
        let rows = match &self.engine {
            Engine::Sqlite(sqlite) if sqlite.has_groups(table).await? => search::newest(table),
            Engine::Postgres(postgres) if postgres.is_indexed(table).await? => return Ok(Some(0)),
            Engine::Sqlite(_) | Engine::Postgres(_) => search::all(table),
        };
        let statement = format!("SELECT count(*) FROM ({rows} LIMIT {MOST_COUNTED}) AS counted");
        self.count(statement, Vec::new()).await.map(Some)
    }
}
