//! Writes rows, tables and checkpoints on a SQLite connection. The callers open the transaction.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params_from_iter};

use super::{
    super::{
        super::{
            Cell, Table,
            row_changes::{RowChanges, RowVersion, SingleRowChange},
            row_holds::LateFailure,
            search_index, table_definition, table_statements,
        },
        Checkpoint, DatabaseError, TableCheckpoint,
        database_error::is_sqlite_refusal,
        hold_table::{self, HeldRow},
        rows,
    },
    search_index_update::SearchIndexUpdate,
};

/// Writes the changes of a table.
pub(super) fn write_rows(
    connection: &Connection,
    table: &Table,
    changes: RowChanges,
) -> Result<(), rusqlite::Error> {
    write_held_rows(connection, table, &changes)?;
    let mut index = SearchIndexUpdate::new(connection, table)?;
    if !changes.removed.is_empty() {
        let mut delete = connection.prepare_cached(&table_statements::delete_statement(table))?;
        for (_, key) in changes.removed {
            let key = Cell::from(key);
            index.record_deletion(key.clone())?;
            delete.execute([key])?;
        }
    }
    let mut upsert =
        connection.prepare_cached(&table_statements::sqlite_upsert_statement(table))?;
    for RowVersion { row, .. } in changes.rows {
        let cells: Vec<_> = rows::arrange_cells(table, row).collect();
        index.record_write(&cells)?;
        upsert.execute(params_from_iter(cells))?;
    }
    index.apply()
}

/// Writes rows in a savepoint that is undone.
pub(super) fn try_rows(
    transaction: &mut Transaction<'_>,
    table: &Table,
    rows: Vec<RowVersion>,
) -> Result<(), rusqlite::Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let savepoint = transaction.savepoint()?;
    let mut upsert = savepoint.prepare_cached(&table_statements::sqlite_upsert_statement(table))?;
    for RowVersion { row, .. } in rows {
        upsert.execute(params_from_iter(rows::arrange_cells(table, row)))?;
    }
    drop(upsert);
    savepoint.finish()
}

/// Finds the rows that SQLite refuses.
pub(super) fn find_refusals(
    connection: &mut Connection,
    table: &Table,
    changes: RowChanges,
) -> Result<Vec<LateFailure>, rusqlite::Error> {
    let mut transaction = connection.transaction()?;
    let mut refused: Vec<LateFailure> = Vec::new();
    for SingleRowChange { event, id, change } in
        changes.into_single_changes(table.model.identity, table.model.columns)
    {
        if refused.iter().any(|refused| refused.row == id) {
            continue;
        }
        let savepoint = transaction.savepoint()?;
        match write_rows(&savepoint, table, change) {
            Err(error) if is_sqlite_refusal(&error) => refused.push(LateFailure {
                event,
                row: id,
                reason: DatabaseError::from(error).to_string(),
            }),
            written => {
                written?;
                savepoint.commit()?;
            }
        }
    }
    transaction.rollback()?;
    Ok(refused)
}

/// Writes the keys that are held, and deletes those that are held no longer.
fn write_held_rows(
    connection: &Connection,
    table: &Table,
    changes: &RowChanges,
) -> Result<(), rusqlite::Error> {
    for id in &changes.released {
        let mut release = connection.prepare_cached(hold_table::RELEASE)?;
        release.execute((table.name(), id.as_str()))?;
    }
    for held in &changes.held {
        let row = HeldRow::from(held);
        connection
            .prepare_cached(hold_table::HOLD)?
            .execute(rusqlite::params![
                table.name(),
                row.id,
                row.kind,
                row.key,
                row.position,
                row.subject,
                row.event_type,
                row.reason,
                row.events,
                row.first,
                row.last,
            ])?;
    }
    Ok(())
}

/// Loads the keys that a table holds.
pub(super) fn load_held_rows(
    connection: &Connection,
    table: &Table,
) -> Result<Vec<HeldRow>, rusqlite::Error> {
    connection.execute_batch(hold_table::CREATE_HELD)?;
    let mut select = connection.prepare_cached(hold_table::SELECT_HELD)?;
    let rows = select.query_map([table.name()], |row| {
        Ok(HeldRow {
            id: row.get(0)?,
            kind: row.get(1)?,
            key: row.get(2)?,
            position: row.get(3)?,
            subject: row.get(4)?,
            event_type: row.get(5)?,
            reason: row.get(6)?,
            events: row.get(7)?,
            first: row.get(8)?,
            last: row.get(9)?,
        })
    })?;
    rows.collect()
}

