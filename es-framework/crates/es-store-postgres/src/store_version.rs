//! The version of the tables.

use sqlx::PgConnection;

use super::database_error::DatabaseError;

/// The version of the tables that this program writes. Version 2 adds checksums and the table of subjects, version 3
/// the table of damage.
pub(super) const VERSION: i64 = 3;

pub(super) const CREATE_SUBJECTS: &str = "CREATE TABLE IF NOT EXISTS es_subjects (
        subject TEXT COLLATE \"C\" PRIMARY KEY,
        last BIGINT NOT NULL)";

pub(super) async fn read_version(connection: &mut PgConnection) -> Result<i64, DatabaseError> {
    let version = sqlx::query_scalar("SELECT version FROM es_store_version WHERE id = 1")
        .fetch_optional(connection)
        .await?;
    Ok(version.unwrap_or(0))
}

pub(super) async fn set_version(
    connection: &mut PgConnection,
    version: i64,
) -> Result<(), DatabaseError> {
    sqlx::query("UPDATE es_store_version SET version = $1 WHERE id = 1")
        .bind(version)
        .execute(connection)
        .await?;
    Ok(())
}
