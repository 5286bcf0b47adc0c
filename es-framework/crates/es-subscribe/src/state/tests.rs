use std::time::Duration;

use es_event::{EventCandidate, EventId, Hash, Metadata};
use es_store::{EventLog, memory::MemoryStore};
use jiff::{SignedDuration, Timestamp};

use es_sql::DatabaseUrl;

use super::*;
use crate::OpenDeadlines;

const NAME: &str = "receipts";
const HOUR: Duration = Duration::from_secs(3600);

fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
}

fn minutes(minutes: i64) -> Timestamp {
    now() + SignedDuration::from_mins(minutes)
}

fn event(id: u64) -> EventId {
    EventId::new(id).unwrap()
}

fn task(subject: &str, id: u64, due: Option<Timestamp>) -> Task {
    Task {
        key: TaskKey {
            step: "print".into(),
            event: event(id),
            view: 0,
            due,
        },
        order: 0,
        subject: subject.parse().unwrap(),
        event_type: "com.example.BookBorrowedEvent".parse().unwrap(),
        event_time: now(),
        attempts: 0,
        failure: None,
    }
}

fn finish(task: &Task) -> TaskChange {
    TaskChange::Finish {
        key: task.key.clone(),
        subject: task.subject.clone(),
    }
}

fn fail(task: &Task, attempts: u32, retry_at: Option<Timestamp>) -> TaskChange {
    TaskChange::Fail {
        key: task.key.clone(),
        subject: task.subject.clone(),
        attempts,
        failure: TaskFailure {
            reason: "the printer is away".into(),
            retry_at,
        },
    }
}

async fn owned() -> StateDatabase {
    let database = StateDatabase::in_memory();
    assert!(database.try_own().await.unwrap().is_some());
    database
}

async fn plan(database: &StateDatabase, tasks: &[Task]) {
    let plan: Vec<_> = tasks.iter().cloned().map(TaskChange::Plan).collect();
    database.commit(NAME, None, &plan).await.unwrap();
}

async fn due(database: &StateDatabase, now: Timestamp) -> Vec<u64> {
    let due = database
        .due_tasks(NAME, (now, HOUR), Some(now), 100)
        .await
        .unwrap();
    due.iter().map(|task| task.key.event.get()).collect()
}

#[tokio::test]
async fn tasks_and_position_are_read_as_they_were_written() {
    let database = owned().await;
    let position = database.position(NAME).await.unwrap();
    assert_eq!(position, SubscriberPosition::Unknown);
    let checkpoint = SubscriberCheckpoint {
        event: event(7),
        hash: Hash::ZERO,
    };
    let planned = Task {
        order: 3,
        ..task("/books/1", 7, Some(minutes(-1)))
    };
    let changes = [
        TaskChange::Plan(planned.clone()),
        TaskChange::Begin(planned.key.clone()),
    ];
    database
        .commit(NAME, Some(checkpoint), &changes)
        .await
        .unwrap();
    let position = database.position(NAME).await.unwrap();
    assert_eq!(position, SubscriberPosition::At(checkpoint));
    let begun = Task {
        attempts: 1,
        ..planned
    };
    assert_eq!(
        database
            .due_tasks(NAME, (now(), HOUR), Some(now()), 9)
            .await
            .unwrap(),
        std::slice::from_ref(&begun)
    );
    assert!(
        database
            .due_tasks("others", (now(), HOUR), Some(now()), 9)
            .await
            .unwrap()
            .is_empty()
    );
    let failed = Task {
        attempts: 2,
        failure: Some(TaskFailure {
            reason: "the printer is away".into(),
            retry_at: Some(minutes(1)),
        }),
        ..begun
    };
    let failure = fail(&failed, 2, Some(minutes(1)));
    database.commit(NAME, None, &[failure]).await.unwrap();
    assert_eq!(database.failed_tasks(NAME).await.unwrap(), [failed]);
    database.begin(NAME, None, &[]).await.unwrap();
    let position = database.position(NAME).await.unwrap();
    assert_eq!(position, SubscriberPosition::BeforeFirst);
    assert!(due(&database, now()).await.is_empty());
}

#[tokio::test]
async fn tasks_of_a_subject_are_due_one_after_the_other() {
    let database = owned().await;
    let (first, second) = (task("/books/1", 1, None), task("/books/1", 2, None));
    let (deadline, other) = (
        task("/books/1", 0, Some(minutes(5))),
        task("/books/2", 3, None),
    );
    plan(
        &database,
        &[second.clone(), deadline.clone(), first.clone(), other],
    )
    .await;
    assert_eq!(due(&database, now()).await, [1, 3]);
    database
        .commit(NAME, None, &[finish(&first)])
        .await
        .unwrap();
    assert_eq!(due(&database, now()).await, [2, 3]);
    let next = database.next_time(NAME, now(), HOUR).await.unwrap();
    assert_eq!(next, deadline.key.due);
    assert_eq!(due(&database, minutes(5)).await, [2, 3]);
    database
        .commit(NAME, None, &[finish(&second)])
        .await
        .unwrap();
    assert_eq!(due(&database, minutes(5)).await, [3, 0]);
    assert_eq!(database.count_ready(NAME).await.unwrap(), 1);
    let expected = OpenDeadlines {
        count: 1,
        next: deadline.key.due,
    };
    assert_eq!(database.open_deadlines(NAME).await.unwrap(), expected);
    let cancel = TaskChange::Cancel {
        step: "print".into(),
        subject: "/books/1".parse().unwrap(),
        before: event(9),
    };
    database.commit(NAME, None, &[cancel]).await.unwrap();
    assert_eq!(due(&database, minutes(5)).await, [3]);
}

