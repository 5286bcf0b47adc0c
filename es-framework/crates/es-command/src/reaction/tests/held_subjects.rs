//! Tests of held subjects: each failure holds its own subject, and no process loses or repeats one.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use super::*;
use crate::{
    command::Parameter,
    reaction::{PendingCall, ReactionContext, box_call, check_call},
};

/// An invoice of an older program that cannot be decoded any more.
#[derive(Debug, Event)]
#[event(name = "InvoiceSentEvent")]
pub(super) struct UndatedInvoiceEvent {
    id: String,
}

/// An invoice became a credit.
#[derive(Debug, Event)]
struct InvoiceCreditedEvent {
    id: String,
}

/// A post office that refuses letters to some people.
#[derive(Default, Service)]
pub(super) struct PostOffice {
    refused: Mutex<BTreeSet<String>>,
    /// The letters that take until the post office is told otherwise.
    slow: Mutex<BTreeSet<String>>,
    letters: Mutex<Vec<String>>,
}

impl PostOffice {
    pub(super) fn refuse(&self, ids: &[&str]) {
        *self.refused.lock().unwrap() = ids.iter().map(|id| (*id).to_owned()).collect();
    }

    fn delay(&self, ids: &[&str]) {
        *self.slow.lock().unwrap() = ids.iter().map(|id| (*id).to_owned()).collect();
    }

    pub(super) fn letters(&self) -> Vec<String> {
        self.letters.lock().unwrap().clone()
    }
}

fn post(context: &ReactionContext<'_>, id: String) -> Result<PendingCall, ReactionError> {
    let office = context.service::<PostOffice>("PostOffice")?;
    Ok(box_call(async move {
        while office.slow.lock().unwrap().contains(&id) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if office.refused.lock().unwrap().contains(&id) {
            return Err("the address is unknown");
        }
        office.letters.lock().unwrap().push(id);
        Ok(())
    }))
}

const OFFICE: &[Parameter] = check_call(&[Parameter::injected::<PostOffice>("office")], false);

/// Posts a letter and sends a command for each invoice, and posts another letter when it is due.
struct Clerk;

impl React for Clerk {
    const NAME: &'static str = "Clerk";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[
        ReactionStep {
            name: "post",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Call(|view, context| {
                let InvoiceSentEvent { id, .. } = view.payload()?;
                post(context, id)
            }),
            parameters: OFFICE,
            commands: Vec::new,
        },
        ReactionStep {
            name: "remind",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Send(|view, context, commands| {
                let InvoiceSentEvent { id, .. } = view.payload()?;
                assert!(!id.contains("panic"), "this invoice is too long");
                to_command(view, context, commands)
            }),
            parameters: &[],
            commands: Vec::new,
        },
        ReactionStep {
            name: "credit",
            event: InvoiceCreditedEvent::TYPE,
            when: ReactionTiming::Immediate,
            action: ReactionAction::Call(|view, context| {
                let InvoiceCreditedEvent { id } = view.payload()?;
                post(context, id)
            }),
            parameters: OFFICE,
            commands: Vec::new,
        },
        ReactionStep {
            name: "dun",
            event: InvoiceSentEvent::TYPE,
            when: ReactionTiming::Deadline(Deadline {
                at: |view| Ok(view.payload::<InvoiceSentEvent>()?.due_at.time()),
                unless: &[InvoicePaidEvent::TYPE],
            }),
            action: ReactionAction::Call(|view, context| {
                let InvoiceSentEvent { id, .. } = view.payload()?;
                post(context, format!("due {id}"))
            }),
            parameters: OFFICE,
            commands: Vec::new,
        },
    ];
}

pub(super) const CLERK: [ReactionDescriptor; 1] = [ReactionDescriptor::of::<Clerk>()];

pub(super) fn world(time: &str) -> (World, Arc<PostOffice>) {
    let mut world = World::at(time);
    let office = Arc::new(PostOffice::default());
    world.services = world.services.with_shared(Arc::clone(&office));
    (world, office)
}

impl World {
    pub(super) async fn credit(&self, id: &str) {
        let event = InvoiceCreditedEvent { id: id.to_owned() };
        self.write(id, event).await;
    }

    pub(super) async fn stop(&self, running: tokio::task::JoinHandle<()>) {
        running.abort();
        let _ = running.await;
    }
}

pub(super) fn poison(id: &str) -> UndatedInvoiceEvent {
    UndatedInvoiceEvent { id: id.to_owned() }
}

/// Writes the invoices of 40 subjects twice. Some subjects have poison between them.
async fn write_invoices(world: &World, has_poison: bool) {
    for round in 0..2 {
        for number in 0..40 {
            let id = format!("{number}");
            if has_poison && round == 0 && number % 10 == 3 {
                world.write(&id, poison(&id)).await;
            }
            if has_poison && round == 0 && number % 10 == 4 {
                world.send(&format!("{id}-panic")).await;
            }
            world.send(&id).await;
            if number % 5 == 0 {
                world.write(&id, InvoicePaidEvent {}).await;
            }
            if round == 1 {
                world.credit(&id).await;
            }
        }
    }
}

