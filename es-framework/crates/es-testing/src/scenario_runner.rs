//! Runs a test: appends the past events, handles the command, and reads the new events.

use futures_util::TryStreamExt as _;
use serde_json::{Value, value::RawValue};

use crate::{
    event_json::event_to_json,
    expectation::CommandExpectation,
    scenario_store::{ScenarioError, ScenarioStore},
};
use es_command::{
    command::{CommandError, CommandOutcome, HandlerError, NewEvent, UntypedDecision},
    unique::{OwnedValues, UniqueKey, plan_claims},
};
use es_event::{
    Event, EventCandidate, EventDescriptor, EventType, Metadata, RecordedEvent, Subject,
    UnreadableValue, Upcasters,
};
use es_store::{EventLog, ReadOptions};

/// A step of the past of a scenario.
#[derive(Debug)]
pub(crate) enum PastStep {
    Event(PastEvent),
    /// The erasure of the person whose id ends the subject.
    Erasure(Subject),
}

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
    store: ScenarioStore,
    subject: Subject,
    upcasters: Upcasters,
}

/// The events of the framework are below this subject. A test does not compare them.
const FRAMEWORK_SUBJECTS: &str = "/es-framework";

impl ScenarioRunner {
    pub(crate) const fn new(store: ScenarioStore, subject: Subject, upcasters: Upcasters) -> Self {
        Self {
            store,
            subject,
            upcasters,
        }
    }

    /// Runs a test on its own thread and runtime, because the test itself may be asynchronous.
    pub(crate) fn run(
        self,
        past: Vec<PastStep>,
        handle: impl Future<Output = Result<CommandOutcome, CommandError>> + Send,
    ) -> Result<CommandExpectation, ScenarioError> {
        let test = async {
            let before = self.append_past(past).await?;
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

    /// Appends the past events, erases the persons who are erased between them, and returns the number of all events.
    pub(crate) async fn append_past(&self, past: Vec<PastStep>) -> Result<usize, ScenarioError> {
        let mut events = Vec::new();
        for step in past {
            match step {
                PastStep::Event(event) => events.push(event),
                PastStep::Erasure(person) => {
                    self.append_past_events(std::mem::take(&mut events)).await?;
                    self.store.erase(&person).await?;
                }
            }
        }
        self.append_past_events(events).await?;
        Ok(read_all(&*self.store.log()).await?.len())
    }

    async fn append_past_events(&self, past: Vec<PastEvent>) -> Result<(), ScenarioError> {
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
            return Ok(());
        }
        // The store returns the sealed form.
        let before = read_all(&*self.store.log()).await?.len();
        self.store.log().append(candidates, vec![]).await?;
        for event in read_all(&*self.store.log()).await?.iter().skip(before) {
            self.claim_values(event).await?;
        }
        Ok(())
    }

    /// Claims the unique values of a past event.
    async fn claim_values(&self, event: &RecordedEvent) -> Result<(), ScenarioError> {
        let mut declared = inventory::iter::<EventDescriptor>.into_iter();
        let Some(declared) = declared.find(|one| one.event_type == event.event_type.as_str())
        else {
            return Ok(());
        };
        let payload = event.raw_payload()?.get();
        let owned = OwnedValues::of_payload(&event.subject, declared, payload)?;
        let log = self.store.log();
        let planned = plan_claims(&*log, &UniqueKey::from_bytes(&[]), &owned).await;
        let plan = planned.map_err(|error| format!("a past event is impossible: {error}"))?;
        let events = plan.events.into_iter();
        let claims: Vec<_> = events
            .map(|one| one.into_candidate(&"test".into(), None))
            .collect();
        if !claims.is_empty() {
            log.append(claims, vec![]).await?;
        }
        Ok(())
    }

    async fn then(
        self,
        before: usize,
        result: Result<CommandOutcome, CommandError>,
    ) -> Result<CommandExpectation, ScenarioError> {
        let events = read_all(&*self.store.log()).await?;
        let new = new_events_to_json(&events, before)?;
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

/// Reads all events of a store.
pub(crate) async fn read_all(log: &dyn EventLog) -> Result<Vec<RecordedEvent>, ScenarioError> {
    let read = log.read(Subject::root(), ReadOptions::recursive());
    Ok(read.try_collect().await?)
}

/// Formats the events of the application after this number of events.
pub(crate) fn new_events_to_json(
    events: &[RecordedEvent],
    before: usize,
) -> Result<Vec<Value>, ScenarioError> {
    let framework: Subject = FRAMEWORK_SUBJECTS.parse()?;
    let new = events.iter().skip(before);
    let own = new.filter(|event| !event.subject.is_within(&framework));
    own.map(recorded_event_to_json).collect()
}

/// Formats an event for the message of a failed test.
fn recorded_event_to_json(event: &RecordedEvent) -> Result<Value, ScenarioError> {
    Ok(event_to_json(
        &event.subject,
        event.event_type.as_str(),
        event.raw_payload()?.get(),
    )?)
}
