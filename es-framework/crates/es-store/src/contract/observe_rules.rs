//! Rules of observing.

use futures_util::future::join;

use super::support::{
    append, assert_silent, candidate, event_type, id, ids, next_events, subject, write,
};
use crate::{Bound, EventStore, FromLatestEvent, IfEventIsMissing, ObserveOptions};
use es_event::Subject;

pub(super) async fn an_observer_sees_what_is_stored_and_then_what_comes(store: &impl EventStore) {
    write(store, &["/a", "/b"]).await;
    let mut observer = store.observe(Subject::root(), ObserveOptions::recursive_after(None));
    assert_eq!(ids(&next_events(&mut observer, 2).await), [0, 1]);
    assert_silent(&mut observer).await;
    write(store, &["/c", "/a"]).await;
    assert_eq!(ids(&next_events(&mut observer, 2).await), [2, 3]);
    assert_silent(&mut observer).await;
}

pub(super) async fn an_observer_goes_on_exclusively_after_an_event(store: &impl EventStore) {
    write(store, &["/a", "/a", "/a"]).await;
    let mut after = store.observe(subject("/a"), ObserveOptions::recursive_after(Some(id(1))));
    assert_eq!(ids(&next_events(&mut after, 1).await), [2]);
    let inclusive = ObserveOptions {
        lower_bound: Some(Bound::Inclusive(id(1))),
        ..ObserveOptions::default()
    };
    let mut from = store.observe(subject("/a"), inclusive);
    assert_eq!(ids(&next_events(&mut from, 2).await), [1, 2]);
    let mut ahead = store.observe(subject("/a"), ObserveOptions::recursive_after(Some(id(3))));
    write(store, &["/a", "/a"]).await;
    assert_eq!(ids(&next_events(&mut ahead, 1).await), [4]);
}

pub(super) async fn an_observer_of_one_subject_hears_of_no_other(store: &impl EventStore) {
    let mut alone = store.observe(subject("/a"), ObserveOptions::default());
    let mut below = store.observe(subject("/a"), ObserveOptions::recursive_after(None));
    write(store, &["/b", "/a/b", "/a", "/ab"]).await;
    assert_eq!(ids(&next_events(&mut alone, 1).await), [2]);
    assert_eq!(ids(&next_events(&mut below, 2).await), [1, 2]);
    assert_silent(&mut alone).await;
    assert_silent(&mut below).await;
}

pub(super) async fn an_observer_can_wait_for_an_event_to_start_from(store: &impl EventStore) {
    write(store, &["/a"]).await;
    let from = |if_missing| ObserveOptions {
        from_latest_event: Some(FromLatestEvent {
            subject: subject("/a"),
            event_type: event_type("opened"),
            if_missing,
        }),
        ..ObserveOptions::default()
    };
    let mut everything = store.observe(subject("/a"), from(IfEventIsMissing::ReadEverything));
    assert_eq!(ids(&next_events(&mut everything, 1).await), [0]);
    let mut waiting = store.observe(subject("/a"), from(IfEventIsMissing::Nothing));
    assert_silent(&mut waiting).await;
    write(store, &["/a"]).await;
    append(store, vec![candidate("/a", "opened", "{}")], vec![])
        .await
        .unwrap();
    write(store, &["/a"]).await;
    assert_eq!(ids(&next_events(&mut waiting, 2).await), [2, 3]);
    let mut found = store.observe(subject("/a"), from(IfEventIsMissing::Nothing));
    assert_eq!(ids(&next_events(&mut found, 2).await), [2, 3]);
}

pub(super) async fn observers_and_writers_at_once_miss_nothing(store: &impl EventStore) {
    const EVENTS: usize = 200;
    let mut early = store.observe(Subject::root(), ObserveOptions::recursive_after(None));
    let writing = async {
        for _ in 0..EVENTS {
            write(store, &["/a"]).await;
        }
    };
    let late = async {
        let mut late = store.observe(Subject::root(), ObserveOptions::recursive_after(None));
        next_events(&mut late, EVENTS).await
    };
    let (seen, (late, ())) = join(next_events(&mut early, EVENTS), join(late, writing)).await;
    let expected: Vec<u64> = (0..).take(EVENTS).collect();
    assert_eq!((ids(&seen), ids(&late)), (expected.clone(), expected));
}
