//! The statements of the connection that writes.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgExecutor, Row as _};

use super::{
    super::{
        super::{
            RowKey, Table,
            row_changes::{RowChanges, TableRow},
            table_definition, table_statements,
        },
        Checkpoint, DatabaseError, TableCheckpoint,
        hold_table::{self, HeldRow},
        rows,
    },
    cells::{bind_column, bind_keys, decode_row},
    changes::{try_rows, write_rows},
};

const READ_CHECKPOINT: &str =
    "SELECT definition, position, hash FROM es_checkpoint WHERE model = $1";
const LOCK_TIMEOUT: &str = "SET LOCAL lock_timeout = '5s'";
const WRITE_CHECKPOINT: &str = "INSERT INTO es_checkpoint (model, definition, position, hash) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (model) DO UPDATE SET \
     definition = excluded.definition, position = excluded.position, hash = excluded.hash";

/// Replaces a table by an empty one without a checkpoint.
pub(super) async fn reset_table(
    connection: &mut PgConnection,
    table: &Table,
    has_trigrams: bool,
) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    run(
        &mut transaction,
        [table_statements::drop_table_statement(table)],
    )
    .await?;
    run(
        &mut transaction,
        table_statements::postgres_create_table_statements(table, has_trigrams),
    )
    .await?;
    write_checkpoint(&mut transaction, table, None).await?;
    release_all(&mut transaction, table).await?;
    Ok(transaction.commit().await?)
}

/// Drops a table and its checkpoint.
pub(super) async fn drop_table(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    run(
        &mut transaction,
        [table_statements::drop_table_statement(table)],
    )
    .await?;
    delete_checkpoint(&mut transaction, table).await?;
    release_all(&mut transaction, table).await?;
    Ok(transaction.commit().await?)
}

/// Replaces a table by its shadow table.
pub(super) async fn swap_tables(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    let shadow = table.shadow_table();
    let built = read_checkpoint(&mut transaction, &shadow).await?;
    // The swap waits for a long query, and all later queries would wait for the swap.
    run(&mut transaction, [LOCK_TIMEOUT.to_owned()]).await?;
    run(
        &mut transaction,
        table_statements::postgres_swap_statements(table),
    )
    .await?;
    delete_checkpoint(&mut transaction, &shadow).await?;
    release_all(&mut transaction, table).await?;
    sqlx::query(hold_table::MOVE_HELD)
        .bind(table.name())
        .bind(shadow.name())
        .execute(&mut *transaction)
        .await?;
    let built = built.and_then(|stored| stored.checkpoint);
    write_checkpoint(&mut transaction, table, built).await?;
    Ok(transaction.commit().await?)
}

