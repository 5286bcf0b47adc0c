//! Tests of reactions: runs a reaction on the events of a scenario, over an in-memory store.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::TryStreamExt as _;
use serde_json::{Value, json};

use crate::{
    difference::assert_same,
    event_json::expected_events_to_json,
    scenario::Scenario,
    scenario_runner::{FRAMEWORK_SUBJECTS, ScenarioError, ScenarioRunner, recorded_event_to_json},
};
use es_command::{
    command::{CommandResources, IntoDecision, Services},
    reaction::{
        IntoCommands, OutgoingCommand, OutgoingCommands, React, ReactionDescriptor,
        ReactionRuntime, ReactionStep, ReactionTiming, StartPosition, catch_up_at,
    },
};
use es_event::{DecodeError, RecordedEvent, Subject, UpcasterDescriptor, Upcasters};
use es_store::{EventLog, ReadOptions, memory::MemoryStore};
use es_subscribe::state::StateDatabase;

/// Compares the commands and events of a reaction with those that a test expects.
/// [`Scenario::reacts`] creates it.
///
/// ```
/// use es_framework::{prelude::*, testing::given};
/// # #[derive(Event)]
/// # struct BookBorrowedEvent { id: Uuid }
/// # #[derive(Event)]
/// # struct ReaderRemindedEvent {}
/// # #[derive(Command)]
/// # #[command(subject = "/books/{id}", internal)]
/// # struct RemindReaderCommand { id: Uuid }
/// # #[handler]
/// # fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent { ReaderRemindedEvent {} }
/// # struct LoanReminder;
/// # #[reaction]
/// # impl LoanReminder {
/// #     fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
/// #         RemindReaderCommand { id: event.id }
/// #     }
/// # }
/// let id = Uuid::nil();
///
/// given()
///     .event_on("/books/42", BookBorrowedEvent { id })
///     .reacts::<LoanReminder>()
///     .then_sent(RemindReaderCommand { id });
/// ```
#[derive(Debug)]
pub struct ReactionExpectation {
    sent: Vec<Value>,
    events: Vec<Value>,
    /// The reason why the reaction cannot act in this scenario.
    obstacle: Option<String>,
}

