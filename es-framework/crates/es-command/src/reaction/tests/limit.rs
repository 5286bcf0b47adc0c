//! Tests of a reaction that holds as many subjects as it can.

use super::{
    held_subjects::{CLERK, poison, world},
    *,
};
use crate::reaction::box_call;

/// Makes a call for each invoice that never ends.
struct Waiter;

impl React for Waiter {
    const NAME: &'static str = "Waiter";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "wait",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Call(|_, _| {
            Ok(box_call(std::future::pending::<Result<(), ReactionError>>()))
        }),
        parameters: &[],
        commands: Vec::new,
    }];
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_nothing_is_repeated_but_the_step_that_fails() {
    let world = World::at(DUE);
    let log = Arc::default();
    let mut runtime = world.runtime();
    runtime.sent_commands = Some(Arc::clone(&log));
    let reactions = Reactions::new([ReactionDescriptor {
        start: StartPosition::First,
        ..ReactionDescriptor::of::<ImmediateReminder>()
    }]);
    let runner = ReactionRunner::new(runtime, reactions.unwrap());
    for number in 0..100 {
        let id = number.to_string();
        world.write(&id, poison(&id)).await;
    }
    world.send("b").await;
    world.write("100", poison("100")).await;
    let progress = runner
        .progress()
        .find_progress("ImmediateReminder")
        .unwrap()
        .clone();
    let running = tokio::spawn(runner.run());
    eventually(async || progress.is_stopped()).await;
    let newest = async || es_store::newest_id(&world.store).await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    let stored = newest().await;
    for _ in 0..60 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(progress.is_stopped());
    }
    assert_eq!(log.lock().unwrap().len(), 1);
    assert_eq!(newest().await, stored);
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_a_call_that_hangs_is_trouble_while_it_is_made_again() {
    let world = World::at(DUE);
    for number in 0..110 {
        world.send(&number.to_string()).await;
    }
    let (running, operator) = world.start(&[ReactionDescriptor::of::<Waiter>()]);
    let progress = operator.progress("Waiter");
    // Sixteen calls fail each minute.
    tokio::time::sleep(Duration::from_secs(60 * 10)).await;
    let trouble = progress.state().trouble().unwrap().clone();
    assert!(
        trouble.reason.starts_with("it holds 100 subjects"),
        "{trouble:?}"
    );
    for _ in 0..300 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let still = progress.state().trouble().map(|still| still.since);
        assert_eq!(still, Some(trouble.since));
    }
    running.abort();
}

#[tokio::test]
async fn at_the_limit_held_deadlines_are_retried_although_later_events_are_stored() {
    let (world, office) = world("2026-02-01T00:00:00Z");
    let (running, operator) = world.start(&CLERK);
    let due: Vec<_> = (0..101).map(|number| format!("due {number}")).collect();
    office.refuse(&due.iter().map(String::as_str).collect::<Vec<_>>());
    for number in 0..101 {
        world.send(&number.to_string()).await;
    }
    eventually(async || office.letters().len() == 101).await;
    world.clock.set(DUE.parse().unwrap());
    let progress = operator.progress("Clerk");
    let limit = || {
        progress
            .state()
            .trouble()
            .map(|trouble| trouble.reason.clone())
    };
    eventually(async || limit().is_some_and(|reason| reason.starts_with("it holds 100"))).await;
    for number in 0..101 {
        world.credit(&number.to_string()).await;
    }
    office.refuse(&[]);
    eventually(async || {
        world.advance(60);
        office.letters().len() == 303
    })
    .await;
    eventually(async || operator.held("Clerk").is_empty() && limit().is_none()).await;
    world.stop(running).await;
}
