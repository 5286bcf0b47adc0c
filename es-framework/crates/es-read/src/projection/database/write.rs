//! The transactions that write rows, tables and checkpoints.

use super::{
    super::{
        Table,
        row_changes::{RowChanges, SingleRowChange},
        row_holds::LateFailure,
        table_definition, table_statements,
    },
    Database, DatabaseError, TableCheckpoint,
    dialect::Dialect,
    hold_table,
    rows::{self, name_of},
    search_index_update::SearchIndexUpdate,
    table_checkpoint::SELECT_CHECKPOINT,
};
use es_sql::{Cell, Statement};
use es_subscribe::SubscriberCheckpoint;

/// The statements around rows that are tried and undone.
const BEGIN_TRIAL: &str = "SAVEPOINT es_trial";
const UNDO_TRIAL: [&str; 2] = [
    "ROLLBACK TO SAVEPOINT es_trial",
    "RELEASE SAVEPOINT es_trial",
];

impl Database {
    /// Writes the changes of a table and its checkpoint in one transaction.
    pub(in crate::projection) async fn write_batch(
        &self,
        table: &Table,
        changes: RowChanges,
        to: SubscriberCheckpoint,
    ) -> Result<(), DatabaseError> {
        let mut statements = vec![advance_checkpoint(table, to)];
        statements.extend(self.write_rows(table, changes).await?);
        self.sql.write(statements).await
    }

    /// Finds the rows of a batch that the database refuses, each at the first event at which it does. Nothing is written.
    pub(in crate::projection) async fn find_refusals(
        &self,
        table: &Table,
        changes: RowChanges,
    ) -> Result<Vec<LateFailure>, DatabaseError> {
        let model = table.model;
        let changes = changes.into_single_changes(model.identity, model.columns);
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        for SingleRowChange {
            event,
            id,
            mut change,
        } in changes
        {
            let written = rows::arrange_rows(table, std::mem::take(&mut change.rows));
            let statements = row_statements(&*self.dialect, table, change, written);
            groups.push((id.clone(), statements));
            rows.push((event, id));
        }
        let refused = self.sql.find_refusals(groups).await?.into_iter();
        let failures = refused.filter_map(|(index, error)| {
            let (event, row) = rows.get(index)?.clone();
            let reason = error.to_string();
            Some(LateFailure { event, row, reason })
        });
        Ok(failures.collect())
    }

    /// Returns the statements that write the changes of a table, and those that update its search index.
    async fn write_rows(
        &self,
        table: &Table,
        mut changes: RowChanges,
    ) -> Result<Vec<Statement>, DatabaseError> {
        let tried = rows::arrange_rows(table, std::mem::take(&mut changes.replaced));
        let rows = rows::arrange_rows(table, std::mem::take(&mut changes.rows));
        let index = if self.dialect.writes_search_index(table) {
            SearchIndexUpdate::load(&self.sql, table, &changes, &rows).await?
        } else {
            SearchIndexUpdate::default()
        };
        let mut statements = Vec::new();
        if !tried.is_empty() {
            statements.push(Statement::plain(BEGIN_TRIAL));
            statements.push(self.dialect.try_rows(table, tried));
            statements.extend(UNDO_TRIAL.map(Statement::plain));
        }
        statements.extend(row_statements(&*self.dialect, table, changes, rows));
        statements.extend(index.into_statements(table));
        Ok(statements)
    }

    /// Acquires the right to write, unless another process has it, and creates the missing tables.
    pub(in crate::projection) async fn try_become_writer(&self) -> Result<bool, DatabaseError> {
        let is_acquired = self.sql.try_become_writer().await?;
        if is_acquired && let Err(error) = self.prepare_tables().await {
            // The right may be that of a server that accepts no writes any more.
            self.sql.end_session().await;
            return Err(error);
        }
        Ok(is_acquired)
    }

    /// Creates the missing tables, and those anew whose definition has changed and that have no checkpoint.
    async fn prepare_tables(&self) -> Result<(), DatabaseError> {
        let creations = [self.dialect.create_checkpoints(), hold_table::CREATE_HELD];
        self.sql
            .write(creations.map(Statement::plain).into())
            .await?;
        self.dialect.prepare(&self.sql).await?;
        for table in self.tables.values() {
            let select = Statement::new(SELECT_CHECKPOINT, [name_of(table)]);
            let stored = TableCheckpoint::from_rows(self.sql.read(select).await?);
            if stored
                .as_ref()
                .is_some_and(|stored| stored.is_current(table))
            {
                self.dialect.complete_table(&self.sql, table).await?;
            } else if stored.and_then(|stored| stored.checkpoint).is_none() {
                // A table that has a checkpoint and another definition stays. The processor rebuilds it in a
                // shadow table.
                self.reset_table(table).await?;
            }
        }
        Ok(())
    }

