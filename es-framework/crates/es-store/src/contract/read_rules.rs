//! Rules of reading.

use std::num::NonZeroU64;

use futures_util::TryStreamExt as _;

use super::support::{append, candidate, event_type, id, ids, read, read_all, subject, write};
use crate::{Bound, EventStore, FromLatestEvent, IfEventIsMissing, Order, ReadOptions, StoreError};

pub(super) async fn an_unknown_subject_reads_as_nothing(store: &impl EventStore) {
    assert!(read_all(store).await.is_empty());
    write(store, &["/a"]).await;
    assert!(read(store, "/b", ReadOptions::recursive()).await.is_empty());
    assert!(read(store, "/", ReadOptions::default()).await.is_empty());
}

pub(super) async fn a_read_is_of_the_subject_alone_unless_recursive(store: &impl EventStore) {
    write(store, &["/a", "/a/b", "/a/b/c", "/"]).await;
    let alone = ReadOptions::default;
    assert_eq!(ids(&read(store, "/a", alone()).await), [0]);
    assert_eq!(ids(&read(store, "/", alone()).await), [3]);
    assert_eq!(
        ids(&read(store, "/a", ReadOptions::recursive()).await),
        [0, 1, 2]
    );
    assert_eq!(
        ids(&read(store, "/a/b", ReadOptions::recursive()).await),
        [1, 2]
    );
    assert_eq!(ids(&read_all(store).await), [0, 1, 2, 3]);
}

pub(super) async fn a_recursive_read_keeps_to_whole_segments(store: &impl EventStore) {
    write(
        store,
        &["/book", "/books", "/books/1", "/books-old/1", "/books0"],
    )
    .await;
    assert_eq!(
        ids(&read(store, "/books", ReadOptions::recursive()).await),
        [1, 2]
    );
}

pub(super) async fn both_orders_give_the_same_events(store: &impl EventStore) {
    write(store, &["/a", "/b", "/a", "/a/c"]).await;
    let ordered = |order| ReadOptions {
        order,
        ..ReadOptions::recursive()
    };
    let mut backwards = ids(&read(store, "/a", ordered(Order::Antichronological)).await);
    backwards.reverse();
    assert_eq!(
        backwards,
        ids(&read(store, "/a", ordered(Order::Chronological)).await)
    );
    assert_eq!(backwards, [0, 2, 3]);
}

pub(super) async fn bounds_cut_the_range_at_either_end(store: &impl EventStore) {
    write(store, &["/a", "/b", "/a", "/a", "/a"]).await;
    let cases = [
        (Some(Bound::Inclusive(id(2))), None, vec![2, 3, 4]),
        (Some(Bound::Exclusive(id(2))), None, vec![3, 4]),
        (None, Some(Bound::Inclusive(id(2))), vec![0, 2]),
        (None, Some(Bound::Exclusive(id(2))), vec![0]),
        (None, Some(Bound::Exclusive(id(0))), vec![]),
        (
            Some(Bound::Inclusive(id(1))),
            Some(Bound::Inclusive(id(3))),
            vec![2, 3],
        ),
        (
            Some(Bound::Inclusive(id(4))),
            Some(Bound::Inclusive(id(1))),
            vec![],
        ),
        (Some(Bound::Inclusive(id(99))), None, vec![]),
        (None, Some(Bound::Inclusive(id(99))), vec![0, 2, 3, 4]),
    ];
    for (lower_bound, upper_bound, expected) in cases {
        for order in [Order::Chronological, Order::Antichronological] {
            let options = ReadOptions {
                order,
                lower_bound,
                upper_bound,
                ..ReadOptions::default()
            };
            let mut found = ids(&read(store, "/a", options).await);
            found.sort_unstable();
            assert_eq!(found, expected, "{lower_bound:?} {upper_bound:?} {order:?}");
        }
    }
}

pub(super) async fn a_read_starts_from_the_latest_event_of_a_type(store: &impl EventStore) {
    for (at, name) in [
        ("/a", "opened"),
        ("/a", "other"),
        ("/a", "opened"),
        ("/b", "opened"),
        ("/a", "other"),
    ] {
        append(store, vec![candidate(at, name, "{}")], vec![])
            .await
            .unwrap();
    }
    let from = |name: &str, if_missing| ReadOptions {
        from_latest_event: Some(FromLatestEvent {
            subject: subject("/a"),
            event_type: event_type(name),
            if_missing,
        }),
        ..ReadOptions::recursive()
    };
    let found = read(store, "/a", from("opened", IfEventIsMissing::Nothing)).await;
    assert_eq!(ids(&found), [2, 4]);
    let everything = read(
        store,
        "/a",
        from("missing", IfEventIsMissing::ReadEverything),
    )
    .await;
    assert_eq!(ids(&everything), [0, 1, 2, 4]);
    assert!(
        read(store, "/a", from("missing", IfEventIsMissing::Nothing))
            .await
            .is_empty()
    );
    let nothing_before = ReadOptions {
        upper_bound: Some(Bound::Exclusive(id(0))),
        ..from("missing", IfEventIsMissing::ReadEverything)
    };
    assert!(read(store, "/a", nothing_before).await.is_empty());
}