/// The letters and reminders of subjects for which `is_shown` is true.
async fn effects(
    world: &World,
    office: &PostOffice,
    is_shown: impl Fn(usize) -> bool,
) -> Vec<String> {
    let number = |text: &str| {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        is_shown(digits.parse().unwrap())
    };
    let reminded = world.reminded().await.into_iter();
    let all = office.letters().into_iter().chain(reminded);
    let mut all: Vec<_> = all.filter(|one| number(one)).collect();
    all.sort();
    all
}

#[tokio::test]
async fn the_effects_on_every_other_subject_equal_those_of_a_run_without_poison() {
    let refused = ["5", "15", "25", "35", "due 6", "due 16"];
    let is_other =
        |number: usize| ![3, 4, 5].contains(&(number % 10)) && ![6, 16].contains(&number);
    let (clean, clean_office) = world("2026-02-01T00:00:00Z");
    write_invoices(&clean, false).await;
    clean.catch_up::<Clerk>().await;
    clean.clock.set(DUE.parse().unwrap());
    clean.catch_up::<Clerk>().await;
    let expected = effects(&clean, &clean_office, is_other).await;

    let (world, office) = world("2026-02-01T00:00:00Z");
    office.refuse(&refused);
    let (running, operator) = world.start(&CLERK);
    write_invoices(&world, true).await;
    eventually(async || operator.held("Clerk").len() == 12).await;
    let newest = es_store::newest_id(&world.store).await.unwrap();
    eventually(async || operator.progress("Clerk").position() >= newest).await;
    world.clock.set(DUE.parse().unwrap());
    eventually(async || operator.held("Clerk").len() == 14).await;
    eventually(async || effects(&world, &office, is_other).await == expected).await;
    // The subject of an invoice with a panic is another one.
    let groups = operator.progress("Clerk").held_keys().group_by_failure();
    let mut sizes: Vec<_> = groups.iter().map(|group| group.keys).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [4, 4, 6], "{groups:?}");
    assert!(!operator.progress("Clerk").state().is_down());

    // The fifth subjects and the deadlines succeed as soon as the post office accepts their letters.
    office.refuse(&[]);
    eventually(async || {
        world.advance(60);
        operator.held("Clerk").len() == 8
    })
    .await;
    let is_accepted = |number: usize| ![3, 4].contains(&(number % 10));
    let accepted = effects(&clean, &clean_office, is_accepted).await;
    eventually(async || effects(&world, &office, is_accepted).await == accepted).await;
    world.stop(running).await;
}

#[tokio::test]
async fn a_killed_process_loses_no_held_subject_and_the_next_one_takes_over() {
    let (world, office) = world("2026-02-01T00:00:00Z");
    office.refuse(&["a"]);
    world.send("a").await;
    world.send("b").await;
    world.credit("a").await;
    world.credit("b").await;
    let (first, operator) = world.start(&CLERK);
    let waiting = |operator: &Operator| {
        let held = operator.progress("Clerk").held_keys();
        held.iter().map(|held| held.events).collect::<Vec<_>>()
    };
    eventually(async || waiting(&operator) == [2]).await;
    eventually(async || office.letters() == ["b", "b"]).await;
    world.wait_until_done("Clerk").await;
    // The process that stands by shows the subject.
    let (second, other) = world.start(&CLERK);
    eventually(async || other.held("Clerk") == ["/invoices/a"]).await;
    world.stop(first).await;
    office.refuse(&[]);
    eventually(async || {
        world.advance(60);
        other.held("Clerk").is_empty()
    })
    .await;
    world.wait_until_done("Clerk").await;
    assert_eq!(office.letters(), ["b", "b", "a", "a"]);
    world.stop(second).await;
    world.catch_up::<Clerk>().await;
    assert_eq!(office.letters().len(), 4);
    assert_eq!(world.reminded().await, ["/invoices/b", "/invoices/a"]);
}

#[tokio::test]
async fn each_start_retries_the_held_subjects_once() {
    let (world, office) = world("2026-02-01T00:00:00Z");
    office.refuse(&["a"]);
    let (first, operator) = world.start(&CLERK);
    world.send("a").await;
    eventually(async || operator.held("Clerk") == ["/invoices/a"]).await;
    world.stop(first).await;
    office.refuse(&[]);
    // The clock has not moved.
    let (second, _operator) = world.start(&CLERK);
    eventually(async || office.letters() == ["a"]).await;
    world.stop(second).await;
}