/// Creates the missing tables, and those anew whose definition has changed and that have no checkpoint.
pub(super) fn prepare_tables(
    connection: &Connection,
    tables: &[Table],
) -> Result<(), rusqlite::Error> {
    connection.execute_batch(table_statements::CREATE_CHECKPOINTS)?;
    connection.execute_batch(table_statements::CREATE_SKIPPED)?;
    connection.execute_batch(hold_table::CREATE_HELD)?;
    for table in tables {
        let stored = read_checkpoint(connection, table)?;
        // The processor rebuilds a table of another definition in a shadow table.
        if !stored.is_some_and(|stored| stored.is_current(table) || stored.checkpoint.is_some()) {
            reset_table(connection, table)?;
        }
    }
    Ok(())
}

/// Replaces a table by an empty one without a checkpoint.
pub(super) fn reset_table(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    drop_rows(connection, table)?;
    let mut taken = connection.prepare("SELECT name FROM sqlite_schema")?;
    let taken = taken.query_map((), |row| row.get(0))?;
    let taken = taken.collect::<Result<Vec<String>, _>>()?;
    let is_free = |number: &u32| {
        let names = table_statements::index_names(table, *number);
        !names.iter().any(|name| taken.contains(name))
    };
    let number = (1..).find(is_free).unwrap_or(1);
    for statement in table_statements::sqlite_create_table_statements(table, number) {
        connection.execute_batch(&statement)?;
    }
    write_checkpoint(connection, table, None)
}

/// Checks that a table exists with all that its declaration needs.
pub(super) fn check_table(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    // A statement that runs sees what another connection has dropped. After it, a statement is prepared only if its
    // columns and its unique index exist.
    let mut select = connection.prepare(&rows::check_columns_statement(table))?;
    select.exists(())?;
    connection.prepare(&table_statements::sqlite_upsert_statement(table))?;
    if !table.searched.is_empty() {
        let index = search_index::quoted_fts_table_name(table);
        connection.prepare(&format!("SELECT rowid FROM {index}"))?;
    }
    Ok(())
}

fn drop_rows(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    connection.execute(hold_table::RELEASE_ALL, [table.name()])?;
    connection.execute_batch(&table_statements::drop_table_statement(table))?;
    connection.execute_batch(&table_statements::drop_search_index_statement(table))
}

/// Drops a table and its checkpoint.
pub(super) fn drop_table(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    drop_rows(connection, table)?;
    connection
        .prepare_cached(table_statements::DELETE_CHECKPOINT)?
        .execute([table.name()])?;
    Ok(())
}

/// Replaces a table by its shadow table.
pub(super) fn swap_tables(connection: &Connection, table: &Table) -> Result<(), rusqlite::Error> {
    let shadow = table.shadow_table();
    let built = read_checkpoint(connection, &shadow)?.and_then(|stored| stored.checkpoint);
    for statement in table_statements::sqlite_swap_statements(table) {
        connection.execute_batch(&statement)?;
    }
    connection.execute(hold_table::RELEASE_ALL, [table.name()])?;
    connection.execute(hold_table::MOVE_HELD, [table.name(), shadow.name()])?;
    drop_table(connection, &shadow)?;
    write_checkpoint(connection, table, built)
}

/// Reads the definition and the checkpoint of a table.
pub(super) fn read_checkpoint(
    connection: &Connection,
    table: &Table,
) -> Result<Option<TableCheckpoint>, rusqlite::Error> {
    connection
        .prepare_cached(table_statements::READ_CHECKPOINT)?
        .query_row([table.name()], |row| {
            let (definition, position, hash) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(TableCheckpoint::from_columns(definition, position, hash))
        })
        .optional()
}

/// Writes the definition and the checkpoint of a table.
pub(super) fn write_checkpoint(
    connection: &Connection,
    table: &Table,
    checkpoint: Option<Checkpoint>,
) -> Result<(), rusqlite::Error> {
    let (position, hash) = Checkpoint::to_columns(checkpoint);
    connection
        .prepare_cached(table_statements::WRITE_CHECKPOINT)?
        .execute((
            table.name(),
            table_definition::definition_hash(table),
            position,
            hash,
        ))?;
    Ok(())
}
