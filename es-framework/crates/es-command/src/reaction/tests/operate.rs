//! Tests of operator commands on held subjects, across several processes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use super::{
    super::{
        Deadline, DeadlineField as _, IntoCommands as _, PendingCall, React, ReactionAction,
        ReactionContext, ReactionDescriptor, ReactionError, ReactionStep, ReactionTiming,
        StartPosition, box_call, check_call,
    },
    DUE, InvoiceSentEvent, RemindPayerCommand, World, eventually,
};
use crate::command::Parameter;
use crate::prelude::*;
use es_event::{Declaration, EventId, EventSelection, EventType, EventView, declaration};
use es_subscribe::operator::{ComponentKind, OperatorCommand, OperatorError};

/// An invoice of an older program that cannot be decoded any more.
#[derive(Debug, Event)]
#[event(name = "InvoiceSentEvent")]
struct PoisonEvent {}

#[derive(Service)]
struct Letterbox {
    is_open: AtomicBool,
    letters: AtomicUsize,
}

/// A reaction that posts a letter, which may be impossible, and then sends a command.
struct Posting;

fn post(_: &EventView<'_>, context: &ReactionContext<'_>) -> Result<PendingCall, ReactionError> {
    let letterbox = context.service::<Letterbox>("Letterbox")?;
    Ok(box_call(async move {
        if letterbox.is_open.load(Ordering::Relaxed) {
            letterbox.letters.fetch_add(1, Ordering::Relaxed);
            Ok(())
        } else {
            Err("it is closed")
        }
    }))
}

impl React for Posting {
    const NAME: &'static str = "Posting";
    const START: StartPosition = StartPosition::First;
    const ATTEMPTS: u32 = 1;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[
        ReactionStep {
            name: "post",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Call(post),
            parameters: check_call(&[Parameter::injected::<Letterbox>("letterbox")], false),
            commands: Vec::new,
        },
        ReactionStep {
            name: "remind",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Send(|view, _, commands| {
                let InvoiceSentEvent { id, .. } = view.payload()?;
                RemindPayerCommand { id }.add_to(commands)
            }),
            parameters: &[],
            commands: Vec::new,
        },
    ];
}

/// A reaction that posts a letter when an invoice is due.
struct Dunning;

impl React for Dunning {
    const NAME: &'static str = "Dunning";
    const START: StartPosition = StartPosition::First;
    const ATTEMPTS: u32 = 1;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "post",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Deadline(Deadline {
            at: |view| Ok(view.payload::<InvoiceSentEvent>()?.due_at.time()),
            unless: &[],
        }),
        action: ReactionAction::Call(post),
        parameters: check_call(&[Parameter::injected::<Letterbox>("letterbox")], false),
        commands: Vec::new,
    }];
}

const POSTING: [ReactionDescriptor; 1] = [ReactionDescriptor::of::<Posting>()];

fn world() -> (World, Arc<Letterbox>) {
    let mut world = World::at(DUE);
    let letterbox = Arc::new(Letterbox {
        is_open: AtomicBool::new(false),
        letters: AtomicUsize::new(0),
    });
    world.services = world.services.with_shared(Arc::clone(&letterbox));
    (world, letterbox)
}

/// Waits until the first reaction holds these subjects.
async fn holds(operator: &super::Operator, reaction: &str, subjects: &[&str]) {
    eventually(async || operator.held(reaction) == subjects).await;
}

#[tokio::test]
async fn a_skipped_action_is_left_out_by_every_instance_and_every_start() {
    let (world, _) = world();
    world.send("a").await;
    let (first, operator) = world.start(&POSTING);
    let (second, other) = world.start(&POSTING);
    holds(&operator, "Posting", &["/invoices/a"]).await;
    holds(&other, "Posting", &["/invoices/a"]).await;
    assert!(world.reminded().await.is_empty());
    let held = operator.progress("Posting").held_keys();
    let poison = held.iter().next().unwrap().poison.clone();
    assert_eq!(poison.id, EventId::FIRST);
    assert!(poison.reason.ends_with("it is closed"), "{poison}");
    let skipped = operator.retried("Posting", OperatorCommand::Skip, None);
    assert_eq!(skipped.await, (1, 1));
    // The reaction still carries out the other actions of the event.
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    // The instance that stands by shows it.
    holds(&operator, "Posting", &[]).await;
    holds(&other, "Posting", &[]).await;
    first.abort();
    second.abort();
    world.catch_up::<Posting>().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
}

#[tokio::test]
async fn an_event_without_a_meaning_is_left_out_altogether() {
    let (world, letterbox) = world();
    letterbox.is_open.store(true, Ordering::Relaxed);
    world.write("a", PoisonEvent {}).await;
    world.send("b").await;
    world.send("a").await;
    let (running, operator) = world.start(&POSTING);
    eventually(async || world.reminded().await == ["/invoices/b"]).await;
    holds(&operator, "Posting", &["/invoices/a"]).await;
    let of_subject = EventSelection::Key {
        key: "/invoices/a".into(),
    };
    let skipped = operator.retried("Posting", OperatorCommand::Skip, Some(of_subject));
    assert_eq!(skipped.await, (1, 1));
    let reminded = ["/invoices/b", "/invoices/a"];
    eventually(async || world.reminded().await == reminded).await;
    running.abort();
    world.catch_up::<Posting>().await;
    assert_eq!(world.reminded().await, reminded);
}

