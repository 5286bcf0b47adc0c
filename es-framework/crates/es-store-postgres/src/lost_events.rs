//! Events that this instance has seen and the log has lost, such as by a failover to a standby without them.

use sqlx::PgConnection;

use super::{
    damage_record, database_error::DatabaseError, log_head, seen_event::SeenEvent,
    store_state::StoreState,
};
use es_store::LogDamage;

impl StoreState {
    /// Closes the log if it lacks the newest event that this instance has seen. All subscriptions end then, because
    /// subscribers compare their checkpoints when they subscribe again.
    pub(super) async fn check_seen(
        &self,
        connection: &mut PgConnection,
    ) -> Result<(), DatabaseError> {
        let Some(seen) = self.newest_seen() else {
            return Ok(());
        };
        if log_head::holds_event(connection, seen).await? {
            return Ok(());
        }
        self.close_after_loss(connection, seen).await
    }

    /// Closes a log that lacks an event which this instance has seen, unless another connection has noticed that.
    pub(super) async fn close_after_loss(
        &self,
        connection: &mut PgConnection,
        seen: SeenEvent,
    ) -> Result<(), DatabaseError> {
        if self.newest_seen().is_none_or(|newest| newest.id < seen.id) {
            return Ok(());
        }
        let flaw = "it was confirmed, and the log has lost it or has another one in its place";
        let damage = LogDamage::of_event(seen.id.get(), flaw);
        damage_record::record_damage(connection, &damage, false).await?;
        self.restart_from(log_head::read_last(connection).await?);
        Ok(())
    }
}
