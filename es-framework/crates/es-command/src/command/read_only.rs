//! Refusals of the stores of a dry run, which only read.

use futures_util::{StreamExt as _, stream};

use es_event::RecordedEvent;
use es_store::{AppendError, EventStream, StoreError};

/// Refuses to append events.
pub(super) fn refuse_append() -> Result<Vec<RecordedEvent>, AppendError> {
    Err(AppendError::Store(refused("append events")))
}

/// Refuses to observe events.
pub(super) fn refuse_observation() -> EventStream {
    stream::iter([Err(refused("subscribe to events"))]).boxed()
}

fn refused(action: &str) -> StoreError {
    StoreError::Refused(format!("a dry run cannot {action}"))
}
