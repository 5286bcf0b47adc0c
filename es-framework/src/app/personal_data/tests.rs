//! Personal data at any depth: what the event store sees, what the application reads, and what an erasure leaves.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use es_personal::{
    ErasureTarget, PersonKeys, PersonalData, PersonalEvents, PersonalStore, SqlKeyStore, StoredForm,
};
use futures_util::TryStreamExt as _;
use proptest::{prelude::*, test_runner::TestRunner};
use tempfile::TempDir;
use uuid::Uuid;

use crate::{
    event::{
        Event, EventCandidate, EventDescriptor, EventType, Hash, Metadata, Subject, encode_event,
    },
    prelude::*,
    projection::DatabaseUrl,
    store::{AppendError, EventLog, ReadOptions, StoreError, memory::MemoryStore},
};

mod faulty_store;
mod open_erasures;
mod reports;
#[cfg(not(feature = "schemas"))]
mod schemas_of_texts;
mod seals_of_clients;
mod unopened_values;
mod wrapped_keys;

#[derive(Debug, Clone, PartialEq, Value)]
struct Guest {
    #[serde(rename = "guestId")]
    id: Uuid,
    #[personal(of = id, erased = "a guest")]
    name: String,
    #[personal(of = id)]
    #[serde(skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Value)]
#[serde(tag = "by")]
enum Contact {
    Nobody,
    Mail {
        owner: Uuid,
        #[personal(of = owner, erased = "no address")]
        address: String,
    },
}

#[derive(Debug, Clone, PartialEq, Value)]
struct Address {
    street: String,
    number: u32,
}

#[derive(Debug, Clone, PartialEq, Event)]
#[event(informational)]
struct PartyHeldEvent {
    host: Uuid,
    #[personal(of = host, erased = "a host")]
    host_name: String,
    #[personal(of = host)]
    address: Option<Address>,
    #[personal(of = host, erased = Vec::new())]
    songs: Vec<String>,
    #[personal(of = host, erased = 0)]
    age: u8,
    guests: Vec<Guest>,
    pair: [Guest; 2],
    seats: BTreeMap<String, Option<Guest>>,
    contact: Contact,
    price: f64,
}

struct Party {
    folder: TempDir,
    sealed: MemoryStore,
    opened: PersonalStore,
    data: PersonalData,
}

impl Party {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::File(folder.path().join("keys.sqlite"));
        let keys = SqlKeyStore::open(&url).await.unwrap();
        let events = PersonalEvents::select(&[EventDescriptor::of::<PartyHeldEvent>()]);
        let sealed = MemoryStore::new();
        let store = Arc::new(sealed.clone());
        let opened = PersonalStore::new(store, events, PersonKeys::new(Arc::new(keys)));
        let data = PersonalData::new(opened.clone(), "test".into(), Vec::new());
        Self {
            folder,
            sealed,
            opened,
            data,
        }
    }

    async fn append(&self, event: &PartyHeldEvent) -> Result<(), AppendError> {
        let appended = self.opened.append(vec![candidate(event)], Vec::new());
        appended.await.map(drop)
    }

    async fn stored(&self) -> String {
        let (_, data) = parties(&self.sealed).await.unwrap().pop().unwrap();
        data
    }

    async fn read(&self) -> Vec<PartyHeldEvent> {
        let parties = parties(&self.opened).await.unwrap().into_iter();
        parties.map(|(event, _)| event.unwrap()).collect()
    }
}

fn candidate(event: &PartyHeldEvent) -> EventCandidate {
    EventCandidate {
        source: "test".into(),
        subject: "/parties/1".parse().unwrap(),
        event_type: EventType::declared(PartyHeldEvent::TYPE),
        data: encode_event(&Metadata::default(), event).unwrap(),
        trace: None,
    }
}

/// Returns the events, decoded if they can be, and their data.
async fn parties(
    store: &dyn EventLog,
) -> Result<Vec<(Option<PartyHeldEvent>, String)>, StoreError> {
    let events = store.read("/parties".parse().unwrap(), ReadOptions::recursive());
    let events: Vec<_> = events.try_collect().await?;
    let events = events.into_iter();
    Ok(events
        .map(|event| (event.payload().ok(), event.data.get().to_owned()))
        .collect())
}

