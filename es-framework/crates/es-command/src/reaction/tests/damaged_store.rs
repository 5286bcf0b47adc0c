//! A store with an event that cannot be read.

use std::sync::Mutex;

use async_trait::async_trait;
use futures_util::{StreamExt as _, future::ready};

use super::*;
use crate::reaction::box_call;
use es_event::{EventId, RecordedEvent};
use es_store::{AppendError, EventStream, ObserveOptions, Precondition, StoreError};
use es_subscribe::operator::ComponentKind;

const DAMAGED: u64 = 1;

/// A store whose streams fail at one event.
#[derive(Debug)]
struct DamagedStore(MemoryStore, u64);

fn with_damage(events: EventStream, damaged: u64) -> EventStream {
    let checked = events.map(move |event| match event {
        Ok(event) if event.id.get() == damaged => {
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
impl EventLog for DamagedStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        self.0.append(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        with_damage(self.0.read(subject, options), self.1)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        with_damage(self.0.observe(subject, options), self.1)
    }
}

/// A courier who takes a while. The first trip to each payer may fail.
#[derive(Default, Service)]
struct Courier {
    fails: bool,
    trips: Mutex<Vec<String>>,
}

/// Sends a courier with each invoice, and holds a payer to whom a trip fails.
struct Delivery;

impl React for Delivery {
    const NAME: &'static str = "Delivery";
    const START: StartPosition = StartPosition::First;
    const ATTEMPTS: u32 = 1;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "deliver",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Call(|view, context| {
            let courier = context.service::<Courier>("Courier")?;
            let InvoiceSentEvent { id, .. } = view.payload()?;
            Ok(box_call(async move {
                tokio::time::sleep(Duration::from_millis(500)).await;
                let mut trips = courier.trips.lock().unwrap();
                let is_first = !trips.contains(&id);
                trips.push(id);
                if courier.fails && is_first {
                    return Err("nobody is at home");
                }
                Ok(())
            }))
        }),
        parameters: &[],
        commands: Vec::new,
    }];
}

/// Two invoices of one payer, whose second one waits for the first one, before the damaged event, and one behind it.
async fn world_with_courier(fails: bool) -> (World, Arc<Courier>) {
    let mut world = World::at("2026-02-01T00:00:00Z");
    let trips = Mutex::default();
    let courier = Arc::new(Courier { fails, trips });
    world.services = world.services.with_shared(Arc::clone(&courier));
    for id in ["a", "a", "damaged", "b"] {
        world.send(id).await;
    }
    (world, courier)
}

fn start(world: &World) -> (tokio::task::JoinHandle<()>, Operator) {
    start_reaction::<Dunning>(world, DAMAGED)
}

fn start_reaction<R: React>(
    world: &World,
    damaged: u64,
) -> (tokio::task::JoinHandle<()>, Operator) {
    let mut runtime = world.runtime();
    runtime.store = Arc::new(DamagedStore(world.store.clone(), damaged));
    let reactions = Reactions::new([ReactionDescriptor::of::<R>()]).unwrap();
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

#[tokio::test(start_paused = true)]
async fn a_damaged_event_behind_a_call_that_fails_is_found_and_the_call_holds_its_subject() {
    let (world, courier) = world_with_courier(true).await;
    let (running, operator) = start_reaction::<Delivery>(&world, 2);
    let progress = operator.progress("Delivery");
    eventually(async || progress.is_stopped()).await;
    assert_eq!(progress.poison_event().unwrap().id.get(), 2);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(courier.trips.lock().unwrap().clone(), ["a"]);
    assert!(progress.is_stopped());
    let event = EventId::new(2).unwrap();
    let damaged = EventSelection::Event { event };
    operator
        .retried("Delivery", OperatorCommand::Skip, Some(damaged))
        .await;
    eventually(async || courier.trips.lock().unwrap().contains(&"b".to_owned())).await;
    eventually(async || operator.held("Delivery") == ["/invoices/a", "/invoices/b"]).await;
    let held = progress.held_keys();
    let waiting: u64 = held.iter().map(|held| held.events).sum();
    assert_eq!(waiting, 3);
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn an_event_that_waits_for_a_call_is_not_lost_when_a_damaged_one_behind_it_is_skipped() {
    let (world, courier) = world_with_courier(false).await;
    let (running, operator) = start_reaction::<Delivery>(&world, 2);
    let progress = operator.progress("Delivery");
    eventually(async || progress.is_stopped()).await;
    // The first call runs.
    assert!(courier.trips.lock().unwrap().is_empty());
    operator
        .send("Delivery", OperatorCommand::Skip)
        .await
        .unwrap();
    eventually(async || courier.trips.lock().unwrap().len() == 3).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    running.abort();
    let mut trips = courier.trips.lock().unwrap().clone();
    trips.sort();
    assert_eq!(trips, ["a", "a", "b"]);
}
