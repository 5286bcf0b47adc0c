//! Whatever readers do in whatever order, the queue of a title is served in its order, and no reader has two copies set
//! aside. When all is quiet, no copy that came back is free while somebody waits.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use es_framework::{
    App, ApplicationClient, Settings,
    event::{RecordedEvent, Subject},
    prelude::*,
    store::{EventLog, ReadOptions, memory::MemoryStore},
};
use futures_util::TryStreamExt as _;
use proptest::prelude::*;
use serde_json::{Value, json};

const COPIES: u128 = 2;
const READERS: u128 = 4;
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, Copy)]
enum LibraryAction {
    Borrow(u128, u128),
    Return(u128),
    Reserve(u128, u128),
    Cancel(u128),
    Remove(u128),
    /// The clock goes on by days.
    Wait(u32),
}

fn any_action() -> impl Strategy<Value = LibraryAction> {
    prop_oneof![
        4 => (0..COPIES, 0..READERS).prop_map(|(copy, reader)| LibraryAction::Borrow(copy, reader)),
        6 => (0..COPIES).prop_map(LibraryAction::Return),
        8 => (0..COPIES, 0..READERS).prop_map(|(copy, reader)| LibraryAction::Reserve(copy, reader)),
        2 => (0..READERS).prop_map(LibraryAction::Cancel),
        1 => (0..COPIES).prop_map(LibraryAction::Remove),
        2 => (1_u32..9).prop_map(LibraryAction::Wait),
    ]
}

fn copy(number: u128) -> Uuid {
    Uuid::from_u128(0xb00c << 64 | number)
}

fn reader(number: u128) -> Uuid {
    Uuid::from_u128(0xada << 64 | number)
}

async fn post(client: &ApplicationClient, path: &str, body: Value) {
    let response = client.post(path, &body).await.unwrap();
    assert!(response.status < 500, "{path}: {}", response.text());
}

async fn act(action: LibraryAction, client: &ApplicationClient, clock: &Clock) {
    let (path, body) = match action {
        LibraryAction::Borrow(id, by) => {
            ("borrow", json!({ "id": copy(id), "reader": reader(by) }))
        }
        LibraryAction::Return(id) => ("return", json!({ "id": copy(id) })),
        LibraryAction::Reserve(id, by) => {
            ("reserve", json!({ "id": copy(id), "reader": reader(by) }))
        }
        LibraryAction::Cancel(by) => {
            let body = json!({ "reader": reader(by), "isbn": "0-261-10357-X" });
            ("cancel-reservation", body)
        }
        LibraryAction::Remove(id) => ("remove", json!({ "id": copy(id), "reason": "It is wet." })),
        LibraryAction::Wait(days) => {
            clock.advance((A_DAY * days).try_into().unwrap());
            return;
        }
    };
    post(client, &format!("/books/{path}"), body).await;
}

#[derive(Debug, PartialEq)]
enum CopyPlace {
    /// Nobody waited when the copy came here.
    OnShelf,
    /// The copy came back while somebody waited.
    Returned,
    Lent,
    SetAside(String, Timestamp),
    Removed,
}

impl CopyPlace {
    const fn is_free(&self) -> bool {
        matches!(self, Self::OnShelf | Self::Returned)
    }
}

/// The library by its events alone. Each event has to be possible after those before it.
#[derive(Debug, Default)]
struct ReplayedLibrary {
    copies: BTreeMap<String, CopyPlace>,
    /// The readers with reservations, by the number of the event that opened them.
    reservations: BTreeMap<usize, String>,
}

impl ReplayedLibrary {
    fn of(events: &[RecordedEvent]) -> Self {
        let mut library = Self::default();
        for (number, event) in events.iter().enumerate() {
            library.follow(number, event);
        }
        library
    }

    fn is_held_for(&self, reader: &str) -> bool {
        let mut places = self.copies.values();
        places.any(|place| matches!(place, CopyPlace::SetAside(of, _) if of == reader))
    }

