//! Reads the headers of a command: expected version, idempotency key, trace and metadata.

use axum::http::{HeaderMap, HeaderName, header};
use es_command::command::{CommandContext, ExpectedVersion, IdempotencyKey, SeenVersion};
use es_event::{EventId, Metadata, TraceContext};

use super::{
    Problem,
    entity_tag::{EntityTag, EntityTags, MalformedEntityTags},
    output_id::OutputId,
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The longest header value that is stored in an event, in bytes.
const MAX_METADATA: usize = 1_024;
/// The most members of a `tracestate`.
const MAX_TRACE_MEMBERS: usize = 32;

/// Reads the context of a command.
pub(super) fn read_command_context(
    headers: &HeaderMap,
    metadata_headers: &[HeaderName],
) -> Result<CommandContext, Problem> {
    Ok(CommandContext {
        metadata: metadata(headers, metadata_headers)?,
        trace: read_trace(headers),
        expected: expected(headers)?,
        idempotency_key: idempotency_key(headers)?,
        ..CommandContext::default()
    })
}

/// Reads the allowed request headers as metadata.
fn metadata(headers: &HeaderMap, allowed: &[HeaderName]) -> Result<Metadata, Problem> {
    let text = |name: &HeaderName| {
        let value = headers.get(name)?;
        let text = value
            .to_str()
            .ok()
            .filter(|text| text.len() <= MAX_METADATA);
        let text = text.ok_or_else(|| {
            let detail = "must be at most 1024 visible ASCII characters, since it goes into events";
            Problem::invalid_header(name.as_str(), detail)
        });
        Some(text.map(|text| (name.as_str().to_owned(), text.to_owned())))
    };
    allowed.iter().filter_map(text).collect()
}

/// Reads the trace context. The W3C recommendation ignores a malformed or repeated `traceparent` instead of rejecting the
/// request. It combines the lines of a `tracestate`, and drops one that is malformed (section 3.3).
pub(super) fn read_trace(headers: &HeaderMap) -> Option<TraceContext> {
    let mut parents = headers.get_all("traceparent").iter();
    let (Some(parent), None) = (parents.next(), parents.next()) else {
        return None;
    };
    let parent = Some(parent.to_str().ok()?);
    let states = headers.get_all("tracestate").iter();
    let states: Result<Vec<_>, _> = states.map(|line| line.to_str()).collect();
    let state = states.unwrap_or_default().join(",");
    let members = state.split(',').filter(|member| !member.trim().is_empty());
    let state = (1..=MAX_TRACE_MEMBERS)
        .contains(&members.count())
        .then_some(&*state);
    let trace = TraceContext::new(parent, state).or_else(|_| TraceContext::new(parent, None));
    trace.ok().flatten()
}

/// Reads `If-Match` (RFC 9110, section 13.1.1). Foreign and weak tags match nothing.
fn expected(headers: &HeaderMap) -> Result<Option<ExpectedVersion>, Problem> {
    let tags = EntityTags::from_headers(headers, &header::IF_MATCH);
    let tags = tags.map_err(|MalformedEntityTags| {
        let detail =
            "must be *, or one or more tags in quotation marks as the ETag of an answer gives them";
        Problem::invalid_header("If-Match", detail)
    })?;
    Ok(tags.map(|tags| match tags {
        EntityTags::Any => ExpectedVersion::Any,
        EntityTags::List(tags) => {
            ExpectedVersion::OneOf(tags.iter().filter_map(seen_version).collect())
        }
    }))
}

/// Returns the version that a tag names: the tag of a command has the last event of its subject, and that of a query
/// has the position of its output.
fn seen_version(tag: &EntityTag) -> Option<SeenVersion> {
    if tag.is_weak {
        return None;
    }
    if let Some(output) = OutputId::parse(&tag.opaque) {
        return output.position.map(SeenVersion::Position);
    }
    let id: EventId = tag.opaque.parse().ok()?;
    // A tag is compared as a text: `07` is not `7`.
    (id.to_string() == tag.opaque).then_some(SeenVersion::LastEvent(id))
}

/// Reads the key, with or without the quotation marks of a structured field.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let invalid = |detail: &str| Problem::invalid_header("Idempotency-Key", detail);
    if values.next().is_some() {
        return Err(invalid("must be given once"));
    }
    let text = value.to_str().unwrap_or_default();
    let bare = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let key = bare.unwrap_or(text).parse();
    let key = key.map_err(|_| invalid("must be 1 to 255 visible ASCII characters"))?;
    Ok(Some(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().map(|(name, value)| {
            let value = axum::http::HeaderValue::from_static(value);
            (HeaderName::from_static(name), value)
        });
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        headers
    }

    fn expected(value: &'static str) -> Option<Option<ExpectedVersion>> {
        super::expected(&headers(&[("if-match", value)])).ok()
    }

    #[test]
    fn a_tag_of_a_command_has_an_event_and_one_of_a_query_has_a_position() {
        use SeenVersion::{LastEvent, Position};
        let id = |id| EventId::new(id).unwrap();
        let one_of = |seen: &[SeenVersion]| Some(Some(ExpectedVersion::OneOf(seen.to_vec())));
        let of_query = "\"8-0123456789abcdef0123456789abcdef\"";
        assert_eq!(expected("\"7\""), one_of(&[LastEvent(id(7))]));
        assert_eq!(expected(of_query), one_of(&[Position(id(8))]));
        assert_eq!(
            expected("\"7\", \"8-0123456789abcdef0123456789abcdef\","),
            one_of(&[LastEvent(id(7)), Position(id(8))])
        );
        assert_eq!(expected("*"), Some(Some(ExpectedVersion::Any)));
        for foreign in [
            "W/\"7\"",
            "\"abc\"",
            "\"07\"",
            "\"+7\"",
            "\"-0123456789abcdef0123456789abcdef\"",
            "\"08-0123456789abcdef0123456789abcdef\"",
        ] {
            assert_eq!(expected(foreign), one_of(&[]), "{foreign}");
        }
        assert_eq!(expected("7"), None);
        assert_eq!(expected(""), None);
        assert_eq!(super::expected(&HeaderMap::new()).ok(), Some(None));
    }

    #[test]
    fn only_headers_that_are_allowed_become_metadata() {
        let request = headers(&[("x-request-id", "r1"), ("cookie", "secret")]);
        let read = |allowed: &[HeaderName]| metadata(&request, allowed).unwrap();
        assert_eq!(read(&[]), Metadata::default());
        let allowed = read(&[HeaderName::from_static("x-request-id")]);
        assert_eq!(allowed.get("x-request-id"), Some("r1"));
        assert_eq!(allowed.iter().count(), 1);
    }

    #[test]
    fn a_malformed_trace_is_passed_over() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let found = |pairs| read_trace(&headers(pairs));
        assert_eq!(found(&[("traceparent", "nonsense")]), None);
        assert_eq!(found(&[("tracestate", "a=b")]), None);
        let whole = found(&[("traceparent", parent), ("tracestate", "a=b")]).unwrap();
        assert_eq!((whole.parent(), whole.state()), (parent, Some("a=b")));
    }

    #[test]
    fn lines_of_a_tracestate_are_one_list_of_at_most_32_members() {
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let state = |states: &[&str]| {
            let mut request = headers(&[("traceparent", parent)]);
            for state in states {
                request.append("tracestate", state.parse().unwrap());
            }
            let trace = read_trace(&request).unwrap();
            assert_eq!(trace.parent(), parent);
            trace.state().map(str::to_owned)
        };
        assert_eq!(state(&["a=1", "b=2"]).as_deref(), Some("a=1,b=2"));
        assert_eq!(state(&["a=1", "", "b=2"]).as_deref(), Some("a=1,,b=2"));
        assert_eq!(state(&[""]), None);
        let list = |length: usize| vec!["a=1"; length].join(",");
        assert_eq!(state(&[&list(32)]), Some(list(32)));
        assert_eq!(state(&[&list(33)]), None);
        assert_eq!(state(&[&list(20), &list(13)]), None);
        let other = parent.replace('a', "b").leak();
        for second in [parent, other] {
            let twice = headers(&[("traceparent", parent), ("traceparent", second)]);
            assert_eq!(read_trace(&twice), None);
        }
    }

    #[test]
    fn a_key_is_given_once() {
        let key = |pairs| idempotency_key(&headers(pairs)).ok();
        assert_eq!(key(&[]), Some(None));
        assert_eq!(
            key(&[("idempotency-key", "\"k1\"")]),
            key(&[("idempotency-key", "k1")])
        );
        assert_eq!(key(&[("idempotency-key", "")]), None);
        let twice = [("idempotency-key", "a"), ("idempotency-key", "b")];
        assert_eq!(key(&twice), None);
    }
}
