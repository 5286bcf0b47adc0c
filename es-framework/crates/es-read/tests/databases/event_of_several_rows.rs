//! An event that changes several rows, in each database.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
};

use es_framework::{
    event::{Event, EventId, RecordedEvent},
    operator::OperatorCommand,
    prelude::*,
};

use super::{
    note_board::NoteBoard, postgres_server::PostgresServer, running_read_model::RunningReadModel,
};

/// A seat of the hall, as the plan has it.
#[derive(Debug, Clone, PartialEq, Value)]
struct PlannedSeat {
    number: u32,
    block: String,
}

/// The seats of a hall were planned.
#[derive(Debug, Event)]
struct HallPlannedEvent {
    seats: Vec<PlannedSeat>,
}

/// A guest reserved seats.
#[derive(Debug, Event)]
struct SeatsReservedEvent {
    seats: Vec<u32>,
    guest: String,
}

/// Drinks were brought to seats, some of which nobody has planned.
#[derive(Debug, Event)]
struct DrinksServedEvent {
    seats: Vec<u32>,
}

/// Seats were taken away.
#[derive(Debug, Event)]
struct SeatsRemovedEvent {
    seats: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "seats")]
struct Seat {
    #[key]
    number: u32,
    block: String,
    guest: Option<String>,
    drinks: u32,
    last_subject: Option<String>,
}

/// Seat 13 cannot be reserved by `unlucky` until the code is corrected.
static IS_CORRECTED: AtomicBool = AtomicBool::new(false);

/// Some blocks cannot be planned until the code is corrected.
static IS_PLAN_CORRECTED: AtomicBool = AtomicBool::new(false);

#[projection]
impl Seat {
    #[each(seats)]
    #[key(number)]
    fn planned(seat: &PlannedSeat, _: &HallPlannedEvent) -> Self {
        let mut row = Self::new(seat.number, &seat.block);
        match seat.block.as_str() {
            _ if IS_PLAN_CORRECTED.load(Ordering::Relaxed) => {}
            "panics" => panic!("the block does not exist"),
            "other key" => row.number += 1_000,
            _ => {}
        }
        row
    }

    #[each(seats)]
    fn reserved(&mut self, _: &u32, event: &SeatsReservedEvent) {
        let is_fault = self.number == 13 && event.guest == "unlucky";
        assert!(
            !is_fault || IS_CORRECTED.load(Ordering::Relaxed),
            "the seat does not exist"
        );
        self.guest = Some(event.guest.clone());
    }

    #[each(seats)]
    fn served(
        row: Option<Self>,
        number: &u32,
        _: &DrinksServedEvent,
        recorded: &RecordedEvent,
    ) -> Option<Self> {
        let mut seat = row.unwrap_or_else(|| Self::new(*number, "standing"));
        seat.drinks += 1;
        seat.last_subject = Some(recorded.subject.as_str().to_owned());
        Some(seat)
    }

    #[each(seats)]
    fn removed(self, _: &u32, _: &SeatsRemovedEvent) -> Option<Self> {
        None
    }
}

impl Seat {
    fn new(number: u32, block: &str) -> Self {
        Self {
            number,
            block: block.to_owned(),
            guest: None,
            drinks: 0,
            last_subject: None,
        }
    }
}

/// The seats in one database.
struct Hall(RunningReadModel);

impl Deref for Hall {
    type Target = RunningReadModel;

    fn deref(&self) -> &RunningReadModel {
        &self.0
    }
}

impl Hall {
    async fn open(server: Option<PostgresServer>) -> Self {
        Self(RunningReadModel::start::<Seat>(&[], server).await)
    }

    async fn append<E: Event>(&self, event: E) -> EventId {
        self.0.append("/halls/1", &[event]).await
    }

    async fn plan(&self, numbers: impl IntoIterator<Item = u32>) -> EventId {
        let seats = numbers.into_iter().map(|number| (number, "A"));
        self.plan_blocks(seats).await
    }

    async fn plan_blocks(&self, seats: impl IntoIterator<Item = (u32, &str)>) -> EventId {
        let seats = seats.into_iter().map(|(number, block)| PlannedSeat {
            number,
            block: block.to_owned(),
        });
        let seats = seats.collect();
        self.append(HallPlannedEvent { seats }).await
    }

    async fn reserve(&self, seats: &[u32], guest: &str) -> EventId {
        let (seats, guest) = (seats.to_vec(), guest.to_owned());
        self.append(SeatsReservedEvent { seats, guest }).await
    }

    /// Returns the numbers, the oldest row first.
    async fn numbers(&self) -> Vec<u32> {
        let guests = self.guests().await.into_iter();
        guests.map(|(number, _)| number).collect()
    }

    /// Returns the keys that are held, and the events at which they are.
    fn held(&self) -> Vec<(String, EventId)> {
        let held = self.progress.held_keys();
        let held = held.iter();
        let mut held: Vec<_> = held.map(|one| (one.key.clone(), one.poison.id)).collect();
        held.sort_unstable();
        held
    }

    /// Returns the numbers and the guests, the oldest row first.
    async fn guests(&self) -> Vec<(u32, Option<String>)> {
        let seats = self.context().rows::<Seat>().all(2_000).await.unwrap();
        seats
            .into_iter()
            .map(|seat| (seat.number, seat.guest))
            .collect()
    }
}

fn guest(name: &str) -> Option<String> {
    Some(name.to_owned())
}

