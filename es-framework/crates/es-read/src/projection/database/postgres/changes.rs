//! The statements that write the changes of a batch.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{
    super::{
        super::{
            Cell, RowKey, Table,
            row_changes::{RowChanges, RowVersion, SingleRowChange},
            row_holds::LateFailure,
            table_statements,
        },
        DatabaseError,
        hold_table::{self, HeldRow},
        rows,
    },
    cells::{bind_column, bind_keys},
    connections::with_write_timeout,
};

/// Writes the changes of a table in a transaction of the caller.
pub(super) async fn write_rows(
    connection: &mut PgConnection,
    table: &Table,
    changes: RowChanges,
) -> Result<(), DatabaseError> {
    write_held_rows(connection, table, &changes).await?;
    if !changes.removed.is_empty() {
        let name = table_statements::quote_name(&table.name());
        let removed: Vec<RowKey> = changes.removed.into_iter().map(|(_, key)| key).collect();
        let condition = table_statements::postgres_key_condition(table, &removed);
        let statement = format!("DELETE FROM {name} WHERE {condition}");
        let query = sqlx::query(AssertSqlSafe(statement));
        let query = bind_keys(query, table, removed);
        query.execute(&mut *connection).await?;
    }
    if !changes.rows.is_empty() {
        let statement = table_statements::postgres_upsert_statement(table);
        execute_for_rows(connection, table, statement, changes.rows).await?;
    }
    Ok(())
}

/// Executes a statement whose parameters are the columns of rows, each as an array.
async fn execute_for_rows(
    connection: &mut PgConnection,
    table: &Table,
    statement: String,
    rows: Vec<RowVersion>,
) -> Result<(), DatabaseError> {
    let columns = rows::written_columns(table);
    let mut cells: Vec<Vec<Cell>> = columns.iter().map(|_| Vec::new()).collect();
    for RowVersion { row, .. } in rows {
        for (column, cell) in cells.iter_mut().zip(rows::arrange_cells(table, row)) {
            column.push(cell);
        }
    }
    let query = sqlx::query(AssertSqlSafe(statement));
    let query = columns.iter().zip(cells).fold(query, bind_column);
    query.execute(connection).await?;
    Ok(())
}

/// Writes rows in a savepoint that is undone, all in one statement.
pub(super) async fn try_rows(
    connection: &mut PgConnection,
    table: &Table,
    rows: Vec<RowVersion>,
) -> Result<(), DatabaseError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut savepoint = connection.begin().await?;
    let statement = table_statements::postgres_try_statement(table);
    execute_for_rows(&mut savepoint, table, statement, rows).await?;
    Ok(savepoint.rollback().await?)
}

/// Finds the rows that PostgreSQL refuses.
pub(super) async fn find_refusals(
    connection: &mut PgConnection,
    table: &Table,
    changes: RowChanges,
) -> Result<Vec<LateFailure>, DatabaseError> {
    let mut transaction = connection.begin().await?;
    let mut refused: Vec<LateFailure> = Vec::new();
    for SingleRowChange { event, id, change } in
        changes.into_single_changes(table.model.identity, table.model.columns)
    {
        if refused.iter().any(|refused| refused.row == id) {
            continue;
        }
        let written = async {
            let mut savepoint = transaction.begin().await?;
            write_rows(&mut savepoint, table, change).await?;
            Ok(savepoint.commit().await?)
        };
        match with_write_timeout(written).await {
            Err(error) if error.is_refusal() => refused.push(LateFailure {
                event,
                row: id,
                reason: error.to_string(),
            }),
            written => written?,
        }
    }
    transaction.rollback().await?;
    Ok(refused)
}

/// Writes the keys that are held, and deletes those that are held no longer.
async fn write_held_rows(
    connection: &mut PgConnection,
    table: &Table,
    changes: &RowChanges,
) -> Result<(), DatabaseError> {
    for id in &changes.released {
        let release = sqlx::query(hold_table::RELEASE).bind(table.name());
        release.bind(id.as_str()).execute(&mut *connection).await?;
    }
    for held in &changes.held {
        let row = HeldRow::from(held);
        sqlx::query(hold_table::HOLD)
            .bind(table.name())
            .bind(row.id)
            .bind(row.kind)
            .bind(row.key)
            .bind(row.position)
            .bind(row.subject)
            .bind(row.event_type)
            .bind(row.reason)
            .bind(row.events)
            .bind(row.first)
            .bind(row.last)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