impl Scenario {
    /// Runs a reaction on the events at the time of the test. It executes immediate steps and due
    /// deadlines, and handles the sent commands. After each [`Scenario::advance`] it does so again. An event without
    /// its own subject needs [`Scenario::event_on`]. The reaction begins before the first event, also with `begin = new`.
    ///
    /// # Panics
    /// The reaction fails at an event, or the scenario is impossible.
    #[must_use = "nothing is tested before one of the functions that begin with `then`"]
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn reacts<R: React>(self) -> ReactionExpectation {
        let reaction = ReactionDescriptor::of::<R>();
        let reacting = || -> Result<ReactionExpectation, ScenarioError> {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime
                .enable_all()
                .build()?
                .block_on(react(self, reaction))
        };
        // The test itself may be asynchronous, so the reaction has its own thread and runtime.
        let reacted = std::thread::scope(|scope| {
            let reacted = scope.spawn(reacting).join();
            reacted.unwrap_or_else(|_| Err("the reaction panicked: see above".into()))
        });
        reacted.unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Runs a reaction on the past events of a scenario.
async fn react(
    scenario: Scenario,
    reaction: ReactionDescriptor,
) -> Result<ReactionExpectation, ScenarioError> {
    let times = scenario.times();
    let (past, services) = scenario.into_parts();
    let upcasters = Upcasters::new(inventory::iter::<UpcasterDescriptor>().copied())?;
    let store = MemoryStore::new();
    let runner = ScenarioRunner::new(store.clone(), Subject::root(), upcasters.clone());
    let before = runner.append_past_events(past).await?;
    let obstacle = find_obstacle(&store, &upcasters, &reaction).await?;
    // The past events of a scenario are those that the reaction is to see.
    let reaction = ReactionDescriptor {
        start: StartPosition::First,
        ..reaction
    };
    let sent = Arc::new(Mutex::new(Vec::new()));
    let port: Arc<dyn EventLog> = Arc::new(store.clone());
    let runtime = runtime(port, services, upcasters, &sent);
    catch_up_at(runtime, reaction, &times).await?;
    let read = store.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<RecordedEvent> = read.try_collect().await?;
    let own: Subject = FRAMEWORK_SUBJECTS.parse()?;
    let appended = events.iter().skip(before);
    let new = appended.filter(|event| !event.subject.is_within(&own));
    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(ReactionExpectation {
        sent: sent.iter().map(shown_command).collect::<Result<_, _>>()?,
        events: new.map(recorded_event_to_json).collect::<Result<_, _>>()?,
        obstacle,
    })
}

/// Returns the reason why no step of the reaction follows from the past events, if none does.
async fn find_obstacle(
    store: &MemoryStore,
    upcasters: &Upcasters,
    reaction: &ReactionDescriptor,
) -> Result<Option<String>, ScenarioError> {
    let read = store.read(Subject::root(), ReadOptions::recursive());
    let past: Vec<RecordedEvent> = read.try_collect().await?;
    let types = || reaction.steps.iter().map(|step| step.event);
    let is_schedule = |step: &ReactionStep| matches!(step.when, ReactionTiming::Schedule(_));
    let mut is_reached = reaction.steps.iter().any(is_schedule);
    for event in &past {
        upcasters.read(event, |view| {
            is_reached |= types().any(|event_type| event_type == view.event_type());
            Ok::<_, DecodeError>(())
        })?;
    }
    Ok((!is_reached).then(|| {
        let (name, types) = (reaction.name, types().collect::<Vec<_>>().join(", "));
        format!(
            "{name} could do nothing, because no event of the scenario starts it: add one of {types}"
        )
    }))
}

fn runtime(
    store: Arc<dyn EventLog>,
    services: Services,
    upcasters: Upcasters,
    sent: &Arc<Mutex<Vec<OutgoingCommand>>>,
) -> ReactionRuntime {
    let command_resources = CommandResources::new(Arc::clone(&store), "test")
        .with_services(services.clone())
        .with_upcasters(upcasters.clone());
    ReactionRuntime {
        command_resources,
        store,
        source: "test".into(),
        services,
        upcasters,
        state: StateDatabase::in_memory(),
        sent_commands: Some(Arc::clone(sent)),
    }
}

fn shown_command(sent: &OutgoingCommand) -> Result<Value, serde_json::Error> {
    let values: Value = serde_json::from_slice(&sent.body)?;
    Ok(json!({"command": sent.command.name, "values": values}))
}

impl ReactionExpectation {
    /// Expects exactly these commands: one, several as a tuple or a `Vec`, or `()` for none.
    ///
    /// # Panics
    /// The reaction sent other commands.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn then_sent(self, commands: impl IntoCommands) -> Self {
        let mut outgoing = OutgoingCommands::default();
        let expected = commands
            .add_to(&mut outgoing)
            .map_err(|error| error.to_string())
            .and_then(|()| {
                let shown = outgoing.iter().map(shown_command);
                let shown: Result<Vec<_>, _> = shown.collect();
                shown.map_err(|error| error.to_string())
            });
        match expected {
            Ok(expected) => assert_same("the commands", &expected, &self.sent),
            Err(error) => panic!("{error}"),
        }
        self
    }

    /// Expects exactly these new events, on this subject unless they have their own.
    ///
    /// # Panics
    /// Other events were recorded.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn then_on(self, subject: &str, events: impl IntoDecision) -> Self {
        let subject: Subject = match subject.parse() {
            Ok(subject) => subject,
            Err(error) => panic!("{error}"),
        };
        assert_same(
            "the events",
            &expected_events_to_json(subject, events),
            &self.events,
        );
        self
    }

    /// Expects no commands and no events, although an event of the scenario starts the reaction.
    ///
    /// # Panics
    /// The reaction sent a command or recorded an event, or no event of the scenario starts it.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn then_nothing(self) {
        if let Some(reason) = self.obstacle {
            panic!("{reason}");
        }
        assert_same("the commands", &Vec::new(), &self.sent);
        assert_same("the events", &Vec::new(), &self.events);
    }
}