    /// Returns the readers without a copy, the one whose reservation is oldest first.
    fn waiting(&self) -> Vec<&String> {
        let readers = self.reservations.values();
        readers.filter(|reader| !self.is_held_for(reader)).collect()
    }

    fn follow(&mut self, number: usize, event: &RecordedEvent) {
        let payload: Value = event.payload().unwrap_or_default();
        let text = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
        let (id, reader) = (text("id"), text("reader"));
        let name = event.event_type.as_str().rsplit('.').next().unwrap();
        match name {
            "BookPurchasedEvent" => {
                self.copies.insert(id, CopyPlace::OnShelf);
            }
            "BookBorrowedEvent" => {
                let before = self.copies.insert(id, CopyPlace::Lent).unwrap();
                let is_for = matches!(&before, CopyPlace::SetAside(of, _) if *of == reader);
                assert!(before.is_free() || is_for, "{before:?}");
            }
            "BookReturnedEvent" => {
                let before = self.copies.insert(id, CopyPlace::Returned);
                assert_eq!(before, Some(CopyPlace::Lent));
            }
            "BookRemovedEvent" => {
                self.copies.insert(id, CopyPlace::Removed);
            }
            "TitleReservedEvent" => {
                let mut others = self.reservations.values();
                assert!(others.all(|other| *other != reader));
                self.reservations.insert(number, reader);
            }
            "CopyHeldEvent" => {
                assert_eq!(self.waiting()[0], &reader, "the first who waits");
                let place = CopyPlace::SetAside(reader, text("until").parse().unwrap());
                let before = self.copies.insert(text("copy"), place);
                assert!(before.is_some_and(|before| before.is_free()));
            }
            "ReservationEndedEvent" => self.reservations.retain(|_, other| *other != reader),
            "CopyPutBackEvent" => {
                let before = self.copies.insert(id, CopyPlace::Returned).unwrap();
                assert!(matches!(before, CopyPlace::SetAside(of, _) if of == reader));
            }
            _ => {}
        }
        if self.waiting().is_empty() {
            let mut places = self.copies.values_mut();
            while let Some(place) = places.find(|place| **place == CopyPlace::Returned) {
                *place = CopyPlace::OnShelf;
            }
        }
    }

    /// Returns true if no reaction has anything to do.
    fn is_quiet(&self, now: Timestamp) -> bool {
        self.copies.values().all(|place| match place {
            CopyPlace::Returned => false,
            CopyPlace::SetAside(_, until) => *until > now,
            CopyPlace::OnShelf | CopyPlace::Lent | CopyPlace::Removed => true,
        })
    }
}

async fn run(actions: &[LibraryAction]) {
    let settings = Settings::default();
    let clock = Clock::at("2026-07-01T12:00:00Z".parse().unwrap());
    let store = MemoryStore::new();
    let app = App::new("library-service").event_store(Arc::new(store.clone()));
    let application = app.settings(settings).provide(clock.clone()).build();
    let application = application.await.unwrap();
    let client = application.client();
    for number in 0..COPIES {
        let book = json!({
            "id": copy(number), "isbn": "0-261-10357-X", "title": "The Fellowship of the Ring",
            "author": "J. R. R. Tolkien", "numPages": 423,
        });
        post(&client, "/books/purchase", book).await;
    }
    for number in 0..READERS {
        let body = json!({ "id": reader(number), "name": "a reader" });
        post(&client, "/readers/register", body).await;
    }
    for action in actions {
        act(*action, &client, &clock).await;
    }
    let mut is_quiet = false;
    for _ in 0..1_000 {
        let events = store.read(Subject::root(), ReadOptions::recursive());
        let events: Vec<_> = events.try_collect().await.unwrap();
        is_quiet = ReplayedLibrary::of(&events).is_quiet(clock.now());
        if is_quiet {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(is_quiet, "a copy is free while a reader waits");
    application.shutdown().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_is_served_in_its_order_and_no_copy_that_came_back_is_free_while_somebody_waits(
        actions in prop::collection::vec(any_action(), 5..40),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(run(&actions));
    }
}
