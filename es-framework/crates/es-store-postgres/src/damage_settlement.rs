//! Reads the recorded damage, and records the outcome of a verification.

use async_trait::async_trait;
use sqlx::PgConnection;

use super::{damage_record::record_damage, database_error::DatabaseError, read_pool::ReadStep};
use es_store::DamageSettlement;

const FORGET: &str = "DELETE FROM es_damage WHERE place = ANY($1)";
const PLACES: &str = "SELECT place FROM es_damage";

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
