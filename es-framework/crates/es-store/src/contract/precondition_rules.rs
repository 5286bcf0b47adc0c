//! Rules of preconditions.

use futures_util::future::join_all;

use super::support::{append, candidate, id, read_all, subject, write};
use crate::{AppendError, EventStore, Precondition};

/// Returns true if a write to `/target` passes under these preconditions.
async fn passes(store: &impl EventStore, preconditions: Vec<Precondition>) -> bool {
    let written = append(
        store,
        vec![candidate("/target", "happened", "{}")],
        preconditions,
    )
    .await;
    match written {
        Ok(_) => true,
        Err(AppendError::Conflict(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

pub(super) async fn a_pristine_subject_has_no_event_of_its_own(store: &impl EventStore) {
    let pristine = |at| vec![Precondition::SubjectIsPristine(subject(at))];
    write(store, &["/a/child", "/b"]).await;
    assert!(passes(store, pristine("/a")).await, "children do not count");
    assert!(!passes(store, pristine("/b")).await);
    assert!(!passes(store, pristine("/target")).await);
}

pub(super) async fn a_populated_subject_has_an_event_of_its_own(store: &impl EventStore) {
    let populated = |at| vec![Precondition::SubjectIsPopulated(subject(at))];
    write(store, &["/a/child", "/b"]).await;
    assert!(
        !passes(store, populated("/a")).await,
        "children do not count"
    );
    assert!(!passes(store, populated("/target")).await);
    assert!(passes(store, populated("/b")).await);
}

pub(super) async fn a_subject_on_an_event_id_has_not_moved(store: &impl EventStore) {
    let on = |at, number| vec![Precondition::SubjectIsOnEventId(subject(at), id(number))];
    write(store, &["/a", "/b", "/a"]).await;
    assert!(!passes(store, on("/a", 0)).await);
    assert!(!passes(store, on("/a", 1)).await);
    assert!(!passes(store, on("/empty", 0)).await);
    assert!(passes(store, on("/a", 2)).await);
}

pub(super) async fn a_pristine_subtree_has_no_event(store: &impl EventStore) {
    let pristine = |at| vec![Precondition::SubtreeIsPristine(subject(at))];
    assert!(passes(store, pristine("/")).await);
    write(store, &["/a/child/grandchild", "/b", "/abc"]).await;
    for populated in ["/", "/a", "/a/child", "/b", "/target"] {
        assert!(!passes(store, pristine(populated)).await, "{populated}");
    }
    for empty in ["/ab", "/a/chil", "/b/c", "/empty"] {
        assert!(passes(store, pristine(empty)).await, "{empty}");
    }
}

pub(super) async fn a_populated_subtree_has_an_event(store: &impl EventStore) {
    let populated = |at| vec![Precondition::SubtreeIsPopulated(subject(at))];
    assert!(!passes(store, populated("/")).await);
    write(store, &["/a/child/grandchild", "/b", "/abc"]).await;
    for empty in ["/ab", "/a/chil", "/b/c", "/target"] {
        assert!(!passes(store, populated(empty)).await, "{empty}");
    }
    for parent in ["/", "/a", "/a/child", "/b"] {
        assert!(passes(store, populated(parent)).await, "{parent}");
    }
}

pub(super) async fn a_subtree_on_an_event_id_has_not_changed(store: &impl EventStore) {
    let on = |at, number| vec![Precondition::SubtreeIsOnEventId(subject(at), id(number))];
    write(store, &["/a", "/b", "/a/child", "/abc", "/b/child", "/b"]).await;
    for (parent, other) in [
        ("/a", 0),
        ("/a", 1),
        ("/a", 3),
        ("/b", 4),
        ("/empty", 0),
        ("/", 2),
    ] {
        assert!(!passes(store, on(parent, other)).await, "{parent} {other}");
    }
    assert!(passes(store, on("/", 5)).await);
    assert!(!passes(store, on("/", 5)).await);
    for (parent, latest) in [("/a", 2), ("/a/child", 2), ("/b", 5), ("/b/child", 4)] {
        assert!(passes(store, on(parent, latest)).await, "{parent} {latest}");
    }
}

pub(super) async fn of_many_who_want_the_same_pristine_subtree_one_gets_it(
    store: &impl EventStore,
) {
    let writers = (0..32).map(|number| {
        let child = format!("/parent/{number}");
        let candidates = vec![candidate(&child, "happened", "{}")];
        append(
            store,
            candidates,
            vec![Precondition::SubtreeIsPristine(subject("/parent"))],
        )
    });
    let passed = join_all(writers).await.into_iter().filter(Result::is_ok);
    assert_eq!((passed.count(), read_all(store).await.len()), (1, 1));
}

pub(super) async fn a_store_on_an_event_id_has_not_grown(store: &impl EventStore) {
    let on = |number: Option<u64>| vec![Precondition::StoreIsOnEventId(number.map(id))];
    assert!(!passes(store, on(Some(0))).await);
    assert!(passes(store, on(None)).await);
    assert!(!passes(store, on(None)).await);
    assert!(passes(store, on(Some(0))).await);
    write(store, &["/elsewhere"]).await;
    assert!(!passes(store, on(Some(1))).await);
    assert!(passes(store, on(Some(2))).await);
}

pub(super) async fn all_preconditions_must_hold_together(store: &impl EventStore) {
    write(store, &["/a"]).await;
    let holds = || Precondition::SubjectIsOnEventId(subject("/a"), id(0));
    let fails = || Precondition::SubjectIsPristine(subject("/a"));
    assert!(!passes(store, vec![holds(), fails()]).await);
    assert!(!passes(store, vec![fails(), holds()]).await);
    assert!(
        passes(
            store,
            vec![holds(), Precondition::SubjectIsPopulated(subject("/a"))]
        )
        .await
    );
}

pub(super) async fn of_many_who_want_the_same_pristine_subject_one_gets_it(
    store: &impl EventStore,
) {
    let writers = (0..32).map(|_| {
        passes(
            store,
            vec![Precondition::SubjectIsPristine(subject("/target"))],
        )
    });
    let passed = join_all(writers)
        .await
        .into_iter()
        .filter(|passed| *passed)
        .count();
    assert_eq!((passed, read_all(store).await.len()), (1, 1));
}

/// The append of a claim: the claimant's own events, and an event on a subject that all claimants want and that somebody
/// gave up before.
pub(super) async fn of_many_who_claim_one_subject_one_gets_it_with_all_its_events(
    store: &impl EventStore,
) {
    write(store, &["/claim", "/claim"]).await;
    let claimants = (0..32).map(|number| async move {
        let own = format!("/claimants/{number}");
        let subjects = ["/claim", own.as_str(), own.as_str()];
        let candidates = subjects.map(|at| candidate(at, "happened", "{}"));
        let preconditions = vec![
            Precondition::SubjectIsOnEventId(subject("/claim"), id(1)),
            Precondition::SubjectIsPristine(subject(&own)),
        ];
        append(store, candidates.into(), preconditions)
            .await
            .is_ok()
    });
    let won = join_all(claimants).await.into_iter().filter(|won| *won);
    assert_eq!((won.count(), read_all(store).await.len()), (1, 5));
}
