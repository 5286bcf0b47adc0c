//! The table of damage. While it has damage that no operator accepts, the log takes no events from any instance.

use sqlx::PgConnection;

use super::database_error::DatabaseError;
use es_store::LogDamage;

pub(super) const CREATE: &str = "CREATE TABLE IF NOT EXISTS es_damage (
        place TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        accepted BOOLEAN NOT NULL)";

const RECORD: &str = "INSERT INTO es_damage (place, reason, accepted) VALUES ($1, $2, $3) \
     ON CONFLICT (place) DO UPDATE SET accepted = true WHERE excluded.accepted";

/// Records damage, which closes the log. Damage that is known stays as it is, unless an operator accepts it now.
pub(super) async fn record_damage(
    connection: &mut PgConnection,
    damage: &LogDamage,
    is_accepted: bool,
) -> Result<(), DatabaseError> {
    let recorded = sqlx::query(RECORD)
        .bind(damage.place.to_string())
        .bind(&damage.reason)
        .bind(is_accepted)
        .execute(connection)
        .await?;
    if recorded.rows_affected() > 0 && !is_accepted {
        damage.log_closing();
    }
    Ok(())
}
