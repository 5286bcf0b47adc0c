//! Storage that was changed behind the back of its store. An answer is the right one or an error, whatever was done.

use std::{fmt::Debug, time::Duration};

use async_trait::async_trait;
use futures_util::TryStreamExt as _;

use super::support::{append, candidate, event_type, subject, within_time};
use crate::{EventSchema, EventStore, Order, Precondition, ReadOptions, StoreError, verify};
use es_event::{RecordedEvent, Subject, TraceContext};

/// The time within which a running store notices that its events are gone.
const NOTICED: Duration = Duration::from_secs(3);

/// A change of the storage that no store makes. The events have the ids 0 to 8; 0, 3 and 6 are those of `/a/1`.
#[doc(hidden)]
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
    /// Event 6 does not name event 3 as the one before it in its subject.
    ChangedLink,
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

/// The outcome that a damage must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// The start is refused, or a read fails and a verification reports the damage.
    Refused,
    /// As above, but a running store may need the time of [`NOTICED`].
    RefusedSoon,
    /// The start is refused, or a verification reports the damage.
    Reported,
    /// After a start, all answers are right.
    Healed,
}

const OUTCOMES: [(Damage, Outcome); 25] = [
    (Damage::ChangedData, Outcome::Refused),
    (Damage::ChangedType, Outcome::Refused),
    (Damage::ChangedSubject, Outcome::Refused),
    (Damage::ChangedTime, Outcome::Refused),
    (Damage::ChangedTrace, Outcome::Refused),
    (Damage::ChangedSource, Outcome::Refused),
    (Damage::ChangedHash, Outcome::Refused),
    (Damage::ChangedLastHash, Outcome::Refused),
    (Damage::SwappedIds, Outcome::Refused),
    (Damage::DeletedFirstOfSubject, Outcome::Refused),
    (Damage::DeletedMiddleOfSubject, Outcome::Refused),
    (Damage::DeletedLastOfSubject, Outcome::Refused),
    (Damage::DeletedLastOfLog, Outcome::Refused),
    (Damage::ForgedEvent, Outcome::Refused),
    (Damage::LostTables, Outcome::RefusedSoon),
    (Damage::LostEvents, Outcome::Refused),
    (Damage::ChangedLink, Outcome::Healed),
    (Damage::LostSubject, Outcome::Healed),
    (Damage::ChangedSubjectEntry, Outcome::Healed),
    (Damage::LostSubtree, Outcome::Healed),
    (Damage::ForgedSubtreeEntry, Outcome::Healed),
    (Damage::LostType, Outcome::Healed),
    (Damage::ChangedSchema, Outcome::Reported),
    (Damage::RemovedSchema, Outcome::Reported),
    (Damage::LostSchema, Outcome::Reported),
];

/// The storage of a store, which a test damages.
#[doc(hidden)]
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
}

/// Damages a new storage in each way. Returns the ways that the engine does not have.
///
/// # Panics
/// The adapter serves what was damaged.
#[doc(hidden)]
pub async fn run_damage<S: DamageableStorage>(mut empty: impl AsyncFnMut() -> S) -> Vec<Damage> {
    let mut unknown = Vec::new();
    for (damage, outcome) in OUTCOMES {
        let storage = empty().await;
        let checked = async {
            if !check(&storage, damage, outcome).await {
                unknown.push(damage);
            }
        };
        within_time(&format!("{damage:?}"), checked).await;
    }
    unknown
}

async fn check<S: DamageableStorage>(storage: &S, damage: Damage, outcome: Outcome) -> bool {
    let store = storage.open().await.unwrap();
    fill(&store).await;
    let right = answers(&store).await.map(Result::unwrap);
    assert!(!is_reported(&store).await, "{damage:?}: it was whole");
    if !S::IS_SHARED {
        drop(store);
        if !storage.damage(damage).await {
            return false;
        }
    } else {
        if !storage.damage(damage).await {
            return false;
        }
        match outcome {
            Outcome::Healed => {}
            Outcome::RefusedSoon => {
                tokio::time::sleep(NOTICED).await;
                judge(&store, damage, outcome, &right).await;
            }
            Outcome::Refused | Outcome::Reported => judge(&store, damage, outcome, &right).await,
        }
        drop(store);
    }
    match storage.open().await {
        Ok(store) => judge(&store, damage, outcome, &right).await,
        Err(error) => assert_ne!(outcome, Outcome::Healed, "{damage:?}: {error:?}"),
    }
    true
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
async fn answers(store: &impl EventStore) -> [Result<String, StoreError>; ANSWERS] {
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
        types.map(|types| serde_json::to_string(&types).unwrap()),
    ]
}

async fn read_text(
    store: &impl EventStore,
    at: &str,
    options: ReadOptions,
) -> Result<String, StoreError> {
    let events = store.read(subject(at), options);
    let events: Vec<RecordedEvent> = events.try_collect().await?;
    Ok(format!("{events:?}"))
}

async fn listed_subjects(store: &impl EventStore) -> Result<String, StoreError> {
    let listed = store.read_subjects(Subject::root());
    let listed: Vec<Subject> = listed.try_collect().await?;
    Ok(format!("{listed:?}"))
}

async fn judge(
    store: &impl EventStore,
    damage: Damage,
    outcome: Outcome,
    right: &[String; ANSWERS],
) {
    assert_nothing_forbidden_is_appended(store, damage).await;
    let found = answers(store).await;
    let mut is_refused = false;
    for (number, (found, right)) in found.iter().zip(right).enumerate() {
        match found {
            Ok(found) => assert_eq!(found, right, "{damage:?} is served by answer {number}"),
            Err(_) => is_refused = true,
        }
    }
    let is_reported = is_reported(store).await;
    match outcome {
        Outcome::Refused | Outcome::RefusedSoon => {
            assert!(is_refused, "{damage:?} is not refused");
            assert!(is_reported, "{damage:?} is called whole");
        }
        Outcome::Reported => assert!(is_reported, "{damage:?} is called whole"),
        Outcome::Healed => {
            assert!(!is_refused, "{damage:?} is not healed: {found:?}");
            assert!(!is_reported, "{damage:?} is not healed");
        }
    }
}

/// Returns true if a verification does not call the store whole.
async fn is_reported(store: &impl EventStore) -> bool {
    match verify(store, |_| {}).await {
        Ok(report) => report.flaw.is_some() || report.table_flaw.is_some(),
        Err(_) => true,
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
