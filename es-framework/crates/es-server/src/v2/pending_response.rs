//! Responses to requests that may take long: they send heartbeats until the outcome is known.

use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use tokio::time::timeout;

use super::error_envelope::ErrorEnvelope;
use crate::{
    api_error::ApiError,
    envelope::{HEARTBEAT_ENVELOPE, write_error},
    ndjson::ndjson_response,
};

/// Closes the connection, which tells the client that the outcome is unknown.
#[derive(Debug, thiserror::Error)]
#[error("the outcome is unknown")]
struct UnknownOutcome;

/// Responds with the lines that the work returns. A failure before the first heartbeat has the status
/// that belongs to it. Later the status is sent already.
pub(super) async fn respond_when_done(
    work: impl Future<Output = Result<Vec<u8>, ApiError>> + Send + 'static,
    heartbeat: Duration,
) -> Result<Response, ErrorEnvelope> {
    let mut work = Box::pin(work);
    if let Ok(outcome) = timeout(heartbeat, &mut work).await {
        let lines = outcome.map(Bytes::from)?;
        return Ok(ndjson_response(stream::iter([Ok::<_, UnknownOutcome>(
            lines,
        )])));
    }
    let first = (Some(work), true);
    let frames = stream::unfold(first, move |(work, is_late)| async move {
        let mut work = work?;
        if !is_late && let Ok(outcome) = timeout(heartbeat, &mut work).await {
            return Some((late_lines(outcome), (None, false)));
        }
        let heartbeat = Bytes::from_static(HEARTBEAT_ENVELOPE);
        Some((Ok(heartbeat), (Some(work), false)))
    });
    Ok(ndjson_response(frames))
}

/// Converts an outcome to the lines that follow a heartbeat.
fn late_lines(outcome: Result<Vec<u8>, ApiError>) -> Result<Bytes, UnknownOutcome> {
    let error = match outcome {
        Ok(lines) => return Ok(lines.into()),
        Err(error) if error.leaves_outcome_unknown() => return Err(UnknownOutcome),
        Err(error) => error,
    };
    let mut line = Vec::new();
    write_error(&error, &mut line);
    Ok(line.into())
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use tokio::time::sleep;

    use super::*;
    use crate::api_error::ApiError;

    const HEARTBEAT: Duration = Duration::from_millis(20);

    async fn body_after(
        time: Duration,
        outcome: Result<Vec<u8>, ApiError>,
    ) -> Result<String, axum::Error> {
        let work = async move {
            sleep(time).await;
            outcome
        };
        let response = respond_when_done(work, HEARTBEAT).await.unwrap();
        let body = to_bytes(response.into_body(), 10_000).await?;
        Ok(String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn heartbeats_come_before_a_late_outcome() {
        let soon = body_after(Duration::ZERO, Ok(b"end\n".to_vec())).await;
        assert_eq!(soon.unwrap(), "end\n");
        let late = body_after(HEARTBEAT * 4, Ok(b"end\n".to_vec()))
            .await
            .unwrap();
        let (heartbeats, end) = late.rsplit_once("}\n").unwrap();
        assert_eq!(end, "end\n");
        assert!(heartbeats.lines().count() >= 2, "{late}");
    }

    #[tokio::test]
    async fn a_late_failure_is_a_line_unless_the_outcome_is_unknown() {
        let unavailable = ApiError::too_many_observers(1);
        let late = body_after(HEARTBEAT * 3, Err(unavailable)).await.unwrap();
        assert!(late.contains("errors/store-failed"), "{late}");
        let unknown = body_after(HEARTBEAT * 3, Err(ApiError::unknown_outcome()));
        assert!(unknown.await.is_err());
    }
}
