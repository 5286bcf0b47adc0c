//! Storage that was changed behind the back of its store. No answer has something else than what was
//! written, and the log closes.

use std::fmt::Debug;

use async_trait::async_trait;
use futures_util::TryStreamExt as _;

use super::support::{append, candidate, event_type, subject, within_time};
use crate::{
    DamageSettlement, EventSchema, EventStore, Order, Precondition, ReadOptions, StoreError, verify,
};
use es_event::{Subject, TraceContext};

/// A change of the storage that no store makes. The events have the ids 0 to 8; 0, 3 and 6 are those of `/a/1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Event 3 has other data.
    ChangedData,
    /// Event 3 has another type.
    ChangedType,
    /// Event 3 has another subject.
    ChangedSubject,
    /// Event 3 has another time.
    ChangedTime,
    /// Event 3 has another trace.
    ChangedTrace,
    /// Event 3 has another source.
    ChangedSource,
    /// Event 3 has another hash.
    ChangedHash,
    /// The hash of the last event is another one.
    ChangedLastHash,
    /// Events 3 and 4 have each other's id.
    SwappedIds,
    /// Event 0 is deleted.
    DeletedFirstOfSubject,
    /// Event 3 is deleted.
    DeletedMiddleOfSubject,
    /// Event 6 is deleted.
    DeletedLastOfSubject,
    /// Event 8 is deleted.
    DeletedLastOfLog,
    /// A copy of event 6 has the id 9.
    ForgedEvent,
    /// All rows of all tables are gone.
    LostTables,
    /// All events are gone, and what follows from them is there.
    LostEvents,
    /// The index of subjects lacks `/a/1`.
    LostSubject,
    /// The index of subjects names event 0 as the latest of `/a/1`.
    ChangedSubjectEntry,
    /// The index of what is below a subject lacks all of `/a`.
    LostSubtree,
    /// The index of what is below a subject names an event that is elsewhere.
    ForgedSubtreeEntry,
    /// The list of types lacks the type without a schema.
    LostType,
    /// The schema is another one.
    ChangedSchema,
    /// The schema is gone, and its type is not.
    RemovedSchema,
    /// The type with the schema is gone.
    LostSchema,
}

impl Damage {
    /// Returns the SQL statements of a damage to the rows of events, which are the same for all engines with such a
    /// table. Returns `None` for damage that an engine describes itself.
    pub fn sql_on_events(self, table: &str) -> Option<String> {
        let update = |change: &str, id: u64| format!("UPDATE {table} SET {change} WHERE id = {id}");
        let delete = |id: u64| format!("DELETE FROM {table} WHERE id = {id}");
        Some(match self {
            Self::ChangedData => update("data = '{\"number\":4}'", 3),
            Self::ChangedType => update("type = 'io.example.contract.even'", 3),
            Self::ChangedSubject => update("subject = '/a/2'", 3),
            Self::ChangedTime => update("time = '2020-01-01T00:00:00Z'", 3),
            Self::ChangedTrace => update("traceparent = replace(traceparent, '4bf9', '4bf8')", 3),
            Self::ChangedSource => update("source = 'tag:other'", 3),
            Self::ChangedHash => update("hash = predecessor_hash", 3),
            Self::ChangedLastHash => update("hash = predecessor_hash", 8),
            Self::SwappedIds => [(100, 3), (3, 4), (4, 100)]
                .map(|(new, old)| update(&format!("id = {new}"), old))
                .join("; "),
            Self::DeletedFirstOfSubject => delete(0),
            Self::DeletedMiddleOfSubject => delete(3),
            Self::DeletedLastOfSubject => delete(6),
            Self::DeletedLastOfLog => delete(8),
            Self::ForgedEvent => format!(
                "CREATE TEMP TABLE forged AS SELECT * FROM {table} WHERE id = 6; \
                 UPDATE forged SET id = 9; INSERT INTO {table} SELECT * FROM forged"
            ),
            _ => return None,
        })
    }
}

/// The part of the storage that a damage is in. It says how the log is opened again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DamagedPart {
    /// Events, or all tables: an operator accepts the loss.
    Log,
    /// The tables that follow from the events: an operator has them built again.
    Tables,
    /// Schemas, which follow from nothing.
    Schemas,
}

