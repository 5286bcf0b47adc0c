//! Runs a test: appends the past events, handles the command, and reads the new events.

use futures_util::TryStreamExt as _;
use serde_json::{Value, value::RawValue};

use crate::{event_json::event_to_json, expectation::CommandExpectation};
use es_command::{
    command::{CommandError, CommandOutcome, HandlerError, NewEvent, UntypedDecision},
    unique::{OwnedValues, UniqueKey, plan_claims},
};
use es_event::{
    Event, EventCandidate, EventDescriptor, EventType, Metadata, RecordedEvent, Subject,
    UnreadableValue, Upcasters,
};
use es_store::{EventLog as _, ReadOptions, memory::MemoryStore};

/// A past event of a scenario.
pub(crate) struct PastEvent {
    subject: Option<Subject>,
    encode: EncodeEvent,
}

/// Returns the event as the store keeps it. Takes the subject of an event that does not have its own.
type EncodeEvent = Box<dyn FnOnce(Subject) -> Result<Vec<NewEvent>, HandlerError> + Send>;

impl std::fmt::Debug for PastEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PastEvent").field(&self.subject).finish()
    }
}

impl PastEvent {
    pub(crate) fn new<E: Event>(subject: Option<Subject>, event: E) -> Self {
        let encode: EncodeEvent = Box::new(move |subject| {
            let mut decision = UntypedDecision::new(subject, Metadata::default());
            decision.push(&event)?;
            Ok(decision.into_parts().0)
        });
        Self { subject, encode }
    }

    /// Creates an event from its type and the JSON of its payload, as the store keeps it.
    pub(crate) fn from_json(
        subject: Subject,
        event_type: EventType,
        payload: Box<RawValue>,
    ) -> Self {
        let encode: EncodeEvent = Box::new(move |subject| {
            let data = es_event::encode(&Metadata::default(), &payload);
            let data = data.map_err(|error| HandlerError::Encode {
                what: event_type.as_str().to_owned().into(),
                reason: UnreadableValue {
                    pointer: String::new(),
                    reason: error.to_string(),
                },
            })?;
            Ok(vec![NewEvent {
                subject,
                event_type,
                data,
            }])
        });
        let subject = Some(subject);
        Self { subject, encode }
    }
}

/// The store of a test and the subject of its command.
#[derive(Debug)]
pub(crate) struct ScenarioRunner {
    store: MemoryStore,
    subject: Subject,
    upcasters: Upcasters,
}

/// The events of the framework are below this subject. A test does not compare them.
pub(crate) const FRAMEWORK_SUBJECTS: &str = "/es-framework";

/// The reason why a scenario cannot run.
pub(crate) type ScenarioError = Box<dyn std::error::Error + Send + Sync>;

impl ScenarioRunner {
    pub(crate) const fn new(store: MemoryStore, subject: Subject, upcasters: Upcasters) -> Self {
        Self {
            store,
            subject,
            upcasters,
        }
    }

    /// Runs a test on its own thread and runtime, because the test itself may be asynchronous.
    pub(crate) fn run(
        self,
        past: Vec<PastEvent>,
        handle: impl Future<Output = Result<CommandOutcome, CommandError>> + Send,
    ) -> Result<CommandExpectation, ScenarioError> {
        let test = async {
            let before = self.append_past_events(past).await?;
            let result = handle.await;
            self.then(before, result).await
        };
        let run = || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_time().build()?.block_on(test)
        };
        std::thread::scope(|scope| {
            let result = scope.spawn(run).join();
            result.unwrap_or_else(|_| Err("the handler panicked: see above".into()))
        })
    }

    /// Appends the past events and returns their number.
    pub(crate) async fn append_past_events(
        &self,
        past: Vec<PastEvent>,
    ) -> Result<usize, ScenarioError> {
        let mut candidates = Vec::new();
        for PastEvent { subject, encode } in past {
            let subject = subject.unwrap_or_else(|| self.subject.clone());
            candidates.extend(encode(subject)?.into_iter().map(|event| EventCandidate {
                source: "test".into(),
                subject: event.subject,
                event_type: event.event_type,
                data: event.data,
                trace: None,
            }));
        }
        if self.subject == Subject::root()
            && let Some(event) = candidates
                .iter()
                .find(|event| event.subject == self.subject)
        {
            let message = format!(
                "{} does not say its subject: give it with `event_on(\"/…\", …)`",
                event.event_type
            );
            return Err(message.into());
        }
        if candidates.is_empty() {
            return Ok(0);
        }
        let past = self.store.append(candidates, vec![]).await?;
        let mut count = past.len();
        for event in past {
            count = count.saturating_add(self.claim_values(&event).await?);
        }
        Ok(count)
    }

    /// Claims the unique values of a past event, and returns the number of events that this takes.
    async fn claim_values(&self, event: &RecordedEvent) -> Result<usize, ScenarioError> {
        let mut declared = inventory::iter::<EventDescriptor>.into_iter();
        let Some(declared) = declared.find(|one| one.event_type == event.event_type.as_str())
        else {
            return Ok(0);
        };
        let payload = event.raw_payload()?.get();
        let owned = OwnedValues::of_payload(&event.subject, declared, payload)?;
        let planned = plan_claims(&self.store, &UniqueKey::from_bytes(&[]), &owned).await;
        let plan = planned.map_err(|error| format!("a past event is impossible: {error}"))?;
        let events = plan.events.into_iter();
        let claims: Vec<_> = events
            .map(|one| one.into_candidate(&"test".into(), None))
            .collect();
        if claims.is_empty() {
            return Ok(0);
        }
        Ok(self.store.append(claims, vec![]).await?.len())
    }

    async fn then(
        self,
        before: usize,
        result: Result<CommandOutcome, CommandError>,
    ) -> Result<CommandExpectation, ScenarioError> {
        let read = self.store.read(Subject::root(), ReadOptions::recursive());
        let events: Vec<RecordedEvent> = read.try_collect().await?;
        let own: Subject = FRAMEWORK_SUBJECTS.parse()?;
        let appended = events.iter().skip(before);
        let foreign = appended.filter(|event| !event.subject.is_within(&own));
        let new = foreign
            .map(recorded_event_to_json)
            .collect::<Result<_, _>>()?;
        // The subject of a command in JSON is known only now.
        let subject = result.as_ref().map(|outcome| outcome.subject.clone());
        Ok(CommandExpectation::new(
            subject.unwrap_or(self.subject),
            self.upcasters,
            events,
            new,
            result,
        ))
    }
}

/// Formats an event for the message of a failed test.
pub(crate) fn recorded_event_to_json(event: &RecordedEvent) -> Result<Value, ScenarioError> {
    Ok(event_to_json(
        &event.subject,
        event.event_type.as_str(),
        event.raw_payload()?.get(),
    )?)
}
