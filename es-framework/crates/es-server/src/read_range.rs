//! The range of a read that starts from the latest event of a type.

use futures_util::StreamExt as _;

use super::state::ServerState;
use es_store::{FromLatestEvent, IfEventIsMissing, ReadOptions, StoreError, options::IdRange};

/// Returns true if a read starts after its upper bound. The protocol has an error for it instead of an
/// empty stream.
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
