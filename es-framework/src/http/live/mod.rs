//! Live queries: the output of a query as server-sent events, sent again whenever it changes.
//! The format is that of the HTML Standard, section "Server-sent events".

mod last_seen;
mod live_queries;
mod output_stream;

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response, Sse},
};
use futures_util::stream;

use super::{Problem, query::QueryRequest};
use last_seen::LastSeenOutput;
use live_queries::EVENT_STREAM;
pub use live_queries::{LiveQueries, LiveQuerySettings};
use output_stream::OutputStream;

/// Keeps nginx from buffering the stream.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Returns true if the caller requests a live query.
pub(super) fn is_requested(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.flat_map(|list| list.split(',')).any(|range| {
        let media_type = range.split(';').next().unwrap_or_default();
        media_type.trim().eq_ignore_ascii_case(EVENT_STREAM)
    })
}

/// Responds with the stream of outputs, the first one at once.
pub(super) async fn respond(request: QueryRequest) -> Result<Response, Problem> {
    let permit = request.surface.live.acquire_permit()?;
    let seen = LastSeenOutput::from_headers(&request.headers)?;
    let outputs = OutputStream::open(request, seen, permit).await?;
    let mut response = Sse::new(stream::unfold(outputs, OutputStream::next)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}
