//! Tests of panics in code that a reaction runs and that is not its own: handlers of commands, and upcasters.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, Ordering},
};

use super::*;
use crate::reaction::box_call;
use es_event::{Upcast, UpcasterDescriptor};

/// Asks for the money at once.
#[derive(Debug, Command)]
#[command(subject = "/invoices/{id}")]
struct DemandPaymentCommand {
    id: String,
}

#[handler]
fn demand(command: DemandPaymentCommand) -> ReminderSentEvent {
    assert_ne!(command.id, "handler", "no such payer");
    ReminderSentEvent {}
}

/// An invoice of an older program.
#[derive(Debug, Event)]
struct InvoicePrintedEvent {
    id: String,
}

/// The number of times that the event of the subject `call` was upcast.
static UPCASTS: AtomicU32 = AtomicU32::new(0);

impl Upcast for InvoicePrintedEvent {
    type Output = InvoiceSentEvent;
    const UPCASTER: Declaration = declaration!();

    fn upcast(self) -> InvoiceSentEvent {
        assert_ne!(self.id, "upcaster", "the ink is gone");
        // The first time is before the call begins, and the second one is in the call.
        let number = UPCASTS.fetch_add(u32::from(self.id == "call"), Ordering::Relaxed);
        assert!(self.id != "call" || number == 0, "the paper is torn");
        let (id, due_at) = (self.id, DUE.parse().unwrap());
        InvoiceSentEvent { id, due_at }
    }
}

/// Makes a call and sends a command for each invoice.
struct Collector;

impl React for Collector {
    const NAME: &'static str = "Collector";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[
        ReactionStep {
            name: "call",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Call(|_, _| Ok(box_call(async { Ok::<_, ReactionError>(()) }))),
            parameters: &[],
            commands: Vec::new,
        },
        ReactionStep {
            name: "demand",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Send(|view, _, commands| {
                let InvoiceSentEvent { id, .. } = view.payload()?;
                DemandPaymentCommand { id }.add_to(commands)
            }),
            parameters: &[],
            commands: Vec::new,
        },
    ];
}

#[tokio::test]
async fn a_panic_in_a_handler_or_an_upcaster_holds_its_subject_alone() {
    let world = World::at(DUE);
    world.send("handler").await;
    for id in ["upcaster", "call", "b"] {
        let event = InvoicePrintedEvent { id: id.to_owned() };
        world.write(id, event).await;
    }
    let mut runtime = world.runtime();
    runtime.upcasters = Upcasters::new([UpcasterDescriptor::of::<InvoicePrintedEvent>()]).unwrap();
    let reactions = Reactions::new([ReactionDescriptor::of::<Collector>()]).unwrap();
    let runner = ReactionRunner::new(runtime, reactions);
    let operator = Operator {
        client: runner.operator_client(),
        progress: runner.progress(),
    };
    let running = tokio::spawn(runner.run());
    eventually(async || world.reminded().await == ["/invoices/b"]).await;
    eventually(async || operator.held("Collector").len() == 3).await;
    let held = operator.progress("Collector").held_keys();
    let held = held
        .iter()
        .map(|held| (held.key.clone(), held.poison.reason.clone()));
    let held: BTreeMap<_, _> = held.collect();
    for (id, reason) in [
        ("handler", "no such payer"),
        ("upcaster", "the ink is gone"),
        ("call", "the paper is torn"),
    ] {
        let text = &held[&format!("/invoices/{id}")];
        assert!(text.starts_with("the reaction panicked: "), "{text}");
        assert!(text.contains(reason), "{text}");
    }
    assert!(!operator.progress("Collector").state().is_down());
    running.abort();
}