const DAMAGE: [(Damage, DamagedPart); 24] = [
    (Damage::ChangedData, DamagedPart::Log),
    (Damage::ChangedType, DamagedPart::Log),
    (Damage::ChangedSubject, DamagedPart::Log),
    (Damage::ChangedTime, DamagedPart::Log),
    (Damage::ChangedTrace, DamagedPart::Log),
    (Damage::ChangedSource, DamagedPart::Log),
    (Damage::ChangedHash, DamagedPart::Log),
    (Damage::ChangedLastHash, DamagedPart::Log),
    (Damage::SwappedIds, DamagedPart::Log),
    (Damage::DeletedFirstOfSubject, DamagedPart::Log),
    (Damage::DeletedMiddleOfSubject, DamagedPart::Log),
    (Damage::DeletedLastOfSubject, DamagedPart::Log),
    (Damage::DeletedLastOfLog, DamagedPart::Log),
    (Damage::ForgedEvent, DamagedPart::Log),
    (Damage::LostTables, DamagedPart::Log),
    (Damage::LostEvents, DamagedPart::Log),
    (Damage::LostSubject, DamagedPart::Tables),
    (Damage::ChangedSubjectEntry, DamagedPart::Tables),
    (Damage::LostSubtree, DamagedPart::Tables),
    (Damage::ForgedSubtreeEntry, DamagedPart::Tables),
    (Damage::LostType, DamagedPart::Tables),
    (Damage::ChangedSchema, DamagedPart::Schemas),
    (Damage::RemovedSchema, DamagedPart::Schemas),
    (Damage::LostSchema, DamagedPart::Schemas),
];

/// The storage of a store, which a test damages.
#[async_trait(?Send)]
pub trait DamageableStorage {
    /// The store.
    type Store: EventStore;
    /// The error of a start that is refused.
    type Error: Debug;

    /// True if other programs can change the storage while the store is open.
    const IS_SHARED: bool;

    /// Opens the store.
    async fn open(&self) -> Result<Self::Store, Self::Error>;

    /// Damages the storage. Returns false if the engine has nothing of this kind.
    async fn damage(&self, damage: Damage) -> bool;

    /// Builds the tables that follow from the events again.
    async fn rebuild(&self, store: &Self::Store);
}

/// Damages a new storage in each way. Returns the ways that the engine does not have.
///
/// # Panics
/// The adapter serves what was damaged.
pub async fn run_damage<S: DamageableStorage>(mut empty: impl AsyncFnMut() -> S) -> Vec<Damage> {
    let mut unknown = Vec::new();
    for (damage, part) in DAMAGE {
        let storage = empty().await;
        let checked = async {
            if !check(&storage, damage, part).await {
                unknown.push(damage);
            }
        };
        within_time(&format!("{damage:?}"), checked).await;
    }
    unknown
}

async fn check<S: DamageableStorage>(storage: &S, damage: Damage, part: DamagedPart) -> bool {
    let store = storage.open().await.unwrap();
    fill(&store).await;
    let right = answers(&store).await.map(Result::unwrap);
    let whole = verify(&store, |_| {}).await.unwrap();
    assert_eq!(whole.damage, [], "{damage:?}: it was whole");
    if S::IS_SHARED {
        if !storage.damage(damage).await {
            return false;
        }
        assert_nothing_wrong_is_served(&store, damage, &right).await;
        assert_closed(&store, damage).await;
        drop(store);
    } else {
        drop(store);
        if !storage.damage(damage).await {
            return false;
        }
    }
    let store = match storage.open().await {
        Ok(store) => store,
        Err(error) => {
            assert_ne!(part, DamagedPart::Tables, "{damage:?}: {error:?}");
            return true;
        }
    };
    assert_nothing_wrong_is_served(&store, damage, &right).await;
    assert_closed(&store, damage).await;
    match part {
        DamagedPart::Tables => {
            storage.rebuild(&store).await;
            let whole = verify(&store, |_| {}).await.unwrap();
            assert_eq!(whole.damage, [], "{damage:?} stays");
            let healed = answers(&store).await.map(Result::unwrap);
            assert_eq!(healed, right, "{damage:?}");
        }
        DamagedPart::Log | DamagedPart::Schemas => accept(&store).await,
    }
    let appended = append(&store, vec![candidate("/d", "even", "{}")], vec![]).await;
    assert!(appended.is_ok(), "{damage:?} keeps it closed: {appended:?}");
    true
}

/// Accepts all damage, as an operator does.
async fn accept(store: &impl EventStore) {
    let found = verify(store, |_| {}).await.unwrap().damage;
    let settlement = DamageSettlement {
        known: store.damaged_places().await.unwrap(),
        found,
        is_accepted: true,
    };
    store.settle_damage(settlement).await.unwrap();
    // The next verification finds the same, which stays accepted.
    verify(store, |_| {}).await.unwrap();
}

