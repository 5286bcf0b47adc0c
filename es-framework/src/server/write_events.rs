//! `POST /api/v1/write-events`: writes all the events or none.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::{
    Server, Settings, auth::Authorized, body::Json, conditional_write::Write, error::Failure,
};
use crate::{
    event::{
        Dialect, EventCandidate, EventId, EventType, RecordedEvent, Subject, TraceContext,
        compact_object,
    },
    eventql::EventQlQuery,
    store::Precondition,
};

#[derive(Deserialize)]
pub(super) struct Request {
    events: Vec<WireCandidate>,
    #[serde(default)]
    preconditions: Option<Vec<WirePrecondition>>,
}

#[derive(Deserialize)]
struct WireCandidate {
    source: Arc<str>,
    subject: Subject,
    r#type: EventType,
    data: Box<RawValue>,
    // One official client spells both in camel case.
    #[serde(alias = "traceParent")]
    traceparent: Option<String>,
    #[serde(alias = "traceState")]
    tracestate: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", content = "payload", deny_unknown_fields)]
enum WirePrecondition {
    #[serde(rename = "isSubjectPristine")]
    Pristine(OfSubject),
    #[serde(rename = "isSubjectPopulated")]
    Populated(OfSubject),
    #[serde(rename = "isSubjectOnEventId")]
    OnEventId(OfSubjectAndId),
    #[serde(rename = "isEventQlQueryTrue", alias = "isEventQlTrue")]
    EventQl(OfQuery),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfQuery {
    query: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfSubject {
    subject: Subject,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OfSubjectAndId {
    subject: Subject,
    event_id: EventId,
}

pub(super) async fn write_events(
    _: Authorized,
    State(server): State<Arc<Server>>,
    Json(request): Json<Request>,
) -> Result<Response, Failure> {
    let settings = &server.settings;
    let preconditions = request.preconditions.unwrap_or_default();
    check_counts(request.events.len(), preconditions.len(), settings)?;
    let candidates = all(request.events, "events", |event| {
        candidate(event, settings.dialect)
    })?;
    let mut write = Write {
        candidates,
        ..Write::default()
    };
    all(preconditions, "preconditions", |condition| {
        write.demand(condition)
    })?;
    let writing = write.carry_out(&server);
    let written = timeout(settings.request_time, writing)
        .await
        .map_err(|_| Failure::unknown_outcome())??;
    Ok(answer(&written, settings))
}

fn check_counts(events: usize, preconditions: usize, settings: &Settings) -> Result<(), Failure> {
    let limit = settings.events_limit;
    if events == 0 {
        return Err(Failure::invalid(
            "invalid request: events: a write has at least one event",
        ));
    }
    if events > limit || preconditions > limit {
        return Err(Failure::invalid(format!(
            "invalid request: a write has at most {limit} events and as many preconditions"
        )));
    }
    Ok(())
}

/// Checks each element and says of the first wrong one which it is.
fn all<T, U>(
    elements: Vec<T>,
    name: &str,
    mut check: impl FnMut(T) -> Result<U, String>,
) -> Result<Vec<U>, Failure> {
    let check = |(index, element)| {
        check(element).map_err(|reason| format!("invalid request: {name}[{index}]{reason}"))
    };
    let checked: Result<_, String> = elements.into_iter().enumerate().map(check).collect();
    checked.map_err(Failure::invalid)
}

fn candidate(wire: WireCandidate, dialect: Dialect) -> Result<EventCandidate, String> {
    check_source(&wire.source, dialect).map_err(|reason| format!(".source: {reason}"))?;
    let data = compact_object(&wire.data).map_err(|error| format!(".data: {error}"))?;
    let trace = TraceContext::new(wire.traceparent.as_deref(), wire.tracestate.as_deref());
    Ok(EventCandidate {
        source: wire.source,
        subject: wire.subject,
        event_type: wire.r#type,
        data,
        trace: trace.map_err(|error| format!(": {error}"))?,
    })
}

/// The longest source that is taken, in bytes. The protocol names no limit; one is needed.
const MAX_SOURCE: usize = 2_048;

/// Servers of the newer shape want a URI; those of the older one took an application's name.
fn check_source(source: &str, dialect: Dialect) -> Result<(), &'static str> {
    if source.is_empty() || source.len() > MAX_SOURCE || source.chars().any(char::is_control) {
        return Err("a source has 1 to 2048 bytes and no control character");
    }
    if dialect == Dialect::Event && !is_uri(source) {
        return Err("a source is a URI, such as https://library.example.com or tag:library");
    }
    Ok(())
}

/// Whether the text has a scheme and only the characters of RFC 3986.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let mut escapes = rest.split('%');
    let is_escape = |part: &str| {
        let digits = part.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    is_scheme
        && !rest.is_empty()
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte))
        && escapes.next().is_some()
        && escapes.all(is_escape)
}

impl Write {
    /// Takes in a precondition.
    fn demand(&mut self, wire: WirePrecondition) -> Result<(), String> {
        self.preconditions.push(match wire {
            WirePrecondition::Pristine(OfSubject { subject }) => {
                Precondition::SubjectIsPristine(subject)
            }
            WirePrecondition::Populated(OfSubject { subject }) => {
                Precondition::SubjectIsPopulated(subject)
            }
            WirePrecondition::OnEventId(OfSubjectAndId { subject, event_id }) => {
                Precondition::SubjectIsOnEventId(subject, event_id)
            }
            WirePrecondition::EventQl(OfQuery { query }) => {
                let query =
                    EventQlQuery::parse(&query).map_err(|error| format!(".query: {error}"))?;
                self.queries.push(query);
                return Ok(());
            }
        });
        Ok(())
    }
}

fn answer(written: &[RecordedEvent], settings: &Settings) -> Response {
    let mut body = vec![b'['];
    for event in written {
        if body.len() > 1 {
            body.push(b',');
        }
        let signature = settings.signature(event);
        settings
            .dialect
            .write_recorded(event, signature.as_deref(), &mut body);
    }
    body.push(b']');
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], body).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_has_a_scheme_and_no_character_that_needs_an_escape() {
        for uri in [
            "https://www.eventsourcingdb.io",
            "tag:thenativeweb.io,2023:test",
            "tag://test-execution",
            "urn:a%20b",
        ] {
            assert!(is_uri(uri), "{uri}");
        }
        for text in [
            "", "my-app", ":x", "1a:x", "tag:", "tag:a b", "tag:ü", "urn:a%2", "a b:c",
        ] {
            assert!(!is_uri(text), "{text}");
        }
    }
}
