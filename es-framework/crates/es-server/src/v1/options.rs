//! The options of read-events and observe-events in both generations of the protocol: bounds as
//! `lowerBound: {id, type}`, and as the older `lowerBoundId`.

use serde::Deserialize;

use crate::{api_error::ApiError, read_range::check_bounds, strict_object::StrictObject};
use es_event::{EventId, EventType, Subject};
use es_store::{Bound, FromLatestEvent, IfEventIsMissing, ObserveOptions, Order, ReadOptions};

/// The options of read-events. The server rejects an unknown option, because ignoring it would return
/// other events than requested.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WireReadOptions {
    recursive: Option<bool>,
    order: Option<WireOrder>,
    lower_bound: Option<StrictObject<WireBound>>,
    upper_bound: Option<StrictObject<WireBound>>,
    lower_bound_id: Option<EventId>,
    upper_bound_id: Option<EventId>,
    from_latest_event: Option<StrictObject<WireLatestEvent<ReadIfEventIsMissing>>>,
}

/// The options of observe-events, which is always chronological and without an end.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WireObserveOptions {
    recursive: Option<bool>,
    lower_bound: Option<StrictObject<WireBound>>,
    lower_bound_id: Option<EventId>,
    from_latest_event: Option<StrictObject<WireLatestEvent<ObserveIfEventIsMissing>>>,
}

/// The order of a read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum WireOrder {
    Chronological,
    Antichronological,
}

/// A bound of the event ids.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireBound {
    id: EventId,
    r#type: BoundType,
}

/// The type of a bound: with or without the event itself.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum BoundType {
    Inclusive,
    Exclusive,
}

/// The latest event of a subject and type, from which a read or an observation starts.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireLatestEvent<M> {
    subject: Subject,
    r#type: EventType,
    if_event_is_missing: M,
}

/// The behaviour of a read that finds no such event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ReadIfEventIsMissing {
    ReadEverything,
    ReadNothing,
}

/// The behaviour of an observation that finds no such event.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ObserveIfEventIsMissing {
    ReadEverything,
    WaitForEvent,
}

impl From<ReadIfEventIsMissing> for IfEventIsMissing {
    fn from(wire: ReadIfEventIsMissing) -> Self {
        match wire {
            ReadIfEventIsMissing::ReadEverything => Self::ReadEverything,
            ReadIfEventIsMissing::ReadNothing => Self::Nothing,
        }
    }
}

impl From<ObserveIfEventIsMissing> for IfEventIsMissing {
    fn from(wire: ObserveIfEventIsMissing) -> Self {
        match wire {
            ObserveIfEventIsMissing::ReadEverything => Self::ReadEverything,
            ObserveIfEventIsMissing::WaitForEvent => Self::Nothing,
        }
    }
}

impl<M: Into<IfEventIsMissing>> From<WireLatestEvent<M>> for FromLatestEvent {
    fn from(wire: WireLatestEvent<M>) -> Self {
        Self {
            subject: wire.subject,
            event_type: wire.r#type,
            if_missing: wire.if_event_is_missing.into(),
        }
    }
}

impl From<WireBound> for Bound {
    fn from(WireBound { id, r#type }: WireBound) -> Self {
        match r#type {
            BoundType::Inclusive => Self::Inclusive(id),
            BoundType::Exclusive => Self::Exclusive(id),
        }
    }
}

/// Combines both spellings of one end of the range.
fn parse_bound(
    name: &str,
    newer: Option<StrictObject<WireBound>>,
    older: Option<EventId>,
) -> Result<Option<Bound>, ApiError> {
    match (newer, older) {
        (Some(_), Some(_)) => Err(ApiError::invalid_request(format!(
            "invalid options: {name} and {name}Id cannot be given together"
        ))),
        (Some(bound), None) => Ok(Some(bound.0.into())),
        // The older spelling knew inclusive bounds only.
        (None, older) => Ok(older.map(Bound::Inclusive)),
    }
}

impl TryFrom<WireReadOptions> for ReadOptions {
    type Error = ApiError;

    fn try_from(wire: WireReadOptions) -> Result<Self, ApiError> {
        let options = Self {
            recursive: wire.recursive.unwrap_or_default(),
            order: match wire.order {
                None | Some(WireOrder::Chronological) => Order::Chronological,
                Some(WireOrder::Antichronological) => Order::Antichronological,
            },
            lower_bound: parse_bound("lowerBound", wire.lower_bound, wire.lower_bound_id)?,
            upper_bound: parse_bound("upperBound", wire.upper_bound, wire.upper_bound_id)?,
            from_latest_event: wire.from_latest_event.map(|latest| latest.0.into()),
            ..Self::default()
        };
        options.check()?;
        check_bounds(options.lower_bound, options.upper_bound)?;
        Ok(options)
    }
}

impl TryFrom<WireObserveOptions> for ObserveOptions {
    type Error = ApiError;

    fn try_from(wire: WireObserveOptions) -> Result<Self, ApiError> {
        let options = Self {
            recursive: wire.recursive.unwrap_or_default(),
            lower_bound: parse_bound("lowerBound", wire.lower_bound, wire.lower_bound_id)?,
            from_latest_event: wire.from_latest_event.map(|latest| latest.0.into()),
        };
        options.check()?;
        check_bounds(options.lower_bound, None)?;
        Ok(options)
    }
}