#[tokio::test]
async fn a_held_subject_is_retried_until_it_succeeds() {
    let (world, letterbox) = world();
    world.send("a").await;
    let (running, operator) = world.start(&POSTING);
    let (second, other) = world.start(&POSTING);
    holds(&operator, "Posting", &["/invoices/a"]).await;
    holds(&other, "Posting", &["/invoices/a"]).await;
    let retried = operator.retried("Posting", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (1, 0));
    holds(&operator, "Posting", &["/invoices/a"]).await;
    letterbox.is_open.store(true, Ordering::Relaxed);
    let retried = operator.retried("Posting", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (1, 1));
    assert_eq!(world.reminded().await, ["/invoices/a"]);
    holds(&other, "Posting", &[]).await;
    assert_eq!(letterbox.letters.load(Ordering::Relaxed), 1);
    running.abort();
    second.abort();
}

#[tokio::test]
async fn a_deadline_that_is_skipped_is_settled_and_those_after_it_are_met() {
    let (world, letterbox) = world();
    world.send("a").await;
    world.send("b").await;
    let dunning = [ReactionDescriptor::of::<Dunning>()];
    let (first, operator) = world.start(&dunning);
    let (second, other) = world.start(&dunning);
    holds(&operator, "Dunning", &["/invoices/a", "/invoices/b"]).await;
    holds(&other, "Dunning", &["/invoices/a", "/invoices/b"]).await;
    let first_event = EventSelection::Event {
        event: EventId::FIRST,
    };
    let skipped = operator.retried("Dunning", OperatorCommand::Skip, Some(first_event));
    assert_eq!(skipped.await, (1, 1));
    letterbox.is_open.store(true, Ordering::Relaxed);
    let retried = operator.retried("Dunning", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (1, 1));
    assert_eq!(letterbox.letters.load(Ordering::Relaxed), 1);
    holds(&other, "Dunning", &[]).await;
    first.abort();
    second.abort();
    world.catch_up::<Dunning>().await;
    assert_eq!(letterbox.letters.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn nothing_is_left_out_where_nothing_has_stopped() {
    let (world, letterbox) = world();
    letterbox.is_open.store(true, Ordering::Relaxed);
    world.send("a").await;
    let (running, operator) = world.start(&POSTING);
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    for asked in [OperatorCommand::Retry, OperatorCommand::Skip] {
        let refused = operator.send("Posting", asked).await.unwrap_err();
        let reaction = ComponentKind::Reaction;
        assert_eq!(refused, OperatorError::NotStopped(reaction, "Posting"));
        let refused = operator.send("Cups", asked).await.unwrap_err();
        assert_eq!(refused.to_string(), "there is no reaction named Cups");
    }
    running.abort();
}

#[tokio::test]
async fn events_of_a_type_are_skipped_in_every_instance_and_after_every_start() {
    let (world, _) = world();
    for _ in 0..50 {
        world.write("a", PoisonEvent {}).await;
    }
    let (first, operator) = world.start(&POSTING);
    let (second, other) = world.start(&POSTING);
    let waiting = |operator: &super::Operator| {
        let held = operator.progress("Posting").held_keys();
        held.iter().map(|held| held.events).sum::<u64>()
    };
    eventually(async || waiting(&operator) == 50 && waiting(&other) == 50).await;
    let of_type = EventSelection::Type {
        event_type: EventType::declared(InvoiceSentEvent::TYPE),
    };
    let skipped = operator.retried("Posting", OperatorCommand::Skip, Some(of_type));
    assert_eq!(skipped.await, (1, 1));
    holds(&other, "Posting", &[]).await;
    // Later events of the type are skipped, too.
    for id in 0..20 {
        world.write(&format!("later{id}"), PoisonEvent {}).await;
    }
    let newest = es_store::newest_id(&world.store).await.unwrap();
    for instance in [&operator, &other] {
        eventually(async || {
            world.advance(1);
            let is_reached = instance.progress("Posting").position() >= newest;
            is_reached && instance.held("Posting").is_empty()
        })
        .await;
    }
    // An event of the type that the reaction can handle is still handled.
    first.abort();
    second.abort();
    world.catch_up::<Posting>().await;
}

#[tokio::test]
async fn a_call_that_is_retried_can_be_skipped_or_tried_at_once() {
    let (world, letterbox) = world();
    world.send("a").await;
    let patient = [ReactionDescriptor {
        attempts: 16,
        ..POSTING[0]
    }];
    let (running, operator) = world.start(&patient);
    holds(&operator, "Posting", &["/invoices/a"]).await;
    let progress = operator.progress("Posting");
    let held = progress.held_keys();
    assert!(held.iter().all(|held| held.next_attempt.is_some()));
    assert!(!progress.state().is_down());
    assert_eq!(
        progress.exits(),
        [OperatorCommand::Retry, OperatorCommand::Skip]
    );
    let retried = operator.retried("Posting", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (1, 0));
    let skipped = operator.retried("Posting", OperatorCommand::Skip, None);
    assert_eq!(skipped.await, (1, 1));
    // The other action of the event is carried out.
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    assert_eq!(letterbox.letters.load(Ordering::Relaxed), 0);
    running.abort();
}
