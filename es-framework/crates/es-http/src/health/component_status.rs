//! The status of read models and reactions: the health check and the operator API write it, and the OpenAPI document
//! describes it.

use std::collections::BTreeMap;

use es_event::{EventType, PoisonEvent, Subject};
use es_subscribe::{HeldKeyGroup, HeldKeys, RebuildPace, SubscriberProgress};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use crate::lag::ReadModelLag;

/// The number of held keys that the status names for each failure.
const SHOWN_KEYS: usize = 20;

/// The status of each read model, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReadModelStatuses(pub(super) BTreeMap<&'static str, ReadModelStatus>);

/// The status of each reaction, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReactionStatuses(pub(super) BTreeMap<&'static str, ReactionStatus>);

/// The status of a read model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadModelStatus {
    #[serde(flatten)]
    component: ComponentStatus,
    events_behind: u64,
    #[schemars(range(min = 0))]
    seconds_behind: Option<f64>,
    /// True if it has applied every event from before the start.
    rebuilt: bool,
    rebuild: Option<ReadModelRebuild>,
}

/// The progress of a rebuild.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReadModelRebuild {
    #[serde(flatten)]
    component: ComponentStatus,
    /// True if the current rows answer queries during the rebuild.
    beside: bool,
    events_left: Option<u64>,
    events_per_second: Option<u64>,
    seconds_left: Option<u64>,
}

/// The status of a reaction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReactionStatus {
    #[serde(flatten)]
    component: ComponentStatus,
    pub(super) events_behind: u64,
    pub(super) open_deadlines: usize,
    pub(super) next_deadline: Option<Timestamp>,
}

/// The members that read models, their shadow tables and reactions have in common.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComponentStatus {
    /// The last event that it has applied.
    position: Option<String>,
    /// It follows the event store, tries again after a failure, or needs help.
    #[schemars(extend("enum" = ["working", "retrying", "stopped"]))]
    state: &'static str,
    /// True if its state is stopped.
    stopped: bool,
    /// The time since which it does not work.
    since: Option<Timestamp>,
    /// The commands of operators that help in this state.
    exits: Vec<&'static str>,
    /// The reason for which it does not continue.
    error: Option<String>,
    event: Option<PoisonEventStatus>,
    held: HeldKeysStatus,
}

/// An event that a read model or a reaction cannot handle.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PoisonEvent")]
pub(crate) struct PoisonEventStatus {
    id: String,
    /// Null if the event cannot be read.
    subject: Option<String>,
    /// Null if the event cannot be read.
    r#type: Option<String>,
    error: String,
    /// Events that fail alike have the same fingerprint.
    fingerprint: String,
}

/// The keys that wait at an event which cannot be handled, while all others go on.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HeldKeys")]
struct HeldKeysStatus {
    /// The number of keys.
    keys: usize,
    failures: Vec<HeldKeyFailure>,
}

/// Keys that wait at events which fail alike.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HeldKeyFailure {
    /// Events that fail alike have the same fingerprint.
    fingerprint: String,
    error: String,
    r#type: Option<String>,
    /// The first event that failed so.
    event: String,
    /// The subject of this event.
    subject: Option<String>,
    /// The number of keys.
    keys: usize,
    /// The first of them: keys of rows, or subjects.
    some_keys: Vec<String>,
    /// The number of events that these keys wait with.
    events: u64,
    /// The time of the first of these events.
    first: Timestamp,
    /// The time of the last of these events.
    last: Timestamp,
    /// The number of keys that are retried without an operator, as after a failed call.
    waiting: usize,
    /// The time of the first of these attempts.
    next_attempt: Option<Timestamp>,
}

impl ReadModelStatus {
    pub(super) fn new(progress: &SubscriberProgress, lag: ReadModelLag) -> Self {
        Self {
            component: progress.into(),
            events_behind: lag.events,
            seconds_behind: lag.seconds,
            rebuilt: progress.has_caught_up(),
            rebuild: ReadModelRebuild::of_read_model(progress),
        }
    }
}

impl ReadModelRebuild {
    /// Returns the progress of a rebuild, in place or in a shadow table.
    fn of_read_model(progress: &SubscriberProgress) -> Option<Self> {
        let shadow = progress.shadow_progress();
        if shadow.is_none() && progress.has_caught_up() {
            return None;
        }
        let rebuilt = shadow.as_ref().unwrap_or(progress);
        let pace: Option<RebuildPace> = rebuilt.rebuild_pace();
        Some(Self {
            component: rebuilt.into(),
            beside: shadow.is_some(),
            events_left: pace.map(|pace| pace.events_left),
            events_per_second: pace.map(|pace| pace.events_per_second),
            seconds_left: pace.and_then(|pace| pace.seconds_left),
        })
    }
}

impl ReactionStatus {
    pub(super) fn new(progress: &SubscriberProgress, events_behind: u64) -> Self {
        let deadlines = progress.open_deadlines();
        Self {
            component: progress.into(),
            events_behind,
            open_deadlines: deadlines.count,
            next_deadline: deadlines.next,
        }
    }
}

impl From<&SubscriberProgress> for ComponentStatus {
    fn from(progress: &SubscriberProgress) -> Self {
        let state = progress.state();
        let trouble = state.trouble();
        let exits = progress.exits();
        Self {
            position: progress.position().map(|id| id.to_string()),
            state: state.name(),
            stopped: state.is_stopped(),
            since: trouble.map(|trouble| trouble.since),
            exits: exits.iter().map(|exit| exit.verb()).collect(),
            error: trouble.map(|trouble| trouble.reason.clone()),
            event: state.poison_event().map(PoisonEventStatus::from),
            held: (&progress.held_keys()).into(),
        }
    }
}

impl From<&PoisonEvent> for PoisonEventStatus {
    fn from(event: &PoisonEvent) -> Self {
        Self {
            id: event.id.to_string(),
            subject: event.subject.as_ref().map(Subject::to_string),
            r#type: event.event_type.as_ref().map(EventType::to_string),
            error: event.reason.clone(),
            fingerprint: event.fingerprint(),
        }
    }
}

impl From<&HeldKeys> for HeldKeysStatus {
    fn from(held: &HeldKeys) -> Self {
        let failures = held.group_by_failure().into_iter();
        Self {
            keys: held.len(),
            failures: failures.map(HeldKeyFailure::from).collect(),
        }
    }
}

impl From<HeldKeyGroup> for HeldKeyFailure {
    fn from(group: HeldKeyGroup) -> Self {
        let example = PoisonEventStatus::from(&group.example);
        Self {
            fingerprint: group.fingerprint,
            error: example.error,
            r#type: example.r#type,
            event: example.id,
            subject: example.subject,
            keys: group.keys.len(),
            some_keys: group.keys.into_iter().take(SHOWN_KEYS).collect(),
            events: group.events,
            first: group.first,
            last: group.last,
            waiting: group.waiting,
            next_attempt: group.next_attempt,
        }
    }
}
