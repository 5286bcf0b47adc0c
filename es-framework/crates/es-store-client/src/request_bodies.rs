//! The JSON bodies of requests. They omit options without a value, because servers since version 1.0
//! reject nulls. They always contain `recursive`, which these servers require.

use serde::Serialize;
use serde_json::{json, value::RawValue};

use es_event::{EventCandidate, EventId, Subject};
use es_store::{
    Bound, FromLatestEvent, IfEventIsMissing, ObserveOptions, Order, Precondition, ReadOptions,
};

/// The body of a write.
#[derive(Serialize)]
pub(super) struct WriteEventsBody<'a> {
    events: Vec<CandidateBody<'a>>,
    preconditions: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct CandidateBody<'a> {
    source: &'a str,
    subject: &'a str,
    r#type: &'a str,
    data: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracestate: Option<&'a str>,
}

impl<'a> WriteEventsBody<'a> {
    pub(super) fn new(candidates: &'a [EventCandidate], preconditions: &[Precondition]) -> Self {
        Self {
            events: candidates.iter().map(CandidateBody::new).collect(),
            preconditions: preconditions.iter().flat_map(encode_precondition).collect(),
        }
    }
}

impl<'a> CandidateBody<'a> {
    fn new(candidate: &'a EventCandidate) -> Self {
        let trace = candidate.trace.as_ref();
        Self {
            source: &candidate.source,
            subject: candidate.subject.as_str(),
            r#type: candidate.event_type.as_str(),
            data: &candidate.data,
            traceparent: trace.map(|trace| trace.parent()),
            tracestate: trace.and_then(|trace| trace.state()),
        }
    }
}

/// Version 1 has no preconditions on a subtree, so queries take their place.
fn encode_precondition(condition: &Precondition) -> Vec<serde_json::Value> {
    let subject = condition.subject();
    match condition {
        Precondition::SubjectIsPristine(_) => {
            vec![json!({"type": "isSubjectPristine", "payload": {"subject": subject}})]
        }
        Precondition::SubjectIsPopulated(_) => {
            vec![json!({"type": "isSubjectPopulated", "payload": {"subject": subject}})]
        }
        Precondition::SubjectIsOnEventId(_, id) => {
            let payload = json!({"subject": subject, "eventId": id});
            vec![json!({"type": "isSubjectOnEventId", "payload": payload})]
        }
        Precondition::SubtreeIsPristine(subject) => vec![count_below(subject, "", "== 0")],
        Precondition::SubtreeIsPopulated(subject) => vec![count_below(subject, "", "> 0")],
        Precondition::SubtreeIsOnEventId(subject, id) => vec![
            count_below(subject, &format!("e.id AS INT > {id} AND "), "== 0"),
            count_below(subject, &format!("e.id AS INT == {id} AND "), "== 1"),
        ],
        // Ids have no gaps, so the number of events determines the last id.
        Precondition::StoreIsOnEventId(id) => {
            let count = EventId::count_to(*id);
            let query = format!("FROM e IN events PROJECT INTO COUNT() == {count}");
            vec![json!({"type": "isEventQlQueryTrue", "payload": {"query": query}})]
        }
    }
}

/// A precondition on the number of events of a subject and the subjects below it.
fn count_below(subject: &Subject, filter: &str, comparison: &str) -> serde_json::Value {
    let base = subject.as_str().trim_end_matches('/');
    let query = format!(
        "FROM e IN events \
         WHERE {filter}(e.subject == '{base}' OR STARTSWITH(e.subject, '{base}/')) \
         PROJECT INTO COUNT() {comparison}"
    );
    json!({"type": "isEventQlQueryTrue", "payload": {"query": query}})
}

/// The body of a read or an observation.
#[derive(Serialize)]
pub(super) struct ReadEventsBody<'a> {
    subject: &'a Subject,
    options: ReadOptionsBody<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadOptionsBody<'a> {
    recursive: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_bound: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_bound: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_latest_event: Option<FromLatestEventBody<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FromLatestEventBody<'a> {
    subject: &'a str,
    r#type: &'a str,
    if_event_is_missing: &'static str,
}

impl<'a> ReadEventsBody<'a> {
    /// Encodes the request of a read.
    pub(super) fn of_read(subject: &'a Subject, options: &'a ReadOptions) -> Self {
        Self {
            subject,
            options: ReadOptionsBody {
                recursive: options.recursive,
                order: match options.order {
                    Order::Chronological => None,
                    Order::Antichronological => Some("antichronological"),
                },
                lower_bound: options.lower_bound.map(encode_bound),
                upper_bound: options.upper_bound.map(encode_bound),
                from_latest_event: encode_from_latest(
                    options.from_latest_event.as_ref(),
                    "read-nothing",
                ),
            },
        }
    }

    /// Encodes the request of an observation.
    pub(super) fn of_observation(subject: &'a Subject, options: &'a ObserveOptions) -> Self {
        Self {
            subject,
            options: ReadOptionsBody {
                recursive: options.recursive,
                order: None,
                lower_bound: options.lower_bound.map(encode_bound),
                upper_bound: None,
                from_latest_event: encode_from_latest(
                    options.from_latest_event.as_ref(),
                    "wait-for-event",
                ),
            },
        }
    }
}

fn encode_bound(bound: Bound) -> serde_json::Value {
    match bound {
        Bound::Inclusive(id) => json!({"id": id, "type": "inclusive"}),
        Bound::Exclusive(id) => json!({"id": id, "type": "exclusive"}),
    }
}

fn encode_from_latest<'a>(
    latest: Option<&'a FromLatestEvent>,
    nothing: &'static str,
) -> Option<FromLatestEventBody<'a>> {
    latest.map(|latest| FromLatestEventBody {
        subject: latest.subject.as_str(),
        r#type: latest.event_type.as_str(),
        if_event_is_missing: match latest.if_missing {
            IfEventIsMissing::ReadEverything => "read-everything",
            IfEventIsMissing::Nothing => nothing,
        },
    })
}