#[tokio::test]
async fn an_event_creates_changes_and_removes_several_rows() {
    for location in NoteBoard::locations() {
        let hall = Hall::open(location).await;
        hall.plan([7, 3, 5]).await;
        hall.reserve(&[5, 7, 99], "Ada").await;
        // One seat is served twice, and one is new.
        hall.append(DrinksServedEvent {
            seats: vec![3, 8, 3],
        })
        .await;
        let last = hall.append(SeatsRemovedEvent { seats: vec![7, 4] }).await;
        hall.await_position(last).await;
        let seats = hall.context().rows::<Seat>().all(10).await.unwrap();
        let served = |seat: Seat, drinks| Seat {
            drinks,
            last_subject: guest("/halls/1"),
            ..seat
        };
        let expected = [
            served(Seat::new(3, "A"), 2),
            Seat {
                guest: guest("Ada"),
                ..Seat::new(5, "A")
            },
            served(Seat::new(8, "standing"), 1),
        ];
        assert_eq!(seats, expected);
        assert!(hall.progress.held_keys().is_empty());
    }
}

#[tokio::test]
async fn the_rows_of_one_event_keep_their_order_across_pages() {
    for location in NoteBoard::locations() {
        let hall = Hall::open(location).await;
        hall.plan((0..1_000).rev()).await;
        let last = hall.plan([2_000, 1_000]).await;
        hall.await_position(last).await;
        let expected: Vec<u32> = (0..1_000).rev().chain([2_000, 1_000]).collect();
        assert_eq!(hall.numbers().await, expected);
    }
}

#[tokio::test]
async fn an_event_of_too_many_rows_changes_none_and_names_the_limit() {
    let hall = Hall::open(None).await;
    let last = hall.plan(0..1_025).await;
    hall.await_position(last).await;
    assert_eq!(hall.guests().await, []);
    let held = hall.progress.held_keys();
    let reason = &held.iter().next().unwrap().poison.reason;
    assert_eq!(
        reason,
        "the event changes 1025 rows, and at most 1024 are possible: record several events"
    );
}

#[tokio::test]
async fn the_row_that_postgresql_refuses_is_held_and_the_others_take_the_event() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let hall = Hall::open(Some(server)).await;
    let seats = [(12, "A"), (13, "a\0b"), (14, "A")];
    let poison = hall.plan_blocks(seats).await;
    let last = hall.reserve(&[12, 13, 14], "Ada").await;
    hall.await_position(last).await;
    assert_eq!(
        hall.guests().await,
        [(12, guest("Ada")), (14, guest("Ada"))]
    );
    assert_eq!(hall.held(), [("13".to_owned(), poison)]);
}

#[tokio::test]
async fn of_many_rows_only_those_that_postgresql_refuses_are_held() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let hall = Hall::open(Some(server)).await;
    let refused = [0, 511, 512, 700, 1_023];
    let block = |number| {
        if refused.contains(&number) {
            "a\0b"
        } else {
            "A"
        }
    };
    let seats = (0..1_024).map(|number| (number, block(number)));
    let poison = hall.plan_blocks(seats).await;
    hall.await_position(poison).await;
    let sound = (0..1_024).filter(|number| !refused.contains(number));
    assert_eq!(hall.numbers().await, sound.collect::<Vec<u32>>());
    let mut held = refused.map(|number| (number.to_string(), poison));
    held.sort_unstable();
    assert_eq!(hall.held(), held);
    let reasons = hall.progress.held_keys().group_by_failure();
    assert_eq!(reasons.len(), 1);
    // A retry holds the same rows.
    assert_eq!(hall.operate(OperatorCommand::Retry).await.released, 0);
    assert_eq!(hall.held(), held);
}

#[tokio::test]
async fn the_rows_that_cannot_be_created_are_held_and_a_retry_creates_them_at_their_positions() {
    for location in NoteBoard::locations() {
        IS_PLAN_CORRECTED.store(false, Ordering::Relaxed);
        let hall = Hall::open(location).await;
        let seats = [(1, "A"), (2, "panics"), (3, "other key"), (4, "A")];
        let poison = hall.plan_blocks(seats).await;
        // A retry folds fewer events at once than these.
        let drinks = (0..2_100).map(|_| DrinksServedEvent { seats: vec![9] });
        let drinks: Vec<_> = drinks.collect();
        hall.0.append("/halls/1", &drinks).await;
        let last = hall.plan([2]).await;
        hall.await_position(last).await;
        assert_eq!(hall.numbers().await, [1, 4, 9]);
        let held = ["2", "3"].map(|key| (key.to_owned(), poison));
        assert_eq!(hall.held(), held);

        IS_PLAN_CORRECTED.store(true, Ordering::Relaxed);
        assert_eq!(hall.operate(OperatorCommand::Retry).await.released, 2);
        assert_eq!(hall.numbers().await, [1, 2, 3, 4, 9]);
    }
}

#[tokio::test]
async fn one_of_the_rows_is_held_and_the_others_take_the_event() {
    for location in NoteBoard::locations() {
        IS_CORRECTED.store(false, Ordering::Relaxed);
        let hall = Hall::open(location).await;
        hall.plan([12, 13, 14]).await;
        let poison = hall.reserve(&[12, 13, 14], "unlucky").await;
        hall.reserve(&[12], "Ada").await;
        let last = hall.reserve(&[13, 14], "Grace").await;
        hall.await_position(last).await;
        let before = [(12, guest("Ada")), (13, None), (14, guest("Grace"))];
        assert_eq!(hall.guests().await, before);
        assert_eq!(hall.held(), [("13".to_owned(), poison)]);

        IS_CORRECTED.store(true, Ordering::Relaxed);
        assert_eq!(hall.operate(OperatorCommand::Retry).await.retried, 1);
        assert!(hall.progress.held_keys().is_empty());
        let after = [
            (12, guest("Ada")),
            (13, guest("Grace")),
            (14, guest("Grace")),
        ];
        assert_eq!(hall.guests().await, after);
    }
}
