//! The state that a read model has after an error of its database.

use es_sql::DatabaseError;
use es_subscribe::{SubscriberFailure, TroubleCause};

/// Returns the state that a read model has after an error.
pub(in crate::projection) fn subscriber_failure(error: &DatabaseError) -> SubscriberFailure {
    let cause = match error {
        error if error.is_full() => TroubleCause::Space,
        DatabaseError::Row { .. } => TroubleCause::Rows,
        error if error.is_table_damage() => TroubleCause::Rows,
        _ => TroubleCause::Database,
    };
    SubscriberFailure::new(cause, error.is_transient(), error)
}
