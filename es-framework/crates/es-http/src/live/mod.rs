//! Live queries: the output of a query as server-sent events, sent again whenever it changes.
//! The format is that of the HTML Standard, section "Server-sent events".

mod live_queries;
mod output_stream;

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, header},
    response::{IntoResponse as _, Response, Sse},
};
use futures_util::stream;

use super::{Problem, output_id::OutputId, query::QueryRequest};
use live_queries::EVENT_STREAM;
pub use live_queries::LiveQueries;
#[cfg(test)]
pub(super) use live_queries::LiveQuerySettings;
use output_stream::OutputStream;

const JSON: &str = "application/json";

/// Keeps nginx from buffering the stream.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Returns true if the caller requests a live query: it prefers server-sent events to JSON. Of equal preferences, the
/// first one counts. Generated clients list all media types of the OpenAPI document, JSON first.
pub(super) fn is_requested(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let ranges = accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','));
    let mut preferred = (0.0, "");
    for range in ranges {
        let mut parts = range.split(';');
        let media_type = parts.next().unwrap_or_default().trim();
        let mut types = [EVENT_STREAM, JSON].into_iter();
        let known = types.find(|known| media_type.eq_ignore_ascii_case(known));
        let weight = weight(parts);
        // A weight of 0 refuses the media type.
        if let Some(known) = known.filter(|_| weight > preferred.0) {
            preferred = (weight, known);
        }
    }
    preferred.1 == EVENT_STREAM
}

/// Returns the weight of a media range from its parameters (RFC 9110, section 12.4.2).
fn weight<'a>(mut parameters: impl Iterator<Item = &'a str>) -> f32 {
    let weight = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_weight = name.trim().eq_ignore_ascii_case("q");
        is_weight.then(|| value.trim().parse())
    });
    // A weight that is not a number is ignored.
    weight.and_then(Result::ok).unwrap_or(1.0)
}

/// Responds with the stream of outputs, the first one at once.
pub(super) async fn stream_outputs(request: QueryRequest) -> Result<Response, Problem> {
    let permit = request.context.live.try_acquire_permit()?;
    let share = request.caller.try_acquire_live_query()?;
    let seen = OutputId::from_headers(&request.headers)?;
    request.check_parameters()?;
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
        assert!(is_live("application/json;q=0.1, text/event-stream"));
        assert!(is_live("application/json;q=0, text/event-stream;q=0.001"));
        assert!(!is_live("text/event-stream;q=0.1, application/json"));
        for refused in ["q=0", "Q=0.0", " q = 0.000 ", "charset=utf-8;q=0"] {
            let accept = HeaderValue::from_str(&format!("text/event-stream;{refused}"));
            let accept = (header::ACCEPT, accept.unwrap());
            assert!(!is_requested(&HeaderMap::from_iter([accept])), "{refused}");
        }
        assert!(!is_live("*/*"));
        assert!(!is_requested(&HeaderMap::new()));
    }
}
