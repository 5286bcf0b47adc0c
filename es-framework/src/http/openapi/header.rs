//! The headers of requests and responses in the OpenAPI document.

use serde_json::{Map, Value, json};

pub(super) const CACHE_CONTROL: &str = "Cache-Control";
pub(super) const ETAG: &str = "ETag";
pub(super) const EVENT_POSITION: &str = "Event-Position";
pub(super) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
pub(super) const IF_MATCH: &str = "If-Match";
pub(super) const IF_NONE_MATCH: &str = "If-None-Match";
pub(super) const LAST_EVENT_ID: &str = "Last-Event-ID";
pub(super) const LOCATION: &str = "Location";
pub(super) const PREFER: &str = "Prefer";
pub(super) const RETRY_AFTER: &str = "Retry-After";
pub(super) const WWW_AUTHENTICATE: &str = "WWW-Authenticate";

/// Returns a reference to a response header.
pub(super) fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

/// Returns the request headers.
pub(super) fn parameters() -> Value {
    let described = [
        (
            EVENT_POSITION,
            "Waits until the answer has seen the event of this id, so that callers read their own writes.",
            json!({ "type": "string", "pattern": "^(0|[1-9][0-9]{0,17})$" }),
        ),
        (
            IDEMPOTENCY_KEY,
            "Makes it safe to send the command again: of all commands with one key, one is carried out, and the others are answered in the same way.",
            json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!#-~][!-~]*$" }),
        ),
        (
            IF_MATCH,
            "Carries the command out only if this is still the ETag of what it is about.",
            json!({ "type": "string", "pattern": "^(\\*|\"[0-9]+\")$" }),
        ),
        (
            IF_NONE_MATCH,
            "Answers without a body if this is still the ETag.",
            json!({ "type": "string" }),
        ),
        (
            LAST_EVENT_ID,
            "With Accept: text/event-stream, the id of the last server-sent event that the caller has.",
            json!({ "type": "string" }),
        ),
        (
            PREFER,
            "How many seconds to wait for the Event-Position, such as wait=2 (RFC 7240).",
            json!({ "type": "string" }),
        ),
    ];
    let parameter = |(name, description, schema): (&str, &str, Value)| {
        let value = json!({
            "name": name,
            "in": "header",
            "description": description,
            "schema": schema,
        });
        (name.to_owned(), value)
    };
    described
        .into_iter()
        .map(parameter)
        .collect::<Map<_, _>>()
        .into()
}

/// Returns the response headers.
pub(super) fn headers() -> Value {
    json!({
        CACHE_CONTROL: {
            "description": "Says that the answer may be another one at once.",
            "schema": { "type": "string" },
        },
        ETAG: {
            "description": "Changes with what was answered, or was changed.",
            "schema": { "type": "string", "pattern": "^\"[^\"]*\"$" },
        },
        EVENT_POSITION: {
            "description": "The id of the last event that was written. It is durable.",
            "schema": { "type": "string", "pattern": "^[0-9]+$" },
        },
        LOCATION: {
            "description": "What was created.",
            "schema": { "type": "string", "format": "uri-reference" },
        },
        RETRY_AFTER: {
            "description": "After so many seconds the same request may be answered otherwise.",
            "schema": { "type": "integer", "minimum": 0 },
        },
        WWW_AUTHENTICATE: {
            "description": "How to say who calls (RFC 6750).",
            "schema": { "type": "string" },
        },
    })
}
