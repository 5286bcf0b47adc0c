//! The JSON bodies of requests. They omit options without a value, because servers since version 1.0
//! reject nulls. They always contain `recursive`, which these servers require.

use serde::Serialize;
use serde_json::{json, value::RawValue};

use super::{detected_version::ApiVersion, preconditions};
use es_event::{EventCandidate, Subject};
use es_store::{
    Bound, FromLatestEvent, IfEventIsMissing, ObserveOptions, Order, Precondition, ReadOptions,
};

/// The body of a write.
#[derive(Serialize)]
pub(super) struct WriteEventsBody<'a> {
    events: Vec<CandidateBody<'a>>,
    preconditions: Vec<serde_json::Value>,
}

/// An event of a write.
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
    pub(super) fn new(
        candidates: &'a [EventCandidate],
        preconditions: &[Precondition],
        version: ApiVersion,
    ) -> Self {
        let encode = match version {
            ApiVersion::V1 => preconditions::encode_v1,
            ApiVersion::V2 => preconditions::encode_v2,
        };
        Self {
            events: candidates.iter().map(CandidateBody::new).collect(),
            preconditions: preconditions.iter().flat_map(encode).collect(),
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

/// The body of a read or an observation.
#[derive(Serialize)]
pub(super) struct ReadOrObserveBody<'a> {
    subject: &'a Subject,
    options: ReadOrObserveOptionsBody<'a>,
}

/// The options of a read or an observation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadOrObserveOptionsBody<'a> {
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

impl<'a> ReadOrObserveBody<'a> {
    /// Encodes the request of a read.
    pub(super) fn of_read(subject: &'a Subject, options: &'a ReadOptions) -> Self {
        Self {
            subject,
            options: ReadOrObserveOptionsBody {
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
            options: ReadOrObserveOptionsBody {
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
