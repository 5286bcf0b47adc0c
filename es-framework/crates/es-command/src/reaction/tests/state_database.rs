//! Tests of the state database: what was planned is executed, and a wrong database executes nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{held_subjects::CLERK, *};
use es_subscribe::{TroubleCause, operator::ComponentKind};

const DUNNING: [ReactionDescriptor; 1] = [ReactionDescriptor::of::<Dunning>()];

/// Expects that the reaction has stopped because of the database or the events, and that a rebuild lets it begin.
async fn rebuild(operator: &Operator, sentence: &str) {
    let state = || operator.progress("Dunning").state();
    eventually(async || state().is_stopped()).await;
    let trouble = state().trouble().unwrap().clone();
    assert_eq!(trouble.cause, TroubleCause::Checkpoint);
    assert!(trouble.reason.contains(sentence), "{trouble:?}");
    let exits = state().exits(ComponentKind::Reaction);
    assert_eq!(exits, [OperatorCommand::Rebuild, OperatorCommand::Retry]);
    let rebuilt = operator.send("Dunning", OperatorCommand::Rebuild).await;
    assert_eq!(rebuilt, Ok(None));
    eventually(async || state().name() == "working").await;
}

#[tokio::test]
async fn reactions_do_not_run_without_the_database_that_has_their_tasks() {
    let mut world = World::at(DUE);
    world.send("a").await;
    world.catch_up::<Dunning>().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
    world.state = StateDatabase::in_memory();
    world.send("b").await;
    let (running, operator) = world.start(&DUNNING);
    let stopped = || operator.progress("Dunning").is_stopped();
    eventually(async || stopped()).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
    rebuild(&operator, "in another state database").await;
    let reminded = ["/invoices/a", "/invoices/b"];
    eventually(async || world.reminded().await == reminded).await;
    world.stop(running).await;
    world.catch_up::<Dunning>().await;
    assert_eq!(world.reminded().await, reminded);
}

#[tokio::test]
async fn a_reaction_does_not_run_with_events_that_were_restored_from_an_older_copy() {
    let mut world = World::at("2026-02-01T00:00:00Z");
    world.send("a").await;
    let copy = world.store.clone();
    let events = copy.read(Subject::root(), ReadOptions::recursive());
    let copied: Vec<_> = events.try_collect().await.unwrap();
    world.write("b", InvoicePaidEvent {}).await;
    world.send("c").await;
    world.catch_up::<Dunning>().await;
    world.store = MemoryStore::new();
    for event in copied {
        let candidate = EventCandidate {
            source: event.source,
            subject: event.subject,
            event_type: event.event_type,
            data: event.data,
            trace: None,
        };
        world.store.append(vec![candidate], vec![]).await.unwrap();
    }
    world.clock.set(DUE.parse().unwrap());
    let (running, operator) = world.start(&DUNNING);
    rebuild(&operator, "is missing or is another one").await;
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    world.stop(running).await;
}

#[tokio::test]
async fn an_application_whose_reactions_have_nothing_to_do_writes_nothing() {
    let world = World::at(DUE);
    let (running, operator) = world.start(&CLERK);
    eventually(async || operator.progress("Clerk").has_caught_up()).await;
    world.write("a", InvoicePaidEvent {}).await;
    let first = es_event::EventId::new(0);
    eventually(async || operator.progress("Clerk").position() >= first).await;
    world.stop(running).await;
    assert_eq!(es_store::newest_id(&world.store).await.unwrap(), first);
}

/// A reaction that sends a command for one subject alone.
struct PickyReminder;

impl React for PickyReminder {
    const NAME: &'static str = "PickyReminder";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        when: ReactionTiming::Immediate,
        action: ReactionAction::Send(|view, _, commands| {
            let InvoiceSentEvent { id, .. } = view.payload()?;
            let is_picked = id == "picked";
            is_picked
                .then_some(RemindPayerCommand { id })
                .add_to(commands)
        }),
        ..Dunning::STEPS[0]
    }];
}

#[tokio::test]
async fn a_reaction_that_sends_nothing_after_an_event_writes_nothing() {
    let world = World::at(DUE);
    let reactions = [ReactionDescriptor::of::<PickyReminder>()];
    let (running, operator) = world.start(&reactions);
    world.send("other").await;
    let first = es_event::EventId::new(0);
    eventually(async || operator.progress("PickyReminder").position() >= first).await;
    assert_eq!(es_store::newest_id(&world.store).await.unwrap(), first);
    world.send("picked").await;
    eventually(async || world.reminded().await == ["/invoices/picked"]).await;
    world.stop(running).await;
}

static IS_FIXED: AtomicBool = AtomicBool::new(false);

/// A reaction whose deadline cannot be read at first.
struct LateDunning;

impl React for LateDunning {
    const NAME: &'static str = "LateDunning";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        when: ReactionTiming::Deadline(Deadline {
            at: |view| {
                assert!(IS_FIXED.load(Ordering::Relaxed), "it has no date");
                Ok(view.payload::<InvoiceSentEvent>()?.due_at.time())
            },
            unless: &[InvoicePaidEvent::TYPE],
        }),
        ..Dunning::STEPS[0]
    }];
}

#[tokio::test]
async fn an_event_that_is_planned_late_respects_those_that_cancelled_its_deadline() {
    let world = World::at("2026-02-01T00:00:00Z");
    world.send("a").await;
    world.send("b").await;
    let (running, operator) = world.start(&[ReactionDescriptor::of::<LateDunning>()]);
    let progress = operator.progress("LateDunning");
    eventually(async || operator.held("LateDunning").len() == 2).await;
    world.write("b", InvoicePaidEvent {}).await;
    let newest = es_store::newest_id(&world.store).await.unwrap();
    eventually(async || progress.position() >= newest).await;
    IS_FIXED.store(true, Ordering::Relaxed);
    let retried = operator.retried("LateDunning", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (2, 2));
    world.clock.set(DUE.parse().unwrap());
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    world.stop(running).await;
    world.catch_up::<LateDunning>().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
}

#[tokio::test]
async fn a_task_of_a_function_that_is_gone_holds_its_subject_and_says_so() {
    let world = World::at("2026-02-01T00:00:00Z");
    world.send("a").await;
    world.catch_up::<Dunning>().await;
    world.clock.set(DUE.parse().unwrap());
    let renamed = ReactionStep {
        name: "dun",
        ..Dunning::STEPS[0]
    };
    let reaction = ReactionDescriptor {
        steps: Box::leak(Box::new([renamed])),
        ..DUNNING[0]
    };
    let (running, operator) = world.start(&[reaction]);
    eventually(async || operator.held("Dunning") == ["/invoices/a"]).await;
    let held = operator.progress("Dunning").held_keys();
    let reason = &held.iter().next().unwrap().poison.reason;
    assert!(
        reason.contains("has no function `remind` any more"),
        "{reason}"
    );
    world.stop(running).await;
    world.catch_up::<Dunning>().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
}