#[tokio::test]
async fn a_failed_task_holds_its_subject_until_it_is_finished() {
    let database = owned().await;
    let (deadline, later) = (task("/books/1", 1, Some(now())), task("/books/1", 2, None));
    plan(&database, std::slice::from_ref(&deadline)).await;
    // While the deadline is executed, an event is planned that comes before deadlines.
    plan(&database, std::slice::from_ref(&later)).await;
    let failure = fail(&deadline, 1, Some(minutes(1)));
    database.commit(NAME, None, &[failure]).await.unwrap();
    plan(
        &database,
        &[task("/books/1", 3, None), task("/books/2", 4, None)],
    )
    .await;
    assert_eq!(due(&database, now()).await, [4]);
    assert_eq!(due(&database, minutes(1)).await, [4, 1]);
    let next = database.next_time(NAME, now(), HOUR).await.unwrap();
    assert_eq!(next, Some(minutes(1)));
    let open = database.open_deadlines(NAME).await.unwrap();
    assert_eq!(open, OpenDeadlines::default());
    let held = database.held_subjects(NAME).await.unwrap();
    assert_eq!(held.len(), 1);
    assert_eq!((held[0].key.as_str(), held[0].events), ("/books/1", 3));
    assert_eq!(held[0].next_attempt, Some(minutes(1)));
    database
        .commit(NAME, None, &[fail(&deadline, 9, None)])
        .await
        .unwrap();
    assert_eq!(due(&database, minutes(600)).await, [4]);
    for subjects in [Some(vec!["/books/1".parse().unwrap()]), None] {
        database
            .commit(NAME, None, &[fail(&deadline, 9, None)])
            .await
            .unwrap();
        database
            .retry_failed(NAME, subjects.as_deref(), now())
            .await
            .unwrap();
        assert_eq!(due(&database, now()).await, [4, 1]);
    }
    database
        .commit(NAME, None, &[finish(&deadline)])
        .await
        .unwrap();
    assert_eq!(due(&database, now()).await, [2, 4]);
}

#[tokio::test]
async fn a_failure_of_a_cancelled_task_blocks_nothing() {
    let database = owned().await;
    let (deadline, later) = (task("/books/1", 1, Some(now())), task("/books/1", 2, None));
    plan(&database, &[deadline.clone(), later]).await;
    let cancel = TaskChange::Cancel {
        step: "print".into(),
        subject: deadline.subject.clone(),
        before: event(2),
    };
    let changes = [cancel.clone(), fail(&deadline, 1, None)];
    database.commit(NAME, None, &changes).await.unwrap();
    assert_eq!(due(&database, now()).await, [2]);
    // A failed one that is cancelled blocks nothing either.
    let changes = [TaskChange::Plan(deadline.clone()), fail(&deadline, 1, None)];
    database.commit(NAME, None, &changes).await.unwrap();
    assert!(due(&database, now()).await.is_empty());
    database.commit(NAME, None, &[cancel]).await.unwrap();
    assert_eq!(due(&database, now()).await, [2]);
}

#[tokio::test]
async fn one_instance_owns_the_database() {
    let first = owned().await;
    let second = first.another_instance();
    assert!(second.try_own().await.unwrap().is_none());
    plan(&first, &[task("/books/1", 1, None)]).await;
    assert_eq!(
        second.count_ready(NAME).await.unwrap(),
        1,
        "others see the tasks"
    );
    let refused = second.commit(NAME, None, &[]).await;
    assert!(matches!(refused, Err(StateError::NotOwner)), "{refused:?}");
    assert!(first.try_own().await.unwrap().is_some());
    first.release().await;
    assert!(second.try_own().await.unwrap().is_some());
    assert!(first.try_own().await.unwrap().is_none());
    drop(second);
    assert!(first.try_own().await.unwrap().is_some());
}

#[tokio::test]
async fn a_file_has_one_owner_and_keeps_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let url = DatabaseUrl::File(folder.path().join("state.sqlite"));
    let first = StateDatabase::open(url.clone()).await.unwrap();
    assert!(first.try_own().await.unwrap().is_some());
    plan(&first, &[task("/books/1", 1, None)]).await;
    let second = StateDatabase::open(url.clone()).await.unwrap();
    assert!(second.try_own().await.unwrap().is_none());
    first.release().await;
    assert!(second.try_own().await.unwrap().is_some());
    assert_eq!(due(&second, now()).await, [1]);
}

