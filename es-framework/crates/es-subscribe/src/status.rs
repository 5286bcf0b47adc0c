//! The status of read models and reactions: the operator API and the health check return it, the OpenAPI document
//! describes it, and the console shows it.

use std::collections::BTreeMap;

use es_event::{EventId, EventType, PoisonEvent, Subject};
use es_store::{EventLog, StoreError, event_with_id};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    DeliveryLog, HeldKeyGroup, HeldKeys, ProgressRegistry, SubscriberProgress,
    operator::OperatorCommand,
};

/// The status of each read model, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReadModelStatuses(pub BTreeMap<&'static str, ReadModelStatus>);

/// The status of each reaction, by name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReactionStatuses(pub BTreeMap<&'static str, ReactionStatus>);

/// The status of a read model.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadModelStatus {
    #[serde(flatten)]
    pub component: ComponentStatus,
    #[schemars(range(min = 0))]
    pub seconds_behind: Option<f64>,
    /// True if it has applied every event from before the start.
    pub rebuilt: bool,
    pub rebuild: Option<ReadModelRebuild>,
}

/// The progress of a rebuild.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadModelRebuild {
    #[serde(flatten)]
    pub component: ComponentStatus,
    /// True if the current rows answer queries during the rebuild.
    pub beside: bool,
    pub events_left: Option<u64>,
    pub events_per_second: Option<u64>,
    pub seconds_left: Option<u64>,
}

/// The status of a reaction.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReactionStatus {
    #[serde(flatten)]
    pub component: ComponentStatus,
    pub open_deadlines: usize,
    pub next_deadline: Option<Timestamp>,
    /// The last deliveries, the newest first, if the reaction is a sink.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deliveries: Option<DeliveryLog>,
}

/// The members that read models, their shadow tables and reactions have in common.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComponentStatus {
    /// The last event that it has applied.
    #[schemars(with = "Option<String>")]
    pub position: Option<EventId>,
    /// The number of later events.
    pub events_behind: u64,
    /// It follows the event store, tries again after a failure, or needs help.
    #[schemars(extend("enum" = ["working", "retrying", "stopped"]))]
    pub state: &'static str,
    /// True if its state is stopped.
    pub stopped: bool,
    /// The time since which it does not work.
    pub since: Option<Timestamp>,
    /// The commands of operators that help in this state.
    #[schemars(with = "Vec<String>")]
    pub exits: Vec<OperatorCommand>,
    /// The reason for which it does not continue.
    pub error: Option<String>,
    pub event: Option<PoisonEventStatus>,
    pub held: HeldKeysStatus,
}

/// An event that a read model or a reaction cannot handle.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PoisonEvent")]
pub struct PoisonEventStatus {
    #[schemars(with = "String")]
    pub id: EventId,
    /// Null if the event cannot be read.
    #[schemars(with = "Option<String>")]
    pub subject: Option<Subject>,
    /// Null if the event cannot be read.
    #[schemars(with = "Option<String>")]
    pub r#type: Option<EventType>,
    pub error: String,
    /// Events that fail alike have the same fingerprint.
    pub fingerprint: String,
}

/// The keys that wait at an event which cannot be handled, while all others go on.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "HeldKeys")]
pub struct HeldKeysStatus {
    /// The number of keys.
    pub keys: usize,
    pub failures: Vec<HeldKeyGroup>,
}

impl ReadModelStatuses {
    /// Measures the status of each read model. The lag is that behind the newest event of the log.
    pub async fn measure(
        read_models: &ProgressRegistry,
        log: &dyn EventLog,
        newest: Option<EventId>,
    ) -> Self {
        let mut statuses = BTreeMap::new();
        for progress in read_models.iter() {
            let status = ReadModelStatus::measure(progress, log, newest).await;
            statuses.insert(progress.name(), status);
        }
        Self(statuses)
    }
}

