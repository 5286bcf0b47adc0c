//! Every combination of read options, compared with a plain implementation of their rules.

use std::{num::NonZeroU64, sync::Arc, time::Duration};

use es_event::{Dialect, EventCandidate, EventId, RecordedEvent, Subject};
use es_server as server;
use es_store::{
    Bound, EventStore, FromLatestEvent, IfEventIsMissing, ObserveOptions, Order, ReadOptions,
    memory::MemoryStore,
};
use es_store_client::{ClientSettings, EventSourcingDbStore};
use es_store_sqlite::EmbeddedStore;
use futures_util::{StreamExt as _, TryStreamExt as _};
use proptest::{collection::vec, option, prelude::*, sample::select, test_runner::Config};
use serde_json::value::RawValue;
use tokio::{net::TcpListener, time::timeout};

const TOKEN: &str = "secret-token";
const SUBJECTS: [&str; 7] = ["/", "/a", "/a/b", "/a/b/c", "/a-b", "/ab", "/b"];
const TYPES: [&str; 3] = ["io.example.one", "io.example.two", "io.example.never"];
const LIMIT: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
struct ReadEventsCase {
    subject: Subject,
    options: ReadOptions,
}

fn bound() -> impl Strategy<Value = Bound> {
    (0_u64..45, any::<bool>()).prop_map(|(id, inclusive)| {
        let id = EventId::new(id).unwrap();
        if inclusive {
            Bound::Inclusive(id)
        } else {
            Bound::Exclusive(id)
        }
    })
}

fn latest() -> impl Strategy<Value = FromLatestEvent> {
    let missing = vec![IfEventIsMissing::ReadEverything, IfEventIsMissing::Nothing];
    (select(&SUBJECTS[..]), select(&TYPES[..]), select(missing)).prop_map(
        |(subject, event_type, if_missing)| FromLatestEvent {
            subject: subject.parse().unwrap(),
            event_type: event_type.parse().unwrap(),
            if_missing,
        },
    )
}

fn question() -> impl Strategy<Value = ReadEventsCase> {
    let order = vec![Order::Chronological, Order::Antichronological];
    let start = prop_oneof![
        option::of(bound()).prop_map(|lower| (lower, None)),
        latest().prop_map(|latest| (None, Some(latest))),
    ];
    (
        select(&SUBJECTS[..]),
        any::<bool>(),
        select(order),
        start,
        option::of(bound()),
        vec(select(&TYPES[..]), 0..3),
        option::weighted(0.3, 1..9_u64),
    )
        .prop_map(
            |(subject, recursive, order, start, upper_bound, types, limit)| ReadEventsCase {
                subject: subject.parse().unwrap(),
                options: ReadOptions {
                    recursive,
                    order,
                    lower_bound: start.0,
                    upper_bound,
                    from_latest_event: start.1,
                    event_types: types.iter().map(|name| name.parse().unwrap()).collect(),
                    limit: limit.and_then(NonZeroU64::new),
                },
            },
        )
}

fn candidate((subject, event_type): (&str, &str)) -> EventCandidate {
    EventCandidate {
        source: "tag:test".into(),
        subject: subject.parse().unwrap(),
        event_type: event_type.parse().unwrap(),
        data: RawValue::from_string("{}".to_owned()).unwrap(),
        trace: None,
    }
}

/// Returns the ids of the expected events by a check of each event.
fn naive(
    events: &[RecordedEvent],
    ReadEventsCase { subject, options }: &ReadEventsCase,
) -> Vec<u64> {
    let first = match &options.from_latest_event {
        None => 0,
        Some(wanted) => {
            let is_wanted = |event: &&RecordedEvent| {
                event.subject == wanted.subject && event.event_type == wanted.event_type
            };
            match (events.iter().rfind(is_wanted), wanted.if_missing) {
                (Some(event), _) => event.id.get(),
                (None, IfEventIsMissing::ReadEverything) => 0,
                (None, IfEventIsMissing::Nothing) => return Vec::new(),
            }
        }
    };
    let below = format!("{}/", subject.as_str().trim_end_matches('/'));
    let belongs = |event: &&RecordedEvent| {
        let text = event.subject.as_str();
        let id = event.id;
        (text == subject.as_str() || options.recursive && text.starts_with(&below))
            && id.get() >= first
            && (options.event_types.is_empty() || options.event_types.contains(&event.event_type))
            && match options.lower_bound {
                None => true,
                Some(Bound::Inclusive(bound)) => id >= bound,
                Some(Bound::Exclusive(bound)) => id > bound,
            }
            && match options.upper_bound {
                None => true,
                Some(Bound::Inclusive(bound)) => id <= bound,
                Some(Bound::Exclusive(bound)) => id < bound,
            }
    };
    let mut ids: Vec<_> = events.iter().filter(belongs).map(|e| e.id.get()).collect();
    if options.order == Order::Antichronological {
        ids.reverse();
    }
    let limit = options.limit.map_or(u64::MAX, NonZeroU64::get);
    ids.truncate(limit.try_into().unwrap_or(usize::MAX));
    ids
}

async fn served(store: impl EventStore, dialect: Dialect) -> EventSourcingDbStore {
    let mut settings = server::ServerSettings::new(TOKEN.parse().unwrap());
    settings.dialect = dialect;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let for_ever = std::future::pending();
    tokio::spawn(server::serve(listener, Arc::new(store), settings, for_ever));
    EventSourcingDbStore::new(ClientSettings::new(url, TOKEN)).unwrap()
}

async fn check(store: &dyn EventStore, written: &[(&str, &str)], questions: &[ReadEventsCase]) {
    let mut events = Vec::new();
    for some in written.chunks(7) {
        let candidates = some.iter().copied().map(candidate).collect();
        events.extend(store.append(candidates, vec![]).await.unwrap());
    }
    for question in questions {
        let ReadEventsCase { subject, options } = question.clone();
        let read = store.read(subject.clone(), options.clone());
        let read: Vec<_> = read.map_ok(|e| e.id.get()).try_collect().await.unwrap();
        let name = store.description();
        assert_eq!(read, naive(&events, question), "{name}: {question:?}");
        let observed = ReadEventsCase {
            subject: subject.clone(),
            options: ReadOptions {
                order: Order::Chronological,
                upper_bound: None,
                limit: None,
                event_types: Vec::new(),
                ..options.clone()
            },
        };
        let expected = naive(&events, &observed);
        let observation = store.observe(
            subject,
            ObserveOptions {
                recursive: options.recursive,
                lower_bound: options.lower_bound,
                from_latest_event: options.from_latest_event,
            },
        );
        let first = observation.take(expected.len()).map_ok(|e| e.id.get());
        let first = timeout(LIMIT, first.try_collect::<Vec<_>>()).await;
        let first = first.expect("the observation hangs").unwrap();
        assert_eq!(first, expected, "{name}: {observed:?}");
    }
}

proptest! {
    #![proptest_config(Config { cases: 24, ..Config::default() })]

    #[test]
    fn options_leave_exactly_what_they_say(
        written in vec((select(&SUBJECTS[..]), select(&TYPES[..2])), 0..40),
        questions in vec(question(), 20),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            check(&MemoryStore::new(), &written, &questions).await;
            check(&EmbeddedStore::temporary().unwrap(), &written, &questions).await;
            let memory = MemoryStore::new();
            check(&served(memory, Dialect::Item).await, &written, &questions).await;
            let embedded = EmbeddedStore::temporary().unwrap();
            check(&served(embedded, Dialect::Event).await, &written, &questions).await;
        });
    }
}
