//! What is read and written over the connection that has the right to write.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

use super::{
    super::{
        super::{Cell, Table, fold::Changes, tables},
        Checkpoint, DatabaseError, rows,
    },
    cells::{bind_column, bind_keys},
};
use crate::event::EventId;

const READ_CHECKPOINT: &str =
    "SELECT definition, position, hash FROM es_checkpoint WHERE model = $1";
const WRITE_CHECKPOINT: &str = "INSERT INTO es_checkpoint (model, definition, position, hash) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (model) DO UPDATE SET \
     definition = excluded.definition, position = excluded.position, hash = excluded.hash";

pub(super) async fn reset(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    let statements = [tables::drop(table)]
        .into_iter()
        .chain(tables::create_on_postgres(table));
    for statement in statements {
        sqlx::query(AssertSqlSafe(statement))
            .execute(&mut *transaction)
            .await?;
    }
    write_checkpoint(&mut transaction, table, None).await?;
    Ok(transaction.commit().await?)
}

pub(super) async fn write(
    connection: &mut PgConnection,
    table: &Table,
    changes: Changes,
    checkpoint: Checkpoint,
) -> Result<(), DatabaseError> {
    let mut transaction = connection.begin().await?;
    if !changes.removed.is_empty() {
        let key = tables::quoted(tables::key_column(table));
        let name = tables::quoted(table.model.name);
        let statement = format!("DELETE FROM {name} WHERE {key} = ANY($1)");
        let query = bind_keys(sqlx::query(AssertSqlSafe(statement)), changes.removed);
        query.execute(&mut *transaction).await?;
    }
    if !changes.rows.is_empty() {
        let columns = rows::written_columns(table);
        let mut cells: Vec<Vec<Cell>> = columns.iter().map(|_| Vec::new()).collect();
        for row in changes.rows {
            for (column, cell) in cells.iter_mut().zip(rows::written(table, row)) {
                column.push(cell);
            }
        }
        let query = sqlx::query(AssertSqlSafe(tables::upsert_on_postgres(table)));
        let query = columns.iter().zip(cells).fold(query, bind_column);
        query.execute(&mut *transaction).await?;
    }
    write_checkpoint(&mut transaction, table, Some(checkpoint)).await?;
    Ok(transaction.commit().await?)
}

pub(super) async fn read_checkpoint(
    connection: &mut PgConnection,
    table: &Table,
) -> Result<(Option<String>, Option<Checkpoint>), DatabaseError> {
    let row = sqlx::query(READ_CHECKPOINT)
        .bind(table.model.name)
        .fetch_optional(connection)
        .await?;
    let Some(row) = row else {
        return Ok((None, None));
    };
    let id = row
        .try_get::<Option<i64>, _>(1)?
        .and_then(|position| u64::try_from(position).ok())
        .and_then(EventId::new);
    let hash = row.try_get::<Option<String>, _>(2)?;
    let hash = hash.and_then(|hash| hash.parse().ok());
    let checkpoint = id.zip(hash).map(|(id, hash)| Checkpoint { id, hash });
    Ok((Some(row.try_get(0)?), checkpoint))
}

async fn write_checkpoint(
    connection: &mut PgConnection,
    table: &Table,
    checkpoint: Option<Checkpoint>,
) -> Result<(), DatabaseError> {
    let position = checkpoint.map(|last| i64::try_from(last.id.get()).unwrap_or(i64::MAX));
    sqlx::query(WRITE_CHECKPOINT)
        .bind(table.model.name)
        .bind(tables::definition(table))
        .bind(position)
        .bind(checkpoint.map(|last| last.hash.to_string()))
        .execute(connection)
        .await?;
    Ok(())
}
