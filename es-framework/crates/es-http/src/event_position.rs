//! The header `Event-Position`: a query waits until its read models have applied this event, so that
//! callers read their own writes.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use es_event::EventId;
use es_store::newest_id;

use super::{HttpContext, Problem, command::EVENT_POSITION};

const PREFER: HeaderName = HeaderName::from_static("prefer");
/// A read model may lag for this time before the request checks in the event store that the event
/// exists.
const GRACE: Duration = Duration::from_millis(20);
/// The longest wait for that check. Without an answer, the query waits as if the event existed.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);

/// Waits until the read models are rebuilt and have applied the event that the caller names, if any.
pub(super) async fn wait_for_position(
    context: &HttpContext,
    tables: &[&str],
    headers: &HeaderMap,
) -> Result<(), Problem> {
    let header = headers.get(EVENT_POSITION);
    let position = header.map(parse_position).transpose()?;
    let longest = context.limits.position_wait;
    let wait = preferred_wait(headers).map_or(longest, |preferred| preferred.min(longest));
    let grace = wait.min(GRACE);
    let positions = &context.positions;
    if positions
        .wait_until_reached(tables, position, grace)
        .await
        .is_ok()
    {
        return Ok(());
    }
    if let Some(position) = position {
        check_event_exists(context, position).await?;
    }
    let rest = wait.saturating_sub(grace);
    Ok(positions.wait_until_reached(tables, position, rest).await?)
}

/// Returns true if the event store does not have an event that it once had, as after a restored backup.
pub(super) async fn is_lost(context: &HttpContext, tables: &[&str], event: EventId) -> bool {
    let positions = &context.positions;
    let reached = positions.wait_until_reached(tables, Some(event), GRACE);
    reached.await.is_err() && check_event_exists(context, event).await.is_err()
}

/// Refuses to wait for an event that does not exist.
async fn check_event_exists(context: &HttpContext, position: EventId) -> Result<(), Problem> {
    let store = &*context.health.store;
    match tokio::time::timeout(LOOKUP_TIMEOUT, newest_id(store)).await {
        Ok(Ok(newest)) if newest < Some(position) => Err(Problem::no_such_event(position)),
        _ => Ok(()),
    }
}

fn parse_position(value: &HeaderValue) -> Result<EventId, Problem> {
    let id = value.to_str().ok().and_then(|text| text.parse().ok());
    id.ok_or_else(|| {
        let detail = "must be an event id, as a command's answer gives it";
        Problem::invalid_header("Event-Position", detail)
    })
}

/// Returns how long the caller is willing to wait: `Prefer: wait=2` (RFC 7240, section 4.3, in
/// seconds). The RFC says to ignore preferences that are not valid.
fn preferred_wait(headers: &HeaderMap) -> Option<Duration> {
    headers
        .get_all(PREFER)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split([',', ';']))
        .filter_map(|preference| preference.trim().split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("wait"))
        .and_then(|(_, seconds)| seconds.trim().trim_matches('"').parse().ok())
        .map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_says_how_long_it_would_wait() {
        let wait = |value: &'static str| {
            let headers = HeaderMap::from_iter([(PREFER, HeaderValue::from_static(value))]);
            preferred_wait(&headers)
        };
        assert_eq!(wait("wait=2"), Some(Duration::from_secs(2)));
        assert_eq!(wait("respond-async, Wait=0"), Some(Duration::ZERO));
        assert_eq!(wait("wait=soon"), None);
        assert_eq!(wait("return=minimal"), None);
    }
}
