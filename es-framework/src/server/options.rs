//! The options of reading and observing, in the spelling of both generations: bounds as
//! `lowerBound: {id, type}`, and as the older `lowerBoundId`.

use serde::Deserialize;

use super::error::Failure;
use crate::{
    event::{EventId, EventType, Subject},
    store::{Bound, FromLatestEvent, IfEventIsMissing, ObserveOptions, Order, ReadOptions},
};

/// What to read. An option that nobody knows is refused: to ignore it would answer another
/// question than the one asked.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WireReadOptions {
    recursive: Option<bool>,
    order: Option<WireOrder>,
    lower_bound: Option<WireBound>,
    upper_bound: Option<WireBound>,
    lower_bound_id: Option<EventId>,
    upper_bound_id: Option<EventId>,
    from_latest_event: Option<ReadFromLatest>,
}

/// What to observe: always oldest first and without an end.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WireObserveOptions {
    recursive: Option<bool>,
    lower_bound: Option<WireBound>,
    lower_bound_id: Option<EventId>,
    from_latest_event: Option<ObserveFromLatest>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum WireOrder {
    Chronological,
    Antichronological,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireBound {
    id: EventId,
    r#type: BoundType,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
enum BoundType {
    Inclusive,
    Exclusive,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReadFromLatest {
    subject: Subject,
    r#type: EventType,
    if_event_is_missing: IfMissingFromRead,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum IfMissingFromRead {
    ReadEverything,
    ReadNothing,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ObserveFromLatest {
    subject: Subject,
    r#type: EventType,
    if_event_is_missing: IfMissingFromObserve,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum IfMissingFromObserve {
    ReadEverything,
    WaitForEvent,
}

impl From<WireBound> for Bound {
    fn from(WireBound { id, r#type }: WireBound) -> Self {
        match r#type {
            BoundType::Inclusive => Self::Inclusive(id),
            BoundType::Exclusive => Self::Exclusive(id),
        }
    }
}

/// One end of the range, whichever way it is spelled.
fn bound(
    name: &str,
    newer: Option<WireBound>,
    older: Option<EventId>,
) -> Result<Option<Bound>, Failure> {
    match (newer, older) {
        (Some(_), Some(_)) => Err(Failure::invalid(format!(
            "invalid options: {name} and {name}Id cannot be given together"
        ))),
        (Some(bound), None) => Ok(Some(bound.into())),
        // The older spelling knew inclusive bounds only.
        (None, older) => Ok(older.map(Bound::Inclusive)),
    }
}

impl TryFrom<WireReadOptions> for ReadOptions {
    type Error = Failure;

    fn try_from(wire: WireReadOptions) -> Result<Self, Failure> {
        let options = Self {
            recursive: wire.recursive.unwrap_or_default(),
            order: match wire.order {
                None | Some(WireOrder::Chronological) => Order::Chronological,
                Some(WireOrder::Antichronological) => Order::Antichronological,
            },
            lower_bound: bound("lowerBound", wire.lower_bound, wire.lower_bound_id)?,
            upper_bound: bound("upperBound", wire.upper_bound, wire.upper_bound_id)?,
            from_latest_event: wire.from_latest_event.map(|latest| FromLatestEvent {
                subject: latest.subject,
                event_type: latest.r#type,
                if_missing: match latest.if_event_is_missing {
                    IfMissingFromRead::ReadEverything => IfEventIsMissing::ReadEverything,
                    IfMissingFromRead::ReadNothing => IfEventIsMissing::Nothing,
                },
            }),
            ..Self::default()
        };
        options.check()?;
        Ok(options)
    }
}

impl TryFrom<WireObserveOptions> for ObserveOptions {
    type Error = Failure;

    fn try_from(wire: WireObserveOptions) -> Result<Self, Failure> {
        let options = Self {
            recursive: wire.recursive.unwrap_or_default(),
            lower_bound: bound("lowerBound", wire.lower_bound, wire.lower_bound_id)?,
            from_latest_event: wire.from_latest_event.map(|latest| FromLatestEvent {
                subject: latest.subject,
                event_type: latest.r#type,
                if_missing: match latest.if_event_is_missing {
                    IfMissingFromObserve::ReadEverything => IfEventIsMissing::ReadEverything,
                    IfMissingFromObserve::WaitForEvent => IfEventIsMissing::Nothing,
                },
            }),
        };
        options.check()?;
        Ok(options)
    }
}
