//! Tests of operator commands on a parked reaction, across several processes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use super::{
    super::{
        Deadline, DeadlineField as _, IntoCommands as _, PendingCall, React, ReactionAction,
        ReactionContext, ReactionDescriptor, ReactionError, ReactionStep, ReactionTiming,
        StartPosition, box_call, check_services,
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
            parameters: check_services(&[Parameter::injected::<Letterbox>("letterbox")]),
            commands: Vec::new,
        },
        ReactionStep {
            name: "remind",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Send(|view, commands| {
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
        parameters: check_services(&[Parameter::injected::<Letterbox>("letterbox")]),
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

/// Waits until the reaction is parked and returns the event.
async fn stops(operator: &super::Operator) -> EventId {
    let stopped = || {
        let mut all = operator.progress.iter();
        all.find_map(|progress| progress.poison_event())
    };
    eventually(async || stopped().is_some()).await;
    stopped().unwrap().id
}

#[tokio::test]
async fn what_an_operator_has_left_out_is_left_out_by_every_instance_and_every_start() {
    let (world, _) = world();
    world.send("a").await;
    let (first, operator) = world.start(&POSTING);
    let (second, other) = world.start(&POSTING);
    assert_eq!(
        (stops(&operator).await, stops(&other).await),
        (EventId::FIRST, EventId::FIRST)
    );
    assert!(world.reminded().await.is_empty());
    let left_out = operator.send("Posting", OperatorCommand::Skip).await;
    let left_out = left_out.unwrap().unwrap();
    assert_eq!(left_out.id, EventId::FIRST);
    assert!(left_out.reason.ends_with("it is closed"), "{left_out}");
    // The reaction still carries out the other actions of the event.
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    let goes_on = |operator: &super::Operator| !operator.progress("Posting").is_stopped();
    eventually(async || goes_on(&operator) && goes_on(&other)).await;
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
    let (running, operator) = world.start(&POSTING);
    assert_eq!(stops(&operator).await, EventId::FIRST);
    operator
        .send("Posting", OperatorCommand::Skip)
        .await
        .unwrap();
    eventually(async || world.reminded().await == ["/invoices/b"]).await;
    running.abort();
    world.catch_up::<Posting>().await;
    assert_eq!(world.reminded().await, ["/invoices/b"]);
}

#[tokio::test]
async fn an_event_that_is_taken_again_may_succeed_or_stop_the_reaction_once_more() {
    let (world, letterbox) = world();
    world.send("a").await;
    let (running, operator) = world.start(&POSTING);
    let (second, other) = world.start(&POSTING);
    stops(&operator).await;
    stops(&other).await;
    let again = operator.send("Posting", OperatorCommand::Retry).await;
    let again = again.unwrap().unwrap();
    assert_eq!(again.id, EventId::FIRST);
    stops(&operator).await;
    letterbox.is_open.store(true, Ordering::Relaxed);
    operator
        .send("Posting", OperatorCommand::Retry)
        .await
        .unwrap();
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    // The operator sends no command to the other instance.
    eventually(async || !other.progress("Posting").is_stopped()).await;
    running.abort();
    second.abort();
}

#[tokio::test]
async fn a_deadline_that_is_left_out_is_settled_and_those_after_it_are_met() {
    let (world, letterbox) = world();
    world.send("a").await;
    world.send("b").await;
    let dunning = [ReactionDescriptor::of::<Dunning>()];
    let (first, operator) = world.start(&dunning);
    let (second, other) = world.start(&dunning);
    assert_eq!(stops(&operator).await, stops(&other).await);
    letterbox.is_open.store(true, Ordering::Relaxed);
    operator
        .send("Dunning", OperatorCommand::Skip)
        .await
        .unwrap();
    // One of the two instances handles the deadline of the second invoice.
    eventually(async || letterbox.letters.load(Ordering::Relaxed) == 1).await;
    eventually(async || {
        let goes_on = |one: &super::Operator| !one.progress("Dunning").is_stopped();
        goes_on(&operator) && goes_on(&other)
    })
    .await;
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
    let poison = stops(&operator).await;
    assert_eq!(
        (poison, stops(&other).await),
        (EventId::FIRST, EventId::FIRST)
    );
    let of_type = EventSelection::Type {
        event_type: EventType::declared(InvoiceSentEvent::TYPE),
    };
    let skipped = operator
        .client
        .send_selection("Posting", OperatorCommand::Skip, Some(of_type))
        .await;
    assert_eq!(skipped.unwrap().event.unwrap().id, poison);
    let goes_on = |operator: &super::Operator| {
        let progress = operator.progress("Posting");
        !progress.is_stopped() && progress.position() >= EventId::new(49)
    };
    eventually(async || goes_on(&operator) && goes_on(&other)).await;
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
    let state = || operator.progress("Posting").state();
    eventually(async || state().poison_event().is_some()).await;
    assert_eq!(state().name(), "retrying");
    let exits = state().exits(ComponentKind::Reaction);
    assert_eq!(exits, [OperatorCommand::Retry, OperatorCommand::Skip]);
    let retried = operator.send("Posting", OperatorCommand::Retry).await;
    assert_eq!(retried.unwrap().unwrap().id, EventId::FIRST);
    let skipped = operator.send("Posting", OperatorCommand::Skip).await;
    assert_eq!(skipped.unwrap().unwrap().id, EventId::FIRST);
    // The other action of the event is carried out.
    eventually(async || world.reminded().await == ["/invoices/a"]).await;
    eventually(async || state().name() == "working").await;
    assert_eq!(letterbox.letters.load(Ordering::Relaxed), 0);
    running.abort();
}
