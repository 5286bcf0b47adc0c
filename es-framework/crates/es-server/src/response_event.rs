//! Events about the API itself, which exist only as responses.

use serde::Serialize;
use serde_json::Value;

use es_event::{DATA_CONTENT_TYPE, EventTime, SPEC_VERSION};

/// A CloudEvent that exists only as a response. It is never stored, so it has no hash and a fixed id.
#[derive(Serialize)]
pub(super) struct ResponseEvent {
    specversion: &'static str,
    id: &'static str,
    time: EventTime,
    source: &'static str,
    subject: &'static str,
    r#type: &'static str,
    datacontenttype: &'static str,
    data: Value,
}

impl ResponseEvent {
    /// Creates the event of a route that was called now.
    pub(super) fn new(route: &'static str, r#type: &'static str, data: Value) -> Self {
        Self {
            specversion: SPEC_VERSION,
            id: "0",
            time: EventTime::now(),
            source: "https://www.eventsourcingdb.io",
            subject: route,
            r#type,
            datacontenttype: DATA_CONTENT_TYPE,
            data,
        }
    }
}
