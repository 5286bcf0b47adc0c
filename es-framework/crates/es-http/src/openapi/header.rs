//! The headers of requests and responses in the OpenAPI document.

use serde_json::{Map, Value, json};

pub(super) const CACHE_CONTROL: &str = "Cache-Control";
pub(super) const ETAG: &str = "ETag";
pub(super) const EVENT_OCCURRED_AT: &str = "Event-Occurred-At";
pub(super) const EVENT_POSITION: &str = "Event-Position";
pub(super) const HELD_ROWS: &str = "Held-Rows";
pub(super) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
pub(super) const IF_MATCH: &str = "If-Match";
pub(super) const IF_NONE_MATCH: &str = "If-None-Match";
pub(super) const LAST_EVENT_ID: &str = "Last-Event-ID";
pub(super) const LOCATION: &str = "Location";
pub(super) const PREFER: &str = "Prefer";
pub(super) const READ_MODEL_STOPPED_AT: &str = "Read-Model-Stopped-At";
pub(super) const RETRY_AFTER: &str = "Retry-After";
pub(super) const WWW_AUTHENTICATE: &str = "WWW-Authenticate";

/// Returns a reference to a response header.
pub(super) fn header_reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

/// Returns the request headers.
pub(super) fn request_headers() -> Value {
    let described = [
        (
            EVENT_OCCURRED_AT,
            "The time at which it happened, if that was before. The events have it beside the time at which they are recorded.",
            // Not `format`: the generator of clients in Python has no times in headers.
            json!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$" }),
        ),
        (
            EVENT_POSITION,
            "Waits until the read model has applied the event with this id, so that clients read their own writes.",
            json!({ "type": "string", "pattern": "^(0|[1-9][0-9]{0,17})$" }),
        ),
        (
            IDEMPOTENCY_KEY,
            "Makes it safe to repeat the command: the service carries out one command with this key and sends the same response to the others.",
            json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!#-~][!-~]*$" }),
        ),
        (
            IF_MATCH,
            "Carries the command out only if its subject has not changed: with the ETag of a command, since that command; with the ETag of a query, since its result.",
            json!({ "type": "string", "pattern": "^(\\*|\"[0-9]+(-[0-9a-f]{32})?\")$" }),
        ),
        (
            IF_NONE_MATCH,
            "Responds with `304` and without a body if the result still has this ETag.",
            json!({ "type": "string" }),
        ),
        (
            LAST_EVENT_ID,
            "With Accept: text/event-stream, the id of the last server-sent event that the caller has.",
            json!({ "type": "string" }),
        ),
        (
            PREFER,
            "The number of seconds to wait for the Event-Position, such as wait=2 (RFC 7240).",
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
pub(super) fn response_headers() -> Value {
    json!({
        CACHE_CONTROL: {
            "description": "Tells caches to ask the service again before they use the response.",
            "schema": { "type": "string" },
        },
        ETAG: {
            "description": "Identifies the version of the result or of the command's subject. A command can send it in If-Match.",
            "schema": { "type": "string", "pattern": "^\"[^\"]*\"$" },
        },
        EVENT_POSITION: {
            "description": "The id of the last event that was written. It is durable.",
            "schema": { "type": "string", "pattern": "^[0-9]+$" },
        },
        HELD_ROWS: {
            "description": "Rows of the query that wait at an event which their read model cannot apply, so that they lack it and later events: a dictionary (RFC 9651) with their number, `total`, and the keys of those in the result, `rows`. Without `rows`, each row may be one of them. Absent if no row waits.",
            "schema": { "type": "string" },
        },
        LOCATION: {
            "description": "The path of the created subject.",
            "schema": { "type": "string", "format": "uri-reference" },
        },
        READ_MODEL_STOPPED_AT: {
            "description": "The event at which a read model of the query has stopped. The result lacks this event and later ones until an operator retries or skips it.",
            "schema": { "type": "string", "pattern": "^[0-9]+$" },
        },
        RETRY_AFTER: {
            "description": "The number of seconds after which the client can try again.",
            "schema": { "type": "integer", "minimum": 0 },
        },
        WWW_AUTHENTICATE: {
            "description": "The required authentication (RFC 6750).",
            "schema": { "type": "string" },
        },
    })
}
