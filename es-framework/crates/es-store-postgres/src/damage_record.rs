//! The table of damage. While it has damage that no operator accepts, the log takes no events from any instance.

use async_trait::async_trait;
use sqlx::PgConnection;

use super::{database_error::DatabaseError, read_pool::ReadStep};
use es_store::{DamageSettlement, LogDamage};

pub(super) const CREATE: &str = "CREATE TABLE IF NOT EXISTS es_damage (
        place TEXT PRIMARY KEY,
        reason TEXT NOT NULL,
        accepted BOOLEAN NOT NULL)";

const RECORD: &str = "INSERT INTO es_damage (place, reason, accepted) VALUES ($1, $2, $3) \
     ON CONFLICT (place) DO UPDATE SET accepted = true WHERE excluded.accepted";
const FORGET: &str = "DELETE FROM es_damage WHERE place = ANY($1)";
const PLACES: &str = "SELECT place FROM es_damage";

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

/// Reads the places of the recorded damage.
pub(super) struct PlacesReadStep;

#[async_trait]
impl ReadStep for PlacesReadStep {
    type Output = Vec<String>;

    async fn run(&self, connection: &mut PgConnection) -> Result<Self::Output, DatabaseError> {
        Ok(sqlx::query_scalar(PLACES).fetch_all(connection).await?)
    }
}

/// Records the outcome of a verification.
pub(super) struct SettlementStep(pub(super) DamageSettlement);

#[async_trait]
impl ReadStep for SettlementStep {
    type Output = ();

    async fn run(&self, connection: &mut PgConnection) -> Result<(), DatabaseError> {
        for damage in &self.0.found {
            record_damage(connection, damage, self.0.is_accepted).await?;
        }
        let repaired = self.0.repaired();
        // A user who may not delete rows can still verify a log that was whole before.
        if !repaired.is_empty() {
            sqlx::query(FORGET)
                .bind(repaired)
                .execute(connection)
                .await?;
        }
        Ok(())
    }
}
