//! Tests of publications: publishes the events of a scenario, over an in-memory store.

use std::thread;

use serde_json::{Value, json};

use crate::{
    difference::assert_same,
    scenario::Scenario,
    scenario_runner::{ScenarioRunner, read_all},
    scenario_store::{ScenarioError, ScenarioStore},
};
use es_command::{
    command::CommandResources,
    publication::{
        IntoPublicEvents, OutgoingEvent, OutgoingEvents, PendingEvents, PublicationDescriptor,
        Publications,
    },
    reaction::ReactionError,
};
use es_event::{RecordedEvent, Subject, UpcasterDescriptor, Upcasters};

impl Scenario {
    /// Publishes the past events with all publications of the application, and expects exactly these public events, in
    /// their order: one, several as a tuple or a `Vec`. The states are those after each event. An event without its own
    /// subject needs [`Scenario::event_on`].
    ///
    /// ```
    /// use es_framework::{prelude::*, testing::given};
    ///
    /// #[derive(Event)]
    /// struct BookReturnedEvent {
    ///     id: Uuid,
    ///     reader: Uuid,
    /// }
    ///
    /// /// A copy can be borrowed again.
    /// #[derive(PublicEvent)]
    /// struct CopyAvailable {
    ///     id: Uuid,
    /// }
    ///
    /// #[publish]
    /// fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
    ///     CopyAvailable { id: event.id }
    /// }
    ///
    /// let (id, reader) = (Uuid::nil(), Uuid::max());
    /// given()
    ///     .event_on("/books/42", BookReturnedEvent { id, reader })
    ///     .then_published(CopyAvailable { id });
    /// ```
    ///
    /// # Panics
    /// Other events were published, a publication fails at an event, or the scenario is impossible.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn then_published(self, events: impl IntoPublicEvents) {
        let mut expected = OutgoingEvents::default();
        if let Err(error) = events.add_to(&mut expected) {
            panic!("{error}");
        }
        self.compare_published(&expected);
    }

    /// Expects that no publication of the application publishes one of the past events.
    ///
    /// # Panics
    /// An event was published, a publication fails at an event, or the scenario is impossible.
    #[track_caller]
    pub fn then_published_nothing(self) {
        self.compare_published(&OutgoingEvents::default());
    }

    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    fn compare_published(self, expected: &OutgoingEvents) {
        let publishing = || -> Result<ShownEvents, ScenarioError> {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let published = runtime.enable_time().build()?.block_on(publish(self))?;
            shown_events(&published)
        };
        // The test itself may be asynchronous, so the publications have their own thread and runtime.
        let published = thread::scope(|scope| {
            let published = scope.spawn(publishing).join();
            published.unwrap_or_else(|_| Err("a publication panicked: see above".into()))
        });
        match published.and_then(|published| Ok((published, shown_events(expected.iter())?))) {
            Ok((published, expected)) => assert_same("the public events", &expected, &published),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Public events as JSON, for the message of a failed test.
type ShownEvents = Vec<Value>;

fn shown_events<'a>(
    events: impl IntoIterator<Item = &'a OutgoingEvent>,
) -> Result<ShownEvents, ScenarioError> {
    let shown = events.into_iter().map(|event| {
        let data: Value = serde_json::from_str(event.data.get())?;
        Ok(json!({"type": event.event_type, "data": data}))
    });
    shown.collect()
}

/// Publishes the past events of a scenario.
async fn publish(scenario: Scenario) -> Result<Vec<OutgoingEvent>, ScenarioError> {
    let publications = Publications::new(inventory::iter::<PublicationDescriptor>().copied())?;
    let upcasters = Upcasters::new(inventory::iter::<UpcasterDescriptor>().copied())?;
    let (past, services) = scenario.into_parts();
    let store = ScenarioStore::new(services.clock());
    let runner = ScenarioRunner::new(store.clone(), Subject::root(), upcasters.clone());
    runner.append_past(past).await?;
    // In states, all personal values are replaced.
    let resources = CommandResources::new(store.redacted_log(), "test")
        .with_services(services)
        .with_upcasters(upcasters.clone());
    let mut published = Vec::new();
    for event in read_all(&*store.log()).await? {
        for pending in start_publications(&event, &publications, &upcasters, &resources)? {
            published.extend(pending.await?.iter().cloned());
        }
    }
    Ok(published)
}

/// Calls the publications of a stored event.
fn start_publications(
    event: &RecordedEvent,
    publications: &Publications,
    upcasters: &Upcasters,
    resources: &CommandResources,
) -> Result<Vec<PendingEvents>, ReactionError> {
    let mut pending = Vec::new();
    upcasters.read(event, |view| {
        for publication in publications.iter() {
            if publication.event == view.event_type() {
                pending.push(publication.publish_event(&view, resources)?);
            }
        }
        Ok::<_, ReactionError>(())
    })?;
    Ok(pending)
}
