//! The response to a query: its output with an entity tag, or a problem.

use axum::{
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use es_event::EventId;
use es_read::projection::HeldRows;
use serde_json::value::RawValue;

use super::{
    entity_tag::{EntityTags, MalformedEntityTags},
    output_id::OutputId,
};

/// The response header with the event at which a read model of the query has stopped.
pub(super) const READ_MODEL_STOPPED_AT: HeaderName =
    HeaderName::from_static("read-model-stopped-at");

/// The response header with the held rows of the query.
pub(super) const HELD_ROWS: HeaderName = HeaderName::from_static("held-rows");

/// The output of a query as JSON.
pub(super) struct QueryOutput {
    pub(super) json: Box<RawValue>,
    pub(super) id: OutputId,
    /// The event at which a read model of the query has stopped. The output lacks this event and later ones.
    pub(super) stopped_at: Option<EventId>,
    /// The held rows of the query.
    pub(super) held: HeldRows,
}

/// Adds the header with the held rows of a query. An error can come from one, too: no such row.
pub(super) fn mark_held_rows(response: &mut Response, held: Option<String>) {
    if let Some(value) = held.and_then(|value| HeaderValue::from_str(&value).ok()) {
        response.headers_mut().insert(HELD_ROWS, value);
    }
}

/// Returns `200` with the output, or `304` if the caller has this output already.
pub(super) fn ok_or_not_modified(output: QueryOutput, headers: &HeaderMap) -> Response {
    let QueryOutput {
        json,
        id,
        stopped_at,
        held,
    } = output;
    let held = held.header_value(json.get());
    let mut response = if is_known(&id, headers) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = [(header::CONTENT_TYPE, "application/json")];
        let json = String::from(Box::<str>::from(json));
        (content_type, json).into_response()
    };
    mark_held_rows(&mut response, held);
    let headers = response.headers_mut();
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{id}\"")) {
        headers.insert(header::ETAG, tag);
    }
    if let Some(event) = stopped_at {
        headers.insert(READ_MODEL_STOPPED_AT, HeaderValue::from(event.get()));
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    // The output can change at any time, so that caches have to revalidate it.
    let no_cache = HeaderValue::from_static("no-cache");
    headers.insert(header::CACHE_CONTROL, no_cache);
    response
}

/// Returns true if `If-None-Match` has the tag of this output. Events that did not change the output change only the
/// position in its tag, and then the new tag goes with the `304`.
fn is_known(id: &OutputId, headers: &HeaderMap) -> bool {
    match EntityTags::from_headers(headers, &header::IF_NONE_MATCH) {
        Ok(Some(EntityTags::Any)) => true,
        Ok(Some(EntityTags::List(tags))) => {
            let mut known = tags.iter().filter_map(|tag| OutputId::parse(&tag.opaque));
            known.any(|known| known.digest == id.digest)
        }
        Ok(None) | Err(MalformedEntityTags) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respond(position: u64, if_none_match: &str) -> (StatusCode, String) {
        let json = RawValue::from_string("[]".to_owned()).unwrap();
        let id = OutputId::new(EventId::new(position), &json);
        let tag = HeaderValue::from_str(if_none_match).unwrap();
        let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, tag)]);
        let stopped_at = None;
        let output = QueryOutput {
            json,
            id,
            stopped_at,
            held: HeldRows::default(),
        };
        let response = ok_or_not_modified(output, &headers);
        let tag = response.headers()[header::ETAG].to_str().unwrap();
        (response.status(), tag.to_owned())
    }

    #[test]
    fn who_has_the_output_gets_its_newest_tag() {
        let (status, first) = respond(7, "\"foreign\"");
        assert_eq!(status, StatusCode::OK);
        let (status, second) = respond(9, &format!("\"foreign\", W/{first},"));
        assert_eq!(status, StatusCode::NOT_MODIFIED);
        assert!(second.starts_with("\"9-"), "{second}");
        assert_eq!(respond(9, "*").0, StatusCode::NOT_MODIFIED);
        assert_eq!(respond(9, "malformed").0, StatusCode::OK);
    }
}
