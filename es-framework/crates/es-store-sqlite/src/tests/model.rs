//! For random writes and reads, the results equal those of the store in memory.

use std::num::NonZeroU64;

use futures_util::TryStreamExt as _;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{lines::assert_same, support::tiny};
use crate::EmbeddedStore;
use es_event::{EventCandidate, EventId, Subject};
use es_store::{
    AppendError, Bound, EventStore, FromLatestEvent, IfEventIsMissing, Order, Precondition,
    ReadOptions, memory::MemoryStore,
};

const SUBJECTS: [&str; 12] = [
    "/",
    "/a",
    "/a/",
    "/a/b",
    "/a/b/c",
    "/a0",
    "/a-b",
    "/b",
    "/b/c",
    "/a/0199a3c2-7d4e-7c3a-9f00-0123456789ab",
    "/a/0199a3c2-7d4e-7c3a-9f00-0123456789ab/d",
    "/a/0199A3C2-7D4E-7C3A-9F00-0123456789AB",
];
const TYPES: [&str; 3] = ["io.example.Opened", "io.example.Closed", "io.example.Lost"];

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<(Subject, &'static str)>, Vec<Precondition>),
    Read(Subject, ReadOptions),
    Reopen,
}

fn subject() -> impl Strategy<Value = Subject> {
    (0..SUBJECTS.len()).prop_map(|index| SUBJECTS[index].parse().unwrap())
}

fn event_type() -> impl Strategy<Value = &'static str> {
    (0..TYPES.len()).prop_map(|index| TYPES[index])
}

fn id() -> impl Strategy<Value = EventId> {
    (0..40_u64).prop_map(|id| EventId::new(id).unwrap())
}

fn bound() -> impl Strategy<Value = Option<Bound>> {
    prop_oneof![
        2 => Just(None),
        1 => id().prop_map(|id| Some(Bound::Inclusive(id))),
        1 => id().prop_map(|id| Some(Bound::Exclusive(id))),
    ]
}

fn precondition() -> impl Strategy<Value = Precondition> {
    prop_oneof![
        subject().prop_map(Precondition::SubjectIsPristine),
        subject().prop_map(Precondition::SubjectIsPopulated),
        (subject(), id()).prop_map(|(at, id)| Precondition::SubjectIsOnEventId(at, id)),
    ]
}

fn options() -> impl Strategy<Value = ReadOptions> {
    let latest =
        (subject(), event_type(), any::<bool>()).prop_map(|(subject, name, everything)| {
            FromLatestEvent {
                subject,
                event_type: name.parse().unwrap(),
                if_missing: if everything {
                    IfEventIsMissing::ReadEverything
                } else {
                    IfEventIsMissing::Nothing
                },
            }
        });
    let latest = proptest::option::weighted(0.3, latest);
    let types = proptest::collection::vec(event_type(), 0..3);
    let types = types.prop_map(|types| types.iter().map(|name| name.parse().unwrap()).collect());
    let limit = proptest::option::weighted(0.3, 1..6_u64).prop_map(|n| n.and_then(NonZeroU64::new));
    (any::<[bool; 2]>(), bound(), bound(), latest, types, limit).prop_map(
        |([recursive, backwards], lower_bound, upper_bound, from_latest_event, types, limit)| {
            ReadOptions {
                recursive,
                order: if backwards {
                    Order::Antichronological
                } else {
                    Order::Chronological
                },
                lower_bound: lower_bound.filter(|_| from_latest_event.is_none()),
                upper_bound,
                from_latest_event,
                event_types: types,
                limit,
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let events = proptest::collection::vec((subject(), event_type()), 0..4);
    let conditions = proptest::collection::vec(precondition(), 0..2);
    prop_oneof![
        8 => (events, conditions).prop_map(|(events, conditions)| Step::Append(events, conditions)),
        8 => (subject(), options()).prop_map(|(subject, options)| Step::Read(subject, options)),
        1 => Just(Step::Reopen),
    ]
}

async fn append(
    store: &impl EventStore,
    events: &[(Subject, &'static str)],
    conditions: &[Precondition],
) -> Option<Vec<u64>> {
    let candidates = events.iter().map(|(subject, name)| EventCandidate {
        subject: subject.clone(),
        event_type: name.parse().unwrap(),
        ..super::candidate("/", 0)
    });
    match store
        .append(candidates.collect(), conditions.to_vec())
        .await
    {
        Ok(recorded) => Some(recorded.iter().map(|event| event.id.get()).collect()),
        Err(AppendError::Conflict(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

async fn read(store: &impl EventStore, at: &Subject, options: &ReadOptions) -> Vec<(u64, String)> {
    let events = store.read(at.clone(), options.clone());
    let events: Vec<_> = events.try_collect().await.unwrap();
    let known = |event: &es_event::RecordedEvent| {
        (
            event.id.get(),
            format!("{} {}", event.subject, event.event_type),
        )
    };
    events.iter().map(known).collect()
}

async fn compare(steps: Vec<Step>) {
    let directory = TempDir::new().unwrap();
    let open = || EmbeddedStore::open_with(directory.path(), tiny(), None).unwrap();
    let (model, mut store) = (MemoryStore::new(), open());
    for step in steps {
        match step {
            Step::Append(events, conditions) => assert_eq!(
                append(&store, &events, &conditions).await,
                append(&model, &events, &conditions).await,
                "{events:?} {conditions:?}"
            ),
            Step::Read(at, options) => {
                assert_eq!(
                    read(&store, &at, &options).await,
                    read(&model, &at, &options).await,
                    "{at} {options:?}"
                );
                assert_same(&store, &at, &options).await;
            }
            Step::Reopen => {
                drop(store);
                store = open();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn answers_are_those_of_the_model(steps in proptest::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(compare(steps));
    }
}