#[tokio::test]
async fn the_deadlines_of_a_held_subject_wait_with_it() {
    let (world, office) = world("2026-02-01T00:00:00Z");
    let (running, operator) = world.start(&CLERK);
    for id in ["a", "b", "c"] {
        world.send(id).await;
    }
    eventually(async || office.letters().len() == 3).await;
    office.refuse(&["a", "b"]);
    world.credit("a").await;
    world.credit("b").await;
    eventually(async || operator.held("Clerk").len() == 2).await;
    let now: Timestamp = DUE.parse().unwrap();
    world.clock.set(now);
    eventually(async || office.letters().contains(&"due c".to_owned())).await;
    eventually(async || operator.progress("Clerk").open_deadlines().count == 0).await;
    // A later event cancels the deadline of one held subject before the subject is handled again.
    world.write("b", InvoicePaidEvent {}).await;
    // The next process knows the deadlines only from the state database.
    world.stop(running).await;
    office.refuse(&[]);
    let (running, operator) = world.start(&CLERK);
    eventually(async || operator.held("Clerk").is_empty() && office.letters().len() == 7).await;
    let mut new = office.letters().split_off(3);
    new.sort();
    assert_eq!(new, ["a", "b", "due a", "due c"]);
    eventually(async || operator.progress("Clerk").open_deadlines().count == 0).await;
    world.stop(running).await;
    world.catch_up::<Clerk>().await;
    assert_eq!(office.letters().len(), 7);
}

#[tokio::test]
async fn a_call_at_a_deadline_is_not_made_again_after_its_subject_was_held() {
    let (world, office) = world("2026-02-01T00:00:00Z");
    let (running, operator) = world.start(&CLERK);
    let send = async |subject: &str, id: &str, due_at: &str| {
        let due_at = due_at.parse().unwrap();
        let id = id.to_owned();
        world.write(subject, InvoiceSentEvent { id, due_at }).await;
    };
    send("x", "x", "2026-03-01T00:00:00Z").await;
    send("a", "late", "2026-04-01T00:00:00Z").await;
    send("a", "early", "2026-03-02T00:00:00Z").await;
    eventually(async || office.letters().len() == 3).await;
    // The call of another subject at an earlier deadline runs on.
    office.delay(&["due x"]);
    world.clock.set("2026-03-03T00:00:00Z".parse().unwrap());
    eventually(async || office.letters().len() == 4).await;
    office.refuse(&["a"]);
    world.credit("a").await;
    eventually(async || operator.held("Clerk") == ["/invoices/a"]).await;
    office.refuse(&[]);
    eventually(async || {
        world.advance(60);
        operator.held("Clerk").is_empty()
    })
    .await;
    office.delay(&[]);
    eventually(async || office.letters().contains(&"due x".to_owned())).await;
    world.stop(running).await;
    let mut letters = office.letters();
    letters.sort();
    let expected = ["a", "due early", "due x", "early", "late", "x"];
    assert_eq!(letters, expected);
}

#[tokio::test]
async fn a_deadline_that_is_still_open_is_met_after_the_release_of_its_subject() {
    let (world, office) = world("2026-02-01T00:00:00Z");
    let (running, operator) = world.start(&CLERK);
    let (second, other) = world.start(&CLERK);
    world.send("a").await;
    eventually(async || office.letters() == ["a"]).await;
    office.refuse(&["a"]);
    world.credit("a").await;
    eventually(async || other.held("Clerk").len() == 1).await;
    eventually(async || operator.held("Clerk").len() == 1).await;
    office.refuse(&[]);
    let retried = operator.retried("Clerk", OperatorCommand::Retry, None);
    assert_eq!(retried.await, (1, 1));
    eventually(async || other.held("Clerk").is_empty()).await;
    // The process that released the subject is gone.
    world.stop(running).await;
    world.write("z", InvoicePaidEvent {}).await;
    world.clock.set(DUE.parse().unwrap());
    eventually(async || office.letters().contains(&"due a".to_owned())).await;
    world.stop(second).await;
}

#[tokio::test]
async fn more_held_subjects_than_the_limit_stop_the_reaction_until_some_are_released() {
    let (world, office) = world("2026-02-01T00:00:00Z");
    let (running, operator) = world.start(&CLERK);
    for number in 0..101 {
        let id = number.to_string();
        world.write(&id, poison(&id)).await;
    }
    world.send("b").await;
    let progress = operator.progress("Clerk");
    eventually(async || progress.is_stopped()).await;
    let trouble = progress.state().trouble().unwrap().clone();
    assert!(
        trouble.reason.starts_with("it holds 100 subjects"),
        "{trouble:?}"
    );
    assert!(progress.state().is_down() && office.letters().is_empty());
    let skipped = operator.retried("Clerk", OperatorCommand::Skip, None);
    assert_eq!(skipped.await, (100, 100));
    eventually(async || office.letters() == ["b"]).await;
    eventually(async || operator.held("Clerk") == ["/invoices/100"]).await;
    assert!(!progress.state().is_down());
    world.stop(running).await;
}
