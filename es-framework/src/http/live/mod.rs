//! Live queries: the output of a query as server-sent events, sent again whenever it changes.
//! The format is that of the HTML Standard, section "Server-sent events".

mod live_queries;
mod output_id;
mod output_stream;

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response, Sse},
};
use futures_util::stream;

use super::{Problem, query::QueryRequest};
use live_queries::EVENT_STREAM;
pub use live_queries::{LiveQueries, LiveQuerySettings};
use output_id::OutputId;
use output_stream::OutputStream;

const JSON: &str = "application/json";

/// Keeps nginx from buffering the stream.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Returns true if the caller requests a live query: it accepts server-sent events, and does not name JSON
/// before them. Generated clients list all media types of the OpenAPI document, JSON first.
pub(super) fn is_requested(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let accepted = accepted.filter_map(|value| value.to_str().ok());
    let mut media_types = accepted.flat_map(|list| list.split(',')).map(|range| {
        let media_type = range.split(';').next().unwrap_or_default();
        media_type.trim().to_ascii_lowercase()
    });
    let first = media_types.find(|media_type| [EVENT_STREAM, JSON].contains(&media_type.as_str()));
    first.is_some_and(|media_type| media_type == EVENT_STREAM)
}

/// Responds with the stream of outputs, the first one at once.
pub(super) async fn stream_outputs(request: QueryRequest) -> Result<Response, Problem> {
    let permit = request.context.live.try_acquire_permit()?;
    let share = request.caller.try_acquire_live_query()?;
    let seen = OutputId::from_headers(&request.headers)?;
    let outputs = OutputStream::open(request, seen, [share, permit]).await?;
    let mut response = Sse::new(stream::unfold(outputs, OutputStream::next_output)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_lists_json_before_the_stream_gets_json() {
        let is_live = |accept: &'static str| {
            let accept = (header::ACCEPT, HeaderValue::from_static(accept));
            is_requested(&HeaderMap::from_iter([accept]))
        };
        assert!(is_live("text/event-stream"));
        assert!(is_live("Text/Event-Stream;q=0.9, application/json;q=0.5"));
        assert!(!is_live(
            "application/json, text/event-stream, application/problem+json"
        ));
        assert!(!is_live("*/*"));
        assert!(!is_requested(&HeaderMap::new()));
    }
}
