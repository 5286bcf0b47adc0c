//! Rules of writing.

use futures_util::future::join_all;

use super::support::{append, candidate, ids, read, read_all, subject, write};
use crate::{AppendError, EventStore, Precondition, ReadOptions};
use es_event::{Hash, TraceContext};

pub(super) async fn events_are_numbered_from_zero_without_a_gap(store: &impl EventStore) {
    let first = write(store, &["/a", "/b"]).await;
    let pair = vec![
        candidate("/a", "happened", "{}"),
        candidate("/c", "happened", "{}"),
    ];
    let second = append(store, pair, vec![]).await.unwrap();
    assert_eq!((ids(&first), ids(&second)), (vec![0, 1], vec![2, 3]));
    assert_eq!(ids(&read_all(store).await), [0, 1, 2, 3]);
}

pub(super) async fn each_event_names_the_hash_of_the_one_before_it(store: &impl EventStore) {
    write(store, &["/a", "/b", "/a/c"]).await;
    let mut predecessor = Hash::ZERO;
    for event in read_all(store).await {
        assert_eq!(event.verify(predecessor), Ok(()));
        predecessor = event.hash;
    }
}

pub(super) async fn what_is_read_is_what_was_written(store: &impl EventStore) {
    let data =
        r#"{"b":1.50,"a":["é","<&>","\u0007 \" \\","😀"],"n":null,"big":12345678901234567890}"#;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut given = candidate("/books/42", "written", data);
    given.trace = TraceContext::new(Some(trace), Some("vendor=1")).unwrap();
    let recorded = append(store, vec![given.clone()], vec![]).await.unwrap();
    let read = read(store, "/books/42", ReadOptions::default()).await;
    let [event] = read.as_slice() else {
        panic!("one event, not {read:?}")
    };
    assert_eq!(event.data.get(), data);
    assert_eq!(
        (&event.source, &event.subject),
        (&given.source, &given.subject)
    );
    assert_eq!(
        (&event.event_type, &event.trace),
        (&given.event_type, &given.trace)
    );
    assert!(event.time.timestamp().is_ok());
    assert_eq!(recorded.first().map(|event| event.id), Some(event.id));
    assert_eq!(event.verify(Hash::ZERO), Ok(()));
}

pub(super) async fn an_append_of_several_subjects_is_all_or_nothing(store: &impl EventStore) {
    write(store, &["/a"]).await;
    let pair = || {
        vec![
            candidate("/b", "happened", "{}"),
            candidate("/a", "happened", "{}"),
        ]
    };
    let refused = append(
        store,
        pair(),
        vec![Precondition::SubjectIsPristine(subject("/a"))],
    )
    .await;
    assert!(
        matches!(refused, Err(AppendError::Conflict(_))),
        "{refused:?}"
    );
    assert_eq!(ids(&read_all(store).await), [0]);
    let taken = append(
        store,
        pair(),
        vec![Precondition::SubjectIsPristine(subject("/b"))],
    )
    .await;
    assert_eq!(ids(&taken.unwrap()), [1, 2]);
}

pub(super) async fn concurrent_writers_share_one_chain(store: &impl EventStore) {
    let writers = (0..16).map(|writer| async move {
        for _ in 0..8 {
            write(store, &[&format!("/writers/{writer}")]).await;
        }
    });
    join_all(writers).await;
    let events = read_all(store).await;
    assert_eq!(ids(&events), (0..128).collect::<Vec<_>>());
    let mut predecessor = Hash::ZERO;
    for event in events {
        assert_eq!(event.verify(predecessor), Ok(()));
        predecessor = event.hash;
    }
}
