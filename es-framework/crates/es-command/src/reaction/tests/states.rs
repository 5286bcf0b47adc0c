//! Reactions that take states: those after their event, or at their scheduled time, whenever they are executed.

use std::{
    convert::Infallible,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use futures_util::{StreamExt as _, stream};

use super::*;
use crate::{
    command::Parameter,
    reaction::{ClockMove, PendingCommands, box_commands},
};
use es_event::RecordedEvent;
use es_store::{AppendError, EventStream, ObserveOptions, Precondition, StoreError};

/// The number of times that an invoice was sent.
#[derive(Debug, State)]
struct Sendings {
    count: u32,
}

#[evolve]
impl Sendings {
    fn opened(_: &InvoicePaidEvent) -> Self {
        Self { count: 0 }
    }

    fn sent(&mut self, _: &InvoiceSentEvent) {
        self.count += 1;
    }
}

/// Sends a command that names the number of times.
struct StateCounter;

fn decide(
    event: &es_event::EventView<'_>,
    context: &ReactionContext<'_>,
) -> Result<PendingCommands, ReactionError> {
    let InvoiceSentEvent { id, .. } = event.payload()?;
    let sendings = context.rebuild_required::<Sendings>(event.recorded().subject.clone(), false);
    Ok(box_commands(async move {
        let count = sendings.await?.count;
        let mut commands = OutgoingCommands::default();
        RemindPayerCommand {
            id: format!("{id}-{count}"),
        }
        .add_to(&mut commands)?;
        Ok(commands)
    }))
}

impl React for StateCounter {
    const NAME: &'static str = "StateCounter";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "count",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Decide(decide),
        parameters: &[Parameter::of_state::<Sendings>("sendings", None, false)],
        commands: Vec::new,
    }];
}

#[tokio::test]
async fn a_state_is_that_after_the_event_although_later_ones_are_stored() {
    let world = World::at(DUE);
    for id in ["a", "b"] {
        world.write(id, InvoicePaidEvent {}).await;
    }
    for id in ["a", "b", "a", "a"] {
        world.send(id).await;
    }
    world.write("a", InvoicePaidEvent {}).await;
    world.catch_up::<StateCounter>().await;
    let mut reminded = world.reminded().await;
    reminded.sort();
    let expected = [
        "/invoices/a-1",
        "/invoices/a-2",
        "/invoices/a-3",
        "/invoices/b-1",
    ];
    assert_eq!(reminded, expected);
}

/// Writes down what it is told.
#[derive(Default, Service)]
struct Notebook {
    lines: Mutex<Vec<String>>,
}

impl Notebook {
    fn write(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = self.lines.lock().unwrap().clone();
        lines.sort();
        lines
    }
}

fn world_with_notebook(time: &str) -> (World, Arc<Notebook>) {
    let mut world = World::at(time);
    world.store = world.store.with_clock(world.clock.clone());
    let notebook = Arc::new(Notebook::default());
    world.services = world.services.with_shared(Arc::clone(&notebook));
    (world, notebook)
}

/// Tells how often an invoice was sent, and how often all of them were.
struct SendingNotes;

#[reaction]
impl SendingNotes {
    async fn note(
        event: &InvoiceSentEvent,
        notebook: &Notebook,
        sendings: &Sendings,
        #[subject("/invoices", recursive)] all: Option<&Sendings>,
    ) -> Result<(), Infallible> {
        let all = all.map(|all| all.count);
        notebook.write(format!("{} {} {all:?}", event.id, sendings.count));
        Ok(())
    }
}

#[tokio::test]
async fn a_call_takes_the_states_after_its_event_and_is_made_once() {
    let (world, notebook) = world_with_notebook(DUE);
    for id in ["a", "b"] {
        world.write(id, InvoicePaidEvent {}).await;
    }
    for id in ["a", "b", "a"] {
        world.send(id).await;
    }
    world.write("a", InvoicePaidEvent {}).await;
    world.catch_up::<SendingNotes>().await;
    world.catch_up::<SendingNotes>().await;
    let expected = ["a 1 Some(1)", "a 2 Some(3)", "b 1 Some(2)"];
    assert_eq!(notebook.lines(), expected);
}

