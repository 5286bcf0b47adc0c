//! A store with an event that cannot be read.

use async_trait::async_trait;
use futures_util::{StreamExt as _, future::ready};

use super::*;
use es_event::{EventId, RecordedEvent};
use es_store::{AppendError, EventStream, ObserveOptions, Precondition, StoreError};
use es_subscribe::operator::ComponentKind;

const DAMAGED: u64 = 1;

/// A store whose streams fail at one event.
#[derive(Debug)]
struct DamagedStore(MemoryStore);

fn with_damage(events: EventStream) -> EventStream {
    let checked = events.map(|event| match event {
        Ok(event) if event.id.get() == DAMAGED => {
            let (address, reason) = ("memory".into(), "its hash differs".into());
            Err(StoreError::Corrupt { address, reason })
        }
        event => event,
    });
    // A stream ends after its first error.
    let ends = checked.scan(false, |has_failed, event| {
        let next = (!*has_failed).then_some(event);
        *has_failed |= next.as_ref().is_some_and(Result::is_err);
        ready(next)
    });
    ends.boxed()
}

#[async_trait]
impl EventStore for DamagedStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.0.append(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        with_damage(self.0.read(subject, options))
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        with_damage(self.0.observe(subject, options))
    }

    async fn health(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn description(&self) -> String {
        "damaged".into()
    }
}

fn start(world: &World) -> (tokio::task::JoinHandle<()>, Operator) {
    let mut runtime = world.runtime();
    runtime.store = Arc::new(DamagedStore(world.store.clone()));
    let reactions = Reactions::new([ReactionDescriptor::of::<Dunning>()]).unwrap();
    let runner = ReactionRunner::new(runtime, reactions);
    let operator = Operator {
        client: runner.operator_client(),
        progress: runner.progress(),
    };
    (tokio::spawn(runner.run()), operator)
}

#[tokio::test]
async fn a_damaged_event_stops_a_reaction_by_its_id_and_can_be_skipped() {
    let world = World::at("2026-02-01T00:00:00Z");
    for id in ["a", "b", "c"] {
        world.send(id).await;
    }
    let (running, operator) = start(&world);
    let state = || operator.progress("Dunning").state();
    eventually(async || state().is_stopped()).await;
    assert_eq!(state().poison_event().unwrap().id.get(), DAMAGED);
    let exits = state().exits(ComponentKind::Reaction);
    assert_eq!(exits, [OperatorCommand::Retry, OperatorCommand::Skip]);
    let skipped = operator.send("Dunning", OperatorCommand::Skip).await;
    assert_eq!(skipped.unwrap().unwrap().id.get(), DAMAGED);
    eventually(async || operator.progress("Dunning").position() >= EventId::new(2)).await;
    running.abort();
    let _ = running.await;
    // After the skip, a start passes the event on its way through the open deadlines.
    world.clock.set(DUE.parse().unwrap());
    let (running, _operator) = start(&world);
    eventually(async || world.reminded().await == ["/invoices/a", "/invoices/c"]).await;
    running.abort();
}
