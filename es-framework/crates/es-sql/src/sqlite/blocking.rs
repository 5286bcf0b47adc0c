//! Runs blocking SQLite work outside the threads of the async runtime.

use super::super::DatabaseError;

/// Runs work on a thread that may block.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DatabaseError> + Send + 'static,
) -> Result<T, DatabaseError> {
    es_store::simulation::run_blocking(work)
        .await
        .unwrap_or(Err(DatabaseError::Interrupted))
}
