//! Tests of reactions: once, in time, and after every restart.

mod calls;
mod calls_once;
mod checkpoints;
mod damaged_store;
mod deadlines;
mod faults;
mod handover;
mod held_subjects;
mod limit;
mod old_checkpoints;
mod one_at_a_time;
mod operate;
mod panics;
mod parallel_calls;
mod schedules;
mod sinks;
mod state_database;
mod states;

use std::{sync::Arc, time::Duration};

use futures_util::TryStreamExt as _;

use super::{
    Deadline, DeadlineField as _, IntoCommands as _, OutgoingCommands, PoisonEvent, React,
    ReactionAction, ReactionContext, ReactionDescriptor, ReactionError, ReactionRunner,
    ReactionRuntime, ReactionStep, ReactionTiming, Reactions, StartPosition, catch_up,
};
use crate::command::{CommandResources, Services};
use crate::prelude::*;
use es_event::{
    Declaration, EventCandidate, EventSelection, EventType, Subject, Upcasters, declaration,
};
use es_store::{EventLog, ReadOptions, memory::MemoryStore};
use es_subscribe::{
    ProgressRegistry, SubscriberProgress,
    operator::{OperatorClient, OperatorCommand, OperatorError},
    state::StateDatabase,
};

const DUE: &str = "2026-03-01T00:00:00Z";
const PATIENCE: Duration = Duration::from_secs(60);

/// An invoice went out.
#[derive(Debug, Event)]
struct InvoiceSentEvent {
    id: String,
    due_at: Timestamp,
}

/// It was paid.
#[derive(Debug, Event)]
struct InvoicePaidEvent {}

/// Somebody asked for the money.
#[derive(Debug, PartialEq, Event)]
struct ReminderSentEvent {}

/// Asks for the money.
#[derive(Debug, Command)]
#[command(subject = "/invoices/{id}")]
struct RemindPayerCommand {
    id: String,
}

#[handler]
fn remind(_: RemindPayerCommand) -> ReminderSentEvent {
    ReminderSentEvent {}
}

fn to_command(
    view: &es_event::EventView<'_>,
    _: &ReactionContext<'_>,
    commands: &mut OutgoingCommands,
) -> Result<(), ReactionError> {
    let InvoiceSentEvent { id, .. } = view.payload()?;
    RemindPayerCommand { id }.add_to(commands)
}

/// A handwritten reaction that sends a command when an invoice is due.
struct Dunning;

impl React for Dunning {
    const NAME: &'static str = "Dunning";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "remind",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Deadline(Deadline {
            at: |view| Ok(view.payload::<InvoiceSentEvent>()?.due_at.time()),
            unless: &[InvoicePaidEvent::TYPE],
        }),
        action: ReactionAction::Send(to_command),
        parameters: &[],
        commands: Vec::new,
    }];
}

/// A reaction that sends the command immediately, and only for events after its first start.
struct ImmediateReminder;

impl React for ImmediateReminder {
    const NAME: &'static str = "ImmediateReminder";
    const START: StartPosition = StartPosition::New;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "remind",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Send(to_command),
        parameters: &[],
        commands: Vec::new,
    }];
}

/// A store with past events, a state database, and a fixed clock.
struct World {
    store: MemoryStore,
    state: StateDatabase,
    clock: Clock,
    services: Services,
}

impl World {
    fn at(time: &str) -> Self {
        let clock = Clock::at(time.parse().unwrap());
        let services = Services::default().with(clock.clone());
        let store = MemoryStore::new();
        Self {
            store,
            state: StateDatabase::in_memory(),
            clock,
            services,
        }
    }

    fn runtime(&self) -> ReactionRuntime {
        let store: Arc<dyn EventLog> = Arc::new(self.store.clone());
        ReactionRuntime {
            command_resources: CommandResources::new(Arc::clone(&store), "test")
                .with_services(self.services.clone()),
            redacted_resources: None,
            store,
            source: "test".into(),
            services: self.services.clone(),
            upcasters: Upcasters::default(),
            state: self.state.another_instance(),
            sent_commands: None,
        }
    }

