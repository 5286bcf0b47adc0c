//! A public event as other systems receive it.

use std::sync::Arc;

use es_event::TraceContext;
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::value::RawValue;

/// The media type of one event in structured JSON.
#[cfg(feature = "webhook")]
pub(crate) const MEDIA_TYPE: &str = "application/cloudevents+json";

/// A public event as a CloudEvent 1.0. It serializes as structured JSON.
#[derive(Debug, Clone)]
pub struct CloudEvent {
    /// The id, which is the same in each delivery and unique within the source.
    pub id: String,
    /// The source of the stored event.
    pub source: Arc<str>,
    /// The subject of the stored event. The events of a subject are delivered in their order.
    pub subject: String,
    /// The type of the public event.
    pub event_type: &'static str,
    /// The time at which the stored event was recorded, in RFC 3339.
    pub time: String,
    /// The time at which it happened, if that was before, in RFC 3339.
    pub occurred_at: Option<String>,
    /// The trace that the stored event belongs to.
    pub trace: Option<TraceContext>,
    /// The data, a JSON object.
    pub data: Arc<RawValue>,
}

impl Serialize for CloudEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("specversion", es_event::SPEC_VERSION)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("type", self.event_type)?;
        map.serialize_entry("subject", &self.subject)?;
        map.serialize_entry("time", &self.time)?;
        map.serialize_entry("datacontenttype", es_event::DATA_CONTENT_TYPE)?;
        if let Some(occurred_at) = &self.occurred_at {
            map.serialize_entry("occurredat", occurred_at)?;
        }
        if let Some(trace) = &self.trace {
            map.serialize_entry("traceparent", trace.parent())?;
            if let Some(state) = trace.state() {
                map.serialize_entry("tracestate", state)?;
            }
        }
        map.serialize_entry("data", &self.data)?;
        map.end()
    }
}
