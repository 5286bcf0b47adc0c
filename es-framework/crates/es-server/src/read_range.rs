//! The range of a read or an observation. The protocol refuses a range that no event can be in, instead of an empty stream.

use futures_util::StreamExt as _;

use super::{api_error::ApiError, error_code::ErrorCode, state::ServerState};
use axum::http::StatusCode;
use es_store::{Bound, FromLatestEvent, IfEventIsMissing, ReadOptions, options::IdRange};

/// Checks that an event can be between two bounds, now or later. A start at a latest event counts as the first event.
pub(super) fn check_bounds(lower: Option<Bound>, upper: Option<Bound>) -> Result<(), ApiError> {
    if IdRange::from_bounds(lower, upper).is_empty() {
        let text = "invalid options: the bounds leave no room for an event";
        return Err(ApiError::of_code(ErrorCode::RangeUnsatisfiable, text));
    }
    Ok(())
}

/// Checks that a read does not start from a latest event after its upper bound.
pub(super) async fn check_start(
    server: &ServerState,
    options: &ReadOptions,
) -> Result<(), ApiError> {
    let (Some(latest), Some(_)) = (&options.from_latest_event, options.upper_bound) else {
        return Ok(());
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
    if first.is_some_and(|event| event.id.get() > end) {
        let text =
            "state conflict: fromLatestEvent results in an event ID greater than upperBound ID";
        let description = "fromLatestEvent leads to an event after the upper bound";
        return Err(ApiError::new(StatusCode::CONFLICT, text)
            .with_code(ErrorCode::RangeUnsatisfiable, description));
    }
    Ok(())
}
