//! The state database on a real PostgreSQL server.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests fail by panicking"
)]

#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../../tests/support/postgres_server.rs"]
mod postgres_server;
#[allow(dead_code, reason = "this binary uses a part of it")]
#[path = "../../../../tests/support/requirement.rs"]
mod requirement;

use std::time::{Duration, Instant};

use es_event::{EventId, Hash};
use es_sql::{DatabaseUrl, DatabaseUse, SqlDatabase};
use es_store::{EventLog, memory::MemoryStore};
use es_subscribe::{
    SubscriberCheckpoint,
    state::{
        StateDatabase, StateError, SubscriberPosition, Task, TaskChange, TaskFailure, TaskKey,
    },
};
use jiff::{SignedDuration, Timestamp};

use postgres_server::PostgresServer;

const NAME: &str = "receipts";
const HOUR: Duration = Duration::from_secs(3600);

fn now() -> Timestamp {
    "2026-03-01T12:00:00Z".parse().unwrap()
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

async fn open(server: &PostgresServer) -> StateDatabase {
    let url = DatabaseUrl::Postgres(server.url());
    StateDatabase::open(url).await.unwrap()
}

async fn due(database: &StateDatabase, now: Timestamp) -> Vec<u64> {
    let due = database
        .due_tasks(NAME, (now, HOUR), Some(now), 100)
        .await
        .unwrap();
    due.iter().map(|task| task.key.event.get()).collect()
}

#[tokio::test]
async fn tasks_are_rows_on_a_server() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let database = open(&server).await;
    assert_eq!(
        database.count_ready(NAME).await.unwrap(),
        0,
        "no tables yet"
    );
    assert!(database.try_own().await.unwrap().is_some());
    let later = now() + SignedDuration::from_mins(5);
    let (first, deadline) = (task("/books/1", 1, None), task("/books/1", 0, Some(later)));
    let tasks = [
        first.clone(),
        task("/books/1", 2, None),
        deadline,
        task("/books/2", 3, None),
    ];
    let mut changes: Vec<_> = tasks.into_iter().map(TaskChange::Plan).collect();
    changes.push(TaskChange::Begin(first.key.clone()));
    let checkpoint = SubscriberCheckpoint {
        event: event(3),
        hash: Hash::ZERO,
    };
    database
        .commit(NAME, Some(checkpoint), &changes)
        .await
        .unwrap();
    let position = database.position(NAME).await.unwrap();
    assert_eq!(position, SubscriberPosition::At(checkpoint));
    assert_eq!(due(&database, later).await, [1, 3]);
    assert_eq!(
        database.next_time(NAME, now(), HOUR).await.unwrap(),
        Some(later)
    );
}

#[tokio::test]
async fn a_failed_task_holds_its_subject_on_a_server() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let database = open(&server).await;
    assert!(database.try_own().await.unwrap().is_some());
    let later = now() + SignedDuration::from_mins(5);
    let (first, deadline) = (task("/books/1", 1, None), task("/books/1", 0, Some(later)));
    let tasks = [
        first.clone(),
        task("/books/1", 2, None),
        deadline.clone(),
        task("/books/2", 3, None),
    ];
    let changes: Vec<_> = tasks.into_iter().map(TaskChange::Plan).collect();
    database.commit(NAME, None, &changes).await.unwrap();
    let failure = |retry_at| TaskChange::Fail {
        key: first.key.clone(),
        subject: first.subject.clone(),
        attempts: 2,
        failure: TaskFailure {
            reason: "no\0thing".into(),
            retry_at,
        },
    };
    database
        .commit(NAME, None, &[failure(Some(later))])
        .await
        .unwrap();
    assert_eq!(due(&database, now()).await, [3]);
    assert_eq!(due(&database, later).await, [1, 3]);
    let held = database.held_subjects(NAME).await.unwrap();
    assert_eq!((held[0].key.as_str(), held[0].events), ("/books/1", 2));
    assert_eq!(held[0].next_attempt, Some(later));
    let open = database.open_deadlines(NAME).await.unwrap();
    assert_eq!(open.count, 0);
    database.commit(NAME, None, &[failure(None)]).await.unwrap();
    assert_eq!(due(&database, later).await, [3]);
    let subjects = [first.subject.clone()];
    database
        .retry_failed(NAME, Some(&subjects), now())
        .await
        .unwrap();
    assert_eq!(due(&database, now()).await, [1, 3]);
    let finish = TaskChange::Finish {
        key: first.key.clone(),
        subject: first.subject.clone(),
    };
    database.commit(NAME, None, &[finish]).await.unwrap();
    assert_eq!(due(&database, now()).await, [2, 3]);
    assert_eq!(
        database.first_deadline(NAME, "print").await.unwrap(),
        Some(deadline.clone())
    );
    let cancel = TaskChange::Cancel {
        step: "print".into(),
        subject: deadline.subject.clone(),
        before: event(9),
    };
    database.commit(NAME, None, &[cancel]).await.unwrap();
    assert_eq!(database.first_deadline(NAME, "print").await.unwrap(), None);
}

#[tokio::test]
async fn the_events_name_a_database_on_a_server() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let database = open(&server).await;
    assert!(database.try_own().await.unwrap().is_some());
    let later = now() + SignedDuration::from_mins(5);
    let plan = [TaskChange::Plan(task("/books/1", 1, None))];
    database.commit(NAME, None, &plan).await.unwrap();
    let store = MemoryStore::new();
    let (source, log): (_, &dyn EventLog) = ("tests".into(), &store);
    database.announce(log, &source).await.unwrap();
    database.check_identity(log).await.unwrap();
    database
        .begin_anew((log, &source), NAME, None, &[NAME])
        .await
        .unwrap();
    assert!(due(&database, later).await.is_empty());
}

#[tokio::test]
async fn another_process_takes_over_within_ten_seconds_and_the_earlier_owner_notices() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (first, second) = (open(&server).await, open(&server).await);
    let term = first.try_own().await.unwrap();
    assert!(term.is_some());
    assert_eq!(first.try_own().await.unwrap(), term);
    assert_eq!(second.try_own().await.unwrap(), None);
    // The read models of the same schema have a writer of their own.
    let url = DatabaseUrl::Postgres(server.url());
    let rows = SqlDatabase::open(&url, Duration::from_secs(5), DatabaseUse::Derived).await;
    assert!(rows.unwrap().try_become_writer().await.unwrap());
    let plan = |id| [TaskChange::Plan(task("/books/1", id, None))];
    first.commit(NAME, None, &plan(1)).await.unwrap();
    assert_eq!(second.count_ready(NAME).await.unwrap(), 1);
    server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_locks \
         WHERE locktype = 'advisory' AND granted AND objid <> 0 \
         AND pid IN (SELECT pid FROM pg_stat_activity WHERE query NOT LIKE '%pg_terminate%')",
    );
    let begin = Instant::now();
    while second.try_own().await.unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let lost = first.commit(NAME, None, &plan(2)).await;
    assert!(
        lost.as_ref().is_err_and(StateError::is_ownership_lost),
        "{lost:?}"
    );
    assert!(!first.is_owner());
    assert_eq!(first.try_own().await.unwrap(), None);
    assert_eq!(due(&second, now()).await, [1]);
    second.release().await;
    assert_ne!(first.try_own().await.unwrap(), term);
}
