//! Tests of calls that run at once: those of different subjects do, and those of one subject follow each other.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::*;
use crate::{
    command::Parameter,
    reaction::{ReactionContext, box_call, check_call},
};

/// The parcels of a courier: the begin and the end of each trip, by the invoice and the time that it is due.
#[derive(Default, Service)]
struct ParcelService {
    trips: Mutex<Vec<String>>,
    /// The invoices whose trips never end.
    lost: Mutex<BTreeSet<String>>,
}

impl ParcelService {
    fn note(&self, what: &str, invoice: &InvoiceSentEvent) {
        let InvoiceSentEvent { id, due_at } = invoice;
        let second = due_at.as_second();
        self.trips
            .lock()
            .unwrap()
            .push(format!("{what} {id}{second}"));
    }

    fn lose(&self, ids: &[&str]) {
        *self.lost.lock().unwrap() = ids.iter().map(|id| (*id).to_owned()).collect();
    }

    fn trips(&self) -> Vec<String> {
        self.trips.lock().unwrap().clone()
    }

    fn trips_of(&self, id: &str) -> Vec<String> {
        let mut trips = self.trips();
        trips.retain(|trip| trip.split(' ').nth(1).is_some_and(|of| of.starts_with(id)));
        trips
    }

    /// The most trips at the same time.
    fn most_at_once(&self) -> usize {
        let (mut at_once, mut most) = (0_usize, 0);
        for trip in self.trips() {
            if trip.starts_with("begin") {
                at_once += 1;
            } else {
                at_once -= 1;
            }
            most = most.max(at_once);
        }
        most
    }
}

/// Sends a parcel for each invoice. Each trip is shorter than the one before it.
struct ParcelSender;

fn send_parcel(
    view: &es_event::EventView<'_>,
    context: &ReactionContext<'_>,
) -> Result<crate::reaction::PendingCall, ReactionError> {
    let courier = context.service::<ParcelService>("ParcelService")?;
    let invoice: InvoiceSentEvent = view.payload()?;
    Ok(box_call(async move {
        courier.note("begin", &invoice);
        let is_lost = courier.lost.lock().unwrap().contains(&invoice.id);
        if is_lost {
            std::future::pending::<()>().await;
        }
        let second = invoice.due_at.as_second().unsigned_abs();
        sleep(Duration::from_millis(900_u64.saturating_sub(second * 100))).await;
        courier.note("end", &invoice);
        Ok::<_, ReactionError>(())
    }))
}

impl React for ParcelSender {
    const NAME: &'static str = "ParcelSender";
    const START: StartPosition = StartPosition::First;
    const DECLARATION: Declaration = declaration!();
    const STEPS: &'static [ReactionStep] = &[ReactionStep {
        name: "send",
        event: InvoiceSentEvent::TYPE,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Call(send_parcel),
        parameters: check_call(&[Parameter::injected::<ParcelService>("courier")], false),
        commands: Vec::new,
    }];
}

const SENDER: [ReactionDescriptor; 1] = [ReactionDescriptor::of::<ParcelSender>()];

fn world() -> (World, Arc<ParcelService>) {
    let mut world = World::at("2026-02-01T00:00:00Z");
    let courier = Arc::new(ParcelService::default());
    world.services = world.services.with_shared(Arc::clone(&courier));
    (world, courier)
}

/// Returns a world with parcels of twenty subjects, whose trips never end.
async fn world_with_lost_parcels() -> (World, Arc<ParcelService>) {
    let (world, courier) = world();
    let lost: Vec<String> = (0..20).map(|number| format!("lost{number}-")).collect();
    courier.lose(&lost.iter().map(String::as_str).collect::<Vec<_>>());
    for id in &lost {
        send(&world, id, 0).await;
    }
    (world, courier)
}

