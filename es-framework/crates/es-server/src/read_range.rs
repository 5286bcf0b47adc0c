//! The range of a read or an observation. The protocol refuses a range that no event can be in, instead of an empty
//! stream.

use futures_util::StreamExt as _;

use super::state::ServerState;
use es_store::{
    Bound, FromLatestEvent, IfEventIsMissing, ReadOptions, StoreError, options::IdRange,
};

/// The error for bounds between which no event can be, now or later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid options: the bounds leave no room for an event")]
pub(super) struct UnsatisfiableRange;

/// Checks that an event can be between two bounds. A start at a latest event counts as the first event.
pub(super) const fn check_bounds(
    lower: Option<Bound>,
    upper: Option<Bound>,
) -> Result<(), UnsatisfiableRange> {
    if IdRange::from_bounds(lower, upper).is_empty() {
        return Err(UnsatisfiableRange);
    }
    Ok(())
}

/// Returns true if a read starts after its upper bound.
pub(super) async fn starts_after_end(
    server: &ServerState,
    options: &ReadOptions,
) -> Result<bool, StoreError> {
    let (Some(latest), Some(_)) = (&options.from_latest_event, options.upper_bound) else {
        return Ok(false);
    };
    // A read of that subject alone starts with that event.
    let from_latest = ReadOptions {
        from_latest_event: Some(FromLatestEvent {
            if_missing: IfEventIsMissing::Nothing,
            ..latest.clone()
        }),
        ..ReadOptions::default()
    };
    let mut events = server
        .store
        .read(latest.subject.clone(), from_latest.first_only());
    let first = events.next().await.transpose()?;
    let end = IdRange::from_bounds(None, options.upper_bound).last;
    Ok(first.is_some_and(|event| event.id.get() > end))
}
