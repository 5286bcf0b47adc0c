//! A store whose subscription has one event ready at a time, like a connection.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use futures_util::StreamExt as _;

use super::{
    super::{ReactionDescriptor, ReactionRunner, Reactions},
    DUE, ImmediateReminder, InvoicePaidEvent, World, eventually,
};
use es_event::{EventCandidate, EventId, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog, EventStream, ObserveOptions, Precondition, ReadOptions,
    memory::MemoryStore,
};

#[derive(Debug)]
struct UnbatchedStore(MemoryStore);

#[async_trait]
impl EventLog for UnbatchedStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.0.append(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.0.read(subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        let events = self.0.observe(subject, options);
        let one_at_a_time = events.then(async |event| {
            tokio::task::yield_now().await;
            event
        });
        one_at_a_time.boxed()
    }
}

#[tokio::test]
async fn a_subscription_with_one_event_ready_at_a_time_is_followed_quickly() {
    const EVENTS: usize = 2_000;
    let world = World::at(DUE);
    let mut runtime = world.runtime();
    runtime.store = Arc::new(UnbatchedStore(world.store.clone()));
    let reactions = Reactions::new([ReactionDescriptor::of::<ImmediateReminder>()]).unwrap();
    let runner = ReactionRunner::new(runtime, reactions);
    let progress = runner.progress();
    let haste = progress.find_progress("ImmediateReminder").unwrap();
    let running = tokio::spawn(runner.run());
    eventually(async || haste.has_caught_up()).await;
    let begin = Instant::now();
    for _ in 0..EVENTS {
        world.write("a", InvoicePaidEvent {}).await;
    }
    let last = EventId::new((EVENTS - 1).try_into().unwrap());
    eventually(async || haste.position() >= last).await;
    // A window for each event would take 30 seconds.
    let time = begin.elapsed();
    assert!(time < Duration::from_secs(5), "{time:?}");
    running.abort();
}
