//! The id of the last output that a client of a live query received.

use std::fmt;

use axum::http::{HeaderMap, HeaderName};

use super::super::Problem;
use crate::event::EventId;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The id of an output: the position of the last event that the output includes, and a digest of its
/// JSON. The text form is both with a `-` between them. Without an event, the text begins with the `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputId {
    pub(super) position: Option<EventId>,
    pub(super) tag: String,
}

impl OutputId {
    /// Reads the header `Last-Event-ID`, which a client sends when it reconnects.
    pub(super) fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let Some(value) = headers.get(LAST_EVENT_ID) else {
            return Ok(None);
        };
        let seen = value.to_str().ok().and_then(Self::parse);
        let seen = seen.ok_or_else(|| {
            let detail = "must be the id of an answer to this query: leave it out to begin anew";
            Problem::invalid_header("Last-Event-ID", detail)
        })?;
        Ok(Some(seen))
    }

    /// Parses the text form.
    fn parse(text: &str) -> Option<Self> {
        let (position, tag) = text.split_once('-')?;
        let position = match position {
            "" => None,
            number => Some(number.parse().ok()?),
        };
        let is_tag = tag.len() == 32 && tag.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_tag.then(|| Self {
            position,
            tag: tag.to_owned(),
        })
    }
}

impl fmt::Display for OutputId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.position {
            position.fmt(f)?;
        }
        write!(f, "-{}", self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn what_was_seen_is_read_as_it_was_written() {
        for position in [None, EventId::new(0), EventId::new(1041)] {
            let tag = TAG.to_owned();
            let seen = OutputId { position, tag };
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
        ] {
            assert_eq!(OutputId::parse(text), None, "{text}");
        }
        let long = format!("99999999999999999999999-{TAG}");
        assert_eq!(OutputId::parse(&long), None);
    }
}