    /// Replaces a table by an empty one without a checkpoint.
    pub(in crate::projection) async fn reset_table(
        &self,
        table: &Table,
    ) -> Result<(), DatabaseError> {
        let names = match self.dialect.select_index_names(table) {
            Some(select) => self.sql.read(select).await?,
            None => Vec::new(),
        };
        let taken: Vec<_> = names
            .into_iter()
            .flatten()
            .filter_map(Cell::into_text)
            .collect();
        let mut statements = self.drop_rows(table);
        let created = self.dialect.create_table(table, &taken);
        statements.extend(created.into_iter().map(Statement::plain));
        statements.push(create_checkpoint(table));
        self.sql.write(statements).await
    }

    /// Drops a table, if it exists, and deletes its checkpoint.
    pub(in crate::projection) async fn drop_table(
        &self,
        table: &Table,
    ) -> Result<(), DatabaseError> {
        let mut statements = self.drop_rows(table);
        let delete = table_statements::DELETE_CHECKPOINT;
        statements.push(Statement::new(delete, [name_of(table)]));
        self.sql.write(statements).await
    }

    fn drop_rows(&self, table: &Table) -> Vec<Statement> {
        let release = Statement::new(hold_table::RELEASE_ALL, [name_of(table)]);
        let dropped = self.dialect.drop_table(table).into_iter();
        [release]
            .into_iter()
            .chain(dropped.map(Statement::plain))
            .collect()
    }

    /// Replaces a table by its shadow table.
    pub(in crate::projection) async fn swap_tables(
        &self,
        table: &Table,
    ) -> Result<(), DatabaseError> {
        let shadow = table.shadow_table();
        let both = [name_of(table), name_of(&shadow)];
        let swapped = self.dialect.swap_tables(table).into_iter();
        let mut statements: Vec<_> = swapped.map(Statement::plain).collect();
        for (delete, replace) in [
            (hold_table::RELEASE_ALL, hold_table::MOVE_HELD),
            (
                table_statements::DELETE_CHECKPOINT,
                table_statements::MOVE_CHECKPOINT,
            ),
        ] {
            statements.push(Statement::new(delete, [name_of(table)]));
            statements.push(Statement::new(replace, both.clone()));
        }
        self.sql.write(statements).await
    }

    /// Checks that a table exists with all that its declaration needs. No row changes.
    pub(super) async fn check_table(&self, table: &Table) -> Result<(), DatabaseError> {
        // A statement that runs sees what another connection has dropped. After it, the other statements fail if a
        // column, the unique index or the search index is missing.
        let mut statements = vec![Statement::plain(rows::check_columns_statement(table))];
        statements.push(self.dialect.upsert(table, Vec::new()));
        statements.extend(self.dialect.check_search_index(table));
        self.sql.try_statements(statements).await
    }

    /// Deletes the checkpoint of a read model but not its rows.
    #[cfg(test)]
    pub(in crate::projection) async fn forget_position(
        &self,
        model: &str,
    ) -> Result<(), DatabaseError> {
        match self.find_table(model) {
            Some(table) => self.sql.write(vec![create_checkpoint(table)]).await,
            None => Ok(()),
        }
    }

    /// Limits the size of a database in SQLite.
    #[cfg(test)]
    pub(in crate::projection) async fn limit_pages(&self, pages: u32) -> Result<(), DatabaseError> {
        let limit = Statement::plain(format!("PRAGMA max_page_count = {pages}"));
        self.sql.read(limit).await.map(drop)
    }
}

/// Returns the statements that write the changes of a table without its search index, given all cells of each row.
fn row_statements(
    dialect: &dyn Dialect,
    table: &Table,
    changes: RowChanges,
    rows: Vec<Vec<Cell>>,
) -> Vec<Statement> {
    let mut statements = Vec::new();
    for id in &changes.released {
        let held = [name_of(table), id.as_str().into()];
        statements.push(Statement::new(hold_table::RELEASE, held));
    }
    for held in &changes.held {
        let cells = hold_table::cells_of_held_key(table, held);
        statements.push(Statement::new(hold_table::HOLD, cells));
    }
    if !changes.removed.is_empty() {
        let keys = changes.removed.into_iter().map(|(_, key)| key);
        statements.push(dialect.delete(table, keys.collect()));
    }
    if !rows.is_empty() {
        statements.push(dialect.upsert(table, rows));
    }
    statements
}

/// Returns the statement that writes the definition of an empty table.
fn create_checkpoint(table: &Table) -> Statement {
    let [position, hash] = SubscriberCheckpoint::to_cells(None);
    let definition = table_definition::new_definition(table).into();
    let cells = [name_of(table), definition, position, hash];
    Statement::new(table_statements::WRITE_CHECKPOINT, cells)
}

/// Returns the statement that advances the checkpoint of a table.
fn advance_checkpoint(table: &Table, to: SubscriberCheckpoint) -> Statement {
    let [position, hash] = SubscriberCheckpoint::to_cells(Some(to));
    let definition = table_definition::definition_hash(table).into();
    let cells = [name_of(table), definition, position, hash];
    Statement::new(table_statements::ADVANCE_CHECKPOINT, cells)
}