/// Asserts that a verification finds the damage, and that the log then takes no event.
async fn assert_closed(store: &impl EventStore, damage: Damage) {
    let found = match verify(store, |_| {}).await {
        Ok(report) => report.damage,
        Err(_) => return,
    };
    assert_ne!(found, [], "{damage:?} is called whole");
    let refused = append(store, vec![candidate("/d", "even", "{}")], vec![]).await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("closed for writing"),
        "{damage:?}: {refused}"
    );
    let unwell = store.health().await.unwrap_err().to_string();
    assert!(
        unwell.contains("closed for writing"),
        "{damage:?}: {unwell}"
    );
}

/// Appends nine events, three for each of three subjects, and registers a schema of one of their two types.
async fn fill(store: &impl EventStore) {
    for number in 0..9 {
        let at = ["/a/1", "/a/2", "/b"][number % 3];
        let name = ["even", "odd"][number % 2];
        let mut one = candidate(at, name, &format!("{{\"number\":{number}}}"));
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        one.trace = TraceContext::new(Some(parent), None).unwrap();
        append(store, vec![one], vec![]).await.unwrap();
    }
    let schema = r#"{"type":"object","properties":{"number":{"type":"integer"}}}"#;
    let schema = EventSchema::parse(schema).unwrap();
    let registered = store.register_event_schema(event_type("odd"), schema).await;
    registered.unwrap();
}

const ANSWERS: usize = 8;

/// The answers of a store to all kinds of reads.
async fn answers(store: &impl EventStore) -> [Result<Vec<String>, StoreError>; ANSWERS] {
    let backwards = ReadOptions {
        order: Order::Antichronological,
        ..ReadOptions::default()
    };
    let of_type = ReadOptions {
        event_types: vec![event_type("odd")],
        ..ReadOptions::recursive()
    };
    let latest = ReadOptions {
        limit: Some(std::num::NonZeroU64::MIN),
        ..backwards.clone()
    };
    let types = store.read_event_types().try_collect::<Vec<_>>().await;
    [
        read_text(store, "/", ReadOptions::recursive()).await,
        read_text(store, "/a", ReadOptions::recursive()).await,
        read_text(store, "/a/1", ReadOptions::default()).await,
        read_text(store, "/a/1", backwards).await,
        read_text(store, "/a/1", latest).await,
        read_text(store, "/", of_type).await,
        listed_subjects(store).await,
        types.map(|types| types.iter().map(|known| format!("{known:?}")).collect()),
    ]
}

async fn read_text(
    store: &impl EventStore,
    at: &str,
    options: ReadOptions,
) -> Result<Vec<String>, StoreError> {
    let events = store.read(subject(at), options);
    events
        .map_ok(|event| format!("{event:?}"))
        .try_collect()
        .await
}

async fn listed_subjects(store: &impl EventStore) -> Result<Vec<String>, StoreError> {
    let listed = store.read_subjects(Subject::root());
    listed
        .map_ok(|subject| subject.to_string())
        .try_collect()
        .await
}

/// Asserts that each answer is an error or a part of the right one: what is damaged may be missing, but nothing is
/// changed, moved or added.
async fn assert_nothing_wrong_is_served(
    store: &impl EventStore,
    damage: Damage,
    right: &[Vec<String>; ANSWERS],
) {
    assert_nothing_forbidden_is_appended(store, damage).await;
    let right_of_subject = &right[2];
    for (number, (found, right)) in answers(store).await.iter().zip(right).enumerate() {
        // The latest event of a damaged index may be an earlier one.
        let right = if number == 4 { right_of_subject } else { right };
        let found = found.as_ref().map_or(&[][..], Vec::as_slice);
        let wrong = found.iter().find(|found| !right.contains(found));
        assert_eq!(wrong, None, "{damage:?} is served by answer {number}");
    }
}

/// A damaged index must not make a precondition hold, and a lost schema accepts no event that contradicts it.
async fn assert_nothing_forbidden_is_appended(store: &impl EventStore, damage: Damage) {
    let one = || candidate("/c", "even", "{}");
    let contradiction = candidate("/c", "odd", r#"{"number":"one"}"#);
    for (events, preconditions) in [
        (
            vec![one()],
            vec![Precondition::SubjectIsPristine(subject("/a/1"))],
        ),
        (
            vec![one()],
            vec![Precondition::SubtreeIsPristine(subject("/a"))],
        ),
        (vec![contradiction], vec![]),
    ] {
        let appended = append(store, events, preconditions.clone()).await;
        assert!(
            appended.is_err(),
            "{damage:?}: {preconditions:?} {appended:?}"
        );
    }
}