pub(super) async fn two_starts_are_refused(store: &impl EventStore) {
    let options = ReadOptions {
        lower_bound: Some(Bound::Inclusive(id(0))),
        from_latest_event: Some(FromLatestEvent {
            subject: subject("/a"),
            event_type: event_type("opened"),
            if_missing: IfEventIsMissing::Nothing,
        }),
        ..ReadOptions::default()
    };
    let refused: Result<Vec<_>, _> = store.read(subject("/a"), options).try_collect().await;
    assert!(
        matches!(refused, Err(StoreError::Options(_))),
        "{refused:?}"
    );
}

pub(super) async fn a_long_read_is_complete(store: &impl EventStore) {
    const EVENTS: u64 = 3_000;
    let batch = |first: u64| {
        (first..first + 100).map(|number| {
            let at = if number % 3 == 0 {
                "/threes"
            } else {
                "/others"
            };
            candidate(at, "counted", &format!("{{\"number\":{number}}}"))
        })
    };
    for first in (0..EVENTS).step_by(100) {
        append(store, batch(first).collect(), vec![]).await.unwrap();
    }
    assert_eq!(ids(&read_all(store).await), (0..EVENTS).collect::<Vec<_>>());
    let threes = read(store, "/threes", ReadOptions::default()).await;
    assert_eq!(ids(&threes), (0..EVENTS).step_by(3).collect::<Vec<_>>());
    let options = ReadOptions {
        order: Order::Antichronological,
        ..ReadOptions::recursive()
    };
    let backwards = ids(&read(store, "/", options).await);
    assert_eq!(backwards, (0..EVENTS).rev().collect::<Vec<_>>());
}

pub(super) async fn a_limit_leaves_the_first_events(store: &impl EventStore) {
    write(store, &["/a", "/b", "/a", "/a/c", "/a"]).await;
    for (limit, order, expected) in [
        (1, Order::Chronological, vec![0]),
        (3, Order::Chronological, vec![0, 2, 3]),
        (1, Order::Antichronological, vec![4]),
        (2, Order::Antichronological, vec![4, 3]),
        (99, Order::Chronological, vec![0, 2, 3, 4]),
    ] {
        let options = ReadOptions {
            order,
            limit: NonZeroU64::new(limit),
            ..ReadOptions::recursive()
        };
        assert_eq!(ids(&read(store, "/a", options).await), expected);
    }
    let first = ReadOptions::default().first_only();
    assert_eq!(ids(&read(store, "/b", first).await), [1]);
}

pub(super) async fn a_read_can_be_of_some_types(store: &impl EventStore) {
    for (at, name) in [
        ("/a", "opened"),
        ("/b", "closed"),
        ("/a", "lost"),
        ("/a", "closed"),
        ("/a/c", "opened"),
        ("/a", "opened"),
    ] {
        let one = vec![candidate(at, name, "{}")];
        append(store, one, vec![]).await.unwrap();
    }
    let of = |names: &[&str]| names.iter().map(|name| event_type(name)).collect();
    for (at, names, expected) in [
        ("/", &["opened"][..], vec![0, 4, 5]),
        ("/a", &["opened"], vec![0, 4, 5]),
        ("/b", &["opened"], vec![]),
        ("/", &["closed", "lost"], vec![1, 2, 3]),
        ("/", &["lost", "lost"], vec![2]),
        ("/", &["missing"], vec![]),
        ("/", &["missing", "lost"], vec![2]),
        ("/", &[], vec![0, 1, 2, 3, 4, 5]),
    ] {
        for order in [Order::Chronological, Order::Antichronological] {
            let options = ReadOptions {
                order,
                event_types: of(names),
                ..ReadOptions::recursive()
            };
            let mut found = ids(&read(store, at, options.clone()).await);
            let first = ids(&read(store, at, options.first_only()).await);
            assert_eq!(
                found.iter().take(1).collect::<Vec<_>>(),
                first.iter().collect::<Vec<_>>()
            );
            found.sort_unstable();
            assert_eq!(found, expected, "{at} {names:?} {order:?}");
        }
    }
    let alone = ReadOptions {
        event_types: of(&["opened"]),
        lower_bound: Some(Bound::Exclusive(id(0))),
        ..ReadOptions::default()
    };
    assert_eq!(ids(&read(store, "/a", alone).await), [5]);
}