async fn store_with(events: u64) -> MemoryStore {
    let store = MemoryStore::new();
    let candidate = |_| EventCandidate {
        source: "tests".into(),
        subject: "/books/1".parse().unwrap(),
        event_type: "com.example.BookBorrowedEvent".parse().unwrap(),
        data: es_event::encode(&Metadata::default(), &1).unwrap(),
        trace: None,
    };
    let candidates = (0..events).map(candidate).collect();
    store.append(candidates, Vec::new()).await.unwrap();
    store
}

#[tokio::test]
async fn the_events_name_the_database_once_in_each_ownership() {
    let (store, source) = (store_with(1).await, "tests".into());
    let database = owned().await;
    database.check_identity(&store).await.unwrap();
    // Several reactions begin at once.
    let announced = (0..8).map(|_| database.announce(&store, &source));
    for announced in futures_util::future::join_all(announced).await {
        announced.unwrap();
    }
    database.check_identity(&store).await.unwrap();
    assert_eq!(es_store::newest_id(&store).await.unwrap(), Some(event(1)));
    database.release().await;
    assert!(database.try_own().await.unwrap().is_some());
    database.announce(&store, &source).await.unwrap();
    assert_eq!(es_store::newest_id(&store).await.unwrap(), Some(event(2)));
    // A later database does not know the tasks.
    let another = owned().await;
    let refused = another.check_identity(&store).await;
    assert!(
        matches!(refused, Err(StateError::OtherDatabase)),
        "{refused:?}"
    );
    let refused = another.announce(&store, &source).await;
    assert!(
        matches!(refused, Err(StateError::OtherDatabase)),
        "{refused:?}"
    );
    let position = SubscriberCheckpoint {
        event: event(0),
        hash: Hash::ZERO,
    };
    let log: (&dyn EventLog, _) = (&store, &source);
    let others = [NAME, "reminders"];
    another
        .begin_anew(log, NAME, Some(position), &others)
        .await
        .unwrap();
    another.check_identity(&store).await.unwrap();
    assert_eq!(
        another.position(NAME).await.unwrap(),
        SubscriberPosition::At(position)
    );
    let lost = another.position("reminders").await;
    assert!(matches!(lost, Err(StateError::TasksLost(_))), "{lost:?}");
    another
        .begin_anew(log, "reminders", None, &others)
        .await
        .unwrap();
    let position = another.position("reminders").await.unwrap();
    assert_eq!(position, SubscriberPosition::BeforeFirst);
    let refused = database.check_identity(&store).await;
    assert!(
        matches!(refused, Err(StateError::OtherDatabase)),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_restored_copy_is_noticed() {
    let (store, source) = (store_with(1).await, "tests".into());
    let folder = tempfile::tempdir().unwrap();
    let path = |name| folder.path().join(name);
    let open = |name| StateDatabase::open(DatabaseUrl::File(path(name)));
    let database = open("state.sqlite").await.unwrap();
    assert!(database.try_own().await.unwrap().is_some());
    database.release().await;
    let wal = ["state.sqlite-wal", "copy.sqlite-wal"].map(path);
    std::fs::copy(&wal[0], &wal[1]).unwrap();
    std::fs::copy(path("state.sqlite"), path("copy.sqlite")).unwrap();
    assert!(database.try_own().await.unwrap().is_some());
    database.announce(&store, &source).await.unwrap();
    let copy = open("copy.sqlite").await.unwrap();
    for _ in 0..2 {
        assert!(copy.try_own().await.unwrap().is_some());
        let refused = copy.check_identity(&store).await;
        assert!(matches!(refused, Err(StateError::OldCopy)), "{refused:?}");
        copy.release().await;
    }
    assert!(copy.try_own().await.unwrap().is_some());
    let log: (&dyn EventLog, _) = (&store, &source);
    copy.begin_anew(log, NAME, None, &[NAME]).await.unwrap();
    copy.check_identity(&store).await.unwrap();
    let refused = database.check_identity(&store).await;
    assert!(matches!(refused, Err(StateError::OldCopy)), "{refused:?}");
}

#[tokio::test]
async fn other_events_at_a_position_are_noticed() {
    let store = store_with(2).await;
    let last = es_store::event_with_id(&store, event(1))
        .await
        .unwrap()
        .unwrap();
    let checkpoint = SubscriberCheckpoint {
        event: last.id,
        hash: last.hash,
    };
    check_position(&store, checkpoint).await.unwrap();
    for (event, hash) in [(event(2), last.hash), (last.id, Hash::ZERO)] {
        let refused = check_position(&store, SubscriberCheckpoint { event, hash }).await;
        assert!(
            matches!(refused, Err(StateError::OtherEvents(_))),
            "{refused:?}"
        );
    }
}
