//! Runs the work that schemas describe outside the async threads, a few pieces at a time.

use std::{
    num::NonZeroUsize,
    sync::{Arc, LazyLock},
    thread::available_parallelism,
    time::Duration,
};

use tokio::{sync::Semaphore, time::timeout};

use super::{
    AppendError, SchemaConflict, StoreError, catalogue::EventTypeCatalogue, schema::WorkBudget,
    write::candidate_size,
};
use es_event::EventCandidate;

/// The steps and bytes of a check that is cheaper than handing it to another thread.
const SMALL_STEPS: u64 = 5_000;
const SMALL_BYTES: usize = 64 << 10;
/// The time that a piece of work waits for a thread.
const WAIT: Duration = Duration::from_secs(5);

/// Half of the processors, so that the other requests have the rest.
static THREADS: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, NonZeroUsize::get);
    Semaphore::new(processors.div_ceil(2))
});

/// Runs a piece of work on a thread for blocking work.
///
/// # Errors
/// All threads are busy with other schemas for a long time, or the work failed.
pub async fn run_on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let unavailable = |reason: &str| StoreError::Unavailable {
        address: "of this process".to_owned(),
        reason: reason.to_owned(),
    };
    let Ok(Ok(permit)) = timeout(WAIT, THREADS.acquire()).await else {
        return Err(unavailable("too many schemas are checked at once"));
    };
    let work = move || {
        // Held to the end of the work, also if the caller has gone.
        let _permit = permit;
        work()
    };
    let worked = tokio::task::spawn_blocking(work).await;
    worked.map_err(|error| unavailable(&error.to_string()))
}

/// Checks that candidates follow the schemas of their types, and returns them. Only large checks leave
/// the calling thread.
pub async fn check_candidates(
    catalogue: &Arc<EventTypeCatalogue>,
    candidates: Vec<EventCandidate>,
) -> Result<Vec<EventCandidate>, AppendError> {
    if !catalogue.has_schema_for(&candidates) {
        return Ok(candidates);
    }
    let sizes = candidates.iter().map(candidate_size);
    if sizes.fold(0, usize::saturating_add) <= SMALL_BYTES {
        match catalogue.check_against_schemas_since(
            &candidates,
            0,
            &mut WorkBudget::of(SMALL_STEPS),
        ) {
            Ok(()) => return Ok(candidates),
            Err(SchemaConflict::TooMuchWork) => {}
            Err(conflict) => return Err(conflict.into()),
        }
    }
    let catalogue = Arc::clone(catalogue);
    let check = move || {
        let checked = catalogue.check_against_schemas_since(
            &candidates,
            0,
            &mut WorkBudget::of(WorkBudget::WRITE),
        );
        checked.map(|()| candidates)
    };
    Ok(run_on_blocking_thread(check).await??)
}
