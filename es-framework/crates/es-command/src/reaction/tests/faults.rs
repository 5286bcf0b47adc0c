//! Tests that calls and commands are made once although the event store fails.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;

use super::{
    super::{ReactionDescriptor, ReactionRunner, Reactions},
    Dunning,
    calls_once::{LetterWriter, each_once, world},
    eventually, held_subjects,
};
use crate::command::CommandResources;
use es_event::{EventCandidate, RecordedEvent, Subject};
use es_store::{
    AppendError, EventLog, EventStream, ObserveOptions, Precondition, ReadOptions, StoreError,
    memory::MemoryStore,
};

const LETTERS: usize = 40;

/// A store whose connection breaks before every third write, and after every third one.
#[derive(Debug)]
struct BreakingStore {
    inner: MemoryStore,
    writes: Arc<AtomicUsize>,
}

#[async_trait]
impl EventLog for BreakingStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        let number = self.writes.fetch_add(1, Ordering::Relaxed) % 3;
        if number > 0 {
            let written = self.inner.append(candidates, preconditions).await?;
            if number == 1 {
                return Ok(written);
            }
        }
        let (address, reason) = ("memory".into(), "it broke".into());
        Err(AppendError::Unknown { address, reason })
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.inner.read(subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.inner.observe(subject, options)
    }
}

#[tokio::test(start_paused = true)]
async fn calls_and_commands_are_made_once_though_nobody_knows_what_was_written() {
    let (world, post) = world(super::DUE, None);
    let writes = Arc::new(AtomicUsize::new(0));
    let reactions = [
        ReactionDescriptor::of::<LetterWriter>(),
        ReactionDescriptor::of::<Dunning>(),
    ];
    let running: Vec<_> = (0..2)
        .map(|_| {
            let mut runtime = world.runtime();
            let store: Arc<dyn EventLog> = Arc::new(BreakingStore {
                inner: world.store.clone(),
                writes: Arc::clone(&writes),
            });
            runtime.command_resources = CommandResources::new(Arc::clone(&store), "test")
                .with_services(world.services.clone());
            runtime.store = store;
            let reactions = Reactions::new(reactions).unwrap();
            tokio::spawn(ReactionRunner::new(runtime, reactions).run())
        })
        .collect();
    for id in 0..LETTERS / 2 {
        world.send(&id.to_string()).await;
    }
    // Time passes only while all of them wait.
    tokio::time::sleep(Duration::from_secs(600)).await;
    each_once(&world, &post, LETTERS, || {
        running.iter().for_each(tokio::task::JoinHandle::abort);
    })
    .await;
    assert_eq!(world.reminded().await.len(), LETTERS / 2);
    // Each kind of break happened several times.
    assert!(writes.load(Ordering::Relaxed) > 9);
}

/// A store that accepts no event while it is closed.
#[derive(Debug)]
struct ClosableStore {
    inner: MemoryStore,
    is_closed: Arc<Mutex<bool>>,
}

#[async_trait]
impl EventLog for ClosableStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        if *self.is_closed.lock().unwrap() {
            let (address, reason) = ("memory".into(), "it is closed".into());
            return Err(AppendError::Store(StoreError::Unavailable {
                address,
                reason,
            }));
        }
        self.inner.append(candidates, preconditions).await
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.inner.read(subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.inner.observe(subject, options)
    }
}

#[tokio::test]
async fn nothing_is_called_before_the_event_store_knows_the_state_database() {
    let (world, office) = held_subjects::world("2026-02-01T00:00:00Z");
    let is_closed = Arc::new(Mutex::new(true));
    let mut runtime = world.runtime();
    runtime.store = Arc::new(ClosableStore {
        inner: world.store.clone(),
        is_closed: Arc::clone(&is_closed),
    });
    world.write("a", held_subjects::poison("a")).await;
    world.credit("a").await;
    world.credit("b").await;
    let reactions = Reactions::new(held_subjects::CLERK).unwrap();
    let runner = ReactionRunner::new(runtime, reactions);
    let progress = runner.progress();
    let running = tokio::spawn(runner.run());
    let clerk = progress.find_progress("Clerk").unwrap();
    eventually(async || clerk.state().trouble().is_some()).await;
    assert!(clerk.held_keys().is_empty() && office.letters().is_empty());
    *is_closed.lock().unwrap() = false;
    eventually(async || office.letters() == ["b"]).await;
    eventually(async || clerk.held_keys().len() == 1).await;
    world.stop(running).await;
}