fn guest(id: u128, name: &str) -> Guest {
    Guest {
        id: Uuid::from_u128(id),
        name: format!("name-{name}"),
        phone: Some(format!("phone-{name}")),
    }
}

fn party() -> PartyHeldEvent {
    PartyHeldEvent {
        host: Uuid::from_u128(1),
        host_name: "name-host \"quoted\" é".into(),
        address: Some(Address {
            street: "name-street".into(),
            number: 7,
        }),
        songs: vec!["name-song".into()],
        age: 77,
        guests: vec![guest(2, "ada"), guest(3, "eve")],
        pair: [guest(3, "eve"), guest(4, "max")],
        seats: BTreeMap::from([("a/b".into(), Some(guest(2, "ada"))), ("c".into(), None)]),
        contact: Contact::Mail {
            owner: Uuid::from_u128(5),
            address: "name-address".into(),
        },
        price: 1.5,
    }
}

#[tokio::test]
async fn the_event_store_holds_no_plain_value_and_the_application_reads_all() {
    let party = Party::new().await;
    party.append(&super::tests::party()).await.unwrap();
    let stored = party.stored().await;
    // The letters of a ciphertext can be any number.
    for plain in ["name-", "phone-", r#""age":77"#] {
        assert!(!stored.contains(plain), "{stored}");
    }
    assert!(stored.contains(r#""price":1.5"#), "{stored}");
    assert_eq!(party.read().await, [super::tests::party()]);
}

#[tokio::test]
async fn an_erased_person_reads_as_the_replacements_and_the_others_as_before() {
    let party = Party::new().await;
    party.append(&super::tests::party()).await.unwrap();
    let sealed = party.stored().await;
    for person in [1, 2, 5] {
        party.data.erase(Uuid::from_u128(person)).await.unwrap();
    }
    let erased_guest = Guest {
        name: "a guest".into(),
        phone: None,
        ..guest(2, "")
    };
    let expected = PartyHeldEvent {
        host_name: "a host".into(),
        address: None,
        songs: Vec::new(),
        age: 0,
        guests: vec![erased_guest.clone(), guest(3, "eve")],
        seats: BTreeMap::from([("a/b".into(), Some(erased_guest)), ("c".into(), None)]),
        contact: Contact::Mail {
            owner: Uuid::from_u128(5),
            address: "no address".into(),
        },
        ..super::tests::party()
    };
    assert_eq!(party.read().await, [expected]);
    assert_eq!(party.stored().await, sealed, "the log stays as it was");
}

#[tokio::test]
async fn nothing_more_of_an_erased_person_is_stored() {
    let party = Party::new().await;
    for _ in 0..2 {
        party.data.erase(Uuid::from_u128(4)).await.unwrap();
    }
    let refused = party.append(&super::tests::party()).await.unwrap_err();
    assert!(
        matches!(refused, AppendError::ErasedPerson(person) if person == Uuid::from_u128(4).to_string())
    );
    assert!(parties(&party.sealed).await.unwrap().is_empty());
}

/// The schema of the erasures names the key store.
#[tokio::test]
async fn another_key_store_neither_opens_nor_seals() {
    let party = Party::new().await;
    party.append(&super::tests::party()).await.unwrap();
    let other = Party::new().await;
    let events = PersonalEvents::select(&[EventDescriptor::of::<PartyHeldEvent>()]);
    let keys = other.opened.keys().clone();
    let opened = PersonalStore::new(Arc::new(party.sealed.clone()), events, keys);
    assert!(parties(&opened).await.unwrap()[0].0.is_none());
    let appended = opened.append(vec![candidate(&super::tests::party())], Vec::new());
    let refused = appended.await.unwrap_err();
    assert!(refused.to_string().contains("KEY_STORE_URL"), "{refused}");
}

#[tokio::test]
async fn what_is_stored_about_a_person_is_found_and_exported() {
    let party = Party::new().await;
    let before = encode_event(&Metadata::default(), &super::tests::party()).unwrap();
    let plain = EventCandidate {
        data: before,
        ..candidate(&super::tests::party())
    };
    party.sealed.append(vec![plain], Vec::new()).await.unwrap();
    party.append(&super::tests::party()).await.unwrap();
    let ada = Uuid::from_u128(2);
    let found = party.data.find(ada, true).await.unwrap();
    let values = found.events.iter().map(|record| {
        let value = record.value.clone().unwrap();
        (record.state, record.path.as_str(), value)
    });
    let expected = |form| {
        [
            (form, "/payload/guests/0/name", "name-ada".into()),
            (form, "/payload/guests/0/phone", "phone-ada".into()),
            (form, "/payload/seats/a~1b/name", "name-ada".into()),
            (form, "/payload/seats/a~1b/phone", "phone-ada".into()),
        ]
    };
    let both = [expected(StoredForm::Plain), expected(StoredForm::Sealed)].concat();
    assert_eq!(values.collect::<Vec<_>>(), both);
}

/// A part of an application that counts how often it drops plain values.
#[derive(Debug, Clone, Default)]
struct CountingTarget {
    drops: Arc<AtomicUsize>,
    last: Arc<Mutex<Option<Hash>>>,
    /// The number of drops that take too long.
    slow_drops: usize,
}

impl CountingTarget {
    fn drops(&self) -> usize {
        self.drops.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ErasureTarget for CountingTarget {
    fn name(&self) -> String {
        "rows".to_owned()
    }

    async fn forget(&self, erasure: Hash) -> Result<(), String> {
        if *self.last.lock().unwrap() == Some(erasure) {
            return Ok(());
        }
        if self.drops.fetch_add(1, Ordering::SeqCst) < self.slow_drops {
            return Err("it is still being rebuilt".to_owned());
        }
        *self.last.lock().unwrap() = Some(erasure);
        Ok(())
    }
}

impl Party {
    fn instance_with(&self, target: &CountingTarget) -> PersonalData {
        let targets: Vec<Box<dyn ErasureTarget>> = vec![Box::new(target.clone())];
        PersonalData::new(self.opened.clone(), "other".into(), targets)
    }

    /// Returns an instance that has just started with this target, and has followed the erasures so far.
    async fn start_instance(&self, target: &CountingTarget) -> PersonalData {
        let data = self.instance_with(target);
        let following = data.follow();
        let followed = async {
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_millis(1)).await;
                let last = *target.last.lock().unwrap();
                if last == self.last_event().await {
                    break;
                }
            }
        };
        tokio::select! {
            ended = following => panic!("{ended:?}"),
            () = followed => {}
        }
        data
    }

    async fn last_event(&self) -> Option<Hash> {
        let all = self.sealed.read(Subject::root(), ReadOptions::recursive());
        let events: Vec<_> = all.try_collect().await.unwrap();
        events.last().map(|event| event.hash)
    }
}

#[tokio::test]
async fn an_instance_that_was_down_drops_plain_values_once_after_its_start() {
    let party = Party::new().await;
    party.append(&super::tests::party()).await.unwrap();
    let rows = CountingTarget::default();
    for person in [1, 2] {
        party.data.erase(Uuid::from_u128(person)).await.unwrap();
    }
    party.start_instance(&rows).await;
    assert_eq!(rows.drops(), 1, "both erasures at once");
    let again = party.start_instance(&rows).await;
    assert_eq!(rows.drops(), 1);
    again.erase(Uuid::from_u128(1)).await.unwrap();
    assert_eq!(rows.drops(), 1, "a repeated erasure finds nothing to do");
    again.erase(Uuid::from_u128(3)).await.unwrap();
    assert_eq!(rows.drops(), 2);
}

#[tokio::test]
async fn an_interrupted_erasure_ends_without_another_start_however_long_the_rows_take() {
    let party = Party::new().await;
    party.append(&super::tests::party()).await.unwrap();
    // A paused clock would end the wait for the thread that checks schemas, which all tests share.
    tokio::time::pause();
    let rows = CountingTarget {
        slow_drops: 3,
        ..CountingTarget::default()
    };
    let keys = party.opened.keys().store();
    for person in [1, 2] {
        // The application ended after it had destroyed the key.
        keys.erase(Uuid::from_u128(person)).await.unwrap();
    }
    let data = party.instance_with(&rows);
    let finished = async {
        for _ in 0..1_000 {
            let unfinished = keys.unfinished_erasures().await.unwrap();
            if rows.last.lock().unwrap().is_some() {
                return unfinished.is_empty();
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        false
    };
    let is_finished = tokio::select! {
        ended = data.follow() => panic!("{ended:?}"),
        is_finished = finished => is_finished,
    };
    assert!(is_finished);
    assert_eq!(rows.drops(), 4, "both at once, until it succeeds");
}

#[tokio::test]
async fn an_event_that_only_names_a_person_is_exported_without_the_values_of_others() {
    let party = Party::new().await;
    let mut event = super::tests::party();
    event.contact = Contact::Nobody;
    party.append(&event).await.unwrap();
    let note = format!("\"price\":1.5,\"note\":\"{}\"", Uuid::from_u128(9));
    let sealed = party.stored().await.replace("\"price\":1.5", &note);
    let linked = EventCandidate {
        data: serde_json::value::RawValue::from_string(sealed).unwrap(),
        ..candidate(&event)
    };
    party.sealed.append(vec![linked], Vec::new()).await.unwrap();
    let report = party.data.find(Uuid::from_u128(9), true).await.unwrap();
    assert!(report.events.is_empty());
    let [link] = &report.linked_events[..] else {
        panic!("{report:?}")
    };
    let data = link.data.as_ref().unwrap().get();
    assert!(
        data.contains("a guest") && !data.contains("name-"),
        "{data}"
    );
}

#[tokio::test]
async fn a_verification_names_the_events_with_values_that_must_be_gone() {
    let party = Party::new().await;
    party.append(&super::tests::party()).await.unwrap();
    let values = ["NAME-ADA".to_owned(), "x".to_owned()];
    let verified = party.data.verify(Uuid::from_u128(2), &values);
    let verified = verified.await.unwrap();
    assert!(verified.found.is_empty());
    assert_eq!(verified.unsearched.len(), 1, "{verified:?}");
    let plain = EventCandidate {
        data: encode_event(&Metadata::default(), &super::tests::party()).unwrap(),
        ..candidate(&super::tests::party())
    };
    party.sealed.append(vec![plain], Vec::new()).await.unwrap();
    let verified = party.data.verify(Uuid::from_u128(2), &values);
    let verified = verified.await.unwrap();
    assert!(!verified.is_erased);
    assert_eq!(verified.found, ["event 1"]);
}

#[test]
fn every_value_is_read_back_as_it_was_written() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let text = || ".{0,20}".prop_map(|text| format!("secret-{text}"));
    let guests = proptest::collection::vec((1_u128..4, text(), proptest::option::of(text())), 0..4);
    let all = (
        text(),
        proptest::collection::vec(text(), 0..3),
        1_u8..,
        guests,
    );
    let mut runner = TestRunner::new(ProptestConfig::with_cases(64));
    let checked = runner.run(&all, |(host_name, songs, age, guests)| {
        let guests = guests.into_iter().map(|(id, name, phone)| {
            let id = Uuid::from_u128(id);
            Guest { id, name, phone }
        });
        let event = PartyHeldEvent {
            host_name,
            songs,
            age,
            guests: guests.collect(),
            ..party()
        };
        runtime.block_on(async {
            let party = Party::new().await;
            party.append(&event).await.unwrap();
            let stored = party.stored().await;
            prop_assert!(!stored.contains("secret-"), "{}", stored);
            prop_assert_eq!(party.read().await, [event]);
            Ok(())
        })
    });
    checked.unwrap();
}