#[tokio::test]
async fn a_call_without_its_state_is_not_made_and_holds_its_subject_alone() {
    let (world, notebook) = world_with_notebook(DUE);
    world.send("a").await;
    world.write("b", InvoicePaidEvent {}).await;
    world.send("b").await;
    let (running, operator) = world.start(&[ReactionDescriptor::of::<SendingNotes>()]);
    eventually(async || notebook.lines().len() == 1).await;
    eventually(async || operator.held("SendingNotes") == ["/invoices/a"]).await;
    let held = operator.progress("SendingNotes").held_keys();
    let held = held.iter().next().unwrap();
    // No attempt follows, as after a command that cannot be decided.
    assert!(held.next_attempt.is_none());
    let expected = "it cannot take event 0 on /invoices/a: /invoices/a has no state Sendings after the event or at the time of the schedule: take `Option<&Sendings>` if that may be";
    assert_eq!(held.poison.to_string(), expected);
    running.abort();
}

/// A store from which no state can be rebuilt while it is closed.
#[derive(Debug)]
struct ClosableStore {
    inner: MemoryStore,
    is_closed: Arc<AtomicBool>,
}

#[async_trait]
impl EventLog for ClosableStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.inner.append(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        if self.is_closed.load(Ordering::Relaxed) {
            let (address, reason) = ("memory".into(), "it is closed".into());
            return stream::iter([Err(StoreError::Unavailable { address, reason })]).boxed();
        }
        self.inner.read(subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.inner.observe(subject, options)
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_states_while_the_event_store_is_away_and_holds_nothing() {
    let (world, notebook) = world_with_notebook(DUE);
    world.write("a", InvoicePaidEvent {}).await;
    world.send("a").await;
    let is_closed = Arc::new(AtomicBool::new(true));
    let store: Arc<dyn EventLog> = Arc::new(ClosableStore {
        inner: world.store.clone(),
        is_closed: Arc::clone(&is_closed),
    });
    let mut runtime = world.runtime();
    runtime.command_resources =
        CommandResources::new(store, "test").with_services(world.services.clone());
    let reactions = Reactions::new([ReactionDescriptor::of::<SendingNotes>()]).unwrap();
    let runner = ReactionRunner::new(runtime, reactions);
    let progress = runner.progress();
    let running = tokio::spawn(runner.run());
    tokio::time::sleep(Duration::from_secs(60)).await;
    let progress = progress.find_progress("SendingNotes").unwrap();
    assert_eq!(progress.held_keys().iter().count(), 0);
    assert!(notebook.lines().is_empty());
    is_closed.store(false, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(notebook.lines(), ["a 1 Some(1)"]);
    running.abort();
}

/// Reminds of all invoices each night, and tells of them.
struct NightlyNotes;

#[reaction]
impl NightlyNotes {
    #[schedule(cron = "0 0 * * *", missed = all)]
    fn remind(
        time: Timestamp,
        #[subject("/invoices", recursive)] all: Option<&Sendings>,
    ) -> Option<RemindPayerCommand> {
        let count = all?.count;
        let id = format!("{}-{count}", time.strftime("%F"));
        Some(RemindPayerCommand { id })
    }

    #[schedule(cron = "0 0 * * *", missed = all)]
    async fn note(
        time: Timestamp,
        #[subject("/invoices", recursive)] all: Option<&Sendings>,
        notebook: &Notebook,
    ) -> Result<(), Infallible> {
        let all = all.map(|all| all.count);
        notebook.write(format!("{} {all:?}", time.strftime("%F")));
        Ok(())
    }
}

#[tokio::test]
async fn a_schedule_takes_the_states_at_each_of_its_times_also_when_they_are_met_late() {
    let (world, notebook) = world_with_notebook("2026-07-01T12:00:00Z");
    // The first time is met, so that the later ones are missed.
    let times = ["2026-07-01T12:00:00Z", "2026-07-02T12:00:00Z"];
    let times = times.map(|time| ClockMove::Jump(time.parse().unwrap()));
    let nightly = ReactionDescriptor::of::<NightlyNotes>();
    let ran = crate::reaction::catch_up_at(world.runtime(), nightly, &times).await;
    ran.unwrap();
    world.write("a", InvoicePaidEvent {}).await;
    for _ in 0..2 {
        world.advance(86_400);
        world.send("a").await;
    }
    world.advance(86_400);
    world.catch_up::<NightlyNotes>().await;
    let expected = [
        "2026-07-02 None",
        "2026-07-03 Some(0)",
        "2026-07-04 Some(1)",
        "2026-07-05 Some(2)",
    ];
    assert_eq!(notebook.lines(), expected);
    let expected = [
        "/invoices/2026-07-03-0",
        "/invoices/2026-07-04-1",
        "/invoices/2026-07-05-2",
    ];
    assert_eq!(world.reminded().await, expected);
}
