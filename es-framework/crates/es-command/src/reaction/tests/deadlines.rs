//! Deadlines of a reaction that lags behind the events.

use crate::reaction::{shared_reaction::SharedReaction, task_executor::TaskExecutor};

use super::*;
use es_subscribe::operator::ComponentKind;

const LATER: &str = "2026-03-02T00:00:00Z";

/// A reaction whose planner and executor are called by hand.
struct Stepwise {
    shared: Arc<SharedReaction>,
    executor: TaskExecutor,
}

impl Stepwise {
    async fn start(world: &World) -> Self {
        let (reaction, runtime) = (ReactionDescriptor::of::<Dunning>(), world.runtime());
        assert!(runtime.state.try_own().await.unwrap().is_some());
        let progress = SubscriberProgress::new(ComponentKind::Reaction, reaction.name);
        let names = Arc::from([reaction.name]);
        let now = world.clock.now();
        let shared = SharedReaction::new(reaction, Arc::new(runtime), progress, names, now);
        let shared = Arc::new(shared.unwrap());
        shared.load().await.unwrap();
        let executor = TaskExecutor::strict(Arc::clone(&shared));
        Self { shared, executor }
    }

    /// Plans the tasks of the next stored events.
    async fn plan_events(&self, world: &World, count: usize) {
        let events = world.store.read(Subject::root(), ReadOptions::recursive());
        let events: Vec<_> = events.try_collect().await.unwrap();
        let position = self.shared.planned.lock().await.event;
        let is_next = |event: &es_event::RecordedEvent| Some(event.id) > position;
        let next: Vec<_> = events.into_iter().filter(is_next).take(count).collect();
        self.shared.plan_batch(&next).await.unwrap();
    }

    /// Executes what is due, without the events that are not planned.
    async fn execute(&mut self) {
        while self.executor.advance().await.unwrap() {
            while let Some(end) = self.executor.running.join_next().await {
                self.executor.settle(end.unwrap()).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn a_deadline_that_passes_while_the_reaction_lags_is_cancelled_by_events_before_it() {
    let world = World::at("2026-02-01T00:00:00Z");
    world.send("a").await;
    let (id, due_at) = ("b".to_owned(), LATER.parse().unwrap());
    world.write("b", InvoiceSentEvent { id, due_at }).await;
    let mut stepwise = Stepwise::start(&world).await;
    stepwise.plan_events(&world, 2).await;
    world.write("c", InvoicePaidEvent {}).await;
    world.clock.set(DUE.parse().unwrap());
    stepwise.execute().await;
    assert!(world.reminded().await.is_empty(), "an event comes first");
    // The second deadline is cancelled in time, and passes before the reaction has planned the event of `c`.
    world.write("b", InvoicePaidEvent {}).await;
    world.clock.set(LATER.parse().unwrap());
    // The first of them names the state database.
    stepwise.plan_events(&world, 2).await;
    stepwise.execute().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
    stepwise.plan_events(&world, 9).await;
    stepwise.execute().await;
    assert_eq!(world.reminded().await, ["/invoices/a"]);
}

#[tokio::test]
async fn a_clock_that_goes_back_lets_deadlines_wait_and_a_start_meets_the_rest() {
    const DEADLINES: usize = 40;
    let world = World::at("2026-02-01T00:00:00Z");
    for id in 0..DEADLINES {
        world.send(&id.to_string()).await;
    }
    let mut stepwise = Stepwise::start(&world).await;
    stepwise.plan_events(&world, DEADLINES).await;
    // This event names the state database.
    stepwise.plan_events(&world, 1).await;
    world.clock.set(DUE.parse().unwrap());
    stepwise.execute().await;
    let met = world.reminded().await.len();
    assert!(met > 0 && met < DEADLINES / 2, "{met}");
    world.clock.set("2026-02-01T00:00:00Z".parse().unwrap());
    stepwise.plan_events(&world, DEADLINES).await;
    stepwise.execute().await;
    assert_eq!(world.reminded().await.len(), met, "the clock has gone back");
    drop(stepwise);
    world.clock.set(DUE.parse().unwrap());
    world.catch_up::<Dunning>().await;
    let mut reminded = world.reminded().await;
    reminded.sort();
    reminded.dedup();
    assert_eq!(
        (reminded.len(), world.reminded().await.len()),
        (DEADLINES, DEADLINES)
    );
}