/// Executes statements one after the other.
async fn run(
    connection: &mut PgConnection,
    statements: impl IntoIterator<Item = String>,
) -> Result<(), DatabaseError> {
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

async fn delete_checkpoint(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(), DatabaseError> {
    sqlx::query(table_statements::DELETE_CHECKPOINT)
        .bind(table.name())
        .execute(connection)
        .await?;
    Ok(())
}

/// Ends all holds of a table.
async fn release_all(connection: &mut PgConnection, table: &Table) -> Result<(), DatabaseError> {
    sqlx::query(hold_table::RELEASE_ALL)
        .bind(table.name())
        .execute(connection)
        .await?;
    Ok(())
}

/// Lets a read model skip an event from now on.
pub(super) async fn skip_event(
    connection: &mut PgConnection,
    model: &str,
    position: i64,
) -> Result<(), DatabaseError> {
    let skip = sqlx::query(table_statements::SKIP)
        .bind(model)
        .bind(position);
    skip.execute(connection).await?;
    Ok(())
}

/// Ends the skips of a read model from one position to another, both included.
pub(super) async fn end_skips(
    connection: &mut PgConnection,
    model: &str,
    from: i64,
    to: i64,
) -> Result<(), DatabaseError> {
    let end = sqlx::query(table_statements::END_SKIPS);
    end.bind(model)
        .bind(from)
        .bind(to)
        .execute(connection)
        .await?;
    Ok(())
}

/// Checks that a table exists with all that its declaration needs.
pub(super) async fn check_table(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(), DatabaseError> {
    // Both statements fail if a column or the unique index is missing, and neither changes a row.
    let select = rows::check_columns_statement(table);
    run(&mut *connection, [select]).await?;
    let upsert = table_statements::postgres_upsert_statement(table);
    let columns = rows::written_columns(table);
    let query = columns
        .iter()
        .map(|column| (column, Vec::new()))
        .fold(sqlx::query(AssertSqlSafe(upsert)), bind_column);
    query.execute(connection).await?;
    Ok(())
}

/// Loads the positions of the events that a read model skips.
pub(super) async fn load_skipped_positions(
    executor: impl PgExecutor<'_>,
    model: &str,
) -> Result<Vec<i64>, DatabaseError> {
    let skipped = sqlx::query_scalar(table_statements::SKIPPED).bind(model);
    Ok(skipped.fetch_all(executor).await?)
}

/// Loads the rows with these keys.
pub(super) async fn load_rows(
    connection: &mut PgConnection,
    table: &Table,
    keys: Vec<RowKey>,
) -> Result<Vec<TableRow>, DatabaseError> {
    let statement = format!(
        "{} WHERE {}",
        table_statements::select_from_clause(table),
        table_statements::postgres_key_condition(table, &keys)
    );
    let query = bind_keys(sqlx::query(AssertSqlSafe(statement)), table, keys);
    let rows = query.fetch_all(connection).await?;
    rows.iter()
        .map(|row| decode_row(table.model.columns, row))
        .collect()
}

/// Writes the changes of a table and its checkpoint in one transaction.
pub(super) async fn write_batch(
    connection: &mut PgConnection,
    table: &Table,
    mut changes: RowChanges,
    to: Checkpoint,
) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    write_checkpoint(&mut transaction, table, Some(to)).await?;
    try_rows(
        &mut transaction,
        table,
        std::mem::take(&mut changes.replaced),
    )
    .await?;
    write_rows(&mut transaction, table, changes).await?;
    Ok(transaction.commit().await?)
}

/// Loads the keys that a table holds.
pub(super) async fn load_held_rows(
    executor: impl PgExecutor<'_>,
    table: &Table,
) -> Result<Vec<HeldRow>, DatabaseError> {
    let select = sqlx::query(hold_table::SELECT_HELD).bind(table.name());
    let rows = select.fetch_all(executor).await?;
    let rows = rows.iter().map(|row| {
        Ok(HeldRow {
            id: row.try_get(0)?,
            kind: row.try_get(1)?,
            key: row.try_get(2)?,
            position: row.try_get(3)?,
            subject: row.try_get(4)?,
            event_type: row.try_get(5)?,
            reason: row.try_get(6)?,
            events: row.try_get(7)?,
            first: row.try_get(8)?,
            last: row.try_get(9)?,
        })
    });
    rows.collect::<Result<_, sqlx::Error>>()
        .map_err(DatabaseError::from)
}

pub(super) async fn read_checkpoint(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<Option<TableCheckpoint>, DatabaseError> {
    let row = sqlx::query(READ_CHECKPOINT)
        .bind(table.name())
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let (definition, position, hash) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let stored = TableCheckpoint::from_columns(definition, position, hash);
    Ok(Some(stored))
}

async fn write_checkpoint(
    connection: &mut PgConnection,
    table: &Table,
    checkpoint: Option<Checkpoint>,
) -> Result<(), DatabaseError> {
    let (position, hash) = Checkpoint::to_columns(checkpoint);
    sqlx::query(WRITE_CHECKPOINT)
        .bind(table.name())
        .bind(table_definition::definition_hash(table))
        .bind(position)
        .bind(hash)
        .execute(connection)
        .await?;
    Ok(())
}
