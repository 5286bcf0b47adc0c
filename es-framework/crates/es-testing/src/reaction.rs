//! Tests of reactions: runs a reaction on the events of a scenario, over an in-memory store.

use std::{
    panic::Location,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use serde_json::{Value, json};

use crate::{
    difference::assert_same,
    event_json::expected_events_to_json,
    scenario::Scenario,
    scenario_runner::{ScenarioRunner, new_events_to_json, read_all},
    scenario_store::{ScenarioError, ScenarioStore},
};
use es_command::{
    command::{CommandResources, IntoDecision, Services},
    reaction::{
        IntoCommands, OutgoingCommand, OutgoingCommands, React, ReactionDescriptor,
        ReactionRuntime, ReactionStep, ReactionTiming, StartPosition, catch_up_at,
    },
};
use es_event::{DecodeError, RecordedEvent, Subject, UpcasterDescriptor, Upcasters};
use es_store::EventLog;
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
    /// The new events that no [`ReactionExpectation::then_on`] has expected.
    events: Vec<Value>,
    /// The place of the last [`ReactionExpectation::then_on`], at whose end no event may be left.
    then_on: Option<&'static Location<'static>>,
    /// The reason why the reaction cannot act in this scenario.
    obstacle: Option<String>,
}

impl Scenario {
    /// Runs a reaction on the events until nothing is due any more at the time of the test. It executes immediate
    /// steps, due deadlines and schedules, handles the sent commands, and goes on with the events that follow from
    /// them. During a [`Scenario::advance`] it runs at each time at which something is due. An event without its own subject needs [`Scenario::event_on`]. The reaction begins before the first event, also with `begin = new`.
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
    let moves = scenario.moves();
    let (past, services) = scenario.into_parts();
    let upcasters = Upcasters::new(inventory::iter::<UpcasterDescriptor>().copied())?;
    let clock = services.clock();
    if let Some(first) = moves.first() {
        clock.set(first.end());
    }
    let store = ScenarioStore::new(clock);
    let runner = ScenarioRunner::new(store.clone(), Subject::root(), upcasters.clone());
    let before = runner.append_past(past).await?;
    let past = read_all(&*store.log()).await?;
    let obstacle = find_obstacle(&past, &upcasters, &reaction)?;
    // The past events of a scenario are those that the reaction is to see.
    let reaction = ReactionDescriptor {
        start: StartPosition::First,
        ..reaction
    };
    let sent = Arc::new(Mutex::new(Vec::new()));
    let runtime = runtime(store.log(), services, upcasters, &sent);
    catch_up_at(runtime, reaction, &moves).await?;
    let events = read_all(&*store.log()).await?;
    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(ReactionExpectation {
        sent: sent.iter().map(shown_command).collect::<Result<_, _>>()?,
        events: new_events_to_json(&events, before)?,
        then_on: None,
        obstacle,
    })
}

/// Returns the reason why no step of the reaction follows from the past events, if none does.
fn find_obstacle(
    past: &[RecordedEvent],
    upcasters: &Upcasters,
    reaction: &ReactionDescriptor,
) -> Result<Option<String>, ScenarioError> {
    let types = || reaction.steps.iter().map(|step| step.event);
    let is_schedule = |step: &ReactionStep| matches!(step.when, ReactionTiming::Schedule(_));
    let mut is_reached = reaction.steps.iter().any(is_schedule);
    for event in past {
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
        redacted_resources: None,
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

    /// Expects these new events, on this subject unless they have their own. Expects nothing on this subject with `()`.
    /// Several calls add up, each for its subjects. After the last one, no other event may be left.
    ///
    /// # Panics
    /// Other events were recorded.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn then_on(mut self, subject: &str, events: impl IntoDecision) -> Self {
        let subject: Subject = match subject.parse() {
            Ok(subject) => subject,
            Err(error) => panic!("{error}"),
        };
        self.then_on = Some(Location::caller());
        let mut subjects = vec![json!(subject)];
        let expected = expected_events_to_json(subject, events);
        if !expected.is_empty() {
            let expected = expected.iter();
            subjects = expected.map(|event| event["subject"].clone()).collect();
        }
        let recorded = std::mem::take(&mut self.events).into_iter();
        let (mut own, others): (Vec<_>, Vec<_>) =
            recorded.partition(|event| subjects.contains(&event["subject"]));
        // Those behind them are for a later call.
        let rest = match expected.len() {
            0 => Vec::new(),
            count => own.split_off(count.min(own.len())),
        };
        assert_same("the events", &expected, &own);
        self.events = others.into_iter().chain(rest).collect();
        self
    }

    /// Expects no commands and no events, although an event of the scenario starts the reaction.
    ///
    /// # Panics
    /// The reaction sent a command or recorded an event, or no event of the scenario starts it.
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by panicking")]
    pub fn then_nothing(self) {
        if let Some(reason) = &self.obstacle {
            panic!("{reason}");
        }
        assert_same("the commands", &Vec::new(), &self.sent);
        assert_same("the events", &Vec::new(), &self.events);
    }
}

impl Drop for ReactionExpectation {
    fn drop(&mut self) {
        if let (Some(place), false) = (self.then_on, thread::panicking()) {
            let others = format!("the events that no `then_on` up to {place} expects");
            assert_same(&others, &Vec::new(), &self.events);
        }
    }
}
