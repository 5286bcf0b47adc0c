//! The identity of a store: a random number in its database. A standby and a restored dump have it, and
//! another database has not.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    database_error::DatabaseError,
    log_head::{commit, roll_back},
};

const READ: &str = "SELECT identity FROM es_store_identity WHERE id = 1";
/// Only one of the instances that start at once creates the table.
const LOCK: &str = "SELECT 1 FROM es_store_version WHERE id = 1 FOR UPDATE";
const CREATE: &str = "CREATE TABLE IF NOT EXISTS es_store_identity (id SMALLINT PRIMARY KEY, identity TEXT NOT NULL)";
const INSERT: &str =
    "INSERT INTO es_store_identity (id, identity) VALUES (1, $1) ON CONFLICT (id) DO NOTHING";

/// Returns the identity of a store, or `None` if the database holds no store or one of an earlier version.
pub(super) async fn read_identity(
    connection: &mut PgConnection,
) -> Result<Option<Uuid>, DatabaseError> {
    let read = sqlx::query_scalar::<_, String>(READ).fetch_optional(connection);
    let identity = match read.await.map_err(DatabaseError::from) {
        Ok(identity) => identity,
        Err(error) if error.is_undefined_table() => None,
        Err(error) => return Err(error),
    };
    let parsed = identity.map(|identity| identity.parse()).transpose();
    parsed.map_err(|error| {
        DatabaseError::damaged_table("es_store_identity", format!("it is broken: {error}"))
    })
}

/// Returns the identity of a store. Chooses one if the store has none.
pub(super) async fn load_or_create_identity(
    connection: &mut PgConnection,
) -> Result<Uuid, DatabaseError> {
    if let Some(identity) = read_identity(connection).await? {
        return Ok(identity);
    }
    let created = create_identity(connection).await;
    if created.is_err() {
        roll_back(connection).await?;
    }
    created?;
    let identity = read_identity(connection).await?;
    identity.ok_or_else(|| DatabaseError::damaged_table("es_store_identity", "it is empty"))
}

async fn create_identity(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    sqlx::query("BEGIN").execute(&mut *connection).await?;
    sqlx::query(LOCK).execute(&mut *connection).await?;
    sqlx::query(CREATE).execute(&mut *connection).await?;
    sqlx::query(INSERT)
        .bind(Uuid::new_v4().to_string())
        .execute(&mut *connection)
        .await?;
    commit(connection).await
}