    async fn write<E: Event>(&self, id: &str, payload: E) {
        let candidate = EventCandidate {
            source: "test".into(),
            subject: format!("/invoices/{id}").parse().unwrap(),
            event_type: EventType::declared(E::TYPE),
            data: es_event::encode(&Metadata::default(), &payload).unwrap(),
            trace: None,
        };
        self.store.append(vec![candidate], vec![]).await.unwrap();
    }

    async fn send(&self, id: &str) {
        let due_at = DUE.parse().unwrap();
        let id = id.to_owned();
        self.write(&id.clone(), InvoiceSentEvent { id, due_at })
            .await;
    }

    async fn catch_up<R: React>(&self) {
        let reaction = ReactionDescriptor::of::<R>();
        catch_up(self.runtime(), reaction).await.unwrap();
    }

    /// Waits until a reaction has executed all tasks that are due at once. A process that is killed before repeats a call.
    async fn wait_until_done(&self, reaction: &str) {
        eventually(async || {
            let ready = self.state.count_ready(reaction).await.unwrap();
            let held = self.state.failed_tasks(reaction).await.unwrap();
            ready <= held.len().try_into().unwrap()
        })
        .await;
    }

    /// Moves the clock.
    fn advance(&self, seconds: i64) {
        let now = self.clock.now();
        self.clock
            .set(now + jiff::SignedDuration::from_secs(seconds));
    }

    /// The subjects of all reminders.
    async fn reminded(&self) -> Vec<String> {
        let events = self.store.read(Subject::root(), ReadOptions::recursive());
        let events: Vec<_> = events.try_collect().await.unwrap();
        let reminders = events
            .iter()
            .filter(|event| event.event_type.as_str() == ReminderSentEvent::TYPE);
        reminders.map(|event| event.subject.to_string()).collect()
    }

    fn start(&self, reactions: &[ReactionDescriptor]) -> (tokio::task::JoinHandle<()>, Operator) {
        let reactions = Reactions::new(reactions.iter().copied()).unwrap();
        let runner = ReactionRunner::new(self.runtime(), reactions);
        let operator = Operator {
            client: runner.operator_client(),
            progress: runner.progress(),
        };
        (tokio::spawn(runner.run()), operator)
    }
}

/// The operator of reactions that run.
struct Operator {
    client: OperatorClient,
    progress: ProgressRegistry,
}

impl Operator {
    async fn send(
        &self,
        reaction: &str,
        command: OperatorCommand,
    ) -> Result<Option<PoisonEvent>, OperatorError> {
        let outcome = self.client.send_command(reaction, command).await?;
        Ok(outcome.event)
    }

    /// Sends a command, and returns the number of held subjects that it was about, and of those that it released.
    async fn retried(
        &self,
        reaction: &str,
        command: OperatorCommand,
        selection: Option<EventSelection>,
    ) -> (usize, usize) {
        let sent = self.client.send_selection(reaction, command, selection);
        let outcome = sent.await.unwrap();
        (outcome.retried, outcome.released)
    }

    fn progress(&self, reaction: &str) -> &SubscriberProgress {
        self.progress.find_progress(reaction).unwrap()
    }

    /// The subjects that a reaction holds.
    fn held(&self, reaction: &str) -> Vec<String> {
        let held = self.progress(reaction).held_keys();
        let mut held: Vec<_> = held.iter().map(|held| held.key.clone()).collect();
        held.sort();
        held
    }
}

async fn eventually(mut holds: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .expect("it comes");
}

#[tokio::test]
async fn a_deadline_leads_to_its_command_once_its_time_has_come() {
    let world = World::at("2026-02-28T23:59:59Z");
    world.send("a").await;
    world.catch_up::<Dunning>().await;
    assert!(world.reminded().await.is_empty());
    world.clock.set(DUE.parse().unwrap());
    for _ in 0..3 {
        world.catch_up::<Dunning>().await;
        assert_eq!(world.reminded().await, ["/invoices/a"]);
    }
}

