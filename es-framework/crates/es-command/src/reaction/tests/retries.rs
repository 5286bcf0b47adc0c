//! Tests of attempts that are due when the subscription ends.

use es_subscribe::{
    CommandedSubscriber as _, Interruption, Subscriber as _, operator::ComponentKind,
};
use tokio_util::sync::CancellationToken;

use super::{
    claims::{LetterWriter, slow_world},
    held_subjects::{CLERK, poison, world},
    *,
};
use crate::reaction::{
    executor::ReactionExecutor, graceful_stop::GracefulStop, subscriber::ReactionSubscriber,
};

fn subscriber(world: &World, reaction: ReactionDescriptor) -> ReactionSubscriber {
    let progress = SubscriberProgress::new(ComponentKind::Reaction, reaction.name);
    let executor = ReactionExecutor::new(reaction, Arc::new(world.runtime()), progress).unwrap();
    let stop = GracefulStop {
        request: CancellationToken::new(),
        drain: Duration::ZERO,
    };
    ReactionSubscriber::new(executor, stop, world.clock.now())
}

/// Handles all stored events.
async fn handle_all(world: &World, reaction: &ReactionSubscriber) {
    let events = world.store.read(Subject::root(), ReadOptions::recursive());
    let events = events.try_collect().await.unwrap();
    reaction.handle(events).await.unwrap();
}

fn held(reaction: &ReactionSubscriber) -> usize {
    reaction.running()[0].held_keys().iter().count()
}

#[tokio::test]
async fn each_start_retries_all_held_subjects_though_its_first_subscription_ends() {
    let (world, _office) = world("2026-02-01T00:00:00Z");
    let stopped = subscriber(&world, CLERK[0]);
    stopped.begin().await.unwrap();
    for id in ["a", "b", "c"] {
        world.write(id, poison(id)).await;
    }
    handle_all(&world, &stopped).await;
    assert_eq!(held(&stopped), 3);
    // An operator of another process skips the events. No attempt is due but that of the start.
    let everything = EventSelection::Type {
        event_type: EventType::declared(InvoiceSentEvent::TYPE),
    };
    let skipped = stopped.executor.skip_log.skip(everything).await;
    skipped.unwrap();
    let started = subscriber(&world, CLERK[0]);
    started.begin().await.unwrap();
    started.handle(Vec::new()).await.unwrap();
    assert_eq!(held(&started), 2);
    started.begin().await.unwrap();
    for left in [1, 0] {
        // The next attempt waits for nothing.
        tokio::time::timeout(Duration::from_millis(100), started.wait_for_work())
            .await
            .unwrap();
        started.handle(Vec::new()).await.unwrap();
        assert_eq!(held(&started), left);
    }
}

#[tokio::test]
async fn a_failure_that_an_operators_attempt_meets_lets_the_reaction_begin_anew() {
    let (world, office) = world("2026-02-01T00:00:00Z");
    let reaction = subscriber(&world, CLERK[0]);
    reaction.begin().await.unwrap();
    for number in 0..100 {
        let id = number.to_string();
        world.write(&id, poison(&id)).await;
    }
    handle_all(&world, &reaction).await;
    assert_eq!(held(&reaction), 100);
    // The call fails, and its subject is one too many.
    office.refuse(&["x"]);
    world.send("x").await;
    let events = world
        .store
        .read("/invoices/x".parse().unwrap(), ReadOptions::default());
    let events = events.try_collect().await.unwrap();
    reaction.handle(events).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let key = EventSelection::Key {
        key: "/invoices/1".into(),
    };
    let failure = reaction.retry_held_keys(Some(&key)).await.unwrap_err();
    assert!(
        failure.to_string().contains("it holds 100 subjects"),
        "{failure}"
    );
    let interrupted = reaction.handle(Vec::new()).await;
    assert!(matches!(interrupted, Err(Interruption::Rewind)));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_holds_its_subject_and_outlasts_the_subscription_releases_it() {
    let (world, post) = slow_world(DUE, Some(0), Duration::from_secs(30));
    let once = ReactionDescriptor {
        attempts: 1,
        ..ReactionDescriptor::of::<LetterWriter>()
    };
    let reaction = subscriber(&world, once);
    reaction.begin().await.unwrap();
    for id in 0..120 {
        world.send(&id.to_string()).await;
    }
    handle_all(&world, &reaction).await;
    while held(&reaction) == 0 {
        reaction.wait_for_work().await;
        reaction.handle(Vec::new()).await.unwrap();
    }
    // The call of the held subject has not ended.
    assert_eq!(held(&reaction), 1);
    reaction.begin().await.unwrap();
    for _ in 0..100 {
        reaction.handle(Vec::new()).await.unwrap();
        reaction.wait_for_work().await;
    }
    assert_eq!(held(&reaction), 0);
    assert!(post.sent() >= 2);
}