impl ReactionStatuses {
    /// Returns the status of each reaction. The lag is that behind the newest event of the log.
    #[must_use]
    pub fn new(reactions: &ProgressRegistry, newest: Option<EventId>) -> Self {
        let status = |one: &SubscriberProgress| (one.name(), ReactionStatus::new(one, newest));
        Self(reactions.iter().map(status).collect())
    }
}

impl ReadModelStatus {
    async fn measure(
        progress: &SubscriberProgress,
        log: &dyn EventLog,
        newest: Option<EventId>,
    ) -> Self {
        Self {
            component: ComponentStatus::new(progress, newest),
            seconds_behind: seconds_behind(progress, log, newest).await,
            rebuilt: progress.has_caught_up(),
            rebuild: ReadModelRebuild::of_read_model(progress, newest),
        }
    }
}

impl ReadModelRebuild {
    /// Returns the progress of a rebuild, in place or in a shadow table.
    fn of_read_model(progress: &SubscriberProgress, newest: Option<EventId>) -> Option<Self> {
        let shadow = progress.shadow_progress();
        if shadow.is_none() && progress.has_caught_up() {
            return None;
        }
        let rebuilt = shadow.as_ref().unwrap_or(progress);
        let pace = rebuilt.rebuild_pace();
        Some(Self {
            component: ComponentStatus::new(rebuilt, newest),
            beside: shadow.is_some(),
            events_left: pace.map(|pace| pace.events_left),
            events_per_second: pace.map(|pace| pace.events_per_second),
            seconds_left: pace.and_then(|pace| pace.seconds_left),
        })
    }
}

impl ReactionStatus {
    fn new(progress: &SubscriberProgress, newest: Option<EventId>) -> Self {
        let deadlines = progress.open_deadlines();
        Self {
            component: ComponentStatus::new(progress, newest),
            open_deadlines: deadlines.count,
            next_deadline: deadlines.next,
            deliveries: progress.deliveries(),
        }
    }
}

impl ComponentStatus {
    /// Returns the status of a component. The lag is that behind the newest event.
    #[must_use]
    pub fn new(progress: &SubscriberProgress, newest: Option<EventId>) -> Self {
        let state = progress.state();
        let trouble = state.trouble();
        Self {
            position: progress.position(),
            events_behind: progress.events_behind(newest),
            state: state.name(),
            stopped: state.is_stopped(),
            since: trouble.map(|trouble| trouble.since),
            exits: progress.exits(),
            error: trouble.map(|trouble| trouble.reason.clone()),
            event: state.poison_event().map(PoisonEventStatus::from),
            held: (&progress.held_keys()).into(),
        }
    }
}

impl From<&PoisonEvent> for PoisonEventStatus {
    fn from(event: &PoisonEvent) -> Self {
        Self {
            id: event.id,
            subject: event.subject.clone(),
            r#type: event.event_type.clone(),
            error: event.reason.clone(),
            fingerprint: event.fingerprint(),
        }
    }
}

impl From<&HeldKeys> for HeldKeysStatus {
    fn from(held: &HeldKeys) -> Self {
        Self {
            keys: held.len(),
            failures: held.group_by_failure(),
        }
    }
}

/// Returns the age of the oldest event that a read model has not applied, if the log answers.
pub async fn seconds_behind(
    progress: &SubscriberProgress,
    log: &dyn EventLog,
    newest: Option<EventId>,
) -> Option<f64> {
    let position = progress.position();
    let next = position.map_or(Some(EventId::FIRST), EventId::next);
    match next.filter(|next| newest >= Some(*next)) {
        Some(next) => age(log, next).await.unwrap_or_default(),
        None => Some(0.0),
    }
}

/// Returns the age of an event in seconds.
async fn age(log: &dyn EventLog, id: EventId) -> Result<Option<f64>, StoreError> {
    let event = event_with_id(log, id).await?;
    let time = event.and_then(|event| event.time.timestamp().ok());
    Ok(time.map(|time| Timestamp::now().duration_since(time).as_secs_f64().max(0.0)))
}
