//! Deadlines of a reaction that lags behind the events.

use crate::reaction::{executor::ReactionExecutor, processor::ReactionProcessor};

use super::*;
use es_subscribe::operator::ComponentKind;

const LATER: &str = "2026-03-02T00:00:00Z";

async fn start_dunning(world: &World) -> ReactionProcessor {
    let (reaction, runtime) = (ReactionDescriptor::of::<Dunning>(), world.runtime());
    let progress = SubscriberProgress::new(ComponentKind::Reaction, reaction.name);
    let executor = ReactionExecutor::new(reaction, Arc::new(runtime), progress).unwrap();
    ReactionProcessor::load_from_checkpoint(executor, false, world.clock.now())
        .await
        .unwrap()
}

/// Handles the next stored events.
async fn handle_events(world: &World, processor: &mut ReactionProcessor, count: usize) {
    let events = world.store.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = events.try_collect().await.unwrap();
    let is_next = |event: &es_event::RecordedEvent| Some(event.id) > processor.position;
    let next: Vec<_> = events.into_iter().filter(is_next).take(count).collect();
    for event in next {
        assert!(processor.handle_event(event).await.is_ok());
    }
}

async fn meet_deadlines(processor: &mut ReactionProcessor) {
    assert!(processor.meet_due_deadlines().await.is_ok());
}

#[tokio::test]
async fn a_deadline_that_passes_while_the_reaction_lags_is_cancelled_by_events_before_it() {
    let world = World::at("2026-02-01T00:00:00Z");
    world.send("a").await;
    let (id, due_at) = ("b".to_owned(), LATER.parse().unwrap());
    world.write("b", InvoiceSentEvent { id, due_at }).await;
    let mut processor = start_dunning(&world).await;
    handle_events(&world, &mut processor, 2).await;
    world.write("c", InvoicePaidEvent {}).await;
    world.clock.set(DUE.parse().unwrap());
    meet_deadlines(&mut processor).await;
    assert!(world.reminded().await.is_empty(), "an event comes first");
    // The second deadline is cancelled in time, and passes before the reaction has handled the event of `c`.
    world.write("b", InvoicePaidEvent {}).await;
    world.clock.set(LATER.parse().unwrap());
    handle_events(&world, &mut processor, 1).await;
    meet_deadlines(&mut processor).await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
    handle_events(&world, &mut processor, 2).await;
    meet_deadlines(&mut processor).await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
}

#[tokio::test]
async fn deadlines_that_are_due_at_once_let_events_in_and_are_not_met_again_after_a_stop() {
    const DEADLINES: usize = 1_200;
    let world = World::at("2026-02-01T00:00:00Z");
    for id in 0..DEADLINES {
        world.send(&id.to_string()).await;
    }
    let mut processor = start_dunning(&world).await;
    handle_events(&world, &mut processor, DEADLINES).await;
    world.clock.set(DUE.parse().unwrap());
    meet_deadlines(&mut processor).await;
    let met = world.reminded().await.len();
    assert!(met > 0 && met < DEADLINES / 2, "{met}");
    assert!(processor.has_work(), "the next ones follow at once");
    world.clock.set("2026-02-01T00:00:00Z".parse().unwrap());
    assert!(!processor.has_work(), "the clock has gone back");
    world.clock.set(DUE.parse().unwrap());
    processor.hand_over(Duration::ZERO).await;
    let mut processor = start_dunning(&world).await;
    assert_eq!(processor.deadlines.len(), DEADLINES - met);
    assert!(processor.catch_up().await.is_ok());
    let mut reminded = world.reminded().await;
    reminded.sort();
    reminded.dedup();
    assert_eq!(
        (reminded.len(), world.reminded().await.len()),
        (DEADLINES, DEADLINES)
    );
}
