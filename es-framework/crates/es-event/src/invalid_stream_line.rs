//! The error for a stream line that cannot be parsed.

use super::{DATA_CONTENT_TYPE, InvalidTrace, SPEC_VERSION};

/// The error for a line that cannot be parsed.
///
/// ```
/// use es_event::{InvalidStreamLine, StreamLine};
///
/// let unknown = StreamLine::parse(br#"{"type":"weather","payload":{}}"#);
/// assert!(matches!(unknown, Err(InvalidStreamLine::Type(kind)) if kind == "weather"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum InvalidStreamLine {
    /// The line is not JSON, or a member that every event has is missing.
    #[error("a line of the stream is malformed: {0}")]
    Json(#[from] serde_json::Error),
    /// The trace fields do not follow the W3C recommendation.
    #[error("an event of the stream is malformed: {0}")]
    Trace(#[from] InvalidTrace),
    /// This version of the protocol has no line of this type.
    #[error("a line of the stream has the unknown type {0:?}")]
    Type(String),
    /// The event has an unexpected CloudEvents version or media type.
    #[error(
        "an event of the stream has specversion {specversion:?} and datacontenttype {data_content_type:?}, expected {SPEC_VERSION:?} and {DATA_CONTENT_TYPE:?}"
    )]
    Version {
        /// The CloudEvents version of the event.
        specversion: String,
        /// The media type of the event.
        data_content_type: String,
    },
}
