//! The id of a query's output: its entity tag, and the id of its server-sent event.

use std::fmt;

use axum::http::{HeaderMap, HeaderName};
use es_event::EventId;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::Problem;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The id of an output. The text form is both parts with a `-` between them. Without an event, the text begins with
/// the `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputId {
    /// Each row of the output contains this event and all events before it, as far as they concern it. It can contain later ones.
    pub(super) position: Option<EventId>,
    /// A digest of the output's JSON.
    pub(super) digest: String,
}

impl OutputId {
    /// Returns the id of an output that contains all events up to this position.
    pub(super) fn new(position: Option<EventId>, output: &RawValue) -> Self {
        let hash = Sha256::digest(output.get().as_bytes());
        let digest = es_event::hex(hash.iter().take(16));
        Self { position, digest }
    }

    /// Reads the header `Last-Event-ID`, which a client sends when it reconnects.
    pub(super) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let Some(value) = headers.get(LAST_EVENT_ID) else {
            return Ok(None);
        };
        let seen = value.to_str().ok().and_then(Self::parse);
        seen.map(Some).ok_or_else(|| {
            let detail = "must be the id of an answer to this query: leave it out to begin anew";
            Problem::invalid_header("Last-Event-ID", detail)
        })
    }

    /// Parses the text form. Another spelling of an id, such as `07-…`, is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (position, digest) = text.split_once('-')?;
        let position = match position {
            "" => None,
            number => Some(number.parse().ok()?),
        };
        let digest = digest.to_owned();
        let is_digest = digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = Self { position, digest };
        (is_digest && id.to_string() == text).then_some(id)
    }
}

impl fmt::Display for OutputId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.position {
            position.fmt(f)?;
        }
        write!(f, "-{}", self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn the_digest_follows_the_output() {
        let id = |json: &str| OutputId::new(None, &RawValue::from_string(json.into()).unwrap());
        assert_eq!(id("{}"), id("{}"));
        assert_ne!(id("{}"), id("[]"));
    }

    #[test]
    fn what_was_seen_is_read_as_it_was_written() {
        for position in [None, EventId::new(0), EventId::new(1041)] {
            let digest = DIGEST.to_owned();
            let seen = OutputId { position, digest };
            assert_eq!(OutputId::parse(&seen.to_string()), Some(seen));
        }
    }

    #[test]
    fn what_no_answer_had_as_its_id_is_refused() {
        for text in [
            "",
            "-",
            "7",
            "7-",
            "x-0123456789abcdef0123456789abcdef",
            "7-0123",
            "-7-0",
            "07-0123456789abcdef0123456789abcdef",
            "+7-0123456789abcdef0123456789abcdef",
        ] {
            assert_eq!(OutputId::parse(text), None, "{text}");
        }
        let long = format!("99999999999999999999999-{DIGEST}");
        assert_eq!(OutputId::parse(&long), None);
    }
}