async fn send(world: &World, id: &str, second: i64) {
    let due_at = Timestamp::from_second(second).unwrap();
    let invoice = InvoiceSentEvent {
        id: id.to_owned(),
        due_at,
    };
    world.write(id, invoice).await;
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_subject_follow_each_other_and_those_of_another_one_run_beside_them() {
    let (world, courier) = world();
    for second in 0..5 {
        send(&world, "a", second).await;
        send(&world, "b", second).await;
    }
    let (running, _operator) = world.start(&SENDER);
    eventually(async || courier.trips().len() == 20).await;
    let expected = |id: &str| {
        let trips =
            (0..5).map(|second| [format!("begin {id}{second}"), format!("end {id}{second}")]);
        trips.flatten().collect::<Vec<_>>()
    };
    assert_eq!(courier.trips_of("a"), expected("a"));
    assert_eq!(courier.trips_of("b"), expected("b"));
    assert_eq!(courier.trips()[..2], ["begin a0", "begin b0"]);
    world.stop(running).await;
    world.catch_up::<ParcelSender>().await;
    assert_eq!(courier.trips().len(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_delays_no_call_of_another_subject() {
    let (world, courier) = world();
    courier.lose(&["a"]);
    send(&world, "a", 0).await;
    let (running, _operator) = world.start(&SENDER);
    eventually(async || courier.trips() == ["begin a0"]).await;
    let begin = Instant::now();
    // They arrive while the call hangs, also those of its own subject.
    for number in 0..150 {
        send(&world, &format!("b{number}-"), 8).await;
        send(&world, "a", number).await;
    }
    eventually(async || courier.trips_of("b").len() == 300).await;
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(courier.trips_of("a"), ["begin a0"]);
    // The call fails after a minute and is made again under the same key.
    courier.lose(&[]);
    sleep(Duration::from_secs(60)).await;
    eventually(async || {
        world.advance(1);
        courier.trips_of("a").len() == 1 + 2 * 151
    })
    .await;
    world.stop(running).await;
    world.catch_up::<ParcelSender>().await;
    assert_eq!(courier.trips().len(), 300 + 1 + 2 * 151);
}

#[tokio::test(start_paused = true)]
async fn a_process_makes_sixteen_calls_of_a_reaction_at_once() {
    let (world, courier) = world();
    for number in 0..40 {
        send(&world, &format!("{number}-"), 0).await;
    }
    let (running, _operator) = world.start(&SENDER);
    eventually(async || courier.trips().len() == 80).await;
    assert_eq!(courier.most_at_once(), 16);
    world.stop(running).await;
}

#[tokio::test(start_paused = true)]
async fn calls_of_held_subjects_leave_room_for_those_of_others() {
    let (world, courier) = world_with_lost_parcels().await;
    let (running, operator) = world.start(&SENDER);
    // Each call fails after a minute.
    sleep(Duration::from_secs(130)).await;
    assert_eq!(operator.held("ParcelSender").len(), 20);
    world.advance(3_600);
    sleep(Duration::from_secs(5)).await;
    let begin = Instant::now();
    send(&world, "b", 8).await;
    eventually(async || courier.trips_of("b").len() == 2).await;
    assert!(
        begin.elapsed() < Duration::from_secs(5),
        "{:?}",
        begin.elapsed()
    );
    world.stop(running).await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_an_operator_retries_and_that_hang_stop_no_other_subject() {
    let (world, courier) = world_with_lost_parcels().await;
    let (running, operator) = world.start(&SENDER);
    sleep(Duration::from_secs(130)).await;
    assert_eq!(operator.held("ParcelSender").len(), 20);
    let begin = Instant::now();
    let retried = operator.retried("ParcelSender", OperatorCommand::Retry, None);
    let other = async {
        sleep(Duration::from_secs(1)).await;
        send(&world, "b", 8).await;
        eventually(async || courier.trips_of("b").len() == 2).await;
        begin.elapsed()
    };
    let (retried, elapsed) = tokio::join!(retried, other);
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    // The operator gets the counts before the calls have ended.
    assert_eq!(retried, (20, 0));
    assert!(begin.elapsed() < Duration::from_secs(10));
    // Each of the subjects is retried, eight at once.
    courier.lose(&[]);
    eventually(async || operator.held("ParcelSender").len() <= 8).await;
    world.stop(running).await;
}