#[tokio::test]
async fn a_deadline_is_cancelled_on_its_subject_alone() {
    let world = World::at(DUE);
    world.send("a").await;
    world.send("b").await;
    world.write("a", InvoicePaidEvent {}).await;
    world.catch_up::<Dunning>().await;
    assert_eq!(world.reminded().await, ["/invoices/b"]);
}

#[tokio::test]
async fn what_was_cancelled_is_due_anew_after_another_event() {
    let world = World::at(DUE);
    world.send("a").await;
    world.write("a", InvoicePaidEvent {}).await;
    world.send("a").await;
    world.catch_up::<Dunning>().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
}

#[tokio::test]
async fn a_deadline_survives_restarts_on_each_side_of_its_plan() {
    let world = World::at("2026-02-01T00:00:00Z");
    world.send("a").await;
    let dunning = [ReactionDescriptor::of::<Dunning>()];
    let (running, operator) = world.start(&dunning);
    eventually(async || operator.progress("Dunning").open_deadlines().count == 1).await;
    running.abort();
    world.send("b").await;
    world.clock.set(DUE.parse().unwrap());
    let (running, _) = world.start(&dunning);
    eventually(async || world.reminded().await.len() == 2).await;
    running.abort();
    world.catch_up::<Dunning>().await;
    assert_eq!(world.reminded().await, ["/invoices/a", "/invoices/b"]);
}

#[tokio::test]
async fn several_instances_send_each_command_once() {
    let world = World::at("2026-02-01T00:00:00Z");
    let dunning = [ReactionDescriptor::of::<Dunning>()];
    let running: Vec<_> = (0..3).map(|_| world.start(&dunning).0).collect();
    for id in 0..50 {
        world.send(&id.to_string()).await;
    }
    world.clock.set(DUE.parse().unwrap());
    eventually(async || world.reminded().await.len() >= 50).await;
    running.iter().for_each(tokio::task::JoinHandle::abort);
    world.catch_up::<Dunning>().await;
    let mut reminded = world.reminded().await;
    reminded.sort();
    reminded.dedup();
    assert_eq!((reminded.len(), world.reminded().await.len()), (50, 50));
}

#[tokio::test]
async fn a_reaction_may_pass_over_what_was_there_before_it() {
    let world = World::at(DUE);
    world.send("old").await;
    world.catch_up::<ImmediateReminder>().await;
    world.send("new").await;
    world.catch_up::<ImmediateReminder>().await;
    assert_eq!(world.reminded().await, ["/invoices/new"]);
}

#[tokio::test]
async fn a_command_whose_record_an_erasure_has_blanked_is_refused_for_good_and_holds_nothing() {
    let world = World::at(DUE);
    world.send("a").await;
    world.catch_up::<Dunning>().await;
    let events = world.store.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = events.try_collect().await.unwrap();
    let is_record = |event: &&es_event::RecordedEvent| {
        event.event_type.as_str() == "io.es-framework.CommandHandledEvent"
    };
    let record = events.iter().find(is_record).unwrap();
    let mut payload: serde_json::Value = record.payload().unwrap();
    payload["request"] = "".into();
    // The reaction begins anew, as after a rebuild.
    let erased = World::at(DUE);
    erased.send("a").await;
    let blanked = EventCandidate {
        source: "test".into(),
        subject: record.subject.clone(),
        event_type: record.event_type.clone(),
        data: es_event::encode(&Metadata::default(), &payload).unwrap(),
        trace: None,
    };
    erased.store.append(vec![blanked], vec![]).await.unwrap();
    erased.catch_up::<Dunning>().await;
    assert!(erased.reminded().await.is_empty());
}

#[test]
fn two_reactions_of_one_name_do_not_start() {
    let other = ReactionDescriptor {
        declaration: declaration!(),
        ..ReactionDescriptor::of::<Dunning>()
    };
    let refused = Reactions::new([ReactionDescriptor::of::<Dunning>(), other]).unwrap_err();
    assert!(
        refused
            .to_string()
            .starts_with("two reactions are named Dunning")
    );
}
